//! What the kernel accounts to a process.

use crate::Result;

/// CPU time and memory of a process so far.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Usage {
    pub(crate) cpu_seconds: f64,
    pub(crate) resident_mebibytes: f64,
    pub(crate) peak_mebibytes: f64,
}

/// Ticks per second of `/proc/PID/stat`: Linux fixes it at 100 for user space on every architecture that we run on.
const TICKS: f64 = 100.0;

/// Reads the usage of the process `id`, or of this one.
pub(crate) fn usage(id: Option<u32>) -> Result<Usage> {
    let folder = id.map_or_else(|| "/proc/self".to_owned(), |id| format!("/proc/{id}"));
    let stat = std::fs::read_to_string(format!("{folder}/stat"))?;
    // The command's name stands in brackets and may hold spaces: the fields are counted from behind it.
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    let ticks =
        |index: usize| fields.get(index).and_then(|field| field.parse::<f64>().ok()).unwrap_or_default();
    let status = std::fs::read_to_string(format!("{folder}/status"))?;
    let kibibytes = |name: &str| {
        let line = status.lines().find(|line| line.starts_with(name));
        line.and_then(|line| line.split_whitespace().nth(1)?.parse::<f64>().ok()).unwrap_or_default()
    };
    Ok(Usage {
        cpu_seconds: (ticks(11) + ticks(12)) / TICKS,
        resident_mebibytes: kibibytes("VmRSS:") / 1024.0,
        peak_mebibytes: kibibytes("VmHWM:") / 1024.0,
    })
}
