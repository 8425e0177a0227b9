//! The heat map: a row for each pass, its description on the left, its cost on the right.

use std::collections::BTreeMap;
use std::fmt::Display;

use super::colours;
use super::motion::Motion;
use super::svg::{Data, Px, Svg};
use super::{CHARACTER, Panel, cut};
use crate::human::{grouped, wrapped};
use crate::trace::heat::{LEVELS, Row, Shade, Strip};
use crate::trace::list::{COLUMNS, Column};
use crate::trace::{FEW, Pass, words};

/// Pixels of a row with words next to it: of few rows, and of more.
const ROWS: [f64; 2] = [17.0, 13.0];

/// Pixels between tall rows: at least a pixel of the screen, even if the picture is scaled down a
/// little.
const GAP: f64 = 1.4;

/// Pixels that a cell reaches into the next one, so that no renderer leaves a gap between them.
const OVERLAP: f64 = 0.4;

/// Pixels of all rows, at most about.
const MANY: f64 = 640.0;

/// Height of the curves of moving elements, relative to a row, and the least in pixels.
const WAY: f64 = 1.3;
const LEAST_WAY: f64 = 10.0;

/// The least distance between lines of text.
const LINE: f64 = 12.5;

/// Draws it from this height on; returns where it ends.
pub(super) fn draw(panel: &Panel, width: f64, top: f64, svg: &mut Svg, motion: Option<&mut Motion>) -> f64 {
    let (trace, played, _) = panel;
    let heat = &played.heat;
    if heat.columns == 0 {
        return top;
    }
    let map = Map::new(panel, width, top);
    map.headings(svg, top + 9.0);
    let mut drawn = Drawn::default();
    let mut ends = Vec::new();
    let mut y = map.top;
    let mut spoken = f64::NEG_INFINITY;
    let mut passes = trace.passes();
    for row in &heat.rows {
        let way = if has_lines(row) { map.way } else { 0.0 };
        let middle = y + way + map.row / 2.0;
        // The input has no pass.
        let pass = (row.after > 0).then(|| passes.find(|pass| pass.number == row.after)).flatten();
        if middle - spoken >= LINE {
            map.words_of(svg, middle + 3.9, pass.as_ref());
            spoken = middle;
        }
        drawn.add(&map, &row.strip, y, way);
        y += way + map.row;
        ends.push(y);
    }
    drawn.finish(&map, svg);
    if let Some(motion) = motion {
        // Cells are drawn in whole pixels of a screen, which may be a little wider.
        motion.rows(
            svg,
            [map.left - 2.0, map.top, map.right - map.left + 4.0, y - map.top],
            &ends,
            &heat.rows,
        );
    }
    legend(panel, svg, map.left, map.right, y + 8.0)
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
    way: f64,
    /// Pixels of a cell across.
    cell: f64,
}

