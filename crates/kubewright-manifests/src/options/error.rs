//! What is wrong with an option.

/// An option that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{place}: {message}{}",
    if help.is_empty() { String::new() } else { format!("; {}", help.join("; ")) }
)]
#[non_exhaustive]
pub struct OptionError {
    /// Where it stands: the word of the command line, or the key of the manifest.
    pub place: String,
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub help: Vec<String>,
}

// === impl OptionError ===

impl OptionError {
    pub(super) fn new(place: impl Into<String>, message: impl Into<String>) -> Self {
        Self { place: place.into(), message: message.into(), help: Vec::new() }
    }

    pub(super) fn help(mut self, sentence: impl Into<String>) -> Self {
        self.help.push(sentence.into());
        self
    }
}
