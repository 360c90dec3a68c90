//! A cluster per test.
//!
//! * [`TestCluster`] is the embedded API server with its controllers, in process and in the test's own thread:
//!   nothing is shared with other tests, nothing listens on a port, and it starts in milliseconds. Under
//!   `#[tokio::test(start_paused = true)]` it runs on virtual time, and equal seeds give equal histories.
//! * [`OperatorBuilder::roles`] gives an operator the rights of its generated role and no others.
//! * The webhooks of an operator answer in the same thread and time ([`OperatorBuilder::webhooks`]), and so does any service
//!   that a test lets answer for others ([`TestClusterBuilder::webhook`]).
//! * [`simulate`] gives a run a runtime of its own, for tests that compare runs.
//! * [`sim`] runs an operator again and again, each time under other faults or with another crash, and compares the ends.
//! * [`transport`] is the network between client and server: it records every request, and makes the connection
//!   fail as a test asks.
//!
//! This crate may import every other crate of the workspace but the command line. Tests of operators import it;
//! operators do not. Start reading at [`TestCluster`].

mod endpoint;
mod roles;
mod server;
pub mod sim;
mod simulate;
mod test_cluster;
pub mod transport;
mod webhooks;

pub use simulate::simulate;
pub use test_cluster::{Operator, OperatorBuilder, TestCluster, TestClusterBuilder};
