//! What a domain, a group, a version, a kind, a plural and a package may be called.
//!
//! Kubernetes' rules, and those of Rust: a kind becomes a type and a module, a version a module, a project a crate. Names that
//! one of them refuses are refused before a file is written.

use kubewright_manifests::naming;
use kubewright_schema::names;

/// A name that cannot be used: what it is for, why it cannot be, and what to use.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{name}` cannot be {what}: {reason}{}", suggestion.as_ref().map(|name| format!("; did you mean `{name}`?")).unwrap_or_default())]
#[non_exhaustive]
pub struct NameError {
    /// What was given.
    pub name: String,
    /// What it was to be, with its article.
    pub what: &'static str,
    /// Why it cannot be that.
    pub reason: String,
    /// A name close to it that can.
    pub suggestion: Option<String>,
}

/// Words that cannot name a module or a crate. `self`, `super` and `crate` cannot even be raw identifiers.
const KEYWORDS: &[&str] = &[
    "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "crate", "do", "dyn",
    "else", "enum", "extern", "false", "final", "fn", "for", "gen", "if", "impl", "in", "let", "loop",
    "macro", "match", "mod", "move", "mut", "override", "priv", "pub", "ref", "return", "self", "static",
    "struct", "super", "trait", "true", "try", "type", "typeof", "unsafe", "unsized", "use", "virtual",
    "where", "while", "yield",
];

/// Names that the scaffolded code uses: a type of the same name would take their place in it.
const USED: &[&str] = &[
    "Action",
    "Api",
    "Box",
    "Client",
    "Clock",
    "Clone",
    "Condition",
    "Controller",
    "CustomResource",
    "Debug",
    "Default",
    "Deserialize",
    "Err",
    "Error",
    "JsonSchema",
    "Manager",
    "NewCondition",
    "None",
    "Ok",
    "Operator",
    "Option",
    "Options",
    "Patch",
    "PostParams",
    "Reconciler",
    "Recorder",
    "Request",
    "Resource",
    "ResourceExt",
    "Result",
    "Self",
    "Serialize",
    "Some",
    "String",
    "TestCluster",
    "Vec",
];

/// Crates that an operator has around it: one of the same name could not be told apart from them.
const CRATES: &[&str] = &[
    "alloc",
    "core",
    "proc-macro",
    "std",
    "test",
    "kube",
    "kubewright",
    "kubewright-testing",
    "k8s-openapi",
    "schemars",
    "serde",
    "serde-json",
    "tokio",
    "build",
    "deps",
    "examples",
    "incremental",
];

/// Checks the domain of a project's groups, such as `example.com`.
///
/// # Errors
///
/// If it is no DNS subdomain.
pub fn check_domain(name: &str) -> Result<(), NameError> {
    first(name, "a domain", names::dns1123_subdomain(name))
        .map_err(|error| error.suggest(name.to_lowercase(), |name| check_domain(name).is_ok()))
}

/// Checks a group with its domain, such as `cache.example.com`.
///
/// # Errors
///
/// If it is no DNS subdomain.
pub fn check_group(name: &str) -> Result<(), NameError> {
    first(name, "an API group", names::dns1123_subdomain(name))
        .map_err(|error| error.suggest(name.to_lowercase(), |name| check_group(name).is_ok()))
}

/// Checks a version: `v1`, `v1beta2`, `v2alpha1`.
///
/// Kubernetes allows more, but orders these alone by age, and a version is a module too.
///
/// # Errors
///
/// If it is no such version.
pub fn check_version(name: &str) -> Result<(), NameError> {
    fn number(text: &str) -> bool {
        !text.is_empty() && !text.starts_with('0') && text.bytes().all(|byte| byte.is_ascii_digit())
    }
    let is_version = |name: &str| {
        let Some(rest) = name.strip_prefix('v') else { return false };
        let stages = ["alpha", "beta"];
        let staged = stages.iter().find_map(|stage| rest.split_once(stage));
        rest.len() <= 61
            && staged.map_or_else(|| number(rest), |(major, minor)| number(major) && number(minor))
    };
    if is_version(name) {
        return Ok(());
    }
    let reason =
        "a version is `v` and a number, as `v1`, perhaps with a stage, as `v1alpha1` or `v2beta3`".to_owned();
    let error = NameError { name: name.to_owned(), what: "a version", reason, suggestion: None };
    let lower = name.to_lowercase();
    let prefixed = if lower.starts_with('v') { lower } else { format!("v{lower}") };
    Err(error.suggest(prefixed, |name| is_version(name)))
}

