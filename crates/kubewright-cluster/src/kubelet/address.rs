use std::{
    collections::{BTreeMap, BTreeSet},
    net::Ipv4Addr,
};

/// The last pod of a node's range: the first addresses are the network's and its gateway's, the last one is
/// for broadcasts.
const FIRST: u32 = 2;

/// Hands out the pod IPs of one node.
#[derive(Debug)]
pub(super) struct AddressPool {
    network: u32,
    size: u32,
    next: u32,
    by_uid: BTreeMap<String, u32>,
    taken: BTreeSet<u32>,
}

impl AddressPool {
    /// A pool of the `size` addresses from `network` on.
    pub(super) fn new(network: Ipv4Addr, size: u32) -> Self {
        Self {
            network: network.to_bits(),
            size,
            next: FIRST,
            by_uid: BTreeMap::new(),
            taken: BTreeSet::new(),
        }
    }

    /// The address of the pod with `uid`: the one it `has`, the one it got before, or the next free one.
    ///
    /// Addresses are not reused before the range is through, so that a new pod is not taken for an old one.
    /// Once all are in use, they are given twice: a simulation of that many pods is no test of the network.
    pub(super) fn address(&mut self, uid: &str, has: Option<Ipv4Addr>) -> Ipv4Addr {
        let known = has.map(|address| address.to_bits().wrapping_sub(self.network));
        let offset = known.filter(|offset| *offset < self.size).or_else(|| self.by_uid.get(uid).copied());
        let offset = offset.unwrap_or_else(|| self.next_free());
        self.by_uid.insert(uid.to_owned(), offset);
        self.taken.insert(offset);
        Ipv4Addr::from_bits(self.network.wrapping_add(offset))
    }

    /// Gives back the address of a pod that is gone.
    pub(super) fn release(&mut self, uid: &str) {
        if let Some(offset) = self.by_uid.remove(uid) {
            self.taken.remove(&offset);
        }
    }

    fn next_free(&mut self) -> u32 {
        let last = self.size.saturating_sub(2);
        let start = self.next;
        loop {
            let candidate = self.next;
            self.next = if candidate >= last { FIRST } else { candidate + 1 };
            if !self.taken.contains(&candidate) || self.next == start {
                return candidate;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_distinct_and_stay() {
        let mut pool = AddressPool::new(Ipv4Addr::new(10, 244, 0, 0), 6);
        let get = |pool: &mut AddressPool, uid: &str| pool.address(uid, None).to_string();
        assert_eq!(get(&mut pool, "a"), "10.244.0.2");
        assert_eq!(get(&mut pool, "b"), "10.244.0.3");
        assert_eq!(get(&mut pool, "a"), "10.244.0.2");
        pool.release("a");
        assert_eq!(get(&mut pool, "c"), "10.244.0.4");
        assert_eq!(get(&mut pool, "d"), "10.244.0.2");
        // All are in use now.
        get(&mut pool, "e");
    }

    #[test]
    fn an_address_a_pod_has_is_not_given_to_another() {
        let mut pool = AddressPool::new(Ipv4Addr::new(10, 244, 0, 0), 256);
        pool.address("old", Some(Ipv4Addr::new(10, 244, 0, 2)));
        assert_eq!(pool.address("new", None).to_string(), "10.244.0.3");
    }
}
