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

/// The size from which on one contender is faster than another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Crossover {
    /// Faster at every measured size.
    Always,
    /// Not faster at the largest measured size.
    Never,
    /// Faster from a size between two measured ones.
    Between {
        /// The size at which lines through the times of both, on logarithmic scales, intersect.
        about: f64,
        /// The time at the intersection.
        time: f64,
    },
}

/// The size from which on the first time is smaller; `points` are size, first and second time, with
/// sizes ascending. `None` without points.
pub fn crossover(points: &[(usize, f64, f64)]) -> Option<Crossover> {
    let last = points.len().checked_sub(1)?;
    let excess = |&(_, first, second): &(usize, f64, f64)| (first / second).ln();
    Some(match points.iter().rposition(|&(_, first, second)| first >= second) {
        None => Crossover::Always,
        Some(below) if below == last => Crossover::Never,
        Some(below) => {
            let (a, b) = (&points[below], &points[below + 1]);
            let part = excess(a) / (excess(a) - excess(b));
            // Of times too short for a clock there is no ratio.
            let part = if part.is_finite() { part } else { 1.0 };
            let between = |a: f64, b: f64| (a.ln() + part * (b.ln() - a.ln())).exp();
            Crossover::Between { about: between(a.0 as f64, b.0 as f64), time: between(a.1, b.1) }
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
        let Some(Crossover::Between { about, time }) = found else { panic!("{found:?}") };
        assert!((about - 8.0).abs() < 1e-9 && (time - 8.0).abs() < 1e-9, "{about} {time}");
        // Faster, slower and faster again: only the last change counts.
        let found = crossover(&[(1, 1.0, 2.0), (2, 4.0, 2.0), (4, 1.0, 2.0)]);
        assert!(
            matches!(found, Some(Crossover::Between { about, .. }) if 2.0 < about && about < 4.0),
            "{found:?}"
        );
        // Times too short for a clock are no reason to divide by them.
        let found = crossover(&[(4, 0.0, 0.0), (16, 1.0, 2.0)]);
        let Some(Crossover::Between { about, .. }) = found else { panic!("{found:?}") };
        assert!((about - 16.0).abs() < 1e-9, "{about}");
    }
}
