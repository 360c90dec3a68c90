use super::pod;
use crate::validation::Field;

pub(super) fn validate(object: Field<'_>, old: Option<Field<'_>>) {
    pod::Template::new(object.child("template"), old.map(|old| old.child("template"))).validate();
}

pub(super) fn warnings(object: Field<'_>, old: Option<Field<'_>>) -> Vec<String> {
    let template = object.child("template");
    let is_same = old.is_some_and(|old| old.child("template").value() == template.value());
    if is_same { Vec::new() } else { pod::Template::new(template, None).warnings() }
}
