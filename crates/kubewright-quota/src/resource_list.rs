use std::collections::{BTreeMap, btree_map};

use serde_json::{Map, Value};

use crate::Quantity;

/// Amounts of resources by name, as `requests` of a container or `used` of a quota.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ResourceList(BTreeMap<String, Quantity>);

impl ResourceList {
    /// Reads a map of quantities; what is none is nothing.
    #[must_use]
    pub fn of(value: &Value) -> Self {
        let entries = value.as_object().into_iter().flatten();
        Self(entries.map(|(name, quantity)| (name.clone(), Quantity::of(quantity))).collect())
    }

    /// The amount of a resource, if it is listed.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<Quantity> {
        self.0.get(name).copied()
    }

    /// Lists a resource, in place of what was listed of it before.
    pub fn set(&mut self, name: impl Into<String>, quantity: Quantity) {
        self.0.insert(name.into(), quantity);
    }

    /// Whether nothing is listed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// What is listed, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, Quantity)> {
        self.0.iter().map(|(name, quantity)| (name.as_str(), *quantity))
    }

    /// The names that are listed, in their order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// Adds the amounts of another list.
    pub fn add(&mut self, other: &Self) {
        for (name, quantity) in &other.0 {
            match self.0.entry(name.clone()) {
                btree_map::Entry::Vacant(entry) => drop(entry.insert(*quantity)),
                btree_map::Entry::Occupied(mut entry) => *entry.get_mut() = *entry.get() + *quantity,
            }
        }
    }

    /// Raises the amounts to those of another list.
    pub fn raise(&mut self, other: &Self) {
        for (name, quantity) in &other.0 {
            let own = self.0.entry(name.clone()).or_insert(*quantity);
            if *quantity > *own {
                *own = *quantity;
            }
        }
    }

    /// How much more this is than another list: of each resource of either, at least nothing.
    #[must_use]
    pub fn excess(&self, other: &Self) -> Self {
        let mut excess = self.clone();
        for (name, quantity) in &other.0 {
            let own = excess.0.entry(name.clone()).or_insert(Quantity::ZERO);
            *own = (*own - *quantity).max(Quantity::ZERO);
        }
        excess
    }

    /// The entries that `keep` asks for.
    #[must_use]
    pub fn filter(&self, mut keep: impl FnMut(&str, Quantity) -> bool) -> Self {
        let kept = self.0.iter().filter(|(name, quantity)| keep(name, **quantity));
        Self(kept.map(|(name, quantity)| (name.clone(), *quantity)).collect())
    }

    /// The list as JSON, as Kubernetes writes it.
    #[must_use]
    pub fn to_value(&self) -> Value {
        let entry =
            |(name, quantity): (&String, &Quantity)| (name.clone(), Value::from(quantity.to_string()));
        Value::Object(self.0.iter().map(entry).collect::<Map<_, _>>())
    }
}

/// `cpu=1,memory=1Gi`, as refusals show it.
impl std::fmt::Display for ResourceList {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (index, (name, quantity)) in self.0.iter().enumerate() {
            let separator = if index == 0 { "" } else { "," };
            write!(f, "{separator}{name}={quantity}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn lists_are_added_raised_and_compared() {
        let mut list = ResourceList::of(&json!({"cpu": "500m", "memory": "1Gi"}));
        list.add(&ResourceList::of(&json!({"cpu": "1", "pods": "1"})));
        assert_eq!(list.to_string(), "cpu=1500m,memory=1Gi,pods=1");
        list.raise(&ResourceList::of(&json!({"cpu": "1", "memory": "2Gi"})));
        assert_eq!(list.to_string(), "cpu=1500m,memory=2Gi,pods=1");
        let excess = list.excess(&ResourceList::of(&json!({"cpu": "1", "memory": "3Gi", "x": "1"})));
        assert_eq!(excess.to_string(), "cpu=500m,memory=0,pods=1,x=0");
        assert_eq!(list.filter(|name, _| name == "pods").to_value(), json!({"pods": "1"}));
    }
}
