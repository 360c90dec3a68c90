//! Where an object came from, for `buildMetadata`.

use std::fmt::Write as _;

/// The file that has an object, or the entry of a kustomization that made or changed it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Origin {
    /// Of a file, from the folder that is built.
    pub(crate) path: String,
    /// The kustomization that has the entry, and the name of the transformer or generator.
    pub(crate) configured: Option<(String, &'static str)>,
}

impl Origin {
    pub(crate) const ANNOTATION: &'static str = "config.kubernetes.io/origin";
    pub(crate) const TRANSFORMATIONS: &'static str = "alpha.config.kubernetes.io/transformations";

    pub(crate) fn file(path: String) -> Self {
        Self { path, configured: None }
    }

    pub(crate) fn configured(file: String, by: &'static str) -> Self {
        Self { path: String::new(), configured: Some((file, by)) }
    }

    /// The value of the annotation.
    pub(crate) fn text(&self) -> String {
        self.lines().concat()
    }

    pub(crate) fn list_text(list: &[Self]) -> String {
        let mut text = String::new();
        for origin in list {
            for (index, line) in origin.lines().iter().enumerate() {
                let _ = write!(text, "{}{line}", if index == 0 { "- " } else { "  " });
            }
        }
        text
    }

    fn lines(&self) -> Vec<String> {
        let scalar = |text: &str| kubewright_yaml::to_string(&serde_json::Value::from(text));
        let mut lines = Vec::new();
        if !self.path.is_empty() {
            lines.push(format!("path: {}", scalar(&self.path)));
        }
        if let Some((file, by)) = &self.configured {
            lines.push(format!("configuredIn: {}", scalar(file)));
            lines.push("configuredBy:\n".to_owned());
            lines.push("  apiVersion: builtin\n".to_owned());
            lines.push(format!("  kind: {by}\n"));
        }
        lines
    }
}
