use std::{collections::BTreeMap, sync::Arc};

use kube_cel::cel::{
    IdedExpr, Value as Cel,
    objects::{Key, Map},
};

use super::{functions, library};
use crate::cel::{
    checker::{Checked, Constructor},
    scope::VARIABLES,
    syntax::{Comprehension, Kind, Literal, NodeId},
};

/// An expression that is ready to be evaluated.
pub(in crate::cel) struct Plan {
    pub(super) root: Node,
    /// How deep it is.
    pub(in crate::cel) depth: usize,
}

/// A step. Variables of macros are numbered from the outermost.
pub(super) enum Node {
    Constant(Cel),
    Global(String),
    Local(usize),
    /// A field of `variables`.
    Lazy {
        name: String,
        test: bool,
    },
    Select(Box<Select>),
    Index(Box<Index>),
    And(Box<[Node; 2]>),
    Or(Box<[Node; 2]>),
    Conditional(Box<[Node; 3]>),
    NotStrictlyFalse(Box<Node>),
    /// `a.or(b)` or `a.orValue(b)`.
    OptionalOr {
        operands: Box<[Node; 2]>,
        unwraps: bool,
    },
    Call(Box<Call>),
    List(Vec<Element>),
    Map(Vec<(Node, Element)>),
    Message {
        name: String,
        fields: Vec<(String, Element)>,
    },
    /// `accumulator + [element]`, which macros make.
    Append {
        accumulator: usize,
        element: Box<Node>,
    },
    Loop(Box<Loop>),
    /// A value with a name, and what is done with it.
    Bind(Box<[Node; 2]>),
}

pub(super) struct Select {
    pub(super) operand: Node,
    pub(super) field: String,
    /// Whether only its presence is asked for.
    pub(super) test: bool,
    /// Whether the result is an optional value.
    pub(super) optional: bool,
}

pub(super) struct Index {
    pub(super) operand: Node,
    pub(super) index: Node,
    pub(super) optional: bool,
}

/// A value in a literal.
pub(super) struct Element {
    pub(super) value: Node,
    /// Whether it is an optional value that is left out if it is not there.
    pub(super) optional: bool,
}

pub(super) struct Call {
    pub(super) function: String,
    /// The only way to read the call, if there is but one.
    pub(super) overload: Option<&'static str>,
    /// The target of a method comes first.
    pub(super) operands: Vec<Node>,
    /// The call of a function of a library.
    pub(super) library: Option<IdedExpr>,
}

pub(super) struct Loop {
    pub(super) range: Node,
    /// Whether there are two variables: index and item, or key and value.
    pub(super) pairs: bool,
    pub(super) initial: Node,
    pub(super) condition: Node,
    pub(super) step: Node,
    pub(super) result: Node,
}

/// Makes the plan of a checked expression. Fields get the names that values have at run time.
struct Planner<'c> {
    checked: &'c Checked,
    renamed: BTreeMap<usize, &'c str>,
    /// The variables that macros declare.
    locals: Vec<&'c str>,
}

// === impl Plan ===

impl Plan {
    pub(in crate::cel) fn new(checked: &Checked) -> Self {
        let renamed = checked.renamed.iter().map(|(id, name)| (id.index(), name.as_str())).collect();
        let root = Planner { checked, renamed, locals: Vec::new() }.node(checked.tree.root);
        Self { root, depth: checked.tree.depth() }
    }
}

// === impl Planner ===

