//! The heat map: a row for every pass, with what it does on the left and what it costs on the right.

use std::collections::BTreeMap;
use std::fmt::{Display, Write};

use super::colours;
use super::motion::Motion;
use super::svg::{Px, Svg};
use super::{CHARACTER, Panel, cut};
use crate::human::{bytes, grouped, time};
use crate::trace::heat::{LEVELS, Row, Shade, Strip};
use crate::trace::list::percent;
use crate::trace::{FEW, Pass};

/// Pixels of a row, where there is room for words beside each, and of what elements pass on their way.
const ROW: f64 = 17.0;
const WAY: f64 = 22.0;

/// Pixels of all rows, where there are many.
const MANY: f64 = 560.0;

/// The least distance between lines of text.
const LINE: f64 = 12.5;

/// A column of words: where it is, and what it says of a pass.
struct Column {
    heading: &'static str,
    x: f64,
    /// Whether it ends there.
    ends: bool,
    cell: fn(&Pass) -> String,
}

/// Draws it from this height on; returns where it ends.
pub(super) fn draw(panel: &Panel, width: f64, top: f64, svg: &mut Svg, motion: Option<&mut Motion>) -> f64 {
    let (trace, played, _) = panel;
    let heat = &played.heat;
    if heat.columns() == 0 {
        return top;
    }
    let has_times = trace.measured.is_some();
    let is_wide = width >= 640.0;
    // From the left: the number, what is done, the map; from the right what it costs.
    let mut columns =
        vec![Column { heading: "pass", x: 26.0, ends: true, cell: |pass| grouped(pass.number) }];
    let words_at = 34.0;
    let words_width = if is_wide { 250.0 } else { 0.0 };
    let left = words_at + words_width;
    let mut right = width;
    let mut last = |heading, wide: f64, cell| {
        columns.push(Column { heading, x: right, ends: true, cell });
        right -= wide;
    };
    if has_times {
        if is_wide {
            last("of copy", 56.0, |pass| pass.part_of_copy.map(percent).unwrap_or_default());
        }
        last("time", 58.0, |pass| pass.ms.map(time).unwrap_or_default());
    }
    last("moved", 66.0, |pass| bytes(pass.bytes_moved));
    if is_wide {
        last("workgroups", 66.0, |pass| grouped(pass.workgroups));
        let cell = |pass: &Pass| pass.what.clone();
        columns.push(Column { heading: "what it does", x: words_at, ends: false, cell });
    }
    let right = right - 4.0;

    let rows = &heat.rows;
    let lines = rows.iter().map(|row| if has_lines(row) { WAY } else { 0.0 }).sum::<f64>();
    let each = if rows.len() as f64 * ROW <= MANY { ROW } else { (MANY - lines) / rows.len() as f64 };
    // In whole pixels, so that rows are equal.
    let each = each.floor().max(3.0);
    let heading = top + 9.0;
    let rank = "rank by position";
    let place = |x: f64, y: f64, class: &'static str| (class, x, y);
    let words = |svg: &mut Svg, (class, x, y): (&str, f64, f64), words: &str| {
        let at: [(&str, &dyn Display); 3] = [("class", &class), ("x", &Px(x)), ("y", &Px(y))];
        svg.words("text", &at, words);
    };
    for column in &columns {
        words(svg, place(column.x, heading, if column.ends { "q r" } else { "q" }), column.heading);
    }
    words(svg, place(f64::midpoint(left, right), heading, "q m"), rank);

    // Where each row is, and what it has in words.
    let mut y = top + 15.0;
    let begin = y;
    let mut spoken = f64::NEG_INFINITY;
    let mut passes = trace.passes();
    let mut ends = Vec::new();
    let mut cells: BTreeMap<Shade, String> = BTreeMap::new();
    let (mut curves, mut sums) = (String::new(), String::new());
    let mut moved: BTreeMap<Shade, String> = BTreeMap::new();
    let unit = (right - left) / heat.columns() as f64;
    for row in rows {
        let way = if has_lines(row) { WAY } else { 0.0 };
        let middle = y + way + each / 2.0;
        let pass = row.after.checked_sub(1).and_then(|_| passes.find(|pass| pass.number == row.after));
        if middle - spoken >= LINE {
            let base = middle + 3.9;
            match &pass {
                None => {
                    words(svg, place(if is_wide { words_at } else { 0.0 }, base, "q"), "input");
                }
                Some(pass) => {
                    for column in &columns {
                        let text = (column.cell)(pass);
                        let most = if column.ends { 20 } else { (words_width / CHARACTER) as usize };
                        let class = if column.ends { "r n" } else { "" };
                        words(svg, place(column.x, base, class), &cut(&text, most));
                    }
                }
            }
            spoken = middle;
        }
        match &row.strip {
            Strip::Ranks { cells: shades, lines } => {
                for &(from, to, shade) in lines {
                    let [from, to] = [from, to].map(|part| left + part * (right - left));
                    let (above, below) = (y + 0.5, y + way - 0.5);
                    let (mid, path) = (f64::midpoint(above, below), moved.entry(shade).or_default());
                    let _ = write!(
                        path,
                        "M{} {}C{} {} {} {} {} {}",
                        Px(from),
                        Px(above),
                        Px(from),
                        Px(mid),
                        Px(to),
                        Px(mid),
                        Px(to),
                        Px(below)
                    );
                }
                add_runs(&mut cells, shades, y + way - begin, each);
            }
            Strip::Sums(shares) => {
                let wide = (right - left) / shares.len().max(1) as f64;
                let tall = (each - 4.0).max(1.0);
                for (place, share) in shares.iter().enumerate() {
                    let y = y + each - 2.0 - tall * share;
                    let begin = if place == 0 { format!("M{}", Px(left)) } else { "V".to_owned() };
                    let gap = if place == 0 { " " } else { "" };
                    let _ = write!(sums, "{begin}{gap}{}h{}", Px(y), Px(wide));
                }
            }
            Strip::Counts(shares) => {
                let wide = (right - left) / shares.len().max(1) as f64;
                let tall = (each - 3.0).max(1.0);
                let is_counted = shares.iter().enumerate().filter(|(_, share)| **share > 0.0);
                for (bar, share) in is_counted {
                    let height = (tall * share).max(0.8);
                    let x = left + bar as f64 * wide;
                    let _ = write!(
                        curves,
                        "M{} {}v{}h{}v{}z",
                        Px(x + 0.2 * wide),
                        Px(y + each - 1.0),
                        Px(-height),
                        Px(0.6 * wide),
                        Px(height)
                    );
                }
            }
        }
        y += way + each;
        ends.push(y);
    }
    // Cells are in units of a column, and as many pixels down: that keeps their paths short.
    let fine = format!("translate({} {}) scale({:.4} 1)", Px(left), Px(begin), unit);
    svg.open("g", &[("transform", &fine), ("shape-rendering", &"crispEdges")]);
    for (shade, path) in &cells {
        svg.leaf("path", &[("fill", &colours::hex(*shade)), ("d", path)]);
    }
    svg.close();
    svg.path("bars", &curves);
    svg.path("sums", &sums);
    for (shade, path) in &moved {
        svg.leaf("path", &[("class", &"move"), ("stroke", &colours::of_line(*shade)), ("d", path)]);
    }
    if let Some(motion) = motion {
        motion.rows(svg, (left, begin, right - left, y - begin), &ends, rows);
    }
    legend(panel, svg, left, right, y + 8.0)
}

