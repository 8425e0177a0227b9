//! Knuth's diagram of the comparisons: a wire for each place, a bar for each comparison, in
//! characters.
//!
//! ```text
//! 7 ──●──┬───── 1     ● ends of a comparison that swaps
//! 1 ──●──┼──○── 3     ○ ends of one that does not
//! 3 ──○──┼──○── …
//! 8 ──○──┴─────       columns of one step have nothing between them, passes are numbered above
//! ```

use super::{Compared, FILLER, Layer, Played};

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

/// A column of comparisons, or another layer.
struct Part {
    pass: u64,
    /// Its characters on each wire.
    cells: Vec<String>,
    /// The elements after it.
    after: Vec<u32>,
}

/// The diagram, in pieces of at most `width` characters below each other, with the elements at both
/// ends of each piece. `labels` are the sorted elements as they are printed; with none, the wires
/// are bare. Swaps are bold in `colours`.
pub fn network(played: &Played, labels: &[String], width: usize, colours: bool) -> String {
    let widest = labels.iter().map(|label| label.chars().count()).max().unwrap_or(0);
    let room = width.saturating_sub(widest + 3).max(widest + 8);
    let label = |rank: &u32| labels.get(*rank as usize).map_or("", String::as_str);
    let begin = |ranks: &[u32]| {
        let lines = ranks.iter().map(|rank| format!("{:>widest$} ", label(rank))).collect();
        Piece { heading: String::new(), lines, width: widest + 1, pass: None }
    };
    let end = |piece: Piece, ranks: &[u32]| {
        let mut text = format!("\n{}\n", piece.heading.trim_end());
        for (line, rank) in piece.lines.iter().zip(ranks) {
            text += format!("{line} {}", label(rank)).trim_end();
            text.push('\n');
        }
        text
    };
    let mut ranks = padded(&played.input, played.wires());
    let (mut text, mut piece) = (String::new(), begin(&ranks));
    for layer in layers(played, colours) {
        // A step wider than a piece goes over several pieces.
        let mut wide = layer.iter().map(Part::width).sum();
        for part in layer {
            if piece.pass.is_some() && piece.width + 1 + wide > room {
                text += &end(piece, &ranks);
                piece = begin(&ranks);
            }
            wide = part.width();
            piece.add(&part);
            ranks = part.after;
        }
    }
    text + &end(piece, &ranks)
}

/// These elements, and padding on the remaining wires.
fn padded(ranks: &[u32], wires: usize) -> Vec<u32> {
    let mut padded = ranks.to_vec();
    padded.resize(wires, FILLER);
    padded
}

/// The parts of each layer.
fn layers(played: &Played, colours: bool) -> Vec<Vec<Part>> {
    let wires = played.wires();
    let bare = |text: &str| vec![text.to_owned(); wires];
    let mut layers = Vec::new();
    for (pass, moment) in (1..).zip(&played.moments) {
        let mut ranks = padded(&moment.before, wires);
        let part = |cells, ranks: &[u32]| Part { pass, cells, after: ranks.to_vec() };
        // A pass that compares nothing has a number, too.
        if moment.layers.is_empty() {
            layers.push(vec![part(bare("────"), &ranks)]);
        }
        for layer in &moment.layers {
            let mut parts: Vec<Part> = match layer {
                Layer::Compare(_, pairs) => {
                    let swapped = |column: Vec<Compared>| {
                        let swaps = column.iter().filter(|pair| pair.swapped);
                        swaps.for_each(|pair| ranks.swap(pair.low, pair.high));
                        part(compared(&column, wires, colours), &ranks)
                    };
                    columns(pairs).into_iter().map(swapped).collect()
                }
                Layer::Move(sources) => {
                    let from = |source: &Option<usize>| source.map_or(FILLER, |from| ranks[from]);
                    ranks = padded(&sources.iter().map(from).collect::<Vec<_>>(), wires);
                    vec![part(moved(sources, wires), &ranks)]
                }
                Layer::Count(_) => vec![part(bare("─#─"), &ranks)],
                Layer::Sum(_) => vec![part(bare("─Σ─"), &ranks)],
            };
            let last = parts.last_mut().into_iter().flat_map(|part| &mut part.cells);
            last.for_each(|cell| cell.push('─'));
            layers.push(parts);
        }
    }
    layers
}

impl Part {
    fn width(&self) -> usize {
        console::measure_text_width(&self.cells[0])
    }
}

fn compared(pairs: &[Compared], wires: usize, colours: bool) -> Vec<String> {
    let mut cells = vec!["─".to_owned(); wires];
    for pair in pairs {
        let ends = pair.low.min(pair.high)..=pair.low.max(pair.high);
        for wire in ends.clone() {
            let mark = match (wire == *ends.start() || wire == *ends.end(), pair.swapped) {
                // An arrow points up to the place of the larger element.
                (true, _) if pair.falls() && pair.high == wire => "▲",
                (true, true) => "●",
                (true, false) => "○",
                (false, _) => "┼",
            };
            let in_colour = colours && pair.swapped;
            cells[wire] = if in_colour { format!("\x1b[1;36m{mark}\x1b[0m") } else { mark.to_owned() };
        }
    }
    cells
}

/// For each wire the number of the wire that its element comes from.
fn moved(sources: &[Option<usize>], wires: usize) -> Vec<String> {
    let from = |wire| sources.get(wire).copied().flatten();
    let widest = (0..wires).filter_map(from).max().map_or(0, |from| from.to_string().len() + 2);
    let cell = |wire| match from(wire) {
        Some(from) => format!("{:widest$} ─", format!(" ◂{from}")),
        None => "─".repeat(widest + 2),
    };
    (0..wires).map(cell).collect()
}

/// A part of the diagram between elements.
struct Piece {
    /// The numbers of its passes.
    heading: String,
    lines: Vec<String>,
    width: usize,
    /// The last of its passes.
    pass: Option<u64>,
}

impl Piece {
    fn add(&mut self, part: &Part) {
        if self.pass.replace(part.pass) != Some(part.pass) {
            self.lines.iter_mut().for_each(|line| line.push('─'));
            self.width += 1;
            let used = self.heading.len();
            if self.width >= used {
                self.heading += &format!("{:1$}{2} ", "", self.width - used, part.pass);
            }
        }
        self.lines.iter_mut().zip(&part.cells).for_each(|(line, cell)| line.push_str(cell));
        self.width += part.width();
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
