use std::fmt;

use prometheus_client::metrics::counter::Counter;

use super::registry::Families;

/// What the certificates of the operator's servers measure.
#[derive(Clone)]
pub struct CertificateMetrics {
    read: Counter,
    errors: Counter,
}

impl CertificateMetrics {
    pub(super) fn new(families: &Families) -> Self {
        Self {
            read: families.certificates_read.get_or_create_owned(&[]),
            errors: families.certificate_errors.get_or_create_owned(&[]),
        }
    }

    /// The files of a certificate were read, and could be used or not.
    pub fn read(&self, usable: bool) {
        self.read.inc();
        if !usable {
            self.errors.inc();
        }
    }
}

impl fmt::Debug for CertificateMetrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CertificateMetrics").finish_non_exhaustive()
    }
}
