//! What comments can stand on: the items of a file, their fields and variants.

use std::ops::Range;

use syn::{Attribute, Block, Fields, ImplItem, Item, Stmt, TraitItem, Type, spanned::Spanned};

use super::{attributes::Attributes, json_name::RenameRule, lexer::without_prologue};

/// Something that a comment can stand on.
#[derive(Clone, Debug)]
pub(super) struct Subject {
    pub(super) kind: SubjectKind,
    /// The bytes from its first attribute to its end.
    pub(super) range: Range<usize>,
    /// The bytes of its name; those of its beginning if it has none.
    pub(super) name: Range<usize>,
    /// Where its doc comments begin.
    pub(super) docs: Vec<usize>,
    pub(super) attributes: Attributes,
}

/// A kind of thing that a comment can stand on.
#[derive(Clone, Debug)]
pub(super) enum SubjectKind {
    /// A struct or an enum.
    Type(TypeSubject),
    /// A field of a struct or of a struct variant.
    Field(FieldSubject),
    /// A variant of an enum.
    Variant { of: String, json: String },
    /// A module with its body.
    Module,
    /// A macro call: what is inside is for the macro to say.
    Macro,
    /// A type alias.
    Alias,
    /// Anything else, for people: `a function`.
    Code(&'static str),
}

/// A struct or an enum.
#[derive(Clone, Debug)]
pub(super) struct TypeSubject {
    /// The name of its schema.
    pub(super) schema: String,
    /// Whether it speaks for a kind: it is the spec of a custom resource, or a hand-written root.
    pub(super) is_kind: bool,
    pub(super) shape: Option<Shape>,
}

/// A field.
#[derive(Clone, Debug)]
pub(super) struct FieldSubject {
    /// The schema of the type it is in.
    pub(super) of: String,
    /// Its name in JSON; empty if the field has no name in Rust.
    pub(super) json: String,
    pub(super) is_unnamed: bool,
    /// Whether the type around it derives its schema.
    pub(super) has_schema: bool,
    pub(super) shape: Option<Shape>,
    /// The last name of its type, without what may be around it; none if it has no name.
    pub(super) type_name: Option<String>,
}

/// What a Rust type becomes in JSON, where its name tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    Text,
    Whole,
    Number,
    Bool,
    List,
    Map,
    Object,
}

/// The subjects of a file, each before those inside of it.
///
/// # Errors
///
/// Text that is not Rust.
pub(super) fn subjects(text: &str) -> Result<Vec<Subject>, syn::Error> {
    let file = syn::parse_file(&without_prologue(text))?;
    let mut finder = Finder { found: Vec::new() };
    for item in &file.items {
        finder.item(item, 0);
    }
    let mut found = finder.found;
    mark_roots(&file.items, &mut found);
    Ok(found)
}

/// What a type is made of.
enum Data<'d> {
    Struct(&'d Fields),
    Enum(&'d syn::ItemEnum),
}

// === impl Data ===

impl Data<'_> {
    /// What a type becomes in JSON, if that is beyond doubt.
    fn shape(&self) -> Option<Shape> {
        match self {
            Self::Struct(Fields::Named(_)) => Some(Shape::Object),
            Self::Struct(Fields::Unnamed(fields)) if fields.unnamed.len() == 1 => {
                let field = fields.unnamed.first()?;
                if Attributes::read(&field.attrs).has_other_schema { None } else { shape_of(&field.ty, 0) }
            }
            Self::Struct(_) => None,
            Self::Enum(item) => {
                let is_text = item.variants.iter().all(|variant| matches!(variant.fields, Fields::Unit));
                (is_text && !item.variants.is_empty()).then_some(Shape::Text)
            }
        }
    }
}

/// How deep items are looked for inside of each other.
const MAX_DEPTH: usize = 64;

struct Finder {
    found: Vec<Subject>,
}

// === impl Finder ===

