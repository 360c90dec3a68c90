/// How large or how expensive something is: at least and at most. Nothing overflows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Range {
    pub(super) least: u64,
    pub(super) most: u64,
}

impl Range {
    /// Any size.
    pub(super) const UNKNOWN: Self = Self { least: 0, most: u64::MAX };

    pub(super) const fn new(least: u64, most: u64) -> Self {
        Self { least, most }
    }

    pub(super) const fn exactly(amount: u64) -> Self {
        Self { least: amount, most: amount }
    }

    pub(super) fn plus(self, other: Self) -> Self {
        Self { least: self.least.saturating_add(other.least), most: self.most.saturating_add(other.most) }
    }

    pub(super) fn times(self, other: Self) -> Self {
        Self { least: self.least.saturating_mul(other.least), most: self.most.saturating_mul(other.most) }
    }

    /// Multiplies and rounds up.
    pub(super) fn by(self, factor: f64) -> Self {
        Self { least: scale(self.least, factor), most: scale(self.most, factor) }
    }

    /// The smallest range that holds both.
    pub(super) fn or(self, other: Self) -> Self {
        Self { least: self.least.min(other.least), most: self.most.max(other.most) }
    }
}

/// The casts saturate, which is what is wanted.
pub(super) fn scale(amount: u64, factor: f64) -> u64 {
    (amount as f64 * factor).ceil() as u64
}
