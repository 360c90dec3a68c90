//! What is said of code and of packages, in the source text.

use kubewright_manifests::{Style, diagnostic::Place, marker::Target, rbac, source::Sources, webhook};
use serde_json::{Map, Value};

use super::entry::{Entry, Outcome};

/// Where a marker about code may stand.
const PLACES: [Target; 5] = [Target::Code, Target::Package, Target::Type, Target::Kind, Target::Field];

/// A file with these lines of a comment on what is meant by the target.
fn file(target: Target, lines: &[String]) -> String {
    let comment = |sign: &str| lines.iter().map(|line| format!("{sign} {line}\n")).collect::<String>();
    match target {
        Target::Package => format!("{}fn main() {{}}\n", comment("//!")),
        Target::Type => format!("{}#[derive(JsonSchema)]\nstruct Size(i32);\n", comment("///")),
        Target::Kind => format!(
            "{}#[derive(CustomResource, JsonSchema)]\n\
             #[kube(group = \"example.com\", version = \"v1\", kind = \"Thing\")]\nstruct ThingSpec {{}}\n",
            comment("///")
        ),
        Target::Field => {
            format!("#[derive(JsonSchema)]\nstruct Sizes {{\n{}size: i32,\n}}\n", comment("///"))
        }
        _ => format!("{}async fn reconcile() {{}}\n", comment("///")),
    }
}

fn outcome(text: String, style: Style) -> Outcome {
    let sources = Sources::of_texts("operator", [("src/main.rs".into(), text)]);
    let (markers, mut diagnostics) = sources.markers();
    diagnostics.extend(sources.check());
    let placed = || {
        markers.iter().map(|found| {
            (&found.marker, Place::File { file: found.file.clone(), range: found.range.clone() })
        })
    };
    let mut documents = Map::new();
    for made in [
        rbac::documents(placed(), &rbac::Options::new("manager-role").style(style)),
        webhook::documents(placed(), &webhook::Options::default().style(style)),
    ] {
        diagnostics.extend(made.diagnostics);
        for mut document in made.documents {
            document.as_object_mut().unwrap().remove("apiVersion");
            let kind = document["kind"].take();
            document.as_object_mut().unwrap().remove("kind");
            documents.insert(kind.as_str().unwrap().to_owned(), document);
        }
    }
    diagnostics.dedup();
    Outcome { document: Value::Object(documents), diagnostics }
}

fn at(target: Target, before: &[&str], after: &[&str]) -> Entry {
    let text = move |lines: &[&str]| {
        let lines: Vec<String> = lines.iter().map(|line| (*line).to_owned()).collect();
        move |style| outcome(file(target, &lines), style)
    };
    Entry::new(target, target.describe(), (before, after), text(before), text(after))
}

/// A marker on a function.
fn on_code(before: &[&str], after: &str) -> Entry {
    at(Target::Code, before, &[before, &[after]].concat())
}

/// A marker with another argument.
fn with(marker: &str, argument: &str) -> Entry {
    at(Target::Code, &[marker], &[&format!("{marker},{argument}")])
}

fn everywhere(marker: &str) -> impl Iterator<Item = Entry> {
    PLACES.into_iter().map(move |target| at(target, &[], &[marker]))
}

pub(crate) fn entries() -> Vec<Entry> {
    [rules(), webhooks(), packages(), known()].concat()
}

fn rules() -> Vec<Entry> {
    let marker = "+kubebuilder:rbac:groups=apps,resources=deployments,verbs=get;list;watch";
    let mut all: Vec<Entry> = everywhere(marker).collect();
    all.extend([
        with("+kubebuilder:rbac:resources=pods,verbs=get", "groups=core"),
        with("+kubebuilder:rbac:groups=apps,verbs=get", "resources=deployments/status"),
        with(marker, "resourceNames=cache"),
        on_code(&[], "+kubebuilder:rbac:urls=/metrics,verbs=get"),
        with(marker, "namespace=cache-system"),
        with(marker, "roleName=cache-role"),
        on_code(&[marker], "+kubebuilder:rbac:groups=apps,resources=deployments,verbs=get;patch"),
    ]);
    all
}

