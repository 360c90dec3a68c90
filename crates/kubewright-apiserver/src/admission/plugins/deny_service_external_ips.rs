//! Services get no external addresses that they did not have before.

use serde_json::Value;

use super::Attributes;
use crate::status::Status;

pub(super) fn validate(attributes: &Attributes<'_>, service: Option<&Value>) -> Result<(), Status> {
    let Some(service) = service.filter(|_| attributes.is_of("", "services", "")) else { return Ok(()) };
    let list = |service: &Value| service["spec"]["externalIPs"].as_array().cloned().unwrap_or_default();
    let had = attributes.old.map(list).unwrap_or_default();
    if list(service).iter().all(|ip| had.contains(ip)) {
        return Ok(());
    }
    Err(attributes.forbidden(Some(service), "Use of external IPs is denied by admission control"))
}
