//! Images on disk: the OCI image layout, as a folder or as an archive.
//!
//! An archive holds Docker's `manifest.json` as well, so that `docker load` of every version accepts it.

use std::{
    collections::BTreeMap,
    fs,
    io::{self, Read, Write},
    path::{Path, PathBuf},
};

use bytes::Bytes;
use serde::Serialize;
use tar::{EntryType, Header};

use crate::{
    digest::Digest,
    image::{Image, ImageError, document},
    reference::Reference,
    spec::{Descriptor, INDEX, Index},
};

const MARKER: &str = "oci-layout";
const MARKER_CONTENT: &str = r#"{"imageLayoutVersion":"1.0.0"}"#;
const INDEX_FILE: &str = "index.json";
const BLOBS: &str = "blobs";

/// The tag, by which tools find an image in a layout.
const REF_NAME: &str = "org.opencontainers.image.ref.name";

/// The whole name, as containerd and Docker read it.
const IMAGE_NAME: &str = "io.containerd.image.name";

/// Why an image cannot be written or read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LayoutError {
    /// A file cannot be used.
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// What was tried.
        action: &'static str,
        /// On which file.
        path: PathBuf,
        /// Why it failed.
        source: io::Error,
    },
    /// The folder has other things in it.
    #[error("{} has files of something else in it; name an empty or a new folder", .0.display())]
    Occupied(PathBuf),
    /// There is no image.
    #[error("{} is no OCI image layout: {reason}", path.display())]
    NotALayout {
        /// What was read.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// The image is not whole.
    #[error("the image in {} cannot be used: {source}", path.display())]
    Image {
        /// What was read.
        path: PathBuf,
        /// What is wrong.
        source: ImageError,
    },
}

/// Writes `image` to `path` under the name `reference`: to an archive if the path ends with `.tar`, to a folder otherwise. A layout that is
/// there is replaced; until the new one is whole, the old one stays.
///
/// # Errors
///
/// If the path cannot be written, or is a folder with anything else in it.
pub fn write(image: &Image, reference: &Reference, path: &Path) -> Result<(), LayoutError> {
    let failed = |action| move |source| LayoutError::Io { action, path: path.to_owned(), source };
    let archive = is_archive(path);
    if !archive && occupied(path).map_err(failed("read"))? {
        return Err(LayoutError::Occupied(path.to_owned()));
    }
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(failed("write")(io::Error::from(io::ErrorKind::InvalidInput)));
    };
    let parent = if parent.as_os_str().is_empty() { Path::new(".") } else { parent };
    fs::create_dir_all(parent).map_err(failed("create the folder of"))?;
    // Beside it, so that it can be moved.
    let aside = parent.join(format!(".{}.part", name.to_string_lossy()));
    let written = if archive {
        write_archive(image, reference, &aside).and_then(|()| fs::rename(&aside, path))
    } else {
        replace_folder(image, reference, &aside, path)
    };
    written.map_err(|source| {
        // What is left of it is of no use, and removing it may fail for the same reason.
        let _ = if archive { fs::remove_file(&aside) } else { fs::remove_dir_all(&aside) };
        failed("write")(source)
    })
}

/// Reads the image of a layout and the name it has there. A folder, or an archive of one.
///
/// # Errors
///
/// If there is none, if there are several, or if it is not whole.
pub fn read(path: &Path) -> Result<(Image, Option<Reference>), LayoutError> {
    let failed = |source| LayoutError::Io { action: "read", path: path.to_owned(), source };
    let not_a_layout = |reason: String| LayoutError::NotALayout { path: path.to_owned(), reason };
    let files = if path.is_dir() {
        read_folder(path).map_err(failed)?
    } else {
        read_archive(path).map_err(failed)?
    };
    if !files.contains_key(MARKER) {
        return Err(not_a_layout(format!("it has no file {MARKER}")));
    }
    let index = files.get(INDEX_FILE).ok_or_else(|| not_a_layout(format!("it has no {INDEX_FILE}")))?;
    let index: Index = serde_json::from_slice(index)
        .map_err(|error| not_a_layout(format!("{INDEX_FILE} is not valid: {error}")))?;
    let [root] = <[Descriptor; 1]>::try_from(index.manifests)
        .map_err(|found| not_a_layout(format!("it has {} images, where one is expected", found.len())))?;
    let reference = root.annotations.get(IMAGE_NAME).and_then(|name| name.parse().ok());
    let blobs = files
        .into_iter()
        .filter_map(|(name, content)| {
            let (algorithm, hash) = name.strip_prefix("blobs/")?.split_once('/')?;
            let digest: Digest = format!("{algorithm}:{hash}").parse().ok()?;
            Some((digest, content))
        })
        .collect();
    let root = Descriptor { annotations: BTreeMap::new(), platform: None, ..root };
    let image =
        Image::new(root, blobs).map_err(|source| LayoutError::Image { path: path.to_owned(), source })?;
    Ok((image, reference))
}

fn is_archive(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("tar"))
}

