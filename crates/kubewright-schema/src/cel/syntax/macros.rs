//! The macros of Kubernetes: those of the standard, of optional values, of comprehensions with two variables and of
//! sorted lists. Everything they make is at the place of their call.

use super::{
    Entry, FieldValue, Kind, Literal, Located, NodeId, Place,
    parser::Parser,
    tree::{ACCUMULATOR, Comprehension},
};

/// The name of the accumulator in older versions, which stays forbidden.
const OLD_ACCUMULATOR: &str = "__result__";
const SORT_INPUT: &str = "@__sortBy_input__";
const UNUSED: &str = "#unused";
const SIMPLE_NAME: &str = "argument must be a simple name";

/// A node, unless the tree is full.
type Made = Option<NodeId>;

/// Expands a call if it is one of a macro.
pub(super) fn expand(
    parser: &mut Parser<'_>,
    place: Place,
    function: &str,
    target: Option<NodeId>,
    args: &[NodeId],
) -> Option<Result<Made, Located>> {
    let mut maker = Maker { parser, place };
    Some(match (function, target, args) {
        ("has", None, [field]) => maker.has(*field),
        ("all", Some(range), [name, test]) => maker.quantifier(Quantifier::All, range, &[*name], *test),
        ("exists", Some(range), [name, test]) => maker.quantifier(Quantifier::Exists, range, &[*name], *test),
        ("exists_one", Some(range), [name, test]) => {
            maker.quantifier(Quantifier::ExistsOne, range, &[*name], *test)
        }
        ("map", Some(range), [name, to]) => maker.map(range, *name, None, *to),
        ("map", Some(range), [name, test, to]) => maker.map(range, *name, Some(*test), *to),
        ("filter", Some(range), [name, test]) => maker.filter(range, *name, *test),
        ("optMap", Some(value), [name, to]) => maker.opt_map("optMap", value, *name, *to),
        ("optFlatMap", Some(value), [name, to]) => maker.opt_map("optFlatMap", value, *name, *to),
        ("all", Some(range), [key, value, test]) => {
            maker.quantifier(Quantifier::All, range, &[*key, *value], *test)
        }
        ("exists", Some(range), [key, value, test]) => {
            maker.quantifier(Quantifier::Exists, range, &[*key, *value], *test)
        }
        ("existsOne" | "exists_one", Some(range), [key, value, test]) => {
            maker.quantifier(Quantifier::ExistsOne, range, &[*key, *value], *test)
        }
        ("transformList" | "transformMap" | "transformMapEntry", Some(range), [key, value, to]) => {
            maker.transform(function, range, [*key, *value], None, *to)
        }
        ("transformList" | "transformMap" | "transformMapEntry", Some(range), [key, value, test, to]) => {
            maker.transform(function, range, [*key, *value], Some(*test), *to)
        }
        ("sortBy", Some(list), [name, key]) => maker.sort_by(list, *name, *key),
        _ => return None,
    })
}

#[derive(Clone, Copy)]
enum Quantifier {
    All,
    Exists,
    ExistsOne,
}

/// Makes nodes at one place.
struct Maker<'p, 's> {
    parser: &'p mut Parser<'s>,
    place: Place,
}

impl Maker<'_, '_> {
    fn has(&mut self, field: NodeId) -> Result<Made, Located> {
        match self.parser.tree().kind(field).clone() {
            Kind::Select { operand, field: name, .. } => {
                let mut place = self.parser.tree().place(field);
                place.at = self.place.at;
                Ok(self.parser.add(place, Kind::Select { operand, field: name, test: true }))
            }
            _ => Err(self.error(field, "invalid argument to has() macro")),
        }
    }

    fn quantifier(
        &mut self,
        quantifier: Quantifier,
        range: NodeId,
        names: &[NodeId],
        test: NodeId,
    ) -> Result<Made, Located> {
        let names = self.names(names, SIMPLE_NAME)?;
        Ok(self.quantify(quantifier, range, names, test))
    }

    fn quantify(
        &mut self,
        quantifier: Quantifier,
        range: NodeId,
        names: (String, Option<String>),
        test: NodeId,
    ) -> Made {
        let accumulator = self.accumulator()?;
        let (initial, condition, step, result) = match quantifier {
            Quantifier::All => {
                let initial = self.literal(Literal::Bool(true))?;
                let inner = self.accumulator()?;
                let condition = self.call("@not_strictly_false", vec![inner])?;
                let step = self.call("_&&_", vec![accumulator, test])?;
                (initial, condition, step, self.accumulator()?)
            }
            Quantifier::Exists => {
                let initial = self.literal(Literal::Bool(false))?;
                let inner = self.accumulator()?;
                let inner = self.call("!_", vec![inner])?;
                let condition = self.call("@not_strictly_false", vec![inner])?;
                let step = self.call("_||_", vec![accumulator, test])?;
                (initial, condition, step, self.accumulator()?)
            }
            Quantifier::ExistsOne => {
                let initial = self.literal(Literal::Int(0))?;
                let condition = self.literal(Literal::Bool(true))?;
                let one = self.literal(Literal::Int(1))?;
                let more = self.call("_+_", vec![accumulator, one])?;
                let same = self.accumulator()?;
                let step = self.call("_?_:_", vec![test, more, same])?;
                let one = self.literal(Literal::Int(1))?;
                let found = self.accumulator()?;
                (initial, condition, step, self.call("_==_", vec![found, one])?)
            }
        };
        self.comprehension(range, names, ACCUMULATOR, [initial, condition, step, result])
    }

