//! Rules as products of sets.

use super::{
    super::Rule,
    bits::Bits,
    term::{Field, Term},
};

/// The terms that some rules use, per field.
///
/// The bit of a term stands for what it contains beyond the other terms here, so a list of terms is the set of the
/// bits of all terms that one of them covers, and what terms have in common is the intersection of such sets.
#[derive(Debug)]
pub(super) struct Space {
    dimensions: Vec<Dimension>,
}

/// The terms of one field.
#[derive(Debug)]
struct Dimension {
    field: Field,
    terms: Vec<Term>,
    /// Per term, the terms that it covers, itself included.
    covers: Vec<Bits>,
    /// The terms that cover others.
    wide: Vec<usize>,
}

/// A rule as a product of sets, one per field of its space.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Cube(pub(super) Vec<Bits>);

// === impl Space ===

impl Space {
    /// The space of these fields of these rules.
    pub(super) fn new(fields: &[Field], rules: &[Rule]) -> Self {
        let dimension = |&field: &Field| {
            let mut terms: Vec<_> = rules.iter().flat_map(|rule| field.terms(rule)).collect();
            terms.sort_unstable();
            terms.dedup();
            let covers: Vec<_> =
                terms.iter().enumerate().map(|(index, term)| covered(&terms, index, term)).collect();
            let wide = (0..terms.len())
                .filter(|&index| covers.get(index).is_some_and(|set| set.len() > 1))
                .collect();
            Dimension { field, terms, covers, wide }
        };
        Self { dimensions: fields.iter().map(dimension).collect() }
    }

    /// The rule as a product; none if it allows nothing.
    pub(super) fn cube(&self, rule: &Rule) -> Option<Cube> {
        let sets = self.dimensions.iter().map(|dimension| {
            let mut set = Bits::none(dimension.terms.len());
            for term in dimension.field.terms(rule) {
                let index = dimension.terms.binary_search(&term).ok()?;
                set = set.union(dimension.covers.get(index)?);
            }
            (!set.is_empty()).then_some(set)
        });
        sets.collect::<Option<_>>().map(Cube)
    }

    /// The product as a rule, by the widest terms.
    pub(super) fn rule(&self, cube: &Cube) -> Rule {
        let mut rule = Rule::default();
        for (index, dimension) in self.dimensions.iter().enumerate() {
            let terms: Vec<_> = self.widest(cube, index).map(|(term, _)| term).collect();
            dimension.field.write(&terms, &mut rule);
        }
        rule
    }

    /// How many items the lists of the product have.
    pub(super) fn items(&self, cube: &Cube) -> usize {
        (0..self.dimensions.len()).map(|index| self.widest(cube, index).count()).sum()
    }

    /// The widest terms of the product's set in one dimension, and what each of them covers.
    pub(super) fn widest<'a>(
        &'a self,
        cube: &'a Cube,
        dimension: usize,
    ) -> impl Iterator<Item = (&'a Term, &'a Bits)> {
        let parts = self.dimensions.get(dimension).zip(cube.0.get(dimension));
        parts.into_iter().flat_map(|(dimension, set)| {
            set.iter().filter_map(move |index| {
                let mut wider = dimension.wide.iter().filter(|&&wide| wide != index && set.contains(wide));
                let inside =
                    wider.any(|&wide| dimension.covers.get(wide).is_some_and(|set| set.contains(index)));
                if inside { None } else { dimension.terms.get(index).zip(dimension.covers.get(index)) }
            })
        })
    }

    pub(super) fn dimensions(&self) -> usize {
        self.dimensions.len()
    }
}

// === impl Cube ===

impl Cube {
    /// Whether all of this is in the other.
    pub(super) fn is_subset(&self, other: &Self) -> bool {
        self.0.iter().zip(&other.0).all(|(left, right)| left.is_subset(right))
    }

    /// Whether there is anything in both.
    pub(super) fn intersects(&self, other: &Self) -> bool {
        self.0.iter().zip(&other.0).all(|(left, right)| left.intersects(right))
    }

    /// In how many dimensions the two have nothing in common, and the last of these.
    pub(super) fn gaps(&self, other: &Self) -> (usize, Option<usize>) {
        let mut gaps = (0, None);
        for (index, (left, right)) in self.0.iter().zip(&other.0).enumerate() {
            if !left.intersects(right) {
                gaps = (gaps.0 + 1, Some(index));
            }
        }
        gaps
    }

    /// The widest product that is in the union of the two and crosses from one to the other in this dimension.
    pub(super) fn consensus(&self, other: &Self, dimension: usize) -> Self {
        let sets = self.0.iter().zip(&other.0).enumerate();
        Self(
            sets.map(
                |(index, (left, right))| {
                    if index == dimension { left.union(right) } else { left.intersection(right) }
                },
            )
            .collect(),
        )
    }

    /// The same with another set in this dimension.
    pub(super) fn with(&self, dimension: usize, set: &Bits) -> Self {
        let mut cube = self.clone();
        if let Some(slot) = cube.0.get_mut(dimension) {
            slot.clone_from(set);
        }
        cube
    }

    /// This without the other, as products that have nothing in common.
    pub(super) fn difference(&self, other: &Self) -> Vec<Self> {
        let mut rest = self.clone();
        let mut parts = Vec::new();
        for (index, set) in other.0.iter().enumerate() {
            let Some(own) = rest.0.get(index) else { continue };
            let (outside, inside) = (own.difference(set), own.intersection(set));
            if !outside.is_empty() {
                parts.push(rest.with(index, &outside));
            }
            rest = rest.with(index, &inside);
        }
        parts
    }
}

/// The terms that this one, which is among them, covers.
fn covered(terms: &[Term], index: usize, term: &Term) -> Bits {
    let mut set = Bits::none(terms.len());
    if matches!(term, Term::Is(_)) {
        set.insert(index);
    } else {
        terms
            .iter()
            .enumerate()
            .filter(|(_, other)| term.covers(other))
            .for_each(|(other, _)| set.insert(other));
    }
    set
}