/// Whether something else than a layout would be lost.
fn occupied(folder: &Path) -> io::Result<bool> {
    match fs::read_dir(folder) {
        Ok(mut entries) => Ok(entries.next().is_some() && !folder.join(MARKER).is_file()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

fn replace_folder(image: &Image, reference: &Reference, aside: &Path, path: &Path) -> io::Result<()> {
    remove_folder(aside)?;
    for (name, content) in files(image, reference) {
        let file = aside.join(name);
        if let Some(parent) = file.parent() {
            fs::create_dir_all(parent)?;
        }
        fs::write(file, content)?;
    }
    remove_folder(path)?;
    fs::rename(aside, path)
}

fn remove_folder(path: &Path) -> io::Result<()> {
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

fn write_archive(image: &Image, reference: &Reference, path: &Path) -> io::Result<()> {
    let mut archive = tar::Builder::new(io::BufWriter::new(fs::File::create(path)?));
    let mut append = |name: &str, kind, mode, content: &[u8]| {
        let mut header = Header::new_ustar();
        header.set_path(name)?;
        header.set_entry_type(kind);
        header.set_mode(mode);
        header.set_mtime(0);
        header.set_size(content.len() as u64);
        header.set_cksum();
        archive.append(&header, content)
    };
    append("blobs/", EntryType::Directory, 0o755, b"")?;
    append("blobs/sha256/", EntryType::Directory, 0o755, b"")?;
    for (name, content) in files(image, reference) {
        append(&name, EntryType::Regular, 0o644, &content)?;
    }
    if let Some(manifest) = docker_manifest(image, reference) {
        append("manifest.json", EntryType::Regular, 0o644, &manifest)?;
    }
    archive.into_inner()?.flush()
}

/// The files of a layout, the blobs first.
fn files(image: &Image, reference: &Reference) -> Vec<(String, Bytes)> {
    let mut root = image.root().clone();
    root.annotations.insert(IMAGE_NAME.to_owned(), reference.to_string());
    root.annotations.insert(REF_NAME.to_owned(), reference.tag().unwrap_or("latest").to_owned());
    let index = Index {
        schema_version: 2,
        media_type: INDEX.to_owned(),
        manifests: vec![root],
        annotations: BTreeMap::new(),
    };
    let mut files: Vec<(String, Bytes)> = image
        .blobs()
        .map(|(digest, content)| {
            (format!("{BLOBS}/{}/{}", digest.algorithm(), digest.hash()), content.clone())
        })
        .collect();
    files.push((INDEX_FILE.to_owned(), document(INDEX, &index).1));
    files.push((MARKER.to_owned(), Bytes::from_static(MARKER_CONTENT.as_bytes())));
    files
}

/// What Docker read before it knew layouts. It has room for one platform: the first.
fn docker_manifest(image: &Image, reference: &Reference) -> Option<Vec<u8>> {
    #[derive(Serialize)]
    #[serde(rename_all = "PascalCase")]
    struct Entry {
        config: String,
        repo_tags: Vec<String>,
        layers: Vec<String>,
    }
    let (_, manifest) = image.manifests().ok()?.into_iter().next()?;
    let file = |part: &Descriptor| format!("{BLOBS}/{}/{}", part.digest.algorithm(), part.digest.hash());
    let entry = Entry {
        config: file(&manifest.config),
        repo_tags: reference.tag().map(|_| reference.familiar()).into_iter().collect(),
        layers: manifest.layers.iter().map(file).collect(),
    };
    serde_json::to_vec(&[entry]).ok()
}

fn read_folder(folder: &Path) -> io::Result<BTreeMap<String, Bytes>> {
    let mut files = BTreeMap::new();
    for name in [MARKER, INDEX_FILE] {
        match fs::read(folder.join(name)) {
            Ok(content) => files.insert(name.to_owned(), Bytes::from(content)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(error),
        };
    }
    let algorithms = match fs::read_dir(folder.join(BLOBS)) {
        Ok(algorithms) => algorithms,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(files),
        Err(error) => return Err(error),
    };
    for algorithm in algorithms {
        let algorithm = algorithm?;
        for file in fs::read_dir(algorithm.path())? {
            let file = file?;
            let name =
                [algorithm.file_name(), file.file_name()].map(|name| name.to_string_lossy().into_owned());
            files.insert(format!("{BLOBS}/{}", name.join("/")), Bytes::from(fs::read(file.path())?));
        }
    }
    Ok(files)
}

fn read_archive(path: &Path) -> io::Result<BTreeMap<String, Bytes>> {
    let mut archive = tar::Archive::new(io::BufReader::new(fs::File::open(path)?));
    let mut files = BTreeMap::new();
    for entry in archive.entries()? {
        let mut entry = entry?;
        if entry.header().entry_type() != EntryType::Regular {
            continue;
        }
        let name = entry.path()?.to_string_lossy().trim_start_matches("./").to_owned();
        let mut content = Vec::new();
        entry.read_to_end(&mut content)?;
        files.insert(name, Bytes::from(content));
    }
    Ok(files)
}
