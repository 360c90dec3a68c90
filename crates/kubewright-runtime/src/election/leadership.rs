use std::{
    fmt,
    future::Future,
    num::ParseIntError,
    pin::Pin,
    str::FromStr,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicU64, Ordering},
    },
    task::{Context, Poll},
};

use kube::core::ObjectMeta;
use pin_project_lite::pin_project;
use tokio::time::Instant;
use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};

/// Whether this process is the one that acts. Clones tell the same.
///
/// A term begins once and ends once: a process that lost the lease ends, and the one that is started in its place is a
/// new candidate. Without leader election a process leads from its start on.
///
/// Controllers and [runnables](crate::manager::Runnable) of the elected group are started and stopped by the manager and
/// need none of this. It is for work that they hand to tasks of their own:
///
/// ```
/// use kubewright_runtime::{Result, manager::Manager};
///
/// async fn hand_over(manager: &Manager, upload: impl Future<Output = ()> + Send + 'static) {
///     let leadership = manager.leadership().clone();
///     leadership.elected().await;
///     // Cut off when the term ends, before another replica may begin.
///     tokio::spawn(leadership.while_leading(upload));
/// }
/// ```
#[derive(Clone)]
pub struct Leadership {
    state: Arc<State>,
}

struct State {
    /// What `until` counts from.
    epoch: Instant,
    /// The end of the term as far as it is known, in nanoseconds. [`ENDED`] is final.
    until: AtomicU64,
    token: OnceLock<FencingToken>,
    elected: CancellationToken,
    ended: CancellationToken,
}

const ENDED: u64 = 0;
/// There is no end yet: no election, or none that was won.
const OPEN: u64 = u64::MAX;

/// The number of a term: how often the lease changed hands until it began. Later terms have greater numbers.
///
/// Leader election keeps replicas from acting at once, but cannot call back a request that is on its way. Where such a
/// late write must do no harm, let each write carry the token, and refuse those that carry a smaller one than was seen
/// before: a database can do so, and so can a reconciler that writes objects under the version that it read:
///
/// ```
/// use k8s_openapi::api::core::v1::ConfigMap;
/// use kubewright_runtime::{Error, Result, client::Client, election::{FencingToken, Leadership}};
///
/// async fn write(client: &Client, leadership: &Leadership, mut config: ConfigMap) -> Result<()> {
///     let token = leadership.fencing_token().ok_or_else(|| Error::other("the term is over"))?;
///     if FencingToken::of(&config.metadata) > Some(token) {
///         return Err(Error::other("a later leader was here"));
///     }
///     token.stamp(&mut config.metadata);
///     client.update(&config).await?; // a conflict, if it was written since it was read
///     Ok(())
/// }
/// ```
///
/// A lease that is deleted begins to count anew, unless one of the candidates had seen it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FencingToken(u32);

pin_project! {
    /// A future that is not polled after the end of the term. Made by [`Leadership::while_leading`].
    pub(crate) struct WhileLeading<F> {
        leadership: Leadership,
        #[pin]
        ended: WaitForCancellationFutureOwned,
        #[pin]
        future: F,
    }
}

// === impl Leadership ===

impl Leadership {
    /// That of a process that stands for no election: it leads, and goes on to.
    #[must_use]
    pub fn without_election() -> Self {
        let leadership = Self::standby();
        leadership.state.elected.cancel();
        leadership
    }

    /// That of a candidate.
    pub(crate) fn standby() -> Self {
        let state = State {
            epoch: Instant::now(),
            until: AtomicU64::new(OPEN),
            token: OnceLock::new(),
            elected: CancellationToken::new(),
            ended: CancellationToken::new(),
        };
        Self { state: Arc::new(state) }
    }

    /// Whether this process leads at this moment.
    #[must_use]
    pub fn is_leader(&self) -> bool {
        self.state.elected.is_cancelled() && !self.is_over()
    }

    /// Waits until this process leads. Also ready if it did and the term is over.
    pub async fn elected(&self) {
        self.state.elected.cancelled().await;
    }

    /// Waits until the term is over: the lease was lost or given up.
    pub async fn ended(&self) {
        self.state.ended.cancelled().await;
    }

    /// The number of the term, while this process leads. `None` also without leader election.
    #[must_use]
    pub fn fencing_token(&self) -> Option<FencingToken> {
        self.state.token.get().copied().filter(|_| self.is_leader())
    }

    /// Runs `future` until its end or that of the term, which drops it and gives `None`.
    ///
    /// It is not only dropped soon after the term is over: it is not polled once more after that, even if the process
    /// stood still meanwhile and no timer could tell. Before the election nothing stops it.
    pub fn while_leading<F: Future>(&self, future: F) -> impl Future<Output = Option<F::Output>> + use<F> {
        WhileLeading { leadership: self.clone(), ended: self.state.ended.clone().cancelled_owned(), future }
    }

    /// Whether there was a term that is over. Whoever finds that its time has run out ends it for all.
    fn is_over(&self) -> bool {
        let mut until = self.state.until.load(Ordering::Acquire);
        loop {
            match until {
                ENDED => return true,
                OPEN => return false,
                _ if self.elapsed(Instant::now()) < until => return false,
                _ => {}
            }
            match self.state.until.compare_exchange(until, ENDED, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => {
                    self.state.ended.cancel();
                    return true;
                }
                // Renewed in the last moment.
                Err(renewed) => until = renewed,
            }
        }
    }

