//! What is said of markers in sources.

use std::path::PathBuf;

use super::*;

fn sources(text: &str) -> Sources {
    Sources::of_texts("op", [(PathBuf::from("src/main.rs"), text.to_owned())])
}

/// The codes of what is wrong, each with the text that is marked, and the help.
fn wrong(text: &str) -> Vec<(String, String, String)> {
    sources(text)
        .check()
        .into_iter()
        .map(|diagnostic| {
            let Place::File { range, .. } = diagnostic.place else { panic!("a place in a file") };
            (diagnostic.code, text[range].to_owned(), diagnostic.help.join("; "))
        })
        .collect()
}

fn one(text: &str) -> (String, String, String) {
    let mut wrong = wrong(text);
    assert_eq!(wrong.len(), 1, "{text}: {wrong:?}");
    wrong.remove(0)
}

const SPEC: &str = r#"
/// A cache.
///
/// +kubebuilder:resource:shortName=mc
/// +kubebuilder:printcolumn:name="Size",type=integer,JSONPath=`.spec.size`
#[derive(CustomResource, Clone, JsonSchema)]
#[kube(group = "cache.example.com", version = "v1", kind = "Memcached", namespaced)]
#[serde(rename_all = "camelCase")]
pub struct MemcachedSpec {
    /// How many.
    ///
    /// +kubebuilder:validation:Minimum=1
    #[serde(default)]
    pub size: i32,
    /// +kubebuilder:validation:items:MinLength=1
    /// +listType=set
    pub pod_names: Option<Vec<String>>,
}

/// +kubebuilder:rbac:groups=apps,resources=deployments,verbs=get;list
impl Reconciler for MemcachedReconciler {
    /// +kubebuilder:rbac:groups="",resources=pods,verbs=get
    async fn reconcile(&self) {
        // +kubebuilder:rbac:groups="",resources=events,verbs=create
        self.client.create();
    }
}

// +kubebuilder:webhookconfiguration:mutating=true,name=m
"#;

#[test]
fn markers_in_their_places_are_right() {
    assert_eq!(wrong(SPEC), []);
}

#[test]
fn markers_about_code_are_found_everywhere() {
    let sources = sources(SPEC);
    let (markers, diagnostics) = sources.markers();
    assert_eq!(diagnostics, []);
    let names: Vec<&str> = markers.iter().map(|marker| marker.marker.name).collect();
    assert_eq!(
        names,
        ["kubebuilder:rbac", "kubebuilder:rbac", "kubebuilder:rbac", "kubebuilder:webhookconfiguration"]
    );
    for marker in &markers {
        assert_eq!(sources.files[0].text[marker.range.clone()], marker.marker.text);
        assert_eq!(marker.package, "op");
    }
}

#[test]
fn faults_of_markers_about_code_are_told_without_parsing_rust() {
    let (markers, diagnostics) = sources("fn ( // +kubebuilder:rbac:groups=apps,verb=get").markers();
    assert_eq!(markers.len(), 0);
    assert_eq!(diagnostics[0].code, "unknown-argument");
    assert_eq!(diagnostics[0].help, ["write `verbs`"]);
}

#[test]
fn a_plain_comment_on_a_field_is_not_in_the_compiled_type() {
    let (code, marked, help) =
        one("#[derive(JsonSchema)] struct A {\n    // +kubebuilder:validation:Minimum=1\n    a: u8,\n}");
    assert_eq!((code.as_str(), marked.as_str()), ("plain-comment", "+kubebuilder:validation:Minimum=1"));
    assert_eq!(help, "begin the line with `///`");
    for text in [
        "// +nullable\nstruct A;",
        "#[derive(JsonSchema)]\n// +nullable\nstruct A;",
        "struct A { #[serde(default)]\n// +nullable\na: u8 }",
        "struct A { a: u8, // +nullable\n}",
        "fn a() {\n// +nullable\n}",
        "/* +nullable */ struct A;",
        "// +nullable",
        "struct A {\n// +kubebuilder:validation:Optional\na: u8 }",
    ] {
        assert_eq!(one(text).0, "plain-comment", "{text}");
    }
}

