//! The scalar style a text gets.

use super::plain;

/// How a scalar is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ScalarStyle {
    Plain,
    SingleQuoted,
    DoubleQuoted,
    Literal,
}

/// Whether a character breaks a line. YAML 1.1, unlike 1.2, has the last three as well.
pub(super) fn is_break(character: char) -> bool {
    matches!(character, '\n' | '\r' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// Whether a character may stand for itself in double quotes. Tabs and everything above U+FFFF, emoji for example,
/// may not: so yaml.v2 has it.
pub(super) fn is_printable(character: char) -> bool {
    matches!(character, '\n' | ' '..='~' | '\u{a0}'..='\u{fffd}') && character != '\u{feff}'
}

/// What a text allows.
#[derive(Debug)]
pub(super) struct Analysis {
    /// It has a line break.
    pub(super) multiline: bool,
    plain_allowed: bool,
    single_quoted_allowed: bool,
    literal_allowed: bool,
}

impl Analysis {
    /// Looks at the characters of `text`, not at what it means.
    pub(super) fn of(text: &str) -> Self {
        let marks_document = text.starts_with("---") || text.starts_with("...");
        let mut indicators = marks_document;
        let (mut multiline, mut special) = (false, false);
        let (mut space_after_break, mut break_after_space) = (false, false);
        let mut previous = None;
        let mut characters = text.chars().peekable();
        while let Some(character) = characters.next() {
            let at_end_of_word = characters.peek().is_none_or(|next| matches!(next, ' ' | '\t'));
            indicators |= match (previous, character) {
                (
                    None,
                    '#' | ',' | '[' | ']' | '{' | '}' | '&' | '*' | '!' | '|' | '>' | '\'' | '"' | '%' | '@'
                    | '`',
                ) => true,
                (None, '?' | '-') | (_, ':') => at_end_of_word,
                (Some(before), '#') => matches!(before, ' ' | '\t' | '\0') || is_break(before),
                _ => false,
            };
            multiline |= is_break(character);
            special |= !is_printable(character);
            space_after_break |= character == ' ' && previous.is_some_and(is_break);
            break_after_space |= is_break(character) && previous == Some(' ');
            previous = Some(character);
        }
        let ends_in_space = text.ends_with(' ');
        Self {
            multiline,
            plain_allowed: !(indicators || multiline || special || ends_in_space || text.starts_with(' ')),
            single_quoted_allowed: !(space_after_break || break_after_space || special),
            literal_allowed: !(text.is_empty() || ends_in_space || break_after_space || special),
        }
    }

    /// The style of the string `text`. A simple key is one that shares its line with the value.
    pub(super) fn style(&self, text: &str, simple_key: bool) -> ScalarStyle {
        let quoted =
            if self.single_quoted_allowed { ScalarStyle::SingleQuoted } else { ScalarStyle::DoubleQuoted };
        if text.contains('\n') {
            if self.literal_allowed && !simple_key { ScalarStyle::Literal } else { ScalarStyle::DoubleQuoted }
        } else if !plain::reads_as_string(text) {
            ScalarStyle::DoubleQuoted
        } else if self.plain_allowed {
            ScalarStyle::Plain
        } else {
            quoted
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn style(text: &str) -> ScalarStyle {
        Analysis::of(text).style(text, false)
    }

    #[test]
    fn indicators_at_the_start_need_quotes() {
        for text in [
            "#a", ",a", "[a", "{a", "&a", "*a", "!a", "|a", ">a", "'a", "\"a", "%a", "@a", "`a", "? a",
            "- a", "-",
        ] {
            assert_eq!(style(text), ScalarStyle::SingleQuoted, "{text}");
        }
        for text in ["?a", "-a", ":a", "a,b", "a[0]", "a'b", "a#b", "a:b", "--", "a---", "=", "<<"] {
            assert_eq!(style(text), ScalarStyle::Plain, "{text}");
        }
    }

    #[test]
    fn what_ends_a_key_or_begins_a_comment_needs_quotes() {
        for text in ["a: b", "a:", "a:\u{20}", "a #b", " a", "a ", "---", "...", "---a", ": a"] {
            assert_eq!(style(text), ScalarStyle::SingleQuoted, "{text}");
        }
    }

    #[test]
    fn what_is_not_a_string_needs_double_quotes() {
        for text in ["", "true", "1", "2020-01-01", "1:30", "~"] {
            assert_eq!(style(text), ScalarStyle::DoubleQuoted, "{text}");
        }
    }

    #[test]
    fn unprintable_characters_need_double_quotes() {
        for text in ["a\tb", "a\rb", "\u{1f680}", "a\u{feff}b", "a\u{85}b", "a\n\tb", "a\u{2028} b"] {
            assert_eq!(style(text), ScalarStyle::DoubleQuoted, "{text:?}");
        }
        assert_eq!(style("x\u{a0}é\u{fffd}"), ScalarStyle::Plain);
    }

    #[test]
    fn several_lines_are_literal_unless_a_line_ends_in_a_space() {
        for text in ["a\nb", "a\n", "\n", "\n\n", " a\nb", "#a\nb: c"] {
            assert_eq!(style(text), ScalarStyle::Literal, "{text:?}");
        }
        for text in ["a \nb", "a\nb ", " \n"] {
            assert_eq!(style(text), ScalarStyle::DoubleQuoted, "{text:?}");
        }
    }
}
