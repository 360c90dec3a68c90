//! One version of a kind, as its Rust type, the markers on it and its native attributes say.

use serde_json::{Map, Value, json};

use super::{
    names::Names,
    root,
    statement::{Statement, agreed, quoted, said_by},
};
use crate::{
    Style,
    diagnostic::{Diagnostic, Place, Severity},
    schema::Origin,
};

/// One version of a kind.
#[derive(Debug)]
pub(super) struct Version {
    pub(super) group: String,
    pub(super) kind: String,
    pub(super) name: String,
    /// The type whose doc comment speaks for the kind, as its schema names it.
    pub(super) type_name: String,
    /// The structural schema.
    pub(super) schema: Value,
    pub(super) names: Names,
    /// Where a marker says that it is stored.
    pub(super) storage: Option<Place>,
    /// Whether the native attribute says that it is stored; none if there is no such attribute.
    pub(super) native_storage: Option<bool>,
    pub(super) unserved: bool,
    pub(super) skipped: bool,
    pub(super) deprecated: bool,
    pub(super) deprecation_warning: Vec<Statement<String>>,
    pub(super) status: bool,
    pub(super) scale: Vec<Statement<Value>>,
    pub(super) columns: Vec<Statement<Value>>,
    pub(super) selectable_fields: Vec<Statement<Value>>,
}

// === impl Version ===

impl Version {
    pub(super) fn new(group: &str, kind: &str, name: &str, type_name: String, schema: Value) -> Self {
        Self {
            group: group.to_owned(),
            kind: kind.to_owned(),
            name: name.to_owned(),
            type_name,
            schema,
            names: Names::default(),
            storage: None,
            native_storage: None,
            unserved: false,
            skipped: false,
            deprecated: false,
            deprecation_warning: Vec::new(),
            status: false,
            scale: Vec::new(),
            columns: Vec::new(),
            selectable_fields: Vec::new(),
        }
    }

    /// The type itself, for what no marker says.
    pub(super) fn place(&self) -> Place {
        Place::Doc { type_name: self.type_name.clone(), field: None, marker: String::new(), range: 0..0 }
    }

    /// The version as it stands in a definition.
    pub(super) fn to_value(&self, is_stored: bool, style: Style, diagnostics: &mut Vec<Diagnostic>) -> Value {
        let mut version = Map::new();
        version.insert("name".to_owned(), self.name.as_str().into());
        version.insert("served".to_owned(), (!self.unserved).into());
        version.insert("storage".to_owned(), is_stored.into());
        if self.deprecated {
            version.insert("deprecated".to_owned(), true.into());
        }
        let warning =
            agreed("the deprecation warning", &self.deprecation_warning, |text| quoted(text), diagnostics);
        if let Some(warning) = warning {
            version.insert("deprecationWarning".to_owned(), warning.into());
        }
        version.insert("schema".to_owned(), json!({"openAPIV3Schema": self.schema}));
        for (key, list) in [
            ("additionalPrinterColumns", self.columns(diagnostics)),
            ("selectableFields", values(&without_repetition(&self.selectable_fields))),
        ] {
            if !list.is_empty() {
                version.insert(key.to_owned(), list.into());
            }
        }
        if let Some(subresources) = self.subresources(style, diagnostics) {
            version.insert("subresources".to_owned(), subresources);
        }
        version.into()
    }

    /// Where the parts of the version come from, in a document in which it is the version `index`. `schema` is where the
    /// parts of the schema come from.
    pub(super) fn origins(&self, index: usize, schema: Vec<Origin>) -> Vec<Origin> {
        let at = format!("spec.versions[{index}]");
        let own = [
            (without_repetition(&self.columns), "additionalPrinterColumns"),
            (without_repetition(&self.selectable_fields), "selectableFields"),
        ];
        let own = own.into_iter().flat_map(|(list, key)| {
            list.into_iter().enumerate().map(move |(index, statement)| (statement, format!("{key}[{index}]")))
        });
        let scale = self.scale.first().map(|scale| (scale, "subresources.scale".to_owned()));
        let own = own.chain(scale).filter_map(|(statement, keyword)| match &statement.place {
            Place::Doc { type_name, field, marker, .. } => Some(Origin {
                path: at.clone(),
                keyword,
                type_name: type_name.clone(),
                field: field.clone(),
                marker: marker.clone(),
            }),
            _ => None,
        });
        let root = format!("{at}.schema.openAPIV3Schema");
        let below = |path: &str| if path.is_empty() { root.clone() } else { format!("{root}.{path}") };
        let schema = schema
            .into_iter()
            .filter(|origin| !root::replaces(&origin.path))
            .map(|origin| Origin { path: below(&origin.path), ..origin });
        own.chain(schema).collect()
    }

    fn subresources(&self, style: Style, diagnostics: &mut Vec<Diagnostic>) -> Option<Value> {
        let mut subresources = Map::new();
        // A status that is written with the rest of the object is of no use: the field means the subresource. For
        // controller-gen only the marker does.
        let has_field = style == Style::Kubewright && self.schema.pointer("/properties/status").is_some();
        if self.status || has_field {
            subresources.insert("status".to_owned(), json!({}));
        }
        let shown = |scale: &Value| scale.to_string();
        if let Some(scale) = agreed("the scale subresource", &self.scale, shown, diagnostics) {
            subresources.insert("scale".to_owned(), scale);
        }
        // controller-gen makes room for subresources when it sees a printer column.
        let has_room = style == Style::ControllerGen && !self.columns.is_empty();
        (!subresources.is_empty() || has_room).then(|| subresources.into())
    }

    /// The columns in the order of the markers, then those of the native attributes that no marker repeats.
    fn columns(&self, diagnostics: &mut Vec<Diagnostic>) -> Vec<Value> {
        for (index, column) in self.columns.iter().enumerate() {
            let name = &column.value["name"];
            let other = self.columns[..index].iter().find(|other| {
                other.value["name"] == *name && other.value != column.value && other.place != column.place
            });
            if let Some(other) = other {
                diagnostics.push(Diagnostic {
                    severity: Severity::Error,
                    code: "contradiction".to_owned(),
                    message: format!(
                        "the column {name} is {} here, but {} {}",
                        column.value,
                        other.value,
                        said_by(&other.place),
                    ),
                    place: column.place.clone(),
                    help: vec!["give one of the columns another name, or take one away".to_owned()],
                });
            }
        }
        values(&without_repetition(&self.columns))
    }
}

/// The first statement of each value.
fn without_repetition(statements: &[Statement<Value>]) -> Vec<&Statement<Value>> {
    let mut first = Vec::<&Statement<Value>>::new();
    for statement in statements {
        if !first.iter().any(|other| other.value == statement.value) {
            first.push(statement);
        }
    }
    first
}

fn values(statements: &[&Statement<Value>]) -> Vec<Value> {
    statements.iter().map(|statement| statement.value.clone()).collect()
}
