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
