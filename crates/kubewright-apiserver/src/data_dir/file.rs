//! What stands in the file of a state.

use std::{
    collections::BTreeMap,
    fmt,
    panic::catch_unwind,
    path::{Path, PathBuf},
};

use redb::{
    Builder, Database, DatabaseError, ReadableDatabase, ReadableTable, StorageError, TableDefinition,
    WriteTransaction,
};

use super::{DataDirError, private_file};
use crate::store::{Entry, Snapshot};

/// The objects as JSON, by bucket and key.
const OBJECTS: TableDefinition<'_, (&str, &str), &[u8]> = TableDefinition::new("objects");
/// The revision of the last change of each bucket, and that of all at [`ALL`].
const REVISIONS: TableDefinition<'_, &str, u64> = TableDefinition::new("revisions");
/// The format of the file at [`FORMAT`], and secrets by their names.
const SECRETS: TableDefinition<'_, &str, &[u8]> = TableDefinition::new("secrets");

const ALL: &str = "";
const FORMAT: &str = "format";
/// The format that this version writes.
const CURRENT: u32 = 1;

/// Memory for pages of the file. It is read once, and written from what is in memory anyway.
const CACHE: usize = 16 << 20;

/// The file of a state.
pub(super) struct StateFile {
    database: Database,
    path: PathBuf,
}

impl StateFile {
    /// Makes a file without objects.
    pub(super) fn create(path: &Path, revision: u64, secrets: &[(&str, &[u8])]) -> Result<(), DataDirError> {
        private_file(path).map_err(|source| DataDirError::Io {
            action: "make",
            path: path.to_owned(),
            source,
        })?;
        let file = Self::connect(path, Builder::create)?;
        let transact = || -> Result<(), redb::Error> {
            let transaction = file.begin()?;
            transaction.open_table(OBJECTS)?;
            transaction.open_table(REVISIONS)?.insert(ALL, revision)?;
            let mut table = transaction.open_table(SECRETS)?;
            table.insert(FORMAT, CURRENT.to_string().as_bytes())?;
            for (name, secret) in secrets {
                table.insert(*name, *secret)?;
            }
            drop(table);
            Ok(transaction.commit()?)
        };
        transact().map_err(|error| file.failed(error))
    }

    /// Opens a file that is there, checks that all of it is as it was written, and reads it.
    pub(super) fn open(path: &Path) -> Result<(Self, Snapshot), DataDirError> {
        // The library promises no errors for a file that something else has written; it may panic.
        let opened = catch_unwind(|| {
            let file = Self::connect(path, Builder::open)?;
            file.check_format()?;
            let snapshot = file.read()?;
            Ok((file, snapshot))
        });
        opened.unwrap_or_else(|_| {
            let what = "it cannot be read".to_owned();
            Err(DataDirError::Damaged { path: path.to_owned(), what })
        })
    }

    fn check_format(&self) -> Result<(), DataDirError> {
        let format = self.secret(FORMAT)?;
        let format = String::from_utf8_lossy(&format);
        if format.parse() == Ok(CURRENT) {
            return Ok(());
        }
        Err(DataDirError::NewerFormat {
            path: self.path.parent().unwrap_or(&self.path).to_owned(),
            found: format.into_owned(),
            known: CURRENT,
        })
    }

    #[cfg(test)]
    pub(super) fn set_format(&self, format: &str) -> Result<(), redb::Error> {
        let transaction = self.begin()?;
        transaction.open_table(SECRETS)?.insert(FORMAT, format.as_bytes())?;
        Ok(transaction.commit()?)
    }

    fn connect(
        path: &Path,
        open: impl FnOnce(&Builder, PathBuf) -> Result<Database, DatabaseError>,
    ) -> Result<Self, DataDirError> {
        let mut builder = Database::builder();
        builder.set_cache_size(CACHE).set_check_integrity_on_open(true);
        let opened = open(&builder, path.to_owned());
        let database = opened.map_err(|error| match error {
            DatabaseError::DatabaseAlreadyOpen => {
                DataDirError::InUse(path.parent().unwrap_or(path).to_owned())
            }
            error => failed(path, error.into()),
        })?;
        Ok(Self { database, path: path.to_owned() })
    }

