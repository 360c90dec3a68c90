use kubewright_manifests::crd::CrdBuilder;
use schemars::JsonSchema;

use crate::assert_recorded;

/// ColumnSpec is what is wanted.
#[derive(JsonSchema)]
struct ColumnSpec {
    /// Replicas is how many.
    replicas: Option<i32>,
    /// Image is what runs.
    image: String,
}

/// ColumnStatus is what is.
#[derive(JsonSchema)]
struct ColumnStatus {
    replicas: Option<i32>,
    selector: Option<String>,
}

/// Column has columns and no status.
///
/// +kubebuilder:printcolumn:name="Image",type=string,JSONPath=".spec.image"
/// +kubebuilder:printcolumn:name="Age",type="date",JSONPath=".metadata.creationTimestamp",priority=1
/// +kubebuilder:printcolumn:name=Replicas,type=integer,format=int32,JSONPath=.spec.replicas,description="How many; all of them",priority=0
/// +kubebuilder:printcolumn:JSONPath=`.status.conditions[?(@.type=="Ready")].status`,name=Ready,type=string
#[derive(JsonSchema)]
struct Column {
    spec: Option<ColumnSpec>,
}

/// Scaled has a scale with a selector.
///
/// +kubebuilder:subresource:status
/// +kubebuilder:subresource:scale:specpath=.spec.replicas,statuspath=.status.replicas,selectorpath=.status.selector
/// +kubebuilder:resource:path=scaledthings,singular=scaledthing,shortName=sc;sct,categories=all;parity,scope=Cluster
/// +kubebuilder:printcolumn:name="Age",type="date",JSONPath=".metadata.creationTimestamp"
#[derive(JsonSchema)]
struct Scaled {
    spec: ColumnSpec,
    status: Option<ColumnStatus>,
}

/// Resized has a scale without a selector and without a status subresource.
///
/// +kubebuilder:subresource:scale:specpath=.spec.replicas,statuspath=.status.replicas
/// +kubebuilder:resource:shortName={rz},categories="solo"
#[derive(JsonSchema)]
struct Resized {
    spec: ColumnSpec,
    status: Option<ColumnStatus>,
}

/// Labelled has labels and annotations.
///
/// +kubebuilder:metadata:labels="app.kubernetes.io/part-of=parity";"tier=a=b",annotations="example.com/why=because, it is"
/// +kubebuilder:metadata:labels={"numeric=123","empty="},annotations={"example.com/yes=true","a=1"}
/// +kubebuilder:selectablefield:JSONPath=.spec.image
/// +kubebuilder:selectablefield:JSONPath=".spec.replicas"
#[derive(JsonSchema)]
struct Labelled {
    /// Spec says it in its own words.
    spec: ColumnSpec,
}

fn of<T: JsonSchema + 'static>(kind: &str) -> CrdBuilder {
    CrdBuilder::of_root::<T>("parity.example.com", "v1", kind)
}

#[test]
fn columns() {
    assert_recorded("columns", "parity.example.com_columns.yaml", of::<Column>("Column"));
}

#[test]
fn scale_with_a_selector() {
    assert_recorded("columns", "parity.example.com_scaledthings.yaml", of::<Scaled>("Scaled"));
}

#[test]
fn scale_without_a_status() {
    assert_recorded("columns", "parity.example.com_resizeds.yaml", of::<Resized>("Resized"));
}

#[test]
fn labels_and_annotations() {
    assert_recorded("columns", "parity.example.com_labelleds.yaml", of::<Labelled>("Labelled"));
}
