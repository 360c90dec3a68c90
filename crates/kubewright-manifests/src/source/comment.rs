//! The lines of comments that are markers or meant to be.

use std::{borrow::Cow, ops::Range};

use super::lexer::{Documents, Kind, Token};
use crate::marker::docs::{Line, classify, code_blocks};

/// A line that is a marker or meant to be one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Candidate<'t> {
    /// The text from its `+`.
    pub(super) text: Cow<'t, str>,
    /// Its bytes in the file: those of the whole string, where it is written with escapes.
    pub(super) range: Range<usize>,
    /// The bytes of the comment or attribute that it is in.
    pub(super) comment: Range<usize>,
    pub(super) documents: Documents,
    pub(super) form: Form,
    /// Whether there is code before it on the same line.
    pub(super) is_behind_code: bool,
    /// Whether a star comes before it, as is usual on the lines of block comments.
    pub(super) is_behind_star: bool,
}

/// How a comment is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// `//`, `///`, `//!`.
    Line,
    /// `/* */`, `/** */`, `/*! */`.
    Block,
    /// `#[doc = ".."]`.
    Attribute,
}

/// A line of a comment.
struct CommentLine<'t> {
    text: Cow<'t, str>,
    range: Range<usize>,
    comment: Range<usize>,
    form: Form,
    is_behind_code: bool,
}

/// Finds the lines of comments that are markers or meant to be.
pub(super) fn candidates<'t>(text: &'t str, tokens: &[Token]) -> Vec<Candidate<'t>> {
    let mut found = Vec::new();
    let mut block: Vec<CommentLine<'t>> = Vec::new();
    let mut documents = Documents::Nothing;
    let mut last_end = 0;
    let mut index = 0;
    while let Some(token) = tokens.get(index) {
        let (comment, length) = match token.kind {
            Kind::Comment(style) => {
                let is_behind_code =
                    index > 0 && !text.get(last_end..token.range.start).unwrap_or_default().contains('\n');
                let form = if style.is_block { Form::Block } else { Form::Line };
                let lines = comment_lines(text, token.range.clone(), form, style.documents, is_behind_code);
                (Some((style.documents, lines)), 1)
            }
            Kind::Mark(b'#') => match attribute(text, tokens.get(index..).unwrap_or_default()) {
                Some((documents, lines, length)) => (Some((documents, lines)), length),
                None => (None, 1),
            },
            _ => (None, 1),
        };
        if let Some((of_this, lines)) = comment {
            let gap = text.get(last_end..token.range.start).unwrap_or_default();
            let is_apart =
                of_this == Documents::Nothing && gap.bytes().filter(|byte| *byte == b'\n').count() > 1;
            if of_this != documents || is_apart {
                finish(&mut block, documents, &mut found);
            }
            documents = of_this;
            block.extend(lines);
        } else if !block.is_empty() {
            finish(&mut block, documents, &mut found);
        }
        index += length;
        last_end = tokens.get(index - 1).map_or(text.len(), |token| token.range.end);
    }
    finish(&mut block, documents, &mut found);
    found
}

fn finish<'t>(block: &mut Vec<CommentLine<'t>>, documents: Documents, found: &mut Vec<Candidate<'t>>) {
    if block.iter().any(|line| line.text.contains('+')) {
        let texts: Vec<&str> =
            block.iter().map(|line| line.text.strip_prefix(' ').unwrap_or(&line.text)).collect();
        let in_code = code_blocks(&texts);
        for (line, in_code) in block.drain(..).zip(in_code) {
            if !in_code {
                found.extend(candidate(line, documents));
            }
        }
    }
    block.clear();
}

fn candidate(line: CommentLine<'_>, documents: Documents) -> Option<Candidate<'_>> {
    let whole: &str = &line.text;
    // Lines of a block comment often begin with a star; the compiled type sees it, but people do not.
    let inside = if line.form == Form::Block { whole.trim_start().trim_start_matches('*') } else { whole };
    let is_behind_star = line.form == Form::Block && whole.trim_start().starts_with('*');
    let Line::Marker(marker) = classify(inside) else { return None };
    let start = marker.as_ptr() as usize - whole.as_ptr() as usize;
    let length = marker.len();
    let (text, range) = match line.text {
        Cow::Borrowed(text) => {
            let range = line.range.start + start..line.range.start + start + length;
            (Cow::Borrowed(&text[start..start + length]), range)
        }
        Cow::Owned(text) => (Cow::Owned(text[start..start + length].to_owned()), line.range),
    };
    Some(Candidate {
        text,
        range,
        comment: line.comment,
        documents,
        form: line.form,
        is_behind_code: line.is_behind_code,
        is_behind_star,
    })
}

/// The lines of a comment, without its signs.
fn comment_lines(
    text: &str,
    comment: Range<usize>,
    form: Form,
    documents: Documents,
    mut is_behind_code: bool,
) -> Vec<CommentLine<'_>> {
    let sign = if documents == Documents::Nothing { 2 } else { 3 };
    let end = match form {
        Form::Block if text.get(comment.clone()).is_some_and(|text| text.ends_with("*/")) => comment.end - 2,
        _ => comment.end,
    };
    let mut lines = Vec::new();
    let mut at = (comment.start + sign).min(end);
    for line in text.get(at..end).unwrap_or_default().split('\n') {
        let range = at..at + line.len();
        at = range.end + 1;
        lines.push(CommentLine {
            text: Cow::Borrowed(line),
            range,
            comment: comment.clone(),
            form,
            is_behind_code,
        });
        is_behind_code = false;
    }
    lines
}

