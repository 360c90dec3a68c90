//! Choosing objects by patterns of their identity and by their labels and annotations.

use std::collections::BTreeMap;

use regex::Regex;

use crate::{id::Id, kustomization::Selector, resource::Resource};

/// A selector whose patterns and requirements were read.
#[derive(Debug)]
pub(crate) struct Matcher {
    group: Pattern,
    version: Pattern,
    kind: Pattern,
    name: Pattern,
    namespace: Pattern,
    labels: Requirements,
    annotations: Requirements,
    /// It says nothing of the identity.
    names_nothing: bool,
}

/// A pattern for a whole text; nothing matches everything.
#[derive(Debug)]
struct Pattern(Option<Regex>);

impl Pattern {
    fn new(field: &str, pattern: &str) -> Result<Self, String> {
        if pattern.is_empty() {
            return Ok(Self(None));
        }
        let regex = Regex::new(&format!("^(?:{pattern})$"))
            .map_err(|error| format!("the {field} `{pattern}` of a target is no pattern: {error}"))?;
        Ok(Self(Some(regex)))
    }

    fn is_match(&self, text: &str) -> bool {
        self.0.as_ref().is_none_or(|regex| regex.is_match(text))
    }
}

impl Matcher {
    pub(crate) fn new(selector: &Selector) -> Result<Self, String> {
        let Selector { gvk, name, namespace, .. } = selector;
        Ok(Self {
            group: Pattern::new("group", &gvk.group)?,
            version: Pattern::new("version", &gvk.version)?,
            kind: Pattern::new("kind", &gvk.kind)?,
            name: Pattern::new("name", name)?,
            namespace: Pattern::new("namespace", namespace)?,
            labels: Requirements::parse(&selector.label_selector)?,
            annotations: Requirements::parse(&selector.annotation_selector)?,
            names_nothing: [&gvk.group, &gvk.version, &gvk.kind, name, namespace]
                .iter()
                .all(|part| part.is_empty()),
        })
    }

    /// Whether a patch with this target changes `resource`: by the first or the present name and namespace.
    pub(crate) fn selects(&self, resource: &Resource) -> bool {
        let (current, original) = (resource.id(), resource.original_id());
        (self.namespace.is_match(original.scope()) || self.namespace.is_match(current.scope()))
            && (self.name.is_match(&original.name) || self.name.is_match(&current.name))
            && self.is_kind(&current)
            && self.labels.fit(&resource.labels())
            && self.annotations.fit(&resource.annotations())
    }

    /// Whether a replacement changes `resource`: by any identity that it had.
    pub(crate) fn selects_any(&self, resource: &Resource) -> bool {
        self.has_labels_of(resource) && resource.ids().any(|id| self.is_id(&id))
    }

    /// Whether a replacement leaves `resource` alone because of this.
    pub(crate) fn rejects(&self, resource: &Resource) -> bool {
        let by_labels = !self.labels.0.is_empty() || !self.annotations.0.is_empty();
        by_labels && self.has_labels_of(resource)
            || !self.names_nothing && resource.ids().any(|id| self.is_id(&id))
    }

    fn has_labels_of(&self, resource: &Resource) -> bool {
        self.labels.fit(&resource.labels()) && self.annotations.fit(&resource.annotations())
    }

    fn is_id(&self, id: &Id) -> bool {
        self.is_kind(id) && self.name.is_match(&id.name) && self.namespace.is_match(&id.namespace)
    }

    fn is_kind(&self, id: &Id) -> bool {
        self.group.is_match(&id.gvk.group)
            && self.version.is_match(&id.gvk.version)
            && self.kind.is_match(&id.gvk.kind)
    }
}

/// A label selector: all of these hold.
#[derive(Debug, Default, PartialEq)]
struct Requirements(Vec<Requirement>);

#[derive(Debug, PartialEq)]
struct Requirement {
    key: String,
    operator: Operator,
}

#[derive(Debug, PartialEq)]
enum Operator {
    Exists,
    Absent,
    In(Vec<String>),
    NotIn(Vec<String>),
    Greater(i64),
    Less(i64),
}

impl Requirements {
    fn parse(text: &str) -> Result<Self, String> {
        let fail = |why: &str| {
            format!(
                "the label selector `{text}` {why}; write `key=value`, `key!=value`, `key in (a, b)`, `key notin (a, b)`, `key` or `!key`, with commas between them"
            )
        };
        let mut requirements = Vec::new();
        let mut rest = text.trim();
        while !rest.is_empty() {
            let (requirement, after) = Requirement::parse(rest).map_err(fail)?;
            requirements.push(requirement);
            rest = match after.trim_start() {
                "" => "",
                more => {
                    let more = more
                        .strip_prefix(',')
                        .ok_or_else(|| fail("has something after a requirement"))?
                        .trim_start();
                    if more.is_empty() {
                        return Err(fail("ends in a comma"));
                    }
                    more
                }
            };
        }
        Ok(Self(requirements))
    }

