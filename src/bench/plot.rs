//! Plots of the results: time by size, both on logarithmic scales, with a line per method and
//! device.

use std::fmt::Write;
use std::sync::Arc;

use kuva::backend::svg::SvgBackend;
use kuva::backend::terminal::TerminalBackend;
use kuva::plot::{LegendPosition, LinePlot, LineStyle, MarkerShape, ScatterPlot};
use kuva::render::annotations::TextAnnotation;
use kuva::render::layout::{Layout, TickFormat};
use kuva::render::plots::Plot;
use kuva::render::render::{Scene, render_multiple};

use super::report::{ALL_CORES, Case, Report};
use super::statistics::Crossover;
use super::table::rounded;
use crate::human;

/// Colours that stay distinct with colour blindness and are not faint on white (M. Okabe, K. Ito,
/// 2008).
const COLOURS: [&str; 6] = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9"];
const MARKS: [MarkerShape; 4] =
    [MarkerShape::Circle, MarkerShape::Square, MarkerShape::Triangle, MarkerShape::Diamond];
/// The colour of the CPU's own sorts.
const BASELINE: &str = "#555555";

/// The plot as an SVG file's text; `None` if there are no results.
pub fn svg(report: &Report) -> Option<String> {
    let (plots, layout, labels) = plots(report)?;
    let letters = labels.iter().map(|label| label.chars().count()).max().unwrap_or_default();
    let layout = layout
        // The legend is on the right.
        .with_width(1030.0 + 7.5 * letters as f64)
        .with_height(600.0_f64.max(140.0 + 18.0 * labels.len() as f64))
        .with_x_label("number of elements")
        .with_y_label("time of the sort alone, median");
    Some(SvgBackend::new().render_scene(&render_multiple(plots, layout)))
}

/// The plot in characters, of `columns` by `rows`; `None` if there are no results.
pub fn terminal(report: &Report, columns: usize, rows: usize) -> Option<String> {
    const BLACK: &str = "\x1b[38;2;0;0;0m";
    const FOREGROUND: &str = "\x1b[39m";
    let (plots, layout, _) = plots(report)?;
    let layout = layout.with_show_grid(false).with_legend_box(false);
    let scene: Scene = render_multiple(plots, layout);
    // Black text suits paper; a terminal's foreground colour suits any background.
    Some(TerminalBackend::new(columns, rows).render_scene(&scene).replace(BLACK, FOREGROUND))
}

/// The lines and marks, with the axes: powers of two for sizes and powers of ten for times in
/// milliseconds; and the labels of the legend.
fn plots(report: &Report) -> Option<(Vec<Plot>, Layout, Vec<String>)> {
    let lines = lines(report);
    let labels: Vec<String> = lines.iter().map(|(case, _)| label(report, case)).collect();
    let mut plots = Vec::new();
    // After all colours are used, they repeat with other marks.
    let mut looks = MARKS.iter().flat_map(|&mark| COLOURS.map(|colour| (colour, mark))).cycle();
    for ((case, points), label) in lines.iter().zip(&labels) {
        let baseline = (BASELINE, MarkerShape::Circle);
        let ((colour, mark), style) = match case.variant {
            _ if !case.is_baseline() => (looks.next().unwrap_or(baseline), LineStyle::Solid),
            ALL_CORES => (baseline, LineStyle::Dashed),
            _ => (baseline, LineStyle::Dotted),
        };
        let line = LinePlot::new()
            .with_data(points.iter().copied())
            .with_color(colour)
            .with_stroke_width(2.0)
            .with_line_style(style)
            .with_legend(label);
        let marks = ScatterPlot::new()
            .with_data(points.iter().copied())
            .with_color(colour)
            .with_marker(mark)
            .with_size(3.0);
        plots.extend([Plot::Line(line), Plot::Scatter(marks)]);
    }
    let crossovers = crossovers(report);
    if !crossovers.is_empty() {
        let mark = ScatterPlot::new()
            .with_data(crossovers.iter().map(|&(x, y, _)| (x, y)))
            .with_color("black")
            .with_marker(MarkerShape::Diamond)
            .with_size(6.0);
        plots.push(Plot::Scatter(mark));
    }

    if plots.is_empty() {
        return None;
    }
    let points = || lines.iter().flat_map(|(_, points)| points);
    let (left, right) = bounds(points().map(|&(x, _)| x));
    let (bottom, top) = bounds(points().map(|&(_, y)| y));
    let mut layout = Layout::auto_from_plots(&plots)
        .with_title(title(report))
        .with_x_axis_min(left)
        .with_x_axis_max(right)
        .with_y_axis_min(bottom)
        .with_y_axis_max(top)
        .with_x_tick_step(((right - left) / 10.0).ceil().max(1.0))
        .with_y_tick_step(1.0)
        .with_x_tick_format(TickFormat::Custom(Arc::new(human::power::<f64>)))
        .with_y_tick_format(TickFormat::Custom(Arc::new(|y| time(10_f64.powf(y)))))
        .with_legend_position(LegendPosition::OutsideRightTop);
    for (x, y, size) in crossovers {
        // Below the lines, where there is space, and towards the middle.
        let aside = (right - left) * if x < f64::midpoint(left, right) { 0.06 } else { -0.06 };
        let annotation = TextAnnotation::new(size, x + aside, (y - 0.55).max(bottom + 0.1)).with_arrow(x, y);
        layout = layout.with_annotation(annotation);
    }
    Some((plots, layout, labels))
}

