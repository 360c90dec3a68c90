//! How a blob gets into a repository: not at all if it is there, from another repository, in one request, or in several.

use bytes::Bytes;
use http::{Method, StatusCode, Uri, header};

use super::{
    Event, Registry, Scope, check_digest,
    error::RegistryError,
    transport::{ATTEMPTS, Request, Response, is_passing, resolve},
};
use crate::spec::Descriptor;

const OCTETS: &str = "application/octet-stream";

impl Registry {
    /// Sees to it that `repository` has a blob. It is taken from the repository `from` of the same registry, if that is named and has it.
    pub(super) async fn push_blob(
        &self,
        action: &str,
        repository: &str,
        blob: &Descriptor,
        content: &Bytes,
        from: Option<&str>,
    ) -> Result<(), RegistryError> {
        if self.has_blob(action, repository, blob).await? {
            self.options.progress.tell(Event::Exists(blob.clone()));
            return Ok(());
        }
        if let Some(from) = from
            && self.mount(action, repository, blob, from).await
        {
            self.options.progress.tell(Event::Mounted(blob.clone(), from.to_owned()));
            return Ok(());
        }
        let mut attempt = 1;
        loop {
            match self.upload(action, repository, blob, content).await {
                Ok(()) => {
                    self.options.progress.tell(Event::Done(blob.clone()));
                    return Ok(());
                }
                // An upload that broke is lost: the next one begins anew.
                Err(error) if attempt < ATTEMPTS && is_broken(&error) => {
                    self.session.transport.pause(attempt, None, &error.to_string()).await;
                    attempt += 1;
                }
                Err(error) => return Err(error),
            }
            // The one that broke may have been complete.
            if self.has_blob(action, repository, blob).await? {
                self.options.progress.tell(Event::Done(blob.clone()));
                return Ok(());
            }
        }
    }

    async fn has_blob(
        &self,
        action: &str,
        repository: &str,
        blob: &Descriptor,
    ) -> Result<bool, RegistryError> {
        let url = self.session.url(&format!("/v2/{repository}/blobs/{}", blob.digest)).await?;
        let response =
            self.session.send(action, Request::new(Method::HEAD, url), &[Scope::push(repository)]).await?;
        match response.status {
            StatusCode::OK => Ok(true),
            StatusCode::NOT_FOUND => Ok(false),
            _ => Err(self.session.unexpected(action, &response)),
        }
    }

    /// Whether the blob could be taken from another repository. It is a matter of time only: whatever speaks against it, there is
    /// the upload.
    async fn mount(&self, action: &str, repository: &str, blob: &Descriptor, from: &str) -> bool {
        let query = form_urlencoded::Serializer::new(String::new())
            .append_pair("mount", blob.digest.as_str())
            .append_pair("from", from)
            .finish();
        let Ok(url) = self.session.url(&format!("/v2/{repository}/blobs/uploads/?{query}")).await else {
            return false;
        };
        let scopes = [Scope::push(repository), Scope::pull(from)];
        let request = Request::new(Method::POST, url).header(header::CONTENT_LENGTH, "0");
        match self.session.send(action, request, &scopes).await {
            Ok(response) if response.status == StatusCode::CREATED => true,
            Ok(response) => {
                // The registry has begun an upload in its place, which nobody will use.
                if let Some(url) = location(&response) {
                    let cancel = Request::new(Method::DELETE, url).once();
                    let _ = self.session.send(action, cancel, &scopes[..1]).await;
                }
                false
            }
            Err(_) => false,
        }
    }

    async fn upload(
        &self,
        action: &str,
        repository: &str,
        blob: &Descriptor,
        content: &Bytes,
    ) -> Result<(), RegistryError> {
        let scopes = [Scope::push(repository)];
        let url = self.session.url(&format!("/v2/{repository}/blobs/uploads/")).await?;
        let begin = Request::new(Method::POST, url).header(header::CONTENT_LENGTH, "0");
        let response = self.session.send(action, begin, &scopes).await?;
        let least = response.header("oci-chunk-min-length").and_then(|least| least.parse().ok()).unwrap_or(0);
        let chunk = self.options.chunk.max(least).max(1);
        let url = self.next(action, &response, StatusCode::ACCEPTED)?;
        let (url, rest) = if content.len() <= chunk {
            (url, content.clone())
        } else {
            (self.upload_chunks(action, &scopes, url, blob, content, chunk).await?, Bytes::new())
        };
        let url = with_digest(&url, blob)
            .ok_or_else(|| self.session.protocol(action, format!("`{url}` is no place to upload to")))?;
        let mut end = Request::new(Method::PUT, url)
            .header(header::CONTENT_TYPE, OCTETS)
            .header(header::CONTENT_LENGTH, rest.len().to_string())
            .once();
        end.moves = Some((blob.clone(), content.len() as u64 - rest.len() as u64));
        let response = self.session.send(action, end.body(rest), &scopes).await?;
        if response.status != StatusCode::CREATED {
            return Err(self.rejected(action, &response, blob));
        }
        check_digest(&response, &blob.digest, &format!("the blob {}", blob.digest.short()))
    }

