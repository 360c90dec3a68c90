//! Doc comments, taken apart into prose and markers.

use super::{lookup, nearest::nearest};
use crate::Style;

/// A doc comment, taken apart.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Documentation {
    /// The prose, which becomes the description in the schema.
    pub description: String,
    /// The lines that are markers of the table or meant to be, from their `+` on. [`super::parse`] says which of the two.
    pub markers: Vec<String>,
}

/// What a line is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Line<'t> {
    /// A marker of the table, or what is meant to be one: from its `+`, without blanks at the end.
    Marker(&'t str),
    /// A marker of another tool, such as `+protobuf=true`.
    Foreign(&'t str),
    /// Anything else.
    Prose,
}

/// The prefixes under which every name is one of the table.
const PREFIXES: &[&str] = &["kubebuilder", "k8s", "kubewright"];

/// Says what a line of a comment is.
///
/// A marker begins with `+` and a letter, and its name ends at a `=`, a blank or the end of the line. It is ours if its
/// name begins with `kubebuilder:`, `k8s:` or `kubewright:`, or if it is a name of the table. A name that is a slip away from one of these
/// counts as one of them, so that `+kubebuidler:resource` or `+lsitType=map` are errors, but only if nothing but a
/// value follows: a sentence may begin with a plus. `+kubebuilder:scaffold:` lines are where scaffolding inserts code,
/// and belong to another tool.
#[must_use]
pub fn classify(line: &str) -> Line<'_> {
    let text = line.trim();
    let Some(rest) =
        text.strip_prefix('+').filter(|rest| rest.starts_with(|c: char| c.is_ascii_alphabetic()))
    else {
        return Line::Prose;
    };
    let end = rest.find(|c: char| c == '=' || c.is_whitespace()).unwrap_or(rest.len());
    let name = rest[..end].trim_end_matches(':');
    let is_whole = end == rest.len() || rest[end..].starts_with('=');
    let prefix = name.split_once(':').map(|(prefix, _)| prefix);
    if prefix == Some("kubebuilder") && name.starts_with("kubebuilder:scaffold:") {
        return Line::Foreign(text);
    }
    if prefix.is_some_and(|prefix| PREFIXES.contains(&prefix)) || lookup::is_known(name) {
        return Line::Marker(text);
    }
    if !is_whole || !name.chars().all(|c| c.is_ascii_alphanumeric() || "_-.:/".contains(c)) {
        return Line::Prose;
    }
    let is_slip = match prefix {
        Some(prefix) => nearest(prefix, PREFIXES.iter().copied().filter(|known| known.len() > 3)).is_some(),
        None => lookup::suggestion(name).is_some_and(|known| !known.contains(':')),
    };
    if is_slip { Line::Marker(text) } else { Line::Foreign(text) }
}

/// Takes a doc comment apart.
///
/// The description is what is left when the markers, foreign ones included, are gone. As with controller-gen, lines that begin with `TODO` are
/// left out, and everything from a line on that begins with `---`, both not inside of a code block; blanks at the ends of lines,
/// and blank lines at both ends and after another one, go as well.
///
/// Inside of a code block nothing is a marker, since it shows how something is written; a block that nothing closes
/// does not count. With [`Style::ControllerGen`] every line that begins with `+` is left out of the description, and a blank line stays where
/// a `TODO` at the end is left out.
#[must_use]
pub fn split(comment: &str, style: Style) -> Documentation {
    let mut markers = Vec::new();
    let mut prose: Vec<&str> = Vec::new();
    let lines: Vec<&str> = comment.lines().collect();
    for (line, in_code) in lines.iter().copied().zip(code_blocks(&lines)) {
        let kept = match classify(line) {
            Line::Marker(text) if !in_code => {
                markers.push(text.to_owned());
                false
            }
            Line::Foreign(_) if !in_code => false,
            _ => style == Style::Kubewright || !line.trim_start().starts_with('+'),
        };
        let line = line.trim_end();
        if kept && !(line.is_empty() && prose.last().is_none_or(|last| last.is_empty())) {
            prose.push(line);
        }
    }
    while prose.last().is_some_and(|last| last.is_empty()) {
        prose.pop();
    }
    let mut description: Vec<&str> = Vec::new();
    let mut in_code = false;
    for line in prose {
        if is_fence(line) {
            in_code = !in_code;
        }
        if !in_code && line.starts_with("TODO") {
            continue;
        }
        if !in_code && line.starts_with("---") {
            break;
        }
        if style == Style::Kubewright
            && line.is_empty()
            && description.last().is_none_or(|last| last.is_empty())
        {
            continue;
        }
        description.push(line);
    }
    let mut description = description.join("\n");
    if style == Style::Kubewright {
        description.truncate(description.trim_end().len());
    }
    Documentation { description, markers }
}

