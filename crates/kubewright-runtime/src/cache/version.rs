/// A resource version, comparable with others of the same resource: Kubernetes allows that since KEP-5504 for those
/// that are positive numbers. Others, as of an aggregated API server of its own making, are equal or not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Version {
    text: String,
    number: Option<u128>,
}

impl Version {
    /// `None` for an empty version, which is none.
    pub(super) fn new(text: &str) -> Option<Self> {
        if text.is_empty() {
            return None;
        }
        let well_formed = !text.starts_with('0') && text.bytes().all(|byte| byte.is_ascii_digit());
        let number = if well_formed { text.parse().ok() } else { None };
        Some(Self { text: text.to_owned(), number })
    }

    /// Whether who has seen everything up to `seen` has seen this version.
    pub(super) fn is_reached_by(&self, seen: Option<&str>) -> bool {
        let Some(seen) = seen.and_then(Self::new) else { return false };
        match (self.number, seen.number) {
            (Some(this), Some(seen)) => seen >= this,
            _ => self.text == seen.text,
        }
    }

    /// Whether nothing but the same text, or a new list, shows that this version was reached.
    pub(super) fn is_incomparable(&self) -> bool {
        self.number.is_none()
    }

    pub(super) fn as_str(&self) -> &str {
        &self.text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_compared_as_numbers_of_any_length() {
        let reached =
            |seen: &str, version: &str| Version::new(version).expect("a version").is_reached_by(Some(seen));
        assert!(reached("10", "9") && reached("9", "9") && !reached("9", "10"));
        assert!(reached("100000000000000000000", "99999999999999999999"));
        // What is no positive number is equal or nothing.
        for odd in ["0", "007", "a1", "-1", "+1", "1.0"] {
            assert!(reached(odd, odd) && !reached("9", odd) && !reached(odd, "1"), "{odd}");
        }
        assert!(Version::new("").is_none());
    }
}
