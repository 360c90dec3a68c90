//! Images from the outside: built, written and read, pushed and pulled.

mod build;
mod fake;
mod faults;
mod logins;
mod program;
mod transfer;
