use super::SchemaType;

/// The formats that validation checks. All others are hints to readers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    Int32,
    Int64,
    Float,
    Double,
    Text(TextFormat),
}

/// The formats of strings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TextFormat {
    BsonObjectId,
    Uri,
    Email,
    Hostname,
    Ipv4,
    Ipv6,
    Cidr,
    Mac,
    Uuid,
    Uuid3,
    Uuid4,
    Uuid5,
    Isbn,
    Isbn10,
    Isbn13,
    CreditCard,
    Ssn,
    HexColor,
    RgbColor,
    Byte,
    Password,
    Date,
    Duration,
    DateTime,
    K8sShortName,
    K8sLongName,
}

impl Format {
    /// The format called `name` on a schema of these types, if it is one that is checked there. Dashes in
    /// the name do not count: `date-time` is `datetime`.
    pub(crate) fn of(name: &str, types: &[SchemaType]) -> Option<Self> {
        match types {
            [SchemaType::Integer] => match name {
                "int32" => Some(Self::Int32),
                "int64" => Some(Self::Int64),
                _ => None,
            },
            [SchemaType::Number] => match name {
                "float" => Some(Self::Float),
                "double" => Some(Self::Double),
                _ => None,
            },
            // An int-or-string has two types and counts as untyped.
            [] | [SchemaType::String] | [_, _, ..] => TextFormat::of(name).map(Self::Text),
            [_] => None,
        }
    }
}

impl TextFormat {
    pub(crate) fn of(name: &str) -> Option<Self> {
        Some(match name.replace('-', "").as_str() {
            "bsonobjectid" => Self::BsonObjectId,
            "uri" => Self::Uri,
            "email" => Self::Email,
            "hostname" => Self::Hostname,
            "ipv4" => Self::Ipv4,
            "ipv6" => Self::Ipv6,
            "cidr" => Self::Cidr,
            "mac" => Self::Mac,
            "uuid" => Self::Uuid,
            "uuid3" => Self::Uuid3,
            "uuid4" => Self::Uuid4,
            "uuid5" => Self::Uuid5,
            "isbn" => Self::Isbn,
            "isbn10" => Self::Isbn10,
            "isbn13" => Self::Isbn13,
            "creditcard" => Self::CreditCard,
            "ssn" => Self::Ssn,
            "hexcolor" => Self::HexColor,
            "rgbcolor" => Self::RgbColor,
            "byte" => Self::Byte,
            "password" => Self::Password,
            "date" => Self::Date,
            "duration" => Self::Duration,
            "datetime" => Self::DateTime,
            "k8sshortname" => Self::K8sShortName,
            "k8slongname" => Self::K8sLongName,
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_count_only_on_their_type() {
        assert_eq!(Format::of("int32", &[SchemaType::Integer]), Some(Format::Int32));
        assert_eq!(Format::of("int32", &[SchemaType::String]), None);
        assert_eq!(Format::of("date-time", &[SchemaType::String]), Some(Format::Text(TextFormat::DateTime)));
        assert_eq!(Format::of("ipv4", &[]), Some(Format::Text(TextFormat::Ipv4)));
        assert_eq!(Format::of("ipv4", &[SchemaType::Object]), None);
        assert_eq!(Format::of("made-up", &[SchemaType::String]), None);
    }
}
