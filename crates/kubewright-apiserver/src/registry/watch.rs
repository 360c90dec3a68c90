use std::{
    collections::VecDeque,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
    time::Duration,
};

use futures::Stream;
use serde_json::Value;
use tokio::{
    task::coop::poll_proceed,
    time::{Instant, Sleep},
};

use super::{
    Presented, Registry, Request, Served,
    read::{may_select, parse_revision},
};
use crate::{
    selector::Selection,
    status::Status,
    store::{Change, ChangeKind, Listing, ReadError, Watch, WatchEnd},
    wire::options::ListOptions,
};

/// What a watch tells.
#[derive(Clone, Debug)]
pub(crate) enum WatchEvent {
    /// An object came to be, or came to be selected.
    Added(Presented),
    /// A selected object changed.
    Modified(Presented),
    /// An object ceased to be, or to be selected. It is its last selected state at the revision of the change.
    Deleted(Presented),
    /// Everything up to a revision was told. An object with nothing but its version.
    Bookmark(Value),
    /// The watch cannot go on. Nothing follows.
    Error(Box<Status>),
}

/// When a watch says what unasked.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WatchSettings {
    /// How often a bookmark is sent to those who allow it.
    pub(crate) bookmark_period: Duration,
    /// How long a watch lasts that does not say.
    pub(crate) default_timeout: Duration,
}

/// The events of one watch. The stream ends when the watch's time is over or the server is closed.
pub(crate) struct WatchEvents {
    served: Arc<Served>,
    prefix: String,
    selection: Selection,
    /// Who asks the webhook that converts objects, if there is one.
    converter: Option<Arc<Registry>>,
    pending: VecDeque<WatchEvent>,
    source: Source,
    bookmarks: Option<(Duration, Pin<Box<Sleep>>)>,
    deadline: Pin<Box<Sleep>>,
}

enum Source {
    Watch(Watch),
    /// Tells the objects that were there from a key on, then the changes after that.
    Initial {
        listing: Listing,
        from: String,
        end_bookmark: bool,
        watch: Option<Watch>,
    },
    /// Waits for webhooks to convert the objects of some events; then it goes on with the changes after them.
    Converting {
        events: Converting,
        watch: Option<Watch>,
    },
    /// Waits for a revision of the future before it tells the initial state.
    Future {
        reached: Pin<Box<dyn Future<Output = Result<(), Status>> + Send>>,
        registry: Arc<Registry>,
        end_bookmark: bool,
    },
    Over,
}

/// How long before its end a watch gets its last bookmark.
const BOOKMARK_BEFORE_END: Duration = Duration::from_secs(2);

/// Events on their way.
type Converting = Pin<Box<dyn Future<Output = Result<Vec<WatchEvent>, Status>> + Send>>;

/// How many changes are read from the store at once.
const BATCH: usize = 64;

impl Registry {
    /// Opens a watch of a collection.
    ///
    /// A revision that is forgotten is an error within the stream, as it is for kube-apiserver.
    ///
    /// # Errors
    /// 400 for selectors that cannot be read, 500 for a version that is no number.
    pub(crate) fn watch(
        self: &Arc<Self>,
        request: &Request,
        options: &ListOptions,
        settings: WatchSettings,
    ) -> Result<WatchEvents, Status> {
        let served = &request.served;
        let selection = self.selection(request, options)?;
        let text = options.resource_version.as_str();
        let revision = if text.is_empty() { 0 } else { parse_revision(text).map_err(Status::untyped)? };
        let timeout = options.timeout_seconds.map_or(settings.default_timeout, Duration::from_secs);
        let now = Instant::now();
        // A client may ask for more seconds than the clock can count.
        let end = now.checked_add(timeout).unwrap_or(now + settings.default_timeout);
        let mut events = WatchEvents {
            served: served.clone(),
            prefix: served.prefix(&request.namespace),
            selection,
            converter: served.is_converted_by_webhook().then(|| self.clone()),
            pending: VecDeque::new(),
            source: Source::Over,
            bookmarks: options.allow_watch_bookmarks.then(|| {
                let period = settings.bookmark_period;
                (period, Box::pin(tokio::time::sleep_until(next_bookmark(now, period, end))))
            }),
            deadline: Box::pin(tokio::time::sleep_until(end)),
        };
        let initial = options.send_initial_events.unwrap_or(revision == 0);
        if initial {
            let end_bookmark = options.send_initial_events == Some(true) && options.allow_watch_bookmarks;
            if revision > self.store.revision() {
                let registry = self.clone();
                let reached = async move { registry.wait_until_reached(revision).await };
                events.source =
                    Source::Future { reached: Box::pin(reached), registry: self.clone(), end_bookmark };
            } else {
                events.start(self, end_bookmark);
            }
        } else {
            let revision = if revision == 0 { self.store.revision() } else { revision };
            match self.store.watch(&served.bucket, revision) {
                Ok(watch) => events.source = Source::Watch(watch),
                Err(error) => {
                    let oldest = match error {
                        ReadError::Expired { oldest } => oldest,
                        ReadError::Future { current } => current,
                    };
                    events.fail(Status::too_old_resource_version(revision, oldest));
                }
            }
        }
        Ok(events)
    }
}

