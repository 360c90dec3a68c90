//! What the command line and the manifest say together.

use std::{collections::BTreeMap, path::Path};

use serde_json::Value;

use super::{Generator, OptionError, Output, Word, metadata};
use crate::{
    Style,
    output::{Header, Mark, OutputError},
};

/// The version of controller-gen whose output its style has.
const CONTROLLER_GEN_VERSION: &str = "v0.23.0";

const PRESERVE_UNKNOWN_FIELDS: &str = "deprecatedV1beta1CompatibilityPreserveUnknownFields";

const MAX_DESCRIPTION_LENGTH_OF: &str = "maxDescLenOf";

/// What the generators are to do.
///
/// The manifest is read first and the words of the command line after it, so that these win.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Settings {
    /// Whose conventions the output follows.
    pub style: Style,
    /// The binary target that is the operator, if the manifest says it.
    pub bin: Option<String>,
    /// Whether stale files are removed; true by default.
    pub prune: bool,
    pub(super) outputs: BTreeMap<Generator, Output>,
    default_output: Option<Output>,
    named: Vec<Generator>,
    options: BTreeMap<(Generator, &'static str), Value>,
}

/// Which of two values of one option stays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Keep {
    Old,
    New,
}

// === impl Settings ===

impl Default for Settings {
    fn default() -> Self {
        Self {
            style: Style::default(),
            bin: None,
            prune: true,
            outputs: BTreeMap::new(),
            default_output: None,
            named: Vec::new(),
            options: BTreeMap::new(),
        }
    }
}

impl Settings {
    /// The settings of a project, from the text of its `Cargo.toml`, whose folder paths in it are relative to.
    ///
    /// They are in the table `package.metadata.kubewright.generate`; without one, all has its default.
    ///
    /// # Errors
    ///
    /// Text that is not TOML, keys that are not known, with the nearest that is, and values of the wrong type.
    pub fn from_manifest(manifest: &str, folder: &Path) -> Result<Self, OptionError> {
        let mut settings = Self::default();
        if let Some(table) = metadata::find(manifest)? {
            metadata::read(&table, folder, &mut settings)?;
        }
        settings.check()?;
        Ok(settings)
    }

    /// Takes over what the words of the command line say, but for the path.
    ///
    /// # Errors
    ///
    /// A generator that is named twice, an output rule for one that does not run, and values that cannot be.
    pub fn apply(&mut self, words: &[Word]) -> Result<(), OptionError> {
        for word in words {
            if let Word::Generator { generator, options } = word {
                if self.named.contains(generator) {
                    return Err(OptionError::new(format!("`{generator}`"), "it is named twice")
                        .help("its options go into one word, separated by commas"));
                }
                self.named.push(*generator);
                for (name, value) in options {
                    self.set(*generator, name, value.clone(), Keep::New);
                }
            }
        }
        for word in words {
            match word {
                Word::Output { generator: Some(generator), output } => {
                    if !self.runs(*generator) {
                        return Err(OptionError::new(
                            format!("`output:{generator}`"),
                            format!("`{generator}` does not run"),
                        )
                        .help(format!("name `{generator}` too")));
                    }
                    self.outputs.insert(*generator, output.clone());
                }
                Word::Output { generator: None, output } => self.output(output.clone()),
                _ => {}
            }
        }
        self.check()
    }

    /// Sends the files of all generators that have no rule of their own on the command line to one place.
    pub fn output(&mut self, output: Output) {
        self.default_output = Some(output);
    }

    /// Whether a generator runs: if it was named, or if none was.
    #[must_use]
    pub fn runs(&self, generator: Generator) -> bool {
        self.named.is_empty() || self.named.contains(&generator)
    }

    /// Whether a generator was asked for by its name.
    #[must_use]
    pub fn names(&self, generator: Generator) -> bool {
        self.named.contains(&generator)
    }

