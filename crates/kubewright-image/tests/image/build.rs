//! What is in an image, and that nothing else decides on its bytes.

use std::{collections::BTreeMap, fs, io::Read, path::Path};

use bytes::Bytes;
use kubewright_image::{
    Certificates, CertificatesError, Digest, Executable, Image, ImageError, Platform, Recipe, RecipeError,
    layout,
    spec::{Config, Manifest},
};
use serde_json::{Value, json};

use crate::program::{AMD64, ARM64, elf, image, program, reference};

fn recipe() -> Recipe {
    let labels = [("org.opencontainers.image.title", "zoo"), ("org.opencontainers.image.version", "1.2.3")];
    let labels = labels.map(|(key, value)| (key.to_owned(), value.to_owned()));
    Recipe { created: 1_700_000_000, labels: BTreeMap::from(labels), ..Recipe::default() }
}

fn only(image: &Image) -> (Manifest, Config) {
    let mut manifests = image.manifests().expect("readable");
    let (_, manifest) = manifests.pop().expect("a manifest");
    assert!(manifests.is_empty(), "one platform");
    let config = image.config(&manifest).expect("readable");
    (manifest, config)
}

/// The entries of a layer, with their permissions, owners and contents.
fn entries(layer: &Bytes) -> Vec<(String, u32, u64, Vec<u8>)> {
    let mut archive = tar::Archive::new(flate2::read::GzDecoder::new(&layer[..]));
    archive
        .entries()
        .expect("an archive")
        .map(|entry| {
            let mut entry = entry.expect("an entry");
            let mut content = Vec::new();
            entry.read_to_end(&mut content).expect("whole");
            let header = entry.header();
            assert_eq!(header.mtime().expect("a time"), 1_700_000_000);
            let path = entry.path().expect("a path").to_string_lossy().into_owned();
            (path, header.mode().expect("a mode"), header.uid().expect("a user"), content)
        })
        .collect()
}

#[test]
fn an_image_has_one_layer_with_the_operator_and_what_it_needs() {
    let image = recipe().build(&[program(AMD64, b"manager")], None).expect("an image");
    let (manifest, config) = only(&image);
    assert_eq!(
        serde_json::to_value(&config).expect("JSON"),
        json!({
            "created": "2023-11-14T22:13:20Z",
            "architecture": "amd64",
            "os": "linux",
            "config": {
                "User": "65532:65532",
                "Env": ["PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"],
                "Entrypoint": ["/manager"],
                "WorkingDir": "/",
                "Labels": {"org.opencontainers.image.title": "zoo", "org.opencontainers.image.version": "1.2.3"},
            },
            "rootfs": {"type": "layers", "diff_ids": [config.rootfs.diff_ids[0]]},
            "history": [{"created": "2023-11-14T22:13:20Z", "created_by": "kubewright image build"}],
        })
    );
    assert_eq!(manifest.annotations, config.config.labels);
    assert_eq!(manifest.layers.len(), 1);
    let layer = image.blob(&manifest.layers[0].digest).expect("the layer");
    let entries = entries(layer);
    let shown: Vec<_> =
        entries.iter().map(|(path, mode, owner, _)| format!("{mode:o} {owner} {path}")).collect();
    assert_eq!(
        shown,
        [
            "755 0 etc/",
            "644 0 etc/group",
            "644 0 etc/nsswitch.conf",
            "644 0 etc/passwd",
            "755 0 etc/ssl/",
            "755 0 etc/ssl/certs/",
            "644 0 etc/ssl/certs/ca-certificates.crt",
            "755 0 home/",
            "700 65532 home/nonroot/",
            "755 0 manager",
            "1777 0 tmp/",
        ]
    );
    let content = |path: &str| &entries.iter().find(|entry| entry.0 == path).expect("there").3;
    assert_eq!(content("manager"), &elf(AMD64, None, b"manager"));
    let passwd = String::from_utf8_lossy(content("etc/passwd")).into_owned();
    assert!(passwd.contains("nonroot:x:65532:65532:"), "{passwd}");
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("ca.crt");
    fs::write(&file, content("etc/ssl/certs/ca-certificates.crt")).expect("writable");
    let authorities = rustls_native_certs::load_certs_from_paths(Some(&file), None);
    assert!(authorities.errors.is_empty(), "{:?}", authorities.errors);
    assert_eq!(authorities.certs.len(), webpki_root_certs::TLS_SERVER_ROOT_CERTS.len());
}

