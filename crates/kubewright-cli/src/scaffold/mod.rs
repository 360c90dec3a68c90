//! `kubewright init`, `create`, `edit`, `delete` and `upgrade`: they change a project.
//!
//! What a project is made of and how its files follow a change is in `kubewright-scaffold`. Here is what a command does around that:
//! [`options`] are the flags, [`prompt`] asks for what is missing, [`apply`] shows what stands in the way or writes, and each
//! command is a file.

mod apply;
mod create;
mod definition;
mod delete;
mod edit;
mod framework;
mod init;
mod interrupts;
mod notice;
pub(crate) mod options;
mod prompt;
mod rustfmt;
mod upgrade;

pub(crate) use self::{create::create, delete::delete, edit::edit, init::init, upgrade::upgrade};
