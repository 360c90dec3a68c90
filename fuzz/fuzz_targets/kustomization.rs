//! Any text is a kustomization that is built, or an error.

#![no_main]

use kubewright_kustomize::{Builder, Memory};
use libfuzzer_sys::fuzz_target;

const OBJECTS: &str = "\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, labels: {app: web}}
spec:
  replicas: 1
  template:
    spec:
      containers: [{name: web, image: nginx, ports: [{containerPort: 80}], env: [{name: A, value: b}]}]
---
apiVersion: v1
kind: ConfigMap
metadata: {name: settings}
data: {text: '{\"a\": 1}'}
";

fuzz_target!(|text: &str| {
    let files = Memory::from_iter([("kustomization.yaml", text), ("a.yaml", OBJECTS), ("text", text)]);
    if let Ok(built) = Builder::new(files).build("/") {
        let _ = built.to_yaml();
    }
});
