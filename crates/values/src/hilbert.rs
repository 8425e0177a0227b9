//! The places of points on a Hilbert curve: points that are near on the curve are near in the plane.
//!
//! Two numbers become whole coordinates by a fixed function, so that sorted inputs of any range merge. Each level of
//! the curve turns a bit of both coordinates into two bits of the place; the quadrant decides how the curve turns
//! within (Hilbert, *Über die stetige Abbildung einer Linie auf ein Flächenstück*, 1891). Tables of states with
//! several levels at a time: Lawder, *Calculation of Mappings Between One and n-dimensional Values Using the Hilbert
//! Space-filling Curve*, 2000.

/// The number of levels in an entry of the table.
const LEVELS: u32 = 4;

/// The bits of the place for some levels, then the state behind them, by state and coordinates.
static TABLE: [u16; 1 << (2 + 2 * LEVELS)] = {
    let mut table = [0; 1 << (2 + 2 * LEVELS)];
    let mut at = 0;
    while at < table.len() {
        let (place, state) = along(at >> (2 * LEVELS), (at >> LEVELS) as u64, at as u64, LEVELS);
        table[at] = (place << 2) as u16 | state as u16;
        at += 1;
    }
    table
};

/// Returns the place of a point by the lowest `levels` bits of its coordinates, and the state behind these levels. Bit
/// 0 of a state swaps the coordinates, bit 1 inverts both.
const fn along(mut state: usize, x: u64, y: u64, levels: u32) -> (u64, usize) {
    let (mut place, mut level) = (0, levels);
    while level > 0 {
        level -= 1;
        let inverted = state as u64 >> 1;
        let [x, y] = [(x >> level & 1) ^ inverted, (y >> level & 1) ^ inverted];
        let [x, y] = if state & 1 == 1 { [y, x] } else { [x, y] };
        // The curve passes the quadrants (0, 0), (0, 1), (1, 1), (1, 0), and turns in the first and in the last.
        place = place << 2 | x << 1 | (x ^ y);
        state ^= ((1 - y) | (x & (1 - y)) << 1) as usize;
    }
    (place, state)
}

/// Returns the coordinate of a number, below 2^62. Each binade from 256 on has 2^51 steps; 0 to 256 has as many, on a
/// linear scale, for degrees.
fn coordinate(number: f64) -> u64 {
    const LINEAR: f64 = 256.0;
    const STEPS: u64 = 1 << 51;
    const ZERO: u64 = 1 << 61;
    let size = number.abs();
    let steps = if size < LINEAR {
        (size * (STEPS as f64 / LINEAR)) as u64
    } else {
        (size.to_bits() - LINEAR.to_bits()) / 2 + STEPS
    };
    if number < 0.0 { ZERO - steps } else { ZERO + steps }
}

/// Returns two numbers that compare, the first one first, as the places of points on the curve do. The coordinates
/// are not NaN.
pub fn place(point: [f64; 2]) -> [f64; 2] {
    /// The bits of the place in each number, which make a positive float.
    const HALF: u32 = 62;
    let [x, y] = point.map(coordinate);
    let (mut place, mut state) = (0_u128, 0);
    for level in (0..u64::BITS).step_by(LEVELS as usize).rev() {
        let [x, y] = [x, y].map(|coordinate| (coordinate >> level) as usize % (1 << LEVELS));
        let entry = TABLE[state << (2 * LEVELS) | x << LEVELS | y];
        place = place << (2 * LEVELS) | u128::from(entry >> 2);
        state = usize::from(entry) % 4;
    }
    [(place >> HALF) as u64, place as u64 % (1 << HALF)].map(f64::from_bits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_curve_passes_each_cell_once_and_only_neighbours_follow() {
        for levels in 1..=8 {
            let side = 1_u64 << levels;
            let mut cells = vec![None; (side * side) as usize];
            for x in 0..side {
                for y in 0..side {
                    let cell = &mut cells[along(0, x, y, levels).0 as usize];
                    assert_eq!(cell.replace([x, y]), None, "{levels} levels: {x}, {y}");
                }
            }
            let cells: Vec<[u64; 2]> = cells.into_iter().flatten().collect();
            let apart = |pair: &[[u64; 2]]| pair[0][0].abs_diff(pair[1][0]) + pair[0][1].abs_diff(pair[1][1]);
            assert_eq!(cells.len() as u64, side * side);
            assert!(cells.windows(2).all(|pair| apart(pair) == 1), "{levels} levels");
        }
    }

    #[test]
    fn the_table_has_the_places_of_single_levels() {
        let numbers = [f64::NEG_INFINITY, -1e300, -256.0, -0.1, 0.0, 1e-300, 51.5, 255.9, 1e9, f64::INFINITY];
        for x in numbers {
            for y in numbers {
                let [a, b] = [x, y].map(coordinate);
                let levels = |shift: u32, state| along(state, a >> shift, b >> shift, 32);
                let (high, state) = levels(32, 0);
                let place = u128::from(high) << 64 | u128::from(levels(0, state).0);
                let [high, low] = self::place([x, y]).map(|half| u128::from(half.to_bits()));
                assert_eq!(high << 62 | low, place, "{x}, {y}");
            }
        }
    }

    #[test]
    fn coordinates_grow_with_the_numbers() {
        let sizes =
            [0.0, 1e-12, 1.0, 255.999, 256.0, 256.1, 1e3, 9_007_199_254_740_990.0, 1e300, f64::INFINITY];
        let numbers: Vec<f64> =
            sizes.iter().rev().map(|size| -size).chain(sizes[1..].iter().copied()).collect();
        assert!(numbers.windows(2).all(|pair| coordinate(pair[0]) < coordinate(pair[1])));
        assert!(numbers.iter().all(|&number| coordinate(number) < 1 << 62));
        assert_eq!(coordinate(-0.0), coordinate(0.0));
    }
}
