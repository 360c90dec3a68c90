use std::{
    collections::VecDeque,
    pin::Pin,
    task::{Context, Poll, ready},
};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use kubewright_world::Random;
use tokio::time::{Sleep, sleep};
use tower::BoxError;

use super::{
    Conditions, Fault, Process,
    events::{Lines, coalesce},
    faults::happens,
    history::History,
    service::TransportError,
};

/// The answer's body, on its way through the network: a watch is written into the history, and may lag, stutter and be
/// cut.
#[derive(Debug)]
pub struct TransportBody<B> {
    inner: Option<B>,
    watch: Option<Box<Watch>>,
}

/// What a watch needs to be recorded and to go wrong.
#[derive(Debug)]
pub(super) struct Watch {
    client: String,
    path: String,
    history: History,
    conditions: Conditions,
    random: Random,
    process: Process,
    lines: Lines,
    /// What came and is not yet to be seen: the watch has fallen behind until the time is over.
    behind: Option<(Pin<Box<Sleep>>, Vec<Bytes>)>,
    /// What is to be delivered.
    ready: VecDeque<Bytes>,
    end: Option<End>,
}

/// How the stream goes on when everything that is ready was delivered.
#[derive(Debug)]
enum End {
    Over,
    Failed(TransportError),
}

impl<B> TransportBody<B> {
    /// A body that passes as it is.
    pub(super) fn whole(inner: B) -> Self {
        Self { inner: Some(inner), watch: None }
    }

    /// The body of a watch.
    pub(super) fn watched(inner: B, watch: Watch) -> Self {
        Self { inner: Some(inner), watch: Some(Box::new(watch)) }
    }
}

impl<B> Body for TransportBody<B>
where
    B: Body<Data = Bytes> + Unpin,
    B::Error: Into<BoxError>,
{
    type Data = Bytes;
    type Error = TransportError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, TransportError>>> {
        let Self { inner, watch } = &mut *self;
        match watch {
            Some(watch) => watch.poll_frame(inner, context),
            None => {
                let Some(inner) = inner else { return Poll::Ready(None) };
                let frame = ready!(Pin::new(inner).poll_frame(context));
                Poll::Ready(frame.map(|frame| frame.map_err(service_error)))
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        self.watch.is_none() && self.inner.as_ref().is_none_or(Body::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        match self.watch {
            Some(_) => SizeHint::default(),
            None => self.inner.as_ref().map(Body::size_hint).unwrap_or_default(),
        }
    }
}

// === impl Watch ===

impl Watch {
    pub(super) fn new(
        client: String,
        path: String,
        history: History,
        conditions: Conditions,
        random: Random,
        process: Process,
    ) -> Self {
        let (lines, ready) = (Lines::default(), VecDeque::new());
        Self { client, path, history, conditions, random, process, lines, behind: None, ready, end: None }
    }

    fn poll_frame<B>(
        &mut self,
        inner: &mut Option<B>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, TransportError>>>
    where
        B: Body<Data = Bytes> + Unpin,
        B::Error: Into<BoxError>,
    {
        loop {
            if self.process.is_dead() {
                // Nobody is there to hear it.
                return Poll::Pending;
            }
            if let Some(line) = self.ready.pop_front() {
                let text = String::from_utf8_lossy(&line);
                self.record(format_args!("event {}", text.trim_end()));
                return Poll::Ready(Some(Ok(Frame::data(line))));
            }
            match self.end.take() {
                Some(End::Failed(error)) => {
                    self.end = Some(End::Over);
                    return Poll::Ready(Some(Err(error)));
                }
                Some(End::Over) => {
                    self.end = Some(End::Over);
                    return Poll::Ready(None);
                }
                None => {}
            }
            if let Some((until, _)) = &mut self.behind {
                ready!(until.as_mut().poll(context));
            }
            let arrived = self.gather(inner, context);
            let lagged = self.behind.take().map(|(_, lines)| lines);
            if arrived.is_empty() && lagged.is_none() && self.end.is_none() {
                return Poll::Pending;
            }
            match lagged {
                Some(mut lines) => {
                    lines.extend(arrived);
                    self.release(lines);
                }
                None => self.take(arrived),
            }
        }
    }

    /// What is there to be read.
    fn gather<B>(&mut self, inner: &mut Option<B>, context: &mut Context<'_>) -> Vec<Bytes>
    where
        B: Body<Data = Bytes> + Unpin,
        B::Error: Into<BoxError>,
    {
        let mut arrived = Vec::new();
        while let Some(body) = inner {
            match Pin::new(body).poll_frame(context) {
                Poll::Pending => break,
                Poll::Ready(Some(Ok(frame))) => {
                    if let Some(data) = frame.data_ref() {
                        arrived.extend(self.lines.push(data));
                    }
                }
                Poll::Ready(Some(Err(error))) => {
                    *inner = None;
                    self.end = Some(End::Failed(service_error(error)));
                }
                Poll::Ready(None) => {
                    *inner = None;
                    arrived.extend(self.lines.finish());
                    self.record(format_args!("ended"));
                    self.end = Some(End::Over);
                }
            }
        }
        arrived
    }

    /// Takes lines that came in time.
    fn take(&mut self, mut lines: Vec<Bytes>) {
        let faults = self.conditions.faults();
        for index in 0..lines.len() {
            let lag = faults.longest_lag.mul_f64(self.random.unit());
            if happens(faults.lagging, &self.random) && self.inject(Fault::Lagging, format_args!("{lag:?}")) {
                let late = lines.split_off(index);
                self.release(lines);
                self.behind = Some((Box::pin(sleep(lag)), late));
                return;
            }
        }
        self.release(lines);
    }

    /// Makes lines ready, each in its turn with what goes wrong with it.
    fn release(&mut self, lines: Vec<Bytes>) {
        let faults = self.conditions.faults();
        let lines = match faults.coalesced > 0 && lines.len() > 1 {
            true => coalesce(lines, |uid| {
                happens(faults.coalesced, &self.random)
                    && self.inject(Fault::Coalesced, format_args!("an event of the object {uid}"))
            }),
            false => lines,
        };
        for line in lines {
            if self.end.as_ref().is_some_and(|end| matches!(end, End::Failed(TransportError::WatchCut))) {
                return;
            }
            let (cut, twice) =
                (happens(faults.cut_watches, &self.random), happens(faults.repeated, &self.random));
            if cut && self.inject(Fault::CutWatch, "") {
                self.record(format_args!("cut"));
                self.end = Some(End::Failed(TransportError::WatchCut));
                return;
            }
            if twice && self.inject(Fault::Repeated, "") {
                self.ready.push_back(line.clone());
            }
            self.ready.push_back(line);
        }
    }

    fn inject(&self, fault: Fault, what: impl std::fmt::Display) -> bool {
        self.conditions.inject(fault, format_args!("{} watch {} {what}", self.client, self.path))
    }

    fn record(&self, what: std::fmt::Arguments<'_>) {
        self.history.record(&self.client, format_args!("watch {} {what}", self.path));
    }
}

fn service_error(error: impl Into<BoxError>) -> TransportError {
    TransportError::Service(error.into())
}