impl Finder {
    fn add(
        &mut self,
        kind: SubjectKind,
        attributes: &[Attribute],
        whole: &impl Spanned,
        name: Option<&syn::Ident>,
    ) {
        let range = whole.span().byte_range();
        self.found.push(Subject {
            kind,
            name: name.map_or(range.start..(range.start + 1).min(range.end), |name| name.span().byte_range()),
            docs: attributes
                .iter()
                .filter(|attribute| attribute.path().is_ident("doc"))
                .map(|attribute| attribute.span().byte_range().start)
                .collect(),
            attributes: Attributes::read(attributes),
            range,
        });
    }

    fn item(&mut self, item: &Item, depth: usize) {
        if depth > MAX_DEPTH {
            return;
        }
        let code = SubjectKind::Code;
        match item {
            Item::Struct(item) => {
                let schema =
                    self.a_type(&item.ident, &item.attrs, &item.generics, item, &Data::Struct(&item.fields));
                let attributes = Attributes::read(&item.attrs);
                self.fields(&item.fields, &schema, &attributes, attributes.rename_all);
            }
            Item::Enum(item) => {
                let schema = self.a_type(&item.ident, &item.attrs, &item.generics, item, &Data::Enum(item));
                let attributes = Attributes::read(&item.attrs);
                for variant in &item.variants {
                    let own = Attributes::read(&variant.attrs);
                    let name = unraw(&variant.ident);
                    let json = own.rename.clone().unwrap_or_else(|| attributes.rename_all.variant(&name));
                    let kind = SubjectKind::Variant { of: schema.clone(), json };
                    self.add(kind, &variant.attrs, variant, Some(&variant.ident));
                    let rule = match own.rename_all {
                        RenameRule::None => attributes.rename_all_fields,
                        rule => rule,
                    };
                    self.fields(&variant.fields, &schema, &attributes, rule);
                }
            }
            Item::Mod(item) => {
                self.add(SubjectKind::Module, &item.attrs, item, Some(&item.ident));
                for inner in item.content.iter().flat_map(|(_, items)| items) {
                    self.item(inner, depth + 1);
                }
            }
            Item::Impl(item) => {
                self.add(code("an `impl`"), &item.attrs, item, None);
                for inner in &item.items {
                    match inner {
                        ImplItem::Fn(inner) => {
                            self.add(code("a function"), &inner.attrs, inner, Some(&inner.sig.ident));
                            self.block(&inner.block, depth + 1);
                        }
                        ImplItem::Const(inner) => {
                            self.add(code("a constant"), &inner.attrs, inner, Some(&inner.ident));
                        }
                        ImplItem::Type(inner) => {
                            self.add(code("an associated type"), &inner.attrs, inner, Some(&inner.ident));
                        }
                        ImplItem::Macro(inner) => self.add(SubjectKind::Macro, &inner.attrs, inner, None),
                        other => self.add(code("an item"), &[], other, None),
                    }
                }
            }
            Item::Trait(item) => {
                self.add(code("a trait"), &item.attrs, item, Some(&item.ident));
                for inner in &item.items {
                    match inner {
                        TraitItem::Fn(inner) => {
                            self.add(code("a function"), &inner.attrs, inner, Some(&inner.sig.ident));
                        }
                        TraitItem::Macro(inner) => self.add(SubjectKind::Macro, &inner.attrs, inner, None),
                        other => self.add(code("an item"), &[], other, None),
                    }
                }
            }
            Item::Fn(item) => {
                self.add(code("a function"), &item.attrs, item, Some(&item.sig.ident));
                self.block(&item.block, depth + 1);
            }
            Item::Macro(item) => self.add(SubjectKind::Macro, &item.attrs, item, None),
            Item::Type(item) => self.add(SubjectKind::Alias, &item.attrs, item, Some(&item.ident)),
            Item::Const(item) => self.add(code("a constant"), &item.attrs, item, Some(&item.ident)),
            Item::Static(item) => self.add(code("a static"), &item.attrs, item, Some(&item.ident)),
            Item::Union(item) => self.add(code("a union"), &item.attrs, item, Some(&item.ident)),
            Item::Use(item) => self.add(code("a `use`"), &item.attrs, item, None),
            Item::ExternCrate(item) => self.add(code("an `extern crate`"), &item.attrs, item, None),
            Item::ForeignMod(item) => self.add(code("an `extern` block"), &item.attrs, item, None),
            other => self.add(code("an item"), &[], other, None),
        }
    }

