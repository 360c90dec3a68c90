//! Which events are worth a reconciliation.
//!
//! A [`Predicate`] looks at one event and lets it pass or not. Those that look at metadata work for every
//! kind: [`generation_changed`], [`resource_version_changed`], [`labels_changed`], [`annotations_changed`],
//! [`label_selector`]. They are combined with [`and`], [`or`] and [`not`]; [`Funcs`] and closures are for
//! everything else. A predicate saves reconciliations, not memory: what it drops is still in the cache.
//!
//! Start with the trait, below. The controller runs predicates between an informer and a handler.

mod changed;
mod combine;
mod funcs;
mod selector;

pub use changed::{
    AnnotationsChanged, GenerationChanged, LabelsChanged, ResourceVersionChanged, annotations_changed,
    generation_changed, labels_changed, resource_version_changed,
};
pub use combine::{And, Not, Or, and, not, or};
pub use funcs::Funcs;
pub use selector::{LabelSelectorPredicate, label_selector};

use crate::event::Event;

/// Lets the events pass that are worth a reconciliation.
///
/// Any `Fn(&Event<K>) -> bool` is one. A predicate over `dyn Object` applies to events of every kind.
///
/// ```
/// use k8s_openapi::api::apps::v1::Deployment;
/// use kubewright_runtime::{
///     event::Event,
///     predicate::{Predicate, and, generation_changed},
/// };
///
/// fn takes(_: impl Predicate<Deployment>) {}
///
/// takes(generation_changed());
/// takes(and(generation_changed(), |event: &Event<Deployment>| !matches!(event, Event::Delete { .. })));
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a predicate over events of `{K}`",
    note = "a closure needs the type of its argument written out: `|event: &Event<{K}>| ..`"
)]
pub trait Predicate<K: ?Sized>: Send + Sync + 'static {
    /// Whether `event` passes.
    fn allows(&self, event: &Event<K>) -> bool;
}

impl<K: ?Sized, F> Predicate<K> for F
where
    F: Fn(&Event<K>) -> bool + Send + Sync + 'static,
{
    fn allows(&self, event: &Event<K>) -> bool {
        self(event)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use k8s_openapi::api::core::v1::ConfigMap;
    use kube::core::{Expression, ObjectMeta, Selector};

    use super::*;
    use crate::event::Object;

    fn object(generation: i64, labels: &[(&str, &str)]) -> Arc<ConfigMap> {
        let labels = labels.iter().map(|&(key, value)| (key.to_owned(), value.to_owned())).collect();
        Arc::new(ConfigMap {
            metadata: ObjectMeta {
                name: Some("cart".into()),
                generation: Some(generation),
                resource_version: Some(generation.to_string()),
                labels: Some(labels),
                ..Default::default()
            },
            ..Default::default()
        })
    }

    fn update(old: &Arc<ConfigMap>, new: &Arc<ConfigMap>) -> Event<ConfigMap> {
        Event::Update { old: old.clone(), new: new.clone() }
    }

    #[test]
    fn changed_predicates_look_at_updates_alone() {
        let one = object(1, &[]);
        let same = update(&one, &one);
        let next = update(&one, &object(2, &[]));
        assert!(!generation_changed().allows(&same) && generation_changed().allows(&next));
        assert!(!resource_version_changed().allows(&same) && resource_version_changed().allows(&next));
        assert!(!labels_changed().allows(&next) && !annotations_changed().allows(&next));
        assert!(labels_changed().allows(&update(&one, &object(1, &[("app", "cart")]))));
        for event in [
            Event::Create { object: one.clone(), initial: true },
            Event::Delete { object: one.clone(), state_unknown: false },
            Event::Generic { object: one },
        ] {
            assert!(generation_changed().allows(&event) && annotations_changed().allows(&event));
        }
    }

    #[test]
    fn an_event_filter_works_without_the_type() {
        let filter: Box<dyn Predicate<dyn Object>> = Box::new(generation_changed());
        let one = object(1, &[]);
        assert!(!filter.allows(&update(&one, &one).erase()));
        let filter: Box<dyn Predicate<dyn Object>> =
            Box::new(|event: &Event<dyn Object>| event.object().metadata().name.as_deref() == Some("cart"));
        assert!(filter.allows(&Event::Generic { object: one }.erase()));
    }

    #[test]
    fn combinators_follow_logic() {
        let event = Event::Generic { object: object(1, &[]) };
        let yes = |_: &Event<ConfigMap>| true;
        let no = |_: &Event<ConfigMap>| false;
        assert!(and(yes, yes).allows(&event) && !and(yes, no).allows(&event));
        assert!(or(no, yes).allows(&event) && !or(no, no).allows(&event));
        assert!(not(no).allows(&event) && !not(yes).allows(&event));
    }

    #[test]
    fn funcs_let_pass_what_they_have_no_function_for() {
        let one = object(1, &[]);
        let funcs =
            Funcs::<ConfigMap>::new().update(|old, new| old.data != new.data).delete(|_, unknown| unknown);
        assert!(!funcs.allows(&update(&one, &one)));
        assert!(funcs.allows(&Event::Create { object: one.clone(), initial: false }));
        assert!(!funcs.allows(&Event::Delete { object: one.clone(), state_unknown: false }));
        assert!(funcs.allows(&Event::Delete { object: one, state_unknown: true }));
    }

    #[test]
    fn a_label_selector_looks_at_the_new_object() {
        let selector = label_selector(Selector::from_iter([
            Expression::In("app".into(), ["cart".into(), "shop".into()].into()),
            Expression::DoesNotExist("canary".into()),
        ]));
        let cart = object(1, &[("app", "cart")]);
        let canary = object(2, &[("app", "cart"), ("canary", "yes")]);
        assert!(selector.allows(&update(&canary, &cart)));
        assert!(!selector.allows(&update(&cart, &canary)));
        assert!(!selector.allows(&Event::Create { object: object(1, &[]), initial: true }));
    }
}