/// Checks a kind, such as `Memcached`.
///
/// # Errors
///
/// If it is no name for a kind, no name for a type, or one that the scaffolded code needs itself.
pub fn check_kind(name: &str) -> Result<(), NameError> {
    let error = |reason: &str| NameError {
        name: name.to_owned(),
        what: "a kind",
        reason: reason.to_owned(),
        suggestion: None,
    };
    if !name.starts_with(|first: char| first.is_ascii_uppercase())
        || !name.chars().all(|c| c.is_ascii_alphanumeric())
    {
        let reason = "a kind is letters and digits, the first a capital letter, as `Memcached`";
        return Err(error(reason).suggest(pascal_case(name), |name| check_kind(name).is_ok()));
    }
    first(name, "a kind", names::dns1035_label(&name.to_lowercase()))?;
    if USED.contains(&name) {
        return Err(error("the code that is written for it uses a type of that name")
            .suggest(format!("{name}Resource"), |_| name != "Self"));
    }
    Ok(())
}

/// Checks the plural of a kind, such as `memcacheds`.
///
/// # Errors
///
/// If it is no DNS label.
pub fn check_plural(name: &str) -> Result<(), NameError> {
    first(name, "a plural", names::dns1035_label(name))
        .map_err(|error| error.suggest(name.to_lowercase(), |name| check_plural(name).is_ok()))
}

/// Checks the name of a controller, such as `backup`.
///
/// # Errors
///
/// If it is no DNS label.
pub fn check_controller(name: &str) -> Result<(), NameError> {
    first(name, "the name of a controller", names::dns1035_label(name))
        .map_err(|error| error.suggest(kebab_case(name), |name| check_controller(name).is_ok()))
}

/// Checks the name of a project, which is that of its package, and begins the names of its objects.
///
/// # Errors
///
/// If it is no DNS label, or no name for a package.
pub fn check_project(name: &str) -> Result<(), NameError> {
    const WHAT: &str = "the name of a project";
    let error = |reason: &str| NameError {
        name: name.to_owned(),
        what: WHAT,
        reason: reason.to_owned(),
        suggestion: None,
    };
    // Its namespace is `<name>-system`, the longest of its objects' names that has to be a label.
    if name.len() > 63 - "-system".len() {
        return Err(error("its namespace, `<name>-system`, would have more than 63 characters"));
    }
    first(name, WHAT, names::dns1123_label(name))
        .map_err(|error| error.suggest(kebab_case(name), |name| check_project(name).is_ok()))?;
    if name.starts_with(|first: char| first.is_ascii_digit()) {
        return Err(error("a Cargo package cannot begin with a digit"));
    }
    if is_keyword(name) || CRATES.contains(&name) {
        let reason = if is_keyword(name) {
            "it is a word of Rust"
        } else {
            "a crate that operators use has that name"
        };
        return Err(error(reason).suggest(format!("{name}-operator"), |name| check_project(name).is_ok()));
    }
    Ok(())
}

/// The module for a kind: `redis_cluster` for `RedisCluster`. One that would be a word of Rust ends with an underscore.
#[must_use]
pub fn module(kind: &str) -> String {
    let characters: Vec<char> = kind.chars().collect();
    let mut module = String::new();
    for (at, character) in characters.iter().enumerate() {
        let after_lower = at > 0 && !characters[at - 1].is_ascii_uppercase();
        let before_lower = at > 0 && characters.get(at + 1).is_some_and(char::is_ascii_lowercase);
        if character.is_ascii_uppercase() && (after_lower || before_lower) {
            module.push('_');
        }
        module.push(character.to_ascii_lowercase());
    }
    if is_keyword(&module) {
        module.push('_');
    }
    module
}

/// The module for a controller with a name: `nightly_backup` for `nightly-backup`.
#[must_use]
pub(crate) fn controller_module(name: &str) -> String {
    let module = name.replace('-', "_");
    if is_keyword(&module) { format!("{module}_") } else { module }
}

/// The words of a name, each with a capital letter.
pub(crate) fn pascal(name: &str) -> String {
    pascal_case(name)
}

/// Whether a name is a word of Rust.
#[must_use]
pub fn is_keyword(name: &str) -> bool {
    KEYWORDS.contains(&name)
}