/// The lines of a `#[doc = ".."]`, and how many tokens it has.
fn attribute<'t>(text: &'t str, tokens: &[Token]) -> Option<(Documents, Vec<CommentLine<'t>>, usize)> {
    let is_inner = tokens.get(1)?.is(b'!');
    let inside = tokens.get(1 + usize::from(is_inner)..)?;
    let [open, name, equals, value, close, ..] = inside else { return None };
    let is_doc = open.is(b'[')
        && name.text(text) == "doc"
        && equals.is(b'=')
        && value.kind == Kind::Text
        && close.is(b']');
    if !is_doc {
        return None;
    }
    let comment = tokens.first()?.range.start..close.range.end;
    let literal = value.text(text);
    let line = |text: Cow<'t, str>, range: Range<usize>| CommentLine {
        text,
        range,
        comment: comment.clone(),
        form: Form::Attribute,
        is_behind_code: false,
    };
    let raw = literal.trim_start_matches('r').trim_matches('#');
    let is_plain = !literal.contains('\\') || literal.starts_with('r');
    let lines = if is_plain {
        let inner = raw.strip_prefix('"')?.strip_suffix('"')?;
        let mut at = value.range.start + (inner.as_ptr() as usize - literal.as_ptr() as usize);
        let mut lines = Vec::new();
        for inner_line in inner.split('\n') {
            lines.push(line(Cow::Borrowed(inner_line), at..at + inner_line.len()));
            at += inner_line.len() + 1;
        }
        lines
    } else {
        let value_text = syn::parse_str::<syn::LitStr>(literal).ok()?.value();
        value_text.split('\n').map(|text| line(Cow::Owned(text.to_owned()), value.range.clone())).collect()
    };
    let documents = if is_inner { Documents::Around } else { Documents::Next };
    Some((documents, lines, 6 + usize::from(is_inner)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::lexer::tokens;

    fn texts(text: &str) -> Vec<String> {
        candidates(text, &tokens(text))
            .into_iter()
            .inspect(|candidate| {
                if !text.contains('\\') {
                    assert_eq!(&text[candidate.range.clone()], candidate.text);
                }
            })
            .map(|candidate| candidate.text.into_owned())
            .collect()
    }

    #[test]
    fn every_kind_of_comment_is_read() {
        for text in [
            "// +optional",
            "//+optional",
            "/// +optional",
            "//!   +optional  ",
            "/** +optional */",
            "/*! +optional */",
            "/* +optional */",
            "/**\n * a\n * +optional\n */",
            "#[doc = \"+optional\"]",
            "#[doc = r#\" +optional\"#]",
            "#[doc = \"a\\n+optional\"]",
            "#![doc = \"+optional\"]",
            "// +optional\r\n",
        ] {
            assert_eq!(texts(text), ["+optional"], "{text}");
        }
    }

    #[test]
    fn what_is_no_comment_or_no_marker_is_left_alone() {
        for text in [
            "\"// +optional\"",
            "r\"\n/// +optional\n\"",
            "// a +optional",
            "// +1",
            "#[doc(alias = \"+optional\")]",
            "#[x = \"+optional\"]",
            "//// /// +optional",
            "/// ```\n/// +optional\n/// ```",
            "/// ```text\n/// a\n/// ```\n/// ~~~\n/// +optional\n/// ~~~",
        ] {
            assert_eq!(texts(text), Vec::<String>::new(), "{text}");
        }
    }

    #[test]
    fn a_code_block_ends_with_its_comment() {
        assert_eq!(texts("/// ```\nfn a() {}\n/// +optional\n/// ```"), ["+optional"]);
        assert_eq!(texts("// ```\n\n// +optional\n\n// ```"), ["+optional"]);
    }

    #[test]
    fn a_comment_behind_code_is_known() {
        let text = "a: u8, // +optional\n/// +nullable";
        let behind: Vec<bool> = candidates(text, &tokens(text)).iter().map(|c| c.is_behind_code).collect();
        assert_eq!(behind, [true, false]);
        assert!(!candidates("// +optional", &tokens("// +optional"))[0].is_behind_code);
    }
}
