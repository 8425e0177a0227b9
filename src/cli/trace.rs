//! `gpusort trace`: what every pass of a sort does, as a list, a picture or JSON.

use std::io::{self, IsTerminal};
use std::path::Path;

use anyhow::{anyhow, bail, ensure};
use console::Term;
use gpusort::files::Sort;
use gpusort::files::internal::write_keys;
use gpusort::unstable::generate::{Distribution, Sequence};
use gpusort::unstable::gpu::Gpu;
use gpusort::unstable::human::{self, grouped};
use gpusort::unstable::key_buf::KeyBuf;
use gpusort::unstable::memory;
use gpusort::unstable::sorter::{Request, Sorter};
use gpusort::unstable::trace::{FEW, MOST, Panel, Played, Trace, list, measure, network, svg, write_json};
use gpusort::{ErrorKind, PlanError};
use gpusort_planner::key::{ElementType, KeyMap};
use gpusort_planner::plan::{self, Algorithm, Limits, Plan, Shape, Variant};

use super::args::{OrderArgs, TraceArgs, TypeArg};
use super::bench::check_place;
use super::device::Device;
use super::format::{check_picture, unless_stdout};
use super::sort::options;

/// The number of elements where neither a file nor a number is given.
const COUNT: u64 = 16;

/// More passes than these are too long a list, one by one.
const MOST_PASSES: u64 = 1 << 16;

/// Characters of a line where there is no terminal.
const PLAIN_WIDTH: usize = 80;

/// What sorts, each with its variant if one is named.
fn methods(args: &TraceArgs) -> anyhow::Result<Vec<(Algorithm, Option<Variant>)>> {
    if args.compare.is_empty() {
        let of_variant = || args.variant.and_then(algorithm_of);
        let algorithm = args.algo.or_else(of_variant).unwrap_or(Algorithm::Bitonic);
        algorithm.variant(args.variant)?;
        return Ok(vec![(algorithm, args.variant)]);
    }
    let method = |&variant: &Variant| {
        let own = args.algo.unwrap_or(Algorithm::Bitonic);
        let has = own.variants().contains(&variant);
        let algorithm = if has { Some(own) } else { algorithm_of(variant) };
        (algorithm.unwrap_or(own), Some(variant))
    };
    Ok(args.compare.iter().map(method).collect())
}

/// Refuses what makes no sense. The picture goes to standard output where it has no path.
fn check(args: &TraceArgs, device: Option<&Device>, picture: Option<&Path>) -> anyhow::Result<()> {
    match device {
        Some(Device::Cpu) => bail!("--device cpu has no passes to be timed; without --device nothing is"),
        Some(Device::Auto) => {
            bail!("--device needs gpu, a number from 'gpusort devices' or a part of a name")
        }
        _ => {}
    }
    if args.animate && args.svg.is_none() {
        bail!("--animate is about a picture; --svg FILE says where it goes");
    }
    if let Some(path) = picture {
        check_picture(path, "--svg")?;
        let real = |path: &Path| path.canonicalize().ok();
        if let Some(input) =
            args.files.iter().find(|file| real(file).is_some_and(|it| Some(it) == real(path)))
        {
            bail!("{}: is what --svg would replace; --svg FILE.svg keeps it", human::path(input));
        }
        check_place(path)?;
    } else if args.svg.is_some() && args.json {
        bail!("--json and --svg - would both go to standard output; --svg FILE writes the picture elsewhere");
    }
    if let Some(tile) = args.tile {
        ensure!(tile.is_power_of_two(), "--tile {tile} is not a power of two");
        ensure!(tile > 1, "--tile {tile} leaves nothing to compare in a tile; 2 is the smallest");
    }
    Ok(())
}