    /// Begins the term, which lasts until `until` unless it is extended. Whether there still is time.
    pub(crate) fn begin(&self, until: Instant, token: FencingToken) -> bool {
        // The first and only token: a leadership has one elector, which begins one term.
        let _ = self.state.token.set(token);
        let begun =
            self.state.until.compare_exchange(OPEN, self.elapsed(until), Ordering::AcqRel, Ordering::Acquire);
        let begun = begun.is_ok() && !self.is_over();
        if begun {
            self.state.elected.cancel();
        }
        begun
    }

    /// Extends the term. `false` means that it is over: an end is final, because somebody may have seen it.
    pub(crate) fn extend(&self, until: Instant) -> bool {
        if self.is_over() {
            return false;
        }
        let until = self.elapsed(until);
        let extend = |present| (present != ENDED).then_some(until);
        self.state.until.fetch_update(Ordering::AcqRel, Ordering::Acquire, extend).is_ok() && !self.is_over()
    }

    /// Ends the term.
    pub(crate) fn end(&self) {
        self.state.until.store(ENDED, Ordering::Release);
        self.state.ended.cancel();
    }

    fn elapsed(&self, now: Instant) -> u64 {
        let elapsed = now.saturating_duration_since(self.state.epoch).as_nanos();
        // Off the values that mean something else, after five centuries and in the first nanosecond.
        u64::try_from(elapsed).unwrap_or(OPEN).clamp(ENDED + 1, OPEN - 1)
    }
}

impl fmt::Debug for Leadership {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Leadership")
            .field("is_leader", &self.is_leader())
            .field("token", &self.fencing_token())
            .finish_non_exhaustive()
    }
}

// === impl WhileLeading ===

impl<F: Future> Future for WhileLeading<F> {
    type Output = Option<F::Output>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        if this.leadership.is_over() || this.ended.poll(context).is_ready() {
            return Poll::Ready(None);
        }
        this.future.poll(context).map(Some)
    }
}

// === impl FencingToken ===

/// The annotation of [`FencingToken::stamp`].
const ANNOTATION: &str = "kubewright.dev/fencing-token";

impl FencingToken {
    pub(super) fn new(transitions: i32) -> Self {
        Self(u32::try_from(transitions).unwrap_or_default())
    }

    /// That of a table of the [sharding](crate::sharding).
    pub(crate) fn of_epoch(epoch: u32) -> Self {
        Self(epoch)
    }

    /// The `spec.leaseTransitions` of the lease.
    #[must_use]
    pub fn transitions(self) -> u32 {
        self.0
    }

    /// Writes it into the annotation `kubewright.dev/fencing-token`.
    pub fn stamp(self, metadata: &mut ObjectMeta) {
        metadata.annotations.get_or_insert_default().insert(ANNOTATION.to_owned(), self.to_string());
    }

    /// That of the annotation, if the object carries one.
    #[must_use]
    pub fn of(metadata: &ObjectMeta) -> Option<Self> {
        metadata.annotations.as_ref()?.get(ANNOTATION)?.parse().ok()
    }
}

impl fmt::Display for FencingToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for FencingToken {
    type Err = ParseIntError;

    fn from_str(text: &str) -> Result<Self, ParseIntError> {
        text.parse().map(Self)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[tokio::test(start_paused = true)]
    async fn a_term_ends_when_its_time_runs_out_whether_or_not_a_timer_tells() {
        let leadership = Leadership::standby();
        assert!(!leadership.is_leader());
        assert!(leadership.begin(Instant::now() + SECOND, FencingToken::new(3)));
        leadership.elected().await;
        assert_eq!(leadership.fencing_token(), Some(FencingToken(3)));

        let mut steps = 0;
        let work = leadership.while_leading(async {
            loop {
                steps += 1;
                tokio::time::sleep(Duration::from_millis(300)).await;
            }
        });
        let (work, ()) = tokio::join!(work, async {
            // Stands still from the first second on.
            tokio::time::sleep(Duration::from_millis(500)).await;
            tokio::time::advance(Duration::from_secs(60)).await;
        });
        assert_eq!((work, steps), (None::<()>, 2));
        assert!(!leadership.is_leader());
        assert_eq!(leadership.fencing_token(), None);
        assert!(!leadership.extend(Instant::now() + SECOND), "an end is final");
        leadership.ended().await;
    }

    #[tokio::test(start_paused = true)]
    async fn a_term_goes_on_as_long_as_it_is_extended() {
        let leadership = Leadership::standby();
        assert!(leadership.begin(Instant::now() + SECOND, FencingToken::new(0)));
        for _ in 0..10 {
            tokio::time::sleep(SECOND / 2).await;
            assert!(leadership.extend(Instant::now() + SECOND));
        }
        assert!(leadership.is_leader());
        let work = tokio::spawn(leadership.while_leading(std::future::pending::<()>()));
        tokio::task::yield_now().await;
        leadership.end();
        assert_eq!(work.await.expect("no panic"), None);
    }

    #[tokio::test(start_paused = true)]
    async fn without_an_election_there_is_no_end() {
        let leadership = Leadership::without_election();
        leadership.elected().await;
        tokio::time::sleep(Duration::from_secs(1_000_000)).await;
        assert!(leadership.is_leader());
        assert_eq!(leadership.while_leading(async { 1 }).await, Some(1));
    }

    #[test]
    fn a_token_travels_in_an_annotation() {
        let mut metadata = ObjectMeta::default();
        assert_eq!(FencingToken::of(&metadata), None);
        FencingToken::new(9).stamp(&mut metadata);
        assert_eq!(FencingToken::of(&metadata), Some(FencingToken(9)));
        assert!(FencingToken(10) > FencingToken(9));
    }
}
