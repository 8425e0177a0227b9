//! Writes `web/src/generated/`: the passes of each sort of few elements, for the page in `web/`.
//!
//! They are what `gpusort trace` shows: its words, the comparisons of its networks, its tiles. Each variant
//! has its own file, which the page loads when a user chooses the variant. A step is written once, with its
//! pairs on the most wires; a dispatch of fewer elements has those pairs that lie within them.
//!
//! ```text
//! steps   [name, [low, high, …]]          kinds   what a pass is, whatever the number of elements
//! sorts   for each size of tiles, for n from 2 on: passes [kind, first, count, elements after it, workgroups, bytes moved]
//! ```

use gpusort_engine::key_buf::KeyBuf;
use gpusort_order::network::Step;
use gpusort_order::{Algorithm, ElementType, Limits, Variant};
use gpusort_planner::kernels::DIGIT_BITS;
use gpusort_planner::plan::{Dispatch, Kernel, Plan, RadixWork, Shape};
use gpusort_trace::{FEW, Layer, Moment, Pass, Played, Trace, of_step, without_nulls};
use serde_json::{Value, json};

use crate::module;
use crate::text::number;

/// Elements in a tile, as powers of two: small, so that few elements take every kind of pass.
const TILES: [u32; 3] = [2, 3, 4];

/// The smallest tiles of radix sorts, as a power of two.
const RADIX_TILE: u32 = 3;

/// The variants that the page shows. Of `leading` the passes depend on the numbers.
fn shown(algorithm: Algorithm) -> impl Iterator<Item = Variant> {
    algorithm.variants().iter().copied().filter(|&variant| variant != Variant::Leading)
}

/// The number of tints of tiles, as in pictures.
const TINTS: u64 = 4;

/// The documents about each sort.
const PROSE: &str = include_str!("../../../docs/sorts.md");

/// The first sentences of the paragraph after a line and a picture; a sentence ends before its colon.
fn sentences(is_line: impl Fn(&str) -> bool, most: usize) -> String {
    let is_prose = |line: &&str| !line.is_empty() && !line.starts_with(['!', '#']);
    let lines =
        PROSE.lines().skip_while(|line| !is_line(&line.to_lowercase())).skip_while(|line| !is_prose(line));
    let all: Vec<&str> = lines.take_while(is_prose).collect();
    let sentence = |text: &str| {
        let text = text.split(": ").next().unwrap_or_default();
        format!("{}.", text.trim_end_matches(['.', ':']))
    };
    let sentences: Vec<String> = all.join(" ").split(". ").take(most).map(sentence).collect();
    sentences.join(" ")
}

/// Sentences of the documents about an algorithm and its variant.
fn prose(algorithm: Algorithm, variant: Variant) -> String {
    let own = sentences(|line| line == format!("## {algorithm}, {variant}"), 3);
    let all = sentences(|line| line.starts_with(&format!("![{algorithm}")), 1);
    if own.starts_with(&all) { own } else { format!("{all} {own}") }
}

/// The trace of a sort of `n` elements in tiles of 2^`tile_log2`.
fn trace(algorithm: Algorithm, variant: Variant, n: usize, tile_log2: u32) -> Trace {
    let (element, limits, tile) = (ElementType::U32, Limits::TYPICAL, Some(1 << tile_log2));
    let shape = Shape::of(element, false);
    let plan = Plan::in_tiles(algorithm, variant, n, shape, &limits, tile_log2);
    let plan = plan.unwrap_or_else(|error| panic!("{algorithm} {variant} of {n}: {error}"));
    Trace { algorithm, variant, element, first: None, tile, limits, plan, measured: None }
}

/// Collects what the passes of a variant have in common.
#[derive(Default)]
struct Writer {
    steps: Vec<Step>,
    tints: Vec<String>,
    kinds: Vec<Value>,
}

/// The pairs of a step on this many wires.
fn pairs(step: Step, wires: u64) -> Vec<[u64; 2]> {
    step.within(wires).map(|pair| [pair.low, pair.high]).collect()
}

impl Writer {
    /// The layers of a dispatch: numbers of steps; the work on a digit; the positions that
    /// elements come from.
    fn does(&mut self, dispatch: &Dispatch, layers: &[Layer]) -> Vec<Value> {
        if let Kernel::Radix(radix) = dispatch.kernel() {
            return vec![json!(match radix.work {
                RadixWork::Clear => "clear",
                RadixWork::Histogram | RadixWork::Count { .. } => "count",
                RadixWork::Scan => "sum",
                RadixWork::Sweep(_) | RadixWork::Scatter => "move",
                work => panic!("the page does not show {work:?}"),
            })];
        }
        let layer = |layer: &Layer| match layer {
            Layer::Compare(step, _) => json!(number(&mut self.steps, *step)),
            Layer::Move(sources) => json!(sources),
            other => panic!("no pass of few elements does this: {other:?}"),
        };
        layers.iter().map(layer).collect()
    }

