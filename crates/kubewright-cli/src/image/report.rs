//! What is told of an image.

use std::{collections::BTreeMap, path::Path};

use kubewright_image::{Image, ImageError, Platform, Reference, spec::Descriptor};
use serde_json::{Value, json};

use super::programs::Program;

/// One platform of an image.
struct Part {
    platform: Platform,
    manifest: Descriptor,
    config: Descriptor,
    layers: Vec<Descriptor>,
}

fn parts(image: &Image) -> Result<Vec<Part>, ImageError> {
    image
        .manifests()?
        .into_iter()
        .map(|(manifest, document)| {
            let platform = image.config(&document)?.platform();
            Ok(Part { platform, manifest, config: document.config, layers: document.layers })
        })
        .collect()
}

/// One line for each platform.
pub(super) fn lines(image: &Image) -> Result<Vec<String>, ImageError> {
    let lines = parts(image)?.into_iter().map(|part| {
        let size = part.layers.iter().map(|layer| layer.size).sum();
        let layers = part.layers.len();
        let layers = if layers == 1 { "1 layer".to_owned() } else { format!("{layers} layers") };
        format!("{} {}, {} in {layers}", part.platform, part.manifest.digest, megabytes(size))
    });
    Ok(lines.collect())
}

/// Everything, for programs.
pub(super) fn json(
    image: &Image,
    reference: &Reference,
    place: Option<&Path>,
    programs: &BTreeMap<Platform, Program>,
) -> Result<Value, ImageError> {
    let described =
        |part: &Descriptor| json!({"digest": part.digest, "size": part.size, "mediaType": part.media_type});
    let platforms: Vec<Value> = parts(image)?
        .iter()
        .map(|part| {
            let program = programs
                .get(&part.platform)
                .map(|program| json!({"target": program.target, "size": program.executable.content().len()}));
            json!({
                "platform": part.platform.to_string(),
                "digest": part.manifest.digest,
                "size": part.layers.iter().map(|layer| layer.size).sum::<u64>(),
                "config": described(&part.config),
                "layers": part.layers.iter().map(described).collect::<Vec<_>>(),
                "program": program,
            })
        })
        .collect();
    let root = image.root();
    Ok(json!({
        "reference": reference.to_string(),
        "digest": root.digest,
        "mediaType": root.media_type,
        "output": place,
        "platforms": platforms,
    }))
}

/// A size for people, in the unit that registries show.
fn megabytes(bytes: u64) -> String {
    // A tenth of a megabyte at a time: no floating point, and no surprise.
    let tenths = (bytes + 50_000) / 100_000;
    format!("{}.{} MB", tenths / 10, tenths % 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_in_megabytes() {
        assert_eq!(megabytes(0), "0.0 MB");
        assert_eq!(megabytes(8_349_999), "8.3 MB");
        assert_eq!(megabytes(8_350_000), "8.4 MB");
    }
}
