//! The guide to Kubewright is a book: `mdbook build docs/guide`. This crate compiles and runs its snippets, as
//! doctests of the edition 2024, which are linked into one executable. It has nothing else in it, may import whatever
//! a snippet shows, and nothing imports it. Start reading in `pages/SUMMARY.md`.

macro_rules! pages {
    ($($page:ident = $file:literal),* $(,)?) => {$(
        #[cfg(doctest)]
        #[doc = include_str!(concat!("pages/", $file))]
        pub mod $page {}
    )*};
}

pages! {
    introduction = "introduction.md",
    concepts = "concepts.md",
    first_operator = "first-operator.md",
    queue = "queue.md",
    caches = "caches.md",
    events = "events.md",
    conditions = "conditions.md",
    finalizers = "finalizers.md",
    owner_references = "owner-references.md",
    webhooks = "webhooks.md",
    leader_election = "leader-election.md",
    testing = "testing.md",
    shipping = "shipping.md",
    observing = "observing.md",
    from_controller_runtime = "from-controller-runtime.md",
    from_kube_rs = "from-kube-rs.md",
}