/// The ends of an axis, at whole numbers.
fn bounds(values: impl Iterator<Item = f64> + Clone) -> (f64, f64) {
    let least = values.clone().fold(f64::INFINITY, f64::min).floor();
    let most = values.fold(f64::NEG_INFINITY, f64::max).ceil();
    if least < most { (least, most) } else { (least - 1.0, most + 1.0) }
}

/// The lines: each method of each device, in the order of the results, with its points.
fn lines(report: &Report) -> Vec<(&Case, Vec<(f64, f64)>)> {
    let mut lines: Vec<(&Case, Vec<(f64, f64)>)> = Vec::new();
    for result in &report.results {
        let case = &result.case;
        let point = ((case.n as f64).log2(), result.medians()[0].max(1e-6).log10());
        match lines.iter_mut().find(|(of, _)| Case { n: case.n, ..(*of).clone() } == *case) {
            Some((_, points)) => points.push(point),
            None => lines.push((case, vec![point])),
        }
    }
    lines
}

/// The crossover points of each GPU and the CPU, labelled with the approximate size.
fn crossovers(report: &Report) -> Vec<(f64, f64, String)> {
    let shown = |kernel| match kernel {
        Crossover::Between { about, time } => {
            Some((about.log2(), time.log10(), format!("{} elements", rounded(about))))
        }
        _ => None,
    };
    report.crossovers().into_iter().filter_map(|(_, _, [kernel, _])| shown(kernel)).collect()
}

/// A label that distinguishes the line from the others.
fn label(report: &Report, case: &Case) -> String {
    let mut label = case.method();
    if case.is_baseline() {
        label.push_str(if case.variant == ALL_CORES { ", all cores" } else { ", 1 core" });
    } else if report.devices.len() > 1 {
        let _ = write!(label, ", {}", case.device);
    }
    if report.kinds().len() > 1 {
        let _ = write!(label, ", {} {}", case.type_name(), case.distribution);
    }
    label
}

fn title(report: &Report) -> String {
    let what = match &report.kinds()[..] {
        [kind] => {
            let positions = if kind.positions { " with positions" } else { "" };
            format!("Sorting {} {}{positions}", kind.distribution, kind.element.name())
        }
        _ => "Sorting".to_owned(),
    };
    // With several devices, the labels of the lines name them.
    match &report.devices[..] {
        [device] if device.is_gpu() => format!("{what}: {}", device.name),
        [_] => format!("{what}: {}", report.machine.cpu),
        _ => what,
    }
}

/// A power of ten, without rounding errors.
fn time(milliseconds: f64) -> String {
    human::time(milliseconds).replace(".00 ", " ").replace(".0 ", " ")
}
