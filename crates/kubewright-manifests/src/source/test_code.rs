//! The code that is there for tests only.
//!
//! Markers in it say nothing of the operator. Left out are items, fields and statements under `#[cfg(test)]` or any other condition
//! that cannot hold without `test`, functions under `#[test]` or an attribute whose last part is `test`, modules with
//! `#![cfg(test)]`, and the files of modules that are declared so.

use std::ops::Range;

use super::lexer::{Documents, Kind, Token};

/// What is there for tests only.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct TestCode {
    /// The bytes.
    pub(super) ranges: Vec<Range<usize>>,
    /// The modules whose code is in other files.
    pub(super) modules: Vec<TestModule>,
}

/// A module that is declared under `#[cfg(test)]`, with its code elsewhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TestModule {
    /// The modules in the same file that it is in.
    pub(super) within: Vec<String>,
    pub(super) name: String,
    /// The value of `#[path = ".."]`.
    pub(super) path: Option<String>,
}

/// Finds the code that is there for tests only.
pub(super) fn find(text: &str, tokens: &[Token]) -> TestCode {
    Finder { text, tokens, found: TestCode::default(), blocks: Vec::new() }.run()
}

struct Finder<'t> {
    text: &'t str,
    tokens: &'t [Token],
    found: TestCode,
    /// The brackets that are open, those of modules with the module's name.
    blocks: Vec<(usize, Option<String>)>,
}

/// The comments and attributes before an item.
#[derive(Default)]
struct Pending {
    start: Option<usize>,
    end: usize,
    is_plain: bool,
    is_test: bool,
    path: Option<String>,
}

