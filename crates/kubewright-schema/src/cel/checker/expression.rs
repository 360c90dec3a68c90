use super::{
    Checked, Constructor, JSON_PATCH, Type,
    environment::Environment,
    types::Shown,
    unify::{Bindings, most_general},
};
use crate::cel::{
    declaration::Declarations,
    syntax::{Comprehension, Entry, FieldValue, Kind, Literal, Located, NodeId, Place, Tree},
};

/// Goes through an expression.
pub(super) struct Checker<'d> {
    pub(super) tree: Tree,
    pub(super) declarations: &'d Declarations,
    pub(super) environment: Environment,
    pub(super) bindings: Bindings,
    pub(super) types: Vec<Option<Type>>,
    pub(super) overloads: Vec<Vec<&'static str>>,
    renamed: Vec<(NodeId, String)>,
    uses_old_self: bool,
    errors: Vec<Located>,
}

impl<'d> Checker<'d> {
    pub(super) fn new(tree: Tree, declarations: &'d Declarations, variables: Vec<(String, Type)>) -> Self {
        Self {
            types: vec![None; tree.len()],
            overloads: vec![Vec::new(); tree.len()],
            environment: Environment::new(variables, declarations.has_patches),
            bindings: Bindings::default(),
            renamed: Vec::new(),
            uses_old_self: false,
            errors: Vec::new(),
            tree,
            declarations,
        }
    }

    pub(super) fn check_root(&mut self) {
        self.check(self.tree.root);
    }

    /// What was found out, and what is wrong.
    pub(super) fn finish(self) -> (Checked, Vec<Located>) {
        let types = self.types.iter().map(|of| of.as_ref().map(|of| self.bindings.settle(of))).collect();
        let checked = Checked {
            tree: self.tree,
            types,
            overloads: self.overloads,
            renamed: self.renamed,
            uses_old_self: self.uses_old_self,
        };
        (checked, self.errors)
    }

    pub(super) fn check(&mut self, id: NodeId) {
        let of = match self.tree.kind(id) {
            Kind::Literal(literal) => Some(match literal {
                Literal::Bool(_) => Type::Bool,
                Literal::Bytes(_) => Type::Bytes,
                Literal::Double(_) => Type::Double,
                Literal::Int(_) => Type::Int,
                Literal::Null => Type::Null,
                Literal::String(_) => Type::String,
                Literal::Uint(_) => Type::Uint,
            }),
            Kind::Ident(name) => {
                let name = name.clone();
                Some(self.variable(id, &name))
            }
            Kind::Select { operand, field, test } => {
                let (operand, field, test) = (*operand, field.clone(), *test);
                Some(self.select(id, operand, &field, test))
            }
            Kind::Call { .. } => {
                self.call(id);
                None
            }
            Kind::List { elements, optional } => {
                let (elements, optional) = (elements.clone(), optional.clone());
                Some(self.list(&elements, &optional))
            }
            Kind::Map(entries) => {
                let entries = entries.clone();
                Some(self.map(&entries))
            }
            Kind::Message { name, fields } => {
                let (name, fields) = (name.clone(), fields.clone());
                Some(self.message(id, &name, &fields))
            }
            Kind::Comprehension(loops) => {
                let loops = loops.clone();
                Some(self.comprehension(&loops))
            }
        };
        if let Some(of) = of {
            self.set_type(id, of);
        }
    }

    fn variable(&mut self, id: NodeId, name: &str) -> Type {
        let Some(of) = self.environment.variable(name) else {
            return self.undeclared(id, name);
        };
        let plain = name.strip_prefix('.').unwrap_or(name);
        self.uses_old_self |= plain == "oldSelf";
        if plain != name {
            let plain = plain.to_owned();
            self.tree.replace(id, Kind::Ident(plain));
        }
        of
    }

    fn select(&mut self, id: NodeId, operand: NodeId, field: &str, test: bool) -> Type {
        let qualified = self
            .tree
            .qualified_name(id)
            .and_then(|names| Some((self.environment.qualified(&names)?, names.join("."))));
        if let Some((of, name)) = qualified {
            self.tree.replace(id, Kind::Ident(name));
            return of;
        }
        let of = self.select_field(id, operand, field, false);
        if test { Type::Bool } else { self.bindings.resolve(&of) }
    }

