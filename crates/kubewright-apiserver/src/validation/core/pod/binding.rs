use kubewright_schema::names;

use crate::validation::Field;

/// Checks which node a pod is bound to.
pub(crate) fn validate(binding: Field<'_>) {
    let (kind, name) = (binding.child("target").child("kind"), binding.child("target").child("name"));
    if !matches!(kind.text(), "" | "Node") {
        kind.not_supported(kind.text(), &["Node", "<empty>"]);
        name.require();
    } else if name.require() {
        name.check(names::dns1123_subdomain);
    }
}
