use std::{collections::HashMap, mem, sync::Arc};

use kube_cel::cel::{
    Value as Cel,
    objects::{Key, Map, OptionalValue},
};

use super::{
    Failure, Input, Message, Outcome, access, conversion, functions, library, lists,
    meter::{self, Meter},
    named_format,
    node::{Call, Element, Loop, Node, Plan, key_of},
    operators, strings, url,
};

/// Evaluates an expression, and gives what it cost; more than `limit` if that was not enough.
pub(in crate::cel) fn evaluate(plan: &Plan, input: &Input<'_>, limit: u64) -> (Outcome, u64) {
    let mut evaluator = Evaluator { input, locals: Vec::new(), meter: Meter::new(limit) };
    let result = evaluator.node(&plan.root);
    (result, evaluator.meter.spent())
}

struct Evaluator<'a> {
    input: &'a Input<'a>,
    /// What macros gave names to. An error stays one until somebody asks.
    locals: Vec<Outcome>,
    meter: Meter,
}

impl Evaluator<'_> {
    fn node(&mut self, node: &Node) -> Outcome {
        match node {
            Node::Constant(value) => Ok(value.clone()),
            Node::Global(name) => {
                self.meter.pay(1)?;
                let found = self.input.variables.iter().find(|(own, _)| own == name);
                let missing = || Failure::other(format!("no such attribute(s): {name}"));
                found.map(|(_, value)| (*value).clone()).ok_or_else(missing)
            }
            Node::Local(number) => {
                self.meter.pay(1)?;
                self.locals.get(*number).cloned().unwrap_or_else(|| Err(Failure::no_such_overload()))
            }
            Node::Lazy { name, test } => {
                self.meter.pay(if *test { 1 } else { 2 })?;
                match self.input.lazy {
                    Some(lazy) if *test => Ok(Cel::Bool(lazy.has(name))),
                    Some(lazy) => lazy.value(name),
                    None => Err(access::no_such_key(name)),
                }
            }
            Node::Select(select) => {
                let operand = self.node(&select.operand)?;
                if select.test {
                    return Ok(Cel::Bool(access::has(&operand, &select.field)));
                }
                self.meter.pay(1)?;
                access::field(&operand, &select.field, select.optional)
            }
            Node::Index(index) => {
                let operand = self.node(&index.operand)?;
                let at = self.node(&index.index)?;
                self.meter.pay(1)?;
                access::item(&operand, &at, index.optional)
            }
            Node::And(operands) => self.logic(operands, false),
            Node::Or(operands) => self.logic(operands, true),
            Node::Conditional(operands) => {
                let [condition, yes, no] = &**operands;
                match self.node(condition)? {
                    Cel::Bool(true) => self.node(yes),
                    Cel::Bool(false) => self.node(no),
                    _ => Err(Failure::no_such_overload()),
                }
            }
            Node::NotStrictlyFalse(operand) => match self.node(operand) {
                Err(failure) if failure.is_final() => Err(failure),
                Ok(Cel::Bool(flag)) => {
                    self.meter.pay(1)?;
                    Ok(Cel::Bool(flag))
                }
                _ => {
                    self.meter.pay(1)?;
                    Ok(Cel::Bool(true))
                }
            },
            Node::OptionalOr { operands, unwraps } => {
                let [optional, other] = &**operands;
                let value = self.node(optional)?;
                match access::optional(&value) {
                    Some(Some(inner)) => Ok(if *unwraps { inner.clone() } else { value.clone() }),
                    Some(None) => self.node(other),
                    None => Err(Failure::no_such_overload()),
                }
            }
            Node::Call(call) => self.call(call),
            Node::List(elements) => self.list(elements),
            Node::Map(entries) => self.map(entries),
            Node::Message { name, fields } => self.message(name, fields),
            Node::Append { accumulator, element } => {
                let element = self.node(element);
                let before = self.locals.get_mut(*accumulator).map(|slot| mem::replace(slot, Ok(Cel::Null)));
                self.meter.pay(2 + meter::LIST)?;
                match (before, element) {
                    (Some(Ok(Cel::List(mut list))), Ok(element)) => {
                        Arc::make_mut(&mut list).push(element);
                        Ok(Cel::List(list))
                    }
                    (Some(Err(failure)), _) | (_, Err(failure)) => Err(failure),
                    _ => Err(Failure::no_such_overload()),
                }
            }
            Node::Loop(of) => self.comprehension(of),
            Node::Bind(parts) => {
                let [initial, result] = &**parts;
                let value = self.node(initial);
                if let Err(failure) = &value
                    && failure.is_final()
                {
                    return value;
                }
                self.locals.push(value);
                let result = self.node(result);
                self.locals.pop();
                result
            }
        }
    }

    /// `a || b`, or `a && b` if `decisive` is false. The decisive value of one decides, whatever is wrong with the other.
    fn logic(&mut self, operands: &[Node; 2], decisive: bool) -> Outcome {
        let mut problem = None;
        for operand in operands {
            let found = match self.node(operand) {
                Ok(Cel::Bool(flag)) if flag == decisive => return Ok(Cel::Bool(decisive)),
                Ok(Cel::Bool(_)) => continue,
                Ok(_) => Failure::no_such_overload(),
                Err(failure) if failure.is_final() => return Err(failure),
                Err(failure) => failure,
            };
            problem.get_or_insert(found);
        }
        problem.map_or(Ok(Cel::Bool(!decisive)), Err)
    }

    fn call(&mut self, call: &Call) -> Outcome {
        let mut operands = Vec::with_capacity(call.operands.len());
        for operand in &call.operands {
            operands.push(self.node(operand)?);
        }
        let function = call.function.as_str();
        let applied = operators::apply(function, &operands, &mut self.meter)
            .or_else(|| match operands.as_slice() {
                [value] => conversion::apply(function, value),
                _ => None,
            })
            .or_else(|| lists::apply(function, &operands, &mut self.meter))
            .or_else(|| strings::apply(function, &operands))
            .or_else(|| url::apply(function, &operands))
            .or_else(|| named_format::apply(function, &operands));
        let result = match (applied, &call.library) {
            (Some(result), _) => result,
            (None, Some(library)) => {
                functions::prepare(function, &mut operands);
                let result = library::evaluate(library, &operands, &mut self.meter);
                functions::adapt(function, &operands, result)
            }
            (None, None) => functions::apply(function, &operands, &mut self.meter),
        };
        self.meter.pay(meter::of_call(function, call.overload, &operands, result.as_ref().ok()))?;
        result
    }

    /// The value of a part of a literal; nothing if it is an optional one that is not there.
    fn element(&mut self, element: &Element) -> Result<Option<Cel>, Failure> {
        let value = self.node(&element.value)?;
        if !element.optional {
            return Ok(Some(value));
        }
        match access::optional(&value) {
            Some(inner) => Ok(inner.cloned()),
            None => Err(Failure::other(format!(
                "cannot initialize optional list element from non-optional value {}",
                functions::shown(&value)
            ))),
        }
    }

    fn list(&mut self, elements: &[Element]) -> Outcome {
        let mut values = Vec::with_capacity(elements.len());
        for element in elements {
            values.extend(self.element(element)?);
        }
        self.meter.pay(meter::LIST)?;
        Ok(Cel::List(Arc::new(values)))
    }

    fn map(&mut self, entries: &[(Node, Element)]) -> Outcome {
        let mut map = HashMap::with_capacity(entries.len());
        for (key, value) in entries {
            let key = self.node(key)?;
            let Some(value) = self.element(value)? else { continue };
            let key = key_of(&key).ok_or_else(|| {
                Failure::other(format!("unsupported key type: {}", functions::type_name(&key)))
            })?;
            map.insert(key, value);
        }
        self.meter.pay(meter::MAP)?;
        Ok(Cel::Map(Map { map: Arc::new(map) }))
    }

    fn message(&mut self, name: &str, fields: &[(String, Element)]) -> Outcome {
        let mut message = Message::new(name);
        for (field, value) in fields {
            if let Some(value) = self.element(value)? {
                message.set(field, value)?;
            }
        }
        self.meter.pay(meter::MESSAGE)?;
        Ok(message.into_value())
    }

    fn comprehension(&mut self, of: &Loop) -> Outcome {
        let range = self.node(&of.range)?;
        let rounds = rounds(range, of.pairs)?;
        let initial = self.node(&of.initial);
        let accumulator = self.locals.len();
        self.locals.push(initial);
        let outcome = self.repeat(of, rounds, accumulator);
        self.locals.truncate(accumulator + 1);
        let result = outcome.and_then(|()| self.node(&of.result));
        self.locals.truncate(accumulator);
        result
    }

    fn repeat(&mut self, of: &Loop, rounds: Rounds, accumulator: usize) -> Result<(), Failure> {
        for (first, second) in rounds {
            self.locals.truncate(accumulator + 1);
            self.locals.push(Ok(first));
            self.locals.extend(second.map(Ok));
            match self.node(&of.condition) {
                Err(failure) if failure.is_final() => return Err(failure),
                Ok(Cel::Bool(false)) => break,
                _ => {}
            }
            let next = self.node(&of.step);
            if let Err(failure) = &next
                && failure.is_final()
            {
                return Err(failure.clone());
            }
            if let Some(slot) = self.locals.get_mut(accumulator) {
                *slot = next;
            }
        }
        Ok(())
    }
}

