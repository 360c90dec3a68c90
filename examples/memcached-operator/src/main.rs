//! The Memcached operator.

fn main() {}
