//! The size of the operator's program, and of the layer of an image with it.

use std::{fs::File, io::copy, path::Path, process::Command};

use crate::{
    Result,
    peers::{Programs, run},
    report::{Row, Unit},
};

/// What images are compressed with by default.
const LEVEL: u32 = 6;

/// Measures stripped programs. Each has the operator and some probes, which are small.
pub(crate) fn measure(programs: &Programs) -> Result<Vec<Row>> {
    let folder = tempfile::tempdir()?;
    let (mut sizes, mut layers) = (Vec::new(), Vec::new());
    for runtime in programs.runtimes() {
        let stripped = folder.path().join(runtime.name());
        run(Command::new("strip").arg("-o").arg(&stripped).arg(programs.path(runtime)?))?;
        sizes.push((runtime, vec![mebibytes(stripped.metadata()?.len())]));
        layers.push((runtime, vec![mebibytes(compressed(&stripped)?)]));
    }
    let rows = [
        Row::of_runtimes("operator's program, stripped", sizes, Unit::Mebibytes),
        Row::of_runtimes("operator's program in an image, compressed", layers, Unit::Mebibytes),
    ];
    Ok(rows.into_iter().flatten().collect())
}

/// The number of bytes of the file after gzip.
fn compressed(file: &Path) -> Result<u64> {
    let counter = tempfile::tempfile()?;
    let mut encoder = flate2::write::GzEncoder::new(counter, flate2::Compression::new(LEVEL));
    copy(&mut File::open(file)?, &mut encoder)?;
    Ok(encoder.finish()?.metadata()?.len())
}

fn mebibytes(bytes: u64) -> f64 {
    bytes as f64 / f64::from(1 << 20)
}