    fn fit(&self, labels: &BTreeMap<String, String>) -> bool {
        self.0.iter().all(|Requirement { key, operator }| {
            let value = labels.get(key);
            let number = || value.and_then(|value| value.parse::<i64>().ok());
            match operator {
                Operator::Exists => value.is_some(),
                Operator::Absent => value.is_none(),
                Operator::In(values) => value.is_some_and(|value| values.contains(value)),
                Operator::NotIn(values) => value.is_none_or(|value| !values.contains(value)),
                Operator::Greater(bound) => number().is_some_and(|number| number > *bound),
                Operator::Less(bound) => number().is_some_and(|number| number < *bound),
            }
        })
    }
}

impl Requirement {
    /// One requirement at the start of `text`, and what comes after it.
    fn parse(text: &str) -> Result<(Self, &str), &'static str> {
        if let Some(rest) = text.strip_prefix('!') {
            let (key, rest) = word(rest.trim_start());
            return Self::new(key, Operator::Absent, rest);
        }
        let (key, rest) = word(text);
        let after = rest.trim_start();
        for (sign, negated) in [("==", false), ("!=", true), ("=", false)] {
            if let Some(rest) = after.strip_prefix(sign) {
                let (value, rest) = word(rest.trim_start());
                let values = vec![value.to_owned()];
                return Self::new(
                    key,
                    if negated { Operator::NotIn(values) } else { Operator::In(values) },
                    rest,
                );
            }
        }
        if let Some(rest) = after.strip_prefix(['<', '>']) {
            let (value, rest) = word(rest.trim_start());
            let bound = value.parse().map_err(|_| "compares with something that is no integer")?;
            let operator =
                if after.starts_with('<') { Operator::Less(bound) } else { Operator::Greater(bound) };
            return Self::new(key, operator, rest);
        }
        let (operator, list) = word(after);
        if !matches!(operator, "in" | "notin") || operator.len() == after.len() {
            return Self::new(key, Operator::Exists, rest);
        }
        let inner = list.trim_start().strip_prefix('(').ok_or("has no `(` after `in`")?;
        let (inner, rest) = inner.split_once(')').ok_or("has no `)`")?;
        let values: Vec<String> = inner.split(',').map(|value| value.trim().to_owned()).collect();
        if values.iter().any(|value| !value.chars().all(is_word)) {
            return Err("has a value that is none");
        }
        Self::new(key, if operator == "in" { Operator::In(values) } else { Operator::NotIn(values) }, rest)
    }

    fn new<'a>(key: &str, operator: Operator, rest: &'a str) -> Result<(Self, &'a str), &'static str> {
        if key.is_empty() {
            return Err("has no key where one is expected");
        }
        Ok((Self { key: key.to_owned(), operator }, rest))
    }
}

fn is_word(character: char) -> bool {
    !character.is_whitespace() && !matches!(character, '=' | '!' | '(' | ')' | ',' | '>' | '<')
}

fn word(text: &str) -> (&str, &str) {
    text.split_at(text.find(|character| !is_word(character)).unwrap_or(text.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fits(selector: &str, labels: &[(&str, &str)]) -> bool {
        let labels = labels.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
        Requirements::parse(selector).unwrap().fit(&labels)
    }

    #[test]
    fn requirements_are_those_of_kubernetes() {
        let labels = [("app", "web"), ("tier", "2")];
        for yes in [
            "",
            "app=web",
            "app == web",
            "app!=db",
            "app",
            "!other",
            "app in (web, db)",
            "app notin (db)",
            "tier>1",
            "tier < 3",
            "app=web,tier",
            "other!=x",
            "in",
            "app in (web),tier=2",
        ] {
            assert_eq!(fits(yes, &labels), yes != "in", "{yes}");
        }
        for no in ["app=db", "!app", "other", "app in (db)", "app notin (web)", "tier>2", "app=web,tier=3"] {
            assert!(!fits(no, &labels), "{no}");
        }
        for bad in ["=x", "app in web", "app in (web", "app=web,", "app web", "tier>x", ",", "app=a=b"] {
            assert!(Requirements::parse(bad).is_err(), "{bad}");
        }
    }
}
