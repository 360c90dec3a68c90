use std::rc::Rc;

use super::{
    functions,
    path::{Path, Step},
    range::Range,
};
use crate::cel::{
    checker::{Checked, Constructor, Type},
    declaration::Declarations,
    syntax::{ACCUMULATOR, Comprehension, Entry, Kind, Literal, NodeId},
};

const LIST: u64 = 10;
const MAP: u64 = 30;
const MESSAGE: u64 = 40;

/// What the entries of a list or map are like.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entries {
    is_list: bool,
    key: Range,
    pub(super) value: Range,
}

/// A variable that a macro declares.
struct Local {
    name: String,
    path: Path,
    size: Option<Range>,
    entries: Option<Entries>,
}

/// An operand of a call.
pub(super) struct Operand {
    pub(super) id: NodeId,
    pub(super) of: Type,
    pub(super) path: Path,
    /// The size as far as it is known without the schema.
    pub(super) size: Option<Range>,
    /// What evaluating it costs. Zero for a target, whose cost is added by itself.
    pub(super) cost: Range,
}

/// What a call costs, and how large its result is.
pub(super) struct CallCost {
    pub(super) cost: Range,
    pub(super) size: Option<Range>,
}

/// Goes through an expression.
pub(super) struct Coster<'c> {
    pub(super) checked: &'c Checked,
    pub(super) declarations: &'c Declarations,
    paths: Vec<Path>,
    sizes: Vec<Option<Range>>,
    entries: Vec<Option<Entries>>,
    locals: Vec<Local>,
}

impl<'c> Coster<'c> {
    pub(super) fn new(checked: &'c Checked, declarations: &'c Declarations) -> Self {
        let count = checked.tree.len();
        Self {
            checked,
            declarations,
            paths: vec![Path::default(); count],
            sizes: vec![None; count],
            entries: vec![None; count],
            locals: Vec::new(),
        }
    }

    pub(super) fn cost_of_root(mut self) -> u64 {
        self.cost(self.checked.tree.root).most
    }

    fn cost(&mut self, id: NodeId) -> Range {
        let checked = self.checked;
        match checked.tree.kind(id) {
            Kind::Literal(_) => Range::exactly(0),
            Kind::Ident(name) => {
                let path = self.local(name).map(|local| local.path.clone());
                self.set_path(id, path.unwrap_or_else(|| Path::of_variable(name)));
                Range::exactly(1)
            }
            Kind::Select { operand, field, test } => self.select(id, *operand, field, *test),
            Kind::Call { function, target, args } => self.call(id, function, *target, args),
            Kind::List { elements, .. } => self.list(id, elements),
            Kind::Map(entries) => self.map(id, entries),
            Kind::Message { fields, .. } => {
                fields.iter().fold(Range::exactly(MESSAGE), |sum, field| sum.plus(self.cost(field.value)))
            }
            Kind::Comprehension(loops) if self.is_bind(loops) => self.bind(id, loops),
            Kind::Comprehension(loops) => self.comprehension(id, loops),
        }
    }

    fn select(&mut self, id: NodeId, operand: NodeId, field: &str, test: bool) -> Range {
        let cost = self.cost(operand);
        if test {
            return cost;
        }
        let of = self.checked.type_of(operand);
        let has_fields = matches!(of, Type::Object(_))
            || matches!(of, Type::Library(library) if !library.is_opaque())
            || of.constructor() == Some(Constructor::Map);
        let path = self.path(operand).join(Step::Name(Rc::from(field)));
        self.set_path(id, path);
        cost.plus(Range::exactly(u64::from(has_fields)))
    }

    fn call(&mut self, id: NodeId, function: &str, target: Option<NodeId>, args: &[NodeId]) -> Range {
        if let ("dyn", [arg]) = (function, args) {
            let cost = self.cost(*arg);
            self.copy_sizes(id, *arg);
            return cost.plus(Range::exactly(1));
        }
        let operands: Vec<Operand> = args
            .iter()
            .map(|arg| {
                let cost = self.cost(*arg);
                self.operand(*arg, cost)
            })
            .collect();
        let overloads = self.checked.overloads(id);
        if overloads.is_empty() {
            return Range::default();
        }
        let mut outside = Range::default();
        let target = target.map(|target| {
            outside = self.cost(target);
            self.operand(target, Range::default())
        });
        let mut inside = Range::new(u64::MAX, 0);
        let mut size: Option<Range> = None;
        for overload in overloads {
            let call = functions::cost(self, id, function, overload, target.as_ref(), &operands);
            inside = inside.or(call.cost);
            if let Some(found) = call.size {
                size = Some(size.map_or(found, |known| known.or(found)));
            }
            let step = match *overload {
                "index_list" => Some(Step::Items),
                "index_map" => Some(Step::Values),
                _ => None,
            };
            if let (Some(step), Some(container)) = (step, args.first()) {
                size = self.entries_of(*container).map(|entries| entries.value);
                let path = self.path(*container).join(step);
                self.set_path(id, path);
            }
            if size.is_none() {
                size = self.size(id);
            }
        }
        self.set_size(id, size);
        outside.plus(inside)
    }

