//! The `kubewright` binary: see the library of this package.

use std::process::ExitCode;

fn main() -> ExitCode {
    kubewright_cli::main()
}
