//! Webhook configurations of controller-gen's own cases and of real projects, from their markers.

use std::{
    env, fs,
    path::{Path, PathBuf},
};

use kubewright_manifests::{
    Manifests, Style,
    diagnostic::{Place, Severity},
    marker::{Marker, Target, parse},
    webhook::{self, Options},
};
use serde_json::Value;

/// The folder with test data; none, with a message, if there is none here.
fn goldens() -> Option<PathBuf> {
    let root = env::var_os("KUBEWRIGHT_GOLDENS").map_or_else(
        || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/goldens"),
        PathBuf::from,
    );
    if !root.join("controller-tools").is_dir() {
        #[expect(clippy::print_stderr, reason = "a test that does nothing has to say so")]
        {
            eprintln!("SKIPPED: no goldens at {}; set KUBEWRIGHT_GOLDENS", root.display());
        }
        return None;
    }
    Some(root)
}

/// The markers of a file of comment lines; the error of the first that is none.
fn markers(path: &Path) -> Result<Vec<(Marker, Place)>, String> {
    let text = fs::read_to_string(path).unwrap();
    let mut start = 0;
    let mut markers = Vec::new();
    for line in text.split_inclusive('\n') {
        if let Some(at) = line.find('+') {
            let marker = line[at..].trim_end();
            let place =
                Place::File { file: "markers.txt".into(), range: start + at..start + at + marker.len() };
            let marker = parse(marker, &[Target::Package]).map_err(|error| error.to_string())?;
            markers.push((marker, place));
        }
        start += line.len();
    }
    Ok(markers)
}

fn generate<'m>(markers: impl IntoIterator<Item = &'m (Marker, Place)>, style: Style) -> Manifests {
    let markers = markers.into_iter().map(|(marker, place)| (marker, place.clone()));
    webhook::documents(markers, &Options::default().style(style))
}

fn read_yaml(path: &Path) -> Vec<Value> {
    serde_saphyr::from_multiple(&fs::read_to_string(path).unwrap()).unwrap()
}

#[test]
fn configurations_are_those_of_controller_gen_byte_by_byte() {
    let Some(goldens) = goldens() else { return };
    let cases = goldens.join("controller-tools/pkg/webhook/testdata");
    let mut files = vec![
        (goldens.join("extra/kueue/webhook-markers.txt"), goldens.join("extra/kueue/webhook-manifests.yaml")),
        (
            goldens.join("extra/cluster-api/core-webhook-markers.txt"),
            goldens.join("extra/cluster-api/core-webhook-manifests.yaml"),
        ),
    ];
    for case in [
        "",
        "valid-namespaceselector",
        "valid-objectselector",
        "valid-selectors-matchexpressions",
        "valid-ordered",
    ] {
        files.push((cases.join(case).join("webhook-markers.txt"), cases.join(case).join("manifests.yaml")));
    }
    for (input, output) in files {
        let generated = generate(&markers(&input).unwrap(), Style::ControllerGen);
        assert!(!generated.has_errors(), "{}: {:#?}", input.display(), generated.diagnostics);
        assert_eq!(generated.to_yaml(), fs::read_to_string(output).unwrap(), "{}", input.display());
    }
}

#[test]
fn configurations_that_were_edited_by_hand_are_equal_as_values() {
    let Some(goldens) = goldens() else { return };
    let cases = goldens.join("controller-tools/pkg/webhook/testdata");
    for case in ["valid", "valid-crosspkg-stable", "valid-custom-name", "valid-custom-service", "valid-url"] {
        let mut markers = markers(&cases.join(case).join("webhook-markers.txt")).unwrap();
        let expected = read_yaml(&cases.join(case).join("manifests.yaml"));
        assert_eq!(generate(&markers, Style::ControllerGen).documents, expected, "{case}");
        if case == "valid-crosspkg-stable" {
            markers.reverse();
            assert_eq!(generate(&markers, Style::ControllerGen).documents, expected, "in the other order");
        }
    }
}

#[test]
fn what_controller_gen_refuses_is_refused() {
    let Some(goldens) = goldens() else { return };
    let cases = goldens.join("controller-tools/pkg/webhook/testdata");
    // Per case a word of what is said.
    for (case, word) in [
        ("invalid-admissionReviewVersionsRequired", "admissionReviewVersions"),
        ("invalid-multiple-webhookconfigurations", "another mutating configuration already: `foo`"),
        ("invalid-path-and-url", "both a `path` and a `url`"),
        ("invalid-sideEffects", "Some"),
        ("invalid-timeoutSeconds", "not 40"),
        ("invalid-v1beta1NotSupported", "v1beta1"),
    ] {
        let said = match markers(&cases.join(case).join("webhook-markers.txt")) {
            Err(error) => error,
            Ok(markers) => {
                let generated = generate(&markers, Style::ControllerGen);
                let errors =
                    generated.diagnostics.into_iter().filter(|found| found.severity == Severity::Error);
                errors.map(|found| found.message).collect::<Vec<_>>().join("\n")
            }
        };
        assert!(said.contains(word), "{case}: {said}");
    }
}

#[test]
fn large_projects_are_free_of_noise() {
    let Some(goldens) = goldens() else { return };
    for input in ["extra/kueue/webhook-markers.txt", "extra/cluster-api/core-webhook-markers.txt"] {
        let found = generate(&markers(&goldens.join(input)).unwrap(), Style::Kubewright).diagnostics;
        assert_eq!(
            found.iter().filter(|found| found.severity == Severity::Error).count(),
            0,
            "{input}: {found:#?}"
        );
    }
}
