//! What a real server answered, as it stands in a file.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::{self, Write as _},
    fs,
    path::{Path, PathBuf},
};

use http::Method;
use json_patch::Patch;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{definition::Definition, difference, likeness::Likeness, server::Server};

/// The answers about one definition and about objects of its kind.
#[derive(Serialize, Deserialize)]
pub(crate) struct Recorded {
    /// That to the definition.
    pub(crate) definition: Verdict,
    /// The definition that has the same versions, and objects for them. A real server gave the same answers about this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) like: Option<String>,
    /// An object of each version that the cases change.
    #[serde(default)]
    pub(crate) bases: BTreeMap<String, Value>,
    #[serde(default)]
    pub(crate) cases: Vec<Case>,
}

/// A changed object and the answer to it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Case {
    pub(crate) version: String,
    /// What is changed.
    pub(crate) what: String,
    /// Whether the unchanged object is created and then changed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) update: bool,
    pub(crate) patch: Patch,
    pub(crate) verdict: Verdict,
}

/// An answer without what differs from run to run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Verdict {
    pub(crate) code: u16,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) reason: String,
    /// Reason, field and message of each cause, sorted: a real server goes through some maps in random order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) causes: Vec<(String, String, String)>,
    /// The message if there are no causes.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) message: String,
}

// === impl Recorded ===

impl Recorded {
    fn folder() -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/verdicts")
    }

    fn file(definition: &Definition) -> PathBuf {
        let name = definition.path.replace(".yaml", "").replace(".json", "").replace('/', "+");
        Self::folder().join(format!("{name}.json"))
    }

    /// The files that are of none of these definitions. Where a folder of definitions is missing, those of it are not
    /// among them.
    pub(crate) fn stale(definitions: &[Definition]) -> Vec<PathBuf> {
        let wanted: BTreeSet<PathBuf> = definitions.iter().map(Self::file).collect();
        let folder_of = |file: &Path| {
            let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
            name.split('+').next().unwrap_or_default().to_owned()
        };
        let present: BTreeSet<String> = wanted.iter().map(|file| folder_of(file)).collect();
        let files = fs::read_dir(Self::folder()).into_iter().flatten();
        let mut files: Vec<PathBuf> = files.map(|entry| entry.expect("an entry").path()).collect();
        files.retain(|file| !wanted.contains(file) && present.contains(&folder_of(file)));
        files.sort();
        files
    }

    pub(crate) fn read(definition: &Definition) -> Option<Self> {
        let text = fs::read_to_string(Self::file(definition)).ok()?;
        Some(serde_json::from_str(&text).expect("a recorded file"))
    }

    /// The objects of each version that the cases change, and the cases; `all` has the definition that this one is like.
    pub(crate) fn objects(
        &self,
        definition: &Definition,
        all: &[Definition],
    ) -> (BTreeMap<String, Value>, Vec<Case>) {
        let Some(like) = &self.like else { return (self.bases.clone(), self.cases.clone()) };
        let other = all.iter().find(|other| other.path == *like).expect("the definition that it is like");
        let recorded = Self::read(other).expect("that definition is recorded");
        assert!(recorded.like.is_none(), "{}: {like} is like another itself", definition.path);
        Likeness::new(other, definition).of(&recorded)
    }

    /// Writes it with one line for each case.
    pub(crate) fn write(&self, definition: &Definition) {
        let mut text = format!("{{\n\"definition\": {}", line(&self.definition));
        if let Some(like) = &self.like {
            let _ = write!(text, ",\n\"like\": {}", line(like));
        }
        if !self.bases.is_empty() {
            let _ = write!(text, ",\n\"bases\": {}", line(&self.bases));
        }
        if !self.cases.is_empty() {
            let cases: Vec<String> = self.cases.iter().map(line).collect();
            let _ = write!(text, ",\n\"cases\": [\n{}\n]", cases.join(",\n"));
        }
        text.push_str("\n}\n");
        let file = Self::file(definition);
        fs::create_dir_all(file.parent().expect("a folder")).expect("a folder to write to");
        fs::write(file, text).expect("a writable file");
    }

    /// Sends everything to a server and tells which answers are not the recorded ones.
    pub(crate) async fn replay(
        &self,
        server: &Server,
        definition: &Definition,
        all: &[Definition],
    ) -> Vec<String> {
        let got = server.define(definition).await;
        let mut wrong: Vec<String> =
            difference("the definition", &self.definition, &got).into_iter().collect();
        if !got.is_created() {
            return wrong;
        }
        let (bases, cases) = self.objects(definition, all);
        wrong.extend(send_all(server, definition, &bases, &cases).await);
        wrong
    }
}

