//! The Rust type of a version, and everything that is read from it.

use std::{
    any::{Any, TypeId},
    borrow::Cow,
    panic::{AssertUnwindSafe, catch_unwind},
};

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube_core::{CustomResourceExt, Resource, object::HasSpec, schema::StructuralSchemaRewriter};
use schemars::{JsonSchema, Schema, transform::Transform};
use serde_json::{Map, Value};

use super::{
    CrdOptions, conversion::ConversionWebhook, markers, native, root, statement::Statement, version::Version,
};
use crate::{
    diagnostic::{Diagnostic, Place},
    schema::{self, KindMarker, Origin},
};

/// A Rust type for a kind that the operator itself defines: what `#[derive(CustomResource)]` makes.
///
/// It is implemented for every type that fits.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a custom resource with a schema",
    note = "name the kind (`Memcached`), not its spec (`MemcachedSpec`)",
    note = "the spec, the status and all types below derive `JsonSchema`",
    note = "for a kind with `#[kube(schema = \"disabled\")]`, add `derive = \"JsonSchema\"` to the attribute"
)]
pub trait DerivedKind:
    CustomResourceExt + Resource<DynamicType = ()> + HasSpec<Spec: JsonSchema> + JsonSchema + 'static
{
}

impl<K> DerivedKind for K where
    K: CustomResourceExt + Resource<DynamicType = ()> + HasSpec<Spec: JsonSchema> + JsonSchema + 'static
{
}

/// The Rust type of a version. It holds functions, because a schema takes a moment and is often not asked for.
#[derive(Clone)]
pub(super) struct Source {
    pub(super) version: String,
    pub(super) rust_type: TypeId,
    pub(super) rust_name: &'static str,
    /// The kind as the type itself has it.
    group: String,
    kind: String,
    compile: fn(&schema::Options) -> schema::Compiled,
    /// The type that the derive was put on, which speaks for the kind.
    spec: Option<fn(&schema::Options) -> schema::Compiled>,
    /// The name of the type that speaks for the kind, as its schema has it.
    type_name: fn() -> Cow<'static, str>,
    native: Option<fn() -> CustomResourceDefinition>,
    /// The schemas of all types below, each without those it refers to.
    definitions: fn() -> Map<String, Value>,
}

// === impl Source ===

impl Source {
    /// A kind that kube's derive made.
    pub(super) fn derived<K: DerivedKind>() -> Self {
        Self {
            version: K::version(&()).into_owned(),
            rust_type: TypeId::of::<K>(),
            rust_name: std::any::type_name::<K>(),
            group: K::group(&()).into_owned(),
            kind: K::kind(&()).into_owned(),
            compile: schema::compile::<K>,
            spec: Some(schema::compile::<K::Spec>),
            type_name: K::Spec::schema_name,
            native: Some(K::crd),
            definitions: schema::definitions::<K>,
        }
    }

    /// A kind whose root type is written by hand.
    pub(super) fn root<T: JsonSchema + 'static>(group: &str, version: String, kind: &str) -> Self {
        Self {
            version,
            rust_type: TypeId::of::<T>(),
            rust_name: std::any::type_name::<T>(),
            group: group.to_owned(),
            kind: kind.to_owned(),
            compile: schema::compile::<T>,
            spec: None,
            type_name: T::schema_name,
            native: None,
            definitions: schema::definitions::<T>,
        }
    }

    /// Reads everything that the type, its markers and its attributes say.
    pub(super) fn read(
        &self,
        options: &CrdOptions,
        conversion: &mut Vec<Statement<ConversionWebhook>>,
        diagnostics: &mut Vec<Diagnostic>,
    ) -> (Version, Vec<Origin>) {
        let mut compiled = (self.compile)(&options.schema);
        if let Some(schema) = compiled.schema.as_object_mut() {
            root::complete(schema, &options.schema);
        }
        diagnostics.append(&mut compiled.diagnostics);
        // With `#[kube(no_spec)]` the fields of the spec are those of the root, and its doc comment is lost.
        if let Some(spec) = self.spec
            && compiled.schema.pointer("/properties/spec").is_none()
        {
            compiled.kind_markers.extend(spec(&options.schema).kind_markers);
        }
        let type_name = (self.type_name)().into_owned();
        let mut version = Version::new(&self.group, &self.kind, &self.version, type_name, compiled.schema);
        for KindMarker { type_name, marker, .. } in &compiled.kind_markers {
            markers::apply(marker, type_name, &mut version, conversion, diagnostics);
        }
        match self.native.map(|definition| catch_unwind(AssertUnwindSafe(definition))) {
            None => {}
            Some(Ok(definition)) => native::apply(definition, &mut version),
            Some(Err(panic)) => diagnostics.push(self.derive_panicked(&*panic, &version)),
        }
        (version, compiled.origins)
    }

    /// kube's derive makes a schema of its own when it is asked for the rest, and panics on types that it has no schema for,
    /// internally tagged enums among them.
    fn derive_panicked(&self, panic: &(dyn Any + Send), version: &Version) -> Diagnostic {
        let reason =
            panic.downcast_ref::<String>().map(String::as_str).or_else(|| panic.downcast_ref().copied());
        let reason = reason.unwrap_or("it gave no reason");
        let kind = &self.kind;
        let (message, place) = match self.panicking_type() {
            Some(name) => {
                let place =
                    Place::Doc { type_name: name.clone(), field: None, marker: String::new(), range: 0..0 };
                (format!("kube's derive of {kind} has no schema for `{name}` and panics: {reason}"), place)
            }
            None => (format!("`{kind}::crd()` of kube's derive panicked: {reason}"), version.place()),
        };
        Diagnostic::error("derive-panicked", message, place).with_help(format!(
            "write `schema = \"disabled\", derive = \"JsonSchema\"` in the `#[kube(..)]` of {kind}, so that kube makes no \
             schema; the one that is used here is not kube's"
        ))
    }

    /// The first type on whose schema alone kube's derive panics.
    fn panicking_type(&self) -> Option<String> {
        (self.definitions)().into_iter().find_map(|(name, schema)| {
            let mut schema = Schema::try_from(schema).ok()?;
            let rewrite = AssertUnwindSafe(|| StructuralSchemaRewriter.transform(&mut schema));
            catch_unwind(rewrite).is_err().then_some(name)
        })
    }
}
