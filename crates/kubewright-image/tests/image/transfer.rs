//! Pushing and pulling where all goes well.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
};

use kubewright_image::{
    Platform, Recipe,
    registry::{Event, Options, Progress},
    spec::BASE_NAME,
};

use crate::{
    fake::Fake,
    program::{AMD64, ARM64, image, large_image, program},
};

#[tokio::test]
async fn what_is_pushed_is_pulled() {
    let fake = Fake::start().await;
    let (image, name) = (image(b"one"), fake.reference("team/zoo:v1"));
    let root = fake.client().push(&image, &name).await.expect("pushed");
    assert_eq!(&root, image.root());
    for reference in [name.clone(), name.pinned(root.digest.clone())] {
        assert_eq!(fake.client().pull(&reference, None).await.expect("pulled"), image);
        assert_eq!(fake.client().resolve(&reference).await.expect("there"), root);
    }
    let error = fake.client().push(&crate::program::image(b"two"), &name.pinned(root.digest)).await;
    assert!(error.expect_err("another").to_string().contains("is the name of another image"));
    let amd64: Platform = "linux/amd64".parse().expect("known");
    assert_eq!(fake.client().pull(&name, Some(&amd64)).await.expect("pulled"), image);
    let arm64: Platform = "linux/arm64".parse().expect("known");
    let error = fake.client().pull(&name, Some(&arm64)).await.expect_err("none").to_string();
    assert_eq!(error, "it has no image for linux/arm64; it has linux/amd64");
}

#[tokio::test]
async fn what_is_there_is_not_sent_again() {
    let fake = Fake::start().await;
    let (image, client) = (image(b"one"), fake.client());
    client.push(&image, &fake.reference("zoo")).await.expect("pushed");
    let first = fake.requests();
    assert_eq!(first.iter().filter(|request| request.starts_with("PUT")).count(), 3, "{first:?}");
    client.push(&image, &fake.reference("zoo:v2")).await.expect("pushed");
    let second = fake.requests();
    assert_eq!(second.iter().filter(|request| request.starts_with("HEAD")).count(), 2);
    assert_eq!(second.last().map(String::as_str), Some("PUT /v2/zoo/manifests/v2"));
    assert_eq!(second.len(), 3, "{second:?}");
    assert!(fake.state().manifests.contains_key(&("zoo".to_owned(), "latest".to_owned())));
}

#[tokio::test]
async fn an_index_is_pushed_after_its_manifests_and_pulled_for_one_platform_or_all() {
    let fake = Fake::start().await;
    let index =
        Recipe::default().build(&[program(AMD64, b"1"), program(ARM64, b"2")], None).expect("an image");
    let (client, name) = (fake.client(), fake.reference("zoo:v1"));
    client.push(&index, &name).await.expect("pushed");
    let manifests: Vec<_> =
        fake.requests().into_iter().filter(|request| request.contains("/manifests/")).collect();
    assert_eq!(manifests.len(), 3);
    assert_eq!(manifests[2], "PUT /v2/zoo/manifests/v1", "the name comes last: {manifests:?}");
    assert_eq!(client.pull(&name, None).await.expect("pulled"), index);
    let arm64: Platform = "linux/arm64".parse().expect("known");
    assert_eq!(
        client.pull(&name, Some(&arm64)).await.expect("pulled"),
        index.for_platform(&arm64).expect("there")
    );
    let riscv: Platform = "linux/riscv64".parse().expect("known");
    let error = client.pull(&name, Some(&riscv)).await.expect_err("none").to_string();
    assert_eq!(error, format!("{name} has no image for linux/riscv64"));
}

#[tokio::test]
async fn long_blobs_are_sent_in_pieces() {
    let fake = Fake::start().await;
    let moved = Arc::new(Mutex::new(Vec::new()));
    let told = Arc::clone(&moved);
    let progress = Progress::new(move |event| {
        if let Event::Moved(blob, bytes) = event {
            told.lock().expect("whole").push((blob.size, bytes));
        }
    });
    let client = fake.client_with(Options { chunk: 40_000, progress, ..Options::default() });
    let image = large_image();
    let layer = image.manifests().expect("readable")[0].1.layers[0].clone();
    client.push(&image, &fake.reference("zoo")).await.expect("pushed");
    let pieces = fake.requests().iter().filter(|request| request.starts_with("PATCH")).count() as u64;
    assert_eq!(pieces, layer.size.div_ceil(40_000));
    let moved: Vec<u64> = moved
        .lock()
        .expect("whole")
        .iter()
        .filter(|(size, _)| *size == layer.size)
        .map(|(_, bytes)| *bytes)
        .collect();
    assert!(moved.is_sorted() && moved.last() == Some(&layer.size), "{moved:?}");
    assert_eq!(fake.client().pull(&fake.reference("zoo"), None).await.expect("pulled"), image);
}

#[tokio::test]
async fn the_layers_of_a_base_are_taken_from_its_repository() {
    let fake = Fake::start().await;
    let client = fake.client();
    let (base, base_name) = (image(b"base"), fake.reference("base:v1"));
    client.push(&base, &base_name).await.expect("pushed");
    let labels = BTreeMap::from([(BASE_NAME.to_owned(), base_name.to_string())]);
    let built = Recipe { labels, ..Recipe::default() }
        .build(&[program(AMD64, b"on it")], Some(&base))
        .expect("an image");
    fake.requests();
    client.push(&built, &fake.reference("team/zoo")).await.expect("pushed");
    let requests = fake.requests();
    let posts = |query: bool| {
        requests
            .iter()
            .filter(|request| request.starts_with("POST") && request.ends_with('?') == query)
            .count()
    };
    // Of the layer of the base, ours, and the configuration, the first alone is there; the uploads begun for the others are given up.
    assert_eq!((posts(true), posts(false)), (3, 2), "{requests:?}");
    assert_eq!(requests.iter().filter(|request| request.starts_with("DELETE")).count(), 2);
    assert_eq!(client.pull(&fake.reference("team/zoo"), None).await.expect("pulled"), built);
}
