//! Writes `npm/src/generated/`: what the package for npm knows of kernels and plans, from the planner
//! that has them for everybody else.
//!
//! ```text
//! cargo run -p gpusort-npm              writes the files anew
//! cargo run -p gpusort-npm -- --check   fails if they are not what it would write
//! ```
//!
//! One file is for one type of keys on one class of devices, by their subgroups: a page loads those
//! that it needs. WGSL is written without comments and indentation, as a list of declarations that
//! several kernels share. A plan for any number of elements is written as what each of its dispatches
//! depends on: nothing, the number of tiles, or that of chunks of these. [`Plans::count`] finds out which,
//! and compares it with the planner's own numbers.

mod text;
mod traces;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use gpusort_planner::kernels::{ELEMENT_BINDINGS, Grid, PipelineKey, copy_text, prepare_text};
use gpusort_planner::key::ElementType;
use gpusort_planner::plan::{AuxBuffer, Callers, KeyTransform, Plan};
use gpusort_planner::{Limits, Subgroups};
use serde_json::{Value, json};

use self::text::{Items, short};

/// Devices whose subgroups have as many lanes; the first that a device is of is its own.
const CLASSES: [(&str, Option<(u32, u32)>); 4] =
    [("32", Some((32, 32))), ("64", Some((32, 64))), ("any", Some((4, 128))), ("none", None)];

/// What every device has that keeps to the defaults of WebGPU, and bindings as large as there are
/// elements: a device refuses what is larger than its own.
fn limits(lanes: Option<(u32, u32)>) -> Limits {
    let subgroups = lanes.map(|(smallest, largest)| Subgroups { smallest, largest, barrier: false });
    Limits { subgroups, binding_bytes: u64::MAX, buffer_bytes: u64::MAX, ..Limits::WEBGPU }
}

/// What a number depends on, of the capacity and the number of elements.
type Base<'a> = &'a dyn Fn(u32, u32) -> u32;

/// What a number of workgroups, or of words, depends on.
#[derive(Clone, Copy)]
struct Count {
    of: &'static str,
    times: u64,
}

/// The plans of a kind of elements, for workspaces of many sizes: the first is for the fewest.
struct Plans<'a> {
    callers: &'a Callers,
    limits: &'a Limits,
    all: Vec<Plan>,
}

impl<'a> Plans<'a> {
    fn of(callers: &'a Callers, limits: &'a Limits) -> Self {
        let tile = callers.tuning.tile.size();
        let powers = (12..30).flat_map(|log2| [(1 << log2) - 1, 1 << log2, (1 << log2) + 1]);
        let tiles = (1..1100).step_by(7).flat_map(|tiles| [tiles * tile, tiles * tile + 1]);
        let plan = |n| callers.sort(n, limits).expect("such elements are planned for");
        let all: Vec<Plan> = (2..600).chain(powers).chain(tiles).map(plan).collect();
        let is_known = |plan: &Plan| callers.tuning.chunk(plan.n()) == chunk(callers, plan.n());
        assert!(all.iter().all(is_known), "chunks are others: write which, here and in npm/src/plan.ts");
        Self { callers, limits, all }
    }

    /// What a number depends on for `n` of at most `capacity` elements, whose cases are those that
    /// `fewer` makes of the capacity. It may have been `rounded`.
    ///
    /// # Panics
    ///
    /// When it is none of what there are.
    fn count(
        &self,
        what: &str,
        fewer: impl Fn(u32) -> Vec<u32>,
        rounded: impl Fn(u64) -> u64,
        number: impl Fn(&Plan, u32) -> u64,
    ) -> Count {
        let tile = self.callers.tuning.tile;
        let bases: [(&str, Base); 3] = [
            ("one", &|_, _| 1),
            ("tiles", &|_, n| tile.tiles(n)),
            ("chunks", &|capacity, n| tile.tiles(n).div_ceil(chunk(self.callers, capacity))),
        ];
        let times = number(&self.all[0], 1);
        let fits = |base: Base| {
            self.all.iter().all(|plan| {
                let expected = |n| rounded(times * u64::from(base(plan.n(), n)));
                fewer(plan.n()).into_iter().all(|n| expected(n) == number(plan, n))
            })
        };
        let (of, _) = bases.into_iter().find(|(_, base)| fits(base)).unwrap_or_else(|| {
            panic!("{what} depends on something else: write what, here and in npm/src/plan.ts")
        });
        Count { of, times }
    }

