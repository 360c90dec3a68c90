use std::{fmt, sync::Arc};

use crate::cel::declaration::{DeclarationId, Declarations};

/// The most parts of a type. Real ones have a handful; text can be written that doubles a type with every line, and
/// what is beyond counts as not known.
const MOST_PARTS: usize = 4096;

/// What an expression evaluates to, as far as that is known before.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::cel) enum Type {
    Bool,
    Bytes,
    Double,
    Duration,
    /// Known at run time only. Fits everywhere.
    Dyn,
    /// The type of what is wrong, which fits everywhere so that nobody complains again.
    Error,
    Int,
    Null,
    String,
    Timestamp,
    Uint,
    /// An object of the schema.
    Object(DeclarationId),
    /// A message of a patch: `Object`, a part of it by its path, or `JSONPatch`.
    Message(Arc<str>),
    /// A type of a library.
    Library(LibraryType),
    /// A type made of types.
    Compound(Arc<Compound>),
    /// A type that other operands decide.
    Parameter(Parameter),
}

/// A type made of types.
#[derive(Debug, PartialEq)]
pub(in crate::cel) struct Compound {
    pub(in crate::cel) constructor: Constructor,
    pub(in crate::cel) parameters: Vec<Type>,
    parts: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::cel) enum Constructor {
    List,
    Map,
    Optional,
    /// The type of a type, which is a value as well.
    Type,
}

/// The types that Kubernetes adds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::cel) enum LibraryType {
    Authorizer,
    AuthorizerDecision,
    AuthorizerGroup,
    AuthorizerPath,
    AuthorizerResource,
    Cidr,
    Format,
    Ip,
    Quantity,
    Semver,
    Url,
}

/// The name of the messages that are operations of JSON patches.
pub(in crate::cel) const JSON_PATCH: &str = "JSONPatch";

const OBJECT: &str = "Object";

/// Whether a name is that of the whole object of a patch or of a part of it: `Object.spec.containers`.
pub(in crate::cel) fn is_object_type(name: &str) -> bool {
    name.strip_prefix(OBJECT).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::cel) enum Parameter {
    /// One of the declaration of a function, by its number there.
    Declared(usize),
    /// One of an expression.
    Fresh(usize),
}

/// A type as error texts show it.
pub(in crate::cel) struct Shown<'a> {
    pub(in crate::cel) of: &'a Type,
    pub(in crate::cel) declarations: &'a Declarations,
}

// === impl Type ===

impl Type {
    pub(in crate::cel) fn list(of: Self) -> Self {
        Self::compound(Constructor::List, vec![of])
    }

    pub(in crate::cel) fn map(keys: Self, values: Self) -> Self {
        Self::compound(Constructor::Map, vec![keys, values])
    }

    pub(in crate::cel) fn optional(of: Self) -> Self {
        Self::compound(Constructor::Optional, vec![of])
    }

    pub(in crate::cel) fn type_of(of: Self) -> Self {
        Self::compound(Constructor::Type, vec![of])
    }

    pub(in crate::cel) fn compound(constructor: Constructor, parameters: Vec<Self>) -> Self {
        let parts = parameters.iter().fold(1_usize, |sum, parameter| sum.saturating_add(parameter.parts()));
        if parts > MOST_PARTS {
            return Self::Dyn;
        }
        Self::Compound(Arc::new(Compound { constructor, parameters, parts }))
    }

    fn parts(&self) -> usize {
        match self {
            Self::Compound(compound) => compound.parts,
            _ => 1,
        }
    }

    /// The types that this one is made of.
    pub(in crate::cel) fn parameters(&self) -> &[Self] {
        match self {
            Self::Compound(compound) => &compound.parameters,
            _ => &[],
        }
    }

    pub(in crate::cel) fn constructor(&self) -> Option<Constructor> {
        match self {
            Self::Compound(compound) => Some(compound.constructor),
            _ => None,
        }
    }

    /// The parameters of a type with this constructor.
    pub(in crate::cel) fn parameters_of(&self, constructor: Constructor) -> Option<&[Self]> {
        (self.constructor() == Some(constructor)).then(|| self.parameters())
    }

    /// What an optional type holds.
    pub(in crate::cel) fn unwrapped(&self) -> Option<&Self> {
        self.parameters_of(Constructor::Optional)?.first()
    }

    pub(in crate::cel) fn is_dyn(&self) -> bool {
        matches!(self, Self::Dyn)
    }

    pub(in crate::cel) fn is_dyn_or_error(&self) -> bool {
        matches!(self, Self::Dyn | Self::Error)
    }