/// Whether each of the lines of a comment is inside of a code block that is closed.
pub(crate) fn code_blocks(lines: &[&str]) -> Vec<bool> {
    let fences = lines.iter().filter(|line| is_fence(line)).count();
    let mut seen = 0;
    let is_inside = |line: &&str| {
        seen += usize::from(is_fence(line));
        // An odd number of fences leaves the last one open.
        seen % 2 == 1 && seen < fences
    };
    lines.iter().map(is_inside).collect()
}

fn is_fence(line: &str) -> bool {
    line.starts_with("```") || line.starts_with("~~~")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_marker(line: &str) -> bool {
        matches!(classify(line), Line::Marker(_))
    }

    #[test]
    fn ours_is_what_has_our_names_or_a_slip_in_one() {
        for line in [
            "+optional",
            "  +nullable  ",
            "+listType=map",
            "+lsitType=map",
            "+nulable",
            "+kubebuilder:validation:Minimum=1",
            "+kubebuilder:whatever",
            "+kubebuidler:resource:path=x",
            "+k8s:nothing=1",
            "+kubewrihgt:conversion:path=/x",
            "+optional because it may be absent",
            "+default=3",
            "+defualt=3",
            "+groupNmae=x",
        ] {
            assert!(is_marker(line), "{line}");
        }
    }

    #[test]
    fn marks_of_other_tools_and_prose_are_not_ours() {
        for line in
            ["+protobuf=true", "+patchMergeKey=name", "+operator-sdk:csv:customresourcedefinitions", "+union"]
        {
            assert!(matches!(classify(line), Line::Foreign(_)), "{line}");
        }
        assert!(matches!(classify("+kubebuilder:scaffold:imports"), Line::Foreign(_)));
        for line in [
            "+1",
            "+ optional",
            "optional",
            "+also this",
            "+äöü",
            "",
            "+",
            "- +optional",
            "+defaults are fine",
        ] {
            assert_eq!(classify(line), Line::Prose, "{line}");
        }
    }

    #[test]
    fn markers_leave_the_description() {
        let comment =
            "Size is the number.  \n\n+kubebuilder:validation:Minimum=1\n+protobuf=true\n\nMore.\n+nullable";
        let documentation = split(comment, Style::Kubewright);
        assert_eq!(documentation.description, "Size is the number.\n\nMore.");
        assert_eq!(documentation.markers, ["+kubebuilder:validation:Minimum=1", "+nullable"]);
        assert_eq!(split("+optional", Style::ControllerGen).description, "");
    }

    #[test]
    fn notes_for_developers_leave_the_description() {
        let comment = "a\nTODO b\nc\n---\nd\n+optional";
        let documentation = split(comment, Style::Kubewright);
        assert_eq!(documentation.description, "a\nc");
        assert_eq!(documentation.markers, ["+optional"], "a marker below the line counts");
        assert_eq!(split("a\n\nTODO b", Style::Kubewright).description, "a");
        assert_eq!(split("a\n\nTODO b", Style::ControllerGen).description, "a\n");
        assert_eq!(
            split("```\nTODO a\n---\n```\nb", Style::ControllerGen).description,
            "```\nTODO a\n---\n```\nb"
        );
    }

    #[test]
    fn code_blocks_show_markers_without_meaning_them() {
        let documentation = split("a\n```\n+optional\n```\n+nullable", Style::Kubewright);
        assert_eq!(documentation.description, "a\n```\n+optional\n```");
        assert_eq!(documentation.markers, ["+nullable"]);
        let open = split("a\n~~~\n+optional", Style::Kubewright);
        assert_eq!(open.markers, ["+optional"], "a block that nothing closes hides nothing");
    }

    #[test]
    fn a_sentence_may_begin_with_a_plus() {
        assert_eq!(split("a\n+1 for b", Style::Kubewright).description, "a\n+1 for b");
        assert_eq!(split("a\n+1 for b", Style::ControllerGen).description, "a");
    }
}
