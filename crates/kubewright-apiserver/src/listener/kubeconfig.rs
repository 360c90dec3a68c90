//! The file with which clients find the server.

use std::{
    ffi::OsString,
    fs, io,
    io::Write,
    path::{Path, PathBuf},
    process,
};

use base64::{Engine, engine::general_purpose::STANDARD};
use serde_json::{Value, json};

use super::ClientCertificate;

/// Where a server is and how to be someone there.
#[derive(Clone, Debug)]
pub struct Kubeconfig {
    /// The server's URL.
    pub server: String,
    /// The certificate of the authority to trust; `None` for plain HTTP.
    pub ca_pem: Option<String>,
    /// How to be someone.
    pub credentials: Credentials,
    /// The namespace of commands that name none.
    pub namespace: String,
}

/// How a client shows who it is.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Credentials {
    /// Not at all: the client is `system:anonymous`.
    None,
    /// By a client certificate.
    Certificate(ClientCertificate),
    /// By a bearer token.
    Token(String),
}

impl Kubeconfig {
    /// The text of the file: YAML in the form of JSON, which every reader of kubeconfigs accepts, with all
    /// certificates embedded.
    #[must_use]
    pub fn to_text(&self) -> String {
        let mut text = format!("{:#}", self.to_value());
        text.push('\n');
        text
    }

    fn to_value(&self) -> Value {
        let mut cluster = json!({"server": self.server});
        if let Some(ca) = &self.ca_pem {
            cluster["certificate-authority-data"] = json!(STANDARD.encode(ca));
        }
        let user = match &self.credentials {
            Credentials::None => json!({}),
            Credentials::Certificate(certificate) => json!({
                "client-certificate-data": STANDARD.encode(&certificate.certificate_pem),
                "client-key-data": STANDARD.encode(&certificate.key_pem),
            }),
            Credentials::Token(token) => json!({"token": token}),
        };
        json!({
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": NAME, "cluster": cluster}],
            "users": [{"name": NAME, "user": user}],
            "contexts": [{
                "name": NAME,
                "context": {"cluster": NAME, "user": NAME, "namespace": self.namespace},
            }],
            "current-context": NAME,
        })
    }

    /// Writes the file, readable by its owner alone. A reader sees the old file or the whole new one.
    ///
    /// # Errors
    /// When the file cannot be written next to its final place or moved there; the old file is left as it was.
    pub fn write(&self, path: impl AsRef<Path>) -> io::Result<()> {
        write_private(path.as_ref(), self.to_text().as_bytes())
    }
}

const NAME: &str = "kubewright";

fn write_private(path: &Path, content: &[u8]) -> io::Result<()> {
    let draft = draft_of(path)?;
    let written = write_new(&draft, content).and_then(|()| fs::rename(&draft, path));
    if written.is_err() {
        // The first error is the one to tell of.
        let _ = fs::remove_file(&draft);
    }
    written.map_err(|error| {
        io::Error::new(error.kind(), format!("cannot write kubeconfig {}: {error}", path.display()))
    })
}

/// A name beside the file, so that the move stays within one file system.
fn draft_of(path: &Path) -> io::Result<PathBuf> {
    let name = path.file_name().ok_or_else(|| {
        io::Error::new(
            io::ErrorKind::InvalidInput,
            format!("cannot write kubeconfig {}: not a file name", path.display()),
        )
    })?;
    let mut draft = OsString::from(".");
    draft.push(name);
    draft.push(format!(".{}.tmp", process::id()));
    Ok(path.with_file_name(draft))
}

fn write_new(path: &Path, content: &[u8]) -> io::Result<()> {
    // A draft that an earlier process of this number left behind.
    if let Err(error) = fs::remove_file(path)
        && error.kind() != io::ErrorKind::NotFound
    {
        return Err(error);
    }
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(path)?;
    file.write_all(content)?;
    file.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kubeconfig(credentials: Credentials) -> Kubeconfig {
        Kubeconfig {
            server: "https://127.0.0.1:6443".to_owned(),
            ca_pem: Some("CA".to_owned()),
            credentials,
            namespace: "default".to_owned(),
        }
    }

    #[test]
    fn the_file_is_private_and_replaced_as_a_whole() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("kubeconfig");
        fs::write(&path, "old").expect("a file");
        kubeconfig(Credentials::Token("t".to_owned())).write(&path).expect("written");
        let text = fs::read_to_string(&path).expect("readable");
        let value: Value = serde_json::from_str(&text).expect("JSON");
        assert_eq!(value["users"][0]["user"]["token"], "t");
        assert_eq!(value["clusters"][0]["cluster"]["certificate-authority-data"], "Q0E=");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = fs::metadata(&path).expect("metadata").permissions().mode();
            assert_eq!(mode & 0o777, 0o600);
        }
        assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 1, "no draft is left");
    }

    #[test]
    fn a_file_that_cannot_be_written_is_named() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("missing").join("kubeconfig");
        let error = kubeconfig(Credentials::None).write(&path).expect_err("no such folder");
        assert!(error.to_string().contains("missing"), "{error}");
        assert!(kubeconfig(Credentials::None).write("..").is_err());
    }
}
