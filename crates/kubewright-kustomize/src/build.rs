//! From a folder to its objects: what is read in which order, and what is done to it.

use std::path::Path;

use serde_json::Value;

use crate::{
    config::Config,
    error::{Error, Problem},
    folder::{Folder, Resource as Leads, joined},
    generate::{self, Generated},
    kustomization::{
        COMPONENT, FieldSpec, Image, Kustomization, Patch as PatchEntry, Replacement, Variable,
        parse_replacements,
    },
    names,
    objects::{self, Duplicate, Objects},
    order,
    origin::Origin,
    source::Source,
    transform::{
        image, label, name,
        name::End,
        namespace,
        patch::{self, Patch},
        replacement, replicas, variable,
    },
};

/// The version of kustomize whose behaviour this is.
const VERSION: &str = "v5.8.1";

/// Builds kustomizations. See the [crate's page](crate).
#[derive(Clone, Debug)]
pub struct Builder<S> {
    source: S,
    images: Vec<Image>,
    namespace: Option<String>,
    name_prefix: Option<String>,
    name_suffix: Option<String>,
}

/// What a kustomization builds.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Built {
    /// The objects, in the order in which they are written.
    pub objects: Vec<Value>,
    /// What is deprecated, each with its file. kubectl prints something like that on standard error.
    pub warnings: Vec<String>,
}

impl Built {
    /// The objects as `kubectl kustomize` prints them: a document each, with `---` between them.
    #[must_use]
    pub fn to_yaml(&self) -> String {
        let documents: Vec<String> = self.objects.iter().map(kubewright_yaml::to_string).collect();
        documents.join("---\n")
    }
}

// === impl Builder ===

impl<S: Source> Builder<S> {
    /// A builder that reads from `source`.
    pub fn new(source: S) -> Self {
        Self { source, images: Vec::new(), namespace: None, name_prefix: None, name_suffix: None }
    }

    /// Uses `reference` (as `example.com/operator:v1` or `operator@sha256:…`) for the image `name`, as if
    /// `kustomize edit set image name=reference` had been run where the image is set.
    ///
    /// Each kustomization with an entry for `name` in `images` gets another one in its place. If there is none, the
    /// folder that is built gets it.
    #[must_use]
    pub fn image(mut self, name: impl Into<String>, reference: &str) -> Self {
        let (new_name, new_tag, digest) = image::split(reference);
        self.images.push(Image {
            name: name.into(),
            new_name: new_name.to_owned(),
            new_tag: new_tag.to_owned(),
            digest: digest.to_owned(),
            ..Image::default()
        });
        self
    }

    /// Uses this `namespace` in the folder that is built, whatever its kustomization says.
    #[must_use]
    pub fn namespace(mut self, namespace: impl Into<String>) -> Self {
        self.namespace = Some(namespace.into());
        self
    }

    /// Uses this `namePrefix` in the folder that is built, whatever its kustomization says.
    #[must_use]
    pub fn name_prefix(mut self, prefix: impl Into<String>) -> Self {
        self.name_prefix = Some(prefix.into());
        self
    }

    /// Uses this `nameSuffix` in the folder that is built, whatever its kustomization says.
    #[must_use]
    pub fn name_suffix(mut self, suffix: impl Into<String>) -> Self {
        self.name_suffix = Some(suffix.into());
        self
    }

    /// Builds the kustomization of a folder.
    ///
    /// # Errors
    ///
    /// Where kustomize fails, and for what is not supported (see the [crate's page](crate)).
    pub fn build(&self, folder: impl AsRef<Path>) -> Result<Built, Error> {
        let folder = Folder::new(&self.source, folder.as_ref())?;
        let mut build = Build {
            source: &self.source,
            images: self.images.iter().map(|image| (image, false)).collect(),
            has_origins: false,
            warnings: Vec::new(),
        };
        let mut target = build.load(folder, "".as_ref())?;
        let own = &mut target.kustomization;
        for (given, field) in [
            (&self.namespace, &mut own.namespace),
            (&self.name_prefix, &mut own.name_prefix),
            (&self.name_suffix, &mut own.name_suffix),
        ] {
            if let Some(given) = given {
                field.clone_from(given);
            }
        }
        build.has_origins = !own.build_metadata.is_empty();
        let gathered = build.gather(&target, Gathered::default(), true)?;
        let objects =
            finish(gathered, &target.kustomization).map_err(|(entry, why)| target.failed(entry, why))?;
        Ok(Built { objects, warnings: build.warnings })
    }
}

