//! Expressions that are no rules of a schema, such as the match conditions of webhooks.

use super::{
    checker::{is_function, is_type},
    depth::{self, SHALLOW},
    program,
    report::{ExpressionError, located},
    syntax::{Kind, Located, NodeId, Tree},
};

/// What is wrong with an expression that may use these variables, as far as it can be told without knowing their types:
/// its syntax, its macros, and names that nothing declares.
///
/// ```
/// use kubewright_schema::cel::check_expression;
///
/// let variables = ["object", "oldObject", "request", "authorizer"];
/// assert!(check_expression("object.metadata.name != 'a'", &variables).is_empty());
///
/// let errors = check_expression("self.metadata.name != 'a'", &variables);
/// assert_eq!(errors[0].text, "undeclared reference to 'self' (in container '')");
/// assert_eq!(errors[0].span, 0..4);
/// ```
#[must_use]
pub fn check_expression(source: &str, variables: &[&str]) -> Vec<ExpressionError> {
    let whole = |text: String| ExpressionError { text, span: 0..source.len(), line: 1, column: 1 };
    match program::parse(source) {
        Err(problem) if problem.located.is_empty() => vec![whole(problem.text)],
        Err(problem) => problem.located.iter().map(|error| located(source, error)).collect(),
        Ok(tree) => match depth::with_room(tree.depth() <= SHALLOW, || undeclared(&tree, variables)) {
            Some(errors) => errors.iter().map(|error| located(source, error)).collect(),
            None => vec![whole("there is no memory to check the expression".to_owned())],
        },
    }
}

/// The names that are neither variables nor types.
fn undeclared(tree: &Tree, variables: &[&str]) -> Vec<Located> {
    let mut errors = Vec::new();
    tree.walk(tree.root, &mut Vec::new(), &mut |id, above| {
        let Kind::Ident(written) = tree.kind(id) else { return };
        let name = written.strip_prefix('.').unwrap_or(written);
        if !(variables.contains(&name)
            || is_type(name)
            || is_declared_by_macro(tree, name, above)
            || is_namespace(tree, id, name, above))
        {
            let text = format!("undeclared reference to '{name}' (in container '')");
            errors.push(Located { place: tree.place(id), text });
        }
    });
    errors
}

fn is_declared_by_macro(tree: &Tree, name: &str, above: &[NodeId]) -> bool {
    above.iter().any(|id| match tree.kind(*id) {
        Kind::Comprehension(of) => {
            of.variable == name || of.second_variable.as_deref() == Some(name) || of.accumulator == name
        }
        _ => false,
    })
}

/// Whether the name is the first part of a function's name, such as `sets` in `sets.contains(a, b)`, or of a type's.
fn is_namespace(tree: &Tree, id: NodeId, name: &str, above: &[NodeId]) -> bool {
    let mut name = name.to_owned();
    let mut inner = id;
    for outer in above.iter().rev() {
        match tree.kind(*outer) {
            Kind::Call { function, target: Some(target), .. } if *target == inner => {
                return is_function(&format!("{name}.{function}"));
            }
            Kind::Select { operand, field, .. } if *operand == inner => {
                name = format!("{name}.{field}");
                if is_type(&name) {
                    return true;
                }
                inner = *outer;
            }
            _ => return false,
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(source: &str) -> Vec<String> {
        let errors = check_expression(source, &["object", "oldObject", "request", "authorizer"]);
        for error in &errors {
            assert!(source.get(error.span.clone()).is_some(), "{error:?}");
        }
        errors.into_iter().map(|error| error.text).collect()
    }

    #[test]
    fn variables_macros_types_and_namespaces_are_known() {
        for source in [
            "!(request.resource.group == 'coordination.k8s.io' && request.resource.resource == 'leases')",
            "!('system:nodes' in request.userInfo.groups)",
            "authorizer.group('admissionregistration.k8s.io').resource('webhooks').name('mine').check('breakglass').allowed()",
            "authorizer.requestResource.check('custom').allowed()",
            "object.spec.items.all(item, item.name != '' && oldObject.spec.items.exists(old, old == item))",
            "sets.contains(object.spec.items, [1, 2]) && ip.isCanonical(object.spec.address)",
            "has(object.metadata.labels) && type(object.a) == string && optional.none().hasValue()",
            "type(object.a) == google.protobuf.Timestamp",
        ] {
            assert_eq!(texts(source), Vec::<String>::new(), "{source}");
        }
    }

    #[test]
    fn other_names_are_undeclared() {
        assert_eq!(
            texts("self.a == items.filter(item, item == other).size()"),
            ["self", "items", "other"]
                .map(|name| format!("undeclared reference to '{name}' (in container '')"))
        );
        assert_eq!(texts("object.items.all(item, true) && item").len(), 1, "its scope has ended");
    }

    #[test]
    fn text_that_is_no_cel_is_told() {
        for source in ["", "object.a ==", "a b", "'open", "has(object)", "(".repeat(10_000).as_str()] {
            assert!(!texts(source).is_empty(), "{source}");
        }
    }
}
