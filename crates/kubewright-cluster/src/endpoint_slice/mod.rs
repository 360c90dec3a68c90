//! The endpoint controllers: the addresses behind each Service, as EndpointSlices and as Endpoints.
//!
//! [`endpoint`] finds the ports and addresses a pod serves for a Service, [`slices`] distributes them over
//! EndpointSlices so that few of those change, [`legacy`] writes the same as the older Endpoints object. All
//! three are pure; [`reconciler`] reads the caches and writes the difference.

mod endpoint;
mod legacy;
mod reconciler;
mod slices;

pub(crate) use reconciler::{run, run_legacy};
