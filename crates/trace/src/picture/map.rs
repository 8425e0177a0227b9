//! The heat map: a row for each pass, its description on the left, its cost on the right.

use std::collections::BTreeMap;

use super::colours;
use super::motion::Motion;
use super::svg::{Attributes, Data, Px, Svg};
use super::{CHARACTER, Panel, cut};
use crate::heat::{LEVELS, Row, Shade};
use crate::list::{COLUMNS, Column, WORDS};
use crate::{FEW, Pass, words};
use gpusort_base::human::grouped;

/// Pixels of a row, at least and at most, and of all rows, at most about.
const ROW: [f64; 2] = [3.0, 17.0];
const MANY: f64 = 640.0;

/// Pixels between tall rows: at least a pixel of the screen, even if the picture is scaled down a
/// little.
const GAP: f64 = 1.4;

/// Pixels that a cell reaches into the next one, so that no renderer leaves a gap between them.
const OVERLAP: f64 = 0.4;

/// The least distance between lines of text.
const LINE: f64 = 12.5;

/// Draws it from this height on; returns where it ends.
pub(super) fn draw(panel: &Panel, width: f64, top: f64, svg: &mut Svg, motion: Option<&mut Motion>) -> f64 {
    let (trace, played, _) = panel;
    let rows = &played.heat.rows;
    if played.heat.columns == 0 {
        return top;
    }
    let map = Map::new(panel, width, top);
    map.headings(svg, top + 9.0);
    let mut spoken = f64::NEG_INFINITY;
    let mut passes = trace.passes();
    for (number, row) in rows.iter().enumerate() {
        let middle = map.top + (number as f64 + 0.5) * map.row;
        // The input has no pass.
        let pass = (row.after > 0).then(|| passes.find(|pass| pass.number == row.after)).flatten();
        if middle - spoken >= LINE {
            map.words_of(svg, middle + 3.9, pass.as_ref());
            spoken = middle;
        }
    }
    map.cells(svg, rows);
    let tall = rows.len() as f64 * map.row;
    if let Some(motion) = motion {
        // Cells are drawn in whole pixels of a screen, which may be a little wider.
        motion.rows(svg, [map.left - 2.0, map.top, map.right - map.left + 4.0, tall], map.row, rows);
    }
    legend(panel, svg, map.left, map.right, map.top + tall + 8.0)
}

/// The layout.
struct Map {
    /// Columns of words, and where they begin or, if they hold numbers, end.
    columns: Vec<(&'static Column, f64)>,
    /// Where the words of the input's row begin.
    input: f64,
    /// Pixels for the description of a pass.
    words: f64,
    left: f64,
    right: f64,
    top: f64,
    row: f64,
    /// Pixels of a cell across.
    cell: f64,
}

impl Map {
    /// From the left: numbers, descriptions, the map; from the right the costs of a pass.
    fn new((trace, played, _): &Panel, width: f64, top: f64) -> Self {
        let is_wide = width >= 640.0;
        let digits = grouped(trace.plan.dispatch_count()).len() as f64;
        let numbers = (digits * CHARACTER * 1.08).max(26.0);
        let longest = trace.plan.distinct_dispatches().map(|it| words::of(it).chars().count()).max();
        let words = (longest.unwrap_or(0) as f64 * CHARACTER + 12.0).clamp(90.0, 290.0);
        let words = if is_wide { words } else { 0.0 };
        let begin = numbers + 8.0;
        let is_measured = trace.measured.is_some();
        let mut right = width;
        let mut columns = Vec::new();
        for (heading, wide, is_shown) in [
            ("vs copy", 56.0, is_measured && is_wide),
            ("time", 58.0, is_measured),
            ("moved", 66.0, true),
            ("workgroups", 66.0, is_wide),
        ] {
            if is_shown {
                columns.push((heading, right));
                right -= wide;
            }
        }
        columns.push(("pass", numbers));
        columns.extend(is_wide.then_some((WORDS, begin)));
        let of = |heading| COLUMNS.iter().find(|column| column.heading == heading).expect("lists have it");
        let (left, right) = (begin + words, right - 4.0);
        // Rounded like written numbers, so that cells are equal.
        let across = played.heat.columns as f64;
        let cell = ((right - left) / across * 10.0).floor() / 10.0;
        // In whole pixels, so that rows are equal.
        let row = (MANY / played.heat.rows.len() as f64).floor().clamp(ROW[0], ROW[1]);
        Self {
            columns: columns.into_iter().map(|(heading, x)| (of(heading), x)).collect(),
            input: if is_wide { begin } else { 0.0 },
            words,
            left,
            right: left + across * cell,
            // The distance from the headings to the first row's words is the same for thin rows.
            top: top + 15.0 + ((ROW[1] - row) / 2.0).ceil(),
            row,
            cell,
        }
    }

