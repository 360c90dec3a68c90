//! One layer of an image: files that become an archive whose bytes depend on nothing else.

use std::{
    collections::BTreeMap,
    io::{self, Write},
};

use bytes::Bytes;
use flate2::{Compression, GzBuilder};
use tar::{EntryType, Header};

use crate::{
    digest::Digest,
    spec::{Descriptor, LAYER},
};

/// Files and folders, by their paths without a leading slash.
#[derive(Clone, Debug, Default)]
pub struct Layer {
    entries: BTreeMap<String, Entry>,
}

#[derive(Clone, Debug)]
struct Entry {
    /// None for a folder.
    content: Option<Bytes>,
    mode: u32,
    /// User and group.
    owner: u64,
}

/// A layer as it is stored.
#[derive(Clone, Debug)]
pub struct PackedLayer {
    /// The gzipped archive.
    pub descriptor: Descriptor,
    /// The digest of the archive before it was compressed.
    pub diff_id: Digest,
    /// The length of the archive before it was compressed.
    pub unpacked_size: u64,
    /// The gzipped archive.
    pub content: Bytes,
}

impl Layer {
    /// Adds a file of root's with the permissions `mode`.
    #[must_use]
    pub fn file(mut self, path: &str, mode: u32, content: impl Into<Bytes>) -> Self {
        self.entries.insert(path.to_owned(), Entry { content: Some(content.into()), mode, owner: 0 });
        self
    }

    /// Adds a folder with the permissions `mode`, of the user and the group with the number `owner`.
    #[must_use]
    pub fn folder(mut self, path: &str, mode: u32, owner: u64) -> Self {
        self.entries.insert(path.to_owned(), Entry { content: None, mode, owner });
        self
    }

    /// Makes the archive. Its bytes follow from the entries and `modified` (seconds since 1970) alone: entries are sorted, and say
    /// nothing of the machine.
    ///
    /// # Errors
    ///
    /// If a path does not fit into an archive.
    pub fn pack(&self, modified: u64) -> io::Result<PackedLayer> {
        let mut archive = tar::Builder::new(Vec::new());
        for (path, entry) in &self.entries {
            let content = entry.content.as_deref().unwrap_or_default();
            let mut header = Header::new_ustar();
            // A path with a slash at its end is that of a folder, also for readers of the oldest archives.
            match entry.content {
                Some(_) => header.set_path(path)?,
                None => header.set_path(format!("{path}/"))?,
            }
            header.set_entry_type(if entry.content.is_some() {
                EntryType::Regular
            } else {
                EntryType::Directory
            });
            header.set_mode(entry.mode);
            header.set_uid(entry.owner);
            header.set_gid(entry.owner);
            header.set_mtime(modified);
            header.set_size(content.len() as u64);
            header.set_cksum();
            archive.append(&header, content)?;
        }
        let archive = archive.into_inner()?;
        // Neither a name nor a time is in the gzip header, and the operating system is `unknown`.
        let mut gzip = GzBuilder::new().operating_system(255).write(Vec::new(), Compression::best());
        gzip.write_all(&archive)?;
        let content = Bytes::from(gzip.finish()?);
        Ok(PackedLayer {
            descriptor: Descriptor::of(LAYER, &content),
            diff_id: Digest::of(&archive),
            unpacked_size: archive.len() as u64,
            content,
        })
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    fn layer() -> Layer {
        Layer::default()
            .file("manager", 0o755, "program")
            .folder("etc", 0o755, 0)
            .file("etc/passwd", 0o644, "nobody")
            .folder("home/nonroot", 0o700, 65532)
    }

    #[test]
    fn entries_are_sorted_and_say_what_they_were_given() {
        let packed = layer().pack(7).expect("packed");
        let mut unpacked = Vec::new();
        flate2::read::GzDecoder::new(&packed.content[..]).read_to_end(&mut unpacked).expect("gzip");
        assert_eq!(Digest::of(&unpacked), packed.diff_id);
        assert_eq!(unpacked.len() as u64, packed.unpacked_size);
        assert_eq!(packed.descriptor, Descriptor::of(LAYER, &packed.content));
        let mut archive = tar::Archive::new(&unpacked[..]);
        let entries: Vec<_> = archive
            .entries()
            .expect("an archive")
            .map(|entry| {
                let mut entry = entry.expect("an entry");
                let path = entry.path().expect("a path").to_string_lossy().into_owned();
                let mut text = String::new();
                entry.read_to_string(&mut text).expect("text");
                let header = entry.header();
                assert_eq!(header.mtime().expect("a time"), 7);
                assert_eq!(header.uid().expect("a user"), header.gid().expect("a group"));
                assert_eq!(header.username(), Ok(Some("")), "names are those of a machine");
                (path, header.mode().expect("a mode"), header.uid().expect("a user"), text)
            })
            .collect();
        let entry = |path: &str, mode, owner, text: &str| (path.to_owned(), mode, owner, text.to_owned());
        assert_eq!(
            entries,
            [
                entry("etc/", 0o755, 0, ""),
                entry("etc/passwd", 0o644, 0, "nobody"),
                entry("home/nonroot/", 0o700, 65532, ""),
                entry("manager", 0o755, 0, "program"),
            ]
        );
    }

    #[test]
    fn the_order_of_additions_does_not_show() {
        let other = Layer::default()
            .folder("home/nonroot", 0o700, 65532)
            .file("etc/passwd", 0o644, "nobody")
            .file("manager", 0o755, "program")
            .folder("etc", 0o755, 0);
        let (one, two) = (layer().pack(0).expect("packed"), other.pack(0).expect("packed"));
        assert_eq!(one.content, two.content);
        assert_ne!(one.content, layer().pack(1).expect("packed").content);
        // The header of gzip: no name, no time, unknown system.
        assert_eq!(one.content[3..8], [0, 0, 0, 0, 0]);
        assert_eq!(one.content[9], 255);
    }
}