impl<'c> Planner<'c> {
    fn node(&mut self, id: NodeId) -> Node {
        let checked = self.checked;
        match checked.tree.kind(id) {
            Kind::Literal(literal) => Node::Constant(value(literal)),
            Kind::Ident(name) => self.ident(id, name),
            Kind::Select { operand, field, test } if self.is_lazy(*operand) => {
                Node::Lazy { name: field.clone(), test: *test }
            }
            Kind::Select { operand, field, test } => Node::Select(Box::new(Select {
                operand: self.node(*operand),
                field: self.renamed.get(&id.index()).copied().unwrap_or(field).to_owned(),
                test: *test,
                optional: false,
            })),
            Kind::Call { function, target, args } => self.call(id, function, *target, args),
            Kind::List { elements, optional } => {
                let element = |(index, id): (usize, &NodeId)| Element {
                    value: self.node(*id),
                    optional: optional.contains(&index),
                };
                let elements: Vec<Element> = elements.iter().enumerate().map(element).collect();
                constant_list(&elements).map_or(Node::List(elements), Node::Constant)
            }
            Kind::Map(entries) => {
                let entry = entries.iter().map(|entry| {
                    let value = Element { value: self.node(entry.value), optional: entry.optional };
                    (self.node(entry.key), value)
                });
                let entries: Vec<(Node, Element)> = entry.collect();
                constant_map(&entries).map_or(Node::Map(entries), Node::Constant)
            }
            Kind::Message { name, fields } => Node::Message {
                name: name.strip_prefix('.').unwrap_or(name).to_owned(),
                fields: fields
                    .iter()
                    .map(|field| {
                        let value = Element { value: self.node(field.value), optional: field.optional };
                        (field.name.clone(), value)
                    })
                    .collect(),
            },
            Kind::Comprehension(loops) => self.comprehension(loops),
        }
    }

    /// Whether a node holds the variables that are evaluated when they are asked for.
    fn is_lazy(&self, id: NodeId) -> bool {
        let is_theirs = |name: &str| name == VARIABLES && !self.locals.contains(&name);
        matches!(self.checked.tree.kind(id), Kind::Ident(name) if is_theirs(name))
    }

    fn ident(&self, id: NodeId, name: &str) -> Node {
        if let Some(number) = self.locals.iter().rposition(|own| *own == name) {
            return Node::Local(number);
        }
        if self.checked.type_of(id).constructor() == Some(Constructor::Type) {
            return Node::Constant(functions::type_named(name));
        }
        Node::Global(name.to_owned())
    }

    fn call(&mut self, id: NodeId, function: &str, target: Option<NodeId>, args: &[NodeId]) -> Node {
        let checked = self.checked;
        if let ("_?._", [operand, field]) = (function, args)
            && let Kind::Literal(Literal::String(field)) = checked.tree.kind(*field)
        {
            return Node::Select(Box::new(Select {
                operand: self.node(*operand),
                field: self.renamed.get(&id.index()).copied().unwrap_or(field).to_owned(),
                test: false,
                optional: true,
            }));
        }
        if let Some(append) = self.append(function, args) {
            return append;
        }
        let is_method = target.is_some();
        let mut operands: Vec<Node> = target.iter().chain(args).map(|id| self.node(*id)).collect();
        operands = match (function, <[Node; 2]>::try_from(operands)) {
            ("_&&_", Ok(operands)) => return Node::And(Box::new(operands)),
            ("_||_", Ok(operands)) => return Node::Or(Box::new(operands)),
            ("or" | "orValue", Ok(operands)) if is_method => {
                return Node::OptionalOr { operands: Box::new(operands), unwraps: function == "orValue" };
            }
            ("_[_]" | "_[?_]", Ok([operand, index])) => {
                let optional = function == "_[?_]";
                return Node::Index(Box::new(Index { operand, index, optional }));
            }
            (_, Ok(operands)) => Vec::from(operands),
            (_, Err(operands)) => operands,
        };
        operands = match (function, <[Node; 3]>::try_from(operands)) {
            ("_?_:_", Ok(operands)) => return Node::Conditional(Box::new(operands)),
            (_, Ok(operands)) => Vec::from(operands),
            (_, Err(operands)) => operands,
        };
        operands = match (function, <[Node; 1]>::try_from(operands)) {
            ("@not_strictly_false", Ok([operand])) => return Node::NotStrictlyFalse(Box::new(operand)),
            (_, Ok(operands)) => Vec::from(operands),
            (_, Err(operands)) => operands,
        };
        let overload = match checked.overloads(id) {
            [only] => Some(*only),
            _ => None,
        };
        let library =
            functions::of_library(function).then(|| library::call(function, is_method, operands.len()));
        Node::Call(Box::new(Call { function: function.to_owned(), overload, operands, library }))
    }

