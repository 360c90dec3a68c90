//! The one table of rules: what may change, how bad it is, and why.

use serde::Serialize;

/// How bad a change is. Classes are ordered: the worst is the greatest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Class {
    /// Every stored object and every request that was accepted still is, and means the same.
    Safe,
    /// Nothing breaks as long as objects are migrated or converted between versions.
    NeedsConversion,
    /// Objects, clients or the API server refuse the change or lose data by it.
    Unsafe,
}

/// A kind of change.
#[derive(Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Rule {
    /// The name by which exceptions are made. It never changes.
    pub id: &'static str,
    /// How bad such a change is.
    pub class: Class,
    /// What happened.
    pub summary: &'static str,
    /// Why the change is in its class, and what to do about it.
    pub reason: &'static str,
}

/// The rule called `id`.
#[must_use]
pub fn find(id: &str) -> Option<&'static Rule> {
    RULES.iter().find(|rule| rule.id == id).copied()
}

impl Class {
    /// The name of the class, as in JSON.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Safe => "safe",
            Self::NeedsConversion => "needs-conversion",
            Self::Unsafe => "unsafe",
        }
    }
}

macro_rules! rules {
    ($($name:ident: $id:literal, $class:ident, $summary:literal, $reason:expr;)*) => {
        $(pub(super) const $name: &Rule =
            &Rule { id: $id, class: Class::$class, summary: $summary, reason: $reason };)*

        /// All rules: those about definitions first, then those about schemas.
        pub const RULES: &[&Rule] = &[$($name),*];
    };
}

/// What a stricter value validation means for objects that exist already.
macro_rules! stricter {
    ($what:literal) => {
        concat!(
            $what,
            "; a stored object stays updatable as long as the value is unchanged (Kubernetes 1.30 and later), but new \
             objects and changes of the value are refused"
        )
    };
}

