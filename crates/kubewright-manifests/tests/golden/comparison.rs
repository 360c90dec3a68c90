//! Compares a CRD with a golden file.
//!
//! Everything is compared, the texts too: [`crate::texts`] says where the words come from. Each golden is compared with the texts
//! that are recovered from it and, where the Go sources are at hand, with the comments and markers of those.

use std::{any::TypeId, env, fs, path::PathBuf};

use kubewright_manifests::{
    crd::{CrdBuilder, CrdOptions},
    diagnostic::Severity,
    yaml,
};
use schemars::JsonSchema;
use serde_json::Value;

use crate::{
    our_style,
    texts::{
        Documented, Schemas, document,
        go::{LeftOut, Sources},
        recovered,
    },
};

const VERSION: &str = "controller-gen.kubebuilder.io/version";

/// A golden file, and the types that have to give the same.
pub(crate) struct Golden {
    path: &'static str,
    /// The file that has the texts in full.
    texts_of: &'static str,
    /// What tells our document of it from that of another golden of the same kind.
    variant: &'static str,
    plain: CrdBuilder,
    documented: CrdBuilder,
    versions: Vec<Version>,
    options: CrdOptions,
    is_by_hand: bool,
    left_out: LeftOut,
    adjust: fn(&mut Value, &Value),
}

struct Version {
    name: &'static str,
    rust_type: TypeId,
    schemas: fn() -> Schemas,
    /// The import paths of the packages with the Go types.
    packages: &'static [&'static str],
}

// === impl Golden ===

impl Golden {
    /// The file `path` of the folder of goldens. `T` is the root type of the version, and `packages` have its Go types.
    pub(crate) fn of<T: JsonSchema + 'static>(
        path: &'static str,
        (group, version, kind): (&str, &'static str, &str),
        packages: &'static [&'static str],
    ) -> Self {
        Self {
            path,
            texts_of: path,
            variant: "",
            plain: CrdBuilder::of_root::<T>(group, version, kind),
            documented: CrdBuilder::of_root::<Documented<T>>(group, version, kind),
            versions: vec![Version::of::<T>(version, packages)],
            options: CrdOptions::controller_gen(),
            is_by_hand: false,
            left_out: &[],
            adjust: |_, _| {},
        }
    }

    /// Another version of the kind.
    pub(crate) fn version<T: JsonSchema + 'static>(
        mut self,
        version: &'static str,
        packages: &'static [&'static str],
    ) -> Self {
        self.plain = self.plain.root_version::<T>(version);
        self.documented = self.documented.root_version::<Documented<T>>(version);
        self.versions.push(Version::of::<T>(version, packages));
        self
    }

    pub(crate) fn options(mut self, options: CrdOptions) -> Self {
        self.options = options;
        self
    }

    /// The file was edited after controller-gen wrote it, so that the values are compared, not the bytes.
    pub(crate) fn edited_by_hand(mut self) -> Self {
        self.is_by_hand = true;
        self
    }

    /// The texts of this golden are cut; whole, they are in that file.
    pub(crate) fn texts_of(mut self, path: &'static str) -> Self {
        self.texts_of = path;
        self
    }

    /// Markers of the Go types that have no effect there, or another one than here.
    pub(crate) fn left_out(mut self, markers: LeftOut) -> Self {
        self.left_out = markers;
        self
    }

    /// Another golden is of the same kind, but of other types.
    pub(crate) fn variant(mut self, name: &'static str) -> Self {
        self.variant = name;
        self
    }

    /// What is changed in our document before it is compared. It gets the golden too.
    pub(crate) fn adjust(mut self, adjust: fn(&mut Value, &Value)) -> Self {
        self.adjust = adjust;
        self
    }

    #[track_caller]
    pub(crate) fn assert(self) {
        let (group, kind) = self.plain.group_kind();
        our_style::assert_unchanged(&format!("golden-{group}_{kind}{}", self.variant), self.plain.clone());
        let (Some(text), Some(whole)) = (read(self.path), read(self.texts_of)) else { return };
        let golden: Value = serde_saphyr::from_str(&text).expect("the golden is YAML");
        let whole: Value = serde_saphyr::from_str(&whole).expect("the golden is YAML");
        let expected = if self.is_by_hand { yaml::stream([&golden]) } else { text };

        for version in &self.versions {
            let texts = recovered::texts(&(version.schemas)(), version.of_golden(&whole));
            document(version.rust_type, texts);
        }
        self.assert_document("with the texts of the golden", &golden, &expected);

        let Some(mut sources) = Sources::find() else { return };
        for version in &self.versions {
            let texts = sources.texts(&(version.schemas)(), version.packages, self.left_out);
            document(version.rust_type, texts);
        }
        sources.assert_left_out(self.left_out);
        self.assert_document("with the comments of the Go types", &golden, &expected);
    }

    /// What the types give with the doc comments that they have.
    pub(crate) fn plain(&self) -> Value {
        self.plain.clone().options(self.options.clone()).build().document
    }

    #[track_caller]
    fn assert_document(&self, how: &str, golden: &Value, expected: &str) {
        let mut options = self.options.clone();
        options.tool_version = golden["metadata"]["annotations"][VERSION].as_str().map(str::to_owned);
        let built = self.documented.clone().options(options).build();
        let errors: Vec<_> =
            built.diagnostics.iter().filter(|diagnostic| diagnostic.severity == Severity::Error).collect();
        assert!(errors.is_empty(), "{how}: {errors:#?}");
        let mut ours = built.document;
        (self.adjust)(&mut ours, golden);
        assert_lines(how, &yaml::stream([&ours]), expected);
    }
}

// === impl Version ===

impl Version {
    fn of<T: JsonSchema + 'static>(name: &'static str, packages: &'static [&'static str]) -> Self {
        Self { name, rust_type: TypeId::of::<T>(), schemas: Schemas::of::<T>, packages }
    }

    #[track_caller]
    fn of_golden<'g>(&self, golden: &'g Value) -> &'g Value {
        let mut versions = golden["spec"]["versions"].as_array().into_iter().flatten();
        let found = versions.find(|version| version["name"] == self.name);
        found.unwrap_or_else(|| panic!("the golden has no version {}", self.name))
    }
}

/// The text of a golden file; none, with a message, if there are no goldens.
pub(crate) fn read(path: &str) -> Option<String> {
    let root = env::var_os("KUBEWRIGHT_GOLDENS").map_or_else(
        || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/goldens")),
        PathBuf::from,
    );
    if !root.is_dir() {
        #[expect(clippy::print_stderr, reason = "a test that does nothing has to say so")]
        {
            eprintln!("skipped: no test data at {}, see KUBEWRIGHT_GOLDENS", root.display());
        }
        return None;
    }
    let file = root.join(path);
    Some(fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display())))
}

/// Shows the first lines that differ, with what is around them.
#[track_caller]
fn assert_lines(how: &str, ours: &str, golden: &str) {
    if ours == golden {
        return;
    }
    let (ours, golden): (Vec<_>, Vec<_>) = (ours.lines().collect(), golden.lines().collect());
    let same = ours.iter().zip(&golden).take_while(|(one, other)| one == other).count();
    let from = same.saturating_sub(12);
    let excerpt = |lines: &[&str]| {
        let until = lines.len().min(same + 12);
        lines.get(from..until).map_or_else(String::new, |lines| lines.join("\n"))
    };
    panic!(
        "{how}, it differs from line {}:\n--- golden\n{}\n--- ours\n{}",
        same + 1,
        excerpt(&golden),
        excerpt(&ours)
    );
}
