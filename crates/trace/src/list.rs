//! The passes as a table in characters, as wide as a terminal allows.

use gpusort_planner::plan::{Dispatch, Kernel};

use super::{Measured, Moment, Pass, Played, Trace};
use gpusort_base::human::{bytes, count, counted, grouped, short, time, wrapped};

/// More dispatches than these are listed by rounds.
const LISTED: u64 = 48;

/// A column: its heading, true for numbers, and its place in the order of columns to leave out; 0 stays.
pub(super) struct Column {
    pub(super) heading: &'static str,
    pub(super) numbers: bool,
    less: u8,
    pub(super) cell: fn(&Pass) -> String,
}

/// The columns of lists; maps have some of them.
pub(super) static COLUMNS: [Column; 12] = [
    column("pass", true, 0, |pass| pass.numbers.clone()),
    column("kernel", false, 7, |pass| pass.kernel.to_owned()),
    column(WORDS, false, 0, |pass| pass.what.clone()),
    column("steps", true, 5, |pass| none_if_0(pass.steps as u64, grouped)),
    column("tile", true, 4, |pass| pass.tile.map(grouped).unwrap_or_default()),
    column("held in", false, 2, |pass| pass.held_in.unwrap_or_default().to_owned()),
    column("workgroup memory", true, 1, |pass| none_if_0(pass.workgroup_bytes, bytes)),
    column("workgroups", true, 8, |pass| grouped(pass.workgroups)),
    column("invocations", true, 3, |pass| grouped(pass.invocations)),
    column("moved", true, 0, |pass| bytes(pass.bytes_moved)),
    column("time", true, 0, |pass| pass.ms.map(time).unwrap_or_default()),
    column("vs copy", true, 0, |pass| pass.part_of_copy.map(percent).unwrap_or_default()),
];

const fn column(heading: &'static str, numbers: bool, less: u8, cell: fn(&Pass) -> String) -> Column {
    Column { heading, numbers, less, cell }
}

fn none_if_0(number: u64, shown: fn(u64) -> String) -> String {
    if number == 0 { String::new() } else { shown(number) }
}

/// A share of the speed of a copy.
fn percent(part: f64) -> String {
    format!("{} %", short(100.0 * part))
}

/// The heading of the words about a pass.
pub(super) const WORDS: &str = "what it does";

/// The minimum width of these words.
const LEAST: usize = 16;

/// The title, the summary and the passes, in lines of at most `width` characters, if 60 or more.
pub fn list(trace: &Trace, played: Option<&Played>, width: usize) -> String {
    let mut text = String::new();
    let mut say = |sentence: &str| text += &wrapped(sentence, width, 0);
    say(&trace.title());
    summary(trace, played).iter().for_each(|sentence| say(sentence));
    let lines = lines(trace);
    if lines.is_empty() {
        return text;
    }
    say(&planned_for(trace));
    text.push('\n');
    // The columns that say something: their cells with the heading, and the widest cell's width.
    let filled = |column: &'static Column| {
        let cells = [column.heading.to_owned()].into_iter().chain(lines.iter().map(column.cell));
        let cells: Vec<String> = cells.collect();
        let widest = cells.iter().map(|cell| cell.chars().count()).max()?;
        cells[1..].iter().any(|cell| !cell.is_empty()).then_some((column, cells, widest))
    };
    let mut columns: Vec<(&Column, Vec<String>, usize)> = COLUMNS.iter().filter_map(filled).collect();
    let excess = |columns: &[(&Column, Vec<String>, usize)]| {
        columns.iter().map(|(.., width)| width + 2).sum::<usize>().saturating_sub(width + 2)
    };
    for less in 1..=8 {
        // Words are cut first, and the more so before a column that matters more is left out.
        let kept = [usize::MAX, 40, 32][usize::from(less > 3) + usize::from(less > 5)];
        let words = columns.iter().find(|(column, ..)| column.heading == WORDS);
        let spare = words.map_or(0, |(.., width)| width.saturating_sub(kept));
        if excess(&columns) > spare {
            columns.retain(|(column, ..)| column.less != less);
        }
    }
    let excess = excess(&columns);
    let words = columns.iter_mut().filter(|(column, ..)| column.heading == WORDS);
    words.for_each(|(.., width)| *width = width.saturating_sub(excess).max(LEAST.min(*width)));

    for row in 0..=lines.len() {
        let shown = columns.iter().map(|(column, cells, width)| {
            let cell = cut(&cells[row], *width);
            if column.numbers { format!("{cell:>width$}") } else { format!("{cell:width$}") }
        });
        text += shown.collect::<Vec<_>>().join("  ").trim_end();
        text.push('\n');
    }
    text
}

