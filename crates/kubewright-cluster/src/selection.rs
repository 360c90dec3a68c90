use std::{collections::BTreeSet, fmt, str::FromStr};

use crate::controllers::{CONTROLLERS, Descriptor};

/// Which controllers a cluster runs.
///
/// Parses as kube-controller-manager's `--controllers`: a comma-separated list of names in which `*` stands
/// for all controllers and `-name` leaves one out; `none` stands for no controller at all. A name that is
/// given wins over `*`, in whatever order they come. The short names of old kube-controller-managers
/// (`replicaset` for `replicaset-controller`) are understood too.
///
/// ```
/// use kubewright_cluster::Selection;
///
/// let some: Selection = "*,-kubelet".parse()?;
/// assert!(some.selects("deployment-controller"));
/// assert!(!some.selects("kubelet"));
///
/// let error = "deploymnt".parse::<Selection>().unwrap_err();
/// assert!(error.to_string().starts_with(r#"no controller is named "deploymnt""#));
/// # Ok::<(), kubewright_cluster::SelectionError>(())
/// ```
#[derive(Clone, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub enum Selection {
    /// Every controller. The default.
    #[default]
    All,
    /// No controller: the API server alone.
    None,
    /// The controllers with these names.
    Only(BTreeSet<&'static str>),
}

impl Selection {
    /// Whether the controller `name` is among the selected ones.
    #[must_use]
    pub fn selects(&self, name: &str) -> bool {
        match self {
            Self::All => CONTROLLERS.iter().any(|controller| controller.name == name),
            Self::None => false,
            Self::Only(names) => names.contains(name),
        }
    }

    /// The names of the selected controllers, in the order in which they start.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        CONTROLLERS.iter().map(|controller| controller.name).filter(|name| self.selects(name))
    }
}

impl FromStr for Selection {
    type Err = SelectionError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut all = false;
        let mut included = BTreeSet::new();
        let mut excluded = BTreeSet::new();
        for entry in text.split(',').map(str::trim).filter(|entry| !entry.is_empty()) {
            match entry {
                "*" => all = true,
                // The only entry that contradicts others, so it has to stand alone.
                "none" if text.trim() == "none" => return Ok(Self::None),
                _ => {
                    let (name, set) = match entry.strip_prefix('-') {
                        Some(name) => (name, &mut excluded),
                        None => (entry, &mut included),
                    };
                    set.insert(find(name)?.name);
                }
            }
        }
        if all && excluded.is_empty() {
            return Ok(Self::All);
        }
        let names: BTreeSet<_> = CONTROLLERS
            .iter()
            .map(|controller| controller.name)
            .filter(|name| included.contains(name) || (all && !excluded.contains(name)))
            .collect();
        Ok(if names.is_empty() { Self::None } else { Self::Only(names) })
    }
}

fn find(name: &str) -> Result<&'static Descriptor, SelectionError> {
    CONTROLLERS
        .iter()
        .find(|controller| controller.name == name || controller.alias == Some(name))
        .ok_or_else(|| SelectionError { name: name.to_owned() })
}

impl fmt::Display for Selection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::All => f.write_str("*"),
            Self::None => f.write_str("none"),
            Self::Only(names) => {
                for (index, name) in names.iter().enumerate() {
                    let comma = if index == 0 { "" } else { "," };
                    write!(f, "{comma}{name}")?;
                }
                Ok(())
            }
        }
    }
}

/// A list of controllers names one that does not exist.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error(
    "no controller is named {name:?}; the controllers are: {}; or use \"*\" for all, \"none\" for none, \"-name\" to leave one out",
    known()
)]
pub struct SelectionError {
    name: String,
}

fn known() -> String {
    CONTROLLERS.iter().map(|controller| controller.name).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> Vec<&'static str> {
        text.parse::<Selection>().expect("a valid selection").names().collect()
    }

    #[test]
    fn selections_parse_as_in_kube_controller_manager() {
        let all: Vec<_> = CONTROLLERS.iter().map(|controller| controller.name).collect();
        assert_eq!(names("*"), all);
        assert_eq!(names("none"), [""; 0]);
        assert_eq!(names(""), [""; 0]);
        assert_eq!(
            names("replicaset,deployment-controller"),
            ["deployment-controller", "replicaset-controller"]
        );
        assert_eq!(names("*,-scheduler").len(), all.len() - 1);
        assert_eq!(names("-scheduler,*,scheduler"), all);
        assert_eq!(names("-scheduler"), [""; 0]);
    }

    #[test]
    fn a_selection_displays_as_it_parses() {
        for text in ["*", "none", "kubelet,scheduler"] {
            assert_eq!(text.parse::<Selection>().expect("valid").to_string(), text);
        }
    }

    #[test]
    fn an_unknown_name_is_told_with_the_known_ones() {
        let message = "kubelets".parse::<Selection>().expect_err("unknown").to_string();
        assert!(
            message.contains("\"kubelets\"") && message.contains("garbage-collector-controller"),
            "{message}"
        );
        assert!("none,kubelet".parse::<Selection>().is_err());
    }
}