    /// The type of a field of an operand.
    pub(super) fn select_field(
        &mut self,
        id: NodeId,
        operand: NodeId,
        field: &str,
        is_optional: bool,
    ) -> Type {
        self.check(operand);
        let operand = self.bindings.resolve(&self.type_of(operand));
        let inner = operand.unwrapped();
        let wraps = is_optional || inner.is_some();
        let target = inner.unwrap_or(&operand);
        let of = match target {
            Type::Object(declared) => match self.declarations.field(*declared, field) {
                Some(found) => {
                    if found.name != field {
                        self.renamed.push((id, found.name.to_owned()));
                    }
                    found.of.clone()
                }
                None => self.error(id, format!("undefined field '{field}'")),
            },
            Type::Message(message) => message_field(message, field).unwrap_or(Type::Error),
            Type::Parameter(_) => {
                self.bindings.fits(&Type::Dyn, target);
                Type::Dyn
            }
            // The types of libraries have no fields, but are objects.
            Type::Library(library) if !library.is_opaque() => {
                self.error(id, format!("unexpected failed resolution of '{}'", library.name()))
            }
            _ => match target.parameters_of(Constructor::Map) {
                Some([_, values]) => values.clone(),
                _ => {
                    if !target.is_dyn_or_error() {
                        let text = format!("type '{}' does not support field selection", self.shown(target));
                        self.error(id, text);
                    }
                    Type::Dyn
                }
            },
        };
        if wraps { Type::optional(of) } else { of }
    }

    fn list(&mut self, elements: &[NodeId], optional: &[usize]) -> Type {
        let mut joined = None;
        for (index, element) in elements.iter().enumerate() {
            self.check(*element);
            let of = self.value_type(*element, optional.contains(&index));
            joined = Some(self.join(joined, of));
        }
        Type::list(joined.unwrap_or_else(|| self.bindings.fresh()))
    }

    fn map(&mut self, entries: &[Entry]) -> Type {
        let (mut keys, mut values) = (None, None);
        for entry in entries {
            self.check(entry.key);
            let of = self.type_of(entry.key);
            keys = Some(self.join(keys, of));
            self.check(entry.value);
            let of = self.value_type(entry.value, entry.optional);
            values = Some(self.join(values, of));
        }
        let keys = keys.unwrap_or_else(|| self.bindings.fresh());
        Type::map(keys, values.unwrap_or_else(|| self.bindings.fresh()))
    }

    /// The type of what a literal holds, taken out if it is optional.
    fn value_type(&mut self, id: NodeId, is_optional: bool) -> Type {
        let of = self.type_of(id);
        if !is_optional {
            return of;
        }
        match of.unwrapped() {
            Some(inner) => inner.clone(),
            None => {
                if !of.is_dyn() {
                    self.mismatch(id, &Type::optional(of.clone()), &of);
                }
                of
            }
        }
    }

    /// The type of what a literal holds. That it is one is checked later, where lists of mixed types may stand.
    fn join(&mut self, before: Option<Type>, next: Type) -> Type {
        match before {
            None => next,
            Some(before) if self.bindings.fits(&before, &next) => most_general(&before, &next),
            Some(_) => Type::Dyn,
        }
    }

    fn message(&mut self, id: NodeId, name: &str, fields: &[FieldValue]) -> Type {
        // The evaluator does not know messages of protobuf.
        if name.trim_start_matches('.').starts_with("google.") {
            return self.error(id, "message construction is not supported".to_owned());
        }
        let Some(of) = self.environment.variable(name) else { return self.undeclared(id, name) };
        let of = match of.parameters_of(Constructor::Type) {
            None => {
                let shown = self.shown(&of);
                self.error(id, format!("'{shown}' is not a type"))
            }
            Some([message @ Type::Message(_)]) => message.clone(),
            Some(other) => {
                let shown = other.first().map(|of| self.shown(of)).unwrap_or_default();
                self.error(id, format!("'{shown}' is not a message type"))
            }
        };
        for field in fields {
            self.check(field.value);
            let asked = match &of {
                Type::Message(message) => message_field(message, &field.name),
                _ => Some(Type::Error),
            };
            let mut given = self.type_of(field.value);
            if field.optional {
                match given.unwrapped() {
                    Some(inner) => given = inner.clone(),
                    None if given.is_dyn() => {}
                    None => {
                        self.mismatch(field.value, &Type::optional(given.clone()), &given);
                        continue;
                    }
                }
            }
            let fits = asked.as_ref().is_some_and(|asked| self.bindings.fits(asked, &given));
            if !fits {
                let text = format!(
                    "expected type of field '{}' is '{}' but provided type is '{}'",
                    field.name,
                    asked.map(|asked| self.shown(&asked)).unwrap_or_default(),
                    self.shown(&given)
                );
                self.errors.push(Located { place: field.place, text });
            }
        }
        of
    }