#[test]
fn markers_of_types_and_fields_do_nothing_elsewhere() {
    for (text, help) in [
        ("/// +kubebuilder:storageversion\nfn a() {}", "it stands on the spec of a custom resource"),
        ("/// +nullable\nimpl A {}", "it stands on a field"),
        ("//! +nullable", "it stands on a field"),
        ("mod a { //! +nullable\n}", "it stands on a field"),
        (
            "#[derive(JsonSchema)] enum A {\n/// +kubebuilder:validation:Minimum=1\nB }",
            "it stands on a type or on a field; write it above the enum, or above the type that the variant holds",
        ),
        (
            "/// +kubebuilder:validation:Minimum=1\ntype A = u8;",
            "it stands on a type or on a field; the compiled type does not know its aliases: make it a struct with one field",
        ),
        (
            "#[derive(JsonSchema)]\n/// +kubebuilder:storageversion\nstruct A;",
            "it stands on the spec of a custom resource; a custom resource derives `CustomResource`, or has a field `metadata`",
        ),
        (
            "#[derive(JsonSchema)] struct A {\n/// +kubebuilder:validation:AtMostOneOf=a;b\na: u8 }",
            "it stands on a type; write it above the type of the field, or above the type around it if that is meant",
        ),
        ("#[derive(JsonSchema)] struct A {\n/// +groupName=a\na: u8 }", "it stands on a package"),
        ("/// +groupName=a\nfn a() {}", "it stands on a package"),
        ("fn a() { /// +nullable\nlet b = 1; }", "it stands on a field"),
    ] {
        let (code, _, found) = one(text);
        assert_eq!((code.as_str(), found.as_str()), ("wrong-place", help), "{text}");
    }
}

#[test]
fn markers_that_nothing_reads_are_told() {
    for (text, reason) in [
        ("/// +kubebuilder:validation:MinProperties=1\n#[derive(Clone)] struct A;", "JsonSchema"),
        ("#[derive(Clone)] struct A {\n/// +nullable\na: u8 }", "JsonSchema"),
        ("#[derive(JsonSchema)] struct A {\n/// +nullable\n#[serde(skip)] a: u8 }", "serde skips"),
        ("#[derive(JsonSchema)] struct A {\n/// +nullable\n#[serde(flatten)] a: B }", "flattened"),
        ("#[derive(JsonSchema)] struct A(\n/// +nullable\nu8);", "without a name"),
        (
            "#[derive(JsonSchema)] struct A {\n/// +nullable\n#[schemars(description = \"b\")] a: u8 }",
            "description",
        ),
        ("#[derive(JsonSchema)] struct A {\n/**\n * +nullable\n */\na: u8 }", "star"),
    ] {
        let diagnostics = sources(text).check();
        assert_eq!(diagnostics.len(), 1, "{text}");
        assert_eq!(diagnostics[0].code, "wrong-place");
        assert!(diagnostics[0].message.contains(reason), "{}", diagnostics[0].message);
    }
    assert_eq!(wrong("#[derive(JsonSchema)] struct A {\n/** +nullable */\na: u8 }"), []);
    assert_eq!(wrong("#[derive(JsonSchema)] struct A {\n#[doc = \"+nullable\"]\na: u8 }"), []);
    assert_eq!(wrong("#[my::resource] struct A {\n/// +nullable\na: u8 }"), [], "a macro may derive it");
}

