//! Union-find over numbers: the root of a set is its lowest number, so it does not depend on the order of unions.

/// The root of a number's set; shortens the way to it. Two sets are joined by making the higher root point to the lower.
pub(crate) fn find(root: &mut [usize], mut n: usize) -> usize {
    while root[n] != n {
        root[n] = root[root[n]];
        n = root[n];
    }
    n
}