    /// The items of a function's body.
    fn block(&mut self, block: &Block, depth: usize) {
        for statement in &block.stmts {
            match statement {
                Stmt::Item(item) => self.item(item, depth),
                Stmt::Macro(call) => self.add(SubjectKind::Macro, &call.attrs, call, None),
                _ => {}
            }
        }
    }

    /// Adds a type, and gives the name of its schema.
    fn a_type(
        &mut self,
        ident: &syn::Ident,
        attributes: &[Attribute],
        generics: &syn::Generics,
        whole: &impl Spanned,
        data: &Data<'_>,
    ) -> String {
        let read = Attributes::read(attributes);
        let has_metadata = match data {
            Data::Struct(fields) => {
                fields.iter().any(|field| field.ident.as_ref().is_some_and(|name| name == "metadata"))
            }
            Data::Enum(_) => false,
        };
        let is_number = read.derives.iter().any(|derived| derived.ends_with("_repr"));
        let shape = if read.has_other_schema || is_number { None } else { data.shape() };
        // A generic type may be renamed by a format: what is before the first parameter is enough to find it.
        let rename = read.rename.as_deref().map(|name| match generics.params.is_empty() {
            true => name,
            false => name.split('{').next().unwrap_or_default(),
        });
        let schema = rename.map_or_else(|| unraw(ident), str::to_owned);
        let is_kind = read.derives.iter().any(|derived| derived == "CustomResource") || has_metadata;
        self.add(
            SubjectKind::Type(TypeSubject { schema: schema.clone(), is_kind, shape }),
            attributes,
            whole,
            Some(ident),
        );
        schema
    }

    fn fields(&mut self, fields: &Fields, of: &str, around: &Attributes, rule: RenameRule) {
        for field in fields {
            let own = Attributes::read(&field.attrs);
            let name = field.ident.as_ref().map(unraw);
            let json = own.rename.clone().or_else(|| Some(rule.field(name.as_deref()?))).unwrap_or_default();
            let shape = if own.has_other_schema { None } else { shape_of(&field.ty, 0) };
            let kind = SubjectKind::Field(FieldSubject {
                of: of.to_owned(),
                json,
                is_unnamed: field.ident.is_none(),
                has_schema: around.derives_schema() || around.has_unknown,
                shape,
                type_name: name_of(&field.ty, 0),
            });
            self.add(kind, &field.attrs, field, field.ident.as_ref());
        }
    }
}

// === impl Subject ===

impl Subject {
    pub(super) fn contains(&self, range: &Range<usize>) -> bool {
        self.range.start <= range.start && range.end <= self.range.end
    }
}

/// The name without the `r#` that lets it be a keyword.
fn unraw(ident: &syn::Ident) -> String {
    let name = ident.to_string();
    name.strip_prefix("r#").map_or(name.clone(), str::to_owned)
}

/// Types for which `Resource` is implemented by hand are roots of kinds.
fn mark_roots(items: &[Item], found: &mut [Subject]) {
    for item in items {
        let Item::Impl(item) = item else { continue };
        let of_trait = item.trait_.as_ref().and_then(|(path, ..)| path.segments.last());
        let is_resource =
            of_trait.is_some_and(|name| name.ident == "Resource" || name.ident == "CustomResourceExt");
        let Type::Path(of) = &*item.self_ty else { continue };
        let Some(name) = of.path.segments.last().filter(|_| is_resource) else { continue };
        for subject in &mut *found {
            if let SubjectKind::Type(subject) = &mut subject.kind
                && name.ident == subject.schema
            {
                subject.is_kind = true;
            }
        }
    }
}

/// The last name of a type, or of the one in an `Option` or a pointer.
fn name_of(of: &Type, depth: usize) -> Option<String> {
    let Type::Path(path) = of else { return None };
    let last = path.path.segments.last()?;
    match (&last.arguments, last.ident.to_string().as_str()) {
        (syn::PathArguments::AngleBracketed(arguments), "Option" | "Box" | "Arc" | "Rc") if depth < 8 => {
            match arguments.args.first()? {
                syn::GenericArgument::Type(inner) => name_of(inner, depth + 1),
                _ => None,
            }
        }
        (_, name) => Some(name.strip_prefix("r#").unwrap_or(name).to_owned()),
    }
}

