//! Plots of the results: time by size, both on logarithmic scales, with a line per method and
//! device.
//!
//! kuva draws the SVG picture. The plot in characters is drawn here: in braille dots, as kuva draws
//! it, lines that cross cannot be told apart.

use std::fmt::Write;
use std::sync::Arc;

use console::{Color, Style};
use kuva::backend::svg::SvgBackend;
use kuva::plot::{LegendPosition, LinePlot, LineStyle, MarkerShape, ScatterPlot};
use kuva::render::layout::{Layout, TickFormat};
use kuva::render::plots::Plot;
use kuva::render::render::render_multiple;

use crate::report::{ALL_CORES, Case, DeviceReport, Report};
use gpusort_base::human;

/// Colours that stay distinct with colour blindness and are not faint on white (M. Okabe, K. Ito,
/// 2008).
const COLOURS: [&str; 6] = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9"];
/// One mark fewer than colours, so that both together repeat after thirty lines.
const MARKS: [MarkerShape; 5] = [
    MarkerShape::Circle,
    MarkerShape::Square,
    MarkerShape::Triangle,
    MarkerShape::Diamond,
    MarkerShape::TriangleDown,
];
/// Colour and legend of the rings around points whose time per element grows.
const RED: &str = "#FF0000";
const GROWN: &str = "time per element grows by more than 1.3";
/// The colour of the CPU's own sorts.
const BASELINE: &str = "#555555";

/// The plot as an SVG file's text; `None` without results.
pub fn svg(report: &Report) -> Option<String> {
    let lines = lines(report);
    let [[left, right], [bottom, top]] = axes(&lines)?;
    let mut plots = Vec::new();
    for (line, (colour, mark, style)) in lines.iter().zip(looks(&lines)) {
        let path = LinePlot::new()
            .with_data(line.points.iter().copied())
            .with_color(colour)
            .with_stroke_width(2.0)
            .with_line_style(style);
        let marks = ScatterPlot::new()
            .with_data(line.points.iter().copied())
            .with_color(colour)
            .with_marker(mark)
            .with_size(4.0)
            .with_legend(&line.label);
        plots.extend([Plot::Line(path), Plot::Scatter(marks)]);
    }
    let grown: Vec<_> = lines.iter().flat_map(|line| line.grown.iter().copied()).collect();
    if !grown.is_empty() {
        let ring = ScatterPlot::new()
            .with_data(grown)
            .with_color(RED)
            .with_size(8.0)
            .with_marker_opacity(0.0)
            .with_marker_stroke_width(2.0)
            .with_legend(GROWN);
        plots.push(Plot::Scatter(ring));
    }
    let letters =
        lines.iter().map(|line| line.label.chars().count()).max().unwrap_or_default().max(GROWN.len());
    let layout = Layout::auto_from_plots(&plots)
        .with_title(title(report))
        .with_x_axis_min(left)
        .with_x_axis_max(right)
        .with_y_axis_min(bottom)
        .with_y_axis_max(top)
        .with_x_tick_step(((right - left) / 12.0).ceil().max(1.0))
        .with_y_tick_step(1.0)
        .with_x_tick_format(TickFormat::Custom(Arc::new(human::power::<f64>)))
        .with_y_tick_format(TickFormat::Custom(Arc::new(time)))
        .with_legend_position(LegendPosition::OutsideRightTop)
        // The legend is on the right.
        .with_width(1030.0 + 7.5 * letters as f64)
        .with_height(600.0_f64.max(140.0 + 18.0 * lines.len() as f64))
        .with_x_label("number of elements")
        .with_y_label("median time of the sort alone");
    Some(SvgBackend::new().render_scene(&render_multiple(plots, layout)))
}

