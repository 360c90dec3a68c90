//! Where the project takes Kubewright from.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// The source of the framework's crates, for the `Cargo.toml` of a project.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Framework {
    /// A published version.
    Version(String),
    /// A checkout on this machine.
    Path(PathBuf),
    /// A git repository.
    Git(String),
}

// === impl Framework ===

impl Framework {
    /// The value of a dependency on `package`, in TOML.
    #[must_use]
    pub fn dependency(&self, package: &str) -> String {
        // What JSON quotes is quoted for TOML too.
        let quoted = |text: &str| serde_json::Value::from(text).to_string();
        match self {
            Self::Version(version) => quoted(version),
            Self::Path(checkout) => {
                let path = checkout.join("crates").join(package);
                format!("{{ path = {} }}", quoted(&path.to_string_lossy()))
            }
            Self::Git(repository) => format!("{{ git = {} }}", quoted(repository)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_source_is_a_dependency_that_cargo_reads() {
        let sources = [
            (Framework::Version("0.1.0".to_owned()), r#""0.1.0""#),
            (
                Framework::Path("/src/kube wright".into()),
                r#"{ path = "/src/kube wright/crates/kubewright" }"#,
            ),
            (
                Framework::Git("https://example.com/k.git".to_owned()),
                r#"{ git = "https://example.com/k.git" }"#,
            ),
        ];
        for (source, expected) in sources {
            let dependency = source.dependency("kubewright");
            assert_eq!(dependency, expected);
            toml::from_str::<toml::Table>(&format!("kubewright = {dependency}")).expect("TOML");
        }
    }
}
