//! The text so far, its column and its indentation.

/// Collects text and knows where on its line it is.
#[derive(Debug)]
pub(super) struct Output {
    text: String,
    /// Characters on the last line.
    pub(super) column: usize,
    /// Whether the last character separates what comes next from what was before.
    whitespace: bool,
    /// Whether the line has nothing but indentation and indicators (`-`, `?`, `:`), so that a collection may begin on it.
    indentation_only: bool,
}

impl Output {
    pub(super) fn new() -> Self {
        Self { text: String::new(), column: 0, whitespace: true, indentation_only: true }
    }

    pub(super) fn into_text(self) -> String {
        self.text
    }

    pub(super) fn indentation_only(&self) -> bool {
        self.indentation_only
    }

    /// One character of a scalar.
    pub(super) fn put(&mut self, character: char) {
        self.text.push(character);
        self.column += 1;
    }

    pub(super) fn line_break(&mut self, character: char) {
        self.text.push(character);
        self.column = 0;
    }

    /// Goes to `column`, on a new line if this one has more than indentation.
    pub(super) fn indent_to(&mut self, column: usize) {
        if !self.indentation_only || self.column > column || (self.column == column && !self.whitespace) {
            self.line_break('\n');
        }
        while self.column < column {
            self.put(' ');
        }
        self.whitespace = true;
        self.indentation_only = true;
    }

    /// An indicator (`-`, `?`, `:`) after which a collection may begin on the same line.
    pub(super) fn collection_indicator(&mut self, indicator: char) {
        self.separate();
        self.put(indicator);
        self.whitespace = false;
    }

    /// The colon after a simple key.
    pub(super) fn key_end(&mut self) {
        self.put(':');
        self.whitespace = false;
        self.indentation_only = false;
    }

    /// A word that is no scalar, such as `{}`.
    pub(super) fn word(&mut self, word: &str) {
        self.separate();
        word.chars().for_each(|character| self.put(character));
        self.whitespace = false;
        self.indentation_only = false;
    }

    /// A space, unless there is one.
    pub(super) fn separate(&mut self) {
        if !self.whitespace {
            self.put(' ');
        }
    }

    /// The characters since the last `indent_to` are text.
    pub(super) fn text_written(&mut self) {
        self.whitespace = false;
        self.indentation_only = false;
    }

    /// The line that was begun is empty.
    pub(super) fn line_begun(&mut self) {
        self.whitespace = true;
        self.indentation_only = true;
    }
}
