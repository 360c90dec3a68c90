//! `my-operator crd`: the CustomResourceDefinitions of an operator, without a cluster.

use std::io::Write;

use clap::{Parser, ValueEnum};
use kubewright_manifests::{
    Style,
    crd::{CrdOptions, Generated},
    diagnostic::Severity,
    yaml,
};

use crate::{
    Error, Result,
    crds::{ConversionWebhook, Crds, shown},
};

/// Print the CustomResourceDefinitions of the operator, without a cluster.
#[derive(Clone, Debug, Default, PartialEq, Eq, Parser)]
#[command(name = "crd")]
pub(super) struct CrdCommand {
    /// yaml for documents, json for one object with the documents, the source of their parts, and diagnostics.
    #[arg(long, value_name = "FORMAT", default_value = "yaml")]
    output: OutputFormat,

    /// Follow the conventions of another generator, to the byte.
    #[arg(long, value_name = "GENERATOR")]
    compat: Option<Compat>,

    /// The largest number of bytes of a description; 0 leaves descriptions out. By default what the operator sets.
    #[arg(long, value_name = "BYTES")]
    max_desc_len: Option<usize>,

    /// The same for the types whose schemas have this name, or one that begins so if a `*` stands at the end. May be repeated.
    #[arg(long, value_name = "NAME=BYTES", value_parser = description_limit)]
    max_desc_len_of: Vec<(String, usize)>,

    /// Whether the metadata of embedded objects keeps name, namespace, labels, annotations and finalizers. By default it
    /// does, but not with --compat controller-gen.
    #[arg(long, value_name = "BOOL", num_args = 0..=1, default_missing_value = "true")]
    embedded_object_meta: Option<bool>,

    /// What spec.preserveUnknownFields says with --compat controller-gen; left out by default. API servers refuse true.
    #[arg(long, value_name = "BOOL")]
    preserve_unknown_fields: Option<bool>,

    /// Allow floats with --compat controller-gen. Without it they are allowed anyway.
    #[arg(long)]
    allow_dangerous_types: bool,

    /// The URL at which this operator converts objects, for the definitions of the kinds that it converts. `kubewright dev` sets
    /// it; a deployed operator is behind a service, which its kustomization names.
    #[arg(long, env = "CONVERSION_WEBHOOK_URL", value_name = "URL", hide = true)]
    conversion_url: Option<String>,

    /// The certificates to trust there, as base64 of PEM.
    #[arg(long, env = "CONVERSION_WEBHOOK_CA", value_name = "BASE64", hide = true)]
    conversion_ca: Option<String>,

    /// The version that the annotation of --compat controller-gen names; empty leaves the annotation out.
    #[arg(long, value_name = "VERSION")]
    tool_version: Option<String>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum OutputFormat {
    #[default]
    Yaml,
    Json,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Compat {
    ControllerGen,
}

// === impl CrdCommand ===

impl CrdCommand {
    /// Writes the definitions to the standard output.
    ///
    /// As YAML, diagnostics go to the standard error, and nothing else is written if one of them is an error. As JSON they are
    /// part of the output, for a program that knows the source.
    pub(super) fn run(&self, crds: &Crds) -> Result<()> {
        if let Some(url) = &self.conversion_url {
            let webhook = ConversionWebhook::url(url);
            crds.convert_at(match &self.conversion_ca {
                Some(bundle) => webhook.ca_bundle(bundle),
                None => webhook,
            });
        }
        let generated = crds.generate_with(&self.options(crds.options()));
        let text = match self.output {
            OutputFormat::Json => {
                let mut text = serde_json::to_string(&generated)?;
                text.push('\n');
                text
            }
            OutputFormat::Yaml => {
                report(&generated)?;
                yaml::stream(&generated.documents)
            }
        };
        let mut output = std::io::stdout().lock();
        output.write_all(text.as_bytes())?;
        output.flush()?;
        Ok(())
    }

    /// The options of the operator with what the command line says.
    fn options(&self, mut options: CrdOptions) -> CrdOptions {
        if self.compat == Some(Compat::ControllerGen) {
            options.schema.style = Style::ControllerGen;
        }
        if let Some(length) = self.max_desc_len {
            options.schema.max_description_length = Some(length);
        }
        for (name, bytes) in &self.max_desc_len_of {
            match name.strip_suffix('*') {
                Some(prefix) => options.schema.description_limits.set_prefix(prefix, *bytes),
                None => options.schema.description_limits.set_type(name, *bytes),
            }
        }
        if let Some(generated) = self.embedded_object_meta {
            options.schema.generate_embedded_object_meta = Some(generated);
        }
        options.preserve_unknown_fields = self.preserve_unknown_fields.or(options.preserve_unknown_fields);
        options.schema.allow_dangerous_types |= self.allow_dangerous_types;
        if let Some(version) = &self.tool_version {
            options.tool_version = Some(version.clone()).filter(|version| !version.is_empty());
        }
        options
    }
}

fn description_limit(text: &str) -> std::result::Result<(String, usize), String> {
    let limit = text.rsplit_once('=').and_then(|(name, bytes)| Some((name.to_owned(), bytes.parse().ok()?)));
    limit.ok_or_else(|| {
        "it is not the name of a type and a number of bytes, as in `io.k8s.api.core.*=0`".to_owned()
    })
}

fn report(generated: &Generated) -> Result<()> {
    let mut output = std::io::stderr().lock();
    for diagnostic in &generated.diagnostics {
        writeln!(output, "{}", shown(diagnostic))?;
    }
    let errors = generated.diagnostics.iter().filter(|found| found.severity == Severity::Error).count();
    match errors {
        0 => Ok(()),
        1 => Err(Error::setup("the CustomResourceDefinitions have an error")),
        errors => Err(Error::setup(format!("the CustomResourceDefinitions have {errors} errors"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_wins_over_the_options_of_the_operator() {
        let mut options = CrdOptions::default();
        options.schema.max_description_length = Some(7);
        let command = |words: &[&str]| {
            CrdCommand::try_parse_from(["crd"].iter().chain(words)).expect("valid").options(options.clone())
        };
        assert_eq!(command(&[]), options);
        let changed = command(&[
            "--compat=controller-gen",
            "--max-desc-len=0",
            "--max-desc-len-of=io.k8s.*=0",
            "--max-desc-len-of=CacheSpec=60",
            "--embedded-object-meta=true",
            "--preserve-unknown-fields=false",
            "--allow-dangerous-types",
            "--tool-version=",
        ]);
        assert_eq!(changed.schema.style, Style::ControllerGen);
        assert_eq!(changed.schema.max_description_length, Some(0));
        assert_eq!(changed.schema.generate_embedded_object_meta, Some(true));
        assert_eq!(changed.preserve_unknown_fields, Some(false));
        let limits = &changed.schema.description_limits;
        assert_eq!(
            limits.iter().collect::<Vec<_>>(),
            [("io.k8s.*".to_owned(), 0), ("CacheSpec".to_owned(), 60)]
        );
        assert!(CrdCommand::try_parse_from(["crd", "--max-desc-len-of=CacheSpec"]).is_err());
        assert!(changed.schema.allow_dangerous_types);
        assert_eq!(changed.tool_version, None);
    }
}
