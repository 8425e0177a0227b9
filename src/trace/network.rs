//! Knuth's diagram of the comparisons: a wire for each place, a bar for each comparison, in
//! characters.
//!
//! ```text
//! 7 ──●──┬───── 1     ● ends of a comparison that swaps
//! 1 ──●──┼──○── 3     ○ ends of one that does not
//! 3 ──○──┼──○── …
//! 8 ──○──┴─────       columns of one step have nothing between them, passes are numbered above
//! ```

use super::{Compared, Layer, Moment, Played};

/// Comparisons of a step, in columns without overlaps.
pub(super) fn columns(pairs: &[Compared]) -> Vec<Vec<Compared>> {
    let ends = |pair: &Compared| (pair.low.min(pair.high), pair.low.max(pair.high));
    let mut rising = pairs.to_vec();
    rising.sort_by_key(ends);
    let mut columns: Vec<Vec<Compared>> = Vec::new();
    for pair in rising {
        let is_free =
            |column: &&mut Vec<Compared>| column.last().is_none_or(|last| ends(last).1 < ends(&pair).0);
        match columns.iter_mut().find(is_free) {
            Some(column) => column.push(pair),
            None => columns.push(vec![pair]),
        }
    }
    columns
}

/// A part of the diagram as wide as a character, or a few.
struct Part {
    width: usize,
    /// Its characters on each wire.
    cells: Vec<String>,
    /// The places that it exchanges.
    swaps: Vec<(usize, usize)>,
}

/// The diagram, in pieces of at most `width` characters below each other, with the elements at both
/// ends of each piece. `labels` are the sorted elements as they are printed; with none, the wires
/// are bare. Swaps are bold in `colours`.
pub fn network(played: &Played, labels: &[String], width: usize, colours: bool) -> String {
    let wires = played.moments.iter().map(|moment| moment.before.len().max(moment.after.len())).max();
    let wires = wires.unwrap_or(played.input.len());
    let label = |rank: u32| labels.get(rank as usize).map_or("", String::as_str);
    let widest = labels.iter().map(|label| label.chars().count()).max().unwrap_or(0);
    let room = width.saturating_sub(2 * widest + 4).max(8);

    // Each piece begins with elements, has parts, and the number of the pass that each part begins,
    // if any.
    let mut text = String::new();
    let mut piece = Piece::new(&played.input, wires);
    for (number, moment) in (1..).zip(&played.moments) {
        let mut ranks = moment.before.clone();
        ranks.resize(wires, u32::MAX);
        for (layer, mut parts) in parts(moment, wires, colours).into_iter().enumerate() {
            if layer == 0 {
                piece.begin(number);
            }
            parts.push(Part::bare("─", wires));
            let whole = width_of(&parts);
            for (place, part) in parts.into_iter().enumerate() {
                // A step wider than a piece goes over several pieces.
                let wide = if place == 0 { whole } else { part.width };
                if width_of(&piece.parts) + wide > room && piece.has_parts() {
                    text += &piece.draw(&ranks, &label, widest);
                    piece = Piece::new(&ranks, wires);
                    piece.begin(number);
                }
                part.swaps.iter().for_each(|&(low, high)| ranks.swap(low, high));
                piece.parts.push(part);
            }
            if let Some(Layer::Move(sources)) = moment.layers.get(layer) {
                let from = |source: &Option<usize>| source.map_or(u32::MAX, |from| moment.before[from]);
                ranks = sources.iter().map(from).collect();
                ranks.resize(wires, u32::MAX);
            }
        }
    }
    text + &piece.draw(played.last(), &label, widest)
}

/// The parts of each layer.
fn parts(moment: &Moment, wires: usize, colours: bool) -> Vec<Vec<Part>> {
    let of_layer = |layer: &Layer| match layer {
        Layer::Compare(_, pairs) => {
            columns(pairs).iter().map(|column| Part::compared(column, wires, colours)).collect()
        }
        Layer::Move(sources) => vec![Part::moved(sources, wires)],
        Layer::Count(_) => vec![Part::bare("─#─", wires)],
        Layer::Sum(_) => vec![Part::bare("─Σ─", wires)],
    };
    // A pass that compares nothing has a number, too.
    if moment.layers.is_empty() {
        return vec![vec![Part::bare("───", wires)]];
    }
    moment.layers.iter().map(of_layer).collect()
}

