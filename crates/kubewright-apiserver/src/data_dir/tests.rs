use std::sync::Arc;

use serde_json::{Value, json};

use super::*;
use crate::store::{ReadError, Store};

const BUCKET: &str = "/configmaps";

fn open(path: &Path) -> Result<DataDir, DataDirError> {
    DataDir::open(path, &Random::seeded(1))
}

fn start(path: &Path) -> Store {
    open(path).expect("opens").into_store(16)
}

fn object(data: usize) -> Value {
    // More than a page of the file.
    json!({"metadata": {"name": "x"}, "data": {"number": data, "padding": "x".repeat(data % 7 * 1000)}})
}

fn objects(store: &Store) -> Vec<(String, u64, Value)> {
    let listing = store.list(BUCKET);
    let all = listing.range("", "");
    all.map(|(key, object)| (key.to_string(), object.revision(), object.value().clone())).collect()
}

/// A folder with some objects in it, and what they are.
async fn filled(path: &Path) -> Vec<(String, u64, Value)> {
    let store = start(path);
    let bucket: Arc<str> = BUCKET.into();
    for number in 0..40 {
        let key = format!("n/{}", number % 13);
        match store.get(BUCKET, &key) {
            None => drop(store.create(&bucket, &key, object(number)).expect("created")),
            Some(there) if number % 3 == 0 => {
                drop(store.remove(&bucket, &key, there.revision()).expect("removed"));
            }
            Some(there) => {
                drop(store.replace(&bucket, &key, there.revision(), object(number)).expect("replaced"));
            }
        }
    }
    store.kept(store.revision()).await.expect("kept");
    objects(&store)
}

#[tokio::test]
async fn a_store_goes_on_where_it_was() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a/b");
    let before = filled(&path).await;
    let authority = open(&path).expect("opens").authority().certificate_pem().to_owned();
    let secret = open(&path).expect("opens").service_account_secret().to_vec();
    let bucket: Arc<str> = BUCKET.into();
    {
        let store = start(&path);
        assert_eq!(objects(&store), before);
        assert_eq!(store.revision(), 41);
        assert!(store.watch(&bucket, 41).is_ok());
        assert_eq!(
            store.watch(&bucket, 40).err(),
            Some(ReadError::Expired { oldest: 41 }),
            "the past is gone"
        );
        let other: Arc<str> = "/secrets".into();
        let made = store.create(&other, "n/s", object(0)).expect("created");
        store.kept(made.revision()).await.expect("kept");
    }
    {
        let store = start(&path);
        assert_eq!(store.revision(), 42);
        assert!(store.watch(&bucket, 41).is_ok(), "a change elsewhere forgets nothing");
        store.compact();
        store.kept(store.revision()).await.expect("kept");
    }
    let store = start(&path);
    assert_eq!(store.watch(&bucket, 41).err(), Some(ReadError::Expired { oldest: 42 }), "it stays forgotten");
    assert_eq!(objects(&store), before);
    drop(store);
    let again = open(&path).expect("opens");
    assert_eq!(again.authority().certificate_pem(), authority);
    assert_eq!(again.service_account_secret(), secret);
    #[cfg(unix)]
    for (file, mode) in [("", 0o700), (STATE, 0o600)] {
        use std::os::unix::fs::PermissionsExt;
        let metadata = path.join(file).metadata().expect("metadata");
        assert_eq!(metadata.permissions().mode() & 0o777, mode, "{file:?}");
    }
}

#[tokio::test]
async fn a_folder_belongs_to_one_at_a_time() {
    let folder = tempfile::tempdir().expect("a folder");
    let first = open(folder.path()).expect("opens");
    let error = open(folder.path()).expect_err("in use");
    assert!(matches!(&error, DataDirError::InUse(path) if path == folder.path()), "{error}");
    let store = first.into_store(16);
    assert!(matches!(open(folder.path()), Err(DataDirError::InUse(_))));
    drop(store);
    open(folder.path()).expect("it is free when the store is gone");
}

#[test]
fn a_folder_whose_making_was_cut_short_is_made_anew() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join(DRAFT), "half a file").expect("a file");
    open(folder.path()).expect("opens");
    assert!(!folder.path().join(DRAFT).exists());
}

#[test]
fn what_a_newer_version_wrote_is_left_alone() {
    let folder = tempfile::tempdir().expect("a folder");
    drop(open(folder.path()).expect("opens"));
    let (file, _) = StateFile::open(&folder.path().join(STATE)).expect("opens");
    file.set_format("7").expect("written");
    drop(file);
    let error = open(folder.path()).expect_err("of a newer version").to_string();
    assert!(
        error.contains("has format 7, which a newer version has written, and this one knows up to 1"),
        "{error}"
    );
}

/// Whatever happens to the file, it gives all that was in it or an error that names it.
#[tokio::test]
async fn a_damaged_file_is_refused_whole() {
    let folder = tempfile::tempdir().expect("a folder");
    let before = filled(folder.path()).await;
    let file = folder.path().join(STATE);
    let bytes = std::fs::read(&file).expect("readable");
    let random = Random::seeded(7);
    let mut damages: Vec<(String, Vec<u8>)> = Vec::new();
    for part in 0..16 {
        let length = bytes.len() * part / 16;
        damages.push((format!("cut to {length} bytes"), bytes[..length].to_vec()));
    }
    for _ in 0..48 {
        let mut damaged = bytes.clone();
        let at = usize::try_from(random.below(bytes.len() as u64)).expect("an index");
        damaged[at] ^= 1_u8 << random.below(8);
        damages.push((format!("byte {at} changed"), damaged));
    }
    damages.push(("text".to_owned(), b"this is not the state of a server".to_vec()));
    let mut refused = 0;
    for (what, damaged) in damages {
        std::fs::write(&file, &damaged).expect("writable");
        match open(folder.path()) {
            // What was changed is in no use.
            Ok(data_dir) => assert!(objects(&data_dir.into_store(16)) == before, "{what}"),
            Err(error) => {
                refused += 1;
                assert!(error.to_string().contains(STATE), "{what}: {error}");
            }
        }
    }
    assert!(refused > 8, "{refused}");
}
