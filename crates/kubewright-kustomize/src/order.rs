//! The order of objects in what is written.

use crate::{
    id::{Gvk, Id, default_order, kind_order},
    kustomization::SortOptions,
    objects::Objects,
};

/// Sorts as `sortOptions` says; without them by kind, what others need first.
pub(crate) fn sort(objects: &mut Objects, options: Option<&SortOptions>) -> Result<(), String> {
    let (first, last) = default_order();
    match options.map(|options| (options.order.as_str(), &options.legacy_sort_options)) {
        None | Some(("legacy", None)) => by_kind(objects, first, last),
        Some(("legacy", Some(order))) => by_kind(objects, &order.order_first, &order.order_last),
        Some(("fifo", None)) => {}
        Some(("fifo", Some(_))) => return Err("`legacySortOptions` needs the order legacy".to_owned()),
        Some((other, _)) => return Err(format!("the order is `{other}`: it is legacy or fifo")),
    }
    Ok(())
}

fn by_kind<T: AsRef<str>>(objects: &mut Objects, first: &[T], last: &[T]) {
    objects.list.sort_by_cached_key(|resource| {
        let id = resource.id();
        let Gvk { group, kind, .. } = &id.gvk;
        // Those of Kubernetes itself come before others that are called so.
        let is_other_namespace = kind == "Namespace" && !group.is_empty();
        (kind_order(kind, first, last), is_other_namespace, id.gvk.order_text(), Id::order(&id))
    });
}
