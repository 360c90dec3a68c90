//! What holds for any source text.

use std::{path::PathBuf, str::FromStr};

use proc_macro2::{TokenStream, TokenTree};
use proptest::prelude::*;

use super::{
    Sources,
    lexer::{Documents, Kind, tokens},
};
use crate::diagnostic::Place;

/// Pieces of Rust that are tokens by themselves, whatever stands around them.
fn pieces() -> impl Strategy<Value = Vec<&'static str>> {
    prop::collection::vec(
        prop::sample::select(vec![
            "a",
            "r#type",
            "'a",
            "'_",
            "'static",
            "'a'",
            "'\\''",
            "'\\\\'",
            "'\"'",
            "'/'",
            "b'x'",
            "b'\\''",
            "\"\"",
            "\"// a\"",
            "\"\\\"\"",
            "\"\\\\\"",
            "\"/*\"",
            "r\"\\\"",
            "r#\"\"//\"#",
            "r##\"\"#/*\"##",
            "br#\"'\"#",
            "c\"//\"",
            "cr#\"\"\"#",
            "b\"*/\"",
            "1.5e3",
            "0x1f",
            "1_000u64",
            "1..2",
            "..=",
            "->",
            "=>",
            "::",
            "&&",
            "#[a]",
            "{ b }",
            "( )",
            "[c, d]",
            "/",
            "*",
            "!",
            "#",
            "\n",
            "// plain\n",
            "// \"\n",
            "// '\n",
            "//\n",
            "//// \"\n",
            "/* \" ' */",
            "/* /* */ */",
            "/***/",
            "/**/",
            "/*** a */",
            "/// doc\n",
            "/// \"'\n",
            "/** doc */",
            "/*! inner */",
            "//! inner\n",
            "'ä'",
            "\"ü\"",
            "é",
        ]),
        0..24,
    )
}

/// The strings, characters and doc comments that proc-macro2 sees, by where they begin.
fn seen(stream: TokenStream, found: &mut Vec<(usize, &'static str)>) {
    for tree in stream {
        let start = tree.span().byte_range().start;
        match tree {
            TokenTree::Group(group) => seen(group.stream(), found),
            TokenTree::Literal(literal) => {
                let text = literal.to_string();
                if text.ends_with('"') || text.ends_with('#') {
                    found.push((start, "text"));
                } else if text.ends_with('\'') {
                    found.push((start, "character"));
                }
            }
            _ => {}
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn strings_and_comments_are_where_proc_macro2_sees_them(pieces in pieces()) {
        let text = pieces.join(" ");
        let Ok(stream) = TokenStream::from_str(&text) else { return Ok(()) };
        let mut theirs = Vec::new();
        seen(stream, &mut theirs);
        // A doc comment is a string to proc-macro2; it begins at the comment.
        theirs.sort_unstable();
        theirs.dedup();
        let ours: Vec<(usize, &str)> = tokens(&text)
            .into_iter()
            .filter_map(|token| match token.kind {
                Kind::Text => Some((token.range.start, "text")),
                Kind::Comment(style) if style.documents != Documents::Nothing => Some((token.range.start, "text")),
                Kind::Character => Some((token.range.start, "character")),
                _ => None,
            })
            .collect();
        prop_assert_eq!(ours, theirs, "{}", text);
    }

    #[test]
    fn tokens_are_in_order_and_cover_all_but_blanks(text in "[a-z'\"/*!#r\\\\ \n{}\\[\\]()ü+:=]{0,60}") {
        // A shebang at the start is no token.
        let text = format!("a{text}");
        let mut end = 0;
        for token in tokens(&text) {
            prop_assert!(token.range.start >= end && token.range.end > token.range.start);
            let gap = text.get(end..token.range.start);
            prop_assert!(gap.is_some_and(|gap| gap.trim().is_empty()), "{:?}", gap);
            end = token.range.end;
        }
    }

    #[test]
    fn any_text_can_be_checked(pieces in prop::collection::vec(prop::sample::select(vec![
        "struct A {", "}", "a: u8,", "enum B {", "C,", "fn d() {", "impl A {", "mod e {", "#[derive(JsonSchema)]", "#[cfg(test)]",
        "#![cfg(test)]", "#[test]", "mod f;", "(", ")", "[", "#", "\"", "'", "/*", "*/", "\n", "/// +nullable\n", "// +optional\n",
        "//! +groupName=a\n", "/** +listType=map */", "/// +kubebuilder:rbac:verbs=get\n", "/// ```\n", "#[doc = \"+nul\\u{6c}able\"]",
        "a! {", "let g = 1;", "/// +kubebuilder:validation:Pattern=`[`\n", "u8, /// +nullable\n", "#[serde(rename = \"é\")]",
    ]), 0..24)) {
        let text = pieces.join(" ");
        let sources = Sources::of_texts("op", [(PathBuf::from("src/lib.rs"), text.clone())]);
        let (markers, diagnostics) = sources.markers();
        for marker in markers {
            prop_assert_eq!(text.get(marker.range), Some(marker.marker.text.as_str()));
        }
        for diagnostic in diagnostics.into_iter().chain(sources.check()) {
            if let Place::File { range, .. } = diagnostic.place {
                prop_assert!(text.get(range).is_some());
            }
        }
    }
}