/// Colour, mark and style of each line.
fn looks(lines: &[Line]) -> Vec<(&'static str, MarkerShape, LineStyle)> {
    let (mut own, mut others) = (0.., 0..);
    let look = |line: &Line| {
        let is_own = line.case.is_baseline();
        let number: usize = if is_own { own.next() } else { others.next() }.unwrap_or_default();
        let style = match line.case.variant {
            _ if !is_own => LineStyle::Solid,
            ALL_CORES => LineStyle::Dashed,
            _ => LineStyle::Dotted,
        };
        let colour = if is_own { BASELINE } else { COLOURS[number % COLOURS.len()] };
        (colour, MARKS[number % MARKS.len()], style)
    };
    lines.iter().map(look).collect()
}

/// The plot in characters, of `columns` by `rows` if these are enough: each line has a letter at its
/// points and dots between them. `None` without results.
pub fn terminal(report: &Report, columns: usize, rows: usize) -> Option<String> {
    /// Columns left of the plot: a time, a space and the axis.
    const LEFT: usize = 9;
    const LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    const INKS: [Color; 6] =
        [Color::Blue, Color::Red, Color::Green, Color::Magenta, Color::Yellow, Color::Cyan];
    let lines = lines(report);
    let [[left, right], [bottom, top]] = axes(&lines)?;
    let (width, height) =
        (columns.saturating_sub(LEFT + 1).max(10), rows.saturating_sub(3 + lines.len()).max(16));
    let place = |value: f64, [low, high]: [f64; 2], cells: usize| {
        ((value - low) / (high - low) * (cells - 1) as f64).round().clamp(0.0, (cells - 1) as f64) as usize
    };
    let cell =
        |(x, y): (f64, f64)| (place(x, [left, right], width), height - 1 - place(y, [bottom, top], height));
    let plain = Style::new().force_styling(true);
    let look = |(number, line): (usize, &Line)| {
        let ink = plain.clone().fg(INKS[number % INKS.len()]);
        let style = if line.case.is_baseline() { plain.clone() } else { ink };
        (char::from(LETTERS[number % LETTERS.len()]), style)
    };
    let looks: Vec<(char, Style)> = lines.iter().enumerate().map(look).collect();
    let mut canvas = vec![vec![(' ', plain.clone()); width]; height];
    for (line, (_, style)) in lines.iter().zip(&looks) {
        for ends in line.points.windows(2) {
            let (a, b) = (ends[0], ends[1]);
            for step in 0..=2 * width {
                let part = step as f64 / (2 * width) as f64;
                let (x, y) = cell((a.0 + (b.0 - a.0) * part, a.1 + (b.1 - a.1) * part));
                if canvas[y][x].0 == ' ' {
                    canvas[y][x] = ('·', style.clone());
                }
            }
        }
    }
    let letters =
        lines.iter().zip(&looks).flat_map(|(line, look)| line.points.iter().map(move |at| (at, look)));
    let grown: Vec<_> = lines.iter().flat_map(|line| &line.grown).collect();
    let warning = ('!', plain.red().bold());
    for (&point, mark) in letters.chain(grown.iter().map(|&at| (at, &warning))) {
        let (x, y) = cell(point);
        // Where another letter is, beside it.
        let near = [0, 1, -1, 2, -2, 3, -3, 4, -4].into_iter();
        let mut cells = near.filter_map(|aside| x.checked_add_signed(aside).filter(|&x| x < width));
        if let Some(x) = cells.find(|&x| matches!(canvas[y][x].0, ' ' | '·')) {
            canvas[y][x] = mark.clone();
        }
    }

    let mut text = format!("{}\n", title(report));
    let decades: Vec<(usize, f64)> = whole(bottom, top).map(|y| (cell((left, y)).1, y)).collect();
    for (y, row) in canvas.iter().enumerate() {
        let decade = decades.iter().find(|(row, _)| *row == y);
        let label = decade.map_or_else(String::new, |&(_, y)| time(y));
        let _ = write!(text, "{label:>7} {}", if decade.is_some() { '┤' } else { '│' });
        let line: String = row.iter().map(|(mark, style)| style.apply_to(mark).to_string()).collect();
        let _ = writeln!(text, "{}", line.trim_end());
    }
    let (mut axis, mut labels) = (vec!['─'; width], String::new());
    for x in whole(left, right) {
        let (column, label) = (place(x, [left, right], width), human::power(x));
        let begin = (LEFT + column).saturating_sub(label.len() / 2);
        let used = labels.chars().count();
        if (used == 0 || begin >= used + 2) && begin + label.len() <= columns {
            axis[column] = '┬';
            labels += &format!("{:1$}{label}", "", begin - used);
        }
    }
    let _ = writeln!(text, "{:8}└{}\n{labels}", "", axis.into_iter().collect::<String>());
    for (line, (letter, style)) in lines.iter().zip(&looks) {
        let label = human::cut(&line.label, columns.saturating_sub(LEFT + 2));
        let _ = writeln!(text, "{:LEFT$}{} {label}", "", style.apply_to(letter));
    }
    if !grown.is_empty() {
        let _ = writeln!(text, "{:LEFT$}! {GROWN}", "");
    }
    Some(text)
}

