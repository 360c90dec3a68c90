/// An expression. The nodes live in one list, so that a deep tree is freed without recursion and what is known about
/// nodes can be kept in lists beside it.
#[derive(Clone, Debug)]
pub(in crate::cel) struct Tree {
    nodes: Vec<Node>,
    pub(in crate::cel) root: NodeId,
}

/// The number of a node in its tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::cel) struct NodeId(usize);

#[derive(Clone, Debug)]
pub(in crate::cel) struct Node {
    pub(in crate::cel) kind: Kind,
    pub(in crate::cel) place: Place,
}

/// Where in the source something is, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::cel) struct Place {
    /// Where errors about it point, which is where cel-go points: at the operator, the dot, the bracket of a call.
    pub(in crate::cel) at: usize,
    /// The first byte of the words that a reader would underline.
    pub(in crate::cel) start: usize,
    /// The byte after the last.
    pub(in crate::cel) end: usize,
}

#[derive(Clone, Debug)]
pub(in crate::cel) enum Kind {
    Literal(Literal),
    Ident(String),
    Select {
        operand: NodeId,
        field: String,
        /// Whether it asks for presence, as `has(..)` does.
        test: bool,
    },
    Call {
        function: String,
        target: Option<NodeId>,
        args: Vec<NodeId>,
    },
    List {
        elements: Vec<NodeId>,
        /// The numbers of the elements that are optional values.
        optional: Vec<usize>,
    },
    Map(Vec<Entry>),
    /// A message that is made, with the fields that it is given.
    Message {
        name: String,
        fields: Vec<FieldValue>,
    },
    Comprehension(Box<Comprehension>),
}

#[derive(Clone, Debug, PartialEq)]
pub(in crate::cel) enum Literal {
    Bool(bool),
    Bytes(Vec<u8>),
    Double(f64),
    Int(i64),
    Null,
    String(String),
    Uint(u64),
}

#[derive(Clone, Debug)]
pub(in crate::cel) struct Entry {
    pub(in crate::cel) key: NodeId,
    pub(in crate::cel) value: NodeId,
    pub(in crate::cel) optional: bool,
}

/// A field of a message that is made.
#[derive(Clone, Debug)]
pub(in crate::cel) struct FieldValue {
    pub(in crate::cel) name: String,
    pub(in crate::cel) value: NodeId,
    pub(in crate::cel) optional: bool,
    /// The colon behind the name.
    pub(in crate::cel) place: Place,
}

/// A loop, which only macros make.
#[derive(Clone, Debug)]
pub(in crate::cel) struct Comprehension {
    pub(in crate::cel) range: NodeId,
    pub(in crate::cel) variable: String,
    pub(in crate::cel) second_variable: Option<String>,
    pub(in crate::cel) accumulator: String,
    pub(in crate::cel) initial: NodeId,
    pub(in crate::cel) condition: NodeId,
    pub(in crate::cel) step: NodeId,
    pub(in crate::cel) result: NodeId,
}

/// The variable in which standard macros gather their result. No source can name it.
pub(in crate::cel) const ACCUMULATOR: &str = "@result";

// === impl Tree ===

impl Tree {
    pub(super) fn new() -> Self {
        Self { nodes: Vec::new(), root: NodeId(0) }
    }

    pub(super) fn add(&mut self, place: Place, kind: Kind) -> NodeId {
        self.nodes.push(Node { kind, place });
        NodeId(self.nodes.len() - 1)
    }

    /// How many nodes there are.
    pub(in crate::cel) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// How deep the tree is.
    pub(in crate::cel) fn depth(&self) -> usize {
        let mut depths: Vec<usize> = Vec::with_capacity(self.nodes.len());
        // Nodes are made after those they are made of.
        for number in 0..self.nodes.len() {
            let below = |child: NodeId| depths.get(child.0).copied().unwrap_or(0);
            depths.push(1 + self.children(NodeId(number)).into_iter().map(below).max().unwrap_or(0));
        }
        depths.get(self.root.0).copied().unwrap_or(0)
    }

    pub(in crate::cel) fn node(&self, id: NodeId) -> &Node {
        // A number is only ever made for a node of the same tree, and nodes are never removed.
        &self.nodes[id.0]
    }

    pub(in crate::cel) fn kind(&self, id: NodeId) -> &Kind {
        &self.node(id).kind
    }

    pub(in crate::cel) fn place(&self, id: NodeId) -> Place {
        self.node(id).place
    }

    pub(in crate::cel) fn replace(&mut self, id: NodeId, kind: Kind) {
        if let Some(node) = self.nodes.get_mut(id.0) {
            node.kind = kind;
        }
    }

    /// The names that a chain of selections is made of, first the variable. `None` if it does not start at one.
    pub(in crate::cel) fn qualified_name(&self, mut id: NodeId) -> Option<Vec<&str>> {
        let mut names = Vec::new();
        loop {
            match self.kind(id) {
                Kind::Ident(name) => {
                    names.push(name.as_str());
                    names.reverse();
                    return Some(names);
                }
                Kind::Select { operand, field, test: false } => {
                    names.push(field.as_str());
                    id = *operand;
                }
                _ => return None,
            }
        }
    }

    /// Calls `visit` with every node below and including `id`, and with those above it.
    pub(in crate::cel) fn walk(
        &self,
        id: NodeId,
        above: &mut Vec<NodeId>,
        visit: &mut dyn FnMut(NodeId, &[NodeId]),
    ) {
        visit(id, above);
        above.push(id);
        for child in self.children(id) {
            self.walk(child, above, visit);
        }
        above.pop();
    }

    /// The nodes that a node is made of, in the order of evaluation.
    pub(in crate::cel) fn children(&self, id: NodeId) -> Vec<NodeId> {
        match self.kind(id) {
            Kind::Literal(_) | Kind::Ident(_) => Vec::new(),
            Kind::Select { operand, .. } => vec![*operand],
            Kind::Call { target, args, .. } => target.iter().chain(args).copied().collect(),
            Kind::List { elements, .. } => elements.clone(),
            Kind::Map(entries) => entries.iter().flat_map(|entry| [entry.key, entry.value]).collect(),
            Kind::Message { fields, .. } => fields.iter().map(|field| field.value).collect(),
            Kind::Comprehension(loops) => {
                vec![loops.range, loops.initial, loops.condition, loops.step, loops.result]
            }
        }
    }
}

// === impl NodeId ===

impl NodeId {
    pub(in crate::cel) fn index(self) -> usize {
        self.0
    }
}