/// The values of the variables in each round.
type Rounds = Box<dyn Iterator<Item = (Cel, Option<Cel>)>>;

/// Maps have no order, and what a loop makes of them must not depend on chance.
fn rounds(range: Cel, pairs: bool) -> Result<Rounds, Failure> {
    Ok(match range {
        Cel::List(items) => {
            let count = items.len();
            let item = move |index: usize| items.get(index).cloned();
            Box::new((0..count).filter_map(move |index| {
                let item = item(index)?;
                Some(if pairs {
                    (Cel::Int(i64::try_from(index).unwrap_or(i64::MAX)), Some(item))
                } else {
                    (item, None)
                })
            }))
        }
        Cel::Map(map) => {
            let mut keys: Vec<Key> = map.map.keys().cloned().collect();
            keys.sort_unstable();
            Box::new(keys.into_iter().map(move |key| {
                let value = map.map.get(&key).filter(|_| pairs).cloned();
                (Cel::from(key), value)
            }))
        }
        other => {
            return Err(Failure::other(format!(
                "got '{}', expected iterable type",
                functions::go_value_type(&other)
            )));
        }
    })
}

/// An optional value.
pub(super) fn optional_of(value: Option<Cel>) -> Cel {
    Cel::Opaque(Arc::new(value.map_or_else(OptionalValue::none, OptionalValue::of)))
}
