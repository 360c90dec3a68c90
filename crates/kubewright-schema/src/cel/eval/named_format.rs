//! The formats that have a name: `format.dns1123Label().validate('x')`.

use std::sync::Arc;

use base64::{Engine, prelude::BASE64_STANDARD};
use kube_cel::cel::{Value as Cel, objects::Opaque};

use super::{Failure, Outcome, evaluator::optional_of, url};
use crate::{
    cel::checker::{LibraryType, is_time},
    names,
};

/// A format by its name.
#[derive(Debug, PartialEq, Eq)]
struct Format(&'static str);

const NAMES: [&str; 13] = [
    "dns1123Label",
    "dns1123Subdomain",
    "dns1035Label",
    "qualifiedName",
    "dns1123LabelPrefix",
    "dns1123SubdomainPrefix",
    "dns1035LabelPrefix",
    "labelValue",
    "uri",
    "uuid",
    "byte",
    "date",
    "datetime",
];

/// Applies a function of formats. Nothing if it is none.
pub(super) fn apply(function: &str, operands: &[Cel]) -> Option<Outcome> {
    let named = |name: &str| {
        let known = NAMES.iter().find(|known| **known == name)?;
        Some(Cel::Opaque(Arc::new(Format(known))))
    };
    Some(match (function, operands) {
        ("format.named", [Cel::String(name)]) => Ok(optional_of(named(name))),
        ("validate", [Cel::Opaque(opaque), Cel::String(text)]) => {
            let Some(format) = opaque.downcast_ref::<Format>() else {
                return Some(Err(Failure::no_such_overload()));
            };
            let problems: Vec<Cel> =
                format.problems(text).into_iter().map(|problem| Cel::String(Arc::new(problem))).collect();
            Ok(optional_of((!problems.is_empty()).then(|| Cel::List(Arc::new(problems)))))
        }
        (_, []) => Ok(named(function.strip_prefix("format.")?)?),
        _ => return None,
    })
}

impl Format {
    /// What is wrong with a text.
    fn problems(&self, text: &str) -> Vec<String> {
        let one =
            |is_valid: bool, problem: &str| if is_valid { Vec::new() } else { vec![problem.to_owned()] };
        match self.0 {
            "dns1123Label" => names::dns1123_label(text),
            "dns1123Subdomain" => names::dns1123_subdomain(text),
            "dns1035Label" => names::dns1035_label(text),
            "dns1123LabelPrefix" => names::dns1123_label(&completed(text)),
            "dns1123SubdomainPrefix" => names::dns1123_subdomain(&completed(text)),
            "dns1035LabelPrefix" => names::dns1035_label(&completed(text)),
            "qualifiedName" => names::label_key(text),
            "labelValue" => names::label_value(text),
            "uri" => url::problem(text).into_iter().collect(),
            "uuid" => one(is_uuid(text), "does not match the UUID format"),
            "byte" => one(!text.is_empty() && BASE64_STANDARD.decode(text).is_ok(), "invalid base64"),
            "date" => one(is_time(&format!("{text}T00:00:00Z")), "invalid date"),
            _ => one(is_time(text), "invalid datetime"),
        }
    }
}

/// The start of a name, made one that ends as names do.
fn completed(text: &str) -> String {
    match text.strip_suffix('-') {
        Some(rest) if !rest.is_empty() => {
            let mut kept: String = rest.to_owned();
            kept.pop();
            format!("{kept}a")
        }
        _ => text.to_owned(),
    }
}

fn is_uuid(text: &str) -> bool {
    let digits: String = text.chars().filter(|c| *c != '-').collect();
    let dashes: Vec<usize> = text.match_indices('-').map(|(at, _)| at).collect();
    digits.len() == 32
        && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
        && (dashes.is_empty() || dashes.iter().all(|at| [8, 13, 18, 23].contains(at)))
}

impl Opaque for Format {
    fn runtime_type_name(&self) -> &str {
        LibraryType::Format.name()
    }
}