#[test]
fn a_marker_fits_the_type_of_its_field() {
    let (code, marked, help) = one(
        "#[derive(JsonSchema)] struct A {\n/// +kubebuilder:validation:MinLength=1\na: Option<Vec<u8>> }",
    );
    assert_eq!((code.as_str(), marked.as_str()), ("type-mismatch", "kubebuilder:validation:MinLength"));
    assert_eq!(help, "write `kubebuilder:validation:MinItems`");
    for text in [
        "/// +listType=map\na: String",
        "/// +mapType=atomic\na: Vec<u8>",
        "/// +kubebuilder:validation:Pattern=a\na: bool",
        "/// +kubebuilder:validation:items:Pattern=a\na: String",
        "/// +kubebuilder:validation:Maximum=1\na: &'static str",
        "/// +structType=atomic\na: BTreeMap<String, u8>",
    ] {
        assert_eq!(
            one(&format!("#[derive(JsonSchema)] struct A {{\n{text} }}")).0,
            "type-mismatch",
            "{text}"
        );
    }
    for text in [
        "/// +kubebuilder:validation:Minimum=1\na: Quantity",
        "/// +kubebuilder:validation:Type=string\n/// +kubebuilder:validation:Pattern=a\na: u8",
        "/// +kubebuilder:validation:Pattern=a\n#[schemars(with = \"String\")] a: u8",
        "/// +kubebuilder:validation:MinLength=1\na: Cow<'static, str>",
    ] {
        assert_eq!(wrong(&format!("#[derive(JsonSchema)] struct A {{\n{text} }}")), [], "{text}");
    }
}

#[test]
fn a_marker_fits_its_type() {
    for text in [
        "/// +kubebuilder:validation:MinLength=1\n#[derive(JsonSchema)] struct A { a: u8 }",
        "/// +kubebuilder:validation:Minimum=1\n#[derive(JsonSchema)] enum A { B, C }",
        "/// +kubebuilder:validation:Pattern=a\n#[derive(JsonSchema)] struct A(u16);",
        "/// +kubebuilder:validation:AtMostOneOf=a;b\n#[derive(JsonSchema)] struct A(Vec<u8>);",
    ] {
        assert_eq!(one(text).0, "type-mismatch", "{text}");
    }
    for text in [
        "/// +kubebuilder:validation:Minimum=1\n#[derive(JsonSchema)] struct A(u16);",
        "/// +kubebuilder:validation:MinProperties=1\n#[derive(JsonSchema)] struct A { a: u8 }",
        "/// +kubebuilder:validation:Pattern=a\n/// +kubebuilder:validation:Type=string\n#[derive(JsonSchema)] struct A(u16);",
        "/// +kubebuilder:validation:Minimum=1\n#[derive(JsonSchema_repr)] enum A { B = 1 }",
        "/// +kubebuilder:validation:Pattern=a\n#[derive(JsonSchema)] #[serde(try_from = \"String\")] struct A { b: u8 }",
        "/// +kubebuilder:validation:MinProperties=1\n#[derive(JsonSchema)] enum A { B(u8) }",
    ] {
        assert_eq!(wrong(text), [], "{text}");
    }
}

#[test]
fn a_marker_that_is_there_twice_says_the_same_twice() {
    let field = |markers: &str| wrong(&format!("#[derive(JsonSchema)] struct A {{\n{markers}\na: u8 }}"));
    let twice = field("/// +kubebuilder:validation:Minimum=1\n/// +kubebuilder:validation:Minimum=2");
    assert_eq!(twice[0].0, "repeated-marker");
    assert_eq!(twice[0].1, "+kubebuilder:validation:Minimum=2");
    for markers in [
        "/// +optional\n/// +kubebuilder:validation:Optional",
        "/// +kubebuilder:validation:Minimum=1\n/// +kubebuilder:validation:Minimum=1",
        "/// +kubebuilder:validation:XValidation:rule=\"a\"\n/// +kubebuilder:validation:XValidation:rule=\"b\"",
    ] {
        assert_eq!(field(markers), [], "{markers}");
    }
    let spread = "/// +kubebuilder:resource:path=as\n/// +kubebuilder:resource:shortName=a";
    assert_eq!(wrong(&format!("{spread}\n#[derive(CustomResource, JsonSchema)] struct A {{ a: u8 }}")), []);
}