rules! {
    CRD_ADDED: "crd-added", Safe, "CRD added", "nothing used it before";
    CRD_REMOVED: "crd-removed", Unsafe, "CRD removed",
        "deleting the CRD deletes all of its objects";
    GROUP_CHANGED: "group-changed", Unsafe, "group changed",
        "the group is immutable and part of the CRD's name: this is another API, and the objects of the old one stay behind";
    PLURAL_CHANGED: "plural-changed", Unsafe, "plural name changed",
        "the plural is immutable and part of the CRD's name and of every URL: this is another API, and the objects of the old one stay behind";
    KIND_CHANGED: "kind-changed", Unsafe, "kind changed",
        "the kind is immutable once the CRD is established; clients and stored objects name it";
    LIST_KIND_CHANGED: "list-kind-changed", Unsafe, "list kind changed",
        "clients that decode lists by their kind fail";
    SCOPE_CHANGED: "scope-changed", Unsafe, "scope changed",
        "the scope is immutable once the CRD is established, because it is part of every URL and storage key";
    SINGULAR_CHANGED: "singular-changed", Safe, "singular name changed",
        "only what people type changes; scripts that call kubectl with the old name fail";
    SHORT_NAMES_CHANGED: "short-names-changed", Safe, "short names changed",
        "only what people type changes; scripts that call kubectl with a name that is gone fail";
    CATEGORIES_CHANGED: "categories-changed", Safe, "categories changed",
        "only the groups that people list by change";

    VERSION_ADDED: "version-added", Safe, "version added", "nothing used it before";
    VERSION_REMOVED: "version-removed", Unsafe, "served version removed",
        "clients of the version get 404; stop serving it first, when nobody uses it any more";
    UNSERVED_VERSION_REMOVED: "unserved-version-removed", Safe, "unserved version removed",
        "no client can use it and no object is stored in it";
    STORED_VERSION_REMOVED: "stored-version-removed", Unsafe, "stored version removed",
        "status.storedVersions still names it, so objects may be stored in it: the API server refuses the change; migrate the objects and take the version out of status.storedVersions first";
    VERSION_UNSERVED: "version-unserved", Unsafe, "version is not served any more",
        "clients of the version get 404; deprecate it until nobody uses it";
    VERSION_SERVED: "version-served", Safe, "version is served now", "nothing used it before";
    VERSION_DEPRECATED: "version-deprecated", Safe, "deprecation of the version changed",
        "clients only see a warning";
    STORAGE_VERSION_CHANGED: "storage-version-changed", NeedsConversion, "storage version changed",
        "objects stay stored in the old version, and status.storedVersions goes on naming it, until each was written again: keep the old version convertible, migrate, and only then remove it";
    CONVERSION_WEBHOOK_ADDED: "conversion-webhook-added", NeedsConversion, "conversion by webhook added",
        "reads and writes of every version but the stored one fail as long as the webhook does not answer: roll it out before the CRD";
    CONVERSION_WEBHOOK_REMOVED: "conversion-webhook-removed", Unsafe, "conversion by webhook removed",
        "objects of other versions are only relabelled from now on: what the webhook translated is lost or refused";
    CONVERSION_CHANGED: "conversion-changed", Safe, "settings of the conversion webhook changed",
        "objects are converted as before, provided that the webhook answers there";
    FIELD_LOST_BETWEEN_VERSIONS: "field-lost-between-versions", NeedsConversion, "field exists in one of two versions",
        "with conversion strategy None an object is only relabelled: who reads it in the version without the field and writes it back deletes the field; add the field to both or convert by webhook";
    TYPE_DIFFERS_BETWEEN_VERSIONS: "type-differs-between-versions", NeedsConversion, "field has two types in two versions",
        "with conversion strategy None an object is only relabelled: a value of one version is invalid in the other; convert by webhook";

    STATUS_SUBRESOURCE_ADDED: "status-subresource-added", Unsafe, "status subresource added",
        "writes to the object ignore its status from now on, without an error: clients have to write to the subresource";
    STATUS_SUBRESOURCE_REMOVED: "status-subresource-removed", Unsafe, "status subresource removed",
        "clients that write the status get 404, and every write to the object now writes its status as well";
    SCALE_SUBRESOURCE_ADDED: "scale-subresource-added", Safe, "scale subresource added", "nothing used it before";
    SCALE_SUBRESOURCE_REMOVED: "scale-subresource-removed", Unsafe, "scale subresource removed",
        "autoscalers and `kubectl scale` get 404";
    SCALE_PATHS_CHANGED: "scale-paths-changed", Unsafe, "paths of the scale subresource changed",
        "autoscalers read and write other fields than before";
    PRINTER_COLUMNS_CHANGED: "printer-columns-changed", Safe, "printer columns changed",
        "only what `kubectl get` prints changes";
    SELECTABLE_FIELD_ADDED: "selectable-field-added", Safe, "selectable field added", "nothing used it before";
    SELECTABLE_FIELD_REMOVED: "selectable-field-removed", Unsafe, "selectable field removed",
        "lists and watches that select by the field are refused";

    FIELD_ADDED: "field-added", Safe, "field added", "no stored object has it";
    FIELD_ADDED_TO_OPEN_OBJECT: "field-added-to-open-object", Unsafe, "field added to an object that had undeclared fields",
        stricter!("objects may already hold a value of this name that does not fit");
    FIELD_REMOVED: "field-removed", Unsafe, "field removed",
        "the API server drops the field from requests and from stored objects, silently; deprecate it and keep it in the schema";
    REQUIRED_ADDED: "required-added", Unsafe, "field became required",
        stricter!("objects without the field are invalid: give it a default or keep it optional");
    REQUIRED_ADDED_WITH_DEFAULT: "required-added-with-default", Safe, "field with a default became required",
        "the default fills the field wherever it is absent";
    REQUIRED_REMOVED: "required-removed", Safe, "field became optional",
        "whatever was valid still is; readers have to expect objects without the field";
    TYPE_CHANGED: "type-changed", Unsafe, "type changed",
        "stored values and clients have the old type, even where the new one is wider: add a field or a version";
    FORMAT_CHANGED: "format-changed", Unsafe, "format added or changed",
        stricter!("values need not fit the new format, and clients choose their types by it");
    FORMAT_REMOVED: "format-removed", Safe, "format removed", "whatever was valid still is";
    NUMBER_FORMAT_REMOVED: "number-format-removed", Unsafe, "format of a number removed",
        "clients choose their types by it: larger values do not fit theirs";
    NULLABLE_REMOVED: "nullable-removed", Unsafe, "null is not allowed any more",
        "stored nulls are dropped where a field holds them, and invalid elsewhere";
    NULLABLE_ADDED: "nullable-added", Safe, "null is allowed now",
        "whatever was valid still is; readers have to expect null";
    NULL_KEPT: "null-kept", Unsafe, "null is kept, where it was dropped or replaced by the default",
        "requests with null were accepted and stored without it; now they set it, and a rule or an enum around it may refuse it";
    DEFAULT_ADDED: "default-added", Safe, "default added",
        "the value appears in stored objects as soon as they are read; check that it means what the absent field meant";
    DEFAULT_ADDED_UNDER_RULES: "default-added-under-rules", Unsafe, "default added that a rule may refuse",
        "the value appears in stored objects, and a rule, a count, a combination or a uniqueness around it, or a bound on it and the defaults of its own fields, may then refuse them";
    DEFAULT_CHANGED: "default-changed", Unsafe, "default changed",
        "objects that were stored without the field change their meaning, and so do new objects of old clients";
    DEFAULT_REMOVED: "default-removed", Unsafe, "default removed",
        "clients and rules that counted on the field being there find it absent";
    BOUND_TIGHTENED: "bound-tightened", Unsafe, "bound added or tightened",
        stricter!("values that were valid are not any more");
    BOUND_LOOSENED: "bound-loosened", Safe, "bound removed or loosened", "whatever was valid still is";
    ENUM_ADDED: "enum-added", Unsafe, "enum added", stricter!("all values but the listed ones are invalid");
    ENUM_REMOVED: "enum-removed", Safe, "enum removed",
        "whatever was valid still is; readers have to expect other values";
    ENUM_VALUE_ADDED: "enum-value-added", Safe, "enum value added",
        "whatever was valid still is; readers have to expect the new value";
    ENUM_VALUE_REMOVED: "enum-value-removed", Unsafe, "enum value removed", stricter!("objects may hold the value");
    PATTERN_CHANGED: "pattern-changed", Unsafe, "pattern added or changed",
        stricter!("whether the new pattern matches all that the old one did cannot be decided");
    PATTERN_REMOVED: "pattern-removed", Safe, "pattern removed", "whatever was valid still is";
    COMBINATION_TIGHTENED: "combination-tightened", Unsafe, "allOf, anyOf, oneOf or not added or tightened",
        stricter!("values that were valid may not be any more");
    COMBINATION_LOOSENED: "combination-loosened", Safe, "allOf, anyOf, oneOf or not removed or loosened",
        "whatever was valid still is";
    VALIDATION_ADDED: "validation-added", Unsafe, "CEL rule added",
        stricter!("objects need not satisfy it");
    VALIDATION_CHANGED: "validation-changed", Unsafe, "CEL rule changed",
        stricter!("whether the new rule holds wherever the old one did cannot be decided");
    VALIDATION_REMOVED: "validation-removed", Safe, "CEL rule removed", "whatever was valid still is";
    VALIDATION_MESSAGE_CHANGED: "validation-message-changed", Safe, "message or cause of a CEL rule changed",
        "only what is said about a refused object changes";
    LIST_TYPE_CHANGED: "list-type-changed", Unsafe, "list type changed",
        "server-side apply owned the list as a whole and now its items, or the other way round: managers overwrite or keep items by surprise, and duplicates become invalid";
    LIST_MAP_KEYS_CHANGED: "list-map-keys-changed", Unsafe, "keys of the list changed",
        "server-side apply finds the items, and who owns them, by the keys; lists that were unique by the old keys need not be by the new ones";
    MAP_TYPE_CHANGED: "map-type-changed", Unsafe, "map type changed",
        "server-side apply owned the object as a whole and now its fields, or the other way round: managers overwrite or keep fields by surprise";
    PRESERVE_UNKNOWN_REMOVED: "preserve-unknown-removed", Unsafe, "unknown fields are not preserved any more",
        "undeclared fields are dropped from requests and from stored objects, silently";
    PRESERVE_UNKNOWN_ADDED: "preserve-unknown-added", Safe, "unknown fields are preserved now",
        "no stored object has any; a later schema cannot easily take them away again";
    EMBEDDED_RESOURCE_CHANGED: "embedded-resource-changed", Unsafe, "embedded resource added or removed",
        "apiVersion, kind and metadata become required, or are dropped";
    ADDITIONAL_PROPERTIES_ADDED: "additional-properties-added", Safe, "values of other names are kept now",
        "no stored object has any";
    ADDITIONAL_PROPERTIES_CHANGED: "additional-properties-changed", Unsafe, "schema of the values of other names added, replaced or removed",
        "values that were kept are dropped or invalid";
    ITEMS_CHANGED: "items-changed", Unsafe, "schema of the items added or removed",
        "items that were kept as they are may be invalid, or lose fields";
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn ids_are_unique_words_with_dashes() {
        let ids: BTreeSet<&str> = RULES.iter().map(|rule| rule.id).collect();
        assert_eq!(ids.len(), RULES.len());
        assert!(ids.iter().all(|id| id.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-')));
        assert_eq!(find("field-removed"), Some(FIELD_REMOVED));
        assert_eq!(find("field"), None);
    }

    #[test]
    fn unsafe_is_the_worst() {
        assert!(Class::Safe < Class::NeedsConversion && Class::NeedsConversion < Class::Unsafe);
    }
}
