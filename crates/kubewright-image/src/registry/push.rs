//! Pushing an image: what it consists of first, so that nobody ever finds half of one.

use std::collections::BTreeSet;

use bytes::Bytes;
use http::{Method, StatusCode, header};

use super::{Event, Registry, RegistryError, Scope, check_digest, transport::Request};
use crate::{
    digest::Digest,
    image::{Image, ImageError},
    reference::Reference,
    spec::{BASE_NAME, Descriptor, Manifest},
};

impl Registry {
    /// Pushes `image` as `reference`, and returns what `reference` names then. With neither tag nor digest in the reference, the tag is `latest`.
    ///
    /// What the registry has already is not sent again, also if it is in the repository of the image's base.
    ///
    /// # Errors
    ///
    /// If the registry does not answer, refuses, or answers what is not in order. Nothing has the name then that did not have it before.
    pub async fn push(&self, image: &Image, reference: &Reference) -> Result<Descriptor, RegistryError> {
        let reference = reference.clone().or_latest();
        let actual = &image.root().digest;
        if reference.digest().is_some_and(|digest| digest != actual) {
            return Err(RegistryError::OtherImage {
                reference: reference.to_string(),
                actual: actual.clone(),
            });
        }
        let action = format!("push {reference}");
        let repository = reference.repository();
        let mut pushed = BTreeSet::new();
        for (descriptor, manifest) in image.manifests()? {
            let base = self.base_repository(&manifest).filter(|base| base != repository);
            for blob in manifest.layers.iter().chain([&manifest.config]) {
                if pushed.insert(blob.digest.clone()) {
                    let content = content(image, &blob.digest)?;
                    self.push_blob(&action, repository, blob, content, base.as_deref()).await?;
                }
            }
            if image.root().is_index() {
                let name = descriptor.digest.to_string();
                self.push_manifest(&action, repository, &name, &descriptor, image).await?;
            }
        }
        let name = reference.tag().map_or_else(|| image.root().digest.to_string(), str::to_owned);
        self.push_manifest(&action, repository, &name, image.root(), image).await?;
        Ok(image.root().clone())
    }

    async fn push_manifest(
        &self,
        action: &str,
        repository: &str,
        name: &str,
        descriptor: &Descriptor,
        image: &Image,
    ) -> Result<(), RegistryError> {
        let url = self.session.url(&format!("/v2/{repository}/manifests/{name}")).await?;
        let request = Request::new(Method::PUT, url)
            .header(header::CONTENT_TYPE, descriptor.media_type.as_str())
            .body(content(image, &descriptor.digest)?.clone());
        let response = self.session.send(action, request, &[Scope::push(repository)]).await?;
        if response.status != StatusCode::CREATED {
            return Err(self.session.unexpected(action, &response));
        }
        check_digest(&response, &descriptor.digest, &format!("the manifest {}", descriptor.digest.short()))?;
        self.options.progress.tell(Event::Done(descriptor.clone()));
        Ok(())
    }

    /// The repository of the base that a manifest names, if it is in this registry.
    fn base_repository(&self, manifest: &Manifest) -> Option<String> {
        let base: Reference = manifest.annotations.get(BASE_NAME)?.parse().ok()?;
        (base.registry() == self.session.name).then(|| base.repository().to_owned())
    }
}

fn content<'i>(image: &'i Image, digest: &Digest) -> Result<&'i Bytes, RegistryError> {
    Ok(image.blob(digest).ok_or_else(|| ImageError::Missing(digest.clone()))?)
}
