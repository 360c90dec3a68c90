use clap::{ArgAction, Args, ValueEnum};

use crate::manager::LogFormat;

/// The flags of controller-runtime's logger, so that a Deployment with them goes on working. They go before ours.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct ZapFlags {
    /// The defaults of development, text and debug, or of production, json and info.
    #[arg(
        long = "zap-devel",
        id = "zap_devel",
        hide = true,
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "true",
        action = ArgAction::Set
    )]
    devel: Option<bool>,

    /// How to log: json or console.
    #[arg(long = "zap-encoder", id = "zap_encoder", hide = true)]
    encoder: Option<Encoder>,

    /// What to log: debug, info, error, panic, or a number above 0 for more than info.
    #[arg(long = "zap-log-level", id = "zap_log_level", hide = true, value_parser = level)]
    level: Option<String>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Encoder {
    Json,
    Console,
}

impl ZapFlags {
    /// The level, if they say one.
    pub(super) fn level(&self) -> Option<&str> {
        let default = |devel| if devel { "debug" } else { "info" };
        self.level.as_deref().or_else(|| self.devel.map(default))
    }

    /// The form, if they say one.
    pub(super) fn format(&self) -> Option<LogFormat> {
        match (self.encoder, self.devel) {
            (Some(Encoder::Json), _) | (None, Some(false)) => Some(LogFormat::Json),
            (Some(Encoder::Console), _) | (None, Some(true)) => Some(LogFormat::Text),
            (None, None) => None,
        }
    }
}

/// A level of zap in our words.
fn level(text: &str) -> Result<String, String> {
    let level = match text.to_ascii_lowercase().as_str() {
        "debug" | "1" => "debug",
        "info" => "info",
        "error" | "panic" => "error",
        number if number.parse::<u8>().is_ok_and(|number| number > 1) => "trace",
        _ => return Err("it is none of debug, info, error, panic, and no number above 0".to_owned()),
    };
    Ok(level.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::manager::Options;

    fn flags(words: &[&str]) -> (Option<String>, Option<LogFormat>) {
        let words = ["operator"].iter().chain(words);
        let options = Options::from_command_line(words).expect("valid flags");
        (options.zap.level().map(str::to_owned), options.zap.format())
    }

    #[test]
    fn the_flags_of_zap_are_understood() {
        let text = |level: &str| (Some(level.to_owned()), Some(LogFormat::Text));
        assert_eq!(flags(&[]), (None, None));
        assert_eq!(flags(&["--zap-devel"]), text("debug"));
        assert_eq!(flags(&["--zap-devel=false", "--zap-encoder=console"]), text("info"));
        assert_eq!(flags(&["--zap-devel", "--zap-log-level=5"]), text("trace"));
        let (level, format) = flags(&["--zap-encoder=json", "--zap-log-level=error"]);
        assert_eq!((level.as_deref(), format), (Some("error"), Some(LogFormat::Json)));
        assert!(Options::from_command_line(["operator", "--zap-log-level=0"]).is_err());
    }
}