impl Part {
    /// The same characters on all wires.
    fn bare(text: &str, wires: usize) -> Self {
        Self { width: text.chars().count(), cells: vec![text.to_owned(); wires], swaps: Vec::new() }
    }

    fn compared(pairs: &[Compared], wires: usize, colours: bool) -> Self {
        let mut part = Self::bare("─", wires);
        for pair in pairs {
            let ends = pair.low.min(pair.high)..=pair.low.max(pair.high);
            for wire in ends.clone() {
                let mark = match (wire == *ends.start() || wire == *ends.end(), pair.swapped) {
                    // An arrow points up where the larger element goes up.
                    (true, _) if pair.falls() && pair.high == wire => "▲",
                    (true, true) => "●",
                    (true, false) => "○",
                    (false, _) => "┼",
                };
                let in_colour = colours && pair.swapped;
                part.cells[wire] =
                    if in_colour { format!("\x1b[1;36m{mark}\x1b[0m") } else { mark.to_owned() };
            }
        }
        part.swaps.extend(pairs.iter().filter(|pair| pair.swapped).map(|pair| (pair.low, pair.high)));
        part
    }

    /// For each wire the number of the wire that its element comes from.
    fn moved(sources: &[Option<usize>], wires: usize) -> Self {
        let from = |wire| sources.get(wire).copied().flatten();
        let widest = (0..wires).filter_map(from).max().map_or(0, |from| from.to_string().len() + 2);
        let width = widest + 2;
        let cell = |wire| match from(wire) {
            Some(from) => format!("{:widest$} ─", format!(" ◂{from}")),
            None => "─".repeat(width),
        };
        Self { width, cells: (0..wires).map(cell).collect(), swaps: Vec::new() }
    }
}

fn width_of(parts: &[Part]) -> usize {
    parts.iter().map(|part| part.width).sum()
}

/// A part of the diagram between elements.
struct Piece {
    begin: Vec<u32>,
    wires: usize,
    parts: Vec<Part>,
    /// Passes, and how many parts are before each.
    passes: Vec<(u64, usize)>,
}

impl Piece {
    fn new(ranks: &[u32], wires: usize) -> Self {
        let mut begin = ranks.to_vec();
        begin.resize(wires, u32::MAX);
        Self { begin, wires, parts: vec![Part::bare("─", wires)], passes: Vec::new() }
    }

    fn begin(&mut self, pass: u64) {
        if self.passes.last().is_none_or(|(last, _)| *last != pass) {
            if self.has_parts() {
                self.parts.push(Part::bare("─", self.wires));
            }
            self.passes.push((pass, self.parts.len()));
        }
    }

    fn has_parts(&self) -> bool {
        self.parts.len() > 1
    }

    fn draw<'a>(&self, end: &[u32], label: &impl Fn(u32) -> &'a str, widest: usize) -> String {
        let mut heading = String::new();
        for &(pass, before) in &self.passes {
            let place = widest + 1 + width_of(&self.parts[..before]);
            let used = heading.chars().count();
            if place >= used {
                heading += &" ".repeat(place - used);
                heading += &format!("{pass} ");
            }
        }
        let mut text = format!("\n{}\n", heading.trim_end());
        for wire in 0..self.wires {
            let [begin, end] = [&self.begin[..], end]
                .map(|ranks| label(ranks.get(wire).copied().unwrap_or(u32::MAX)).to_owned());
            let gap = " ".repeat(widest - begin.chars().count());
            let parts: String = self.parts.iter().map(|part| &*part.cells[wire]).collect();
            text += format!("{gap}{begin} {parts} {end}").trim_end();
            text.push('\n');
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_comparisons_of_a_column_lie_one_over_another() {
        let pair = |low, high| Compared { low, high, swapped: false };
        let mirrored = columns(&[pair(0, 3), pair(1, 2), pair(4, 7), pair(5, 6)]);
        assert_eq!(mirrored, [[pair(0, 3), pair(4, 7)], [pair(1, 2), pair(5, 6)]]);
        let strides = columns(&[pair(0, 2), pair(1, 3), pair(6, 4), pair(7, 5)]);
        assert_eq!(strides, [[pair(0, 2), pair(6, 4)], [pair(1, 3), pair(7, 5)]]);
        assert_eq!(columns(&[pair(0, 1), pair(2, 3), pair(4, 5)]).len(), 1);
    }
}
