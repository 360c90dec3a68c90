//! Pulling an image, for one platform or for all.

use std::collections::BTreeMap;

use bytes::Bytes;
use http::{Method, StatusCode, header};

use super::{Event, Registry, RegistryError, Scope, transport::Request};
use crate::{
    digest::Digest,
    image::{Image, ImageError},
    platform::Platform,
    reference::Reference,
    spec::{DOCKER_INDEX, DOCKER_MANIFEST, Descriptor, INDEX, Index, MANIFEST, Manifest},
};

impl Registry {
    /// Pulls the image that `reference` names: all of it, or for one platform.
    ///
    /// # Errors
    ///
    /// If the registry does not answer, refuses, or does not have it, or if what arrives is not what it should be.
    pub async fn pull(
        &self,
        reference: &Reference,
        platform: Option<&Platform>,
    ) -> Result<Image, RegistryError> {
        let reference = reference.clone().or_latest();
        let (mut root, mut document) = self.manifest(&reference).await?;
        if let (true, Some(platform)) = (root.is_index(), platform) {
            let index: Index = parse(&root.digest, &document)?;
            let fits = |descriptor: &&Descriptor| {
                descriptor.platform.as_ref().is_some_and(|other| platform.accepts(other))
            };
            let found = index.manifests.iter().find(fits).ok_or_else(|| RegistryError::NoPlatform {
                reference: reference.to_string(),
                platform: platform.clone(),
            })?;
            (root, document) = self.manifest(&reference.pinned(found.digest.clone())).await?;
        }
        let mut blobs = BTreeMap::from([(root.digest.clone(), document.clone())]);
        if root.is_index() {
            for child in parse::<Index>(&root.digest, &document)?.manifests {
                let (child, document) = self.manifest(&reference.pinned(child.digest)).await?;
                self.parts(&reference, &parse(&child.digest, &document)?, &mut blobs).await?;
                blobs.insert(child.digest, document);
            }
        } else {
            self.parts(&reference, &parse(&root.digest, &document)?, &mut blobs).await?;
        }
        let image = Image::new(root, blobs)?;
        match platform {
            // An image without an index says in its configuration alone what it is for.
            Some(platform) => Ok(image.for_platform(platform)?),
            None => Ok(image),
        }
    }

    /// A manifest or an index.
    pub(super) async fn manifest(&self, reference: &Reference) -> Result<(Descriptor, Bytes), RegistryError> {
        let reference = reference.clone().or_latest();
        let action = format!("pull {reference}");
        let name = match reference.digest() {
            Some(digest) => digest.as_str(),
            None => reference.tag().unwrap_or("latest"),
        };
        let repository = reference.repository();
        let url = self.session.url(&format!("/v2/{repository}/manifests/{name}")).await?;
        let mut request = Request::new(Method::GET, url);
        for media_type in [MANIFEST, INDEX, DOCKER_MANIFEST, DOCKER_INDEX] {
            request = request.header(header::ACCEPT, media_type);
        }
        let response = self.session.send(&action, request, &[Scope::pull(repository)]).await?;
        if response.status != StatusCode::OK {
            return Err(self.session.unexpected(&action, &response));
        }
        let media_type = response.header("content-type").unwrap_or_default();
        let media_type = media_type.split(';').next().unwrap_or_default().trim();
        let descriptor = Descriptor::of(media_type, &response.body);
        if !descriptor.is_index() && !descriptor.is_manifest() {
            return Err(ImageError::MediaType(media_type.to_owned()).into());
        }
        if let Some(expected) = reference.digest()
            && !expected.is_of(&response.body)
        {
            return Err(RegistryError::Digest {
                what: format!("the manifest {}", expected.short()),
                expected: expected.clone(),
                found: descriptor.digest.to_string(),
            });
        }
        let digest = reference.digest().cloned().unwrap_or(descriptor.digest);
        Ok((Descriptor { digest, ..descriptor }, response.body))
    }

    /// The configuration and the layers of a manifest.
    async fn parts(
        &self,
        reference: &Reference,
        manifest: &Manifest,
        blobs: &mut BTreeMap<Digest, Bytes>,
    ) -> Result<(), RegistryError> {
        let action = format!("pull {reference}");
        let repository = reference.repository();
        for part in [&manifest.config].into_iter().chain(&manifest.layers) {
            if blobs.contains_key(&part.digest) {
                continue;
            }
            let url = self.session.url(&format!("/v2/{repository}/blobs/{}", part.digest)).await?;
            let mut request = Request::new(Method::GET, url);
            request.moves = Some((part.clone(), 0));
            let response = self.session.send(&action, request, &[Scope::pull(repository)]).await?;
            if response.status != StatusCode::OK {
                return Err(self.session.unexpected(&action, &response));
            }
            if !part.digest.is_of(&response.body) {
                return Err(RegistryError::Digest {
                    what: format!("the blob {}", part.digest.short()),
                    expected: part.digest.clone(),
                    found: Digest::of(&response.body).to_string(),
                });
            }
            self.options.progress.tell(Event::Done(part.clone()));
            blobs.insert(part.digest.clone(), response.body);
        }
        Ok(())
    }
}

fn parse<T: serde::de::DeserializeOwned>(digest: &Digest, content: &[u8]) -> Result<T, ImageError> {
    serde_json::from_slice(content)
        .map_err(|error| ImageError::Document { digest: digest.clone(), reason: error.to_string() })
}
