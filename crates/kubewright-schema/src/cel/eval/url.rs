//! URLs as Go reads them.

use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

use kube_cel::cel::{
    Value as Cel,
    objects::{Key, Map, Opaque},
};

use super::{Failure, Outcome};
use crate::{cel::checker::LibraryType, error::go};

/// A URL with a scheme, or a path from the root.
#[derive(Debug, PartialEq, Eq)]
struct Url {
    scheme: String,
    host: String,
    /// As it is written.
    path: String,
    query: String,
}

/// Applies a function of URLs. Nothing if it is none.
pub(super) fn apply(function: &str, operands: &[Cel]) -> Option<Outcome> {
    let string = |text: &str| Ok(Cel::String(Arc::new(text.to_owned())));
    let url = || match operands {
        [Cel::Opaque(opaque)] => opaque.downcast_ref::<Url>().ok_or_else(Failure::no_such_overload),
        _ => Err(Failure::no_such_overload()),
    };
    Some(match (function, operands) {
        ("url", [Cel::String(text)]) => match Url::parse(text) {
            Ok(url) => Ok(Cel::Opaque(Arc::new(url))),
            Err(why) => {
                let why = format!("URL parse error during conversion from string: {}", shown(text, &why));
                Err(Failure::other(why))
            }
        },
        ("isURL", [Cel::String(text)]) => Ok(Cel::Bool(problem(text).is_none())),
        ("getScheme", _) => url().and_then(|url| string(&url.scheme)),
        ("getHost", _) => url().and_then(|url| string(&url.host)),
        ("getHostname", _) => url().and_then(|url| string(url.host_and_port().0)),
        ("getPort", _) => url().and_then(|url| string(url.host_and_port().1)),
        ("getEscapedPath", _) => url().and_then(|url| string(&escaped(&url.path))),
        ("getQuery", _) => url().map(Url::queries),
        _ => return None,
    })
}

/// What is wrong with a text that is no URL.
pub(super) fn problem(text: &str) -> Option<String> {
    Url::parse(text).err().map(|why| shown(text, &why))
}

fn shown(text: &str, why: &str) -> String {
    format!("parse {}: {why}", go::quote(text))
}

impl Url {
    fn parse(text: &str) -> Result<Self, String> {
        if text.is_empty() {
            return Err("empty url".to_owned());
        }
        if text.bytes().any(|byte| byte < 0x20 || byte == 0x7f) {
            return Err("net/url: invalid control character in URL".to_owned());
        }
        let text = text.split('#').next().unwrap_or_default();
        let (scheme, rest) = scheme(text)?;
        let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
        let mut url = Self {
            scheme: scheme.to_lowercase(),
            host: String::new(),
            path: String::new(),
            query: query.to_owned(),
        };
        if !rest.starts_with('/') {
            // What has a scheme may be anything.
            return if scheme.is_empty() { Err("invalid URI for request".to_owned()) } else { Ok(url) };
        }
        let path = match rest.strip_prefix("//").filter(|_| !scheme.is_empty()) {
            None => rest,
            Some(authority) => {
                let (authority, path) = authority.split_at(authority.find('/').unwrap_or(authority.len()));
                url.host = host(authority.rsplit_once('@').map_or(authority, |(_, host)| host))?;
                path
            }
        };
        invalid_escape(path)?;
        path.clone_into(&mut url.path);
        Ok(url)
    }

    fn host_and_port(&self) -> (&str, &str) {
        let host = self.host.as_str();
        let (name, port) = match host.rsplit_once(':') {
            Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => (name, port),
            _ => (host, ""),
        };
        (name.strip_prefix('[').and_then(|name| name.strip_suffix(']')).unwrap_or(name), port)
    }

    fn queries(&self) -> Cel {
        let mut found: BTreeMap<String, Vec<Cel>> = BTreeMap::new();
        for pair in self.query.split('&').filter(|pair| !pair.is_empty() && !pair.contains(';')) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            if let (Some(name), Some(value)) = (decoded(name), decoded(value)) {
                found.entry(name).or_default().push(Cel::String(Arc::new(value)));
            }
        }
        let entry = |(name, values)| (Key::String(Arc::new(name)), Cel::List(Arc::new(values)));
        let map: HashMap<Key, Cel> = found.into_iter().map(entry).collect();
        Cel::Map(Map { map: Arc::new(map) })
    }
}

impl Opaque for Url {
    fn runtime_type_name(&self) -> &str {
        LibraryType::Url.name()
    }
}

fn scheme(text: &str) -> Result<(&str, &str), String> {
    let end = text.find(|c: char| !(c.is_ascii_alphanumeric() || "+-.".contains(c))).unwrap_or(text.len());
    match text.get(end..).unwrap_or_default().strip_prefix(':') {
        Some(_) if end == 0 => Err("missing protocol scheme".to_owned()),
        Some(_) if !text.starts_with(|c: char| c.is_ascii_alphabetic()) => {
            Err("first path segment in URL cannot contain colon".to_owned())
        }
        Some(rest) => Ok((text.get(..end).unwrap_or_default(), rest)),
        None => Ok(("", text)),
    }
}

fn host(authority: &str) -> Result<String, String> {
    let bad_port = |port: &str| Err(format!("invalid port {} after host", go::quote(port)));
    let is_port = |port: &str| {
        port.is_empty() || port.strip_prefix(':').is_some_and(|port| port.bytes().all(|b| b.is_ascii_digit()))
    };
    if authority.starts_with('[') {
        let Some(end) = authority.rfind(']') else { return Err("missing ']' in host".to_owned()) };
        let port = authority.get(end + 1..).unwrap_or_default();
        if !is_port(port) {
            return bad_port(port);
        }
    } else if let Some(at) = authority.rfind(':') {
        let port = authority.get(at..).unwrap_or_default();
        if !is_port(port) {
            return bad_port(port);
        }
    }
    if let Some(wrong) = authority.chars().find(|c| " \"<>\\^`{|}".contains(*c)) {
        return Err(format!("invalid character {} in host name", go::quote(&wrong.to_string())));
    }
    Ok(authority.to_owned())
}

fn invalid_escape(text: &str) -> Result<(), String> {
    for (at, _) in text.match_indices('%') {
        let escape: String = text.get(at..).unwrap_or_default().chars().take(3).collect();
        if escape.len() != 3 || !escape.bytes().skip(1).all(|byte| byte.is_ascii_hexdigit()) {
            return Err(format!("invalid URL escape {}", go::quote(&escape)));
        }
    }
    Ok(())
}

/// The path with everything escaped that has to be.
fn escaped(path: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.~/%$&+,:;=@!'()*[]".contains(&byte);
    let escape =
        |byte: u8| if is_plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") };
    path.bytes().map(escape).collect()
}

/// A part of a query without escapes.
fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'+' => b' ',
            b'%' => {
                let digits = [rest.next()?, rest.next()?];
                u8::from_str_radix(std::str::from_utf8(&digits).ok()?, 16).ok()?
            }
            other => other,
        });
    }
    String::from_utf8(bytes).ok()
}