    /// All objects, and what is known of the past.
    fn read(&self) -> Result<Snapshot, DataDirError> {
        let read = || -> Result<Result<Snapshot, String>, redb::Error> {
            let transaction = self.database.begin_read()?;
            let revisions = transaction.open_table(REVISIONS)?;
            let Some(revision) = revisions.get(ALL)?.map(|revision| revision.value()) else {
                return Ok(Err("it has no revision".to_owned()));
            };
            let mut snapshot = Snapshot::empty(revision);
            for row in revisions.iter()? {
                let (bucket, latest) = row?;
                if bucket.value() == ALL {
                    continue;
                }
                if latest.value() > revision {
                    return Ok(Err(format!("{} has changed in the future", bucket.value())));
                }
                snapshot.note_bucket(bucket.value(), latest.value());
            }
            for row in transaction.open_table(OBJECTS)?.iter()? {
                let (place, json) = row?;
                let (bucket, key) = place.value();
                let value = serde_json::from_slice(json.value());
                if !value.is_ok_and(|value| snapshot.add(bucket, key, value)) {
                    return Ok(Err(format!("{key} of {bucket} is no object")));
                }
            }
            Ok(Ok(snapshot))
        };
        read().map_err(|error| self.failed(error))?.map_err(|what| self.damaged(&what))
    }

    /// A secret, which a state has.
    pub(super) fn secret(&self, name: &str) -> Result<Vec<u8>, DataDirError> {
        let read = || -> Result<Option<Vec<u8>>, redb::Error> {
            let transaction = self.database.begin_read()?;
            let secrets = transaction.open_table(SECRETS)?;
            Ok(secrets.get(name)?.map(|secret| secret.value().to_vec()))
        };
        let secret = read().map_err(|error| self.failed(error))?;
        secret.ok_or_else(|| self.damaged(&format!("it has no {name}")))
    }

    /// Writes all of it or nothing. When this returns, it is on disk.
    pub(super) fn write(&self, entries: &[Entry]) -> Result<(), DataDirError> {
        let write = || -> Result<(), redb::Error> {
            let transaction = self.begin()?;
            let mut objects = transaction.open_table(OBJECTS)?;
            let mut revisions = transaction.open_table(REVISIONS)?;
            let mut latest: BTreeMap<&str, u64> = BTreeMap::new();
            for entry in entries {
                match entry {
                    Entry::Put { bucket, key, object } => {
                        objects.insert((&**bucket, &**key), &object.json()[..])?;
                        latest.insert(bucket, entry.revision());
                    }
                    Entry::Removed { bucket, key, revision } => {
                        objects.remove((&**bucket, &**key))?;
                        latest.insert(bucket, *revision);
                    }
                    Entry::Compacted { revision } => {
                        let buckets = revisions.iter()?.map(|row| Ok(row?.0.value().to_owned()));
                        let buckets: Vec<String> = buckets.collect::<Result<_, StorageError>>()?;
                        for bucket in &buckets {
                            revisions.insert(bucket.as_str(), *revision)?;
                        }
                        latest.values_mut().for_each(|latest| *latest = *revision);
                    }
                }
            }
            latest.extend(entries.last().map(|last| (ALL, last.revision())));
            for (bucket, revision) in latest {
                revisions.insert(bucket, revision)?;
            }
            drop((objects, revisions));
            Ok(transaction.commit()?)
        };
        write().map_err(|error| self.failed(error))
    }

    /// Begins to write in two phases, of which each waits for the disk. With a single one, the file could not tell damage
    /// to what it wrote last from a write that a crash cut short, and would silently go back to what was before.
    fn begin(&self) -> Result<WriteTransaction, redb::Error> {
        let mut transaction = self.database.begin_write()?;
        transaction.set_two_phase_commit(true);
        Ok(transaction)
    }

    pub(super) fn damaged(&self, what: &str) -> DataDirError {
        DataDirError::Damaged { path: self.path.clone(), what: what.to_owned() }
    }

    fn failed(&self, error: redb::Error) -> DataDirError {
        failed(&self.path, error)
    }
}

/// Tells trouble with the disk from a file that is not what it should be.
fn failed(path: &Path, error: redb::Error) -> DataDirError {
    let path = path.to_owned();
    match error {
        redb::Error::Io(source)
            if !matches!(
                source.kind(),
                std::io::ErrorKind::InvalidData | std::io::ErrorKind::UnexpectedEof
            ) =>
        {
            DataDirError::Io { action: "use", path, source }
        }
        error => DataDirError::Damaged { path, what: error.to_string() },
    }
}

impl fmt::Debug for StateFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StateFile").field("path", &self.path).finish_non_exhaustive()
    }
}