    /// The workgroups of a dispatch.
    fn workgroups(&self, number: usize) -> Count {
        let tile = self.callers.tuning.tile.size();
        let fewer = |capacity| {
            let some = [1, 2, tile, tile + 1, capacity / 3, capacity - 1, capacity];
            some.into_iter().filter(|&n| n > 0 && n <= capacity).collect()
        };
        // In a grid of several rows.
        let grid = |workgroups| Grid::new(workgroups, self.limits).map_or(0, Grid::workgroups);
        self.count("a dispatch", fewer, grid, |plan, n| {
            let dispatch = plan.dispatches().nth(number).expect("all plans have as many");
            let dispatch = dispatch.for_fewer(n, self.callers.shape, self.limits);
            dispatch.expect("it is for fewer").grid().workgroups()
        })
    }

    /// The words of a buffer in a workspace.
    fn words(&self, name: &str) -> Count {
        let words = |plan: &Plan, _| {
            plan.aux_buffers().iter().find(|(aux, _)| aux.name == name).map_or(0, |(_, words)| *words)
        };
        self.count(name, |capacity| vec![capacity], |words| words, words)
    }
}

impl Count {
    fn json(self) -> Value {
        json!([self.of, self.times])
    }
}

/// Tiles that one workgroup counts in a workspace for so many elements, as npm/src/plan.ts has it.
fn chunk(callers: &Callers, capacity: u32) -> u32 {
    callers.tuning.tile.tiles(capacity).div_ceil(callers.tuning.chunks)
}

fn sort(callers: &Callers, limits: &Limits, items: &mut Items) -> Value {
    let plans = Plans::of(callers, limits);
    let whole = &plans.all[0];
    let mut keys: Vec<PipelineKey> = Vec::new();
    let (mut kernels, mut passes) = (Vec::new(), Vec::new());
    // The preparation does what the first is for: it clears.
    for (number, dispatch) in whole.dispatches().enumerate().skip(1) {
        let key = dispatch.pipeline().of_slices();
        let kernel = keys.iter().position(|known| *known == key).unwrap_or_else(|| {
            keys.push(key);
            kernels.push(kernel(key, items));
            keys.len() - 1
        });
        passes.push(json!({
            "kernel": kernel,
            "digit": dispatch.digit(),
            "swaps": dispatch.access().changes_sides,
            "workgroups": plans.workgroups(number).json(),
        }));
    }
    let words = |(aux, _): &(AuxBuffer, u64)| (aux.name.to_owned(), plans.words(aux.name).json());
    json!({
        "descending": callers.transform.descending,
        "payload": callers.shape.payload,
        "tile": callers.tuning.tile.size(),
        "chunks": callers.tuning.chunks,
        "digits": callers.transform.digits(),
        "buffers": whole.aux_buffers().iter().map(words).collect::<serde_json::Map<_, _>>(),
        "kernels": kernels,
        "passes": passes,
    })
}

fn kernel(key: PipelineKey, items: &mut Items) -> Value {
    let (text, entry) = key.module();
    let bindings = key.bindings();
    let mut bound = vec![json!(["keys", false]), json!(["payload", !bindings.payload])];
    if bindings.other {
        bound.push(json!(["other keys", false]));
        if bindings.payload {
            bound.push(json!(["other payload", false]));
        }
    }
    let numbers: Vec<u32> =
        (0..bound.len() as u32).chain((ELEMENT_BINDINGS..).take(bindings.aux_buffers.len())).collect();
    bound.extend(bindings.aux_buffers.iter().map(|aux| json!([aux.name, aux.read_only])));
    json!({ "entry": entry, "items": items.of(&text), "bindings": numbers, "buffers": bound })
}