#[test]
fn values_are_checked() {
    let field = |marker: &str| one(&format!("#[derive(JsonSchema)] struct A {{\n/// {marker}\na: String }}"));
    assert_eq!(
        field("+kubebuilder:validation:Pattern=`^[a-z{2}$`"),
        ("bad-pattern".to_owned(), "[".to_owned(), String::new())
    );
    let (code, marked, help) = field("+kubebuilder:validation:Pattern=\"^(?!a)\"");
    assert_eq!((code.as_str(), marked.as_str()), ("bad-pattern", "(?!"));
    assert!(help.contains("CEL"), "{help}");
    assert_eq!(field("+default={\"a\": }").0, "bad-json");
    assert_eq!(field("+kubebuilder:title=3").2, "write \"3\"");
    assert_eq!(field("+kubebuilder:validation:MinLength=one").0, "bad-value");
    assert_eq!(field("+kubebuilder:validation:Minlength=1").2, "write `kubebuilder:validation:MinLength`");
}

#[test]
fn everything_that_is_wrong_is_told_at_once() {
    let text = "
        #[derive(JsonSchema)] struct A {
            /// +kubebuilder:validation:Maxmium=3
            /// +nullable=true
            a: u8,
        }
        // +kubebuilder:rbac:groups=a
        /// +optinal
        fn b() {}
    ";
    let codes: Vec<String> = wrong(text).into_iter().map(|(code, ..)| code).collect();
    assert_eq!(codes, ["unknown-marker", "unexpected-value", "missing-argument", "unknown-marker"]);
}

#[test]
fn a_doc_comment_behind_code_is_about_what_follows() {
    let text = "#[derive(JsonSchema)] struct A {\na: u8, /// +nullable\nb: u8 }";
    let diagnostics = sources(text).check();
    assert_eq!(diagnostics[0].code, "comment-behind-code");
    assert_eq!(diagnostics[0].severity, crate::diagnostic::Severity::Warning);
}

#[test]
fn what_is_inside_of_macros_is_read_but_not_placed() {
    assert_eq!(wrong("resource! { struct A {\n/// +nullable\na: u8 } }"), []);
    assert_eq!(one("resource! { struct A {\n/// +nulable\na: u8 } }").0, "unknown-marker");
    assert_eq!(one("fn ( \n/// +nulable\n").0, "unknown-marker", "this is not Rust");
}

#[test]
fn test_code_is_left_out() {
    let text = "#[cfg(test)] mod tests {\n/// +kubebuilder:rbac:verbs=get\n/// +optinal\nfn a() {} }";
    let sources = sources(text);
    assert_eq!(sources.check(), []);
    assert_eq!(sources.markers().0.len(), 0);
}

