//! The widest products that a set of products contains.

use super::{Limits, space::Cube};

/// All products that are contained in the union of these and in no wider such product, in no particular order; none if
/// there are more than the limits allow.
///
/// They are found as the prime implicants of a formula are, by iterated consensus. They depend only on what the union
/// is, not on how it was written; there can be exponentially many.
pub(super) fn primes(cubes: &[Cube], limits: &Limits) -> Option<Vec<Cube>> {
    let mut primes: Vec<Cube> = Vec::new();
    let mut queue = cubes.to_vec();
    let mut made = 0;
    while let Some(cube) = queue.pop() {
        if primes.iter().any(|prime| cube.is_subset(prime)) {
            continue;
        }
        primes.retain(|prime| !prime.is_subset(&cube));
        for prime in &primes {
            let crossings = match cube.gaps(prime) {
                (0, _) => 0..cube.0.len(),
                (1, Some(gap)) => gap..gap + 1,
                _ => continue,
            };
            for dimension in crossings {
                let candidate = cube.consensus(prime, dimension);
                if !candidate.is_subset(&cube) && !candidate.is_subset(prime) {
                    queue.push(candidate);
                    made += 1;
                }
            }
            if made > limits.candidates {
                return None;
            }
        }
        primes.push(cube);
        if primes.len() > limits.primes {
            return None;
        }
    }
    Some(primes)
}

/// Splits the products into groups so that the union of one group has no product in common with that of another that
/// would not be in one of the two alone.
///
/// Two products belong together if there may be a third that crosses from one to the other.
pub(super) fn components(cubes: &[Cube]) -> Vec<Vec<usize>> {
    let mut components: Vec<Vec<usize>> = Vec::new();
    for (index, cube) in cubes.iter().enumerate() {
        let touches = |component: &Vec<usize>| {
            component.iter().any(|&other| cubes.get(other).is_some_and(|other| cube.gaps(other).0 <= 1))
        };
        let (mut joined, rest): (Vec<_>, Vec<_>) = components.into_iter().partition(touches);
        components = rest;
        joined.push(vec![index]);
        let mut component = joined.concat();
        component.sort_unstable();
        components.push(component);
    }
    components
}