/// The plan of one of the methods.
fn trace(
    args: &TraceArgs,
    (algorithm, variant): (Algorithm, Option<Variant>),
    n: usize,
    element: ElementType,
    limits: &Limits,
) -> anyhow::Result<Trace> {
    let first = args.top.map(|top| usize::try_from(top).unwrap_or(usize::MAX));
    let variant = variant.unwrap_or_else(|| plan::default_variant(algorithm, limits));
    let shape = Shape::of(element, args.with_positions);
    let plan = match (first, args.tile) {
        (Some(_), Some(_)) => bail!("--top reduces tiles of its own sizes; leave --tile out"),
        (Some(first), None) => Plan::first(first, n, algorithm, variant, shape, limits),
        (None, Some(tile)) => {
            if algorithm == Algorithm::Radix && tile < 8 {
                bail!("--tile {tile}: the radix sort has tiles of 8 elements or more");
            }
            Plan::in_tiles(algorithm, variant, n, shape, limits, tile.ilog2())
        }
        (None, None) => Plan::new(algorithm, variant, n, shape, limits),
    }
    .map_err(|error| match error {
        _ if args.tile.is_some() => anyhow!("{error}; --tile names the tiles"),
        PlanError::TooLarge { .. } => {
            anyhow!("{error}; a sort of more goes in shares, of which -n shows one")
        }
        _ => error.into(),
    })?;
    let passes = plan.dispatch_count();
    if passes > MOST_PASSES && (args.json || args.device.is_some()) {
        let does = if args.json { "--json lists" } else { "--device times" };
        let [n, passes, most] = [n as u64, passes, MOST_PASSES].map(grouped);
        bail!("{variant} of {n} elements has {passes} passes, and {does} at most {most}, one by one");
    }
    let (tile, limits) = (args.tile, *limits);
    Ok(Trace { algorithm, variant, element, first, tile, limits, plan, measured: None })
}

/// The algorithm that has a variant of this name, the first of several.
fn algorithm_of(variant: Variant) -> Option<Algorithm> {
    Algorithm::ALL.into_iter().find(|algorithm| algorithm.variants().contains(&variant))
}

pub(super) fn run(args: &TraceArgs) -> anyhow::Result<()> {
    let methods = methods(args)?;
    let device = args.device.as_deref().map(Device::named).transpose()?;
    let picture = unless_stdout(args.svg.clone());
    check(args, device.as_ref(), picture.as_deref())?;
    let gpu = match &device {
        Some(Device::Gpu(select)) => Some(Gpu::start(select)?),
        _ => None,
    };
    let limits = gpu.as_ref().map_or(Limits::TYPICAL, |gpu| gpu.info().limits);
    let (n, order, keys) = elements(args)?;
    ensure!(
        args.svg.is_none() || n <= MOST,
        "a picture has at most {} elements, and these are {}; without --svg the passes are listed",
        grouped(MOST),
        grouped(n)
    );
    let trace = |&method| trace(args, method, n, order.element, &limits);
    let mut traces = methods.iter().map(trace).collect::<Result<Vec<_>, _>>()?;
    let is_played = n <= FEW || args.svg.is_some();
    let (mut played, mut printed) = (Vec::new(), Vec::new());
    if is_played || gpu.is_some() {
        let keys = keys()?;
        if is_played {
            played = traces.iter().map(|trace| play(trace, &keys)).collect::<Result<_, _>>()?;
        }
        if n <= FEW {
            printed = labels(&keys, order)?;
        }
        if let Some(gpu) = &gpu {
            for trace in &mut traces {
                trace.measured = Some(measure(gpu, &trace.plan, &keys)?);
            }
        }
    }
    if args.svg.is_some() {
        let panel = |(trace, played)| (trace, played, &printed[..]);
        let panels: Vec<Panel> = traces.iter().zip(&played).map(panel).collect();
        super::write(picture.as_deref(), svg(&panels, args.animate).as_bytes())?;
        if picture.is_none() {
            return Ok(());
        }
    }
    let mut text = Vec::new();
    for (number, trace) in traces.iter().enumerate() {
        let played = played.get(number);
        if args.json {
            write_json(trace, played.map(|played| (played, &printed[..])), &mut text)?;
        } else {
            text.extend_from_slice(if number > 0 { b"\n" } else { b"" });
            text.extend(listed(trace, played, &printed).into_bytes());
        }
    }
    super::write(None, &text)
}

