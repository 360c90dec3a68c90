use std::fmt;

use serde_json::Value;

use super::{SelectableFields, SelectorError};

/// A parsed field selector, not yet bound to a kind: all of its requirements must hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FieldSelector {
    requirements: Vec<FieldRequirement>,
}

/// One comparison of a [`FieldSelector`]: the field has the value, or (negated) does not have it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldRequirement {
    /// The path of the field, such as `metadata.name`.
    pub field: String,
    /// Whether the comparison is `!=`.
    pub negated: bool,
    /// The value, unescaped.
    pub value: String,
}

/// A field selector bound to a kind, ready to match its objects.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FieldMatcher {
    selector: FieldSelector,
    selectable: Option<SelectableFields>,
}

// === impl FieldSelector ===

impl FieldSelector {
    /// Selects every object, as the empty selector does.
    #[must_use]
    pub fn everything() -> Self {
        Self::default()
    }

    /// Parses the text form, as in the query parameter `fieldSelector`. The empty text selects everything.
    /// In values, `\`, `,` and `=` are escaped with a backslash.
    ///
    /// # Errors
    /// With kube-apiserver's message when the text is not a selector.
    pub fn parse(selector: &str) -> Result<Self, SelectorError> {
        let mut terms = split_terms(selector);
        terms.sort_unstable();
        let mut requirements = Vec::new();
        for term in terms.into_iter().filter(|term| !term.is_empty()) {
            let Some((field, negated, value)) = split_term(term) else {
                let message = format!("invalid selector: '{selector}'; can't understand '{term}'");
                return Err(SelectorError::new(message));
            };
            requirements.push(FieldRequirement { field: field.to_owned(), negated, value: unescape(value)? });
        }
        Ok(Self { requirements })
    }

    /// The requirements.
    #[must_use]
    pub fn requirements(&self) -> &[FieldRequirement] {
        &self.requirements
    }

    /// Whether every object matches.
    #[must_use]
    pub fn is_everything(&self) -> bool {
        self.requirements.is_empty()
    }

    /// The value that the selector requires a field to have, if it does.
    #[must_use]
    pub fn required_value(&self, field: &str) -> Option<&str> {
        let required = self.requirements.iter().find(|one| one.field == field && !one.negated);
        required.map(|one| one.value.as_str())
    }

    /// Binds the selector to the fields that a kind supports.
    ///
    /// # Errors
    /// With kube-apiserver's message when it names another field.
    pub fn bind(self, selectable: &SelectableFields) -> Result<FieldMatcher, SelectorError> {
        let mut requirements = Vec::with_capacity(self.requirements.len());
        for requirement in self.requirements {
            let field = selectable.resolve(&requirement.field)?;
            requirements.push(FieldRequirement { field, ..requirement });
        }
        Ok(FieldMatcher { selector: Self { requirements }, selectable: Some(selectable.clone()) })
    }
}

impl fmt::Display for FieldSelector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, FieldRequirement { field, negated, value }) in self.requirements.iter().enumerate() {
            let separator = if index > 0 { "," } else { "" };
            let operator = if *negated { "!=" } else { "=" };
            let value = value.replace('\\', "\\\\").replace(',', "\\,").replace('=', "\\=");
            write!(f, "{separator}{field}{operator}{value}")?;
        }
        Ok(())
    }
}

// === impl FieldMatcher ===

impl FieldMatcher {
    /// Whether every object matches.
    #[must_use]
    pub fn is_everything(&self) -> bool {
        self.selector.is_everything()
    }

    /// The value that the selector requires a field to have, if it does.
    #[must_use]
    pub fn required_value(&self, field: &str) -> Option<&str> {
        self.selector.required_value(field)
    }

    /// Whether the fields of the object match.
    #[must_use]
    pub fn matches(&self, object: &Value) -> bool {
        let Some(selectable) = &self.selectable else { return true };
        let holds = |one: &FieldRequirement| {
            (selectable.value(object, &one.field).as_ref() == one.value.as_str()) != one.negated
        };
        self.selector.requirements.iter().all(holds)
    }
}

impl fmt::Display for FieldMatcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.selector.fmt(f)
    }
}

/// The parts between commas that are not escaped.
fn split_terms(selector: &str) -> Vec<&str> {
    let mut terms = Vec::new();
    let (mut start, mut escaped) = (0, false);
    for (index, c) in selector.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            ',' => {
                terms.push(&selector[start..index]);
                start = index + 1;
            }
            _ => {}
        }
    }
    terms.push(&selector[start..]);
    terms
}

/// Field, whether negated, value (still escaped). The first operator splits; fields have no escapes.
fn split_term(term: &str) -> Option<(&str, bool, &str)> {
    let equals = term.find('=')?;
    let (field, value) = (&term[..equals], &term[equals + 1..]);
    match field.strip_suffix('!') {
        Some(field) => Some((field, true, value)),
        None => Some((field, false, value.strip_prefix('=').unwrap_or(value))),
    }
}

