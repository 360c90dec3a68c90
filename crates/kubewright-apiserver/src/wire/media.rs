use crate::status::{Details, Reason, Status};

/// The media types that bodies of resources may have.
pub(crate) const JSON: &str = "application/json";
/// YAML.
pub(crate) const YAML: &str = "application/yaml";
/// Kubernetes' protobuf envelope, which is read but never written.
pub(crate) const PROTOBUF: &str = "application/vnd.kubernetes.protobuf";

const OFFERED: [&str; 3] = [JSON, YAML, PROTOBUF];
const OFFERED_FOR_WATCHES: [&str; 2] =
    ["application/json;stream=watch", "application/vnd.kubernetes.protobuf;stream=watch"];

/// How an answer is to be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Accepted {
    pub(crate) format: Format,
    pub(crate) pretty: bool,
    pub(crate) transform: Transform,
    /// Whether the transformed answer is of `meta.k8s.io/v1beta1`.
    pub(crate) beta: bool,
}

/// The syntax of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    Json,
    Yaml,
}

/// What an answer is turned into before it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Transform {
    None,
    Table,
    Metadata,
    MetadataList,
}

/// One clause of an `Accept` header.
struct Clause<'a> {
    kind: &'a str,
    subtype: &'a str,
    quality: f32,
    parameters: Vec<(&'a str, &'a str)>,
}

impl Accepted {
    /// JSON as it is.
    pub(crate) const JSON: Self =
        Self { format: Format::Json, pretty: false, transform: Transform::None, beta: false };

    /// The same without a transformation.
    pub(crate) fn untransformed(self) -> Self {
        Self { transform: Transform::None, ..self }
    }

    /// The `meta.k8s.io` version of a transformed answer.
    pub(crate) fn meta_version(self) -> &'static str {
        if self.beta { "meta.k8s.io/v1beta1" } else { "meta.k8s.io/v1" }
    }

    /// Refuses a client of a built-in kind that accepts none of the server's media types, whatever their parameters.
    /// Those of watches are offered where one can watch.
    ///
    /// # Errors
    /// 406, in other words than that of [`Accepted::negotiate`].
    pub(crate) fn check_types(accept: Option<&str>, watchable: bool) -> Result<(), Status> {
        let Some(accept) = accept.filter(|accept| !accept.trim().is_empty()) else { return Ok(()) };
        let is_offered = |clause: &str| {
            let media = clause.split(';').next().unwrap_or_default().trim();
            media == "*/*" || OFFERED.contains(&media)
        };
        if accept.split(',').any(is_offered) {
            return Ok(());
        }
        let streams: &[&str] = if watchable { &OFFERED_FOR_WATCHES } else { &[] };
        let offered = [&OFFERED, streams].concat().join(", ");
        let message = format!("406: Not Acceptable\n\nAvailable representations: {offered}");
        Err(Status::new(406, Reason::NotAcceptable, message).with_details(Details::default()))
    }

    /// Picks the first clause of an `Accept` header that the server can write. No header accepts JSON.
    ///
    /// Watches are written as JSON alone.
    ///
    /// # Errors
    /// 406 if no clause fits.
    pub(crate) fn negotiate(accept: Option<&str>, watch: bool) -> Result<Self, Status> {
        let Some(accept) = accept.filter(|accept| !accept.trim().is_empty()) else { return Ok(Self::JSON) };
        let mut clauses: Vec<Clause<'_>> = accept.split(',').filter_map(Clause::parse).collect();
        clauses.sort_by(|one, other| {
            other
                .quality
                .total_cmp(&one.quality)
                .then((one.kind == "*").cmp(&(other.kind == "*")))
                .then((one.subtype == "*").cmp(&(other.subtype == "*")))
        });
        let formats: &[Format] = if watch { &[Format::Json] } else { &[Format::Json, Format::Yaml] };
        let accepted =
            clauses.iter().find_map(|clause| formats.iter().find_map(|format| clause.accept(*format)));
        accepted.ok_or_else(|| {
            if watch {
                Status::not_acceptable(&OFFERED_FOR_WATCHES)
            } else {
                Status::not_acceptable(&OFFERED)
            }
        })
    }
}

impl<'a> Clause<'a> {
    fn parse(text: &'a str) -> Option<Self> {
        let mut parts = text.split(';').map(str::trim);
        let (kind, subtype) = parts.next()?.split_once('/')?;
        let parameters: Vec<_> = parts.filter_map(|part| part.split_once('=')).collect();
        let quality = parameters.iter().find(|(key, _)| *key == "q").and_then(|(_, q)| q.parse().ok());
        Some(Self { kind, subtype, quality: quality.unwrap_or(1.0), parameters })
    }

    fn accept(&self, format: Format) -> Option<Accepted> {
        let subtypes: &[&str] = match format {
            Format::Json => &["json"],
            Format::Yaml => &["yaml"],
        };
        let matches = match (self.kind, self.subtype) {
            ("*", "*") | ("application", "*") => true,
            ("application", subtype) => subtypes.contains(&subtype),
            _ => false,
        };
        if !matches {
            return None;
        }
        let mut accepted = Accepted { format, ..Accepted::JSON };
        let (mut target, mut group, mut version) = ("", "", "");
        for (key, value) in &self.parameters {
            match *key {
                "as" => target = value,
                "g" => group = value,
                "v" => version = value,
                "pretty" => accepted.pretty = *value == "1",
                "stream" if *value != "watch" => return None,
                _ => {}
            }
        }
        if !target.is_empty() {
            accepted.transform = match target {
                "Table" => Transform::Table,
                "PartialObjectMetadata" => Transform::Metadata,
                "PartialObjectMetadataList" => Transform::MetadataList,
                _ => return None,
            };
            accepted.beta = version == "v1beta1";
            if group != "meta.k8s.io" || !matches!(version, "v1" | "v1beta1") {
                return None;
            }
        }
        Some(accepted)
    }
}

/// The media type of a `Content-Type` header without its parameters; no header means JSON.
pub(crate) fn content_type(header: Option<&str>) -> &str {
    let media = header.unwrap_or_default().split(';').next().unwrap_or_default().trim();
    if media.is_empty() { JSON } else { media }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn negotiate(accept: &str) -> Result<Accepted, Status> {
        Accepted::negotiate(Some(accept), false)
    }

    #[test]
    fn the_first_clause_that_can_be_written_wins() {
        let table = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json";
        assert_eq!(negotiate(table).map(|a| a.transform), Ok(Transform::Table));
        let unknown = "application/json;as=Chair;v=v1;g=meta.k8s.io,application/json";
        assert_eq!(negotiate(unknown).map(|a| a.transform), Ok(Transform::None));
        let protobuf = "application/vnd.kubernetes.protobuf,application/json";
        assert_eq!(negotiate(protobuf), Ok(Accepted::JSON));
        assert_eq!(negotiate("application/json;q=0.1,application/yaml").map(|a| a.format), Ok(Format::Yaml));
        assert_eq!(negotiate("*/*"), Ok(Accepted::JSON));
        assert_eq!(Accepted::negotiate(None, false), Ok(Accepted::JSON));
    }

    #[test]
    fn nothing_that_fits_is_406() {
        assert_eq!(negotiate("text/html").map_err(|status| status.code), Err(406));
        let watch = Accepted::negotiate(Some("application/yaml"), true);
        assert_eq!(watch.map_err(|status| status.code), Err(406));
    }
}