    fn comprehension(&mut self, loops: &Comprehension) -> Type {
        self.check(loops.range);
        self.check(loops.initial);
        let range = self.bindings.resolve(&self.type_of(loops.range));
        let gathered = self.type_of(loops.initial);
        let outside = self.environment.count();
        self.environment.declare(&loops.accumulator, gathered.clone());
        let has_second = loops.second_variable.is_some();
        let (first, second) = match (range.constructor(), range.parameters()) {
            (Some(Constructor::List), [items]) if has_second => (Type::Int, items.clone()),
            (Some(Constructor::List), [items]) => (items.clone(), Type::Error),
            (Some(Constructor::Map), [keys, values]) => (keys.clone(), values.clone()),
            _ if range.is_dyn_or_error() || matches!(range, Type::Parameter(_)) => {
                self.bindings.fits(&Type::Dyn, &range);
                (Type::Dyn, Type::Dyn)
            }
            _ => {
                let text = format!(
                    "expression of type '{}' cannot be range of a comprehension (must be list, map, or dynamic)",
                    self.shown(&range)
                );
                self.error(loops.range, text);
                (Type::Error, Type::Error)
            }
        };
        let inside = self.environment.count();
        self.environment.declare(&loops.variable, first);
        if let Some(name) = &loops.second_variable {
            self.environment.declare(name, second);
        }
        self.check(loops.condition);
        self.assert(loops.condition, &Type::Bool);
        self.check(loops.step);
        self.assert(loops.step, &gathered);
        self.environment.truncate(inside);
        self.check(loops.result);
        self.environment.truncate(outside);
        self.bindings.resolve(&self.type_of(loops.result))
    }

    fn assert(&mut self, id: NodeId, asked: &Type) {
        let found = self.type_of(id);
        if !self.bindings.fits(asked, &found) {
            self.mismatch(id, asked, &found);
        }
    }

    pub(super) fn type_of(&self, id: NodeId) -> Type {
        self.types.get(id.index()).cloned().flatten().unwrap_or(Type::Error)
    }

    pub(super) fn set_type(&mut self, id: NodeId, of: Type) {
        if let Some(slot) = self.types.get_mut(id.index()) {
            *slot = Some(of);
        }
    }

    pub(super) fn undeclared(&mut self, id: NodeId, name: &str) -> Type {
        self.error(id, format!("undeclared reference to '{name}' (in container '')"))
    }

    pub(super) fn mismatch(&mut self, id: NodeId, asked: &Type, found: &Type) {
        let text = format!("expected type '{}' but found '{}'", self.shown(asked), self.shown(found));
        self.error(id, text);
    }

    pub(super) fn shown(&self, of: &Type) -> String {
        Shown { of, declarations: self.declarations }.to_string()
    }

    /// Reports an error. Nobody complains about its type again.
    pub(super) fn error(&mut self, id: NodeId, text: String) -> Type {
        let place: Place = self.tree.place(id);
        self.errors.push(Located { place, text });
        Type::Error
    }
}

/// The type of a field of a message. Those of objects may have any name and value.
fn message_field(message: &str, field: &str) -> Option<Type> {
    match field {
        "op" | "path" | "from" if message == JSON_PATCH => Some(Type::String),
        "value" => Some(Type::Dyn),
        _ if message == JSON_PATCH => None,
        _ => Some(Type::Dyn),
    }
}