fn has_lines(row: &Row) -> bool {
    matches!(&row.strip, Strip::Ranks { lines, .. } if !lines.is_empty())
}

/// Adds rectangles of neighbours in one colour.
fn add_runs(paths: &mut BTreeMap<Shade, String>, cells: &[Option<Shade>], y: f64, height: f64) {
    // Rows that are as thin as what would be between them lie close.
    let gap = if height >= 12.0 { 1.0 } else { 0.0 };
    let mut column = 0;
    for run in cells.chunk_by(|a, b| a == b) {
        if let Some(shade) = run[0] {
            let path = paths.entry(shade).or_default();
            let _ = write!(path, "M{column} {}h{}v{}h-{}z", Px(y), run.len(), Px(height - gap), run.len());
        }
        column += run.len();
    }
}

/// What the colours mean; returns where it ends.
fn legend((_, played, _): &Panel, svg: &mut Svg, left: f64, right: f64, top: f64) -> f64 {
    let heat = &played.heat;
    let base = top + 9.0;
    let mut words = |class: &str, x: f64, y: f64, words: &str| {
        svg.words("text", &[("class", &class), ("x", &Px(x)), ("y", &Px(y))], words);
    };
    words("q", left, base, "smallest");
    let ramp = left + 52.0;
    words("q", ramp + 5.0 * LEVELS as f64 + 6.0, base, "largest");
    let mut end = base;
    let mut more = Vec::new();
    if played.input.len() > FEW && heat.bin() > 1 {
        let bin = grouped(heat.bin());
        more.push(format!("a column is {bin} places, grey where their elements come from everywhere"));
    }
    if !heat.is_whole() {
        more.push(format!("a row is {} passes", grouped(heat.every())));
    }
    for sentence in &more {
        for line in super::wrapped(sentence, ((right - left) / CHARACTER).max(30.0) as usize) {
            end += 15.0;
            words("q", left, end, &line);
        }
    }
    for level in 0..LEVELS {
        let fill = colours::hex(Shade { level, mixed: 0 });
        let at = ramp + 5.0 * level as f64;
        let rect: [(&str, &dyn Display); 5] =
            [("x", &Px(at)), ("y", &Px(top)), ("width", &5.3), ("height", &10), ("fill", &fill)];
        svg.leaf("rect", &rect);
    }
    end
}
