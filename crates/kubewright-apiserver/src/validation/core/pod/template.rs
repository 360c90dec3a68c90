use super::{Kind, Scope, annotations, security, spec, warnings};
use crate::validation::{Field, selector};

/// The template of pods in something that makes them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Template<'a> {
    template: Field<'a>,
    allows_sys_admin: bool,
}

impl<'a> Template<'a> {
    /// The template, which was `old` before.
    pub(crate) fn new(template: Field<'a>, old: Option<Field<'_>>) -> Self {
        let allows_sys_admin = old.is_some_and(|old| security::has_sys_admin(old.child("spec")));
        Self { template, allows_sys_admin }
    }

    pub(crate) fn spec(self) -> Field<'a> {
        self.template.child("spec")
    }

    pub(crate) fn validate(self) {
        self.validate_with(self.spec());
    }

    /// Checks the template with another spec in the place of its own: what its pods will have.
    pub(crate) fn validate_with(self, spec: Field<'_>) {
        self.validate_metadata();
        let notes = self.template.child("metadata").child("annotations");
        let scope = Scope { kind: Kind::Template, metadata: None, allows_sys_admin: self.allows_sys_admin };
        spec::validate(spec, &scope);
        annotations::validate_profiles(notes, spec);
        if !spec.child("ephemeralContainers").is_empty() {
            spec.child("ephemeralContainers").forbidden("ephemeral containers not allowed in pod template");
        }
    }

    /// Checks the labels and annotations, which are reported at the template.
    pub(crate) fn validate_metadata(self) {
        let metadata = self.template.child("metadata");
        let place = |name: &'static str| self.template.at(name).with(metadata.child(name).value());
        selector::validate_labels(place("labels"));
        selector::validate_annotations(place("annotations"));
        annotations::validate(place("annotations"), self.spec());
    }

    /// Checks that a selector selects the pods. Gives whether the selector makes sense.
    pub(crate) fn validate_selected_by(self, selector: Field<'_>) -> bool {
        let labels = self.template.child("metadata").child("labels");
        let selects = selector::selects(selector, labels.map());
        if selects == Some(false) {
            labels.invalid(labels.value().clone(), "`selector` does not match template `labels`");
        }
        selects.is_some()
    }

    /// Checks that the pods run forever. `owner` is what makes them.
    pub(crate) fn validate_runs_forever(self, owner: &str) {
        let policy = self.spec().child("restartPolicy");
        policy.one_of(&["Always"]);
        let deadline = self.spec().child("activeDeadlineSeconds");
        if deadline.is_set() {
            deadline.forbidden(format!("activeDeadlineSeconds in {owner} is not Supported"));
        }
    }

    /// What the client should know about a template that is fine.
    pub(crate) fn warnings(self) -> Vec<String> {
        warnings::of_template(self.template)
    }
}
