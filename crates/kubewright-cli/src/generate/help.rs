//! The help on the words of the command line, from the table of options.

use std::fmt::Write;

use kubewright_manifests::options::{Generator, options};

const EXAMPLES: &str = "\
Examples:
  kubewright generate
  kubewright generate --check examples/memcached-operator
  kubewright generate rbac:roleName=manager-role crd:maxDescLen=0 output:crd:dir=deploy
  kubewright generate --compat controller-gen rbac:roleName=manager-role crd webhook paths=./...";

/// Every option of every generator, with the output rules.
pub(crate) fn options_help() -> String {
    let mut text =
        String::from("Options of the generators, as in `crd:maxDescLen=0,headerFile=header.txt`:\n");
    for generator in Generator::ALL {
        let _ = writeln!(text, "  {generator}:");
        for option in options(generator) {
            let _ = writeln!(text, "    {:<28}{}", option.name, option.help);
        }
    }
    text.push_str(
        "  output:[GENERATOR:]dir=FOLDER, stdout, none, artifacts:config=FOLDER\n\n\
         A project keeps its options in Cargo.toml, in [package.metadata.kubewright.generate], with a table for each \
         generator:\n  crd = { maxDescLen = 0, dir = \"deploy\" }\n\n",
    );
    text.push_str(EXAMPLES);
    text
}

/// The examples alone.
pub(crate) fn examples() -> &'static str {
    EXAMPLES
}
