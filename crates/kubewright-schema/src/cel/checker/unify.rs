//! Which types fit where, and what that says about types that are still open.

use super::types::{Constructor, Parameter, Type};

/// What is known about open types so far.
#[derive(Default)]
pub(super) struct Bindings {
    bound: Vec<Option<Type>>,
    /// What bindings were before they changed, so that an attempt can be taken back.
    trail: Vec<(usize, Option<Type>)>,
}

impl Bindings {
    /// A new open type.
    pub(super) fn fresh(&mut self) -> Type {
        self.bound.push(None);
        Type::Parameter(Parameter::Fresh(self.bound.len() - 1))
    }

    /// Whether values of one type fit where the other is asked for. Learns from it if they do, and only then.
    pub(super) fn fits(&mut self, given: &Type, asked: &Type) -> bool {
        self.attempt(|bindings| bindings.assignable(given, asked))
    }

    /// [`Bindings::fits`] for all operands of a call.
    pub(super) fn all_fit(&mut self, given: &[Type], asked: &[Type]) -> bool {
        self.attempt(|bindings| bindings.all_assignable(given, asked))
    }

    fn attempt(&mut self, check: impl FnOnce(&mut Self) -> bool) -> bool {
        let start = self.trail.len();
        let fits = check(self);
        if fits {
            self.trail.truncate(start);
        } else {
            while self.trail.len() > start {
                let Some((number, before)) = self.trail.pop() else { break };
                if let Some(slot) = self.bound.get_mut(number) {
                    *slot = before;
                }
            }
        }
        fits
    }

    fn find(&self, of: &Type) -> Option<&Type> {
        match of {
            Type::Parameter(Parameter::Fresh(number)) => self.bound.get(*number)?.as_ref(),
            _ => None,
        }
    }

    fn bind(&mut self, parameter: &Type, to: Type) {
        if let Type::Parameter(Parameter::Fresh(number)) = parameter
            && let Some(slot) = self.bound.get_mut(*number)
        {
            self.trail.push((*number, slot.replace(to)));
        }
    }

    /// The type with everything that is known put in.
    pub(super) fn resolve(&self, of: &Type) -> Type {
        of.map_parts(&mut |part| self.find(part).map(|bound| self.resolve(bound)))
    }

    /// [`Bindings::resolve`], with what is still open left to run time.
    pub(super) fn settle(&self, of: &Type) -> Type {
        self.resolve(of).map_parts(&mut |part| matches!(part, Type::Parameter(_)).then_some(Type::Dyn))
    }

    fn assignable(&mut self, given: &Type, asked: &Type) -> bool {
        if matches!(asked, Type::Parameter(_)) {
            match self.substitutes(given, asked) {
                (true, _) => return true,
                (false, true) => return false,
                (false, false) => {}
            }
        }
        if matches!(given, Type::Parameter(_)) {
            return self.substitutes(asked, given).0;
        }
        if given.is_dyn_or_error() || asked.is_dyn_or_error() {
            return true;
        }
        if *given == Type::Null {
            return asked.is_nullable();
        }
        if *asked == Type::Null {
            return given.is_nullable();
        }
        match (given, asked) {
            (Type::Compound(given), Type::Compound(asked)) => {
                given.constructor == asked.constructor
                    && (given.constructor == Constructor::Type
                        || self.all_assignable(&given.parameters, &asked.parameters))
            }
            _ => given == asked,
        }
    }

    fn all_assignable(&mut self, given: &[Type], asked: &[Type]) -> bool {
        given.len() == asked.len()
            && given.iter().zip(asked).all(|(given, asked)| self.assignable(given, asked))
    }

    /// Whether a type may stand for an open one, and whether the open one was known already.
    fn substitutes(&mut self, given: &Type, open: &Type) -> (bool, bool) {
        if given == open {
            return (true, true);
        }
        let Some(known) = self.find(open).cloned() else {
            if self.is_absent(open, given) {
                self.bind(open, given.clone());
                return (true, false);
            }
            return (false, false);
        };
        if *given == known {
            return (true, true);
        }
        if !self.assignable(given, &known) {
            return (false, true);
        }
        let general = most_general(given, &known);
        if self.is_absent(open, &general) {
            self.bind(open, general);
        }
        (true, true)
    }

    /// Whether an open type is no part of another, so that the one may become the other.
    fn is_absent(&self, open: &Type, within: &Type) -> bool {
        if open == within {
            return false;
        }
        match within {
            Type::Parameter(_) => self.find(within).is_none_or(|bound| self.is_absent(open, bound)),
            Type::Compound(compound) => {
                compound.parameters.iter().all(|parameter| self.is_absent(open, parameter))
            }
            _ => true,
        }
    }
}

/// The one of two types, which are known to fit, that says less.
pub(super) fn most_general(first: &Type, second: &Type) -> Type {
    if says_no_more(first, second) { first.clone() } else { second.clone() }
}

fn says_no_more(first: &Type, second: &Type) -> bool {
    if first.is_dyn() || matches!(first, Type::Parameter(_)) {
        return true;
    }
    if second.is_dyn() || matches!(second, Type::Parameter(_)) {
        return false;
    }
    match (first, second) {
        (Type::Compound(first), Type::Compound(second)) => {
            first.constructor == second.constructor
                && (first.constructor == Constructor::Type
                    || first.parameters.len() == second.parameters.len()
                        && first.parameters.iter().zip(&second.parameters).all(|(a, b)| says_no_more(a, b)))
        }
        _ => first == second,
    }
}
