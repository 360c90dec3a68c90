use super::{Type, expression::Checker, signature::Overload, types::Parameter};
use crate::cel::syntax::{Kind, Literal, NodeId};

impl Checker<'_> {
    pub(super) fn call(&mut self, id: NodeId) {
        let Kind::Call { function, target, args } = self.tree.kind(id).clone() else { return };
        if function == "_?._" {
            self.select_optional(id, &args);
            return;
        }
        for arg in &args {
            self.check(*arg);
        }
        let Some(target) = target else {
            match self.environment.function(&function) {
                Some((name, overloads)) => {
                    if name != function {
                        let function = name.to_owned();
                        self.tree.replace(id, Kind::Call { function, target: None, args: args.clone() });
                    }
                    self.resolve_or_report(id, name, overloads, None, &args);
                }
                None => self.undeclared_function(id, &function),
            }
            return;
        };
        // What looks like a target may be the first part of the name.
        let qualified = self
            .tree
            .qualified_name(target)
            .and_then(|names| self.environment.function(&format!("{}.{function}", names.join("."))));
        if let Some((name, overloads)) = qualified {
            let function = name.to_owned();
            self.tree.replace(id, Kind::Call { function, target: None, args: args.clone() });
            self.resolve_or_report(id, name, overloads, None, &args);
            return;
        }
        self.check(target);
        match self.environment.function(&function) {
            Some((name, overloads)) => self.resolve_or_report(id, name, overloads, Some(target), &args),
            None => self.undeclared_function(id, &function),
        }
    }

    fn undeclared_function(&mut self, id: NodeId, function: &str) {
        let of = self.undeclared(id, function);
        self.set_type(id, of);
    }

    /// `a.?b`
    fn select_optional(&mut self, id: NodeId, args: &[NodeId]) {
        let [operand, field] = args else { return };
        let Kind::Literal(Literal::String(field)) = self.tree.kind(*field).clone() else { return };
        let of = self.select_field(id, *operand, &field, true);
        let of = self.bindings.resolve(&of);
        self.set_type(id, of);
        self.add_overload(id, "select_optional_field");
    }

    fn resolve_or_report(
        &mut self,
        id: NodeId,
        name: &str,
        overloads: &'static [Overload],
        target: Option<NodeId>,
        args: &[NodeId],
    ) {
        let of = self.resolve(id, name, overloads, target, args).unwrap_or(Type::Error);
        self.set_type(id, of);
    }

    /// The result of a call. Nothing, and an error, if no overload fits.
    fn resolve(
        &mut self,
        id: NodeId,
        name: &str,
        overloads: &'static [Overload],
        target: Option<NodeId>,
        args: &[NodeId],
    ) -> Option<Type> {
        let operands: Vec<Type> = target.iter().chain(args).map(|operand| self.type_of(*operand)).collect();
        let mut result: Option<Type> = None;
        for overload in overloads.iter().filter(|overload| overload.is_method == target.is_some()) {
            if matches!(name, "_&&_" | "_||_") {
                self.add_overload(id, overload.id);
                return self.all_are_bool(args, &operands).then_some(Type::Bool);
            }
            let open: Vec<Type> = (0..overload.open).map(|_| self.bindings.fresh()).collect();
            let instance = |of: &Type| match overload.open {
                0 => of.clone(),
                _ => of.map_parts(&mut |part| match part {
                    Type::Parameter(Parameter::Declared(number)) => open.get(*number).cloned(),
                    _ => None,
                }),
            };
            let asked: Vec<Type> = overload.operands.iter().map(instance).collect();
            if !self.bindings.all_fit(&operands, &asked) {
                continue;
            }
            self.add_overload(id, overload.id);
            let found = self.bindings.resolve(&instance(&overload.result));
            result = Some(match result {
                None => found,
                Some(before) if before.is_dyn() || before == found => before,
                Some(_) => Type::Dyn,
            });
        }
        if result.is_none() {
            self.report_overload(id, name, target.is_some(), &operands);
        }
        result
    }

    fn all_are_bool(&mut self, args: &[NodeId], operands: &[Type]) -> bool {
        let mut all = true;
        for (arg, operand) in args.iter().zip(operands) {
            if !self.bindings.fits(operand, &Type::Bool) {
                self.mismatch(*arg, &Type::Bool, operand);
                all = false;
            }
        }
        all
    }

    fn report_overload(&mut self, id: NodeId, name: &str, is_method: bool, operands: &[Type]) {
        let shown: Vec<String> =
            operands.iter().map(|operand| self.shown(&self.bindings.settle(operand))).collect();
        let signature = match shown.split_first() {
            Some((target, rest)) if is_method => format!("{target}.({})", rest.join(", ")),
            _ => format!("({})", shown.join(", ")),
        };
        self.error(id, format!("found no matching overload for '{name}' applied to '{signature}'"));
    }

    fn add_overload(&mut self, id: NodeId, overload: &'static str) {
        if let Some(overloads) = self.overloads.get_mut(id.index()) {
            overloads.push(overload);
        }
    }
}