    fn list(&mut self, id: NodeId, elements: &[NodeId]) -> Range {
        let mut cost = Range::exactly(LIST);
        let mut value = Range::new(if elements.is_empty() { 0 } else { u64::MAX }, 0);
        for element in elements {
            cost = cost.plus(self.cost(*element));
            value = value.or(self.size_or_unknown(*element));
        }
        self.set_entries(id, Some(Entries { is_list: true, key: Range::exactly(1), value }));
        cost
    }

    fn map(&mut self, id: NodeId, entries: &[Entry]) -> Range {
        let mut cost = Range::exactly(MAP);
        let least = if entries.is_empty() { 0 } else { u64::MAX };
        let (mut key, mut value) = (Range::new(least, 0), Range::new(least, 0));
        for entry in entries {
            cost = cost.plus(self.cost(entry.key));
            cost = cost.plus(self.cost(entry.value));
            key = key.or(self.size_or_unknown(entry.key));
            value = value.or(self.size_or_unknown(entry.value));
        }
        self.set_entries(id, Some(Entries { is_list: false, key, value }));
        cost
    }

    fn comprehension(&mut self, id: NodeId, loops: &Comprehension) -> Range {
        let mut cost = self.cost(loops.range).plus(self.cost(loops.initial));
        let outside = self.locals.len();
        self.declare_value(&loops.accumulator, loops.initial);
        let inside = self.locals.len();
        match &loops.second_variable {
            Some(second) => {
                self.declare_key(&loops.variable, loops.range);
                self.declare_entry(second, loops.range);
            }
            None => self.declare_round(&loops.variable, loops.range),
        }
        let round = self.cost(loops.condition).plus(self.cost(loops.step));
        self.locals.truncate(inside);
        cost = cost.plus(self.cost(loops.result));
        self.locals.truncate(outside);
        let rounds = self.size_or_unknown(loops.range);
        cost = cost.plus(rounds.times(round));
        match self.checked.tree.kind(loops.initial) {
            Kind::Literal(_) => {
                let size = self.size(loops.initial);
                self.set_size(id, size);
            }
            Kind::List { .. } | Kind::Map(_) => {
                self.set_size(id, Some(rounds));
                let entries = self.entries_of(loops.step);
                self.set_entries(id, entries);
            }
            _ => {}
        }
        cost
    }

    /// Whether a loop only gives a name to a value.
    fn is_bind(&self, loops: &Comprehension) -> bool {
        let tree = &self.checked.tree;
        matches!(tree.kind(loops.range), Kind::List { elements, .. } if elements.is_empty())
            && matches!(tree.kind(loops.condition), Kind::Literal(Literal::Bool(false)))
    }

    fn bind(&mut self, id: NodeId, loops: &Comprehension) -> Range {
        let mut cost = self.cost(loops.range).plus(self.cost(loops.initial));
        let outside = self.locals.len();
        self.declare_value(&loops.accumulator, loops.initial);
        cost = cost.plus(self.cost(loops.result));
        self.locals.truncate(outside);
        self.copy_sizes(id, loops.result);
        cost
    }

    /// Declares the key of each round.
    fn declare_key(&mut self, name: &str, range: NodeId) {
        let entries = self.entries_of(range);
        let step = if self.is_list(range, entries) { Step::Indices } else { Step::Keys };
        self.declare(name, self.path(range).join(step), entries.map(|entries| entries.key), None);
    }

    /// Declares the value of each round.
    fn declare_entry(&mut self, name: &str, range: NodeId) {
        let entries = self.entries_of(range);
        let step = if self.is_list(range, entries) { Step::Items } else { Step::Values };
        self.declare(name, self.path(range).join(step), entries.map(|entries| entries.value), None);
    }

    /// Declares the only variable of a loop: the items of a list, the keys of a map.
    fn declare_round(&mut self, name: &str, range: NodeId) {
        let entries = self.entries_of(range);
        if self.is_list(range, entries) {
            self.declare_entry(name, range);
        } else {
            self.declare_key(name, range);
        }
    }

    fn is_list(&self, range: NodeId, entries: Option<Entries>) -> bool {
        match entries {
            Some(entries) => entries.is_list,
            None => self.checked.type_of(range).constructor() == Some(Constructor::List),
        }
    }

