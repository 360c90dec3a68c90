//! What is to be generated, and from which package.

use std::path::{Path, PathBuf};

use kubewright_manifests::{
    Style,
    options::{self, Generator, Output, Settings, Word},
};

use crate::{
    command::{Compat, GenerateOptions, MessageFormat},
    error::Error,
    terminal,
};

/// One run of the generators.
#[derive(Debug)]
pub(super) struct Request {
    /// The folder of the operator's package, as it was given.
    pub(super) folder: PathBuf,
    /// The options of the manifest and of the command line.
    pub(super) settings: Settings,
    /// The binary target that is the operator, if somebody says it.
    pub(super) bin: Option<String>,
    /// Whether cargo's progress is not to be seen.
    pub(super) quiet: bool,
}

// === impl Request ===

impl Request {
    /// Reads the words of the command line and the manifest of the package that they name.
    pub(super) fn of(options: &GenerateOptions) -> Result<Self, Error> {
        let words = options.words.iter().map(|word| Word::parse(word)).collect::<Result<Vec<_>, _>>()?;
        let folder = folder(&words)?;
        let manifest = folder.join("Cargo.toml");
        let text = std::fs::read_to_string(&manifest).map_err(|error| Error::NotAPackage {
            path: folder.clone(),
            reason: format!("{}: {error}{}", manifest.display(), suggestion(&folder)),
        })?;
        let mut settings = Settings::from_manifest(&text, &folder)?;
        settings.apply(&words)?;
        match options.compat {
            Some(Compat::ControllerGen) => settings.style = Style::ControllerGen,
            Some(Compat::None) => settings.style = Style::Kubewright,
            None => {}
        }
        match options.output.as_deref() {
            Some("-") => settings.output(Output::Stdout),
            Some(folder) => settings.output(Output::Folder(folder.into())),
            None => {}
        }
        for word in &words {
            if let Word::Needless(name) = word {
                terminal::warning(format_args!(
                    "there is nothing to generate for `{name}`: derive Clone in Rust"
                ));
            }
        }
        let prints = |generator| settings.output_of(generator, &folder) == Output::Stdout;
        if Generator::ALL.into_iter().any(|generator| settings.runs(generator) && prints(generator)) {
            if options.check {
                return Err(Error::Arguments(
                    "--check compares files, and the output goes to no file".to_owned(),
                ));
            }
            if options.message_format == MessageFormat::Json {
                return Err(Error::Arguments(
                    "--message-format json and the documents cannot both go to the standard output"
                        .to_owned(),
                ));
            }
        }
        let bin = options.bin.clone().or_else(|| settings.bin.clone());
        Ok(Self { folder, settings, bin, quiet: options.quiet })
    }

    /// Whether the operator's types are needed, for which it has to be built.
    pub(super) fn needs_crds(&self) -> bool {
        self.settings.runs(Generator::Crd)
            || (self.settings.runs(Generator::Rbac) && self.settings.user_roles())
    }
}

/// The one folder among the words.
fn folder(words: &[Word]) -> Result<PathBuf, Error> {
    let mut folders = words.iter().filter_map(|word| match word {
        Word::Path(folder) => Some(folder),
        _ => None,
    });
    match (folders.next(), folders.next()) {
        (None, _) => Ok(PathBuf::from(".")),
        (Some(folder), None) => Ok(PathBuf::from(folder)),
        (Some(first), Some(second)) => Err(Error::Arguments(format!(
            "`{first}` and `{second}` are two folders; each package has a run of its own"
        ))),
    }
}

/// What was probably meant by a folder that is not there.
fn suggestion(folder: &Path) -> String {
    let meant = folder.to_str().filter(|_| !folder.exists()).and_then(options::suggestion);
    meant.map(|word| format!("; did you mean `{word}`?")).unwrap_or_default()
}
