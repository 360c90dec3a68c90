use std::{
    fmt,
    sync::{Arc, Mutex, PoisonError},
};

use super::ControllerReport;

/// Where controllers tell how they can be asked. Clones are the same.
#[derive(Clone, Default)]
pub struct Diagnostics {
    controllers: Arc<Mutex<Vec<Ask>>>,
}

/// `None` once the controller has ended.
type Ask = Box<dyn Fn() -> Option<ControllerReport> + Send + Sync>;

// === impl Diagnostics ===

impl Diagnostics {
    /// Without controllers.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a controller, which answers `None` once it has ended. `ask` is called for each report and must not block.
    pub fn register(&self, ask: impl Fn() -> Option<ControllerReport> + Send + Sync + 'static) {
        self.controllers.lock().unwrap_or_else(PoisonError::into_inner).push(Box::new(ask));
    }

    /// How the controllers stand, by name.
    #[must_use]
    pub fn controllers(&self) -> Vec<ControllerReport> {
        let controllers = self.controllers.lock().unwrap_or_else(PoisonError::into_inner);
        let mut reports: Vec<_> = controllers.iter().filter_map(|ask| ask()).collect();
        reports.sort_by(|a, b| a.name.cmp(&b.name));
        reports
    }
}

impl fmt::Debug for Diagnostics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Diagnostics").finish_non_exhaustive()
    }
}
