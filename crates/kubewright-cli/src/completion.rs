//! `kubewright completion`: completions for shells and manual pages, from the table of commands.

use std::{fs, io, path::Path};

use clap::CommandFactory;

use crate::{
    command::{Arguments, CompletionOptions},
    error::Error,
    terminal,
};

/// Prints the completions, or writes the pages.
pub(crate) fn run(options: &CompletionOptions) -> Result<(), Error> {
    if let Some(shell) = options.shell {
        let mut text = Vec::new();
        clap_complete::generate(shell, &mut Arguments::command(), "kubewright", &mut text);
        terminal::print(&String::from_utf8_lossy(&text));
    }
    match &options.man {
        Some(folder) => {
            pages(folder).map_err(Error::io(format!("write the manual pages to {}", folder.display())))
        }
        None => Ok(()),
    }
}

fn pages(folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    clap_mangen::generate_to(Arguments::command(), folder)
}