impl Map {
    /// From the left: numbers, descriptions, the map; from the right the costs of a pass.
    fn new((trace, played, _): &Panel, width: f64, top: f64) -> Self {
        let heat = &played.heat;
        let is_wide = width >= 640.0;
        let digits = grouped(trace.plan.dispatch_count()).len() as f64;
        let numbers = (digits * CHARACTER * 1.08).max(26.0);
        let longest = trace.plan.distinct_dispatches().map(|it| words::of(it).chars().count()).max();
        let words = longest.unwrap_or(0) as f64 * CHARACTER + 12.0;
        let words = if is_wide { words.clamp(90.0, 290.0) } else { 0.0 };
        let of = |heading| COLUMNS.iter().find(|column| column.heading == heading).expect("lists have it");
        let mut columns = vec![(of("pass"), numbers)];
        let mut right = width;
        let mut last = |heading, wide: f64| {
            columns.push((of(heading), right));
            right -= wide;
        };
        if trace.measured.is_some() {
            if is_wide {
                last("of copy", 56.0);
            }
            last("time", 58.0);
        }
        last("moved", 66.0);
        if is_wide {
            last("workgroups", 66.0);
            columns.push((of("what it does"), numbers + 8.0));
        }
        let (left, right) = (numbers + 8.0 + words, right - 4.0);
        // Rounded like written numbers, so that cells are equal.
        let across = heat.columns as f64;
        let cell = ((right - left) / across * 10.0).floor() / 10.0;
        let rows = heat.rows.len() as f64;
        // In whole pixels, so that rows are equal.
        let thin = || (MANY / rows).floor().max(3.0);
        let row = ROWS.into_iter().find(|row| rows * row <= MANY).unwrap_or_else(thin);
        Self {
            columns,
            input: if is_wide { numbers + 8.0 } else { 0.0 },
            words,
            left,
            right: left + across * cell,
            // The distance from the headings to the first row's words is the same for thin rows.
            top: top + 15.0 + ((ROWS[1] - row) / 2.0).max(0.0).ceil(),
            row,
            way: (WAY * row).round().max(LEAST_WAY),
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
}

/// The shapes, by colour.
#[derive(Default)]
struct Drawn {
    cells: BTreeMap<Shade, Data>,
    lines: BTreeMap<Shade, Data>,
    bars: Data,
    sums: Data,
}

impl Drawn {
    /// Adds a row at height `y`, below curves of `way` pixels.
    fn add(&mut self, map: &Map, strip: &Strip, y: f64, way: f64) {
        match strip {
            Strip::Ranks { cells, lines } => {
                for line in lines {
                    self.line(map, *line, y + 0.5, y + way - 0.5);
                }
                self.runs(map.cell, cells, y + way - map.top);
            }
            Strip::Sums(shares) => {
                let wide = (map.right - map.left) / shares.len().max(1) as f64;
                let base = y + map.row - 2.0;
                self.sums.go(map.left, base);
                for (bar, share) in (1..).zip(shares) {
                    self.sums.down(base - (map.row - 4.0) * share);
                    self.sums.across(map.left + f64::from(bar) * wide);
                }
            }
            Strip::Counts(shares) => {
                let wide = (map.right - map.left) / shares.len().max(1) as f64;
                for (bar, share) in shares.iter().enumerate().filter(|(_, share)| **share > 0.0) {
                    let (x, base) = (map.left + (bar as f64 + 0.2) * wide, y + map.row - 1.0);
                    let tall = ((map.row - 3.0) * share).max(0.8);
                    self.bars.rectangle((x, base), (x + 0.6 * wide, base - tall));
                }
            }
        }
    }

    /// Lines along neighbours in one colour, as thick as a row.
    fn runs(&mut self, wide: f64, cells: &[Option<Shade>], y: f64) {
        let mut column = 0;
        for run in cells.chunk_by(|a, b| a == b) {
            let begin = column;
            column += run.len();
            if let Some(shade) = run[0] {
                let path = self.cells.entry(shade).or_default();
                path.go(begin as f64 * wide, y);
                let overlap = if column < cells.len() { OVERLAP } else { 0.0 };
                path.across(column as f64 * wide + overlap);
            }
        }
    }

    /// A curve from the former place of an element to its place.
    fn line(&mut self, map: &Map, (from, to, shade): (f64, f64, Shade), above: f64, below: f64) {
        let [from, to] = [from, to].map(|part| map.left + part * (map.right - map.left));
        let middle = f64::midpoint(above, below);
        let path = self.lines.entry(shade).or_default();
        path.go(from, above);
        path.curve([(from, middle), (to, middle), (to, below)]);
    }

    fn finish(self, map: &Map, svg: &mut Svg) {
        // Rows as thin as a gap have none.
        let thick = if map.row > LINE { map.row - GAP } else { map.row };
        // Relative to their middle, heights are whole numbers, and paths short.
        let place = format!("translate({} {})", Px(map.left), Px(map.top + thick / 2.0));
        let group: [(&str, &dyn Display); 4] = [
            ("class", &"cells"),
            ("transform", &place),
            ("stroke-width", &Px(thick)),
            ("shape-rendering", &"crispEdges"),
        ];
        svg.open("g", &group);
        for (shade, path) in &self.cells {
            svg.leaf("path", &[("stroke", &colours::hex(*shade)), ("d", path)]);
        }
        svg.close();
        svg.path("bars", &self.bars, &[]);
        svg.path("sums", &self.sums, &[]);
        svg.curves(self.lines.iter().map(|(&shade, path)| (shade, path)));
    }
}

fn has_lines(row: &Row) -> bool {
    matches!(&row.strip, Strip::Ranks { lines, .. } if !lines.is_empty())
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
    if !heat.is_whole() {
        more.push(format!("Each row is {} passes.", grouped(heat.every)));
    }
    for sentence in &more {
        for line in wrapped(sentence, ((right - left) / CHARACTER).max(30.0) as usize, 0) {
            end += 15.0;
            svg.text("q", (left, end), &line);
        }
    }
    for level in 0..LEVELS {
        let fill = colours::hex(Shade { level, mixed: 0 });
        svg.rect([ramp + 5.0 * level as f64, top, 5.3, 10.0], &[("fill", &fill)]);
    }
    end
}