/// A kustomization and where it is.
struct Target {
    folder: Folder,
    file: &'static str,
    kustomization: Kustomization,
    /// The way to the folder from the one that is built.
    way: std::path::PathBuf,
}

impl Target {
    fn error(&self, problem: Problem) -> Error {
        self.folder.error(self.file, problem)
    }

    fn failed(&self, entry: impl Into<String>, why: String) -> Error {
        self.error(Problem::Entry { entry: entry.into(), why })
    }

    fn configured(&self, by: &'static str) -> Origin {
        Origin::configured(self.way.join(self.file).display().to_string(), by)
    }

    /// The text of an entry that has it, or a file with it.
    fn patch_text(&self, source: &dyn Source, entry: &str, patch: &PatchEntry) -> Result<String, Error> {
        let inline = patch.patch.trim();
        match (inline.is_empty(), patch.path.is_empty()) {
            (true, true) => Err(self.failed(entry, "it has neither `patch` nor `path`".to_owned())),
            (false, false) => Err(self.failed(entry, "it has both `patch` and `path`: keep one".to_owned())),
            (false, true) => Ok(inline.to_owned()),
            (true, false) => self.folder.text(source, &patch.path).map_err(|problem| self.error(problem)),
        }
    }
}

/// What was read so far, and what is to be done with it at the end.
#[derive(Default)]
struct Gathered {
    objects: Objects,
    config: Config,
    variables: Vec<Variable>,
}

impl Gathered {
    fn add_variables(&mut self, more: Vec<Variable>) -> Result<(), String> {
        for variable in more {
            if self.variables.iter().any(|own| own.name == variable.name) {
                return Err(format!("the variable {} is there twice", variable.name));
            }
            self.variables.push(variable);
        }
        self.variables.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(())
    }
}

struct Build<'a> {
    source: &'a dyn Source,
    /// Images to use, and whether a kustomization had them.
    images: Vec<(&'a Image, bool)>,
    has_origins: bool,
    warnings: Vec<String>,
}

