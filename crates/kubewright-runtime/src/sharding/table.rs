use super::ShardBy;
use crate::Request;

/// Who shares the work: one version of the table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    epoch: u32,
    /// Sorted, each once.
    members: Vec<String>,
}

impl Table {
    /// The table with this number and these members.
    #[must_use]
    pub fn new(epoch: u32, members: impl IntoIterator<Item = String>) -> Self {
        let mut members: Vec<_> = members.into_iter().collect();
        members.sort_unstable();
        members.dedup();
        Self { epoch, members }
    }

    /// Its number. Later tables have greater ones.
    #[must_use]
    pub fn epoch(&self) -> u32 {
        self.epoch
    }

    /// The members, sorted.
    #[must_use]
    pub fn members(&self) -> &[String] {
        &self.members
    }

    /// The member to whom a request belongs; `None` if there is no member.
    ///
    /// By rendezvous hashing: each member draws a number for each key, the greatest wins. So keys are spread evenly, and
    /// move only to a member that comes or from one that goes.
    ///
    /// ```
    /// use kubewright_runtime::{Request, sharding::{ShardBy, Table}};
    ///
    /// let request = Request::namespaced("shop", "cart");
    /// let two = Table::new(1, ["a".to_owned(), "b".to_owned()]);
    /// let owner = two.owner(&request, ShardBy::Object).expect("there are members");
    /// let one = Table::new(2, [owner.to_owned()]);
    /// assert_eq!(one.owner(&request, ShardBy::Object), Some(owner));
    /// ```
    #[must_use]
    pub fn owner(&self, request: &Request, by: ShardBy) -> Option<&str> {
        let parts = match by {
            ShardBy::Namespace if !request.namespace().is_empty() => [request.namespace(), ""],
            ShardBy::Namespace => [&request.name, ""],
            ShardBy::None | ShardBy::Object => [request.namespace(), &request.name],
        };
        // Of equal numbers that of the first name, so that all replicas say the same.
        self.members.iter().rev().max_by_key(|member| weight(member, parts)).map(String::as_str)
    }
}

/// A number that is the same in every process and every version: replicas of two versions run side by side during an
/// upgrade. FNV-1a, with the bits mixed at the end as in SplitMix64.
fn weight(member: &str, key: [&str; 2]) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    let bytes = member.bytes().chain([0]).chain(key[0].bytes()).chain([0]).chain(key[1].bytes());
    for byte in bytes {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }
    hash = (hash ^ (hash >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    hash = (hash ^ (hash >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    hash ^ (hash >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(members: &[&str]) -> Table {
        Table::new(1, members.iter().map(ToString::to_string))
    }

    fn requests() -> Vec<Request> {
        (0..9000).map(|n| Request::namespaced(format!("space-{}", n % 300), format!("object-{n}"))).collect()
    }

    #[test]
    fn keys_are_spread_evenly_and_few_move() {
        let (two, three) = (table(&["a", "b"]), table(&["c", "b", "a"]));
        let (mut of_c, mut moved) = (0, 0);
        for request in requests() {
            let (before, after) =
                (two.owner(&request, ShardBy::Object), three.owner(&request, ShardBy::Object));
            of_c += usize::from(after == Some("c"));
            moved += usize::from(before != after);
            assert!(before == after || after == Some("c"), "{request} moved between those that stay");
        }
        assert_eq!(of_c, moved);
        assert!((2800..3200).contains(&of_c), "{of_c}");
    }

    #[test]
    fn a_namespace_stays_together() {
        let three = table(&["a", "b", "c"]);
        for request in requests() {
            let namespace = Request::cluster(request.namespace());
            assert_eq!(
                three.owner(&request, ShardBy::Namespace),
                three.owner(&namespace, ShardBy::Namespace),
                "the Namespace object goes with what is in it"
            );
        }
        assert_eq!(table(&[]).owner(&Request::cluster("x"), ShardBy::Object), None);
    }

    #[test]
    fn the_hash_does_not_change() {
        assert_eq!(weight("a", ["shop", "cart"]), 0xaec8_fe62_38fe_d968);
    }
}