const WEBHOOK: &str = "+kubebuilder:webhook:mutating=true,name=mthing.example.com,failurePolicy=fail,sideEffects=None,groups=example.com,resources=things,verbs=create;update,versions=v1,admissionReviewVersions=v1";

fn webhooks() -> Vec<Entry> {
    let marker = &format!("{WEBHOOK},path=/mutate-thing");
    let validating = &marker.replace("mutating=true", "mutating=false").replace("mthing", "vthing");
    let mut all: Vec<Entry> = everywhere(marker).collect();
    all.extend([
        on_code(&[], validating),
        on_code(&[], &format!("{WEBHOOK},url=\"https://example.com/mutate\"")),
        with(marker, "matchPolicy=Exact"),
        with(marker, "scope=Cluster"),
        with(marker, "namespaceSelector={matchLabels: {team: \"a\"}}"),
        with(marker, "objectSelector={matchLabels: {app: \"a\"}}"),
        with(
            marker,
            "matchConditions={{name: \"no-leases\", expression: \"request.resource.resource != 'leases'\"}}",
        ),
        with(marker, "timeoutSeconds=5"),
        with(marker, "reinvocationPolicy=IfNeeded"),
        with(marker, "serviceName=hooks"),
        with(marker, "serviceNamespace=cache-system"),
        with(marker, "servicePort=8443"),
        with(marker, "webhookVersions=v1").says_the_default(),
        with(marker, "patch=`{\"timeoutSeconds\": 7}`"),
    ]);
    let named = "+kubebuilder:webhookconfiguration:mutating=true,name=hooks";
    all.extend(PLACES.into_iter().map(|target| at(target, &[marker], &[marker, named])));
    let configuration = "+kubebuilder:webhookconfiguration:mutating=true";
    all.extend(["name=hooks", "injectCAFrom=cache-system/serving-cert", "caBundle=LS0tLS1CRUdJTi=="].map(
        |argument| {
            at(Target::Code, &[marker, configuration], &[marker, &format!("{configuration},{argument}")])
        },
    ));
    all
}

fn packages() -> Vec<Entry> {
    let markers = [
        "+groupName=cache.example.com",
        "+versionName=v1",
        "+kubebuilder:skip",
        "+kubebuilder:validation:Optional",
        "+kubebuilder:validation:Required",
    ];
    markers.map(|marker| at(Target::Package, &[], &[marker])).into()
}

/// They change neither what is made of the text nor the schema of the type.
fn known() -> Vec<Entry> {
    let mut all = Vec::new();
    macro_rules! known {
        ($($marker:literal),+) => {$(
            all.extend(everywhere($marker));
            all.extend([field!(i32: $marker), typed!(i32: $marker), spec!($marker)]);
        )+};
    }
    known!(
        "+kubebuilder:object:root=true",
        "+kubebuilder:object:generate=true",
        "+k8s:deepcopy-gen=package",
        "+k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object",
        "+kubebuilder:ac:generate=true",
        "+kubebuilder:ac:output:package=apply",
        "+genclient",
        "+genclient:method=Scale,verb=update",
        "+k8s:conversion-gen=example.com/api/v1",
        "+k8s:defaulter-gen=TypeMeta",
        "+k8s:openapi-gen=true",
        "+k8s:validation-gen=*"
    );
    for alias in [
        "+k8s:deepcopy-gen:nonpointer-interfaces=true",
        "+genclient:nonNamespaced",
        "+genclient:noStatus",
        "+genclient:noVerbs",
        "+genclient:onlyVerbs=create,get",
        "+genclient:skipVerbs=watch",
        "+k8s:conversion-gen-external-types=example.com/api/v1",
        "+k8s:defaulter-gen-input=example.com/api/v1",
    ] {
        all.push(on_code(&[], alias));
    }
    all
}