#[test]
fn certificates_are_chosen() {
    let layer = |certificates| {
        let recipe = Recipe { certificates, ..recipe() };
        let image = recipe.build(&[program(AMD64, b"")], None).expect("an image");
        let (manifest, _) = only(&image);
        entries(image.blob(&manifest.layers[0].digest).expect("the layer"))
    };
    let none = layer(Certificates::None);
    assert!(!none.iter().any(|(path, ..)| path.contains("ssl")), "{none:?}");
    let pem = rcgen::generate_simple_self_signed(vec!["zoo".to_owned()]).expect("a certificate").cert.pem();
    let own = layer(Certificates::from_pem(pem.clone()).expect("PEM"));
    let found = own.iter().find(|(path, ..)| path.ends_with("ca-certificates.crt")).expect("there");
    assert_eq!(found.3, pem.as_bytes());
    assert_eq!(Certificates::from_pem("own"), Err(CertificatesError::None));
    let broken = pem.replace("-----END", "-----");
    assert!(matches!(Certificates::from_pem(broken), Err(CertificatesError::Invalid { number: 1, .. })));
}

#[test]
fn platforms_are_in_an_index_whose_order_does_not_depend_on_ours() {
    let (one, two) = (program(AMD64, b"one"), program(ARM64, b"two"));
    let image = recipe().build(&[two.clone(), one.clone()], None).expect("an image");
    assert_eq!(image, recipe().build(&[one.clone(), two], None).expect("an image"));
    assert!(image.root().is_index());
    let platforms: Vec<String> = image
        .manifests()
        .expect("readable")
        .iter()
        .map(|(descriptor, _)| descriptor.platform.as_ref().expect("a platform").to_string())
        .collect();
    assert_eq!(platforms, ["linux/amd64", "linux/arm64"]);
    let amd64: Platform = "linux/amd64".parse().expect("known");
    let alone = recipe().build(std::slice::from_ref(&one), None).expect("an image");
    assert_eq!(image.for_platform(&amd64).expect("there"), alone);
    let riscv: Platform = "linux/riscv64".parse().expect("known");
    let error = image.for_platform(&riscv).expect_err("absent").to_string();
    assert_eq!(error, "it has no image for linux/riscv64; it has linux/amd64, linux/arm64");
    let twice = recipe().build(&[one.clone(), one], None).expect_err("the same platform twice");
    assert!(matches!(twice, RecipeError::Image(ImageError::PlatformTwice(_))), "{twice}");
}

#[test]
fn a_program_that_needs_a_loader_needs_a_base_that_has_it() {
    let loader = "/lib64/ld-linux-x86-64.so.2";
    let dynamic = Executable::read(elf(AMD64, Some(loader), b"dynamic")).expect("a program");
    assert_eq!(dynamic.interpreter(), Some(loader));
    let error = recipe().build(std::slice::from_ref(&dynamic), None).expect_err("no loader").to_string();
    assert!(error.contains("linux/amd64 is not linked statically") && error.contains(loader), "{error}");

    let base = image(b"base");
    let built = recipe().build(&[dynamic], Some(&base)).expect("an image");
    let ((manifest, config), (below, below_config)) = (only(&built), only(&base));
    assert_eq!(manifest.layers[..1], below.layers[..], "the base's layer is as it was");
    assert_eq!(manifest.layers.len(), 2);
    assert_eq!(config.rootfs.diff_ids[..1], below_config.rootfs.diff_ids[..]);
    assert_eq!(config.history.len(), 2);
    assert_eq!(config.config.entrypoint.as_deref(), Some(&["/manager".to_owned()][..]));
    let added = entries(built.blob(&manifest.layers[1].digest).expect("the layer"));
    assert_eq!(added.iter().map(|(path, ..)| path.as_str()).collect::<Vec<_>>(), ["manager"]);

    let error = recipe().build(&[program(ARM64, b"")], Some(&base)).expect_err("no such base").to_string();
    assert_eq!(error, "it has no image for linux/arm64; it has linux/amd64");
}