    /// Sends all of `content` in pieces, and returns where the upload is to be ended. A piece that was lost is sent again, from where the
    /// registry says that it has come to.
    async fn upload_chunks(
        &self,
        action: &str,
        scopes: &[Scope],
        mut url: Uri,
        blob: &Descriptor,
        content: &Bytes,
        chunk: usize,
    ) -> Result<Uri, RegistryError> {
        let (mut start, mut attempt) = (0, 1);
        while start < content.len() {
            let end = content.len().min(start + chunk);
            let mut request = Request::new(Method::PATCH, url.clone())
                .header(header::CONTENT_TYPE, OCTETS)
                .header(header::CONTENT_LENGTH, (end - start).to_string())
                .header(header::CONTENT_RANGE, format!("{start}-{}", end - 1))
                .body(content.slice(start..end))
                .once();
            request.moves = Some((blob.clone(), start as u64));
            let result = match self.session.send(action, request, scopes).await {
                Ok(response) if response.status == StatusCode::ACCEPTED => Ok(response),
                Ok(response) => Err(self.rejected(action, &response, blob)),
                Err(error) => Err(error),
            };
            match result {
                Ok(response) => {
                    start = received(&response).unwrap_or(end);
                    url = self.next(action, &response, StatusCode::ACCEPTED)?;
                    attempt = 1;
                }
                Err(error) if attempt < ATTEMPTS && is_broken(&error) => {
                    self.session.transport.pause(attempt, None, &error.to_string()).await;
                    attempt += 1;
                    let status = Request::new(Method::GET, url.clone());
                    let response = self.session.send(action, status, scopes).await?;
                    url = self.next(action, &response, StatusCode::NO_CONTENT)?;
                    start = received(&response).unwrap_or(0);
                }
                Err(error) => return Err(error),
            }
            if start > content.len() {
                let reason = format!("it has {start} bytes of {}", content.len());
                return Err(self.session.protocol(action, reason));
            }
        }
        Ok(url)
    }

    /// Where the upload goes on.
    fn next(&self, action: &str, response: &Response, expected: StatusCode) -> Result<Uri, RegistryError> {
        if response.status != expected {
            return Err(self.session.unexpected(action, response));
        }
        location(response)
            .ok_or_else(|| self.session.protocol(action, "it does not say where to upload to".to_owned()))
    }

    fn rejected(&self, action: &str, response: &Response, blob: &Descriptor) -> RegistryError {
        match self.session.unexpected(action, response) {
            RegistryError::Answer { errors, .. }
                if errors.iter().any(|error| error.code == "DIGEST_INVALID") =>
            {
                RegistryError::Digest {
                    what: format!("the blob {}", blob.digest.short()),
                    expected: blob.digest.clone(),
                    found: "something else".to_owned(),
                }
            }
            error => error,
        }
    }
}

fn location(response: &Response) -> Option<Uri> {
    resolve(&response.url, response.header("location")?)
}

/// How many bytes of the upload the registry has: `Range: 0-99` are a hundred, and so is nothing where there is no range to name.
fn received(response: &Response) -> Option<usize> {
    let range = response.header("range")?;
    let last: usize = range.trim_start_matches("bytes=").split_once('-')?.1.parse().ok()?;
    Some(if last == 0 { 0 } else { last + 1 })
}

fn with_digest(url: &Uri, blob: &Descriptor) -> Option<Uri> {
    let separator = if url.query().is_some() { '&' } else { '?' };
    format!("{url}{separator}digest={}", blob.digest).parse().ok()
}

/// Whether another upload of the same may succeed.
fn is_broken(error: &RegistryError) -> bool {
    match error {
        RegistryError::Connect { .. } => true,
        RegistryError::Answer { status, .. } => {
            is_passing(*status) || *status == StatusCode::RANGE_NOT_SATISFIABLE
        }
        RegistryError::NotFound { errors, .. } => {
            errors.iter().any(|error| error.code == "BLOB_UPLOAD_UNKNOWN")
        }
        _ => false,
    }
}
