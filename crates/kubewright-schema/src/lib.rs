//! Kubernetes structural schemas as values: parse, check, prune, default and validate.
