//! Lines and columns.

use serde::{Deserialize, Serialize};

/// A place in a text, as editors show it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Position {
    /// The line, from 1 on.
    pub line: usize,
    /// The column in characters, from 1 on.
    pub column: usize,
}

/// The line and column of a byte; those of the end for a byte behind it.
///
/// ```
/// use kubewright_manifests::diagnostic::{Position, position};
///
/// assert_eq!(position("a\nüb", 4), Position { line: 2, column: 2 });
/// ```
#[must_use]
pub fn position(text: &str, byte: usize) -> Position {
    let before = text.as_bytes().get(..byte).unwrap_or(text.as_bytes());
    let line_start = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    let is_start_of_character = |byte: &&u8| **byte & 0b1100_0000 != 0b1000_0000;
    let line = before.get(line_start..).unwrap_or_default();
    Position {
        line: 1 + before.iter().filter(|byte| **byte == b'\n').count(),
        column: 1 + line.iter().filter(is_start_of_character).count(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_columns_begin_with_one() {
        let text = "a\r\n\nü🚀b";
        for (byte, line, column) in
            [(0, 1, 1), (1, 1, 2), (3, 2, 1), (4, 3, 1), (6, 3, 2), (10, 3, 3), (99, 3, 4)]
        {
            assert_eq!(position(text, byte), Position { line, column }, "{byte}");
        }
    }
}