/// Sends objects and tells which answers are not those of the cases.
pub(crate) async fn send_all(
    server: &Server,
    definition: &Definition,
    bases: &BTreeMap<String, Value>,
    cases: &[Case],
) -> Vec<String> {
    let mut wrong = Vec::new();
    for (i, case) in cases.iter().enumerate() {
        let got = case.send(server, definition, &bases[&case.version], i).await;
        wrong.extend(difference(&case.to_string(), &case.verdict, &got));
    }
    wrong
}

fn line(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("JSON")
}

/// The object with a name, if it has metadata, and no name there.
pub(crate) fn named(object: &Value, name: &str) -> Value {
    let mut object = object.clone();
    if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.entry("name").or_insert_with(|| name.into());
    }
    object
}

// === impl Case ===

impl Case {
    /// Sends the changed object; `number` keeps the names of cases apart.
    pub(crate) async fn send(
        &self,
        server: &Server,
        definition: &Definition,
        base: &Value,
        number: usize,
    ) -> Verdict {
        let name = format!("case-{number}");
        let mut object = self.object(base, number);
        if !self.update {
            return server.create(definition, &self.version, &object).await;
        }
        let created = server.create(definition, &self.version, &named(base, &name)).await;
        if !created.is_created() {
            return created;
        }
        let path = format!("{}/{name}", definition.collection(&self.version));
        let (_, present) = server.send(Method::GET, &path, None).await;
        object["metadata"] = present["metadata"].clone();
        let part = if self.is_of_status(definition) { "/status" } else { "" };
        let path = format!("{path}{part}?fieldValidation=Strict");
        let (code, body) = server.send(Method::PUT, &path, Some(&object)).await;
        Verdict::of(code, &body)
    }

    /// The changed object; `number` is part of its name if the change does not give it one.
    pub(crate) fn object(&self, base: &Value, number: usize) -> Value {
        let mut object = base.clone();
        json_patch::patch(&mut object, &self.patch).expect("the patch fits the object");
        named(&object, &format!("case-{number}"))
    }

    /// An object of a version that is not served.
    pub(crate) fn of_unserved(version: &str) -> Self {
        Self {
            version: version.to_owned(),
            what: "an object of a version that is not served".to_owned(),
            update: false,
            patch: Patch(Vec::new()),
            verdict: Verdict::default(),
        }
    }

    /// Whether the status is changed, and only through its subresource.
    fn is_of_status(&self, definition: &Definition) -> bool {
        definition.has_status(&self.version)
            && self.patch.iter().all(|operation| operation.path().as_str().starts_with("/status"))
    }
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verb = if self.update { "update" } else { "create" };
        write!(f, "{verb} {}: {} {}", self.version, self.what, line(&self.patch))
    }
}

// === impl Verdict ===

impl Verdict {
    pub(crate) fn of(code: u16, body: &Value) -> Self {
        if body["kind"] != "Status" {
            let message = body.as_str().unwrap_or_default().to_owned();
            return Self { code, message, ..Self::default() };
        }
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let mut causes: Vec<_> = body["details"]["causes"]
            .as_array()
            .into_iter()
            .flatten()
            .map(|cause| (text(&cause["reason"]), text(&cause["field"]), text(&cause["message"])))
            .collect();
        causes.sort_unstable();
        let message = if causes.is_empty() { text(&body["message"]) } else { String::new() };
        Self { code, reason: text(&body["reason"]), causes, message }
    }

    pub(crate) fn is_created(&self) -> bool {
        matches!(self.code, 200 | 201)
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {}", self.code, self.reason, self.message)?;
        for (reason, field, message) in &self.causes {
            write!(f, "\n           {reason} {field}: {message}")?;
        }
        Ok(())
    }
}