    /// The passes of one sort.
    fn passes(&mut self, trace: &Trace) -> Value {
        let n = trace.plan.n();
        // In descending order: all else would do, too, for pairs do not depend on elements.
        let played = Played::new(&trace.plan, &KeyBuf::from((0..n).rev().collect::<Vec<u32>>()))
            .expect("they are few");
        let all = trace.passes().zip(trace.plan.dispatches()).zip(&played.moments);
        let pass = |((pass, dispatch), moment): ((Pass, &Dispatch), &Moment)| {
            let tints = dispatch.kernel().tiles().map(|tiles| {
                let tint = |at| char::from(b'0' + (tiles.of(at) % TINTS) as u8);
                number(&mut self.tints, (0..FEW as u64).map(tint).collect())
            });
            let kind = without_nulls(json!({
                "kernel": pass.kernel,
                "what": pass.what,
                "digit": pass.digit,
                "tile": pass.tile,
                "held": pass.held_in,
                "tints": tints,
                "does": self.does(dispatch, &moment.layers),
            }));
            let kind = number(&mut self.kinds, kind);
            json!([kind, pass.first, pass.count, moment.after.len(), pass.workgroups, pass.bytes_moved])
        };
        all.map(pass).collect()
    }

    /// The sorts of all sizes; tiles that make no difference are left out.
    fn sorts(&mut self, algorithm: Algorithm, variant: Variant) -> Vec<(u32, Value)> {
        let mut sorts: Vec<(u32, Value)> = Vec::new();
        for tile_log2 in TILES {
            if algorithm == Algorithm::Radix && tile_log2 < RADIX_TILE {
                continue;
            }
            let of_size = |n| self.passes(&trace(algorithm, variant, n, tile_log2));
            let sort: Value = (2..=FEW).map(of_size).collect();
            if sorts.iter().all(|(_, known)| *known != sort) {
                sorts.push((1 << tile_log2, sort));
            }
        }
        sorts
    }
}

