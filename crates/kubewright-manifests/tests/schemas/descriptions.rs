//! Comments.

use schemars::JsonSchema;

use crate::{assert_our_style_unchanged, assert_recorded_run};
use kubewright_manifests::schema::Options;

/// Worded is a type. It has two sentences. And a third that is quite a bit longer than the others are.
#[derive(JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Worded {
    /// A line
    /// and another.
    ///
    /// A paragraph after a blank line that is long enough to be folded if it were not a block: it is a block.
    lines: String,
    /// One line that is longer than eighty columns, so that it has to be folded somewhere: after the column 80.
    long: String,
    /// One line with a colon: it has to be quoted, and it is longer than eighty columns, so it's folded within quotes.
    colon: String,
    /// "Quoted" from the first letter on.
    quoted: String,
    /// 123
    digits: String,
    /// true
    word: String,
    /// An emoji 🚀 in a line.
    emoji: String,
    /// An emoji 🚀 in one of
    /// two lines.
    emoji_lines: String,
    /// Tab	here, and ünïcödé – “quotes” too.
    tab: String,
    ///   three spaces first
    ///     five spaces on the second
    indented: String,
    /// Before.
    /// TODO: drop this line
    /// TODO(somebody) and this
    /// After, TODO stays here.
    todo: String,
    /// Before the rule.
    /// ---
    /// After the rule.
    rule: String,
    /// Ends with a task.
    /// TODO: the last line
    last: String,
    /// Fenced:
    /// ```
    /// TODO: stays
    /// ---
    ///   indented
    /// ```
    /// TODO: goes
    /// End.
    fenced: String,
    /// Also fenced:
    /// ~~~yaml
    /// TODO: stays
    /// ~~~
    tildes: String,
    /// Has a directive.
    directive: String,
    /// Above the marker.
    /// +optional
    /// Below the marker.
    around: Option<String>,
    /// Doc of the field.
    apart: String,
    /// A block comment.
    /// Its second line.
    block: String,
    /// - a list
    /// - of things: two
    list: String,
    /// # a heading
    heading: String,
    /// ends with a space and more spaces
    trailing: String,
    /// Two  spaces  stay  together,  and  no  line  is  broken  at  them,  even  if  it  is  far  longer  than  80.
    doubled: String,
    /// Wordthatislongerthaneightycolumnssothatthereisnoplacetofolditanywhereatallinthewholeofthisword and more
    word80: String,
    /// Is this a question? It is! And an answer… Then Ελληνικά; more。完了
    terminals: String,
    /// Äöüäöüäöüäöüäöüäöü and so on in two-byte letters without end
    two_byte: String,
    none: String,
    typed: Typed,
    typed_list: Vec<Typed>,
    /// Field before type.
    typed_over: Typed,
}

/// Typed has a comment of its own.
#[derive(JsonSchema)]
struct Typed(String);

/// What Rust's doc comments are is not all that Go's are: schemars takes a heading at the start for the title, and blanks at the
/// start away. The block comment of Go keeps its indentation.
const OTHERWISE: [&str; 3] = ["heading", "indented", "block"];

/// controller-gen cuts a letter of two bytes in the middle, and writes a replacement character.
const CUT_LETTER: &str = "twoByte";

#[track_caller]
fn assert_cut(run: &str, limit: Option<usize>) {
    let mut options = Options::default();
    options.max_description_length = limit;
    let mut left_out = OTHERWISE.to_vec();
    if limit == Some(1) {
        left_out.push(CUT_LETTER);
    }
    assert_recorded_run::<Worded>("descriptions", run, "descriptions", options, &left_out);
}

#[test]
fn comments_become_descriptions() {
    assert_cut("whole", None);
}

#[test]
fn descriptions_are_cut() {
    assert_cut("none", Some(0));
    assert_cut("1", Some(1));
    assert_cut("20", Some(20));
    assert_cut("60", Some(60));
}

#[test]
fn descriptions_in_our_style() {
    assert_our_style_unchanged::<Worded>("descriptions-whole", "descriptions", Options::default());
    let mut options = Options::default();
    options.max_description_length = Some(20);
    assert_our_style_unchanged::<Worded>("descriptions-20", "descriptions", options);
}