/// When the next bookmark comes: after a period, but also shortly before the watch ends, so that the client can go on
/// from there.
fn next_bookmark(now: Instant, period: Duration, end: Instant) -> Instant {
    let regular = now + period;
    match end.checked_sub(BOOKMARK_BEFORE_END) {
        Some(last) if last > now && last < regular => last,
        _ => regular,
    }
}

impl WatchEvents {
    /// Tells the current state, then follows it.
    fn start(&mut self, registry: &Registry, end_bookmark: bool) {
        let (listing, watch) = registry.store.list_and_watch(&self.served.bucket);
        if let Some(registry) = self.converter.clone() {
            let bookmark = end_bookmark.then(|| WatchEvent::Bookmark(self.bookmark(listing.revision, true)));
            let objects: Vec<_> =
                listing.range(&self.prefix, "").map(|(_, object)| object.undecoded()).collect();
            let (served, selection) = (self.served.clone(), self.selection.clone());
            let events = async move {
                let mut events = Vec::new();
                for object in &objects {
                    let presented = registry.present(&served, object).await?;
                    if presented.is_selected(&selection) {
                        events.push(WatchEvent::Added(presented));
                    }
                }
                events.extend(bookmark);
                Ok(events)
            };
            self.source = Source::Converting { events: Box::pin(events), watch: Some(watch) };
            return;
        }
        self.source = Source::Initial { listing, from: String::new(), end_bookmark, watch: Some(watch) };
    }

    /// Tells some of the objects that are still to be told, if there are any.
    fn tell_initial(&mut self) {
        let Source::Initial { listing, from, end_bookmark, watch } = &mut self.source else { return };
        let mut last = None;
        for (key, object) in listing.range(&self.prefix, from).take(BATCH) {
            last = Some(key.clone());
            if !may_select(&self.selection, key) {
                continue;
            }
            let presented = self.served.present(&object.undecoded());
            if presented.is_selected(&self.selection) {
                self.pending.push_back(WatchEvent::Added(presented));
            }
        }
        if let Some(last) = last {
            *from = format!("{last}\0");
            return;
        }
        let (revision, end_bookmark) = (listing.revision, *end_bookmark);
        self.source = watch.take().map_or(Source::Over, Source::Watch);
        if end_bookmark {
            self.pending.push_back(WatchEvent::Bookmark(self.bookmark(revision, true)));
        }
    }

    fn fail(&mut self, status: Status) {
        self.pending.push_back(WatchEvent::Error(Box::new(status)));
        self.source = Source::Over;
    }

    /// Notes what a change means to this watch.
    fn take(&mut self, change: &Change) {
        if !change.key.starts_with(&self.prefix) || !may_select(&self.selection, &change.key) {
            return;
        }
        let present = self.served.present(&change.object);
        let previous = change.previous.as_ref().filter(|_| !self.selection.is_everything());
        let previous = previous.map(|previous| self.served.present(previous));
        self.pending.extend(event(&self.selection, change, present, previous));
    }

    /// What changes mean to this watch, once a webhook has converted their objects.
    fn convert(&self, registry: Arc<Registry>, changes: Vec<Change>) -> Converting {
        let (served, selection) = (self.served.clone(), self.selection.clone());
        let prefix = self.prefix.clone();
        Box::pin(async move {
            let mut events = Vec::new();
            for change in changes.iter().filter(|change| change.key.starts_with(&prefix)) {
                let present = registry.present(&served, &change.object).await?;
                let previous = match &change.previous {
                    Some(previous) if !selection.is_everything() => {
                        Some(registry.present(&served, previous).await?)
                    }
                    _ => None,
                };
                events.extend(event(&selection, change, present, previous));
            }
            Ok(events)
        })
    }