/// The ends of the axes: powers of two for sizes, powers of ten for times. All points lie between
/// them with a margin for their marks; on each axis there are at least two whole powers.
fn axes(lines: &[Line]) -> Option<[[f64; 2]; 2]> {
    let points = || lines.iter().flat_map(|line| &line.points);
    points().next()?;
    Some([ends(points().map(|&(x, _)| x)), ends(points().map(|&(_, y)| y))])
}

fn ends(values: impl Iterator<Item = f64> + Clone) -> [f64; 2] {
    let least = values.clone().fold(f64::INFINITY, f64::min);
    let most = values.fold(f64::NEG_INFINITY, f64::max);
    let margin = ((most - least) * 0.04).max(0.05);
    let [low, high] = [least - margin, most + margin];
    if whole(low, high).count() > 1 { [low, high] } else { [low.floor(), high.ceil()] }
}

/// The whole numbers from one number to another.
fn whole(low: f64, high: f64) -> impl Iterator<Item = f64> {
    (low.ceil() as i64..=high.floor() as i64).map(|whole| whole as f64)
}

/// A method of a device, on keys of one kind.
struct Line<'a> {
    case: &'a Case,
    label: String,
    /// The logarithms of size and time.
    points: Vec<(f64, f64)>,
    /// Points whose time per element grows.
    grown: Vec<(f64, f64)>,
}

/// The lines in the order of the results.
fn lines(report: &Report) -> Vec<Line<'_>> {
    let mut lines: Vec<Line> = Vec::new();
    for result in &report.results {
        let case = &result.case;
        let point = ((case.n as f64).log2(), result.medians()[0].max(1e-6).log10());
        let grown = report.grows(result).then_some(point);
        let known = lines.iter_mut().find(|line| Case { n: case.n, ..line.case.clone() } == *case);
        if let Some(line) = known {
            line.points.push(point);
            line.grown.extend(grown);
        } else {
            let (label, points) = (label(report, case), vec![point]);
            lines.push(Line { case, label, points, grown: Vec::new() });
        }
    }
    lines
}

/// A label that distinguishes the line from the others.
fn label(report: &Report, case: &Case) -> String {
    /// Characters of a device's name.
    const NAME: usize = 32;
    let mut label = case.method();
    if !case.is_baseline() && report.devices.len() > 1 {
        let _ = write!(label, ", {}", human::cut(&case.device, NAME));
    }
    if report.kinds().len() > 1 {
        let _ = write!(label, ", {} {}", case.type_name(), case.distribution);
    }
    label
}

fn title(report: &Report) -> String {
    let what = match &report.kinds()[..] {
        [kind] => format!("Sorting {} {}", kind.distribution, kind.type_name()),
        _ => "Sorting".to_owned(),
    };
    // With several devices, the labels of the lines name them.
    match &report.devices[..] {
        [DeviceReport { device, .. }] => format!("{what}: {}", device.name),
        _ => what,
    }
}

