use std::collections::BTreeMap;

use bytes::Bytes;
use serde_json::{Value, json};

/// The lines of a watch stream, put together from the pieces in which they come.
#[derive(Debug, Default)]
pub(super) struct Lines {
    rest: Vec<u8>,
}

impl Lines {
    /// The lines that `piece` completes, each with its newline.
    pub(super) fn push(&mut self, piece: &[u8]) -> Vec<Bytes> {
        let mut lines = Vec::new();
        for part in piece.split_inclusive(|byte| *byte == b'\n') {
            self.rest.extend_from_slice(part);
            if part.ends_with(b"\n") {
                lines.push(Bytes::from(std::mem::take(&mut self.rest)));
            }
        }
        lines
    }

    /// What came after the last newline.
    pub(super) fn finish(&mut self) -> Option<Bytes> {
        (!self.rest.is_empty()).then(|| Bytes::from(std::mem::take(&mut self.rest)))
    }
}

/// Leaves out events of an object if a later one about it is among `lines`, where `leave_out` says so. What remains tells
/// of an object's creation as a creation. Bookmarks stay where they are: nothing moves over one.
pub(super) fn coalesce(lines: Vec<Bytes>, mut leave_out: impl FnMut(&str) -> bool) -> Vec<Bytes> {
    let mut result: Vec<Option<Bytes>> = Vec::new();
    // Of each object that has an event since the last bookmark: where it is, and whether it is the creation.
    let mut last: BTreeMap<String, (usize, bool)> = BTreeMap::new();
    for line in lines {
        let event = serde_json::from_slice::<Value>(&line).unwrap_or_default();
        let (Some(kind), Some(uid)) =
            (event["type"].as_str(), event["object"]["metadata"]["uid"].as_str().map(str::to_owned))
        else {
            last.clear();
            result.push(Some(line));
            continue;
        };
        if !matches!(kind, "ADDED" | "MODIFIED") && kind != "DELETED" {
            last.clear();
            result.push(Some(line));
            continue;
        }
        let mut line = line;
        let mut creation = kind == "ADDED";
        if let Some((index, created)) = last.get(&uid).copied()
            && leave_out(&uid)
        {
            result[index] = None;
            if created && kind == "MODIFIED" {
                creation = true;
                let event = json!({"type": "ADDED", "object": event["object"]});
                line = Bytes::from(format!("{event}\n"));
            }
        }
        last.insert(uid, (result.len(), creation));
        result.push(Some(line));
    }
    result.into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(kind: &str, uid: &str, value: u64) -> Bytes {
        let object = json!({"metadata": {"uid": uid}, "value": value});
        Bytes::from(format!("{}\n", json!({"type": kind, "object": object})))
    }

    #[test]
    fn lines_are_put_together() {
        let mut lines = Lines::default();
        assert_eq!(lines.push(b"one\ntw"), [&b"one\n"[..]]);
        assert_eq!(lines.push(b"o\nthree"), [&b"two\n"[..]]);
        assert_eq!(lines.finish().as_deref(), Some(&b"three"[..]));
        assert_eq!(lines.finish(), None);
    }

    #[test]
    fn the_last_event_of_an_object_remains() {
        let lines = vec![
            event("ADDED", "a", 1),
            event("MODIFIED", "b", 1),
            event("MODIFIED", "a", 2),
            event("DELETED", "b", 2),
            event("BOOKMARK", "", 3),
            event("MODIFIED", "a", 4),
        ];
        let expected = [
            event("ADDED", "a", 2),
            event("DELETED", "b", 2),
            event("BOOKMARK", "", 3),
            event("MODIFIED", "a", 4),
        ];
        let parse = |lines: &[Bytes]| -> Vec<Value> {
            lines.iter().map(|line| serde_json::from_slice(line).expect("JSON")).collect()
        };
        assert_eq!(parse(&coalesce(lines.clone(), |_| true)), parse(&expected));
        assert_eq!(coalesce(lines.clone(), |_| false), lines);
    }
}
