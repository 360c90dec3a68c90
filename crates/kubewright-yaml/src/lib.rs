//! YAML as the Go tools of Kubernetes write it.
//!
//! controller-gen, kustomize and kubectl hand their objects to gopkg.in/yaml.v2 or a fork of it, whose habits are
//! therefore the look of every manifest in the field: keys in "natural" order, two spaces of indentation, lists at the column of their key, long text folded at
//! the first space after column 80. [`to_string`] and [`stream`] give the bytes of its version 2.4.0, so that a
//! project that moves over sees no difference where there is none.
//!
//! | file | idea |
//! |---|---|
//! | `order.rs` | the order of keys |
//! | `number.rs` | the text of numbers |
//! | `plain.rs`, `timestamp.rs` | what a plain text would be read as: a string needs quotes if it looks like something else |
//! | `style.rs` | the scalar style a text gets |
//! | `emitter.rs` | mappings and sequences |
//! | `flow_scalar.rs`, `block_scalar.rs` | the scalar styles (named as in the YAML specification), folding included |
//! | `output.rs` | the text so far, its column and its indentation |
//!
//! What is written reads back as the same value, with the exceptions of yaml.v2 itself, which come from YAML 1.1:
//!
//! * U+2028 and U+2029 are line breaks there, and are written as such, with indentation after them; a YAML 1.2 reader
//!   takes the indentation for text.
//! * A string such as `1e999` is written plain since it overflows a float; other readers may see infinity.
//! * A key `<<` is written plain; readers that know merge keys see one.
//! * Floats with an integral value, such as `1.0`, become integers, as they do in Go's JSON.

mod block_scalar;
mod emitter;
mod flow_scalar;
mod number;
mod order;
mod output;
mod plain;
mod style;
mod timestamp;

use serde_json::Value;

use self::emitter::Emitter;

/// One YAML document, without a `---` line. It ends with one line break, unless its last text asks for more.
///
/// Equal values give equal text, whatever order their keys were inserted in. A value that is nested deeper than
/// what `serde_json` parses (128 levels) is the caller's risk: its depth is the depth of the recursion.
///
/// ```
/// use kubewright_yaml as yaml;
/// use serde_json::json;
///
/// let value = json!({"spec": {"enabled": true, "names": ["a", "true"], "empty": {}}, "kind": "Redis"});
/// assert_eq!(yaml::to_string(&value), "\
/// kind: Redis
/// spec:
///   empty: {}
///   enabled: true
///   names:
///   - a
///   - \"true\"
/// ");
/// ```
#[must_use]
pub fn to_string(value: &Value) -> String {
    let mut emitter = Emitter::new();
    emitter.document(value);
    emitter.into_text()
}

/// Several YAML documents, each begun by a `---` line, as in a file of controller-gen. No documents give no text.
///
/// ```
/// use kubewright_yaml as yaml;
/// use serde_json::json;
///
/// assert_eq!(yaml::stream([&json!({"a": 1}), &json!({"b": 2})]), "---\na: 1\n---\nb: 2\n");
/// ```
#[must_use]
pub fn stream<'a>(documents: impl IntoIterator<Item = &'a Value>) -> String {
    let mut text = String::new();
    for document in documents {
        text.push_str("---\n");
        text.push_str(&to_string(document));
    }
    text
}
