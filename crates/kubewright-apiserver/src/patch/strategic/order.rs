//! The order of merged lists: items that the patch mentions in the order it gives them, others where
//! they stood.

use serde_json::Value;

use super::{DIRECTIVE, PatchError, Result, as_map, no_merge_key, plain_list};

/// Where the item with a key stands.
pub(super) fn position(items: &[Value], key: &str, value: &Value) -> Result<Option<usize>> {
    for (i, item) in items.iter().enumerate() {
        let Some(fields) = item.as_object() else {
            return Err(PatchError::Internal(format!("value for key {i} is not a map")));
        };
        if fields.get(key) == Some(value) {
            return Ok(Some(i));
        }
    }
    Ok(None)
}

/// Checks that the items of the patch come in the order that the patch sets.
pub(super) fn check(patch: &[Value], order: &[Value], key: &str) -> Result<()> {
    if patch.is_empty() || order.is_empty() {
        return Ok(());
    }
    let mut ordered = order.iter();
    for item in patch {
        if !key.is_empty() && as_map(item)?.contains_key(DIRECTIVE) {
            continue;
        }
        let mut found = false;
        for place in ordered.by_ref() {
            if same(item, place, key)? {
                found = true;
                break;
            }
        }
        if !found {
            let (patch, order) = (plain_list(patch), plain_list(order));
            return Err(PatchError::Internal(format!(
                "The order in patch list:\n{patch}\n doesn't match $setElementOrder list:\n{order}\n"
            )));
        }
    }
    Ok(())
}

fn same(left: &Value, right: &Value, key: &str) -> Result<bool> {
    if key.is_empty() {
        return Ok(left == right);
    }
    let value = |item: &Value| {
        let fields = as_map(item)?;
        fields.get(key).cloned().ok_or_else(|| no_merge_key(fields, key))
    };
    Ok(value(left)? == value(right)?)
}

/// Orders `merged`: items of `patch_order` in that order, the others, in `server_order`, before the
/// first item that stood behind them. An empty `key` compares items as a whole.
pub(super) fn arrange(
    merged: Vec<Value>,
    patch_order: &[Value],
    server_order: &[Value],
    key: &str,
) -> Result<Vec<Value>> {
    let patch_keys = keys(patch_order, key)?;
    let server_keys = keys(server_order, key)?;
    let place = |keys: &[Value], wanted: &Value| keys.iter().position(|key| key == wanted);
    let merged_keys = keys(&merged, key)?;
    let (mut patched, mut server): (Vec<Item>, Vec<Item>) = merged_keys
        .into_iter()
        .zip(merged)
        .map(|(key, value)| Item {
            patch: place(&patch_keys, &key),
            server: place(&server_keys, &key),
            value,
        })
        .partition(|item| item.patch.is_some());
    patched.sort_by_key(|item| item.patch);
    server.sort_by_key(|item| item.server.unwrap_or(usize::MAX));
    let mut out = Vec::with_capacity(patched.len() + server.len());
    let mut server = server.into_iter().peekable();
    for item in patched {
        while let Some(next) = server.next_if(|next| match (next.server, item.server) {
            (Some(next), Some(item)) => next < item,
            _ => false,
        }) {
            out.push(next.value);
        }
        out.push(item.value);
    }
    out.extend(server.map(|item| item.value));
    Ok(out)
}

struct Item {
    patch: Option<usize>,
    server: Option<usize>,
    value: Value,
}

/// What tells the items apart.
fn keys(items: &[Value], key: &str) -> Result<Vec<Value>> {
    if key.is_empty() {
        return Ok(items.to_vec());
    }
    items
        .iter()
        .map(|item| {
            let fields = as_map(item)?;
            fields.get(key).cloned().ok_or_else(|| no_merge_key(fields, key))
        })
        .collect()
}

/// Removes repeated scalars.
pub(super) fn dedup(items: &mut Vec<Value>) {
    let mut seen: Vec<Value> = Vec::with_capacity(items.len());
    items.retain(|item| {
        let is_new = !seen.contains(item);
        if is_new {
            seen.push(item.clone());
        }
        is_new
    });
}
