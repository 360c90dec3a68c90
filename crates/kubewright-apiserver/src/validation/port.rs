//! Ports, given by their number or their name.

use kubewright_schema::names;
use serde_json::Value;

use super::Field;

/// The numbers that ports have.
pub(crate) const PORTS: std::ops::RangeInclusive<i64> = 1..=65535;

/// Checks a port that is a number or the name of one.
pub(crate) fn validate_port_number_or_name(port: Field<'_>) {
    match port.value() {
        Value::String(_) => port.check(names::port_name),
        _ => port.with(&Value::from(port.number())).in_range(PORTS),
    }
}