/// Performs the passes on the CPU.
fn play(trace: &Trace, keys: &KeyBuf) -> anyhow::Result<Played> {
    Played::new(&trace.plan, keys).map_err(|error| match error.kind() {
        ErrorKind::Plan(_) => {
            anyhow!("{error}; fewer elements have one, and without --svg the passes are listed")
        }
        _ => error.into(),
    })
}

/// The list, and the network of few elements.
fn listed(trace: &Trace, played: Option<&Played>, labels: &[String]) -> String {
    let width = width();
    let list = list(trace, played, width);
    match played.filter(|played| !played.moments.is_empty()) {
        Some(played) => list + &network(played, labels, width, console::colors_enabled()),
        None => list,
    }
}

/// Characters of a line.
fn width() -> usize {
    if !io::stdout().is_terminal() {
        return PLAIN_WIDTH;
    }
    let (_, columns) = Term::stdout().size();
    usize::from(columns).max(40)
}

/// The elements as they are printed, in order.
fn labels(keys: &KeyBuf, order: KeyMap) -> anyhow::Result<Vec<String>> {
    let sorted = Sorter::cpu().run(Request::keys(keys.borrowed()), &mut |_, _| {})?.words;
    let mut text = Vec::new();
    write_keys(&sorted, order, true, &mut text)?;
    Ok(String::from_utf8_lossy(&text).lines().map(str::to_owned).collect())
}

/// Elements to be sorted: how many, their order, and what gives them, since of many only the number
/// may count.
type Elements = (usize, KeyMap, Box<dyn FnOnce() -> anyhow::Result<KeyBuf<'static>>>);

/// Reads the elements, or says how they are made.
fn elements(args: &TraceArgs) -> anyhow::Result<Elements> {
    let count = args.count;
    if args.files.is_empty() {
        let element = args.element.unwrap_or(ElementType::U32);
        let count = count.unwrap_or(COUNT);
        let distribution = args.dist.unwrap_or(Distribution::Uniform);
        let sequence = Sequence { element, distribution, count, seed: args.seed.unwrap_or(1) };
        let n = usize::try_from(count)?;
        let make = move || {
            memory::ensure("this input", count * element.bytes() as u64)?;
            Ok(sequence.keys(0, n))
        };
        return Ok((n, KeyMap::ascending(element), Box::new(make)));
    }
    for (is_given, option) in [(args.dist.is_some(), "--dist"), (args.seed.is_some(), "--seed")] {
        ensure!(!is_given, "{option} is about elements that are made, and a file is given");
    }
    let name = human::path(&args.files[0]);
    let element = args.element.map_or(TypeArg::Auto, TypeArg::Element);
    let order = OrderArgs { files: args.files.clone(), from: args.from, element, ..OrderArgs::default() };
    let job = Sort::new().options(options::of(&order)?.of_numbers()).resolve(None)?;
    ensure!(!job.has_rows(), "{name}: a table; trace takes numbers alone, in text, binary or .npy");
    let too_much =
        || anyhow!("{name}: more than the memory holds; -n takes the first elements of a smaller file");
    let (keys, order) = job.numbers()?.ok_or_else(too_much)?;
    let keys = match count {
        None => keys,
        Some(count) => {
            ensure!(
                keys.len() as u64 >= count,
                "{name}: has {} elements, and -n {count} asks for more",
                keys.len()
            );
            keys.first(usize::try_from(count)?)
        }
    };
    Ok((keys.len(), order, Box::new(|| Ok(keys))))
}
