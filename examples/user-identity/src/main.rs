//! Starts the operator. `user-identity --help` lists its flags, `user-identity crd` prints its CRDs.

use kubewright::prelude::*;
use user_identity::{
    controller,
    directory::{Directory, DirectoryFile},
};

/// Where the users are read from unless `USERS_FILE` names another file.
const USERS: &str = "/etc/user-identity/users";

#[tokio::main]
async fn main() -> Result<()> {
    let manager = Manager::new(Options::parse()).await?;
    let directory = Directory::new();
    let users = std::env::var_os("USERS_FILE").unwrap_or_else(|| USERS.into());
    controller::user_identity::register(&manager, directory.clone())?;
    manager.add("directory", DirectoryFile::new(users, directory))?;
    manager.start().await
}
