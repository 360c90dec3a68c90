//! The text of the file.

use std::path::Path;

use kubewright_yaml as yaml;

use super::{FILE, LAYOUT, Layout, Project};
use crate::{ScaffoldError, names, tree::Tree};

const HEADER: &str = "\
# What the project was scaffolded with. Written by `kubewright`, which finds out from it what to write next.
";

impl Project {
    /// Reads the project of a tree.
    ///
    /// # Errors
    ///
    /// If there is none, or its file cannot be used: the text says what to do.
    pub fn read(tree: &Tree) -> Result<Self, ScaffoldError> {
        match tree.read(Path::new(FILE))? {
            Some(text) => Self::parse(&text)
                .map_err(|reason| ScaffoldError::ProjectFile { path: tree.path(Path::new(FILE)), reason }),
            None => Err(ScaffoldError::NoProject { folder: tree.path(Path::new("")) }),
        }
    }

    /// The text of its file. Equal projects have equal texts.
    #[must_use]
    pub fn to_text(&self) -> String {
        // A struct of texts, numbers and lists is a value.
        let value = serde_json::to_value(self).unwrap_or_default();
        format!("{HEADER}{}", yaml::to_string(&value))
    }

    fn parse(text: &str) -> Result<Self, String> {
        let project: Self = serde_saphyr::from_str(text)
            .map_err(|error| format!("{error}; restore the file from version control, or mend it by hand"))?;
        if project.version != "3" {
            return Err(format!("its version is `{}`, and `3` is the one that is known", project.version));
        }
        let layout = match &project.layout {
            Layout::One(layout) => std::slice::from_ref(layout),
            Layout::Several(layout) => layout,
        };
        if !layout.iter().any(|layout| layout == LAYOUT) {
            return Err(format!(
                "its layout is `{}`, which is not one of Kubewright's projects (`{LAYOUT}`); make a project for its kinds with \
                 `kubewright init` and `kubewright create api --from-crd`",
                layout.join(", ")
            ));
        }
        names::check_project(&project.project_name).map_err(|error| error.to_string())?;
        for resource in &project.resources {
            names::check_kind(&resource.kind)
                .and_then(|()| names::check_version(&resource.version))
                .map_err(|error| error.to_string())?;
        }
        Ok(project)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{api::NewApi, project::DeployImage};

    fn parse(text: &str) -> Result<Project, String> {
        Project::parse(text)
    }

    #[test]
    fn a_project_is_what_its_file_says() {
        let mut project = Project::new("example.com", "memcached-operator").expect("valid names");
        let image = DeployImage { image: "memcached:1.4.36-alpine".to_owned(), ..DeployImage::default() };
        project
            .add_api(&NewApi::new("cache", "v1alpha1", "Memcached").deploy_image(image))
            .expect("a new kind");
        let text = project.to_text();
        assert_eq!(parse(&text), Ok(project));
        assert_eq!(
            text,
            "\
# What the project was scaffolded with. Written by `kubewright`, which finds out from it what to write next.
cliVersion: 0.1.0
domain: example.com
layout:
- rust.kubewright.dev/v1
plugins:
  deploy-image.go.kubebuilder.io/v1-alpha:
    resources:
    - domain: example.com
      group: cache
      kind: Memcached
      options:
        image: memcached:1.4.36-alpine
      version: v1alpha1
  rust.kubewright.dev/v1:
    framework:
      version: 0.1.0
    license: apache2
projectName: memcached-operator
resources:
- api:
    crdVersion: v1
    namespaced: true
  controller: true
  domain: example.com
  group: cache
  kind: Memcached
  path: memcached_operator::api::v1alpha1
  version: v1alpha1
version: \"3\"
"
        );
    }

    #[test]
    fn what_is_not_known_is_kept() {
        let project = Project::new("example.com", "an-operator").expect("valid names");
        let text = project.to_text() + "later:\n  key: value\n";
        let read = parse(&text).expect("a project");
        assert!(read.to_text().contains("later:\n  key: value\n"), "{}", read.to_text());
    }

    #[test]
    fn what_is_no_project_is_told_with_the_way_out() {
        let refused = |text: &str| parse(text).expect_err("no project");
        assert!(refused("{").contains("restore the file from version control"));
        assert!(refused("version: \"2\"\nprojectName: p").contains("its version is `2`"));
        let go = "layout:\n- go.kubebuilder.io/v4\nprojectName: p\nversion: \"3\"\n";
        assert!(refused(go).contains("its layout is `go.kubebuilder.io/v4`"), "{}", refused(go));
        let project = Project::new("example.com", "an-operator").expect("valid names").to_text();
        let odd = project.replace("version: \"3\"", "resources:\n- {kind: a/b, version: v1}\nversion: \"3\"");
        assert!(refused(&odd).contains("`a/b` cannot be a kind"), "{}", refused(&odd));
    }
}
