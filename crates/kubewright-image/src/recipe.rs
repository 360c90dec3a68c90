//! What goes into an operator's image.

use std::{
    collections::{BTreeMap, BTreeSet},
    io,
};

use base64::{Engine, prelude::BASE64_STANDARD};
use bytes::Bytes;
use rustls::pki_types::{CertificateDer, pem::PemObject};

use crate::{
    digest::Digest,
    executable::Executable,
    image::{Image, ImageError, document},
    layer::Layer,
    platform::Platform,
    spec::{CONFIG, Config, DOCKER_LAYER, Execution, History, LAYER, MANIFEST, Manifest, RootFs},
};

/// The user and the group that an operator runs as: the same as in distroless images, and not root's.
pub const NONROOT: u64 = 65532;

/// Where the operator is in its image: where kubebuilder's images have it.
pub const ENTRYPOINT: &str = "/manager";

const CERTIFICATES: &str = "etc/ssl/certs/ca-certificates.crt";

/// How an operator's image is made. Equal recipes and programs give equal bytes.
///
/// The image has one layer: the operator at [`ENTRYPOINT`], the authorities of public HTTPS servers at
/// `/etc/ssl/certs/ca-certificates.crt`, the users root and nonroot, a `/tmp` that all may write, and nothing else: no shell, and no
/// package that a scanner could complain about. It runs as [`NONROOT`], so that it fits the Pod Security level "restricted".
#[derive(Clone, Debug, Default)]
pub struct Recipe {
    /// The time of all files and of the image, in seconds since 1970. By convention that of `SOURCE_DATE_EPOCH`, else 0.
    pub created: u64,
    /// Labels of the image, which are annotations of its manifest as well.
    pub labels: BTreeMap<String, String>,
    /// The authorities to trust.
    pub certificates: Certificates,
}

/// The authorities that an operator trusts when it calls an HTTPS server other than the cluster's API server, whose own authority is
/// in the pod.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Certificates {
    /// Mozilla's list, as it is in this program: the same on every machine, so that images are.
    #[default]
    Bundled,
    /// These, in PEM. [`Self::from_pem`] looks whether they are.
    Pem(Bytes),
    /// None.
    None,
}

/// Why a text has no authorities.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CertificatesError {
    /// There is none in it.
    #[error("it has no certificate in PEM")]
    None,
    /// One cannot be read.
    #[error("its certificate number {number} is not valid PEM: {reason}")]
    Invalid {
        /// Which, from 1.
        number: usize,
        /// Why.
        reason: String,
    },
}

impl Certificates {
    /// The certificates in a text in PEM.
    ///
    /// # Errors
    ///
    /// If there is none, or one cannot be read.
    pub fn from_pem(pem: impl Into<Bytes>) -> Result<Self, CertificatesError> {
        let pem = pem.into();
        let mut count = 0;
        for certificate in CertificateDer::pem_slice_iter(&pem) {
            count += 1;
            certificate
                .map_err(|error| CertificatesError::Invalid { number: count, reason: error.to_string() })?;
        }
        if count == 0 { Err(CertificatesError::None) } else { Ok(Self::Pem(pem)) }
    }
}