    /// Whether null is of this type as well, as it is for messages.
    pub(super) fn is_nullable(&self) -> bool {
        match self {
            Self::Null
            | Self::Duration
            | Self::Timestamp
            | Self::Object(_)
            | Self::Message(_)
            | Self::Library(_) => true,
            Self::Compound(compound) => compound.constructor == Constructor::Optional,
            _ => false,
        }
    }

    /// The type of messages of a patch with this name, if there are any.
    pub(super) fn message(name: &str) -> Option<Self> {
        (name == JSON_PATCH || is_object_type(name)).then(|| Self::Message(name.into()))
    }

    /// The type with every part replaced by what `replace` makes of it.
    pub(super) fn map_parts(&self, replace: &mut dyn FnMut(&Self) -> Option<Self>) -> Self {
        if let Some(replaced) = replace(self) {
            return replaced;
        }
        match self {
            Self::Compound(compound) => Self::compound(
                compound.constructor,
                compound.parameters.iter().map(|parameter| parameter.map_parts(replace)).collect(),
            ),
            other => other.clone(),
        }
    }

    /// The name without parameters, as values have it at run time.
    pub(in crate::cel) fn runtime_name(&self, declarations: &Declarations) -> String {
        match self {
            Self::Duration => "google.protobuf.Duration".to_owned(),
            Self::Timestamp => "google.protobuf.Timestamp".to_owned(),
            Self::Null => "null_type".to_owned(),
            Self::Error => "error".to_owned(),
            Self::Compound(compound) => compound.constructor.name().to_owned(),
            other => Shown { of: other, declarations }.to_string(),
        }
    }
}

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.of {
            Type::Bool => f.write_str("bool"),
            Type::Bytes => f.write_str("bytes"),
            Type::Double => f.write_str("double"),
            Type::Duration => f.write_str("duration"),
            Type::Dyn => f.write_str("dyn"),
            Type::Error => f.write_str("!error!"),
            Type::Int => f.write_str("int"),
            Type::Null => f.write_str("null"),
            Type::String => f.write_str("string"),
            Type::Timestamp => f.write_str("timestamp"),
            Type::Uint => f.write_str("uint"),
            Type::Object(id) => f.write_str(&self.declarations.name(*id)),
            Type::Message(name) => f.write_str(name),
            Type::Library(library) => f.write_str(library.name()),
            Type::Parameter(Parameter::Declared(number)) => write!(f, "T{number}"),
            Type::Parameter(Parameter::Fresh(number)) => write!(f, "_var{number}"),
            Type::Compound(compound) => {
                f.write_str(compound.constructor.name())?;
                for (index, parameter) in compound.parameters.iter().enumerate() {
                    f.write_str(if index == 0 { "(" } else { ", " })?;
                    Shown { of: parameter, declarations: self.declarations }.fmt(f)?;
                }
                f.write_str(if compound.parameters.is_empty() { "" } else { ")" })
            }
        }
    }
}

// === impl Constructor ===

impl Constructor {
    pub(in crate::cel) fn name(self) -> &'static str {
        match self {
            Self::List => "list",
            Self::Map => "map",
            Self::Optional => "optional_type",
            Self::Type => "type",
        }
    }
}

// === impl LibraryType ===

impl LibraryType {
    const ALL: [Self; 11] = [
        Self::Authorizer,
        Self::AuthorizerDecision,
        Self::AuthorizerGroup,
        Self::AuthorizerPath,
        Self::AuthorizerResource,
        Self::Cidr,
        Self::Format,
        Self::Ip,
        Self::Quantity,
        Self::Semver,
        Self::Url,
    ];

    pub(in crate::cel) fn name(self) -> &'static str {
        match self {
            Self::Authorizer => "kubernetes.authorization.Authorizer",
            Self::AuthorizerDecision => "kubernetes.authorization.Decision",
            Self::AuthorizerGroup => "kubernetes.authorization.GroupCheck",
            Self::AuthorizerPath => "kubernetes.authorization.PathCheck",
            Self::AuthorizerResource => "kubernetes.authorization.ResourceCheck",
            Self::Cidr => "net.CIDR",
            Self::Format => "kubernetes.NamedFormat",
            Self::Ip => "net.IP",
            Self::Quantity => "kubernetes.Quantity",
            Self::Semver => "kubernetes.Semver",
            Self::Url => "kubernetes.URL",
        }
    }

    /// Whether it is no object, so that asking for a field is wrong whatever the name.
    pub(in crate::cel) fn is_opaque(self) -> bool {
        matches!(self, Self::Cidr | Self::Ip)
    }

    pub(super) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|library| library.name() == name)
    }
}