impl Finder<'_> {
    fn run(mut self) -> TestCode {
        let mut pending = Pending::default();
        let mut index = 0;
        while let Some(token) = self.tokens.get(index) {
            match token.kind {
                Kind::Comment(style) => {
                    let is_plain = style.documents == Documents::Nothing;
                    self.extend(&mut pending, &token.range, is_plain);
                    index += 1;
                }
                Kind::Mark(b'#') => index = self.attribute(index, &mut pending),
                _ if pending.is_test => {
                    let end = self.item_end(index);
                    self.note_module(index, end, pending.path.take());
                    let last =
                        self.tokens.get(end.saturating_sub(1)).map_or(self.text.len(), |last| last.range.end);
                    self.found.ranges.push(pending.start.unwrap_or(token.range.start)..last);
                    pending = Pending::default();
                    index = end.max(index + usize::from(!is_close(token)));
                }
                _ => {
                    self.track(index);
                    pending = Pending::default();
                    index += 1;
                }
            }
        }
        self.found
    }

    /// Adds a comment or an attribute to those before an item. A blank line after plain comments parts them from it.
    fn extend(&self, pending: &mut Pending, range: &Range<usize>, is_plain: bool) {
        let gap = self.text.get(pending.end..range.start).unwrap_or_default();
        let is_apart = pending.is_plain && gap.bytes().filter(|byte| *byte == b'\n').count() > 1;
        if pending.start.is_none() || (is_apart && !pending.is_test) {
            pending.start = Some(range.start);
        }
        pending.end = range.end;
        pending.is_plain = is_plain;
    }

    /// Reads an attribute, and goes on after it.
    fn attribute(&mut self, index: usize, pending: &mut Pending) -> usize {
        let is_inner = self.is_mark(index + 1, b'!');
        let open = index + 1 + usize::from(is_inner);
        if !self.is_mark(open, b'[') {
            *pending = Pending::default();
            return index + 1;
        }
        let close = self.closing(open);
        let inside = self.tokens.get(open + 1..close).unwrap_or_default();
        let is_test = self.is_test(inside);
        if is_inner {
            if is_test {
                let start = self
                    .blocks
                    .last()
                    .and_then(|(at, _)| self.tokens.get(*at))
                    .map_or(0, |token| token.range.start);
                let end = self.block_end(close);
                let last = self.tokens.get(end).map_or(self.text.len(), |token| token.range.end);
                self.found.ranges.push(start..last);
                *pending = Pending::default();
                return end;
            }
            return close + 1;
        }
        if let (Some(start), Some(end)) = (self.tokens.get(index), self.tokens.get(close)) {
            self.extend(pending, &(start.range.start..end.range.end), false);
        }
        pending.is_test |= is_test;
        if let [name, equals, value, ..] = inside
            && name.text(self.text) == "path"
            && equals.is(b'=')
            && value.kind == Kind::Text
        {
            pending.path = Some(value.text(self.text).trim_matches('"').to_owned());
        }
        close + 1
    }

    /// Whether an attribute takes the code away when nothing is tested.
    fn is_test(&self, inside: &[Token]) -> bool {
        let words: Vec<&Token> =
            inside.iter().filter(|token| !matches!(token.kind, Kind::Comment(_))).collect();
        match words.as_slice() {
            [name, open, rest @ ..] if name.text(self.text) == "cfg" && open.is(b'(') => {
                let rest = rest.strip_suffix(&[rest.last().copied().unwrap_or(open)]).unwrap_or_default();
                self.condition(rest, 0) == Some(false)
            }
            path => {
                let end = path.iter().position(|token| token.is(b'(')).unwrap_or(path.len());
                let is_path = path[..end].iter().all(|token| token.kind == Kind::Word || token.is(b':'));
                is_path && path[..end].last().is_some_and(|last| last.text(self.text) == "test")
            }
        }
    }

    /// The value of a `cfg` condition without `test`; none if it depends on something else.
    fn condition(&self, tokens: &[&Token], depth: usize) -> Option<bool> {
        if depth > 32 {
            return None;
        }
        match tokens {
            [word] => (word.text(self.text) == "test").then_some(false),
            [name, open, inside @ .., close] if open.is(b'(') && close.is(b')') => {
                let parts: Vec<Option<bool>> =
                    split_at_commas(inside).into_iter().map(|part| self.condition(part, depth + 1)).collect();
                // One part decides, or all parts agree.
                let of_all = |decides: bool| {
                    if parts.contains(&Some(decides)) {
                        Some(decides)
                    } else {
                        parts.iter().all(Option::is_some).then_some(!decides)
                    }
                };
                match name.text(self.text) {
                    "not" => parts.first().copied().flatten().map(|value| !value),
                    "all" => of_all(false),
                    "any" => of_all(true),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// The token after the item, field or statement that begins here.
    fn item_end(&self, start: usize) -> usize {
        let word = |index: usize| self.tokens.get(index).map_or("", |token| token.text(self.text));
        let mut first = start;
        if word(first) == "pub" {
            first += 1;
            if self.is_mark(first, b'(') {
                first = self.closing(first) + 1;
            }
        }
        let keyword = word(first);
        let is_statement = matches!(keyword, "use" | "const" | "static" | "type" | "let")
            // `const fn` ends with its body.
            && word(first + 1) != "fn";
        let is_item = is_statement
            || matches!(
                keyword,
                "mod"
                    | "fn"
                    | "struct"
                    | "enum"
                    | "union"
                    | "impl"
                    | "trait"
                    | "extern"
                    | "unsafe"
                    | "async"
                    | "const"
                    | "macro_rules"
                    | "auto"
            );
        let mut index = start;
        while let Some(token) = self.tokens.get(index) {
            match token.kind {
                Kind::Mark(b';') => return index + 1,
                Kind::Mark(b',') if !is_item => return index + 1,
                Kind::Mark(b'{' | b'(' | b'[') => {
                    let close = self.closing(index);
                    if token.is(b'{') && is_item && !is_statement {
                        return close + 1;
                    }
                    index = close;
                }
                Kind::Mark(b'}' | b')' | b']') => return index,
                _ => {}
            }
            index += 1;
        }
        index
    }

    /// Remembers the module that is declared from here to there without a body.
    fn note_module(&mut self, start: usize, end: usize, path: Option<String>) {
        let item = self.tokens.get(start..end).unwrap_or_default();
        if let [.., keyword, name, semicolon] = item
            && keyword.text(self.text) == "mod"
            && semicolon.is(b';')
        {
            let within = self.blocks.iter().filter_map(|(_, name)| name.clone()).collect();
            self.found.modules.push(TestModule { within, name: name.text(self.text).to_owned(), path });
        }
    }

    /// Follows the brackets.
    fn track(&mut self, index: usize) {
        let Some(token) = self.tokens.get(index) else { return };
        match token.kind {
            Kind::Mark(b'{' | b'(' | b'[') => {
                let name = index
                    .checked_sub(2)
                    .and_then(|at| self.tokens.get(at..index))
                    .filter(|before| token.is(b'{') && before[0].text(self.text) == "mod")
                    .map(|before| before[1].text(self.text).to_owned());
                self.blocks.push((index, name));
            }
            Kind::Mark(b'}' | b')' | b']') => {
                self.blocks.pop();
            }
            _ => {}
        }
    }

    fn is_mark(&self, index: usize, mark: u8) -> bool {
        self.tokens.get(index).is_some_and(|token| token.is(mark))
    }

    /// The bracket that closes the one at `open`; the end of the file if none does.
    fn closing(&self, open: usize) -> usize {
        let mut depth = 0_usize;
        for (index, token) in self.tokens.iter().enumerate().skip(open) {
            match token.kind {
                Kind::Mark(b'{' | b'(' | b'[') => depth += 1,
                Kind::Mark(b'}' | b')' | b']') => {
                    depth = depth.saturating_sub(1);
                    if depth == 0 {
                        return index;
                    }
                }
                _ => {}
            }
        }
        self.tokens.len()
    }

    /// The bracket that closes the block around this token.
    fn block_end(&self, inside: usize) -> usize {
        let mut depth = 0_usize;
        for (index, token) in self.tokens.iter().enumerate().skip(inside + 1) {
            match token.kind {
                Kind::Mark(b'{' | b'(' | b'[') => depth += 1,
                Kind::Mark(b'}' | b')' | b']') if depth == 0 => return index,
                Kind::Mark(b'}' | b')' | b']') => depth -= 1,
                _ => {}
            }
        }
        self.tokens.len()
    }
}

fn is_close(token: &Token) -> bool {
    matches!(token.kind, Kind::Mark(b'}' | b')' | b']'))
}

fn split_at_commas<'s, 't>(tokens: &'s [&'t Token]) -> Vec<&'s [&'t Token]> {
    let mut depth = 0_usize;
    let parts = tokens.split(|token| {
        match token.kind {
            Kind::Mark(b'(') => depth += 1,
            Kind::Mark(b')') => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0 && token.is(b',')
    });
    parts.filter(|part| !part.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::lexer::tokens;

    /// What is left of a text without its test code.
    fn left(text: &str) -> String {
        let mut left = text.to_owned();
        for range in find(text, &tokens(text)).ranges.into_iter().rev() {
            left.replace_range(range, "");
        }
        left.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn items_end_where_rust_ends_them() {
        for item in [
            "mod tests { fn a() { ((;)) } }",
            "mod tests;",
            "pub(crate) fn a<A, B>() -> [u8; 2] { [1, 2] }",
            "struct A;",
            "struct A(u8);",
            "struct A<B> { b: B }",
            "impl<A, B> C for D<A, B> where A: E { }",
            "use a::{b, c};",
            "const A: B = B { c: 1 };",
            "const fn a() { }",
            "macro_rules! a { () => {} }",
            "unsafe extern \"C\" { }",
        ] {
            let text = format!("a! {{}} #[cfg(test)] {item} b! {{}}");
            assert_eq!(left(&text), "a! {} b! {}", "{item}");
        }
    }

    #[test]
    fn fields_and_statements_are_left_out_too() {
        assert_eq!(left("struct A { #[cfg(test)] a: u8, b: u8 }"), "struct A { b: u8 }");
        assert_eq!(left("struct A { b: u8, #[cfg(test)] a: u8 }"), "struct A { b: u8, }");
        assert_eq!(left("fn a() { #[cfg(test)] b(1, 2); c(); }"), "fn a() { c(); }");
        assert_eq!(left("fn a() { #[cfg(test)] let b = if c { d } else { e }; f(); }"), "fn a() { f(); }");
    }

    #[test]
    fn docs_go_with_their_item() {
        assert_eq!(left("/// a\n#[cfg(test)]\n/// b\n// c\nfn d() {}"), "");
        assert_eq!(left("// a\n#[cfg(test)] fn b() {}"), "");
        assert_eq!(left("// a\n\n#[cfg(test)] fn b() {}"), "// a");
        assert_eq!(left("/// a\n\n#[cfg(test)] fn b() {}"), "");
        assert_eq!(left("/// a\nfn b() {} #[cfg(test)] fn c() {}"), "/// a fn b() {}");
    }

    #[test]
    fn conditions_are_understood() {
        for condition in [
            "test",
            "all(test, feature = \"a\")",
            "not(not(test))",
            "any(test)",
            "all(unix, any(test, all(test)))",
        ] {
            assert_eq!(left(&format!("#[cfg({condition})] fn a() {{}}")), "", "{condition}");
        }
        for condition in
            ["not(test)", "any(test, feature = \"a\")", "feature = \"test\"", "unix", "", "all()"]
        {
            let text = format!("#[cfg({condition})] fn a() {{}}");
            assert_eq!(left(&text), text, "{condition}");
        }
    }

    #[test]
    fn test_functions_are_test_code() {
        assert_eq!(left("#[test] fn a() {} #[tokio::test(start_paused = true)] async fn b() {}"), "");
        let text = "#[derive(test)] struct A; #[kube(test = \"x\")] struct B;";
        assert_eq!(left(text), text);
    }

    #[test]
    fn inner_conditions_take_the_block_around_them() {
        assert_eq!(left("#![cfg(test)] fn a() {}"), "");
        assert_eq!(left("mod a { #![cfg(test)] fn b() {} } fn c() {}"), "mod a fn c() {}");
    }

    #[test]
    fn modules_in_other_files_are_named() {
        let text =
            "mod a { mod b { #[cfg(test)] mod c; } } #[cfg(test)] #[path = \"d.rs\"] pub mod e; mod f;";
        let modules = find(text, &tokens(text)).modules;
        let module = |within: &[&str], name: &str, path: Option<&str>| TestModule {
            within: within.iter().map(|&name| name.to_owned()).collect(),
            name: name.to_owned(),
            path: path.map(str::to_owned),
        };
        assert_eq!(modules, [module(&["a", "b"], "c", None), module(&[], "e", Some("d.rs"))]);
    }

    #[test]
    fn what_is_not_rust_does_no_harm() {
        for text in [
            "#",
            "#[",
            "#[cfg",
            "#[cfg(test",
            "#[cfg(test)]",
            "#[cfg(test)] }",
            "} } #![cfg(test)]",
            "#[cfg(test)] (",
        ] {
            let _ = left(text);
        }
    }
}