#[test]
fn equal_input_has_equal_bytes_in_every_folder() {
    let programs = [program(AMD64, b"one"), program(ARM64, b"two")];
    let name = reference("r.io/zoo:v1");
    let folder = tempfile::tempdir().expect("a temporary folder");
    let write = |path: &str| {
        let image = recipe().build(&programs, None).expect("an image");
        let path = folder.path().join(path);
        layout::write(&image, &name, &path).expect("written");
        path
    };
    let archives = ["a/image.tar", "b/c/other.tar"].map(|path| fs::read(write(path)).expect("readable"));
    assert_eq!(Digest::of(&archives[0]), Digest::of(&archives[1]));
    let (one, two) = (write("one"), write("two"));
    for file in ["index.json", "oci-layout"] {
        assert_eq!(fs::read(one.join(file)).expect("there"), fs::read(two.join(file)).expect("there"));
    }
    assert_ne!(
        Recipe { created: 0, ..recipe() }.build(&programs, None).expect("an image").root(),
        recipe().build(&programs, None).expect("an image").root(),
        "the time is part of the input"
    );
}

#[test]
fn what_is_written_is_read_again() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let images = [
        image(b"one"),
        recipe().build(&[program(AMD64, b"1"), program(ARM64, b"2")], None).expect("an image"),
    ];
    for (image, path) in images.iter().flat_map(|image| [(image, "folder"), (image, "image.tar")]) {
        let path = folder.path().join(path);
        let name = reference("localhost:5000/team/zoo:v1");
        // The second time, there is one that is replaced.
        layout::write(image, &name, &path).expect("written");
        assert_eq!(layout::read(&path).expect("readable"), (image.clone(), Some(name)));
    }
    let left: Vec<_> =
        fs::read_dir(folder.path()).expect("there").map(|e| e.expect("one").file_name()).collect();
    assert_eq!(left.len(), 2, "nothing is left aside: {left:?}");
}

#[test]
fn an_archive_has_what_docker_reads() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("image.tar");
    let image = image(b"one");
    layout::write(&image, &reference("zoo:v1"), &path).expect("written");
    let mut archive = tar::Archive::new(fs::File::open(&path).expect("there"));
    let mut files = BTreeMap::new();
    for entry in archive.entries().expect("an archive") {
        let mut entry = entry.expect("an entry");
        let mut content = Vec::new();
        entry.read_to_end(&mut content).expect("whole");
        files.insert(entry.path().expect("a path").to_string_lossy().into_owned(), content);
    }
    let manifest: Value = serde_json::from_slice(&files["manifest.json"]).expect("JSON");
    assert_eq!(manifest[0]["RepoTags"], json!(["zoo:v1"]));
    let file = |value: &Value| files[value.as_str().expect("a path")].clone();
    let config: Config = serde_json::from_slice(&file(&manifest[0]["Config"])).expect("the configuration");
    assert_eq!(config.platform().to_string(), "linux/amd64");
    assert_eq!(Digest::of(&file(&manifest[0]["Layers"][0])), only(&image).0.layers[0].digest);
    let index: Value = serde_json::from_slice(&files["index.json"]).expect("JSON");
    let annotations = &index["manifests"][0]["annotations"];
    assert_eq!(annotations["io.containerd.image.name"], "docker.io/library/zoo:v1");
    assert_eq!(annotations["org.opencontainers.image.ref.name"], "v1");
}

#[test]
fn what_is_no_layout_is_refused_and_kept() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let image = image(b"one");
    let name = reference("zoo:v1");
    fs::write(folder.path().join("precious"), "kept").expect("writable");
    let error = layout::write(&image, &name, folder.path()).expect_err("occupied").to_string();
    assert!(error.contains("has files of something else in it"), "{error}");
    assert!(folder.path().join("precious").exists());
    let refused = |path: &Path| layout::read(path).expect_err("no layout").to_string();
    assert!(refused(folder.path()).ends_with("is no OCI image layout: it has no file oci-layout"));
    assert!(refused(&folder.path().join("absent.tar")).starts_with("cannot read "));

    let path = folder.path().join("layout");
    layout::write(&image, &name, &path).expect("written");
    let blob = path.join("blobs/sha256").join(image.root().digest.hash());
    fs::write(&blob, "{}").expect("writable");
    assert!(refused(&path).contains("is damaged: it has another digest"), "{}", refused(&path));
    fs::remove_file(blob).expect("removable");
    assert!(refused(&path).contains("is described and not there"), "{}", refused(&path));
    fs::write(path.join("index.json"), r#"{"schemaVersion": 2, "manifests": []}"#).expect("writable");
    assert!(refused(&path).ends_with("it has 0 images, where one is expected"));
    fs::write(path.join("index.json"), "[").expect("writable");
    assert!(refused(&path).contains("index.json is not valid"));
}