/// The device that the passes are planned for.
fn planned_for(trace: &Trace) -> String {
    let limits = &trace.limits;
    let subgroups =
        limits.subgroups.map(|own| format!(", subgroups of {}", own.smallest)).unwrap_or_default();
    let tile = trace.tile.map(|tile| format!("tiles of {}, ", grouped(tile))).unwrap_or_default();
    let memory = bytes(limits.workgroup_bytes);
    let invocations = grouped(limits.invocations);
    let has = format!("{tile}{memory} of workgroup memory, {invocations} invocations{subgroups}");
    match &trace.measured {
        Some(_) => format!("Planned for {has}."),
        None => format!("Planned for a large GPU: {has}. --device plans for yours."),
    }
}

/// The sum of all passes, in sentences.
pub(super) fn summary(trace: &Trace, played: Option<&Played>) -> Vec<String> {
    let plan = &trace.plan;
    let (steps, comparisons) = super::work(plan);
    let mut all = vec![counted(plan.dispatch_count(), "pass", "passes")];
    if steps > 0 {
        all.push(counted(steps, "step", "steps"));
        let swaps = played.filter(|played| !played.moments.is_empty()).map(Played::swaps);
        let swaps = swaps.map(|swaps| format!(" ({})", counted(swaps, "swap", "swaps"))).unwrap_or_default();
        all.push(counted(comparisons, "comparison", "comparisons") + &swaps);
    }
    all.push(format!("{} moved", bytes(plan.bytes_moved())));
    let mut lines = vec![all.join(", ")];
    if plan.n() < 2 {
        lines.push("Fewer than two elements need no sort.".to_owned());
    }
    if let Some(done) = played.and_then(|played| played.in_order_after)
        && done < plan.dispatch_count()
    {
        let early = if plan.ends_early() { "; a GPU may skip later passes" } else { "" };
        lines.push(if done == 0 {
            format!("The input is sorted{early}.")
        } else {
            format!("Sorted after pass {}{early}.", grouped(done))
        });
    }
    let is_kept = |(moment, dispatch): &(&Moment, &Dispatch)| {
        moment.layers.is_empty() && matches!(dispatch.kernel(), Kernel::Radix(_))
    };
    let moments = played.map_or(&[][..], |played| &played.moments);
    match moments.iter().zip(plan.dispatches()).filter(is_kept).count() {
        0 => {}
        1 => lines.push("One digit is the same in all keys: its pass keeps the order.".to_owned()),
        kept => lines.push(format!("{kept} digits are the same in all keys: their passes keep the order.")),
    }
    if let Some(measured) = &trace.measured {
        let Measured { device, timestamp, sort, runs, copy, .. } = measured;
        let less = format!(" (less {} for a timestamp after each)", time(*timestamp));
        let less = if *timestamp > 0.0 { &less } else { "" };
        let [sort, passes, copy] = [time(*sort), time(measured.all_passes()), count(*copy)];
        lines.push(format!(
            "{device}: sort {sort}; all passes {passes}{less}; medians of {runs} runs. A copy moves {copy}B/s."
        ));
    }
    lines
}

/// The dispatches with their numbers; a long list has the dispatches of each round once, with the sums of
/// all repetitions.
fn lines(trace: &Trace) -> Vec<Pass> {
    let plan = &trace.plan;
    if plan.dispatch_count() <= LISTED || plan.rounds().all(|(_, times)| times == 1) {
        return trace.passes().collect();
    }
    let mut lines = Vec::new();
    let mut before = 0;
    for (dispatches, times) in plan.rounds() {
        let each = dispatches.len() as u64;
        let line = |(at, dispatch): (u64, &Dispatch)| {
            let (first, last) = (before + at + 1, before + at + 1 + (times - 1) * each);
            let [from, to] = [first, last].map(grouped);
            let numbers = match (times, each) {
                (1, _) => from,
                (2, _) => format!("{from}, {to}"),
                (_, 1) => format!("{from} … {to}"),
                _ => format!("{from}, {} … {to}", grouped(first + each)),
            };
            Pass { numbers, ..trace.pass(first, dispatch, each as usize, times) }
        };
        lines.extend((0..).zip(dispatches).map(line));
        before += each * times;
    }
    lines
}

/// The text, cut to this width.
pub(super) fn cut(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.to_owned();
    }
    let kept: String = text.chars().take(width.saturating_sub(1)).collect();
    // No mark but the last.
    kept.trim_end_matches([' ', ',', '…']).to_owned() + "…"
}
