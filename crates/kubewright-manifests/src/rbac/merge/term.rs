//! One item of one list of a rule, and what it stands for.

use super::super::Rule;

/// A list of a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Field {
    Resources,
    Groups,
    Names,
    Urls,
    Verbs,
}

/// What an item of a list stands for.
///
/// Of two terms of one field, either one contains the other or they have nothing in common; and every term but
/// [`Term::Is`] contains more than any list of others can name. The merge stands on both.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Term {
    /// Everything.
    All,
    /// This subresource of every resource.
    Subresource(String),
    /// Every URL that begins so.
    Prefix(String),
    /// This alone.
    Is(String),
}

// === impl Field ===

impl Field {
    /// The terms of this list of the rule, wide and narrow ones alike.
    pub(super) fn terms(self, rule: &Rule) -> Vec<Term> {
        let list = match self {
            Self::Resources => &rule.resources,
            Self::Groups => &rule.groups,
            Self::Names if rule.resource_names.is_empty() => return vec![Term::All],
            Self::Names => &rule.resource_names,
            Self::Urls => &rule.urls,
            Self::Verbs => &rule.verbs,
        };
        list.iter().map(|item| self.term(item)).collect()
    }

    fn term(self, item: &str) -> Term {
        match (self, item) {
            (Self::Resources | Self::Groups | Self::Verbs, "*") => Term::All,
            (Self::Resources, _) => match item.strip_prefix("*/") {
                Some(subresource) if !subresource.is_empty() && !subresource.contains('/') => {
                    Term::Subresource(subresource.to_owned())
                }
                _ => Term::Is(item.to_owned()),
            },
            // The API server cuts all stars from the end.
            (Self::Urls, _) if item.ends_with('*') => Term::Prefix(item.trim_end_matches('*').to_owned()),
            _ => Term::Is(item.to_owned()),
        }
    }

    /// Writes these terms into the list of the rule.
    pub(super) fn write(self, terms: &[&Term], rule: &mut Rule) {
        let list = match self {
            Self::Resources => &mut rule.resources,
            Self::Groups => &mut rule.groups,
            Self::Names => &mut rule.resource_names,
            Self::Urls => &mut rule.urls,
            Self::Verbs => &mut rule.verbs,
        };
        *list = match (self, terms) {
            (Self::Names, [Term::All]) => return,
            _ => terms.iter().map(|term| term.to_item()).collect(),
        };
    }
}

// === impl Term ===

impl Term {
    /// Whether all that the other stands for is contained in this one.
    pub(super) fn covers(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::All, _) => true,
            (Self::Subresource(subresource), Self::Is(item)) => {
                item.split_once('/').is_some_and(|(_, rest)| rest == subresource)
            }
            (Self::Prefix(prefix), Self::Prefix(item) | Self::Is(item)) => item.starts_with(prefix.as_str()),
            _ => self == other,
        }
    }

    fn to_item(&self) -> String {
        match self {
            Self::All => "*".to_owned(),
            Self::Subresource(subresource) => format!("*/{subresource}"),
            Self::Prefix(prefix) => format!("{prefix}*"),
            Self::Is(item) => item.clone(),
        }
    }
}