#[test]
fn files_of_test_modules_are_left_out() {
    let folder = tempfile::tempdir().unwrap();
    let write = |path: &str, text: &str| {
        let path = folder.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    write("Cargo.toml", "[package]\nname = 'op'");
    write("src/main.rs", "mod a; #[cfg(test)] mod tests; #[cfg(test)] #[path = \"other.rs\"] mod b;");
    write("src/a.rs", "#[cfg(test)] mod c; // +kubebuilder:rbac:verbs=get");
    for path in ["src/tests.rs", "src/tests/deep.rs", "src/other.rs", "src/a/c/mod.rs"] {
        write(path, "// +kubebuilder:rbac:verbs=delete");
    }
    write("src/a/d.rs", "// +kubebuilder:rbac:verbs=list");
    let (markers, _) = Sources::read(folder.path()).unwrap().markers();
    let texts: Vec<&str> = markers.iter().map(|marker| marker.marker.text.as_str()).collect();
    assert_eq!(texts, ["+kubebuilder:rbac:verbs=list", "+kubebuilder:rbac:verbs=get"]);
}

#[test]
fn markers_on_types_that_are_flattened_are_lost() {
    let text = "
        #[derive(JsonSchema)]
        struct Outer { #[serde(flatten)] inner: Option<Box<api::Inner>>, whole: Whole }
        /// +kubebuilder:validation:XValidation:rule=true
        #[derive(JsonSchema)]
        struct Inner {
            /// +kubebuilder:validation:Minimum=1
            size: u8
        }
        /// +kubebuilder:validation:XValidation:rule=true
        #[derive(JsonSchema)]
        struct Whole { size: u8 }";
    let sources = sources(text);
    let found = sources.check();
    let [diagnostic] = found.as_slice() else { panic!("{found:?}") };
    assert_eq!((diagnostic.code.as_str(), diagnostic.is_error()), ("flattened-type", false));
    let Place::File { range, .. } = &diagnostic.place else { panic!("{:?}", diagnostic.place) };
    assert_eq!(&text[range.clone()], "+kubebuilder:validation:XValidation:rule=true");
    assert!(range.start < text.find("Inner {").unwrap());
    assert!(diagnostic.message.contains("`Outer.inner` flattens `Inner`"), "{}", diagnostic.message);
    assert_eq!(wrong(&text.replace("#[serde(flatten)]", "")), []);
}

#[test]
fn what_is_said_of_a_package_is_said_to_do_nothing() {
    let (code, at, help) = one("//! +groupName=example.com\nfn main() {}");
    assert_eq!((code.as_str(), at.as_str()), ("no-effect", "+groupName=example.com"));
    assert!(help.contains("#[kube(group = "), "{help}");
}

/// The text at the place of a doc comment.
fn resolved(
    text: &str,
    type_name: &str,
    field: Option<&str>,
    marker: &str,
    range: Range<usize>,
) -> Option<String> {
    let place = Place::Doc {
        type_name: type_name.to_owned(),
        field: field.map(str::to_owned),
        marker: marker.to_owned(),
        range,
    };
    match sources(text).resolve(place) {
        Place::File { range, .. } => Some(text[range].to_owned()),
        _ => None,
    }
}

#[test]
fn places_of_compiled_types_are_found() {
    let at = |type_name: &str, field: Option<&str>, marker: &str, range: Range<usize>| {
        resolved(SPEC, type_name, field, marker, range)
    };
    assert_eq!(
        at("MemcachedSpec", Some("size"), "+kubebuilder:validation:Minimum=1", 32..33).as_deref(),
        Some("1")
    );
    assert_eq!(at("MemcachedSpec", Some("podNames"), "+listType=set", 10..13).as_deref(), Some("set"));
    assert_eq!(at("MemcachedSpec", Some("podNames"), "", 0..0).as_deref(), Some("pod_names"));
    assert_eq!(
        at("MemcachedSpec", None, "+kubebuilder:resource:shortName=mc", 0..21).as_deref(),
        Some("+kubebuilder:resource")
    );
    assert_eq!(at("MemcachedSpec", None, "", 0..0).as_deref(), Some("MemcachedSpec"));
    assert_eq!(at("Memcached", None, "", 0..0).as_deref(), Some("MemcachedSpec"), "by the kind");
    assert_eq!(
        at("MemcachedSpec2", None, "", 0..0).as_deref(),
        Some("MemcachedSpec"),
        "schemars numbers names"
    );
    assert_eq!(at("MemcachedSpec_for_A", None, "", 0..0).as_deref(), Some("MemcachedSpec"));
    assert_eq!(at("MemcachedSpec", Some("none"), "+listType=set", 0..1).as_deref(), Some("MemcachedSpec"));
    assert_eq!(at("Other", None, "", 0..0), None);
}

#[test]
fn the_type_with_the_marker_is_preferred() {
    let text = "mod a { struct A { b: u8 } } mod c { struct A {\n/// +nullable\nb: u8 } }";
    assert_eq!(resolved(text, "A", Some("b"), "+nullable", 1..9).as_deref(), Some("nullable"));
}

#[test]
fn comments_of_variants_are_found() {
    let text = "enum A {\n/// +nullable\nB { c: u8 } }";
    assert_eq!(resolved(text, "A", None, "+nullable", 1..9).as_deref(), Some("nullable"));
    assert_eq!(resolved(text, "A", Some("B"), "", 0..0).as_deref(), Some("B"));
    assert_eq!(resolved(text, "A", Some("c"), "", 0..0).as_deref(), Some("c"));
}
