//! Pod templates: their hash, and whether two are the same.

use k8s_openapi::api::core::v1::PodTemplateSpec;

/// The label that tells the ReplicaSets of one Deployment, and their pods, apart.
pub(crate) const POD_TEMPLATE_HASH: &str = "pod-template-hash";

/// The alphabet of generated names: no vowels and no look-alikes, so that no words appear.
const ALPHABET: &[u8; 27] = b"bcdfghjklmnpqrstvwxz2456789";

/// The hash of a template: the value of `pod-template-hash`, and the last part of a revision's name.
///
/// It looks like Kubernetes' (an FNV-1a sum, its decimal digits mapped into the alphabet of generated names)
/// and is as stable: equal templates and collision counts give equal hashes. It is not the same value,
/// because Kubernetes sums over a dump of the Go structure. Nothing may rely on the value: ReplicaSets are
/// found by their template.
pub(crate) fn template_hash(template: &PodTemplateSpec, collision_count: Option<i32>) -> String {
    let mut sum = Fnv1a::new();
    // The structure has no map with non-string keys and no float, the two things that fail to serialize.
    sum.write(&serde_json::to_vec(template).unwrap_or_default());
    if let Some(count) = collision_count {
        sum.write(&count.to_le_bytes());
    }
    sum.0.to_string().bytes().map(|digit| char::from(ALPHABET[usize::from(digit) % ALPHABET.len()])).collect()
}

/// Whether two templates are the same but for the `pod-template-hash` label.
pub(crate) fn templates_equal(one: &PodTemplateSpec, two: &PodTemplateSpec) -> bool {
    if one == two {
        return true;
    }
    let (one, two) = (without_hash(one), without_hash(two));
    // An absent list or map and an empty one mean the same to Kubernetes, and not to the comparison of
    // structures. Only templates that differ otherwise pay for the second comparison.
    one == two || normalized(&one) == normalized(&two)
}

fn without_hash(template: &PodTemplateSpec) -> PodTemplateSpec {
    let mut template = template.clone();
    if let Some(labels) = template.metadata.as_mut().and_then(|meta| meta.labels.as_mut()) {
        labels.remove(POD_TEMPLATE_HASH);
    }
    template
}

fn normalized(template: &PodTemplateSpec) -> Option<serde_json::Value> {
    fn is_empty(value: &serde_json::Value) -> bool {
        match value {
            serde_json::Value::Null => true,
            serde_json::Value::Array(items) => items.is_empty(),
            _ => false,
        }
    }
    fn normalize(value: &mut serde_json::Value) {
        match value {
            serde_json::Value::Object(fields) => {
                fields.values_mut().for_each(normalize);
                fields.retain(|key, value| {
                    let empty_map =
                        matches!(key.as_str(), "labels" | "annotations" | "nodeSelector" | "metadata")
                            && value.as_object().is_some_and(serde_json::Map::is_empty);
                    !is_empty(value) && !empty_map
                });
            }
            serde_json::Value::Array(items) => items.iter_mut().for_each(normalize),
            _ => {}
        }
    }
    let mut value = serde_json::to_value(template).ok()?;
    normalize(&mut value);
    Some(value)
}

/// The 32-bit Fowler-Noll-Vo sum, variant 1a.
struct Fnv1a(u32);

impl Fnv1a {
    fn new() -> Self {
        Self(0x811c_9dc5)
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u32::from(*byte)).wrapping_mul(0x0100_0193);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use k8s_openapi::{
        api::core::v1::{Container, PodSpec},
        apimachinery::pkg::apis::meta::v1::ObjectMeta,
    };

    use super::*;

    fn template(image: &str) -> PodTemplateSpec {
        PodTemplateSpec {
            metadata: Some(ObjectMeta {
                labels: Some(BTreeMap::from([("app".into(), "web".into())])),
                ..ObjectMeta::default()
            }),
            spec: Some(PodSpec {
                containers: vec![Container {
                    name: "web".into(),
                    image: Some(image.into()),
                    ..Container::default()
                }],
                ..PodSpec::default()
            }),
        }
    }

    #[test]
    fn the_sum_is_fnv_1a() {
        let mut sum = Fnv1a::new();
        sum.write(b"foobar");
        assert_eq!(sum.0, 0xbf9c_f968);
    }

    #[test]
    fn the_hash_depends_on_template_and_collisions_alone() {
        let hash = template_hash(&template("nginx"), None);
        assert_eq!(hash, template_hash(&template("nginx"), None));
        assert_ne!(hash, template_hash(&template("nginx:2"), None));
        assert_ne!(hash, template_hash(&template("nginx"), Some(1)));
        assert!(hash.len() <= 10 && hash.bytes().all(|byte| b"bcdf456789".contains(&byte)), "{hash}");
    }

    #[test]
    fn comparison_ignores_the_hash_label_and_empty_lists() {
        let plain = template("nginx");
        let mut labelled = template("nginx");
        labelled
            .metadata
            .as_mut()
            .and_then(|meta| meta.labels.as_mut())
            .expect("labels")
            .insert(POD_TEMPLATE_HASH.into(), "x".into());
        labelled.spec.as_mut().expect("a spec").volumes = Some(Vec::new());
        assert!(templates_equal(&plain, &labelled));
        assert!(!templates_equal(&plain, &template("nginx:2")));
    }
}