fn family(element: ElementType, lanes: Option<(u32, u32)>) -> String {
    let limits = limits(lanes);
    let mut items = Items::default();
    let mut sorts = Vec::new();
    for (descending, payload) in [(false, false), (false, true), (true, false), (true, true)] {
        let transform = KeyTransform { element, descending, begin: 0, bits: 8 * element.bytes() as u32 };
        let callers =
            Callers::new(transform, payload, None, &limits).expect("every device has room for a tile");
        sorts.push(sort(&callers, &limits, &mut items));
    }
    let family = json!({ "items": items.all(), "sorts": sorts });
    format!(
        "{HEADER}import type {{ Family }} from \"../plan.js\";\n\nexport const family: Family = {family};\n"
    )
}

const HEADER: &str = "// Written by crates/npm: do not edit.\n";

/// All files, with their texts.
fn files() -> Vec<(String, String)> {
    let mut files = Vec::new();
    let mut loaders = String::new();
    for element in ElementType::WIDE {
        for (class, lanes) in CLASSES {
            let name = format!("{}_{class}", element.name());
            files.push((format!("{name}.ts"), family(element, lanes)));
            loaders += &format!("    {name}: () => import(\"./{name}.js\"),\n");
        }
    }
    let classes = CLASSES.map(|(class, lanes)| {
        let (least, most) = lanes.unwrap_or_default();
        format!("    {{ name: \"{class}\", least: {least}, most: {most} }},\n")
    });
    let texts = [("prepare", prepare_text()), ("copy1", copy_text(1, false)), ("copy2", copy_text(2, false))];
    let texts = texts.map(|(name, text)| format!("export const {name} = {};\n", json!(short(&text))));
    files.push((
        "index.ts".to_owned(),
        format!(
            "{HEADER}import type {{ Family }} from \"../plan.js\";\n\n/** Lanes of subgroups, at least and at most; none in \
             the last class. */\nexport const classes = [\n{}];\n\nexport const families: Record<string, () => Promise<{{ family: Family }}>> \
             = {{\n{loaders}}};\n\n{}",
            classes.concat(),
            texts.concat()
        ),
    ));
    files
}

fn main() -> ExitCode {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
    let is_check = std::env::args().any(|argument| argument == "--check");
    let folders = [("npm/src/generated", files()), ("web/src/generated", traces::files())];
    let end = |(folder, files): &(&str, Vec<(String, String)>)| {
        let there = root.join(folder);
        if is_check { checked(folder, &there, files) } else { written(&there, files) }
    };
    let ends: Vec<ExitCode> = folders.iter().map(end).collect();
    ends.into_iter().find(|&end| end != ExitCode::SUCCESS).unwrap_or(ExitCode::SUCCESS)
}

fn checked(name: &str, folder: &Path, files: &[(String, String)]) -> ExitCode {
    let there = fs::read_dir(folder).map_or(0, |entries| entries.filter_map(Result::ok).count());
    let differs =
        |(name, text): &(String, String)| fs::read_to_string(folder.join(name)).ok().as_ref() != Some(text);
    let wrong: Vec<&str> = files.iter().filter(|file| differs(file)).map(|(name, _)| &**name).collect();
    if wrong.is_empty() && there == files.len() {
        return ExitCode::SUCCESS;
    }
    eprintln!("{name} is out of date ({}); run: cargo run -p gpusort-npm", wrong.join(", "));
    ExitCode::FAILURE
}

fn written(folder: &Path, files: &[(String, String)]) -> ExitCode {
    let write = || -> std::io::Result<()> {
        if folder.exists() {
            fs::remove_dir_all(folder)?;
        }
        fs::create_dir_all(folder)?;
        files.iter().try_for_each(|(name, text)| fs::write(folder.join(name), text))
    };
    match write() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{}: {error}", folder.display());
            ExitCode::FAILURE
        }
    }
}
