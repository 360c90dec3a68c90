//! The documents that the generators make, and everything that is wrong with what they are made of.

use kubewright_manifests::{
    Style,
    crd::{self, Generated},
    diagnostic::{Diagnostic, Place, Severity, arrange},
    options::Generator,
    rbac::{self, UserRoles},
    source::{SourceMarker, Sources},
    webhook, yaml,
};
use serde_json::Value;

use super::{operator, project::Request};
use crate::error::Error;

/// What was made and what was found.
#[derive(Debug)]
pub(super) struct Gathered {
    /// The operator's package.
    pub(super) package: String,
    /// Where its files are, for showing what is wrong in them.
    pub(super) sources: Sources,
    /// What was made.
    pub(super) files: Vec<File>,
    /// What is wrong, in the order of the source.
    pub(super) diagnostics: Vec<Diagnostic>,
    /// What was not found, though it may have been expected.
    pub(super) absent: Vec<String>,
    /// Why the CRDs are missing; told last, since the diagnostics may have the reason.
    pub(super) failed: Option<Error>,
}

/// The documents of one file.
#[derive(Debug)]
pub(super) struct File {
    /// Which generator made it.
    pub(super) generator: Generator,
    /// Its name.
    pub(super) name: String,
    /// The documents.
    pub(super) text: String,
}

/// Runs the generators.
pub(super) fn gather(request: &Request) -> Result<Gathered, Error> {
    let sources = Sources::read(&request.folder)?;
    let (markers, mut diagnostics) = sources.markers();
    diagnostics.extend(sources.check_syntax());
    if request.settings.runs(Generator::Crd) {
        diagnostics.extend(sources.check());
    }
    let package = sources.packages.first().map(|package| package.name.clone()).unwrap_or_default();
    let mut gathered =
        Gathered { package, sources, files: Vec::new(), diagnostics, absent: Vec::new(), failed: None };
    let settings = &request.settings;
    if settings.runs(Generator::Rbac) {
        gathered.roles(request, &markers);
    }
    if settings.runs(Generator::Webhook) {
        gathered.webhooks(request, &markers);
    }
    if request.needs_crds() {
        match operator::crds(request, &gathered.sources) {
            Ok(generated) => gathered.crds(request, generated),
            Err(error) => gathered.failed = Some(error),
        }
    }
    gathered.put_diagnostics_in_order(settings.style);
    Ok(gathered)
}

// === impl Gathered ===

impl Gathered {
    /// Whether anything forbids to write.
    pub(super) fn has_errors(&self) -> bool {
        self.errors() > 0 || self.failed.is_some()
    }

    /// How many of the diagnostics are errors.
    pub(super) fn errors(&self) -> usize {
        self.diagnostics.iter().filter(|found| found.is_error()).count()
    }

    fn roles(&mut self, request: &Request, markers: &[SourceMarker]) {
        let settings = &request.settings;
        let options = rbac::Options::new(settings.role_name()).style(settings.style);
        let roles = rbac::documents(markers.iter().map(with_place), &options);
        if roles.documents.is_empty() {
            self.absent
                .push(format!("no rbac markers found in {}; no role written", request.folder.display()));
        } else {
            self.file(Generator::Rbac, settings.role_file(), roles.to_yaml());
        }
        self.diagnostics.extend(roles.diagnostics);
    }

    fn webhooks(&mut self, request: &Request, markers: &[SourceMarker]) {
        let options = webhook::Options::default().style(request.settings.style);
        let configurations = webhook::documents(markers.iter().map(with_place), &options);
        if !configurations.documents.is_empty() {
            self.file(Generator::Webhook, "manifests.yaml", configurations.to_yaml());
        } else if request.settings.names(Generator::Webhook) {
            // Most operators have none, so it is worth a word only if somebody asks for them.
            self.absent.push(format!(
                "no webhook markers found in {}; no webhook configuration written",
                request.folder.display()
            ));
        }
        self.diagnostics.extend(configurations.diagnostics);
    }

    fn crds(&mut self, request: &Request, generated: Generated) {
        let settings = &request.settings;
        let mut found = generated.diagnostics;
        for (index, document) in generated.documents.iter().enumerate() {
            let origins = generated.origins.get(index).map(Vec::as_slice).unwrap_or_default();
            found.extend(crd::check(document, origins, settings.style));
        }
        self.diagnostics.extend(self.sources.resolve_all(found));
        if settings.runs(Generator::Crd) {
            for document in &generated.documents {
                let [group, plural] = ["/spec/group", "/spec/names/plural"]
                    .map(|pointer| document.pointer(pointer).and_then(Value::as_str).unwrap_or_default());
                self.file(Generator::Crd, &format!("{group}_{plural}.yaml"), yaml::stream([document]));
            }
        }
        if settings.runs(Generator::Rbac) && settings.user_roles() {
            for roles in UserRoles::of_definitions(&generated.documents) {
                let documents = roles.documents(settings.style);
                for (document, role) in documents.iter().zip(["admin", "editor", "viewer"]) {
                    let name = format!("{}_{role}_role.yaml", roles.prefix.replace('-', "_"));
                    self.file(Generator::Rbac, &name, yaml::stream([document]));
                }
            }
        }
        if generated.documents.is_empty() && settings.names(Generator::Crd) {
            self.absent.push(format!(
                "the operator in {} has no custom resources of its own; no CRD written",
                request.folder.display()
            ));
        }
    }

    fn file(&mut self, generator: Generator, name: &str, text: String) {
        self.files.push(File { generator, name: name.to_owned(), text });
    }

    /// By file and line, what has no line at the end; each once.
    fn put_diagnostics_in_order(&mut self, style: Style) {
        if style == Style::ControllerGen {
            // It passes over what it does not know.
            for diagnostic in &mut self.diagnostics {
                if ["unknown-marker", "wrong-place"].contains(&diagnostic.code.as_str()) {
                    diagnostic.severity = Severity::Warning;
                }
            }
        }
        self.diagnostics = arrange(std::mem::take(&mut self.diagnostics));
    }
}

fn with_place(marker: &SourceMarker) -> (&kubewright_manifests::marker::Marker, Place) {
    (&marker.marker, Place::File { file: marker.file.clone(), range: marker.range.clone() })
}