    fn map(
        &mut self,
        range: NodeId,
        name: NodeId,
        test: Option<NodeId>,
        to: NodeId,
    ) -> Result<Made, Located> {
        let names = self.names(&[name], "argument is not an identifier")?;
        Ok(self.gather(range, names, test, to))
    }

    fn filter(&mut self, range: NodeId, name: NodeId, test: NodeId) -> Result<Made, Located> {
        let names = self.names(&[name], "argument is not an identifier")?;
        Ok(self.gather(range, names, Some(test), name))
    }

    /// Gathers values in a list.
    fn gather(
        &mut self,
        range: NodeId,
        names: (String, Option<String>),
        test: Option<NodeId>,
        to: NodeId,
    ) -> Made {
        let initial = self.list(Vec::new())?;
        let condition = self.literal(Literal::Bool(true))?;
        let before = self.accumulator()?;
        let added = self.list(vec![to])?;
        let step = self.call("_+_", vec![before, added])?;
        self.fold(range, names, initial, condition, test, step)
    }

    fn fold(
        &mut self,
        range: NodeId,
        names: (String, Option<String>),
        initial: NodeId,
        condition: NodeId,
        test: Option<NodeId>,
        step: NodeId,
    ) -> Made {
        let step = match test {
            None => step,
            Some(test) => {
                let same = self.accumulator()?;
                self.call("_?_:_", vec![test, step, same])?
            }
        };
        let result = self.accumulator()?;
        self.comprehension(range, names, ACCUMULATOR, [initial, condition, step, result])
    }

    fn transform(
        &mut self,
        function: &str,
        range: NodeId,
        [key, value]: [NodeId; 2],
        test: Option<NodeId>,
        to: NodeId,
    ) -> Result<Made, Located> {
        let names = self.names(&[key, value], SIMPLE_NAME)?;
        Ok(match function {
            "transformList" => self.gather(range, names, test, to),
            _ => self.gather_map(function == "transformMap", range, names, test, to),
        })
    }

    /// Gathers values in a map, under the first variable or under the key of an entry.
    fn gather_map(
        &mut self,
        keeps_key: bool,
        range: NodeId,
        names: (String, Option<String>),
        test: Option<NodeId>,
        to: NodeId,
    ) -> Made {
        let initial = self.parser.add(self.place, Kind::Map(Vec::<Entry>::new()))?;
        let condition = self.literal(Literal::Bool(true))?;
        let mut args = vec![self.accumulator()?];
        if keeps_key {
            args.push(self.ident(&names.0)?);
        }
        args.push(to);
        let step = self.call("cel.@mapInsert", args)?;
        self.fold(range, names, initial, condition, test, step)
    }

    /// `value.hasValue() ? optional.of(bind(name, value.value(), to)) : optional.none()`
    fn opt_map(&mut self, function: &str, value: NodeId, name: NodeId, to: NodeId) -> Result<Made, Located> {
        let Kind::Ident(name) = self.parser.tree().kind(name).clone() else {
            return Err(self.error(name, &format!("{function}() variable name must be a simple identifier")));
        };
        Ok(self.opt_bind(function == "optMap", value, &name, to))
    }

    fn opt_bind(&mut self, wraps: bool, value: NodeId, name: &str, to: NodeId) -> Made {
        let has_value = self.method("hasValue", value, Vec::new())?;
        let range = self.list(Vec::new())?;
        let copy = self.copy(value)?;
        let initial = self.method("value", copy, Vec::new())?;
        let bound = self.bind(range, name, initial, to)?;
        let some = if wraps { self.call("optional.of", vec![bound])? } else { bound };
        let none = self.call("optional.none", Vec::new())?;
        self.call("_?_:_", vec![has_value, some, none])
    }

    /// A loop without rounds, whose accumulator is the name.
    fn bind(&mut self, range: NodeId, name: &str, initial: NodeId, result: NodeId) -> Made {
        let condition = self.literal(Literal::Bool(false))?;
        let step = self.ident(name)?;
        self.comprehension(range, (UNUSED.to_owned(), None), name, [initial, condition, step, result])
    }

