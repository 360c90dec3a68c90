use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A column of a table, Kubernetes' `TableColumnDefinition`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Column {
    /// The heading.
    pub name: String,
    /// `string`, `integer`, `number`, `boolean` or `date`.
    #[serde(rename = "type")]
    pub kind: String,
    /// An OpenAPI format; `name` marks the column that names the object.
    #[serde(default)]
    pub format: String,
    /// What the column shows.
    #[serde(default)]
    pub description: String,
    /// 0: always shown. Higher: shown in wide output only.
    #[serde(default)]
    pub priority: i32,
}

/// The columns of built-in kinds by group, version and kind.
static BUILT_IN: LazyLock<BTreeMap<(String, String, String), Vec<Column>>> = LazyLock::new(|| {
    let tables: Vec<TableData> = serde_json::from_str(include_str!("../../data/columns.json"))
        .expect("the generated columns are valid"); // checked by a test, not by input
    tables.into_iter().map(|table| ((table.group, table.version, table.kind), table.columns)).collect()
});

#[derive(Deserialize)]
struct TableData {
    group: String,
    version: String,
    kind: String,
    columns: Vec<Column>,
}

// === impl Column ===

impl Column {
    /// A column as `additionalPrinterColumns` of a CRD describes it. Members that are absent stay empty.
    #[must_use]
    pub fn from_printer_column(column: &Value) -> Self {
        let text = |name: &str| column.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
        let description = match text("description") {
            empty if empty.is_empty() => {
                format!("Custom resource definition column (in JSONPath format): {}", text("jsonPath"))
            }
            given => given,
        };
        let priority = column.get("priority").and_then(Value::as_i64).unwrap_or_default();
        Self {
            name: text("name"),
            kind: text("type"),
            format: text("format"),
            description,
            priority: i32::try_from(priority).unwrap_or_default(),
        }
    }

    /// The columns of a built-in kind; of a kind without columns of its own, name and creation time.
    pub(super) fn built_in(group: &str, version: &str, kind: &str) -> Vec<Self> {
        let found = |group: &str, version: &str, kind: &str| {
            BUILT_IN.get(&(group.to_owned(), version.to_owned(), kind.to_owned()))
        };
        found(group, version, kind).or_else(|| found("", "v1", "LimitRange")).cloned().unwrap_or_default()
    }

    /// The first column of every table of custom resources.
    pub(super) fn name() -> Self {
        Self::built_in("", "v1", "ConfigMap").swap_remove(0)
    }

    /// The second column of custom resources that declare none.
    pub(super) fn age() -> Self {
        let mut age = Self::built_in("", "v1", "ConfigMap").swap_remove(2);
        age.kind = "date".into();
        age
    }
}