    /// Where the files of a generator go; `project` is the folder of the package.
    #[must_use]
    pub fn output_of(&self, generator: Generator, project: &Path) -> Output {
        let own = self.outputs.get(&generator);
        own.or(self.default_output.as_ref())
            .cloned()
            .unwrap_or_else(|| Output::Folder(project.join(generator.folder())))
    }

    /// The text for the top of the files of a generator.
    ///
    /// # Errors
    ///
    /// If there is a header file that cannot be used.
    pub fn header(&self, generator: Generator, mark: Mark) -> Result<Header, OutputError> {
        match self.text(generator, "headerFile") {
            Some(path) => Header::read(self.style, mark, Path::new(path), self.text(generator, "year")),
            None => Ok(Header::none(self.style, mark)),
        }
    }

    /// The longest description of a CRD, in bytes; none if they are not cut.
    #[must_use]
    pub fn max_description_length(&self) -> Option<usize> {
        self.option(Generator::Crd, "maxDescLen")
            .and_then(Value::as_i64)
            .and_then(|length| usize::try_from(length).ok())
    }

    /// The longest descriptions of the types of modules, by the paths of these.
    #[must_use]
    pub fn max_description_length_of(&self) -> Vec<(&str, usize)> {
        let limits = self.option(Generator::Crd, MAX_DESCRIPTION_LENGTH_OF).and_then(Value::as_array);
        limits.into_iter().flatten().filter_map(|limit| module_limit(limit.as_str()?)).collect()
    }

    /// Whether the metadata of embedded objects keeps its fields; none if the style decides.
    #[must_use]
    pub fn embedded_object_meta(&self) -> Option<bool> {
        self.option(Generator::Crd, "generateEmbeddedObjectMeta").and_then(Value::as_bool)
    }

    /// Whether floats are allowed where the style has a say in it.
    #[must_use]
    pub fn allow_dangerous_types(&self) -> bool {
        self.option(Generator::Crd, "allowDangerousTypes").and_then(Value::as_bool).unwrap_or(false)
    }

    /// What `spec.preserveUnknownFields` of the CRDs says; none if it is left out, as it always is in our style.
    #[must_use]
    pub fn preserve_unknown_fields(&self) -> Option<bool> {
        let option = self.option(Generator::Crd, PRESERVE_UNKNOWN_FIELDS);
        option.and_then(Value::as_bool).filter(|_| self.style == Style::ControllerGen)
    }

    /// The version that CRDs name in controller-gen's style; none if they name none.
    #[must_use]
    pub fn tool_version(&self) -> Option<&'static str> {
        let omitted = self.option(Generator::Crd, "omitToolVersion").and_then(Value::as_bool);
        (self.style == Style::ControllerGen && omitted != Some(true)).then_some(CONTROLLER_GEN_VERSION)
    }

    /// The name of the role for markers that name none.
    #[must_use]
    pub fn role_name(&self) -> &str {
        self.text(Generator::Rbac, "roleName").unwrap_or("manager-role")
    }

    /// The name of the file with the roles.
    #[must_use]
    pub fn role_file(&self) -> &str {
        self.text(Generator::Rbac, "fileName").unwrap_or("role.yaml")
    }

    /// Whether there is a viewer, an editor and an admin role for each kind; false by default, since Kubebuilder writes
    /// them once, when a kind is created, and leaves them to the user.
    #[must_use]
    pub fn user_roles(&self) -> bool {
        self.option(Generator::Rbac, "userRoles").and_then(Value::as_bool).unwrap_or(false)
    }

    pub(super) fn set(&mut self, generator: Generator, name: &'static str, value: Value, keep: Keep) {
        match keep {
            Keep::New => _ = self.options.insert((generator, name), value),
            Keep::Old => _ = self.options.entry((generator, name)).or_insert(value),
        }
    }

    fn option(&self, generator: Generator, name: &'static str) -> Option<&Value> {
        self.options.get(&(generator, name))
    }

    fn text(&self, generator: Generator, name: &'static str) -> Option<&str> {
        self.option(generator, name).and_then(Value::as_str)
    }

    fn check(&self) -> Result<(), OptionError> {
        let limits = self.option(Generator::Crd, MAX_DESCRIPTION_LENGTH_OF).and_then(Value::as_array);
        for limit in limits.into_iter().flatten().filter_map(Value::as_str) {
            if module_limit(limit).is_none() {
                let message = format!("`{limit}` is not a path and a number of bytes");
                return Err(OptionError::new("`maxDescLenOf`", message)
                    .help("write it as `k8s_openapi::api::core=0`"));
            }
        }
        let versions = self.option(Generator::Crd, "crdVersions").and_then(Value::as_array);
        if let Some(version) = versions.into_iter().flatten().find(|version| **version != "v1") {
            return Err(OptionError::new("`crdVersions`", format!("there is no version {version}"))
                .help("Kubernetes 1.22 and later serve `v1` alone"));
        }
        Ok(())
    }
}

