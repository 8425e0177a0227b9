//! Work on all cores, where there is enough of it: few elements are done sooner than other threads are woken.

use rayon::prelude::*;

/// Fewer elements than this are one core's.
const FEW: usize = 1 << 14;

/// What becomes of each element, in order.
pub(crate) fn map<T: Sync, R: Send>(items: &[T], map: impl Fn(&T) -> R + Sync + Send) -> Vec<R> {
    if items.len() < FEW { items.iter().map(map).collect() } else { items.par_iter().map(map).collect() }
}

/// What becomes of each of some parts that are large, in order.
pub(crate) fn map_parts<T: Send, R: Send>(parts: Vec<T>, map: impl Fn(T) -> R + Sync + Send) -> Vec<R> {
    if parts.len() < 2 {
        parts.into_iter().map(map).collect()
    } else {
        parts.into_par_iter().map(map).collect()
    }
}