    /// Declares another name of a value.
    fn declare_value(&mut self, name: &str, value: NodeId) {
        let (path, size, entries) = (self.path(value), self.size(value), self.entries_of(value));
        self.declare(name, path, size, entries);
    }

    fn declare(&mut self, name: &str, path: Path, size: Option<Range>, entries: Option<Entries>) {
        self.locals.push(Local { name: name.to_owned(), path, size, entries });
    }

    fn local(&self, name: &str) -> Option<&Local> {
        self.locals.iter().rev().find(|local| local.name == name)
    }

    /// The variable that a node names, if a macro declares it.
    fn local_of(&self, id: NodeId) -> Option<&Local> {
        match self.checked.tree.kind(id) {
            Kind::Ident(name) => self.local(name),
            _ => None,
        }
    }

    fn operand(&mut self, id: NodeId, cost: Range) -> Operand {
        let path = self.path(id);
        let path = if path.starts_at(ACCUMULATOR) { Path::default() } else { path };
        Operand { id, of: self.checked.type_of(id).clone(), path, size: self.size(id), cost }
    }

    fn path(&self, id: NodeId) -> Path {
        match self.local_of(id) {
            Some(local) => local.path.clone(),
            None => self.paths.get(id.index()).cloned().unwrap_or_default(),
        }
    }

    fn set_path(&mut self, id: NodeId, path: Path) {
        if let Some(slot) = self.paths.get_mut(id.index()) {
            *slot = path;
        }
    }

    /// The size of a value: characters, bytes, items or entries.
    fn size(&mut self, id: NodeId) -> Option<Range> {
        if let Some(size) = self.sizes.get(id.index()).copied().flatten() {
            return Some(size);
        }
        if let Some(size) = self.written_size(id) {
            return Some(size);
        }
        if let Some(size) = self.size_in_schema(&self.path(id)) {
            self.set_size(id, Some(size));
            return Some(size);
        }
        if is_scalar(self.checked.type_of(id)) {
            return Some(Range::exactly(1));
        }
        self.local_of(id).and_then(|local| local.size)
    }

    /// The size of a literal.
    fn written_size(&self, id: NodeId) -> Option<Range> {
        let size = match self.checked.tree.kind(id) {
            Kind::Literal(Literal::String(text)) => text.chars().count(),
            Kind::Literal(Literal::Bytes(bytes)) => bytes.len(),
            Kind::Literal(_) => 1,
            Kind::List { elements, .. } => elements.len(),
            Kind::Map(entries) => entries.len(),
            _ => return None,
        };
        Some(Range::exactly(size as u64))
    }

    /// The size of the value at a path, by the schema.
    pub(super) fn size_in_schema(&self, path: &Path) -> Option<Range> {
        if path.is_empty() {
            return None;
        }
        path.most_elements(self.declarations).map(|most| Range::new(0, most))
    }

    fn size_or_unknown(&mut self, id: NodeId) -> Range {
        self.size(id).unwrap_or(Range::UNKNOWN)
    }

    fn set_size(&mut self, id: NodeId, size: Option<Range>) {
        if let (Some(slot), Some(_)) = (self.sizes.get_mut(id.index()), size) {
            *slot = size;
        }
    }

    pub(super) fn entries_of(&self, id: NodeId) -> Option<Entries> {
        let known = self.entries.get(id.index()).copied().flatten();
        known.or_else(|| self.local_of(id).and_then(|local| local.entries))
    }

    pub(super) fn set_entries(&mut self, id: NodeId, entries: Option<Entries>) {
        if let (Some(slot), Some(_)) = (self.entries.get_mut(id.index()), entries) {
            *slot = entries;
        }
    }

    fn copy_sizes(&mut self, to: NodeId, from: NodeId) {
        let size = self.size(from);
        self.set_size(to, size);
        let entries = self.entries_of(from);
        self.set_entries(to, entries);
    }
}

impl Entries {
    /// What the entries of either of two values are like. Not known unless it is of both.
    pub(super) fn or(first: Option<Self>, second: Option<Self>) -> Option<Self> {
        let (first, second) = (first?, second?);
        Some(Self {
            is_list: first.is_list,
            key: first.key.or(second.key),
            value: first.value.or(second.value),
        })
    }
}

/// Whether all values of a type are of the same size.
fn is_scalar(of: &Type) -> bool {
    match of {
        Type::Bool | Type::Double | Type::Duration | Type::Int | Type::Timestamp | Type::Uint => true,
        other => other.unwrapped().is_some_and(is_scalar),
    }
}
