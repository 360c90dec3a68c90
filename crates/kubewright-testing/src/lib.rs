//! A cluster per test: the embedded server, its controllers and waiting assertions.
