//! `gpusort trace`: the passes of a sort, as a list, a picture or JSON.

use std::collections::HashSet;
use std::io::{self, BufRead, IsTerminal};
use std::path::Path;

use anyhow::{anyhow, bail, ensure};
use console::Term;
use gpusort::files::{Input, Options, Output, Sort};
use gpusort::{Error, ErrorKind, Format, Hint, PlanError, Select};
use gpusort_base::human::{self, grouped};
use gpusort_base::memory;
use gpusort_bench::generate::{Distribution, Sequence};
use gpusort_bench::passes::measure;
use gpusort_engine::gpu::Gpu;
use gpusort_engine::key_buf::KeyBuf;
use gpusort_engine::sorter::{Request, Sorter};
use gpusort_files::write_keys;
use gpusort_order::key::{ElementType, KeyMap};
use gpusort_planner::plan::{self, Algorithm, Limits, Plan, Shape, Variant};
use gpusort_trace::{FEW, MOST, Panel, Played, Scheme, Style, Trace, json, list, network, svg};

use super::args::TraceArgs;
use super::device::Device;
use super::format::{check_picture, unless_stdout};
use super::remedies;

/// The number of elements without FILE and -n.
const COUNT: u64 = 16;

/// The most passes listed or timed one by one.
const MOST_PASSES: u64 = 1 << 16;

/// The algorithms, each with its named variant, if any.
fn methods(args: &TraceArgs) -> anyhow::Result<Vec<(Algorithm, Option<Variant>)>> {
    let own = args.algo.unwrap_or(Algorithm::Bitonic);
    // The named algorithm, or else the first that has the variant.
    let method = |variant: Option<Variant>| {
        let has = |it: &Algorithm| variant.is_none_or(|variant| it.variants().contains(&variant));
        ([own].into_iter().chain(Algorithm::ALL).find(has).expect("each variant is of an algorithm"), variant)
    };
    if !args.compare.is_empty() {
        return Ok(args.compare.iter().map(|&variant| method(Some(variant))).collect());
    }
    if let Some(algorithm) = args.algo {
        algorithm.variant(args.variant)?;
    }
    Ok(vec![method(args.variant)])
}

/// The methods whose networks are drawn, each network once: variants that only cut a network into other
/// passes are equal here.
fn networks(methods: &[(Algorithm, Option<Variant>)]) -> anyhow::Result<Vec<(Algorithm, Option<Variant>)>> {
    let network = |&(algorithm, variant): &(Algorithm, Option<Variant>)| match (algorithm, variant) {
        (Algorithm::Radix, _) => {
            bail!("--network: radix compares no elements; use -a bitonic or -a odd-even")
        }
        (_, Some(Variant::Block)) => {
            bail!("--network: 'block' compares whole blocks; use --variant naive")
        }
        (_, Some(Variant::Transpose)) => Ok((algorithm, variant)),
        _ => Ok((algorithm, Some(Variant::Naive))),
    };
    Ok(super::distinct(methods.iter().map(network).collect::<anyhow::Result<_>>()?))
}

/// The GPU with this name.
fn select(name: &str) -> anyhow::Result<Select> {
    match Device::named(name)? {
        Device::Cpu => bail!("--device cpu has no passes to time; leave --device out, or name a GPU"),
        Device::Auto => bail!("--device auto: use gpu, a number from 'gpusort devices' or a part of a name"),
        Device::Gpu(select) => Ok(select),
    }
}

