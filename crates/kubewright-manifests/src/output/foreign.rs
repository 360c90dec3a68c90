//! CRDs that controller-gen wrote.

use std::path::Path;

use serde::Deserialize;

/// The annotation that controller-gen puts on the CRDs it writes.
const ANNOTATION: &str = "controller-gen.kubebuilder.io/version";

/// What is read of a document to know it again.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Document {
    kind: String,
    metadata: Metadata,
    spec: Spec,
}

#[derive(Deserialize)]
struct Metadata {
    #[serde(default)]
    annotations: std::collections::BTreeMap<String, String>,
}

#[derive(Deserialize)]
struct Spec {
    group: String,
    names: Names,
}

#[derive(Deserialize)]
struct Names {
    plural: String,
}

/// Whether this is a file of one CRD that controller-gen wrote and nobody renamed.
pub(super) fn is_crd_of_controller_gen(path: &Path, text: &str) -> bool {
    // Most files are no such CRD, and parsing one takes its time.
    if !text.contains(ANNOTATION) {
        return false;
    }
    let Ok(document) = serde_saphyr::from_str::<Document>(text) else { return false };
    let name = format!("{}_{}.yaml", document.spec.group, document.spec.names.plural);
    document.kind == "CustomResourceDefinition"
        && document.metadata.annotations.contains_key(ANNOTATION)
        && path.file_name().is_some_and(|file| file == name.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    const CRD: &str = "---\napiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata:\n  annotations:\n    \
                       controller-gen.kubebuilder.io/version: v0.23.0\n  name: mice.zoo.io\nspec:\n  group: zoo.io\n  names:\n    \
                       kind: Mouse\n    plural: mice\n  scope: Namespaced\n  versions: []\n";

    #[test]
    fn a_crd_under_its_own_name_with_the_annotation_is_controller_gens() {
        assert!(is_crd_of_controller_gen(Path::new("config/crd/bases/zoo.io_mice.yaml"), CRD));
    }

    #[test]
    fn anything_else_is_not() {
        let path = Path::new("zoo.io_mice.yaml");
        assert!(!is_crd_of_controller_gen(Path::new("mice.yaml"), CRD));
        assert!(!is_crd_of_controller_gen(path, &CRD.replace("v0.23.0", "[")));
        assert!(!is_crd_of_controller_gen(path, &CRD.replace("controller-gen.", "")));
        assert!(!is_crd_of_controller_gen(path, &CRD.replace("CustomResourceDefinition", "Role")));
        assert!(!is_crd_of_controller_gen(path, &format!("{CRD}{CRD}")), "somebody put two into one file");
        let label = CRD.replace("annotations", "labels");
        assert!(!is_crd_of_controller_gen(path, &label));
    }
}
