//! The tree that is evaluated, made from the one that was checked.
//!
//! Fields get the names that values have at run time, names of types become values, and loops with two variables become
//! loops over pairs, which is all that the evaluator knows.

use std::collections::BTreeMap;

use kube_cel::cel::{
    IdedExpr,
    common::ast::{
        CallExpr, ComprehensionExpr, EntryExpr, Expr, IdedEntryExpr, ListExpr, LiteralValue, MapEntryExpr,
        MapExpr, SelectExpr, operators,
    },
};

use super::{
    checker::{Checked, Constructor},
    functions::{ENTRIES, TYPE},
    scope::{VARIABLE, VARIABLES},
    syntax::{Comprehension, Kind, Literal, NodeId},
};

/// The variable of loops over pairs. No expression can name it.
const ENTRY: &str = "@entry";
const UNUSED: &str = "#unused";

/// Makes the tree.
pub(super) fn expression(checked: &Checked) -> IdedExpr {
    let renamed = checked.renamed.iter().map(|(id, name)| (id.index(), name.as_str())).collect();
    Planner { checked, renamed, locals: Vec::new() }.plan(checked.tree.root)
}

struct Planner<'c> {
    checked: &'c Checked,
    renamed: BTreeMap<usize, &'c str>,
    /// The variables that macros declare.
    locals: Vec<&'c str>,
}

impl<'c> Planner<'c> {
    fn plan(&mut self, id: NodeId) -> IdedExpr {
        let checked = self.checked;
        let expr = match checked.tree.kind(id) {
            Kind::Literal(literal) => Expr::Literal(value(literal)),
            Kind::Ident(name) => self.ident(id, name),
            Kind::Select { operand, field, test: false } if self.is_lazy(*operand) => {
                let name = unnumbered(Expr::Literal(LiteralValue::String(field.as_str().into())));
                call(VARIABLE, vec![name])
            }
            Kind::Select { operand, field, test } => Expr::Select(SelectExpr {
                operand: Box::new(self.plan(*operand)),
                field: self.renamed.get(&id.index()).copied().unwrap_or(field).to_owned(),
                test: *test,
            }),
            Kind::Call { function, target, args } => {
                let mut args: Vec<IdedExpr> = args.iter().map(|arg| self.plan(*arg)).collect();
                if let (operators::OPT_SELECT, Some(name), [_, field]) =
                    (function.as_str(), self.renamed.get(&id.index()), args.as_mut_slice())
                {
                    field.expr = Expr::Literal(LiteralValue::String((*name).into()));
                }
                let target = target.map(|target| Box::new(self.plan(target)));
                Expr::Call(CallExpr { func_name: function.clone(), target, args })
            }
            Kind::List { elements, optional } => Expr::List(ListExpr {
                elements: elements.iter().map(|element| self.plan(*element)).collect(),
                optional_indices: optional.clone(),
            }),
            Kind::Map(entries) => {
                let entries = entries.iter().map(|entry| IdedEntryExpr {
                    id: 0,
                    expr: EntryExpr::MapEntry(MapEntryExpr {
                        key: self.plan(entry.key),
                        value: self.plan(entry.value),
                        optional: entry.optional,
                    }),
                });
                Expr::Map(MapExpr { entries: entries.collect() })
            }
            // The checker takes none.
            Kind::Message { .. } => Expr::Literal(LiteralValue::Null),
            Kind::Comprehension(loops) => self.comprehension(loops),
        };
        IdedExpr { id: id.index() as u64, expr }
    }

    /// Whether a node holds the variables that are evaluated when they are asked for.
    fn is_lazy(&self, id: NodeId) -> bool {
        let is_theirs = |name: &str| name == VARIABLES && !self.locals.contains(&name);
        matches!(self.checked.tree.kind(id), Kind::Ident(name) if is_theirs(name))
    }

    fn ident(&self, id: NodeId, name: &str) -> Expr {
        let is_type = self.checked.type_of(id).constructor() == Some(Constructor::Type);
        if !is_type || self.locals.contains(&name) {
            return Expr::Ident(name.to_owned());
        }
        call(TYPE, vec![unnumbered(Expr::Literal(LiteralValue::String(name.into())))])
    }

    fn comprehension(&mut self, loops: &'c Comprehension) -> Expr {
        let iter_range = self.plan(loops.range);
        let accu_init = self.plan(loops.initial);
        let outside = self.locals.len();
        self.locals.push(&loops.accumulator);
        self.locals.push(&loops.variable);
        self.locals.extend(loops.second_variable.as_deref());
        let loop_cond = self.plan(loops.condition);
        let loop_step = self.plan(loops.step);
        self.locals.truncate(outside + 1);
        let result = self.plan(loops.result);
        self.locals.truncate(outside);
        let mut made = ComprehensionExpr {
            iter_range,
            iter_var: loops.variable.clone(),
            iter_var2: None,
            accu_var: loops.accumulator.clone(),
            accu_init,
            loop_cond,
            loop_step,
            result,
        };
        if let Some(second) = &loops.second_variable {
            made.iter_range = unnumbered(call(ENTRIES, vec![made.iter_range]));
            made.iter_var = ENTRY.to_owned();
            let part = |index: i64| {
                let index = unnumbered(Expr::Literal(LiteralValue::Int(index.into())));
                unnumbered(call(operators::INDEX, vec![unnumbered(Expr::Ident(ENTRY.to_owned())), index]))
            };
            made.loop_step = bind(&loops.variable, part(0), bind(second, part(1), made.loop_step));
        }
        Expr::Comprehension(Box::new(made))
    }
}

/// Gives a name to a value: a loop without rounds.
fn bind(name: &str, to: IdedExpr, result: IdedExpr) -> IdedExpr {
    unnumbered(Expr::Comprehension(Box::new(ComprehensionExpr {
        iter_range: unnumbered(Expr::List(ListExpr::new(Vec::new()))),
        iter_var: UNUSED.to_owned(),
        iter_var2: None,
        accu_var: name.to_owned(),
        accu_init: to,
        loop_cond: unnumbered(Expr::Literal(LiteralValue::Boolean(false.into()))),
        loop_step: unnumbered(Expr::Ident(name.to_owned())),
        result,
    })))
}

fn call(function: &str, args: Vec<IdedExpr>) -> Expr {
    Expr::Call(CallExpr { func_name: function.to_owned(), target: None, args })
}

/// A node that nobody asks the number of.
fn unnumbered(expr: Expr) -> IdedExpr {
    IdedExpr { id: 0, expr }
}

fn value(literal: &Literal) -> LiteralValue {
    match literal {
        Literal::Bool(flag) => LiteralValue::Boolean((*flag).into()),
        Literal::Bytes(bytes) => LiteralValue::Bytes(bytes.clone().into()),
        Literal::Double(number) => LiteralValue::Double((*number).into()),
        Literal::Int(number) => LiteralValue::Int((*number).into()),
        Literal::Null => LiteralValue::Null,
        Literal::String(text) => LiteralValue::String(text.as_str().into()),
        Literal::Uint(number) => LiteralValue::UInt((*number).into()),
    }
}
