//! Sets of small numbers.

/// A set of numbers below a bound that all sets it meets were made with.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Bits(Vec<u64>);

// === impl Bits ===

impl Bits {
    /// The empty set of numbers below `bound`.
    pub(super) fn none(bound: usize) -> Self {
        Self(vec![0; bound.div_ceil(64)])
    }

    pub(super) fn insert(&mut self, number: usize) {
        if let Some(word) = self.0.get_mut(number / 64) {
            *word |= 1 << (number % 64);
        }
    }

    pub(super) fn contains(&self, number: usize) -> bool {
        self.0.get(number / 64).is_some_and(|word| word >> (number % 64) & 1 == 1)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = usize> {
        self.0.iter().enumerate().flat_map(|(index, &word)| {
            let mut rest = word;
            std::iter::from_fn(move || {
                let bit = rest.trailing_zeros() as usize;
                (rest != 0).then(|| {
                    rest &= rest - 1;
                    index * 64 + bit
                })
            })
        })
    }

    pub(super) fn len(&self) -> usize {
        self.0.iter().map(|word| word.count_ones() as usize).sum()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.iter().all(|&word| word == 0)
    }

    pub(super) fn is_subset(&self, other: &Self) -> bool {
        self.0.iter().zip(&other.0).all(|(left, right)| left & !right == 0)
    }

    pub(super) fn intersects(&self, other: &Self) -> bool {
        self.0.iter().zip(&other.0).any(|(left, right)| left & right != 0)
    }

    pub(super) fn union(&self, other: &Self) -> Self {
        self.combine(other, |left, right| left | right)
    }

    pub(super) fn intersection(&self, other: &Self) -> Self {
        self.combine(other, |left, right| left & right)
    }

    pub(super) fn difference(&self, other: &Self) -> Self {
        self.combine(other, |left, right| left & !right)
    }

    fn combine(&self, other: &Self, word: impl Fn(u64, u64) -> u64) -> Self {
        Self(self.0.iter().zip(&other.0).map(|(&left, &right)| word(left, right)).collect())
    }
}
