use std::{fmt, str::FromStr};

/// The feature gates of kube-apiserver that can be switched here (`--feature-gates`). The default is that of the real
/// server.
///
/// ```
/// use kubewright_apiserver::FeatureGates;
///
/// let gates: FeatureGates = "WatchList=false".parse()?;
/// assert_eq!(gates.to_string(), "APIResponseCompression=true,WatchList=false");
/// # Ok::<(), kubewright_apiserver::FeatureGateError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FeatureGates {
    /// `APIResponseCompression`: large answers are compressed for clients that can read that. Default: true.
    pub api_response_compression: bool,
    /// `WatchList`: a watch may begin with what is there (`sendInitialEvents`). Default: true.
    pub watch_list: bool,
}

/// Text that says nothing about a [`FeatureGates`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FeatureGateError {
    /// It is not of the form `Name=true` or `Name=false`.
    #[error("{0:?} is not of the form Name=true or Name=false")]
    Malformed(String),
    /// The gate is not one that can be switched.
    #[error(
        "the feature gate {0:?} cannot be switched here; those that can are APIResponseCompression and WatchList"
    )]
    Unknown(String),
}

impl Default for FeatureGates {
    fn default() -> Self {
        Self { api_response_compression: true, watch_list: true }
    }
}

impl FromStr for FeatureGates {
    type Err = FeatureGateError;

    /// Reads `Name=true,Name=false`; what is not named has its default, and of two settings of a gate the later counts.
    fn from_str(text: &str) -> Result<Self, FeatureGateError> {
        let mut gates = Self::default();
        for setting in text.split(',').map(str::trim).filter(|setting| !setting.is_empty()) {
            let malformed = || FeatureGateError::Malformed(setting.to_owned());
            let (name, value) = setting.split_once('=').ok_or_else(malformed)?;
            let value = value.trim().parse().map_err(|_| malformed())?;
            match name.trim() {
                "APIResponseCompression" => gates.api_response_compression = value,
                "WatchList" => gates.watch_list = value,
                name => return Err(FeatureGateError::Unknown(name.to_owned())),
            }
        }
        Ok(gates)
    }
}

impl fmt::Display for FeatureGates {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { api_response_compression, watch_list } = self;
        write!(f, "APIResponseCompression={api_response_compression},WatchList={watch_list}")
    }
}
