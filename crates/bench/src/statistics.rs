//! Statistics over measured times.

/// The median: the middle value, or the mean of the two in the middle.
///
/// # Panics
///
/// Without values.
pub fn median(values: &[f64]) -> f64 {
    let mut rising = values.to_vec();
    rising.sort_by(f64::total_cmp);
    let middle = rising.len() / 2;
    if rising.len() % 2 == 1 { rising[middle] } else { f64::midpoint(rising[middle - 1], rising[middle]) }
}

/// The size above which one contender stays faster than another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Crossover {
    /// Faster at every measured size.
    Always,
    /// Not faster at the largest measured size.
    Never,
    /// Faster from a size between two measured ones.
    ///
    /// At this size lines through the times of both, on logarithmic scales, intersect.
    From(f64),
}

/// The size above which the first time stays the smaller one; `points` are size, first and second time,
/// with sizes ascending. `None` without points.
pub fn crossover(points: &[(usize, f64, f64)]) -> Option<Crossover> {
    let last = points.len().checked_sub(1)?;
    let excess = |&(_, first, second): &(usize, f64, f64)| (first / second).ln();
    Some(match points.iter().rposition(|&(_, first, second)| first >= second) {
        None => Crossover::Always,
        Some(below) if below == last => Crossover::Never,
        Some(below) => {
            let (a, b) = (&points[below], &points[below + 1]);
            let part = excess(a) / (excess(a) - excess(b));
            // Times too short for a clock have no ratio.
            let part = if part.is_finite() { part } else { 1.0 };
            let [from, to] = [a, b].map(|(size, ..)| (*size as f64).ln());
            Crossover::From((from + part * (to - from)).exp())
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians() {
        for (values, expected) in [(&[3.0][..], 3.0), (&[3.0, 1.0, 2.0], 2.0), (&[4.0, 1.0, 2.0, 3.0], 2.5)] {
            assert!((median(values) - expected).abs() < 1e-12, "{values:?}");
        }
    }

    #[test]
    fn crossovers() {
        assert_eq!(crossover(&[]), None);
        assert_eq!(crossover(&[(1, 1.0, 2.0), (2, 2.0, 3.0)]), Some(Crossover::Always));
        assert_eq!(crossover(&[(1, 1.0, 2.0), (2, 3.0, 3.0)]), Some(Crossover::Never));
        // A constant time of 8 meets a time equal to the size.
        let found = crossover(&[(1, 8.0, 1.0), (4, 8.0, 4.0), (16, 8.0, 16.0), (64, 8.0, 64.0)]);
        let Some(Crossover::From(size)) = found else { panic!("{found:?}") };
        assert!((size - 8.0).abs() < 1e-9, "{size}");
        // Faster, slower and faster again: only the last change counts.
        let found = crossover(&[(1, 1.0, 2.0), (2, 4.0, 2.0), (4, 1.0, 2.0)]);
        assert!(matches!(found, Some(Crossover::From(size)) if 2.0 < size && size < 4.0), "{found:?}");
        // Times too short for a clock are no reason to divide by them.
        let found = crossover(&[(4, 0.0, 0.0), (16, 1.0, 2.0)]);
        let Some(Crossover::From(size)) = found else { panic!("{found:?}") };
        assert!((size - 16.0).abs() < 1e-9, "{size}");
    }
}
