//! Clients that do harm: what is too much is refused or cut off, and the others are served meanwhile.

mod bodies;
mod connections;
mod served;
mod streams;
mod watchers;
