//! The licence of a project, and the lines at the top of its files that name it.

use serde::{Deserialize, Serialize};

/// A licence that a scaffolded project may have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum License {
    /// Apache License, version 2.0.
    #[default]
    Apache2,
    /// MIT License.
    Mit,
    /// None is named, and no file begins with one.
    None,
}

// === impl License ===

impl License {
    /// Its identifier in the list of SPDX.
    #[must_use]
    pub fn spdx(self) -> Option<&'static str> {
        match self {
            Self::Apache2 => Some("Apache-2.0"),
            Self::Mit => Some("MIT"),
            Self::None => None,
        }
    }

    /// The lines at the top of a file, without comment signs. No year is in them: a project that is written again in
    /// another one would differ.
    #[must_use]
    pub fn notice(self, owner: &str) -> Vec<String> {
        self.spdx()
            .map(|spdx| vec![format!("Copyright {owner}"), format!("SPDX-License-Identifier: {spdx}")])
            .unwrap_or_default()
    }
}

/// The lines of a notice that a user wrote, without comment signs: `//` and `#` before each line, or `/*` and `*/` around them.
#[must_use]
pub fn own_notice(text: &str) -> Vec<String> {
    let text = text.trim();
    let text = text.strip_prefix("/*").map_or(text, |rest| rest.strip_suffix("*/").unwrap_or(rest));
    let line = |line: &str| {
        let line = line.trim();
        let signs = ["//", "#", "*"];
        let bare = signs.iter().find_map(|sign| line.strip_prefix(sign)).unwrap_or(line);
        bare.trim().to_owned()
    };
    let lines: Vec<String> = text.lines().map(line).collect();
    let first = lines.iter().position(|line| !line.is_empty()).unwrap_or(lines.len());
    let last = lines.iter().rposition(|line| !line.is_empty()).map_or(first, |last| last + 1);
    lines[first..last].to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_notice_is_read_whatever_its_comment_signs() {
        let expected = ["Copyright Zoo Ltd.", "", "All rights reserved."];
        for text in [
            "/*\nCopyright Zoo Ltd.\n\nAll rights reserved.\n*/\n",
            "/*\n * Copyright Zoo Ltd.\n *\n * All rights reserved.\n */",
            "// Copyright Zoo Ltd.\n//\n// All rights reserved.\n",
            "# Copyright Zoo Ltd.\n#\n# All rights reserved.",
            "\nCopyright Zoo Ltd.\n\nAll rights reserved.\n\n",
        ] {
            assert_eq!(own_notice(text), expected, "{text}");
        }
        assert!(own_notice(" \n").is_empty());
        assert!(own_notice("/* */").is_empty());
    }
}
