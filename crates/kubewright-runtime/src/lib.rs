//! The operator runtime: work queue, informers, controllers, client, manager.