/// Rejects senseless combinations of options. A picture without a path goes to standard output.
fn check(args: &TraceArgs, picture: Option<&Path>) -> anyhow::Result<()> {
    if let Some(path) = picture {
        check_picture(path, "--svg")?;
        let real = |path: &Path| path.canonicalize().ok();
        if let Some(input) =
            args.files.iter().find(|file| real(file).is_some_and(|it| Some(it) == real(path)))
        {
            bail!("{}: --svg would replace the input; name another file", human::path(input));
        }
        Output::check(path)?;
    } else if args.svg.is_some() && args.json {
        bail!("--json and --svg - both go to standard output; use --svg FILE for the picture");
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
    // A tile would hold all elements if there are few, and hide the phases.
    let has_phases = algorithm == Algorithm::OddEven && n <= FEW;
    let variant = variant.unwrap_or_else(|| match (has_phases, first, args.tile, &args.device) {
        (true, None, None, None) => Variant::Naive,
        _ => plan::default_variant(algorithm, limits),
    });
    let shape = Shape::of(element, args.with_positions);
    let plan = match (first, args.tile) {
        (_, Some(tile)) if algorithm == Algorithm::Radix && tile < 8 => {
            bail!("--tile {tile}: radix needs tiles of 8 elements or more")
        }
        (_, Some(tile)) => Plan::in_tiles(algorithm, variant, n, shape, limits, tile.ilog2()),
        (Some(first), None) => Plan::first(first, n, algorithm, variant, shape, limits),
        (None, None) => Plan::new(algorithm, variant, n, shape, limits),
    }
    .map_err(|error| match error {
        _ if args.tile.is_some() => anyhow!("{error}; choose another --tile"),
        PlanError::TooLarge { .. } => {
            anyhow!("{error}; sort splits more elements into shares: use -n to show one")
        }
        _ => error.into(),
    })?;
    let passes = plan.dispatch_count();
    if passes > MOST_PASSES && (args.json || args.device.is_some()) {
        let does = if args.json { "--json lists" } else { "--device times" };
        let [n, passes, most] = [n as u64, passes, MOST_PASSES].map(grouped);
        bail!(
            "{variant} takes {passes} passes for {n} elements, and {does} at most {most}; use a smaller -n"
        );
    }
    let (tile, limits) = (args.tile, *limits);
    Ok(Trace { algorithm, variant, element, first, tile, limits, plan, measured: None })
}

pub(super) fn run(mut args: TraceArgs) -> anyhow::Result<()> {
    if is_given_stdin(&args) {
        args.files.push("-".into());
    }
    let args = &args;
    let mut methods = methods(args)?;
    if args.network {
        methods = networks(&methods)?;
    }
    let select = args.device.as_deref().map(select).transpose()?;
    let picture = unless_stdout(args.svg.clone());
    check(args, picture.as_deref())?;
    let gpu = select.as_ref().map(Gpu::start).transpose()?;
    let limits = gpu.as_ref().map_or(Limits::TYPICAL, |gpu| gpu.info().limits);
    let read = if args.files.is_empty() { None } else { Some(read(args)?) };
    let (n, order) = if let Some((keys, order)) = &read {
        (keys.len(), *order)
    } else {
        let order = KeyMap::ascending(args.element.unwrap_or(ElementType::U32));
        (usize::try_from(args.count.unwrap_or(COUNT))?, order)
    };
    ensure!(
        args.svg.is_none() || n <= MOST,
        "a picture has at most {} elements, not {}; use a smaller -n, or leave --svg out for the list",
        grouped(MOST),
        grouped(n)
    );
    ensure!(
        !args.network || (2..=FEW).contains(&n),
        "--network draws 2 to {FEW} elements, not {}; use -n, as in -n 16",
        grouped(n)
    );
    let trace = |&method| trace(args, method, n, order.element, &limits);
    let mut traces = methods.iter().map(trace).collect::<Result<Vec<_>, _>>()?;
    let is_played = n <= FEW || args.svg.is_some();
    let (mut played, mut printed) = (Vec::new(), Vec::new());
    if is_played || gpu.is_some() {
        let keys = read.map_or_else(|| generated(args, n), |(keys, _)| Ok(keys))?;
        if is_played {
            let play = |trace: &Trace| Played::new(&trace.plan, &keys);
            played =
                traces.iter().map(play).collect::<Result<_, _>>().map_err(|error| match error.kind() {
                    ErrorKind::Plan(_) => {
                        anyhow!("{error}; use a smaller -n, or leave --svg out for the list")
                    }
                    _ => error.into(),
                })?;
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
    if args.network {
        // A network is drawn without elements, unless they were requested or move.
        let of_elements = !is_default(args) || args.animate;
        played = played.into_iter().map(|played| played.stages(of_elements)).collect();
        if !of_elements {
            printed.clear();
        }
    }
    if args.svg.is_some() {
        let panel = |(trace, played)| (trace, played, &printed[..]);
        let panels: Vec<Panel> = traces.iter().zip(&played).map(panel).collect();
        let scheme = match (args.light, args.dark) {
            (true, _) => Scheme::Light,
            (_, true) => Scheme::Dark,
            _ => Scheme::Auto,
        };
        let style = Style { animated: args.animate, network: args.network, scheme };
        super::write(picture.as_deref(), svg(&panels, style).as_bytes())?;
        if picture.is_none() || args.network {
            return Ok(());
        }
    }
    let mut text = Vec::new();
    for (number, trace) in traces.iter().enumerate() {
        let played = played.get(number);
        if args.json {
            text.extend(json(trace, played.map(|played| (played, &printed[..]))).into_bytes());
            continue;
        }
        text.extend_from_slice(if number > 0 { b"\n" } else { b"" });
        let lines = match played.filter(|_| args.network) {
            Some(played) => {
                let name = if traces.len() > 1 { trace.network_title() + "\n" } else { String::new() };
                let colours = console::colors_enabled() && !printed.is_empty();
                name + network(played, &printed, width(), colours).trim_start_matches('\n')
            }
            None => listed(trace, played, &printed),
        };
        text.extend(lines.into_bytes());
    }
    super::write(None, &text)
}

/// Returns true if standard input, which no argument names, has the elements: it must not be a terminal or
/// empty, and no option may generate elements.
fn is_given_stdin(args: &TraceArgs) -> bool {
    let is_generated = args.dist.is_some() || args.seed.is_some();
    let may_be = args.files.is_empty() && !is_generated && !io::stdin().is_terminal();
    may_be && io::stdin().lock().fill_buf().is_ok_and(|bytes| !bytes.is_empty())
}

/// The error, without a hint on options that only `sort` has.
fn without_options_of_sort(error: Error) -> anyhow::Error {
    match error.hint() {
        None | Some(Hint::Rounding | Hint::OtherType(_) | Hint::Format(Format::Binary | Format::Npy)) => {
            error.into()
        }
        Some(_) => anyhow!("{error}"),
    }
}

/// Returns true if no option or file specifies the elements, except their number.
fn is_default(args: &TraceArgs) -> bool {
    args.files.is_empty() && args.element.is_none() && args.dist.is_none() && args.seed.is_none()
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
    super::width(&Term::stdout()).max(40)
}

/// The elements in order, as printed.
fn labels(keys: &KeyBuf, order: KeyMap) -> anyhow::Result<Vec<String>> {
    let sorted = Sorter::cpu().run(Request::keys(keys.borrowed()), &mut |_, _| {})?.words;
    let mut text = Vec::new();
    write_keys(&sorted, order, true, &mut text)?;
    Ok(String::from_utf8_lossy(&text).lines().map(str::to_owned).collect())
}

/// At most 100 distinct numbers from 0 to 99: they are easier to read than numbers of the whole range,
/// and fit next to the wires.
fn small(n: usize) -> KeyBuf<'static> {
    let (element, distribution) = (ElementType::U32, Distribution::Uniform);
    let sequence = Sequence { element, distribution, count: u64::MAX, seed: 1 };
    let mut seen = HashSet::new();
    let numbers = (0..u64::MAX).map(|number| (sequence.bits(number) % 100) as u32);
    numbers.filter(|&number| seen.insert(number)).take(n).collect::<Vec<u32>>().into()
}

/// The elements that no file has.
fn generated(args: &TraceArgs, n: usize) -> anyhow::Result<KeyBuf<'static>> {
    if is_default(args) && n <= FEW {
        return Ok(small(n));
    }
    let element = args.element.unwrap_or(ElementType::U32);
    memory::ensure("this input", (n * element.bytes()) as u64)?;
    let (distribution, seed) = (args.dist.unwrap_or(Distribution::Uniform), args.seed.unwrap_or(1));
    Ok(Sequence { element, distribution, count: n as u64, seed }.keys(0, n))
}

/// Reads the elements, with their order.
fn read(args: &TraceArgs) -> anyhow::Result<(KeyBuf<'static>, KeyMap)> {
    let mut options = Options::new().of_numbers();
    for file in &args.files {
        options = options.input(if file.as_os_str() == "-" {
            remedies::tell_of_terminal(false);
            // Not `Input::Stdin`, which would miss the bytes buffered by `is_given_stdin`.
            Input::reader(Input::Stdin.name(), io::stdin())
        } else {
            Input::from(file)
        });
    }
    options = args.from.into_iter().fold(options, Options::format);
    options = args.element.into_iter().fold(options, Options::element);
    let job = Sort::new().options(options).resolve(None).map_err(without_options_of_sort)?;
    let name = job.inputs[0].name();
    let too_much = || anyhow!("{name}: does not fit in memory; use a smaller file");
    let (keys, order) = job.numbers().map_err(without_options_of_sort)?.ok_or_else(too_much)?;
    let keys = match args.count {
        None => keys,
        Some(count) => {
            ensure!(
                keys.len() as u64 >= count,
                "{name}: has {} elements, fewer than -n {count}; use a smaller -n, or leave it out",
                keys.len()
            );
            keys.truncated(Some(usize::try_from(count)?))
        }
    };
    Ok((keys, order))
}
