use std::{
    backtrace::Backtrace,
    cell::{Cell, RefCell},
    panic,
    pin::Pin,
    sync::Once,
    task::{Context, Poll},
};

thread_local! {
    /// Whether this thread is in a future whose panics are of interest.
    static WATCHED: Cell<bool> = const { Cell::new(false) };
    /// Where the last panic of such a future came from.
    static LAST: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// A future that remembers the backtrace of its panics.
///
/// By the time a panic is caught its stack is gone, so a panic hook has to look at it. The hook is put before that of
/// the process, which is called as ever, and does nothing while no such future is polled.
pub(super) struct Traced<F> {
    future: F,
}

/// Ends the interest when the poll ends, by a panic too.
struct Polling;

impl<F> Traced<F> {
    pub(super) fn new(future: F) -> Self {
        static HOOK: Once = Once::new();
        HOOK.call_once(|| {
            let previous = panic::take_hook();
            panic::set_hook(Box::new(move |panic| {
                // A thread that ends may panic when its locals are gone.
                if WATCHED.try_with(Cell::get).unwrap_or(false) {
                    let backtrace = Backtrace::force_capture().to_string();
                    let _ = LAST.try_with(|last| last.replace(Some(backtrace)));
                }
                previous(panic);
            }));
        });
        Self { future }
    }
}

impl<F: Future + Unpin> Future for Traced<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        WATCHED.set(true);
        let _polling = Polling;
        Pin::new(&mut self.future).poll(context)
    }
}

impl Drop for Polling {
    fn drop(&mut self) {
        WATCHED.set(false);
    }
}

/// The backtrace of the panic that was just caught from a [`Traced`] future on this thread.
pub(super) fn take() -> Option<String> {
    LAST.take()
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;

    use super::*;

    fn here() -> ! {
        panic!("no")
    }

    #[tokio::test]
    async fn the_backtrace_of_a_caught_panic_names_where_it_came_from() {
        let panicking = panic::AssertUnwindSafe(Traced::new(Box::pin(async { here() }))).catch_unwind();
        assert!(panicking.await.is_err());
        let backtrace = take().expect("it was remembered");
        assert!(backtrace.contains("backtrace::tests::here"), "{backtrace}");
        assert_eq!(take(), None);
    }
}