/// A power of ten milliseconds.
fn time(log10: f64) -> String {
    human::time(10_f64.powf(log10)).replace(".00 ", " ").replace(".0 ", " ")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use gpusort_order::key::ElementType;

    use super::*;
    use crate::generate::Type;
    use crate::report::example;

    const U32: Type = Type::Number(ElementType::U32);

    /// The numbers in a text.
    fn numbers(text: &str) -> Vec<f64> {
        text.split(|c: char| !c.is_ascii_digit() && c != '.')
            .filter_map(|number| number.parse().ok())
            .collect()
    }

    #[test]
    fn points_and_their_marks_are_inside_the_frame() {
        for times in [&[0.001, 0.5, 101.0][..], &[2.0, 2.0], &[10.0, 100.0], &[1e-7, 1e5], &[5.0; 8]] {
            let svg = svg(&example(1, U32, times)).unwrap();
            // Drawing beyond the frame is clipped.
            let frame = svg.split("<clipPath ").nth(1).and_then(|rest| rest.split("<rect ").nth(1)).unwrap();
            let corner = numbers(frame.split("/>").next().unwrap());
            let [x, y, width, height] = corner[..] else { panic!("{frame}") };
            let paths: Vec<&str> = svg.split("<path d=\"M ").skip(1).collect();
            assert_eq!(paths.len(), 2 + 9, "a line per method");
            for path in paths {
                let points = numbers(path.split('"').next().unwrap());
                assert_eq!(points.len(), 2 * times.len());
                for point in points.chunks(2) {
                    let inside =
                        |value: f64, from: f64, size: f64| (6.0..=size - 6.0).contains(&(value - from));
                    assert!(inside(point[0], x, width) && inside(point[1], y, height), "{times:?} {point:?}");
                }
            }
        }
    }

    #[test]
    fn axes_end_at_the_data() {
        for (times, last, beyond) in [
            (&[0.001, 101_000.0][..], ">100 s<", ">1000 s<"),
            (&[0.000_2, 101.0], ">100 ms<", ">1 s<"),
            (&[2.0], ">10 ms<", ">100 ms<"),
        ] {
            let svg = svg(&example(0, U32, times)).unwrap();
            assert!(svg.contains(last) && !svg.contains(beyond), "{times:?}: {svg}");
        }
    }

    #[test]
    fn each_line_has_a_look_of_its_own() {
        let mut report = example(2, U32, &[1.0, 2.0]);
        report.results.extend(example(2, Type::Text, &[1.0, 2.0]).results);
        // With one GPU, since thirty looks exist.
        let mut one = example(1, U32, &[1.0]);
        one.results.extend(example(1, Type::Text, &[1.0]).results);
        let looks: BTreeSet<String> = looks(&lines(&one)).iter().map(|look| format!("{look:?}")).collect();
        assert_eq!(looks.len(), 2 * (2 + 9), "{looks:?}");
        let plot = terminal(&report, 80, 60).unwrap();
        let plot = console::strip_ansi_codes(&plot);
        let labels: Vec<&str> = plot.lines().filter(|line| line.starts_with("         ")).skip(1).collect();
        let letters: BTreeSet<&str> = labels.iter().map(|line| &line.trim_start()[..1]).collect();
        assert_eq!((labels.len(), letters.len()), (2 * (2 + 2 * 9), 2 * (2 + 2 * 9)), "{plot}");
    }

    #[test]
    fn lines_that_coincide_keep_their_letters_on_the_terminal() {
        let report = example(0, U32, &[1.0, 1.0, 5.0]);
        for columns in [60, 80, 120] {
            let plot = terminal(&report, columns, 22).unwrap();
            let plot = console::strip_ansi_codes(&plot);
            assert!(plot.lines().all(|line| line.chars().count() <= columns), "{plot}");
            let rows: String = plot.lines().filter(|line| line.contains(['│', '┤'])).collect();
            assert_eq!((rows.matches('A').count(), rows.matches('B').count()), (3, 3), "{plot}");
            assert!(plot.contains("A gpusort, ") && plot.contains("B sort_unstable, 1 core"), "{plot}");
        }
    }
}
