//! An image as a value: all of its documents and layers, found by their digests.

use std::collections::BTreeMap;

use bytes::Bytes;
use serde::de::DeserializeOwned;

use crate::{
    digest::Digest,
    platform::Platform,
    spec::{Config, Descriptor, INDEX, Index, Manifest},
};

/// An image for one platform, or for several by an index, with everything that it consists of, in memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    root: Descriptor,
    blobs: BTreeMap<Digest, Bytes>,
}

/// What an image says is not so.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ImageError {
    /// Something is described and not there.
    #[error("{0} is described and not there")]
    Missing(Digest),
    /// The content does not have the digest it is found by.
    #[error("the content of {0} is damaged: it has another digest")]
    Damaged(Digest),
    /// A document cannot be read.
    #[error("the document {digest} is not what its media type says: {reason}")]
    Document {
        /// Its digest.
        digest: Digest,
        /// What is wrong.
        reason: String,
    },
    /// The content is neither a manifest nor an index.
    #[error("`{0}` is no media type of an image")]
    MediaType(String),
    /// There is no image for the platform.
    #[error("it has no image for {platform}; it has {}", if found.is_empty() { "none".to_owned() } else { found.join(", ") })]
    NoPlatform {
        /// The platform that was asked for.
        platform: Platform,
        /// Those that there are.
        found: Vec<String>,
    },
    /// Two images are for one platform.
    #[error("there are two images for {0}")]
    PlatformTwice(Platform),
}

impl Image {
    /// An image of `root` and what it consists of.
    ///
    /// # Errors
    ///
    /// If anything is missing, damaged, or not what it is said to be.
    pub fn new(root: Descriptor, blobs: BTreeMap<Digest, Bytes>) -> Result<Self, ImageError> {
        let image = Self { root, blobs };
        for (_, manifest) in image.manifests()? {
            for part in manifest.layers.iter().chain([&manifest.config]) {
                image.check(part)?;
            }
        }
        Ok(image)
    }

    /// One image for the platforms of several, with the given annotations.
    ///
    /// # Errors
    ///
    /// If two are for the same platform.
    pub fn index(images: Vec<Self>, annotations: BTreeMap<String, String>) -> Result<Self, ImageError> {
        let mut manifests: Vec<Descriptor> = Vec::new();
        let mut blobs = BTreeMap::new();
        for image in images {
            for (descriptor, manifest) in image.manifests()? {
                let platform = image.config(&manifest)?.platform();
                if manifests.iter().any(|other| other.platform.as_ref() == Some(&platform)) {
                    return Err(ImageError::PlatformTwice(platform));
                }
                manifests.push(Descriptor { platform: Some(platform), ..descriptor });
            }
            blobs.extend(image.blobs);
        }
        // By the platform: the order in which images were made does not show.
        manifests.sort_by(|one, two| one.platform.cmp(&two.platform));
        let index = Index { schema_version: 2, media_type: INDEX.to_owned(), manifests, annotations };
        let (root, content) = document(INDEX, &index);
        blobs.insert(root.digest.clone(), content);
        Ok(Self { root, blobs })
    }

    /// The manifest or the index that all else is reached from.
    #[must_use]
    pub fn root(&self) -> &Descriptor {
        &self.root
    }

    /// The content with this digest.
    #[must_use]
    pub fn blob(&self, digest: &Digest) -> Option<&Bytes> {
        self.blobs.get(digest)
    }

    /// Everything there is, in the order of the digests.
    pub fn blobs(&self) -> impl Iterator<Item = (&Digest, &Bytes)> {
        self.blobs.iter()
    }

    /// The manifests, in the order of the index.
    ///
    /// # Errors
    ///
    /// If a document is missing, damaged, or none.
    pub fn manifests(&self) -> Result<Vec<(Descriptor, Manifest)>, ImageError> {
        let descriptors = if self.root.is_index() {
            self.document::<Index>(&self.root)?.manifests
        } else {
            vec![self.root.clone()]
        };
        descriptors
            .into_iter()
            .map(|descriptor| {
                if !descriptor.is_manifest() {
                    return Err(ImageError::MediaType(descriptor.media_type));
                }
                let manifest = self.document(&descriptor)?;
                Ok((descriptor, manifest))
            })
            .collect()
    }

    /// The configuration that a manifest names.
    ///
    /// # Errors
    ///
    /// If it is missing, damaged, or none.
    pub fn config(&self, manifest: &Manifest) -> Result<Config, ImageError> {
        self.document(&manifest.config)
    }

    /// The image for one platform: the same, if it has no index.
    ///
    /// # Errors
    ///
    /// If there is none.
    pub fn for_platform(&self, platform: &Platform) -> Result<Self, ImageError> {
        let mut found = Vec::new();
        for (descriptor, manifest) in self.manifests()? {
            let config = self.config(&manifest)?;
            if !platform.accepts(&config.platform()) {
                found.push(config.platform().to_string());
                continue;
            }
            let root = Descriptor { platform: None, ..descriptor };
            let parts = manifest.layers.iter().chain([&manifest.config, &root]);
            let blobs = parts
                .filter_map(|part| Some((part.digest.clone(), self.blob(&part.digest)?.clone())))
                .collect();
            return Ok(Self { root, blobs });
        }
        Err(ImageError::NoPlatform { platform: platform.clone(), found })
    }

    fn check(&self, part: &Descriptor) -> Result<&Bytes, ImageError> {
        let content = self.blob(&part.digest).ok_or_else(|| ImageError::Missing(part.digest.clone()))?;
        if part.size == content.len() as u64 && part.digest.is_of(content) {
            Ok(content)
        } else {
            Err(ImageError::Damaged(part.digest.clone()))
        }
    }

    fn document<T: DeserializeOwned>(&self, part: &Descriptor) -> Result<T, ImageError> {
        serde_json::from_slice(self.check(part)?)
            .map_err(|error| ImageError::Document { digest: part.digest.clone(), reason: error.to_string() })
    }
}

/// A document with its descriptor.
pub(crate) fn document<T: serde::Serialize>(media_type: &str, document: &T) -> (Descriptor, Bytes) {
    // Maps with keys that are text, and text, have a JSON form.
    let content = Bytes::from(serde_json::to_vec(document).unwrap_or_default());
    (Descriptor::of(media_type, &content), content)
}
