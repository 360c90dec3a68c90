//! How much of the descriptions is written.

use super::{Options, node::Node, sentence::ends_sentence, union::describe_variants};
use crate::Style;

/// Shortens the descriptions of a definition and of everything that it defines itself.
pub(super) fn limit(node: &mut Node, limit: usize) {
    if let Some(text) = node.text("description").map(|text| shorten(text, limit)) {
        node.set("description", text);
    }
    for child in node.children_mut() {
        self::limit(child, limit);
    }
}

/// Finishes the descriptions of a resolved tree. `limit` is what is said further up.
pub(super) fn describe(node: &mut Node, options: &Options, limit: Option<usize>) {
    let limit = node.description_limit.or(limit);
    let mut text = node.text("description").unwrap_or_default().to_owned();
    if options.style == Style::Kubewright {
        describe_variants(&mut text, &node.variants);
    }
    if let Some(limit) = limit {
        text = shorten(&text, limit);
    }
    if text.is_empty() {
        node.keywords.remove("description");
    } else {
        node.set("description", text);
    }
    for child in node.children_mut() {
        describe(child, options, limit);
    }
}

/// Cuts a text that is longer than `limit` bytes, as controller-gen does: after the last sentence that fits, else after the
/// last word with `...`, else in the word.
#[must_use]
pub fn shorten(text: &str, limit: usize) -> String {
    if text.len() <= limit || limit == 0 {
        return if limit == 0 { String::new() } else { text.to_owned() };
    }
    let kept = &text[..text.floor_char_boundary(limit)];
    // A sign at the very start ends nothing.
    let last = |matches: fn(char) -> bool| kept.char_indices().rev().find(|(at, c)| *at > 0 && matches(*c));
    if let Some((at, sign)) = last(ends_sentence) {
        return kept[..at + sign.len_utf8()].to_owned();
    }
    match last(char::is_whitespace) {
        Some((at, _)) => format!("{}...", &kept[..at]),
        None => format!("{kept}..."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_cut_after_a_sentence_or_a_word() {
        for (text, limit, cut) in [
            ("short", 5, "short"),
            ("One. Two three", 10, "One."),
            ("no sentence in sight", 12, "no sentence..."),
            ("unbreakable", 4, "unbr..."),
            ("anything", 0, ""),
            (".hidden file of a user", 12, ".hidden..."),
            ("Größe", 3, "Gr..."),
            ("你好。世界你好", 10, "你好。"),
        ] {
            assert_eq!(shorten(text, limit), cut, "{text:?} to {limit}");
        }
    }
}
