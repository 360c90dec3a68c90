//! Builds a kustomization into its objects, as `kubectl kustomize` does, offline and in process.
//!
//! ```
//! use kubewright_kustomize::{Builder, Memory};
//!
//! let files = Memory::from_iter([
//!     ("base/kustomization.yaml", "resources: [config.yaml]\nnamePrefix: dev-\n"),
//!     ("base/config.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings}\n"),
//! ]);
//! let built = Builder::new(files).namespace("team-a").build("base")?;
//! assert_eq!(built.to_yaml(), "\
//! apiVersion: v1
//! kind: ConfigMap
//! metadata:
//!   name: dev-settings
//!   namespace: team-a
//! ");
//! # Ok::<_, kubewright_kustomize::Error>(())
//! ```
//!
//! [`Disk`] reads from the file system. No file is ever written: what `kustomize edit` would change is said to the
//! [`Builder`] instead.
//!
//! What comes out is what kustomize 5.8 puts out, byte for byte, also where that is strange; its tests compare with
//! kubectl. These are not supported, and refused by name: files and folders of the network, Helm charts, `generators`,
//! `transformers` and `validators` (which run plugins), schemas of one's own in `openapi`, and replacements within YAML
//! that is the text of a field (within JSON they are). Refused is also what kustomize takes by chance: a key that stands
//! twice in an object or a patch, or is no string, and a text in place of a number within JSON.
//!
//! This crate imports none of ours but the one that writes YAML. Start reading at `build.rs`, which is the way from
//! a folder to its objects; then:
//!
//! | module | idea |
//! |---|---|
//! | `source`, `folder` | where files come from, and which of them a kustomization may read |
//! | `kustomization` | the fields of its file |
//! | `node` | YAML as kustomize works on it |
//! | `resource`, `objects`, `id` | objects, and who they are and were |
//! | `config`, `kinds` | the tables: which fields are names, labels, images; how lists are merged |
//! | `field_spec`, `selector` | choosing fields, and objects |
//! | `generate` | ConfigMaps and Secrets |
//! | `transform`, `merge` | what is done to objects |
//! | `names`, `order`, `origin` | what is done at the end |

mod build;
mod config;
mod error;
mod field_spec;
mod folder;
mod generate;
mod id;
mod json;
mod kinds;
mod kustomization;
mod merge;
mod names;
mod node;
mod objects;
mod order;
mod origin;
mod resource;
mod selector;
mod source;
mod transform;

pub use build::{Builder, Built};
pub use error::{Error, Problem};
pub use source::{Disk, Found, Memory, Source};
