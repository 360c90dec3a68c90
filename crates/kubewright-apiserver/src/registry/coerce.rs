use serde_json::Value;

use super::{Served, Warnings};
use crate::{status::Status, wire::options::FieldValidation};

impl Served {
    /// Brings an object that a client sent into the state in which it is checked: without the fields that its kind
    /// does not have, and with defaults. `faults` are what a strict reader of its text has found already.
    ///
    /// With `keep_nulls` nulls stay where they are not allowed, to be refused.
    ///
    /// # Errors
    /// 400 if faults are to be refused; if they are to be warned of, they end up in `warnings`.
    pub(crate) fn coerce(
        &self,
        object: &mut Value,
        mut faults: Vec<String>,
        keep_nulls: bool,
        validation: FieldValidation,
        warnings: &Warnings,
    ) -> Result<(), Status> {
        if let Some(custom) = &self.custom {
            let unknown = custom.coerce(object, keep_nulls);
            faults.extend(unknown.iter().map(|path| format!("unknown field {path:?}")));
        }
        match validation {
            FieldValidation::Strict if !faults.is_empty() => {
                let definition = &self.definition;
                Err(Status::bad_request(format!(
                    "{kind} in version {version:?} cannot be handled as a {kind}: strict decoding error: {}",
                    faults.join(", "),
                    kind = definition.kind,
                    version = definition.version,
                )))
            }
            FieldValidation::Warn => {
                warnings.extend(faults);
                Ok(())
            }
            FieldValidation::Strict | FieldValidation::Ignore => Ok(()),
        }
    }
}
