use std::str::FromStr;

use jiff::Timestamp;
use serde_json::{Map, Value, json};
use thiserror::Error;

use super::built_in::{self, Cells};
use super::object::Object;
use super::{Column, CustomColumn};

/// Shows the objects of one kind as rows of a table.
#[derive(Debug)]
pub struct Printer {
    columns: Vec<Column>,
    source: Source,
}

#[derive(Debug)]
enum Source {
    BuiltIn { api_version: String, kind: String, cells: Cells },
    Custom(Vec<CustomColumn>),
}

/// What a client wants of a table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TableOptions {
    /// How much of each object goes along with its row.
    pub include_object: IncludeObject,
    /// Leave out the columns, as in every event of a watch but the first.
    pub no_headers: bool,
    /// The client asked for `meta.k8s.io/v1beta1` instead of `v1`.
    pub beta: bool,
}

/// How much of an object goes along with its row: the query parameter `includeObject`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum IncludeObject {
    /// Nothing.
    None,
    /// The metadata, as `PartialObjectMetadata`. The default.
    #[default]
    Metadata,
    /// All of it.
    Object,
}

/// The query parameter `includeObject` has a value that is not known.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error(
    "Unable to convert to Table as requested: includeObject: Invalid value: {0:?}: must be 'Metadata', 'Object', \
     'None', or empty"
)]
pub struct IncludeObjectError(String);

// === impl Printer ===

impl Printer {
    /// The table of a built-in kind. A kind that has no columns of its own shows name and creation time.
    #[must_use]
    pub fn built_in(group: &str, version: &str, kind: &str) -> Self {
        let api_version = if group.is_empty() { version.to_owned() } else { format!("{group}/{version}") };
        let source =
            Source::BuiltIn { api_version, kind: kind.to_owned(), cells: built_in::cells(group, kind) };
        Self { columns: Column::built_in(group, version, kind), source }
    }

    /// The table of custom resources: their name and the given columns, or their age if there are none.
    #[must_use]
    pub fn custom(mut columns: Vec<CustomColumn>) -> Self {
        if columns.is_empty() {
            columns.push(CustomColumn::age());
        }
        let headings =
            std::iter::once(Column::name()).chain(columns.iter().map(|custom| custom.column.clone()));
        Self { columns: headings.collect(), source: Source::Custom(columns) }
    }

    /// The columns, in order.
    #[must_use]
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// The cells of an object, one for each column.
    #[must_use]
    pub fn cells(&self, object: &Value, now: Timestamp) -> Vec<Value> {
        match &self.source {
            Source::BuiltIn { cells, .. } => cells(Object::new(object, now)),
            Source::Custom(columns) => {
                let name = Object::new(object, now).name().into();
                std::iter::once(name).chain(columns.iter().map(|column| column.cell(object, now))).collect()
            }
        }
    }

    /// The table of one object: the answer to a `get`, or one event of a watch.
    #[must_use]
    pub fn object_table(&self, object: &Value, options: TableOptions, now: Timestamp) -> Value {
        let version = object.pointer("/metadata/resourceVersion").cloned();
        let metadata: Map<String, Value> =
            version.into_iter().map(|it| ("resourceVersion".into(), it)).collect();
        self.table(metadata.into(), vec![self.row(object, options, now)], options)
    }

    /// The table of a list. `metadata` is the list's own, with its `resourceVersion` and `continue`.
    #[must_use]
    pub fn list_table<'a>(
        &self,
        metadata: Value,
        items: impl IntoIterator<Item = &'a Value>,
        options: TableOptions,
        now: Timestamp,
    ) -> Value {
        self.list_table_of(metadata, items.into_iter().collect(), options, now)
    }

    fn list_table_of(
        &self,
        metadata: Value,
        mut items: Vec<&Value>,
        options: TableOptions,
        now: Timestamp,
    ) -> Value {
        let kind = if let Source::BuiltIn { kind, .. } = &self.source { kind.as_str() } else { "" };
        if kind == "FlowSchema" {
            built_in::sort_flow_schemas(&mut items);
        }
        let default_class =
            if kind == "StorageClass" { built_in::default_storage_class(&items) } else { None };
        let rows = items.into_iter().map(|item| {
            let mut row = self.row(item, options, now);
            if default_class.is_some_and(|default| std::ptr::eq(default, item)) {
                let name = format!("{} (default)", Object::new(item, now).name());
                row["cells"][0] = name.into();
            }
            row
        });
        self.table(metadata, rows.collect(), options)
    }

    fn table(&self, metadata: Value, rows: Vec<Value>, options: TableOptions) -> Value {
        let columns = if options.no_headers { Value::Null } else { json!(self.columns) };
        let mut table = Map::new();
        table.insert("kind".into(), "Table".into());
        table.insert("apiVersion".into(), options.api_version().into());
        table.insert("metadata".into(), metadata);
        table.insert("columnDefinitions".into(), columns);
        table.insert("rows".into(), rows.into());
        table.into()
    }

    fn row(&self, object: &Value, options: TableOptions, now: Timestamp) -> Value {
        let mut row = Map::new();
        row.insert("cells".into(), self.cells(object, now).into());
        let conditions = match &self.source {
            Source::BuiltIn { api_version, kind, .. } if api_version == "v1" && kind == "Pod" => {
                built_in::pod_conditions(object)
            }
            _ => None,
        };
        row.extend(conditions.map(|conditions| ("conditions".into(), conditions)));
        let include = if ends_initial_events(object) && options.include_object == IncludeObject::None {
            IncludeObject::Metadata // the client could not see the mark otherwise
        } else {
            options.include_object
        };
        row.insert("object".into(), self.included(object, include, options));
        row.into()
    }

    fn included(&self, object: &Value, include: IncludeObject, options: TableOptions) -> Value {
        match include {
            IncludeObject::None => Value::Null,
            IncludeObject::Metadata => json!({
                "kind": "PartialObjectMetadata",
                "apiVersion": options.api_version(),
                "metadata": object.get("metadata").cloned().unwrap_or_else(|| json!({})),
            }),
            IncludeObject::Object => {
                let mut object = object.clone();
                // Items of lists of built-in kinds do not carry their kind; objects in rows do.
                if let (Source::BuiltIn { api_version, kind, .. }, Value::Object(fields)) =
                    (&self.source, &mut object)
                {
                    fields.insert("apiVersion".into(), api_version.as_str().into());
                    fields.insert("kind".into(), kind.as_str().into());
                }
                object
            }
        }
    }
}

/// Whether an object is the bookmark after the initial events of a watch.
fn ends_initial_events(object: &Value) -> bool {
    let mark = object.pointer("/metadata/annotations/k8s.io~1initial-events-end");
    mark.is_some_and(|mark| mark == "true")
}

// === impl TableOptions ===

impl TableOptions {
    fn api_version(self) -> &'static str {
        if self.beta { "meta.k8s.io/v1beta1" } else { "meta.k8s.io/v1" }
    }
}

// === impl IncludeObject ===

impl FromStr for IncludeObject {
    type Err = IncludeObjectError;

    fn from_str(value: &str) -> Result<Self, Self::Err> {
        match value {
            "" | "Metadata" => Ok(Self::Metadata),
            "Object" => Ok(Self::Object),
            "None" => Ok(Self::None),
            other => Err(IncludeObjectError(other.to_owned())),
        }
    }
}