/// The module for a group: its name up to the first dot, with underscores for dashes.
#[must_use]
pub fn group_module(group: &str) -> String {
    let first = group.split('.').next().unwrap_or(group).replace('-', "_");
    let module =
        if first.starts_with(|c: char| c.is_ascii_digit()) { format!("group_{first}") } else { first };
    if is_keyword(&module) { format!("{module}_") } else { module }
}

/// The plural that a kind gets if none is said.
#[must_use]
pub fn plural(kind: &str) -> String {
    naming::plural(kind)
}

/// A name for a project from that of its folder, if one can be made.
#[must_use]
pub fn project_from_folder(folder: &str) -> Option<String> {
    let name = kebab_case(folder);
    check_project(&name).is_ok().then_some(name)
}

// === impl NameError ===

impl NameError {
    fn suggest(mut self, name: String, fits: impl Fn(&str) -> bool) -> Self {
        if name != self.name && fits(&name) {
            self.suggestion = Some(name);
        }
        self
    }
}

fn first(name: &str, what: &'static str, reasons: Vec<String>) -> Result<(), NameError> {
    match reasons.into_iter().next() {
        None => Ok(()),
        Some(reason) => Err(NameError { name: name.to_owned(), what, reason, suggestion: None }),
    }
}

fn pascal_case(name: &str) -> String {
    let words = name.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    words.map(|word| word[..1].to_ascii_uppercase() + &word[1..]).collect()
}

fn kebab_case(name: &str) -> String {
    let lower = name.to_lowercase();
    let words = lower.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join("-")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(result: Result<(), NameError>) -> String {
        result.expect_err("not a name").to_string()
    }

    #[test]
    fn names_of_the_field_are_accepted() {
        for domain in ["example.com", "my.domain", "a"] {
            check_domain(domain).expect(domain);
        }
        for version in ["v1", "v12", "v1alpha1", "v2beta10"] {
            check_version(version).expect(version);
        }
        for kind in ["Memcached", "RedisCluster", "DNS", "X509", "Type"] {
            check_kind(kind).expect(kind);
        }
        for project in ["memcached-operator", "operator", "a1"] {
            check_project(project).expect(project);
        }
    }

    #[test]
    fn others_are_refused_with_a_reason_and_a_name_that_fits() {
        assert_eq!(
            text(check_kind("memcached")),
            "`memcached` cannot be a kind: a kind is letters and digits, the first a capital letter, as `Memcached`; did you \
             mean `Memcached`?"
        );
        assert!(text(check_kind("redis-cluster")).ends_with("did you mean `RedisCluster`?"));
        assert!(text(check_kind("Request")).ends_with("did you mean `RequestResource`?"));
        assert!(!text(check_kind("Self")).contains("did you mean"));
        assert!(text(check_version("1alpha1")).ends_with("did you mean `v1alpha1`?"));
        for version in ["", "v", "v0", "v01", "v1gamma1", "v1alpha", "valpha1", "v1-1", "v1.1", "latest"] {
            assert!(check_version(version).is_err(), "{version}");
        }
        assert!(text(check_domain("Example.com")).ends_with("did you mean `example.com`?"));
        assert!(check_domain("").is_err());
        assert!(text(check_project("My Operator")).ends_with("did you mean `my-operator`?"));
        assert!(text(check_project("loop")).contains("it is a word of Rust; did you mean `loop-operator`?"));
        assert!(text(check_project("tokio")).contains("a crate that operators use"));
        assert!(check_project("3scale").is_err());
        assert!(check_project(&"a".repeat(57)).is_err());
    }

    #[test]
    fn modules_are_the_words_of_a_kind() {
        let modules =
            ["Memcached", "RedisCluster", "DNSRecord", "MyDNS", "X509Cert", "Type", "Mod"].map(module);
        assert_eq!(
            modules,
            ["memcached", "redis_cluster", "dns_record", "my_dns", "x509_cert", "type_", "mod_"]
        );
        let groups = ["cache", "my-group.example.com", "3scale", "type"].map(group_module);
        assert_eq!(groups, ["cache", "my_group", "group_3scale", "type_"]);
    }

    proptest::proptest! {
        #[test]
        fn no_text_is_a_panic(name in ".*") {
            let _ = (check_domain(&name), check_group(&name), check_version(&name), check_kind(&name));
            let _ = (check_plural(&name), check_project(&name), project_from_folder(&name));
            if check_kind(&name).is_ok() {
                proptest::prop_assert!(syn::parse_str::<syn::Ident>(&module(&name)).is_ok());
            }
        }
    }
}
