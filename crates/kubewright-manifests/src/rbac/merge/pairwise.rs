//! What is done with rules that are too entangled to find the fewest.

use std::collections::BTreeMap;

use super::{Limits, bits::Bits, cover, space::Cube};

/// Joins products that differ in one dimension only and drops those that others contain, until there is nothing more of
/// this to do.
pub(super) fn join(cubes: &mut Vec<Cube>, limits: &Limits) {
    loop {
        let before = cubes.len();
        cubes.sort_unstable();
        cubes.dedup();
        for dimension in 0..cubes.first().map_or(0, |cube| cube.0.len()) {
            let mut joined: BTreeMap<Cube, Bits> = BTreeMap::new();
            for cube in cubes.drain(..) {
                let Some(set) = cube.0.get(dimension).cloned() else { continue };
                let others = cube.with(dimension, &set.difference(&set));
                joined.entry(others).and_modify(|joined| *joined = joined.union(&set)).or_insert(set);
            }
            cubes.extend(joined.into_iter().map(|(cube, set)| cube.with(dimension, &set)));
        }
        let mut index = 0;
        while let Some(cube) = cubes.get(index) {
            let mut others =
                cubes.iter().enumerate().filter(|(other, _)| *other != index).map(|(_, other)| other);
            let redundant = others.clone().any(|other| cube.is_subset(other))
                || cover::is_covered(cube, &mut others, limits);
            if redundant {
                cubes.remove(index);
            } else {
                index += 1;
            }
        }
        if cubes.len() == before {
            return;
        }
    }
}
