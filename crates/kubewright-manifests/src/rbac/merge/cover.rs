//! The fewest of some products whose union is that of all.

use std::collections::BTreeSet;

use super::{
    Limits,
    bits::Bits,
    space::{Cube, Space},
};

/// Whether the union of the others contains the product. When this becomes too complicated to tell, the answer is no.
pub(super) fn is_covered<'a>(
    cube: &Cube,
    others: impl IntoIterator<Item = &'a Cube>,
    limits: &Limits,
) -> bool {
    let mut parts = vec![cube.clone()];
    for other in others {
        if !other.intersects(cube) {
            continue;
        }
        parts = parts
            .into_iter()
            .flat_map(|part| if part.intersects(other) { part.difference(other) } else { vec![part] })
            .collect();
        if parts.is_empty() {
            return true;
        }
        if parts.len() > limits.parts {
            return false;
        }
    }
    false
}

/// The fewest of the products, and among equally few those with the shortest lists, whose union is that of all of them;
/// none if that becomes too complicated.
///
/// The products are all widest ones, in an order that depends only on what they are.
pub(super) fn fewest(space: &Space, primes: &[Cube], limits: &Limits) -> Option<Vec<usize>> {
    let demands = demands(primes, limits)?;
    let mut chosen = BTreeSet::new();
    // What only one product contains, needs that one.
    for demand in &demands {
        if demand.len() == 1 {
            chosen.extend(demand.iter());
        }
    }
    let open: Vec<_> =
        demands.into_iter().filter(|demand| !chosen.iter().any(|&prime| demand.contains(prime))).collect();
    let mut search = Search {
        costs: primes.iter().map(|prime| space.items(prime)).collect(),
        best: None,
        steps: limits.steps,
    };
    search.descend(&mut Vec::new(), 0, &open);
    chosen.extend(search.best.into_iter().flat_map(|best| best.chosen));
    Some(chosen.into_iter().collect())
}

/// What must be covered: for every place in the union the set of the products that contain it, without those sets that
/// contain another one.
fn demands(primes: &[Cube], limits: &Limits) -> Option<Vec<Bits>> {
    let mut all = Bits::none(primes.len());
    (0..primes.len()).for_each(|prime| all.insert(prime));
    let mut demands = BTreeSet::from([all]);
    let dimensions = primes.first().map_or(0, |prime| prime.0.len());
    for dimension in 0..dimensions {
        let sets: Vec<_> = primes.iter().filter_map(|prime| prime.0.get(dimension)).collect();
        let mut members: BTreeSet<Bits> = BTreeSet::new();
        let places: BTreeSet<usize> = sets.iter().flat_map(|set| set.iter()).collect();
        for place in places {
            let mut member = Bits::none(primes.len());
            sets.iter()
                .enumerate()
                .filter(|(_, set)| set.contains(place))
                .for_each(|(prime, _)| member.insert(prime));
            members.insert(member);
        }
        if demands.len().saturating_mul(members.len()) > limits.places {
            return None;
        }
        demands = demands
            .iter()
            .flat_map(|demand| members.iter().map(|member| demand.intersection(member)))
            .filter(|demand| !demand.is_empty())
            .collect();
    }
    let mut demands: Vec<_> = demands.into_iter().collect();
    demands.sort_by_key(Bits::len);
    let mut least: Vec<Bits> = Vec::new();
    for demand in demands {
        if !least.iter().any(|smaller| smaller.is_subset(&demand)) {
            least.push(demand);
        }
        if least.len() > limits.demands {
            return None;
        }
    }
    Some(least)
}

/// A search that branches on who meets the demand that the fewest can meet, and gives up branches that cannot be better.
struct Search {
    costs: Vec<usize>,
    best: Option<Best>,
    /// How many steps are left. The first way down is gone to its end in any case.
    steps: usize,
}

struct Best {
    chosen: Vec<usize>,
    cost: usize,
}

// === impl Search ===

impl Search {
    fn descend(&mut self, chosen: &mut Vec<usize>, cost: usize, open: &[Bits]) {
        let Some(demand) = open.iter().min_by_key(|demand| demand.len()) else {
            if self.best.as_ref().is_none_or(|best| (chosen.len(), cost) < (best.chosen.len(), best.cost)) {
                self.best = Some(Best { chosen: chosen.clone(), cost });
            }
            return;
        };
        if let Some(best) = &self.best {
            let needed = independent(open);
            if self.steps == 0 || (chosen.len() + needed, cost + needed) >= (best.chosen.len(), best.cost) {
                return;
            }
            self.steps -= 1;
        }
        let mut branches: Vec<_> = demand
            .iter()
            .map(|prime| {
                let left = open.iter().filter(|demand| !demand.contains(prime)).count();
                (left, self.costs.get(prime).copied().unwrap_or_default(), prime)
            })
            .collect();
        branches.sort_unstable();
        for (_, price, prime) in branches {
            let rest: Vec<_> = open.iter().filter(|demand| !demand.contains(prime)).cloned().collect();
            chosen.push(prime);
            self.descend(chosen, cost + price, &rest);
            chosen.pop();
        }
    }
}

/// A number of demands of which no two can be met by one product: at least so many products are needed.
fn independent(open: &[Bits]) -> usize {
    let mut met: Option<Bits> = None;
    let mut count = 0;
    for demand in open {
        if met.as_ref().is_none_or(|met| !met.intersects(demand)) {
            met = Some(met.map_or_else(|| demand.clone(), |met| met.union(demand)));
            count += 1;
        }
    }
    count
}

/// Takes from the products what others of them contain, as far as the lists get shorter by it: first whole products,
/// then items of the lists, dimension by dimension.
pub(super) fn narrow(space: &Space, cubes: &mut Vec<Cube>, limits: &Limits) {
    let mut index = 0;
    while let Some(cube) = cubes.get(index) {
        if is_covered(cube, others(cubes, index), limits) {
            cubes.remove(index);
        } else {
            index += 1;
        }
    }
    for dimension in 0..space.dimensions() {
        for index in 0..cubes.len() {
            let Some(cube) = cubes.get(index).cloned() else { continue };
            let mut narrowed = cube.clone();
            for (_, part) in space.widest(&cube, dimension) {
                let rest = narrowed.0.get(dimension).map(|set| set.difference(part));
                let Some(rest) = rest.filter(|rest| !rest.is_empty()) else { continue };
                if is_covered(&narrowed.with(dimension, part), others(cubes, index), limits) {
                    narrowed = narrowed.with(dimension, &rest);
                }
            }
            if let Some(slot) = cubes.get_mut(index) {
                *slot = narrowed;
            }
        }
    }
}

fn others(cubes: &[Cube], index: usize) -> impl Iterator<Item = &Cube> {
    cubes.iter().enumerate().filter(move |(other, _)| *other != index).map(|(_, cube)| cube)
}