/// What a type becomes in JSON, if its name tells. A type of the same name may be something else, but hardly is.
fn shape_of(of: &Type, depth: usize) -> Option<Shape> {
    let path = match of {
        Type::Path(path) if path.qself.is_none() => &path.path,
        Type::Reference(reference) if depth < 8 => return shape_of(&reference.elem, depth + 1),
        Type::Paren(inner) if depth < 8 => return shape_of(&inner.elem, depth + 1),
        Type::Slice(_) => return Some(Shape::List),
        _ => return None,
    };
    let last = path.segments.last()?;
    let inner = || match &last.arguments {
        syn::PathArguments::AngleBracketed(arguments) => match arguments.args.first()? {
            syn::GenericArgument::Type(inner) => Some(inner),
            _ => None,
        },
        _ => None,
    };
    Some(match last.ident.to_string().as_str() {
        "Option" | "Box" | "Arc" | "Rc" if depth < 8 => return shape_of(inner()?, depth + 1),
        "String" | "str" => Shape::Text,
        "i8" | "i16" | "i32" | "i64" | "i128" | "isize" | "u8" | "u16" | "u32" | "u64" | "u128" | "usize" => {
            Shape::Whole
        }
        "f32" | "f64" => Shape::Number,
        "bool" => Shape::Bool,
        "Vec" | "VecDeque" | "BTreeSet" | "HashSet" => Shape::List,
        "BTreeMap" | "HashMap" => Shape::Map,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_are_those_of_the_file() {
        let text = "\u{feff}#!/usr/bin/env ä\n/// ü\nstruct A {\n    /// ö\n    r#b: Option<u8>,\n}\n";
        let found = subjects(text).unwrap();
        let parts: Vec<(&str, &str)> = found
            .iter()
            .map(|subject| (&text[subject.name.clone()], &text[subject.docs[0]..subject.docs[0] + 4]))
            .collect();
        assert_eq!(parts, [("A", "/// "), ("r#b", "/// ")]);
        let SubjectKind::Field(field) = &found[1].kind else { panic!("a field") };
        assert_eq!((field.json.as_str(), field.shape), ("b", Some(Shape::Whole)));
    }

    #[test]
    fn names_in_json_follow_all_rules() {
        let text = r#"
            #[serde(rename_all = "camelCase")]
            struct A { a_b: u8, #[serde(rename = "x")] c_d: u8 }
            #[serde(rename_all = "kebab-case", rename_all_fields = "camelCase")]
            enum B { C_D { e_f: u8 }, #[serde(rename = "Y", rename_all = "UPPERCASE")] G { h_i: u8 } }
        "#;
        let names: Vec<String> = subjects(text)
            .unwrap()
            .into_iter()
            .filter_map(|subject| match subject.kind {
                SubjectKind::Field(field) => Some(field.json),
                SubjectKind::Variant { json, .. } => Some(json),
                _ => None,
            })
            .collect();
        assert_eq!(names, ["aB", "x", "c--d", "eF", "Y", "H_I"]);
    }

    #[test]
    fn roots_and_specs_speak_for_kinds() {
        let text = "
            #[derive(kube::CustomResource)] struct A;
            struct B { metadata: ObjectMeta }
            struct C; impl kube::Resource for C {}
            struct D; impl Clone for D {}
        ";
        let kinds: Vec<bool> = subjects(text)
            .unwrap()
            .into_iter()
            .filter_map(|subject| match subject.kind {
                SubjectKind::Type(subject) => Some(subject.is_kind),
                _ => None,
            })
            .collect();
        assert_eq!(kinds, [true, true, true, false]);
    }

    #[test]
    fn items_inside_of_others_are_found() {
        let text = "mod a { impl B { fn c() { struct D { e: u8 } } } } trait F { fn g(); }";
        assert_eq!(subjects(text).unwrap().len(), 7);
        assert!(subjects("fn (").is_err());
    }
}