    fn sort_by(&mut self, list: NodeId, name: NodeId, key: NodeId) -> Result<Made, Located> {
        if matches!(self.parser.tree().kind(list), Kind::Literal(_) | Kind::Map(_) | Kind::Message { .. }) {
            let text =
                "sortBy can only be applied to a list, identifier, comprehension, call or select expression";
            return Err(self.error(list, text));
        }
        let names = self.names(&[name], "argument is not an identifier")?;
        Ok(self.sort(list, names, key))
    }

    fn sort(&mut self, list: NodeId, names: (String, Option<String>), key: NodeId) -> Made {
        let input = self.ident(SORT_INPUT)?;
        let keys = self.gather(input, names, None, key)?;
        let input = self.ident(SORT_INPUT)?;
        let sorted = self.method("@sortByAssociatedKeys", input, vec![keys])?;
        let range = self.list(Vec::new())?;
        self.bind(range, SORT_INPUT, list, sorted)
    }

    /// The names of one or two variables.
    fn names(&self, ids: &[NodeId], not_a_name: &str) -> Result<(String, Option<String>), Located> {
        let mut names = Vec::with_capacity(2);
        for id in ids {
            match self.parser.tree().kind(*id) {
                Kind::Ident(name) => names.push(name.clone()),
                _ => return Err(self.error(*id, not_a_name)),
            }
        }
        if let ([first, second], [_, id]) = (names.as_slice(), ids)
            && first == second
        {
            return Err(self.error(*id, &format!("duplicate variable name: {first}")));
        }
        for (name, id) in names.iter().zip(ids) {
            if [ACCUMULATOR, OLD_ACCUMULATOR].contains(&name.as_str()) {
                return Err(self.error(*id, "iteration variable overwrites accumulator variable"));
            }
        }
        let mut names = names.into_iter();
        Ok((names.next().unwrap_or_default(), names.next()))
    }

    fn error(&self, id: NodeId, text: &str) -> Located {
        Located { place: self.parser.tree().place(id), text: text.to_owned() }
    }

    fn comprehension(
        &mut self,
        range: NodeId,
        (variable, second_variable): (String, Option<String>),
        accumulator: &str,
        [initial, condition, step, result]: [NodeId; 4],
    ) -> Made {
        let accumulator = accumulator.to_owned();
        let loops =
            Comprehension { range, variable, second_variable, accumulator, initial, condition, step, result };
        self.parser.add(self.place, Kind::Comprehension(Box::new(loops)))
    }

    fn accumulator(&mut self) -> Made {
        self.ident(ACCUMULATOR)
    }

    fn ident(&mut self, name: &str) -> Made {
        self.parser.add(self.place, Kind::Ident(name.to_owned()))
    }

    fn literal(&mut self, literal: Literal) -> Made {
        self.parser.add(self.place, Kind::Literal(literal))
    }

    fn list(&mut self, elements: Vec<NodeId>) -> Made {
        self.parser.add(self.place, Kind::List { elements, optional: Vec::new() })
    }

    fn call(&mut self, function: &str, args: Vec<NodeId>) -> Made {
        self.parser.call(self.place, function, None, args)
    }

    fn method(&mut self, function: &str, target: NodeId, args: Vec<NodeId>) -> Made {
        self.parser.call(self.place, function, Some(target), args)
    }

    /// A second tree like the one below `id`, at the same places.
    fn copy(&mut self, id: NodeId) -> Made {
        let node = self.parser.tree().node(id).clone();
        let kind = match node.kind {
            kind @ (Kind::Literal(_) | Kind::Ident(_)) => kind,
            Kind::Select { operand, field, test } => {
                Kind::Select { operand: self.copy(operand)?, field, test }
            }
            Kind::Call { function, target, args } => {
                let target = match target {
                    Some(target) => Some(self.copy(target)?),
                    None => None,
                };
                Kind::Call { function, target, args: self.copies(&args)? }
            }
            Kind::List { elements, optional } => Kind::List { elements: self.copies(&elements)?, optional },
            Kind::Map(entries) => {
                let mut copies = Vec::with_capacity(entries.len());
                for Entry { key, value, optional } in entries {
                    copies.push(Entry { key: self.copy(key)?, value: self.copy(value)?, optional });
                }
                Kind::Map(copies)
            }
            Kind::Message { name, fields } => {
                let mut copies = Vec::with_capacity(fields.len());
                for field in fields {
                    copies.push(FieldValue { value: self.copy(field.value)?, ..field });
                }
                Kind::Message { name, fields: copies }
            }
            Kind::Comprehension(loops) => Kind::Comprehension(Box::new(Comprehension {
                range: self.copy(loops.range)?,
                initial: self.copy(loops.initial)?,
                condition: self.copy(loops.condition)?,
                step: self.copy(loops.step)?,
                result: self.copy(loops.result)?,
                ..*loops
            })),
        };
        self.parser.add(node.place, kind)
    }

    fn copies(&mut self, ids: &[NodeId]) -> Option<Vec<NodeId>> {
        ids.iter().map(|id| self.copy(*id)).collect()
    }
}
