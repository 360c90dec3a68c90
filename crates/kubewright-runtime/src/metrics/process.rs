use std::{fmt, fs};

use prometheus_client::{
    collector::Collector,
    encoding::{DescriptorEncoder, EncodeMetric},
    metrics::{counter::ConstCounter, gauge::ConstGauge},
};

/// The `process_*` metrics that every client library of Prometheus exports, read from `/proc` at each scrape.
/// Where there is no `/proc` there are none.
#[derive(Debug)]
pub(super) struct Process;

/// What `/proc` tells of this process.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Reading {
    cpu_seconds: Option<f64>,
    start_time_seconds: Option<f64>,
    resident_bytes: Option<u64>,
    virtual_bytes: Option<u64>,
    open_files: Option<u64>,
    max_files: Option<u64>,
}

/// The unit of times in `/proc`. Linux has fixed it at 100 for all architectures in use.
const TICKS_PER_SECOND: f64 = 100.0;

// === impl Process ===

impl Collector for Process {
    fn encode(&self, mut encoder: DescriptorEncoder) -> fmt::Result {
        let reading = Reading::now();
        if let Some(seconds) = reading.cpu_seconds {
            let counter = ConstCounter::new(seconds);
            let help = "Total user and system CPU time spent in seconds.";
            counter.encode(encoder.encode_descriptor(
                "process_cpu_seconds",
                help,
                None,
                counter.metric_type(),
            )?)?;
        }
        let gauges = [
            (
                "process_start_time_seconds",
                "Start time of the process since unix epoch in seconds.",
                reading.start_time_seconds,
            ),
            (
                "process_resident_memory_bytes",
                "Resident memory size in bytes.",
                reading.resident_bytes.map(as_f64),
            ),
            (
                "process_virtual_memory_bytes",
                "Virtual memory size in bytes.",
                reading.virtual_bytes.map(as_f64),
            ),
            ("process_open_fds", "Number of open file descriptors.", reading.open_files.map(as_f64)),
            ("process_max_fds", "Maximum number of open file descriptors.", reading.max_files.map(as_f64)),
        ];
        for (name, help, value) in gauges {
            if let Some(value) = value {
                let gauge = ConstGauge::new(value);
                gauge.encode(encoder.encode_descriptor(name, help, None, gauge.metric_type())?)?;
            }
        }
        Ok(())
    }
}

/// Exact up to 2^53, which is eight pebibytes.
#[allow(clippy::cast_precision_loss, reason = "a metric is a float")]
fn as_f64(value: u64) -> f64 {
    value as f64
}

// === impl Reading ===

impl Reading {
    fn now() -> Self {
        let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
        let open_files = fs::read_dir("/proc/self/fd").ok().map(|files| files.count() as u64);
        Self {
            open_files,
            ..Self::parse(
                &read("/proc/self/stat"),
                &read("/proc/self/status"),
                &read("/proc/self/limits"),
                &read("/proc/stat"),
            )
        }
    }

    fn parse(stat: &str, status: &str, limits: &str, system: &str) -> Self {
        // The second field is the name of the executable in parentheses, which may hold anything.
        let after_name = stat.rsplit_once(") ").map_or("", |(_, rest)| rest);
        let ticks: Vec<&str> = after_name.split(' ').collect();
        // Numbered from 3 on in proc(5): utime is 14, stime 15, starttime 22.
        let field = |number: usize| -> Option<f64> { ticks.get(number - 3)?.parse().ok() };
        let seconds = |number| field(number).map(|ticks| ticks / TICKS_PER_SECOND);
        let after = |text: &str, key: &str| -> Option<u64> {
            let line = text.lines().find_map(|line| line.strip_prefix(key))?;
            line.split_whitespace().next()?.parse().ok()
        };
        let boot = after(system, "btime ").map(as_f64);
        Self {
            cpu_seconds: seconds(14).zip(seconds(15)).map(|(user, system)| user + system),
            start_time_seconds: boot.zip(seconds(22)).map(|(boot, start)| boot + start),
            resident_bytes: after(status, "VmRSS:").map(|kib| kib * 1024),
            virtual_bytes: after(status, "VmSize:").map(|kib| kib * 1024),
            open_files: None,
            max_files: after(limits, "Max open files"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn proc_is_read_past_a_strange_name() {
        let stat = "42 (a) b (c) S 1 42 42 0 -1 4194560 4095 0 6 0 150 50 0 0 20 0 12 0 1000 268435456 4096";
        let status = "Name:\ta) b (c\nVmSize:\t  262144 kB\nVmRSS:\t   16384 kB\n";
        let limits = "Limit                     Soft Limit           Hard Limit           Units\n\
                      Max open files            1024                 524288               files\n";
        assert_eq!(
            Reading::parse(stat, status, limits, "cpu 1 2 3\nbtime 1700000000\n"),
            Reading {
                cpu_seconds: Some(2.0),
                start_time_seconds: Some(1_700_000_010.0),
                resident_bytes: Some(16 << 20),
                virtual_bytes: Some(256 << 20),
                open_files: None,
                max_files: Some(1024),
            }
        );
    }

    #[test]
    fn without_proc_there_is_nothing() {
        assert_eq!(Reading::parse("", "", "", ""), Reading::default());
    }

    #[test]
    fn names_are_those_of_the_field() {
        let metrics = crate::metrics::Metrics::new();
        metrics.register_process();
        let text = metrics.encode();
        if cfg!(target_os = "linux") {
            for name in ["process_cpu_seconds_total ", "process_resident_memory_bytes ", "process_open_fds "]
            {
                assert!(text.lines().any(|line| line.starts_with(name)), "{name} is missing in\n{text}");
            }
        }
    }
}