impl Build<'_> {
    fn load(&mut self, folder: Folder, way: &Path) -> Result<Target, Error> {
        let (text, file) = folder.kustomization(self.source)?;
        let (mut kustomization, deprecated) =
            Kustomization::parse(&text).map_err(|why| folder.error(file, Problem::Invalid(why)))?;
        let shown = folder.shown().join(file);
        self.warnings.extend(deprecated.into_iter().map(|warning| format!("{}: {warning}", shown.display())));
        for own in &mut kustomization.images {
            if let Some((given, is_used)) = self.images.iter_mut().find(|(given, _)| given.name == own.name) {
                own.clone_from(given);
                *is_used = true;
            }
        }
        Ok(Target { folder, file, kustomization, way: way.to_owned() })
    }

    /// Adds what a kustomization has to what is there, and carries out the rest of it.
    fn gather(&mut self, target: &Target, mut all: Gathered, is_root: bool) -> Result<Gathered, Error> {
        let own = &target.kustomization;
        for (at, path) in own.resources.iter().enumerate() {
            self.add_resource(target, &mut all, &format!("resources[{at}]"), path)?;
        }
        self.configure(target, &mut all.config)?;
        for (kind, generators, field) in [
            (Generated::ConfigMap, &own.config_map_generator, "configMapGenerator"),
            (Generated::Secret, &own.secret_generator, "secretGenerator"),
        ] {
            for (at, generator) in generators.iter().enumerate() {
                let entry = format!("{field}[{at}]");
                let mut load = |path: &str| target.folder.bytes(self.source, path).map_err(Failure::File);
                let made = kind.make(generator, own.generator_options.as_ref(), &mut load);
                let mut made = made.map_err(|failure: Failure| match failure {
                    Failure::File(problem) => target.error(problem),
                    Failure::Entry(why) => target.failed(&entry, why),
                })?;
                made.origin = self.has_origins.then(|| {
                    target.configured(match kind {
                        Generated::ConfigMap => "ConfigMapGenerator",
                        Generated::Secret => "SecretGenerator",
                    })
                });
                all.objects.absorb(made).map_err(|why| target.failed(entry, why))?;
            }
        }
        for (at, path) in own.components.iter().enumerate() {
            let entry = format!("components[{at}]");
            let folder = target.folder.enter(self.source, path).map_err(|problem| target.error(problem))?;
            let component = self.load(folder, &joined(&target.way, path))?;
            if component.kustomization.kind != COMPONENT {
                let why = format!("{path} is a {}: name it in `resources`", component.kustomization.kind);
                return Err(target.failed(entry, why));
            }
            all = self.gather(&component, all, false)?;
        }
        self.transform(target, &mut all, is_root)?;
        if let Some(variables) = &own.vars {
            variable::note(&mut all.objects, variables)
                .and_then(|()| all.add_variables(variables.clone()))
                .map_err(|why| target.failed("vars", why))?;
        }
        Ok(all)
    }

    fn add_resource(
        &mut self,
        target: &Target,
        all: &mut Gathered,
        entry: &str,
        path: &str,
    ) -> Result<(), Error> {
        let leads = target.folder.resource(self.source, path).map_err(|problem| target.error(problem))?;
        let twice = |Duplicate(id): Duplicate| target.error(Problem::Duplicate(id.to_string()));
        match leads {
            Leads::File => {
                let text = target.folder.text(self.source, path).map_err(|problem| target.error(problem))?;
                let read = objects::parse(&text)
                    .map_err(|why| target.error(Problem::Malformed { path: path.into(), why }))?;
                for mut resource in read {
                    resource.origin = self
                        .has_origins
                        .then(|| Origin::file(joined(&target.way, path).display().to_string()));
                    all.objects.push(resource).map_err(twice)?;
                }
                Ok(())
            }
            Leads::Folder(folder) => {
                let base = self.load(folder, &joined(&target.way, path))?;
                if base.kustomization.kind == COMPONENT {
                    return Err(
                        target.failed(entry, format!("{path} is a Component: name it in `components`"))
                    );
                }
                let gathered = self.gather(&base, Gathered::default(), false)?;
                all.objects.extend(gathered.objects).map_err(twice)?;
                all.config
                    .merge(gathered.config)
                    .and_then(|()| all.add_variables(gathered.variables))
                    .map_err(|why| target.failed(entry, why))
            }
        }
    }

    /// Adds the fields that kustomize knows and that the kustomization adds.
    fn configure(&self, target: &Target, config: &mut Config) -> Result<(), Error> {
        let own = &target.kustomization;
        let mut more = Config::built_in();
        for path in &own.configurations {
            let text = target.folder.text(self.source, path).map_err(|problem| target.error(problem))?;
            Config::parse(&text)
                .and_then(|configuration| more.merge(configuration))
                .map_err(|why| target.error(Problem::Malformed { path: path.into(), why }))?;
        }
        config.merge(more).map_err(|why| target.failed("configurations", why))?;
        for path in &own.crds {
            let text = target.folder.text(self.source, path).map_err(|problem| target.error(problem))?;
            Config::parse_definitions(&text)
                .and_then(|definitions| config.merge(definitions))
                .map_err(|why| target.error(Problem::Malformed { path: path.into(), why }))?;
        }
        Ok(())
    }

    /// Carries out what changes objects, in the order of kustomize.
    fn transform(&mut self, target: &Target, all: &mut Gathered, is_root: bool) -> Result<(), Error> {
        let own = &target.kustomization;
        let steps = self.steps(target, is_root)?;
        for Step { entry, by, change } in steps {
            let result = match change {
                Change::MergeAll(patches) => patch::merge_all(&mut all.objects, &patches),
                Change::Patch(patch) => patch.apply(&mut all.objects),
                Change::Namespace => {
                    namespace::move_to(&mut all.objects, &own.namespace, &all.config.namespace)
                }
                Change::Prefix => {
                    name::affix(&mut all.objects, End::Prefix, &own.name_prefix, &all.config.name_prefix)
                }
                Change::Suffix => {
                    name::affix(&mut all.objects, End::Suffix, &own.name_suffix, &all.config.name_suffix)
                }
                Change::Labels(at) => {
                    let label = &own.labels[at];
                    label::fields(label, &all.config)
                        .and_then(|fields| label::set_texts(&mut all.objects, &label.pairs, &fields))
                }
                Change::CommonLabels => {
                    let labels = own.common_labels.clone().unwrap_or_default();
                    label::set_texts(&mut all.objects, &labels, &all.config.common_labels)
                }
                Change::Annotations => label::set_texts(
                    &mut all.objects,
                    &own.common_annotations,
                    &all.config.common_annotations,
                ),
                Change::Replicas(at) => {
                    replicas::set(&mut all.objects, &own.replicas[at], &all.config.replicas)
                }
                Change::Image(image) => image::set(&mut all.objects, &image, &all.config.images),
                Change::Replacements(replacements) => replacements
                    .iter()
                    .try_for_each(|replacement| replacement::apply(&mut all.objects, replacement)),
            };
            result.map_err(|why| target.failed(entry, why))?;
            all.objects.list.retain(|resource| !resource.body.is_empty());
            if self.has_origins {
                for resource in &mut all.objects.list {
                    match resource.origin {
                        None => resource.origin = Some(target.configured(by)),
                        Some(_) => resource.transformed_by.push(target.configured(by)),
                    }
                }
            }
        }
        Ok(())
    }

    /// What a kustomization does to its objects. All files are read before anything is done.
    fn steps(&self, target: &Target, is_root: bool) -> Result<Vec<Step>, Error> {
        let own = &target.kustomization;
        let mut steps = Vec::new();
        let mut step = |entry: String, by, change| steps.push(Step { entry, by, change });
        if let Some(texts) = own.patches_strategic_merge.as_ref().filter(|texts| !texts.is_empty()) {
            let mut patches = Vec::new();
            for (at, text) in texts.iter().enumerate() {
                let read = match objects::parse(text) {
                    Ok(inline) => inline,
                    Err(_) => {
                        let loaded =
                            target.folder.text(self.source, text).map_err(|problem| target.error(problem))?;
                        objects::parse(&loaded)
                            .map_err(|why| target.failed(format!("patchesStrategicMerge[{at}]"), why))?
                    }
                };
                patches.extend(read);
            }
            if patches.is_empty() {
                return Err(target.failed("patchesStrategicMerge", "there is no patch in it".to_owned()));
            }
            step(
                "patchesStrategicMerge".to_owned(),
                "PatchStrategicMergeTransformer",
                Change::MergeAll(patches),
            );
        }
        for (at, entry) in own.patches.iter().enumerate() {
            let name = format!("patches[{at}]");
            let text = target.patch_text(self.source, &name, entry)?;
            let patch = Patch::new(&text, entry.target.as_ref(), entry.options)
                .map_err(|why| target.failed(&name, why))?;
            step(name, "PatchTransformer", Change::Patch(patch));
        }
        if !own.namespace.is_empty() {
            step("namespace".to_owned(), "NamespaceTransformer", Change::Namespace);
        }
        if !own.name_prefix.is_empty() {
            step("namePrefix".to_owned(), "PrefixTransformer", Change::Prefix);
        }
        if !own.name_suffix.is_empty() {
            step("nameSuffix".to_owned(), "SuffixTransformer", Change::Suffix);
        }
        for at in 0..own.labels.len() {
            step(format!("labels[{at}]"), "LabelTransformer", Change::Labels(at));
        }
        let has_common_labels = own.common_labels.as_ref().is_some_and(|labels| !labels.is_empty());
        if has_common_labels || !own.labels.is_empty() {
            step("commonLabels".to_owned(), "LabelTransformer", Change::CommonLabels);
        }
        if !own.common_annotations.is_empty() {
            step("commonAnnotations".to_owned(), "AnnotationsTransformer", Change::Annotations);
        }
        for (at, entry) in own.patches_json6902.iter().flatten().enumerate() {
            let name = format!("patchesJson6902[{at}]");
            let text = target.patch_text(self.source, &name, entry)?;
            let patch = Patch::json(&text, entry.target.as_ref()).map_err(|why| target.failed(&name, why))?;
            step(name, "PatchJson6902Transformer", Change::Patch(patch));
        }
        for at in 0..own.replicas.len() {
            step(format!("replicas[{at}]"), "ReplicaCountTransformer", Change::Replicas(at));
        }
        for (at, image) in own.images.iter().enumerate() {
            step(format!("images[{at}]"), "ImageTagTransformer", Change::Image(image.clone()));
        }
        for (image, _) in self.images.iter().filter(|(_, is_used)| is_root && !is_used) {
            step("images".to_owned(), "ImageTagTransformer", Change::Image((*image).clone()));
        }
        if !own.replacements.is_empty() {
            step(
                "replacements".to_owned(),
                "ReplacementTransformer",
                Change::Replacements(self.replacements(target)?),
            );
        }
        Ok(steps)
    }

    fn replacements(&self, target: &Target) -> Result<Vec<Replacement>, Error> {
        let mut replacements = Vec::new();
        for (at, entry) in target.kustomization.replacements.iter().enumerate() {
            let own = &entry.replacement;
            if entry.path.is_empty() {
                replacements.push(own.clone());
                continue;
            }
            if own.source.is_some() || own.targets.as_ref().is_some_and(|targets| !targets.is_empty()) {
                let why = "it has a `path` and more: write the replacement here or in the file".to_owned();
                return Err(target.failed(format!("replacements[{at}]"), why));
            }
            let text =
                target.folder.text(self.source, &entry.path).map_err(|problem| target.error(problem))?;
            let read = parse_replacements(&text)
                .map_err(|why| target.error(Problem::Malformed { path: entry.path.clone().into(), why }))?;
            replacements.extend(read);
        }
        Ok(replacements)
    }
}