/// A path of Rust and a number of bytes.
fn module_limit(text: &str) -> Option<(&str, usize)> {
    let (path, bytes) = text.split_once('=')?;
    let is_name = |part: &str| {
        part.starts_with(|c: char| c.is_alphabetic() || c == '_')
            && part.chars().all(|c| c.is_alphanumeric() || c == '_')
    };
    let path = path.trim();
    path.split("::").all(is_name).then_some((path, bytes.trim().parse().ok()?))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn settings(metadata: &Value, words: &[&str]) -> Result<Settings, OptionError> {
        let mut settings = Settings::default();
        metadata::read(metadata, Path::new("project"), &mut settings)?;
        let words = words.iter().map(|word| Word::parse(word)).collect::<Result<Vec<_>, _>>()?;
        settings.apply(&words)?;
        Ok(settings)
    }

    fn error(metadata: &Value, words: &[&str]) -> String {
        settings(metadata, words).expect_err("it makes no sense").to_string()
    }

    #[test]
    fn without_options_all_run_as_in_a_project_of_kubebuilder() {
        let settings = settings(&json!({}), &[]).expect("valid");
        assert_eq!(settings, Settings::default());
        let folders = Generator::ALL.map(|generator| settings.output_of(generator, Path::new("op")));
        let expected = ["op/config/crd/bases", "op/config/rbac", "op/config/webhook"];
        assert_eq!(folders, expected.map(|folder| Output::Folder(folder.into())));
        assert_eq!((settings.role_name(), settings.role_file()), ("manager-role", "role.yaml"));
        assert!(Generator::ALL.into_iter().all(|generator| settings.runs(generator)));
        assert_eq!(settings.tool_version(), None);
    }

    #[test]
    fn the_command_line_wins_over_the_manifest() {
        let metadata = json!({
            "compat": "controller-gen", "bin": "manager",
            "crd": {"maxDescLen": 10, "omitToolVersion": true, "dir": "crds"},
            "rbac": {"roleName": "one", "fileName": "file.yaml"},
        });
        let settings = settings(&metadata, &["crd:maxDescLen=20", "rbac:roleName=two", "output:crd:dir=out"])
            .expect("valid");
        assert_eq!(settings.max_description_length(), Some(20));
        assert_eq!((settings.role_name(), settings.role_file()), ("two", "file.yaml"));
        assert_eq!((settings.style, settings.tool_version()), (Style::ControllerGen, None));
        assert_eq!(settings.bin.as_deref(), Some("manager"));
        assert_eq!(settings.output_of(Generator::Crd, Path::new("project")), Output::Folder("out".into()));
        assert!(!settings.runs(Generator::Webhook));
    }

    #[test]
    fn paths_of_the_manifest_are_relative_to_it() {
        let metadata =
            json!({"rbac": {"headerFile": "own.txt", "dir": "roles"}, "headerFile": "all.txt", "year": 2026});
        let settings = settings(&metadata, &[]).expect("valid");
        let header = |generator| settings.text(generator, "headerFile");
        assert_eq!(header(Generator::Rbac), Some("project/own.txt"));
        assert_eq!(header(Generator::Crd), Some("project/all.txt"));
        assert_eq!(settings.text(Generator::Crd, "year"), Some("2026"));
        assert_eq!(
            settings.output_of(Generator::Rbac, Path::new("x")),
            Output::Folder("project/roles".into())
        );
    }

    #[test]
    fn the_manifest_of_a_project_is_read() {
        let read = |text: &str| Settings::from_manifest(text, Path::new(""));
        let manifest =
            "[package]\nname = 'op'\n[package.metadata.kubewright.generate]\nrbac = { roleName = 'mine' }\n";
        assert_eq!(read(manifest).expect("valid").role_name(), "mine");
        for other in ["", "[package]\nname = 'op'", "[package.metadata]\nkubewright = { scan = false }"] {
            assert_eq!(read(other), Ok(Settings::default()), "{other}");
        }
        assert!(read("[package").expect_err("no TOML").to_string().starts_with("Cargo.toml: "));
    }

    #[test]
    fn a_negative_length_cuts_nothing() {
        assert_eq!(
            settings(&json!({}), &["crd:maxDescLen=-1"]).expect("valid").max_description_length(),
            None
        );
        assert_eq!(
            settings(&json!({}), &["crd:maxDescLen=0"]).expect("valid").max_description_length(),
            Some(0)
        );
    }

    #[test]
    fn descriptions_are_limited_by_module() {
        let limits = json!({"crd": {"maxDescLenOf": ["k8s_openapi::api::core=0", "my_operator::api = 60"]}});
        let settings = settings(&limits, &[]).expect("valid");
        assert_eq!(
            settings.max_description_length_of(),
            [("k8s_openapi::api::core", 0), ("my_operator::api", 60)]
        );
        for wrong in ["k8s_openapi::api::core", "a.b=1", "a::=1", "a=-1", "=1", "a=many"] {
            let word = format!("crd:maxDescLenOf=\"{wrong}\"");
            assert!(error(&json!({}), &[&word]).contains("is not a path and a number of bytes"), "{wrong}");
        }
    }

    #[test]
    fn preserving_unknown_fields_is_an_option_of_controller_gen() {
        let words = ["crd:deprecatedV1beta1CompatibilityPreserveUnknownFields=false"];
        assert_eq!(settings(&json!({}), &words).expect("valid").preserve_unknown_fields(), None);
        let compat = json!({"compat": "controller-gen"});
        assert_eq!(settings(&compat, &words).expect("valid").preserve_unknown_fields(), Some(false));
    }

    #[test]
    fn unknown_keys_are_errors_with_the_nearest_name() {
        let table = "package.metadata.kubewright.generate";
        assert_eq!(
            error(&json!({"crd": {"maxDescLength": 1}}), &[]),
            format!("{table}.crd.maxDescLength: there is no option `maxDescLength`; write `maxDescLen`")
        );
        assert_eq!(
            error(&json!({"rbca": {}}), &[]),
            format!("{table}.rbca: there is no option `rbca`; write `rbac`")
        );
        assert_eq!(
            error(&json!({"crd": {"maxDescLen": "1"}}), &[]),
            format!("{table}.crd.maxDescLen: it is not a whole number")
        );
        assert!(
            error(&json!({"compat": "controllergen"}), &[])
                .ends_with("write `controller-gen`, or leave it out")
        );
        assert!(error(&json!({"crd": true}), &[]).ends_with("it is not a table"));
        assert!(error(&json!([]), &[]).ends_with("it is not a table"));
    }

    #[test]
    fn what_cannot_be_is_refused() {
        assert!(error(&json!({}), &["crd", "crd"]).contains("named twice"));
        assert!(
            error(&json!({}), &["rbac", "output:crd:stdout"]).contains("`crd` does not run; name `crd` too")
        );
        assert!(error(&json!({}), &["crd:crdVersions=v1beta1"]).contains("there is no version \"v1beta1\""));
    }
}
