//! Admission webhooks.

use super::ANYWHERE;
use crate::marker::{
    Argument,
    Arguments::Named,
    Definition, Effect,
    ValueKind::{Any, AnyCase, Bool, Integer, List, String as Text, Word},
};

const WEBHOOK: &[Argument] = &[
    Argument::required("mutating", Bool, "Whether it changes objects, or only validates them."),
    Argument::required("name", Text, "The name of the webhook: a domain name with three parts or more."),
    Argument::optional("path", Text, "The path on the service. This or `url` is required."),
    Argument::optional("url", Text, "The address of a webhook outside of the cluster, instead of `path`."),
    Argument::required(
        "failurePolicy",
        AnyCase(&["Fail", "Ignore"]),
        "What happens when the webhook cannot be reached.",
    ),
    Argument::required(
        "sideEffects",
        Word(&["None", "NoneOnDryRun"]),
        "Whether it changes anything outside of the object.",
    ),
    Argument::required(
        "groups",
        List(&Text),
        "The API groups; `core` or `\"\"` is that of pods and services.",
    ),
    Argument::required("resources", List(&Text), "The resources by their plural names."),
    Argument::required(
        "verbs",
        List(&AnyCase(&["CREATE", "UPDATE", "DELETE", "CONNECT", "*"])),
        "The operations that it is asked about.",
    ),
    Argument::required("versions", List(&Text), "The versions of the resources."),
    Argument::required(
        "admissionReviewVersions",
        List(&Text),
        "The versions of AdmissionReview that it reads, best first.",
    ),
    Argument::optional(
        "matchPolicy",
        Word(&["Exact", "Equivalent"]),
        "Whether it is asked about other versions of the resource, converted.",
    ),
    Argument::optional(
        "scope",
        Word(&["Cluster", "Namespaced", "*"]),
        "Whether it is asked about objects of the cluster, of namespaces, or both, which is the default.",
    ),
    Argument::optional(
        "namespaceSelector",
        Any,
        "It is asked about objects in namespaces with these labels, as `{matchLabels: {team: \"a\"}}`.",
    ),
    Argument::optional(
        "objectSelector",
        Any,
        "It is asked about objects with these labels, as `{matchLabels: {app: \"a\"}}`.",
    ),
    Argument::optional(
        "matchConditions",
        Any,
        "It is asked if these hold, as `{{name: \"no-leases\", expression: \"request.resource.resource != 'leases'\"}}`.",
    ),
    Argument::optional("timeoutSeconds", Integer, "How long the API server waits: 1 to 30 seconds."),
    Argument::optional(
        "reinvocationPolicy",
        Word(&["Never", "IfNeeded"]),
        "Whether a mutating webhook is asked again after others changed the object.",
    ),
    Argument::optional("serviceName", Text, "The name of the service; `webhook-service` unless given."),
    Argument::optional("serviceNamespace", Text, "The namespace of the service; `system` unless given."),
    Argument::optional("servicePort", Integer, "The port of the service; 443 unless given."),
    Argument::optional(
        "webhookVersions",
        List(&Word(&["v1"])),
        "The version of the configuration that is written.",
    ),
    Argument::optional(
        "patch",
        Text,
        "A strategic merge patch, as JSON, that is applied last, for what has no argument.",
    ),
];

const CONFIGURATION: &[Argument] = &[
    Argument::required("mutating", Bool, "Which of the two configurations is meant."),
    Argument::optional(
        "name",
        Text,
        "Its name; `mutating-webhook-configuration` or `validating-webhook-configuration` unless given.",
    ),
    Argument::optional(
        "injectCAFrom",
        Text,
        "The Certificate of cert-manager, as `namespace/name`, whose authority is written into its webhooks.",
    ),
    Argument::optional("caBundle", Text, "The authority of its webhooks: PEM certificates in base64."),
];

pub(super) static ROWS: &[Definition] = &[
    Definition::new(
        "kubebuilder:webhook",
        ANYWHERE,
        Named(WEBHOOK),
        Effect::Webhook,
        "An admission webhook of the operator. It may stand on any code, best on what answers it.",
    ).example("+kubebuilder:webhook:path=/mutate-memcached,mutating=true,failurePolicy=fail,sideEffects=None,groups=cache.example.com,resources=memcacheds,verbs=create;update,versions=v1,name=mmemcached.example.com,admissionReviewVersions=v1"),
    Definition::new(
        "kubebuilder:webhookconfiguration",
        ANYWHERE,
        Named(CONFIGURATION),
        Effect::WebhookConfiguration,
        "The name of the object that holds the webhooks. At most one for each of the two kinds.",
    ).example("+kubebuilder:webhookconfiguration:mutating=true,name=cache-mutating-webhooks"),
];