fn unescape(value: &str) -> Result<String, SelectorError> {
    let mut unescaped = String::with_capacity(value.len());
    let mut chars = value.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => match chars.next() {
                Some(c @ ('\\' | ',' | '=')) => unescaped.push(c),
                other => {
                    let sequence: String = ['\\'].into_iter().chain(other).collect();
                    let message = format!("invalid field selector: invalid escape sequence: {sequence}");
                    return Err(SelectorError::new(message));
                }
            },
            // Go prints the character as its number.
            ',' | '=' => {
                let message =
                    format!("invalid field selector: unescaped character in value: {}", u32::from(c));
                return Err(SelectorError::new(message));
            }
            c => unescaped.push(c),
        }
    }
    Ok(unescaped)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn bind(selector: &str, selectable: &SelectableFields) -> FieldMatcher {
        FieldSelector::parse(selector).expect("parses").bind(selectable).expect("supported")
    }

    #[test]
    fn built_in_fields_read_as_in_kube_apiserver() {
        let pods = SelectableFields::built_in("", "v1", "Pod");
        let pod = json!({
            "metadata": {"name": "p", "namespace": "d"},
            "spec": {"nodeName": "n"},
            "status": {"phase": "Running", "podIPs": [{"ip": "10.0.0.1"}]},
        });
        for selector in [
            "metadata.name=p,metadata.namespace==d",
            "spec.nodeName=n",
            "spec.host=n",
            "spec.hostNetwork=false",
            "status.podIP=10.0.0.1",
            "status.phase!=Pending",
            "spec.restartPolicy=",
        ] {
            assert!(bind(selector, &pods).matches(&pod), "{selector}");
        }
        let jobs = SelectableFields::built_in("batch", "v1", "Job");
        assert!(bind("status.successful=1", &jobs).matches(&json!({"status": {"succeeded": 1}})));
        assert!(bind("status.successful=0", &jobs).matches(&json!({})));
        let events = SelectableFields::built_in("", "v1", "Event");
        assert!(bind("source=kubelet", &events).matches(&json!({"source": {"component": "kubelet"}})));
        let views = SelectableFields::built_in("events.k8s.io", "v1", "Event");
        assert!(bind("regarding.name=p", &views).matches(&json!({"involvedObject": {"name": "p"}})));
        assert!(bind("regarding.name=p", &views).matches(&json!({"regarding": {"name": "p"}})));
        assert!(bind("source=c", &events).matches(&json!({"source": {}, "reportingComponent": "c"})));
    }

    #[test]
    fn custom_resources_select_on_declared_fields() {
        let fields = SelectableFields::custom(true, [".spec.color", ".spec.size"]);
        let object = json!({"metadata": {"name": "w"}, "spec": {"color": "blue", "size": 3}});
        assert!(bind("spec.color=blue,spec.size=3", &fields).matches(&object));
        assert!(bind("spec.color!=red", &fields).matches(&json!({})));
    }

    #[test]
    fn errors_have_the_texts_of_kube_apiserver() {
        let kinds = [
            (SelectableFields::built_in("", "v1", "Pod"), "field label not supported: spec.x"),
            (
                SelectableFields::built_in("", "v1", "ConfigMap"),
                "\"spec.x\" is not a known field selector: only \"metadata.name\", \"metadata.namespace\"",
            ),
            (
                SelectableFields::built_in("batch", "v1", "Job"),
                "field label \"spec.x\" not supported for Job",
            ),
            (SelectableFields::custom(true, []), "field label not supported: spec.x"),
        ];
        for (fields, message) in kinds {
            let error =
                FieldSelector::parse("spec.x=1").expect("parses").bind(&fields).expect_err("unsupported");
            assert_eq!(error.to_string(), message);
        }
        let clustered = SelectableFields::custom(false, []);
        assert!(FieldSelector::parse("metadata.namespace=a").expect("parses").bind(&clustered).is_err());

        let texts = [
            ("a", "invalid selector: 'a'; can't understand 'a'"),
            ("a=1,b", "invalid selector: 'a=1,b'; can't understand 'b'"),
            ("a=\\x", "invalid field selector: invalid escape sequence: \\x"),
            ("a=1\\", "invalid field selector: invalid escape sequence: \\"),
            ("a=b=c", "invalid field selector: unescaped character in value: 61"),
        ];
        for (selector, message) in texts {
            assert_eq!(FieldSelector::parse(selector).expect_err(selector).to_string(), message);
        }
    }

    #[test]
    fn an_exact_name_is_seen() {
        let selector = FieldSelector::parse("metadata.name=x,metadata.namespace!=y").expect("parses");
        assert_eq!(selector.required_value("metadata.name"), Some("x"));
        assert_eq!(selector.required_value("metadata.namespace"), None);
    }

    proptest! {
        #[test]
        fn escaping_reads_back(terms in prop::collection::vec(("[a-z.]{1,6}", any::<bool>(), "[a-z\\\\,=!é]{0,6}"), 0..4)) {
            let requirements = terms
                .into_iter()
                .map(|(field, negated, value)| FieldRequirement { field, negated, value })
                .collect();
            let selector = FieldSelector { requirements };
            let read = FieldSelector::parse(&selector.to_string()).expect("its display parses");
            let sorted = |selector: &FieldSelector| {
                let mut terms: Vec<String> = selector.requirements.iter().map(|one| format!("{one:?}")).collect();
                terms.sort();
                terms
            };
            prop_assert_eq!(sorted(&read), sorted(&selector));
        }

        #[test]
        fn any_text_is_answered(selector in "[a-z=!,\\\\.\\PC]{0,24}") {
            let _ = FieldSelector::parse(&selector);
        }
    }
}
