//! What the attributes of a type, field or variant say about its schema.

use syn::{Attribute, Expr, ExprLit, Lit, Meta, Token, punctuated::Punctuated};

use super::json_name::RenameRule;

/// What the attributes say.
#[derive(Clone, Debug, Default)]
pub(super) struct Attributes {
    /// The last parts of the traits that are derived.
    pub(super) derives: Vec<String>,
    /// The name in JSON, or that of the schema.
    pub(super) rename: Option<String>,
    pub(super) rename_all: RenameRule,
    pub(super) rename_all_fields: RenameRule,
    /// Whether serde leaves it out.
    pub(super) is_skipped: bool,
    /// Whether its fields are those of what is around it.
    pub(super) is_flattened: bool,
    /// Whether the schema is that of another type.
    pub(super) has_other_schema: bool,
    /// Whether another description stands in place of the doc comment.
    pub(super) has_description: bool,
    /// Whether the type is the root of a kind, or the spec of one: `kube(kind = "..", root = "..")`.
    pub(super) kinds: Vec<String>,
    /// Whether there are attributes that may be macros, which can do anything.
    pub(super) has_unknown: bool,
}

/// Attributes of the language and of the derives that are known; the rest may be macros.
const KNOWN: &[&str] = &[
    "allow",
    "builder",
    "cfg",
    "cfg_attr",
    "default",
    "deny",
    "deprecated",
    "derive",
    "doc",
    "educate",
    "expect",
    "forbid",
    "garde",
    "kube",
    "must_use",
    "non_exhaustive",
    "repr",
    "schemars",
    "serde",
    "validate",
    "warn",
    "x_kube",
];

// === impl Attributes ===

impl Attributes {
    pub(super) fn read(attributes: &[Attribute]) -> Self {
        let mut read = Self::default();
        for attribute in attributes {
            read.meta(&attribute.meta, 0);
        }
        read
    }

    fn meta(&mut self, meta: &Meta, depth: usize) {
        let name = last(meta.path());
        self.has_unknown |= !KNOWN.contains(&name.as_str());
        let Meta::List(list) = meta else { return };
        let Ok(parts) = list.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated) else {
            // `#[kube(printcolumn = r#".."#)]` and the like parse; what does not is for another macro to refuse.
            return;
        };
        match name.as_str() {
            "derive" => self.derives.extend(parts.iter().map(|part| last(part.path()))),
            // The condition, and then attributes.
            "cfg_attr" if depth < 8 => parts.iter().skip(1).for_each(|part| self.meta(part, depth + 1)),
            "serde" | "schemars" => {
                let is_schemars = name == "schemars";
                parts.iter().for_each(|part| self.option(part, is_schemars));
            }
            "kube" => {
                for part in &parts {
                    if matches!(last(part.path()).as_str(), "kind" | "root") {
                        self.kinds.extend(text(part));
                    }
                }
            }
            _ => {}
        }
    }

    fn option(&mut self, option: &Meta, is_schemars: bool) {
        match last(option.path()).as_str() {
            // schemars' own attributes win over those of serde.
            "rename" if is_schemars || self.rename.is_none() => self.rename = text_for_reading(option),
            "rename_all" => self.rename_all = rule(option).unwrap_or(self.rename_all),
            "rename_all_fields" => self.rename_all_fields = rule(option).unwrap_or(self.rename_all_fields),
            "skip" | "skip_deserializing" => self.is_skipped = true,
            "flatten" => self.is_flattened = true,
            "with" | "schema_with" if is_schemars => self.has_other_schema = true,
            "with" | "deserialize_with" | "from" | "try_from" | "remote" => self.has_other_schema = true,
            "description" if is_schemars => self.has_description = true,
            _ => {}
        }
    }

    /// Whether the schema comes from a derive, which reads doc comments.
    pub(super) fn derives_schema(&self) -> bool {
        let known = ["JsonSchema", "JsonSchema_repr", "KubeSchema"];
        self.derives.iter().any(|derived| known.contains(&derived.as_str()))
    }
}

fn last(path: &syn::Path) -> String {
    path.segments.last().map(|segment| segment.ident.to_string()).unwrap_or_default()
}

fn rule(option: &Meta) -> Option<RenameRule> {
    Some(RenameRule::named(&text_for_reading(option)?))
}

/// The text of `name = ".."`, or of `name(deserialize = "..")`: CRDs describe what is read.
fn text_for_reading(option: &Meta) -> Option<String> {
    let Meta::List(list) = option else { return text(option) };
    let parts = list.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated).ok()?;
    parts.iter().find(|part| part.path().is_ident("deserialize")).and_then(text)
}

fn text(option: &Meta) -> Option<String> {
    match option {
        Meta::NameValue(pair) => match &pair.value {
            Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Some(text.value()),
            _ => None,
        },
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Attributes {
        let item: syn::ItemStruct = syn::parse_str(&format!("{text} struct A;")).unwrap();
        Attributes::read(&item.attrs)
    }

    #[test]
    fn derives_are_found() {
        assert!(of("#[derive(Clone, schemars::JsonSchema)]").derives_schema());
        assert!(of("#[cfg_attr(feature = \"a\", derive(KubeSchema))]").derives_schema());
        assert!(!of("#[derive(Clone)]").derives_schema());
    }

    #[test]
    fn names_are_those_of_reading() {
        assert_eq!(of("#[serde(rename = \"b\")]").rename.as_deref(), Some("b"));
        assert_eq!(
            of("#[serde(rename(serialize = \"a\", deserialize = \"b\"))]").rename.as_deref(),
            Some("b")
        );
        assert_eq!(of("#[serde(rename = \"a\")] #[schemars(rename = \"b\")]").rename.as_deref(), Some("b"));
        assert_eq!(of("#[schemars(rename = \"b\")] #[serde(rename = \"a\")]").rename.as_deref(), Some("b"));
        assert_eq!(of("#[serde(rename_all = \"camelCase\", default)]").rename_all, RenameRule::Camel);
        assert_eq!(of("#[serde(rename_all(deserialize = \"camelCase\"))]").rename_all, RenameRule::Camel);
    }

    #[test]
    fn other_macros_are_noticed() {
        assert!(of("#[my::resource]").has_unknown);
        assert!(!of("#[serde(skip)] #[doc = \"a\"] #[kube(kind = \"A\")]").has_unknown);
        assert_eq!(of("#[kube(group = \"a\", kind = \"A\", printcolumn = r#\"{}\"#)]").kinds, ["A"]);
    }
}
