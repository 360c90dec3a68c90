//! Probes and what happens around the life of a container.

use kubewright_schema::names;

use super::containers::Pod;
use crate::validation::{Field, port};

/// Checks what a container that goes on is asked and told.
pub(super) fn validate(container: Field<'_>, pod: &Pod<'_>) {
    validate_lifecycle(container.child("lifecycle"), pod);
    for name in ["livenessProbe", "readinessProbe", "startupProbe"] {
        let probe = container.child(name);
        if !probe.is_set() {
            continue;
        }
        validate_probe(probe);
        if name == "readinessProbe" {
            let seconds = probe.child("terminationGracePeriodSeconds");
            if let Some(number) = seconds.int() {
                seconds.invalid(number, "must not be set for readinessProbes");
            }
        } else if probe.child("successThreshold").number() != 1 {
            let threshold = probe.child("successThreshold");
            threshold.invalid(threshold.number(), "must be 1");
        }
    }
}

fn validate_lifecycle(lifecycle: Field<'_>, pod: &Pod<'_>) {
    for hook in [lifecycle.child("postStart"), lifecycle.child("preStop")] {
        if hook.is_set() {
            validate_handler(hook, &["exec", "httpGet", "tcpSocket", "sleep"], pod.grace_period());
        }
    }
}

fn validate_probe(probe: Field<'_>) {
    validate_handler(probe, &["exec", "httpGet", "tcpSocket", "grpc"], None);
    for number in
        ["initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold"]
    {
        probe.child(number).not_negative();
    }
    let seconds = probe.child("terminationGracePeriodSeconds");
    if let Some(number) = seconds.int().filter(|number| *number <= 0) {
        seconds.invalid(number, "must be greater than 0");
    }
}

/// Checks that there is one handler, of a type among `types`.
fn validate_handler(place: Field<'_>, types: &[&'static str], grace_period: Option<i64>) {
    let mut is_first = true;
    for &name in types {
        let handler = place.child(name);
        if !handler.is_set() {
            continue;
        }
        if !std::mem::take(&mut is_first) {
            handler.forbidden("may not specify more than 1 handler type");
            continue;
        }
        match name {
            "exec" if handler.child("command").is_empty() => handler.child("command").required(""),
            "httpGet" => validate_http_get(handler),
            "tcpSocket" => port::validate_port_number_or_name(handler.child("port")),
            "grpc" => {
                let port = handler.child("port");
                port.with(&port.number().into()).in_range(port::PORTS);
            }
            "sleep" => validate_sleep(handler, grace_period),
            _ => {}
        }
    }
    if is_first {
        place.required("must specify a handler type");
    }
}

fn validate_http_get(action: Field<'_>) {
    action.child("path").require();
    port::validate_port_number_or_name(action.child("port"));
    action.child("scheme").one_of(&["HTTP", "HTTPS"]);
    for header in action.child("httpHeaders").items() {
        let name = header.child("name").text();
        for reason in names::http_header_name(name) {
            action.child("httpHeaders").invalid(name, reason);
        }
    }
}

fn validate_sleep(action: Field<'_>, grace_period: Option<i64>) {
    // A grace period that makes no sense is reported where it stands.
    let Some(most) = grace_period else { return };
    let seconds = action.child("seconds").number();
    if seconds < 0 || seconds > most {
        let detail = format!("must be non-negative and less than terminationGracePeriodSeconds ({most})");
        action.invalid(seconds, detail);
    }
}
