use serde_json::Value;

use crate::types::quantity;

const NANO: i128 = 1_000_000_000;

/// The amount that a quantity stands for. What is none reads as 0: it was refused when the object was read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Quantity {
    nanos: i128,
}

impl Quantity {
    pub(crate) fn of(value: &Value) -> Self {
        Self::parse(value.as_str().unwrap_or("0")).unwrap_or_default()
    }

    pub(crate) fn parse(text: &str) -> Option<Self> {
        quantity::nanos(text).ok().map(|nanos| Self { nanos })
    }

    pub(crate) fn is_zero(self) -> bool {
        self.nanos == 0
    }

    pub(crate) fn is_negative(self) -> bool {
        self.nanos < 0
    }

    pub(crate) fn is_positive(self) -> bool {
        self.nanos > 0
    }

    /// The whole number, rounded away from zero.
    pub(crate) fn value(self) -> i128 {
        let rest = i128::from(self.nanos % NANO != 0);
        self.nanos / NANO + rest * self.nanos.signum()
    }

    /// How many times the other one it is.
    #[allow(clippy::cast_precision_loss, reason = "the message that shows it is as imprecise")]
    pub(crate) fn ratio(self, other: Self) -> f64 {
        self.nanos as f64 / other.nanos as f64
    }

    /// Whether it is a whole number, as far as thousandths tell.
    pub(crate) fn is_integer(self) -> bool {
        // Thousandths, rounded away from zero.
        let (thousandths, rest) = (self.nanos / (NANO / 1000), self.nanos % (NANO / 1000));
        (thousandths + i128::from(rest != 0) * self.nanos.signum()) % 1000 == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers() {
        let quantity = |text| Quantity::parse(text).unwrap();
        assert_eq!(quantity("1.5").value(), 2);
        assert_eq!(quantity("-1.5").value(), -2);
        assert_eq!(quantity("1Ki").value(), 1024);
        assert!(quantity("1k").is_integer() && !quantity("1m").is_integer() && !quantity("1n").is_integer());
        assert!(quantity("500m") < quantity("1") && quantity("1000m") == quantity("1"));
    }
}
