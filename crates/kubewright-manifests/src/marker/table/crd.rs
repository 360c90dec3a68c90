//! What is said of a custom resource and its versions.

use super::KIND;
use crate::marker::{
    Argument,
    Arguments::{Named, None as Nothing},
    CrdEffect as C, Definition,
    Effect::Crd,
    ValueKind::{Integer, List, String as Text, Word},
};

const RESOURCE: &[Argument] = &[
    Argument::optional("path", Text, "The plural name, as in URLs and after `kubectl get`."),
    Argument::optional("singular", Text, "The singular name; the kind in lower case unless given."),
    Argument::optional("scope", Word(&["Namespaced", "Cluster"]), "Whether objects live in namespaces."),
    Argument::optional("shortName", List(&Text), "Short names for `kubectl`."),
    Argument::optional(
        "categories",
        List(&Text),
        "Groups of kinds that `kubectl get` lists together, such as `all`.",
    ),
];

const SCALE: &[Argument] = &[
    Argument::required("specpath", Text, "Where the wanted number of replicas is, such as `.spec.replicas`."),
    Argument::required(
        "statuspath",
        Text,
        "Where the present number of replicas is, such as `.status.replicas`.",
    ),
    Argument::optional(
        "selectorpath",
        Text,
        "Where the selector of the pods is, as a text; autoscalers need it.",
    ),
];

const COLUMN: &[Argument] = &[
    Argument::required("name", Text, "The heading."),
    Argument::required(
        "type",
        Word(&["integer", "number", "string", "boolean", "date"]),
        "The type of the value.",
    ),
    Argument::required("JSONPath", Text, "Where the value is, such as `.spec.size`."),
    Argument::optional("description", Text, "What the column shows."),
    Argument::optional("format", Text, "The format of the value, such as `int32` or `password`."),
    Argument::optional("priority", Integer, "0 shows the column always, more only with `-o wide`."),
];

const SELECTABLE: &[Argument] =
    &[Argument::required("JSONPath", Text, "Where the value is: a text, a whole number or a boolean.")];

const DEPRECATED: &[Argument] =
    &[Argument::optional("warning", Text, "What `kubectl` says to those who use the version.")];

const METADATA: &[Argument] = &[
    Argument::optional("annotations", List(&Text), "Annotations, each `key=value`."),
    Argument::optional("labels", List(&Text), "Labels, each `key=value`."),
];

const CONVERSION: &[Argument] = &[
    Argument::optional("path", Text, "The path on the service; `/convert` unless given."),
    Argument::optional(
        "url",
        Text,
        "The address of a webhook outside of the cluster, instead of the service.",
    ),
    Argument::optional("serviceName", Text, "The name of the service; `webhook-service` unless given."),
    Argument::optional("serviceNamespace", Text, "The namespace of the service; `system` unless given."),
    Argument::optional("servicePort", Integer, "The port of the service; 443 unless given."),
    Argument::optional(
        "reviewVersions",
        List(&Text),
        "The versions of ConversionReview that the webhook reads, best first; `v1` unless given.",
    ),
    Argument::optional(
        "injectCAFrom",
        Text,
        "The cert-manager Certificate, as `namespace/name`, whose authority is put into the CRD.",
    ),
];

pub(super) static ROWS: &[Definition] = &[
    Definition::new(
        "kubebuilder:resource",
        KIND,
        Named(RESOURCE),
        Crd(C::Resource),
        "Names and scope of the custom resource.",
    ).example("+kubebuilder:resource:path=memcacheds,scope=Namespaced,shortName=mc,categories=all;caches")
    .native("#[kube(plural = \"memcacheds\", singular = \"memcached\", shortname = \"mc\", category = \"all\", namespaced)]"),
    Definition::new(
        "kubebuilder:printcolumn",
        KIND,
        Named(COLUMN),
        Crd(C::PrintColumn),
        "A column of `kubectl get`. May be repeated; the columns keep their order.",
    ).example(r#"+kubebuilder:printcolumn:name="Size",type=integer,JSONPath=`.spec.size`"#)
    .native("#[kube(printcolumn(name = \"Size\", type_ = \"integer\", json_path = \".spec.size\"))]"),
    Definition::new(
        "kubebuilder:subresource:status",
        KIND,
        Nothing,
        Crd(C::StatusSubresource),
        "The status is a subresource: users cannot write it by accident, and it does not count for the generation.",
    )
    .native("#[kube(status = \"MemcachedStatus\")]"),
    Definition::new(
        "kubebuilder:subresource:scale",
        KIND,
        Named(SCALE),
        Crd(C::ScaleSubresource),
        "`kubectl scale` and autoscalers can set the number of replicas.",
    ).example("+kubebuilder:subresource:scale:specpath=.spec.replicas,statuspath=.status.replicas,selectorpath=.status.selector")
    .native("#[kube(scale(spec_replicas_path = \".spec.replicas\", status_replicas_path = \".status.replicas\"))]"),
    Definition::new(
        "kubebuilder:selectablefield",
        KIND,
        Named(SELECTABLE),
        Crd(C::SelectableField),
        "A field that `kubectl get --field-selector` can select by. May be repeated, up to eight times.",
    ).example("+kubebuilder:selectablefield:JSONPath=`.spec.color`")
    .native("#[kube(selectable = \".spec.color\")]"),
    Definition::new(
        "kubebuilder:storageversion",
        KIND,
        Nothing,
        Crd(C::StorageVersion),
        "Objects are stored in this version. Exactly one version of a kind has it.",
    )
    .native("#[kube(storage = true)]"),
    Definition::new(
        "kubebuilder:unservedversion",
        KIND,
        Nothing,
        Crd(C::UnservedVersion),
        "The API server does not offer this version.",
    )
    .native("#[kube(served = false)]"),
    Definition::new(
        "kubebuilder:deprecatedversion",
        KIND,
        Named(DEPRECATED),
        Crd(C::DeprecatedVersion),
        "Those who use this version are warned.",
    ).example(r#"+kubebuilder:deprecatedversion:warning="use cache.example.com/v1""#)
    .native("#[kube(deprecated = \"use v1\")]"),
    Definition::new(
        "kubebuilder:skipversion",
        KIND,
        Nothing,
        Crd(C::SkipVersion),
        "This version is left out of the CRD.",
    ),
    Definition::new(
        "kubebuilder:metadata",
        KIND,
        Named(METADATA),
        Crd(C::Metadata),
        "Annotations and labels of the CRD itself.",
    ).example(r#"+kubebuilder:metadata:annotations={"example.com/owner=cache"},labels={"app=cache"}"#)
    .native("#[kube(annotation(\"key\", \"value\"), label(\"key\", \"value\"))]"),
    Definition::new(
        "kubewright:conversion",
        KIND,
        Named(CONVERSION),
        Crd(C::Conversion),
        "Versions of this kind are converted by a webhook, instead of by changing `apiVersion` alone.",
    ).example("+kubewright:conversion:path=/convert,serviceNamespace=cache-system,injectCAFrom=cache-system/serving-cert"),
];
