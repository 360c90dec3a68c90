//! The Rust type of a version, and everything that is read from it.

use std::{
    any::{Any, TypeId},
    borrow::Cow,
    panic::{AssertUnwindSafe, catch_unwind},
};

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube_core::{CustomResourceExt, Resource, object::HasSpec};
use schemars::JsonSchema;

use super::{
    CrdOptions, conversion::ConversionWebhook, markers, native, root, statement::Statement, version::Version,
};
use crate::{
    diagnostic::{Diagnostic, Severity},
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
            Some(Err(panic)) => diagnostics.push(derive_panicked(&*panic, &self.kind, &version)),
        }
        (version, compiled.origins)
    }
}

/// kube's derive makes a schema of its own when it is asked for the rest, and panics on types that it has no schema for,
/// internally tagged enums among them.
fn derive_panicked(panic: &(dyn Any + Send), kind: &str, version: &Version) -> Diagnostic {
    let text = panic.downcast_ref::<String>().map(String::as_str).or_else(|| panic.downcast_ref().copied());
    Diagnostic {
        severity: Severity::Error,
        code: "derive-panicked".to_owned(),
        message: format!("`{kind}::crd()` of kube's derive panicked: {}", text.unwrap_or("no reason given")),
        place: version.place(),
        help: vec![
            "write `schema = \"disabled\", derive = \"JsonSchema\"` in `#[kube(..)]`, so that kube makes no schema; the \
             one that is used here is not kube's"
                .to_owned(),
        ],
    }
}
