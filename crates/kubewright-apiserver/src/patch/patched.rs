//! The outcome of a patch, before it is an object again.

use serde_json::Value;

use super::PatchError;
use crate::types::Type;
use crate::types::strict::{self, DecodeError, Decoded};

/// What a patch made of an object.
#[derive(Clone, Debug, PartialEq)]
pub struct Patched {
    /// The patched object. It may be anything.
    pub value: Value,
    /// What is wrong with the patch itself under strict field validation.
    pub strict_errors: Vec<String>,
    /// What errors about the outcome show; the patched object if absent.
    pub(super) shown: Option<String>,
}

// === impl Patched ===

impl Patched {
    /// Decodes the outcome as an object of `ty`; custom resources have no type here.
    ///
    /// Under strict field validation (`is_strict`) any strict error, of the patch or of the outcome,
    /// is an error. Otherwise they are returned, to be warned about or ignored.
    pub fn decode(self, ty: Option<&Type>, is_strict: bool) -> Result<Decoded, PatchError> {
        let text = self.value.to_string();
        let shown = |text: String| self.shown.clone().unwrap_or(text);
        let mut decoded = match strict::decode(text.as_bytes(), ty) {
            Ok(decoded) => decoded,
            Err(DecodeError::Syntax(reason) | DecodeError::Type(reason)) => {
                return Err(PatchError::Invalid { shown: shown(text), reason });
            }
        };
        let mut strict_errors = self.strict_errors.clone();
        strict_errors.append(&mut decoded.strict_errors);
        if is_strict && !strict_errors.is_empty() {
            let reason = format!("strict decoding error: {}", strict_errors.join(", "));
            return Err(PatchError::Invalid { shown: shown(text), reason });
        }
        Ok(Decoded { value: decoded.value, strict_errors })
    }
}

impl From<Value> for Patched {
    fn from(value: Value) -> Self {
        Self { value, strict_errors: Vec::new(), shown: None }
    }
}