/// One change of all objects.
struct Step {
    /// Its place in the kustomization.
    entry: String,
    /// Its name in `buildMetadata`.
    by: &'static str,
    change: Change,
}

enum Change {
    MergeAll(Vec<crate::resource::Resource>),
    Patch(Patch),
    Namespace,
    Prefix,
    Suffix,
    Labels(usize),
    CommonLabels,
    Annotations,
    Replicas(usize),
    Image(Image),
    Replacements(Vec<Replacement>),
}

/// Why a generator makes nothing.
enum Failure {
    File(Problem),
    Entry(String),
}

impl From<String> for Failure {
    fn from(why: String) -> Self {
        Self::Entry(why)
    }
}

/// What is done once, when everything was read: hashes, names that follow, variables and the order.
fn finish(gathered: Gathered, root: &Kustomization) -> Result<Vec<Value>, (&'static str, String)> {
    let Gathered { mut objects, config, variables } = gathered;
    for resource in objects.list.iter_mut().filter(|resource| resource.needs_hash) {
        let hash = generate::hash(resource).map_err(|why| ("generatorOptions", why))?;
        let name = format!("{}-{hash}", resource.name());
        resource.remember_id();
        resource.set_name(&name);
    }
    names::follow(&mut objects, &config.name_reference).map_err(|why| ("references", why))?;
    variable::resolve(&mut objects, &variables, &config.var_reference).map_err(|why| ("vars", why))?;
    objects.list.retain(|resource| !resource.is_local());
    order::sort(&mut objects, root.sort_options.as_ref()).map_err(|why| ("sortOptions", why))?;
    if root.has_build_metadata("managedByLabel") {
        let label = [("app.kubernetes.io/managed-by".to_owned(), format!("kustomize-{VERSION}"))].into();
        let own = FieldSpec { path: "metadata/labels".to_owned(), create: true, ..FieldSpec::default() };
        label::set_texts(&mut objects, &label, &[own]).map_err(|why| ("buildMetadata", why))?;
    }
    let origins = root.has_build_metadata("originAnnotations");
    let transformations = root.has_build_metadata("transformerAnnotations");
    objects
        .list
        .into_iter()
        .map(|mut resource| {
            resource.finish(origins, transformations);
            resource.to_json().map_err(|why| ("resources", why))
        })
        .collect()
}