    fn headings(&self, svg: &mut Svg, base: f64) {
        for &(column, x) in &self.columns {
            svg.text(if column.numbers { "q r" } else { "q" }, (x, base), column.heading);
        }
        svg.text("q m", (f64::midpoint(self.left, self.right), base), "rank by position");
    }

    /// The words next to the row of a pass, or of the input.
    fn words_of(&self, svg: &mut Svg, base: f64, pass: Option<&Pass>) {
        let Some(pass) = pass else { return svg.text("q", (self.input, base), "input") };
        for &(column, x) in &self.columns {
            let (class, most) =
                if column.numbers { ("r", 20) } else { ("", (self.words / CHARACTER) as usize) };
            svg.text(class, (x, base), &cut(&(column.cell)(pass), most));
        }
    }

    /// Draws lines along neighbours in one colour, as thick as a row.
    fn cells(&self, svg: &mut Svg, rows: &[Row]) {
        let mut lines: BTreeMap<Shade, Data> = BTreeMap::new();
        for (number, row) in rows.iter().enumerate() {
            let mut column = 0;
            for run in row.cells.chunk_by(|a, b| a == b) {
                let (begin, y) = (column as f64 * self.cell, number as f64 * self.row);
                column += run.len();
                if let Some(shade) = run[0] {
                    let overlap = if column < row.cells.len() { OVERLAP } else { 0.0 };
                    let end = column as f64 * self.cell + overlap;
                    lines.entry(shade).or_default().lines(&[(begin, y), (end, y)]);
                }
            }
        }
        // Rows as thin as a gap have none.
        let thick = if self.row > LINE { self.row - GAP } else { self.row };
        // Relative to their middle, heights are whole numbers, and paths short.
        let place = format!("translate({} {})", Px(self.left), Px(self.top + thick / 2.0));
        let group: Attributes = &[
            ("class", &"cells"),
            ("transform", &place),
            ("stroke-width", &Px(thick)),
            ("shape-rendering", &"crispEdges"),
        ];
        svg.open("g", group);
        for (shade, path) in &lines {
            svg.leaf("path", &[("stroke", &colours::hex(*shade)), ("d", &path.text)]);
        }
        svg.close("g");
    }
}

/// The legend of the colours; returns where it ends.
fn legend((_, played, _): &Panel, svg: &mut Svg, left: f64, right: f64, top: f64) -> f64 {
    let heat = &played.heat;
    let base = top + 9.0;
    svg.text("q", (left, base), "smallest");
    let ramp = left + 52.0;
    svg.text("q", (ramp + 5.0 * LEVELS as f64 + 6.0, base), "largest");
    let mut end = base;
    let mut more = Vec::new();
    if played.input.len() > FEW && heat.bin() > 1 {
        let bin = grouped(heat.bin());
        more.push(format!("Each column is {bin} positions, grey where elements of all ranks mix."));
    }
    if heat.every > 1 {
        more.push(format!("Each row is {} passes.", grouped(heat.every)));
    }
    for sentence in &more {
        end = svg.lines((left, end), sentence, ((right - left) / CHARACTER).max(30.0) as usize, 15.0);
    }
    for level in 0..LEVELS {
        let fill = colours::hex(Shade { level, mixed: 0 });
        svg.rect([ramp + 5.0 * level as f64, top, 5.3, 10.0], &[("fill", &fill)]);
    }
    end
}
