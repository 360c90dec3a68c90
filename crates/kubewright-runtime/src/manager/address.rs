use std::{fmt, net::TcpListener, str::FromStr};

use crate::{Error, Result};

/// Where a server listens, written as Go does: `:8081` for all interfaces, `127.0.0.1:8081`, `[::1]:0`.
/// `0` and the empty string mean not at all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BindAddress(Option<String>);

// === impl BindAddress ===

impl BindAddress {
    /// Not at all.
    #[must_use]
    pub const fn disabled() -> Self {
        Self(None)
    }

    /// Any free port of the loopback interface, as tests want it.
    #[must_use]
    pub fn loopback() -> Self {
        Self(Some("127.0.0.1:0".to_owned()))
    }

    /// Whether there is nothing to listen on.
    #[must_use]
    pub const fn is_disabled(&self) -> bool {
        self.0.is_none()
    }

    /// Opens the socket, or returns `None` if there is nothing to listen on. `flag` names the setting in
    /// errors.
    pub(super) fn bind(&self, flag: &str) -> Result<Option<TcpListener>> {
        let Some(address) = &self.0 else { return Ok(None) };
        let bound = match address.strip_prefix(':') {
            // Both families where the machine has both, as Go does.
            Some(port) => TcpListener::bind(format!("[::]:{port}"))
                .or_else(|_| TcpListener::bind(format!("0.0.0.0:{port}"))),
            None => TcpListener::bind(address),
        };
        let listener = bound.and_then(|listener| listener.set_nonblocking(true).map(|()| listener)).map_err(
            |error| {
                Error::setup(format!(
                    "cannot listen on {address} ({flag}): {error}; choose another address, or 0 for none"
                ))
            },
        )?;
        Ok(Some(listener))
    }
}

impl FromStr for BindAddress {
    type Err = String;

    fn from_str(address: &str) -> std::result::Result<Self, String> {
        match address {
            "" | "0" => Ok(Self(None)),
            address => {
                let port = address.rsplit_once(':').map(|(_, port)| port);
                if port.is_some_and(|port| port.parse::<u16>().is_ok()) {
                    Ok(Self(Some(address.to_owned())))
                } else {
                    Err(format!("{address:?} has no port: write :8081, 127.0.0.1:8081, or 0 for none"))
                }
            }
        }
    }
}

impl fmt::Display for BindAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.as_deref().unwrap_or("0"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zero_disables_and_a_port_is_needed() {
        assert!("0".parse::<BindAddress>().expect("valid").is_disabled());
        assert!("".parse::<BindAddress>().expect("valid").is_disabled());
        assert_eq!(":8081".parse::<BindAddress>().expect("valid").to_string(), ":8081");
        assert!("localhost".parse::<BindAddress>().is_err());
    }

    #[test]
    fn a_taken_port_is_named_with_its_flag() {
        let taken = BindAddress::loopback().bind("--a").expect("bound").expect("a listener");
        let address = taken.local_addr().expect("an address").to_string();
        let error = address.parse::<BindAddress>().expect("valid").bind("--metrics-bind-address");
        let message = error.expect_err("taken").to_string();
        assert!(message.contains(&address) && message.contains("--metrics-bind-address"), "{message}");
    }
}