/// Why an image cannot be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RecipeError {
    /// There is no program.
    #[error("an image needs a program")]
    NoProgram,
    /// The program needs a loader that is not in the image.
    #[error(
        "the program for {platform} is not linked statically: it needs {interpreter}, which is not in the image; link it statically, or give a base image that has it"
    )]
    Dynamic {
        /// What it is for.
        platform: Platform,
        /// What it needs.
        interpreter: String,
    },
    /// The base has a layer that cannot be in an image of this kind.
    #[error("the base image has a layer of the media type `{0}`, which cannot be used")]
    BaseLayer(String),
    /// The base or the result is not whole.
    #[error(transparent)]
    Image(#[from] ImageError),
    /// A file does not fit into an archive.
    #[error("cannot pack the layer: {0}")]
    Pack(#[from] io::Error),
}

impl Recipe {
    /// Makes an image of one program for each platform, and an index if there are several. `base` lies below it, if one is given; it needs an
    /// image for each of the platforms.
    ///
    /// # Errors
    ///
    /// If a program cannot run in the image, two are for the same platform, or the base does not fit.
    pub fn build(&self, programs: &[Executable], base: Option<&Image>) -> Result<Image, RecipeError> {
        let images = programs
            .iter()
            .map(|program| {
                let base = base.map(|base| base.for_platform(program.platform())).transpose()?;
                self.image(program, base.as_ref())
            })
            .collect::<Result<Vec<_>, RecipeError>>()?;
        match <[Image; 1]>::try_from(images) {
            Ok([image]) => Ok(image),
            Err(images) if images.is_empty() => Err(RecipeError::NoProgram),
            Err(images) => Ok(Image::index(images, self.labels.clone())?),
        }
    }

    fn image(&self, program: &Executable, base: Option<&Image>) -> Result<Image, RecipeError> {
        let platform = program.platform();
        if let (Some(interpreter), None) = (program.interpreter(), base) {
            let interpreter = interpreter.to_owned();
            return Err(RecipeError::Dynamic { platform: platform.clone(), interpreter });
        }
        let layer = self.layer(program, base.is_some()).pack(self.created)?;
        let created = Some(rfc3339(self.created));
        let mut blobs: BTreeMap<Digest, Bytes> = BTreeMap::new();
        let mut layers = Vec::new();
        let mut config = Config::default();
        if let Some(base) = base {
            for (_, manifest) in base.manifests()? {
                config = base.config(&manifest)?;
                for layer in manifest.layers {
                    let media_type = match layer.media_type.as_str() {
                        // The same bytes under the name that goes with the other documents.
                        LAYER | DOCKER_LAYER => LAYER.to_owned(),
                        other => return Err(RecipeError::BaseLayer(other.to_owned())),
                    };
                    let content =
                        base.blob(&layer.digest).ok_or_else(|| ImageError::Missing(layer.digest.clone()))?;
                    blobs.insert(layer.digest.clone(), content.clone());
                    layers.push(crate::spec::Descriptor { media_type, ..layer });
                }
            }
        }
        let mut labels = std::mem::take(&mut config.config.labels);
        labels.extend(self.labels.clone());
        let mut diff_ids = config.rootfs.diff_ids;
        diff_ids.push(layer.diff_id);
        let mut history = config.history;
        history.push(History {
            created: created.clone(),
            created_by: Some("kubewright image build".to_owned()),
            empty_layer: false,
        });
        let config = Config {
            created,
            architecture: platform.architecture.clone(),
            os: platform.os.clone(),
            variant: platform.variant.clone(),
            config: Execution {
                user: format!("{NONROOT}:{NONROOT}"),
                env: config.config.env.or_else(|| Some(vec![format!("PATH={PATH}")])),
                entrypoint: Some(vec![ENTRYPOINT.to_owned()]),
                cmd: None,
                working_dir: "/".to_owned(),
                labels,
            },
            rootfs: RootFs { diff_ids, ..RootFs::default() },
            history,
        };
        layers.push(layer.descriptor.clone());
        blobs.insert(layer.descriptor.digest, layer.content);
        let (config, content) = document(CONFIG, &config);
        blobs.insert(config.digest.clone(), content);
        let manifest = Manifest {
            schema_version: 2,
            media_type: MANIFEST.to_owned(),
            config,
            layers,
            annotations: self.labels.clone(),
        };
        let (root, content) = document(MANIFEST, &manifest);
        blobs.insert(root.digest.clone(), content);
        Ok(Image::new(root, blobs)?)
    }

    /// What is below all operators alike comes from a base, if there is one.
    fn layer(&self, program: &Executable, on_base: bool) -> Layer {
        let mut layer =
            Layer::default().file(ENTRYPOINT.trim_start_matches('/'), 0o755, program.content().clone());
        let certificates = match (&self.certificates, on_base) {
            (Certificates::None, _) | (Certificates::Bundled, true) => None,
            (Certificates::Bundled, false) => Some(bundled_certificates()),
            (Certificates::Pem(pem), _) => Some(pem.clone()),
        };
        if !on_base {
            layer = layer
                .folder("etc", 0o755, 0)
                .file("etc/passwd", 0o644, PASSWD)
                .file("etc/group", 0o644, GROUP)
                // Without it, a statically linked glibc asks DNS before it reads /etc/hosts.
                .file("etc/nsswitch.conf", 0o644, "hosts: files dns\n")
                .folder("home", 0o755, 0)
                .folder("home/nonroot", 0o700, NONROOT)
                .folder("tmp", 0o1777, 0);
        }
        if let Some(certificates) = certificates {
            layer = layer
                .folder("etc", 0o755, 0)
                .folder("etc/ssl", 0o755, 0)
                .folder("etc/ssl/certs", 0o755, 0)
                .file(CERTIFICATES, 0o644, certificates);
        }
        layer
    }
}

const PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

const PASSWD: &str =
    "root:x:0:0:root:/root:/sbin/nologin\nnonroot:x:65532:65532:nonroot:/home/nonroot:/sbin/nologin\n";

const GROUP: &str = "root:x:0:\nnonroot:x:65532:\n";

/// Mozilla's authorities in PEM. Sorted, so that a new edition of the list with the same authorities is the same file.
fn bundled_certificates() -> Bytes {
    let authorities: BTreeSet<&[u8]> =
        webpki_root_certs::TLS_SERVER_ROOT_CERTS.iter().map(AsRef::as_ref).collect();
    let mut pem = String::new();
    for authority in authorities {
        pem.push_str("-----BEGIN CERTIFICATE-----\n");
        let text = BASE64_STANDARD.encode(authority);
        // Base64 is ASCII: every 64 bytes are 64 characters.
        let mut rest = text.as_str();
        while !rest.is_empty() {
            let (line, more) = rest.split_at(rest.len().min(64));
            pem.push_str(line);
            pem.push('\n');
            rest = more;
        }
        pem.push_str("-----END CERTIFICATE-----\n");
    }
    Bytes::from(pem)
}

/// The time in words, or the first one for a time beyond the calendar.
fn rfc3339(seconds: u64) -> String {
    let time = i64::try_from(seconds).ok().and_then(|seconds| jiff::Timestamp::from_second(seconds).ok());
    time.unwrap_or(jiff::Timestamp::UNIX_EPOCH).to_string()
}
