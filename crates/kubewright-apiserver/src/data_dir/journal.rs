//! The thread that writes what a store commits.

use std::{
    fs::File,
    sync::mpsc,
    thread::{self, JoinHandle},
};

use super::file::StateFile;
use crate::store::{Entry, Journal, Kept};

/// How many commits are written at once, so that a flood of them does not make the first one wait for the last.
const BATCH: usize = 512;

/// A journal on disk.
pub(super) struct DiskJournal {
    /// `None` when it is over.
    entries: Option<mpsc::Sender<Entry>>,
    writer: Option<JoinHandle<()>>,
}

impl DiskJournal {
    /// Starts to write. The file and the lock of its folder are released when the journal has been dropped.
    pub(super) fn start(file: StateFile, lock: File, kept: Kept) -> Self {
        let (entries, received) = mpsc::channel();
        let failed = kept.clone();
        let run = move || {
            // Whatever ends the thread, nobody may wait for it for ever.
            let guard = Ended(&kept);
            write_all(&file, &received, &kept);
            // The file first: who gets the lock may open it.
            drop(file);
            drop(lock);
            std::mem::forget(guard);
        };
        match thread::Builder::new().name("kubewright-journal".to_owned()).spawn(run) {
            Ok(writer) => Self { entries: Some(entries), writer: Some(writer) },
            Err(error) => {
                failed.failed(&format!("cannot start the thread that writes to disk: {error}"));
                Self { entries: None, writer: None }
            }
        }
    }
}

impl Journal for DiskJournal {
    fn append(&mut self, entry: Entry) {
        if let Some(entries) = &self.entries {
            // A writer that has failed has closed the store, too.
            let _ = entries.send(entry);
        }
    }
}

/// Waits until what was committed is written and the folder is free for the next one.
impl Drop for DiskJournal {
    fn drop(&mut self) {
        self.entries = None;
        // The writer itself may be the last to let go of the store.
        if let Some(writer) = self.writer.take()
            && writer.thread().id() != thread::current().id()
        {
            let _ = writer.join();
        }
    }
}

fn write_all(file: &StateFile, received: &mpsc::Receiver<Entry>, kept: &Kept) {
    while let Ok(first) = received.recv() {
        let batch: Vec<Entry> = std::iter::once(first).chain(received.try_iter()).take(BATCH).collect();
        match (file.write(&batch), batch.last()) {
            (Ok(()), Some(last)) => kept.up_to(last.revision()),
            (Ok(()), None) => {}
            (Err(error), _) => return kept.failed(&error.to_string()),
        }
    }
}

struct Ended<'a>(&'a Kept);

impl Drop for Ended<'_> {
    fn drop(&mut self) {
        self.0.failed("the thread that writes to disk has panicked");
    }
}