    /// The addition that macros make, which does not copy the list.
    fn append(&mut self, function: &str, args: &[NodeId]) -> Option<Node> {
        let ("_+_", [before, added]) = (function, args) else { return None };
        let Kind::Ident(name) = self.checked.tree.kind(*before) else { return None };
        let accumulator =
            self.locals.iter().rposition(|own| own == name).filter(|_| name.starts_with('@'))?;
        let Kind::List { elements, optional } = self.checked.tree.kind(*added) else { return None };
        match elements.as_slice() {
            [element] if optional.is_empty() => {
                let element = Box::new(self.node(*element));
                Some(Node::Append { accumulator, element })
            }
            _ => None,
        }
    }

    fn comprehension(&mut self, loops: &'c Comprehension) -> Node {
        let tree = &self.checked.tree;
        let is_bind = matches!(tree.kind(loops.range), Kind::List { elements, .. } if elements.is_empty())
            && matches!(tree.kind(loops.condition), Kind::Literal(Literal::Bool(false)));
        let initial = self.node(loops.initial);
        let outside = self.locals.len();
        if is_bind {
            self.locals.push(&loops.accumulator);
            let result = self.node(loops.result);
            self.locals.truncate(outside);
            return Node::Bind(Box::new([initial, result]));
        }
        let range = self.node(loops.range);
        self.locals.push(&loops.accumulator);
        self.locals.push(&loops.variable);
        self.locals.extend(loops.second_variable.as_deref());
        let condition = self.node(loops.condition);
        let step = self.node(loops.step);
        self.locals.truncate(outside + 1);
        let result = self.node(loops.result);
        self.locals.truncate(outside);
        let pairs = loops.second_variable.is_some();
        Node::Loop(Box::new(Loop { range, pairs, initial, condition, step, result }))
    }
}

/// A list of constants, which costs nothing.
fn constant_list(elements: &[Element]) -> Option<Cel> {
    let values = elements.iter().map(constant).collect::<Option<Vec<Cel>>>()?;
    Some(Cel::List(Arc::new(values)))
}

/// A map of constants, unless a key is none.
fn constant_map(entries: &[(Node, Element)]) -> Option<Cel> {
    let mut map = std::collections::HashMap::new();
    for (key, value) in entries {
        let Node::Constant(key) = key else { return None };
        map.insert(key_of(key)?, constant(value)?);
    }
    Some(Cel::Map(Map { map: Arc::new(map) }))
}

fn constant(element: &Element) -> Option<Cel> {
    match &element.value {
        Node::Constant(value) if !element.optional => Some(value.clone()),
        _ => None,
    }
}

/// A value as the key of a map.
pub(super) fn key_of(value: &Cel) -> Option<Key> {
    match value {
        Cel::Int(number) => Some(Key::Int(*number)),
        Cel::UInt(number) => Some(Key::Uint(*number)),
        Cel::Bool(flag) => Some(Key::Bool(*flag)),
        Cel::String(text) => Some(Key::String(Arc::clone(text))),
        _ => None,
    }
}

fn value(literal: &Literal) -> Cel {
    match literal {
        Literal::Bool(flag) => Cel::Bool(*flag),
        Literal::Bytes(bytes) => Cel::Bytes(Arc::new(bytes.clone())),
        Literal::Double(number) => Cel::Float(*number),
        Literal::Int(number) => Cel::Int(*number),
        Literal::Null => Cel::Null,
        Literal::String(text) => Cel::String(Arc::new(text.clone())),
        Literal::Uint(number) => Cel::UInt(*number),
    }
}
