//! The controllers that make an API server a cluster: garbage collection, namespaces, workloads, a simulated kubelet.