    fn bookmark(&self, revision: u64, initial_events_end: bool) -> Value {
        let mut bookmark = self.served.empty();
        let metadata = super::metadata::edit(&mut bookmark);
        metadata.insert("resourceVersion".to_owned(), Value::from(revision.to_string()));
        if initial_events_end {
            let annotations = super::metadata::child(metadata, "annotations");
            annotations.insert("k8s.io/initial-events-end".to_owned(), Value::from("true"));
        }
        bookmark
    }

    /// Reads from the source until something is pending; ready when it is, or when the source is over.
    fn poll_source(&mut self, context: &mut Context<'_>) -> Poll<()> {
        while self.pending.is_empty() {
            match &mut self.source {
                Source::Over => return Poll::Ready(()),
                Source::Initial { .. } => {
                    // Others get their turn in the middle of a large collection of which little is selected.
                    ready!(poll_proceed(context)).made_progress();
                    self.tell_initial();
                }
                Source::Future { reached, registry, end_bookmark } => {
                    let result = ready!(reached.as_mut().poll(context));
                    let (registry, end_bookmark) = (registry.clone(), *end_bookmark);
                    match result {
                        Ok(()) => self.start(&registry, end_bookmark),
                        Err(status) => self.fail(status),
                    }
                }
                Source::Converting { events, watch } => {
                    let result = ready!(events.as_mut().poll(context));
                    self.source = watch.take().map_or(Source::Over, Source::Watch);
                    match result {
                        Ok(events) => self.pending.extend(events),
                        Err(status) => self.fail(status),
                    }
                }
                Source::Watch(watch) => match ready!(watch.poll_changes(context, BATCH)) {
                    Ok(changes) => match self.converter.clone() {
                        None => changes.iter().for_each(|change| self.take(change)),
                        Some(registry) => {
                            let events = self.convert(registry, changes);
                            if let Source::Watch(watch) = std::mem::replace(&mut self.source, Source::Over) {
                                self.source = Source::Converting { events, watch: Some(watch) };
                            }
                        }
                    },
                    // As from a real server, one that reads too slowly hears nothing of it. It may go on from what it
                    // has read, if that is still possible.
                    Err(WatchEnd::Closed | WatchEnd::Behind) => self.source = Source::Over,
                    Err(WatchEnd::Expired { seen, oldest }) => {
                        self.fail(Status::too_old_resource_version(seen, oldest));
                    }
                },
            }
        }
        Poll::Ready(())
    }
}

/// What a change means to who selects some of the objects. `previous` is the object before, which who selects everything
/// need not know.
fn event(
    selection: &Selection,
    change: &Change,
    present: Presented,
    previous: Option<Presented>,
) -> Option<WatchEvent> {
    if selection.is_everything() {
        return Some(match change.kind {
            ChangeKind::Added => WatchEvent::Added(present),
            ChangeKind::Modified => WatchEvent::Modified(present),
            ChangeKind::Deleted => WatchEvent::Deleted(present),
        });
    }
    let was = previous.as_ref().is_some_and(|previous| previous.is_selected(selection));
    let is = change.kind != ChangeKind::Deleted && present.is_selected(selection);
    Some(match (was, is) {
        (false, false) => return None,
        (false, true) => WatchEvent::Added(present),
        (true, true) => WatchEvent::Modified(present),
        (true, false) => {
            // The client knows the object as it was selected, so that is what it is told has gone.
            let mut last = previous.map(Presented::into_value).unwrap_or_default();
            let revision = Value::from(change.revision.to_string());
            super::metadata::set(&mut last, "resourceVersion", Some(revision));
            WatchEvent::Deleted(Presented::Made(last))
        }
    })
}

impl Stream for WatchEvents {
    type Item = WatchEvent;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<WatchEvent>> {
        let this = &mut *self;
        if this.poll_source(context).is_ready() {
            return Poll::Ready(this.pending.pop_front());
        }
        if this.deadline.as_mut().poll(context).is_ready() {
            return Poll::Ready(None);
        }
        if let Some((period, timer)) = &mut this.bookmarks
            && let Source::Watch(watch) = &mut this.source
            && timer.as_mut().poll(context).is_ready()
        {
            let next = next_bookmark(Instant::now(), *period, this.deadline.deadline());
            timer.as_mut().reset(next);
            // The timer has to be polled to wake the task once more.
            if timer.as_mut().poll(context).is_ready() {
                context.waker().wake_by_ref();
            }
            let revision = watch.progress();
            return Poll::Ready(Some(WatchEvent::Bookmark(this.bookmark(revision, false))));
        }
        Poll::Pending
    }
}