/// All files, with their texts.
pub(crate) fn files() -> Vec<(String, String)> {
    let (mut files, mut sorts) = (Vec::new(), String::new());
    for algorithm in Algorithm::ALL {
        for variant in shown(algorithm) {
            let mut writer = Writer::default();
            let all = writer.sorts(algorithm, variant);
            let tiles: Vec<u32> = all.iter().map(|(tile, _)| *tile).collect();
            let steps =
                writer.steps.iter().map(|&step| json!([of_step(step), pairs(step, FEW as u64).concat()]));
            let text = json!({
                "steps": steps.collect::<Vec<_>>(),
                "tints": writer.tints,
                "kinds": writer.kinds,
                "sorts": all.into_iter().map(|(_, sort)| sort).collect::<Vec<_>>(),
            });
            let name = format!("{algorithm}-{variant}");
            let module = module("Sorts", &format!("export const sorts: Sorts = {text};\n"));
            files.push((format!("{name}.ts"), module));
            sorts += &format!(
                "  {{\n    algorithm: \"{algorithm}\",\n    variant: \"{variant}\",\n    tiles: {tiles:?},\n    what: {},\n    \
                 load: () => import(\"./{name}.js\"),\n  }},\n",
                json!(prose(algorithm, variant))
            );
        }
    }
    let index = format!(
        "/** The most elements. */\nexport const most = {FEW};\n\n\
         /** Bits of a digit. */\nexport const digitBits = {DIGIT_BITS};\n\n\
         export const methods: Method[] = [\n{sorts}];\n"
    );
    files.push(("index.ts".to_owned(), module("Method", &index)));
    files
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_variant_is_described() {
        for algorithm in Algorithm::ALL {
            for variant in shown(algorithm) {
                let text = prose(algorithm, variant);
                let sentences = text.matches(". ").count() + 1;
                assert!((3..=4).contains(&sentences) && text.ends_with('.'), "{algorithm} {variant}: {text}");
                assert!(!text.contains(['#', '[', '|']) && !text.contains(".."), "{text}");
            }
        }
        let block = prose(Algorithm::OddEven, Variant::Block);
        assert!(block.starts_with("Odd-even transposition compares neighbours"), "{block}");
        assert_eq!(sentences(|line| line == "## of nothing", 3), ".");
    }

    /// Performs the written passes on elements with distinct digits.
    fn performed(writer: &Writer, passes: &Value, mut elements: Vec<u64>) -> Vec<u64> {
        let number = |value: &Value| value.as_u64().expect("it is a number") as usize;
        for pass in passes.as_array().expect("there are passes") {
            let (kind, first, count, length) =
                (&writer.kinds[number(&pass[0])], number(&pass[1]), number(&pass[2]), number(&pass[3]));
            elements.resize(length.max(elements.len()), u64::MAX);
            for does in kind["does"].as_array().expect("there are layers") {
                match does {
                    Value::Number(_) => {
                        let within = pairs(writer.steps[number(does)], FEW as u64);
                        let within = within.into_iter().map(|pair| pair.map(|at| at as usize));
                        for [low, high] in within.filter(|pair| pair.iter().all(|&at| at < count)) {
                            let (low, high) = (first + low, first + high);
                            if elements[high] < elements[low] {
                                elements.swap(low, high);
                            }
                        }
                    }
                    Value::Array(sources) => {
                        elements = sources.iter().map(|from| elements[number(from)]).collect();
                    }
                    does if does == "move" => {
                        let digit = number(&kind["digit"]) as u32;
                        elements.sort_by_key(|&key| key >> (digit * DIGIT_BITS) & ((1 << DIGIT_BITS) - 1));
                    }
                    _ => {}
                }
            }
            elements.truncate(length);
        }
        // Padding is last.
        elements.retain(|&element| element != u64::MAX);
        elements
    }

    #[test]
    fn what_is_written_sorts_and_does_not_without_its_last_pass() {
        for algorithm in Algorithm::ALL {
            for variant in shown(algorithm) {
                for (n, tile_log2) in [(2, 3), (5, 3), (13, 4), (16, 3), (37, 3), (64, 4)] {
                    let mut writer = Writer::default();
                    let mut passes = writer.passes(&trace(algorithm, variant, n, tile_log2));
                    let elements: Vec<u64> =
                        (0..n as u64).map(|at| (at * 2_654_435_761 + 77) % (1 << 32)).rev().collect();
                    let mut sorted = elements.clone();
                    sorted.sort_unstable();
                    let what = format!("{algorithm} {variant} of {n} in tiles of 2^{tile_log2}");
                    assert_eq!(performed(&writer, &passes, elements.clone()), sorted, "{what}");
                    passes.as_array_mut().unwrap().pop();
                    let is_by_luck = n < 16 || algorithm == Algorithm::OddEven;
                    assert!(is_by_luck || performed(&writer, &passes, elements) != sorted, "{what}");
                }
            }
        }
    }

    /// Returns true if the comparisons of a layer are the written pairs of its step within the dispatch.
    fn is_written(layer: &Layer, dispatch: &Dispatch) -> bool {
        let Layer::Compare(step, found) = layer else { return true };
        let [first, count] = [dispatch.first(), dispatch.count()].map(u64::from);
        let within = pairs(*step, FEW as u64).into_iter().filter(|pair| pair.iter().all(|&at| at < count));
        let mut expected: Vec<_> = within.map(|pair| pair.map(|at| (first + at) as usize)).collect();
        let mut found: Vec<_> = found.iter().map(|pair| [pair.low, pair.high]).collect();
        expected.sort_unstable();
        found.sort_unstable();
        expected == found
    }

    #[test]
    fn written_pairs_are_those_of_the_trace() {
        let sorts = Algorithm::ALL.into_iter().flat_map(|it| shown(it).map(move |variant| (it, variant)));
        for (algorithm, variant) in sorts {
            let tiles = TILES.into_iter().filter(|&tile| algorithm != Algorithm::Radix || tile >= RADIX_TILE);
            for (n, tile) in (2..=FEW).flat_map(|n| tiles.clone().map(move |tile| (n, tile))) {
                let trace = trace(algorithm, variant, n, tile);
                let keys = KeyBuf::from((0..n as u32).rev().collect::<Vec<u32>>());
                let played = Played::new(&trace.plan, &keys).unwrap();
                for (dispatch, moment) in trace.plan.dispatches().zip(&played.moments) {
                    for layer in &moment.layers {
                        assert!(is_written(layer, dispatch), "{algorithm} {variant} of {n}: {dispatch:?}");
                        // The check must be able to fail: one pair too few.
                        let mut other = layer.clone();
                        if let Layer::Compare(_, found) = &mut other {
                            found.pop();
                            assert!(!is_written(&other, dispatch));
                        }
                    }
                }
            }
        }
    }
}
