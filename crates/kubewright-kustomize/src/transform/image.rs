//! `images`.

use regex::Regex;

use crate::{
    field_spec::visit,
    kustomization::{FieldSpec, Image},
    node::{Map, Node, Scalar},
    objects::Objects,
};

/// Changes the images of containers, wherever they are, and of the fields of `fields`.
pub(crate) fn set(objects: &mut Objects, image: &Image, fields: &[FieldSpec]) -> Result<(), String> {
    let change = Change::new(image)?;
    for resource in &mut objects.list {
        if resource.kind() == "CustomResourceDefinition" {
            continue;
        }
        change.of_containers(&mut resource.body);
        // What was changed above may be changed again: so does kustomize with `tagSuffix`.
        for field in fields {
            let set = visit(&mut resource.body, field, None, &mut |node| match node {
                Node::Scalar(scalar) => {
                    change.apply(scalar);
                    Ok(())
                }
                _ => Err(node.wrong_shape("a scalar").to_string()),
            });
            set.map_err(|why| format!("{}: {why}", resource.id()))?;
        }
    }
    Ok(())
}

struct Change<'a> {
    image: &'a Image,
    matches: Regex,
}

impl<'a> Change<'a> {
    fn new(image: &'a Image) -> Result<Self, String> {
        // The name is a pattern, as in kustomize.
        let pattern = format!("^{}(:[a-zA-Z0-9_.{{}}-]*)?(@sha256:[a-zA-Z0-9_.{{}}-]*)?$", image.name);
        let matches = Regex::new(&pattern)
            .map_err(|error| format!("the name `{}` is no pattern: {error}", image.name))?;
        Ok(Self { image, matches })
    }

    fn of_containers(&self, map: &mut Map) {
        for (key, value) in map.iter_mut() {
            self.below(value);
            if matches!(key, "containers" | "initContainers")
                && let Node::List(containers) = value
            {
                for container in containers {
                    if let Some(Node::Scalar(image)) = container.get_mut("image") {
                        self.apply(image);
                    }
                }
            }
        }
    }

    fn below(&self, node: &mut Node) {
        match node {
            Node::Map(map) => self.of_containers(map),
            Node::List(items) => items.iter_mut().for_each(|item| self.below(item)),
            Node::Scalar(_) => {}
        }
    }

    fn apply(&self, scalar: &mut Scalar) {
        if !self.matches.is_match(scalar.text()) {
            return;
        }
        let Image { new_name, new_tag, digest: new_digest, tag_suffix, .. } = self.image;
        let (mut name, mut tag, mut digest) = split(scalar.text());
        if !new_name.is_empty() {
            name = new_name;
        }
        let suffixed = format!("{tag}{tag_suffix}");
        if !new_tag.is_empty() {
            (tag, digest) = (new_tag.as_str(), new_digest.as_str());
        } else if !new_digest.is_empty() {
            (tag, digest) = ("", new_digest.as_str());
        } else if !tag_suffix.is_empty() {
            (tag, digest) = (suffixed.as_str(), "");
        }
        let mut result = name.to_owned();
        if !tag.is_empty() {
            result = format!("{result}:{tag}");
        }
        if !digest.is_empty() {
            result = format!("{result}@{digest}");
        }
        *scalar = Scalar::plain(result).written_as(scalar);
    }
}

/// Divides a reference into name, tag and digest.
pub(crate) fn split(reference: &str) -> (&str, &str, &str) {
    // A colon before the first slash belongs to a port.
    let start = reference.find('/').unwrap_or(0);
    let at = reference[start..].find('@').map(|at| at + start);
    let colon = reference[start..].find(':').map(|at| at + start);
    match (colon, at) {
        (Some(colon), Some(at)) if colon < at => {
            (&reference[..colon], &reference[colon + 1..at], &reference[at + 1..])
        }
        (_, Some(at)) => (&reference[..at], "", &reference[at + 1..]),
        (Some(colon), None) => (&reference[..colon], &reference[colon + 1..], ""),
        (None, None) => (reference, "", ""),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_are_divided() {
        for (reference, parts) in [
            ("nginx", ("nginx", "", "")),
            ("nginx:1", ("nginx", "1", "")),
            ("host:5000/a/b:1@sha256:0", ("host:5000/a/b", "1", "sha256:0")),
            ("host:5000/a", ("host:5000/a", "", "")),
            ("a@sha256:0", ("a", "", "sha256:0")),
        ] {
            assert_eq!(split(reference), parts);
        }
    }
}
