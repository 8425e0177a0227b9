//! The sorts of one kind of elements, as written: plans for any number of elements, compared with the
//! planner's own for many numbers.

use std::collections::BTreeMap;

use gpusort_planner::kernels::{ELEMENT_BINDINGS, FIRST_CLASS_LOG2, Grid, PipelineKey, Select};
use gpusort_planner::plan::{
    AuxBuffer, CallerPlans, Dispatch, Plan, longest_row, most_long_segments, prepare_top_text,
    segment_groups, segments_text, segments_words,
};
use gpusort_trace::without_nulls;
use serde_json::{Map, Value, json};

use crate::count::{Base, Count, Size, Sizes, block, fitting};
use crate::text::Items;

/// The most elements that plans are compared for.
const MOST: u32 = (1 << 30) - 1;

/// A kind of elements on one class of devices.
pub(crate) struct Sort<'a> {
    callers: &'a CallerPlans,
    sizes: Sizes,
    kernels: Vec<(PipelineKey, Value)>,
    items: &'a mut Items,
}

type Cases = Vec<(Size, u64)>;

impl<'a> Sort<'a> {
    pub(crate) fn new(callers: &'a CallerPlans, items: &'a mut Items) -> Self {
        let tuning = &callers.tuning;
        let sizes =
            Sizes { tile: tuning.tile.size(), chunks: tuning.chunks, longest: longest_row(&callers.limits) };
        Self { callers, sizes, kernels: Vec::new(), items }
    }

    /// The whole object.
    pub(crate) fn json(mut self) -> Value {
        let (passes, buffers) = self.sort();
        json!({
            "descending": self.callers.transform.descending,
            "payload": self.callers.shape.payload,
            "tile": self.sizes.tile,
            "chunks": self.sizes.chunks,
            "longest": self.sizes.longest,
            "digits": self.callers.transform.digits(),
            "buffers": buffers,
            "passes": passes,
            "top": self.top(),
            "segments": self.segments(),
            "rows": self.rows(),
            "kernels": self.kernels.into_iter().map(|(_, kernel)| kernel).collect::<Vec<_>>(),
        })
    }

    fn digits(&self) -> u64 {
        self.callers.transform.digits().into()
    }

    /// Numbers of elements to compare plans for.
    fn numbers(&self) -> impl Iterator<Item = u32> + use<> {
        let tile = self.sizes.tile;
        let powers = (12..=30).flat_map(|log2| [(1 << log2) - 1, 1 << log2, (1 << log2) + 1]);
        let tiles = (1..1100).step_by(7).flat_map(move |tiles| [tiles * tile, tiles * tile + 1]);
        (2..600).chain(powers).chain(tiles).filter(|&n| n <= MOST)
    }

    /// The number of the kernel of a dispatch.
    fn kernel(&mut self, dispatch: &Dispatch) -> usize {
        let key = dispatch.pipeline().of_slices();
        self.kernels.iter().position(|(known, _)| *known == key).unwrap_or_else(|| {
            let kernel = kernel(key, self.items);
            self.kernels.push((key, kernel));
            self.kernels.len() - 1
        })
    }

    /// A pass; `numbering` is the same pass where it also numbers the payload, or else `dispatch`.
    fn pass(&mut self, dispatch: &Dispatch, numbering: &Dispatch, workgroups: &Count) -> Value {
        let (kernel, numbered) = (self.kernel(dispatch), self.kernel(numbering));
        without_nulls(json!({
            "kernel": kernel,
            "workgroups": workgroups.json(),
            "digit": (dispatch.digit() > 0).then(|| dispatch.digit()),
            "swaps": dispatch.access().changes_sides.then_some(true),
            "numbered": (numbered != kernel && self.callers.shape.payload).then_some(numbered),
            "group": dispatch.group().map(|group| group.number),
        }))
    }

    /// The workgroups of a dispatch on `n` elements.
    fn workgroups(&self, dispatch: &Dispatch, n: u32) -> u64 {
        let dispatch = dispatch.for_fewer(n, &self.callers.limits);
        dispatch.expect("it is for fewer").grid().workgroups()
    }

    /// The formula for the workgroups of a dispatch. The cases have workgroups of grids with several rows.
    fn grid(&self, candidates: impl IntoIterator<Item = Count>, cases: &[(Size, u64)]) -> Count {
        let grid = |workgroups| Grid::new(workgroups, &self.callers.limits).map_or(0, Grid::workgroups);
        fitting("a dispatch", self.sizes, candidates, cases, grid)
    }

    /// The passes of a sort of all, and the words of buffers.
    fn sort(&mut self) -> (Vec<Value>, Map<String, Value>) {
        let plan = |n| self.callers.sort(n).expect("such elements are planned for");
        let plans: Vec<Plan> = self.numbers().map(plan).collect();
        let whole = plan(MOST);
        let times = |times| [Base::One, Base::Tiles, Base::Chunks].map(|of| Count { times, ..Count::of(of) });
        let mut passes = Vec::new();
        // The preparation does what the first is for: it clears.
        for (number, (first, largest)) in plans[0].dispatches().zip(whole.dispatches()).enumerate().skip(1) {
            let mut cases = Cases::new();
            for plan in &plans {
                let dispatch = plan.dispatches().nth(number).expect("all plans have as many");
                let (capacity, tile) = (plan.n(), self.sizes.tile);
                let some = [1, 2, tile, tile + 1, capacity / 3, capacity - 1, capacity];
                for n in some.into_iter().filter(|&n| n > 0 && n <= capacity) {
                    cases.push((Size { capacity, n, k: 0 }, self.workgroups(dispatch, n)));
                }
            }
            let size = block(|n| self.workgroups(largest, n));
            let blocks = Count { most: self.workgroups(largest, MOST), ..Count::of(Base::Blocks([size])) };
            let workgroups = self.grid(times(self.workgroups(first, 1)).into_iter().chain([blocks]), &cases);
            passes.push(self.pass(first, first, &workgroups));
        }
        let words = |(aux, least): &(AuxBuffer, u64)| {
            let case = |plan: &Plan| (Size::all(plan.n()), words_of(plan, aux.name));
            let cases = plans.iter().map(case).collect();
            let status = Count { times: 512, plus: self.digits(), ..Count::of(Base::Tiles) };
            let candidates = times(*least).into_iter().chain([status]);
            (aux.name.to_owned(), self.words(aux.name, candidates, &cases).json())
        };
        let buffers = plans[0].aux_buffers().iter().map(words).collect();
        (passes, buffers)
    }

    fn words(&self, name: &str, candidates: impl IntoIterator<Item = Count>, cases: &Cases) -> Count {
        fitting(name, self.sizes, candidates, cases, |words| words)
    }

    /// The passes that select the first elements, and from how many on this is faster.
    fn top(&mut self) -> Value {
        let plan = |k, n| self.callers.top(k, n).expect("such elements are planned for");
        let least = (2..MOST).find(|&n| plan(1, n).is_some()).expect("many elements are selected from");
        for n in self.numbers().filter(|&n| n >= 4) {
            for k in [1, n / 4, n / 4 + 1] {
                assert_eq!(
                    plan(k, n).is_some(),
                    n >= least && k <= n / 4,
                    "the first {k} of {n} are selected"
                );
            }
        }
        let many = plan(1, MOST).expect("few of many are selected");
        let of_passes = |(number, dispatch): (usize, &Dispatch)| {
            let number_of = |n| self.workgroups(dispatch, n);
            let selected = |k| {
                let plan = plan(k, MOST).expect("few of many are selected");
                plan.dispatches().nth(number).expect("all plans have as many").grid().workgroups()
            };
            let mut cases: Cases =
                self.numbers().map(|n| (Size { capacity: MOST, n, k: 1 }, number_of(n))).collect();
            let some = [2, 255, 256, 257, 4097, 99_999, 1 << 22, (1 << 22) + 1, MOST / 4];
            cases.extend(some.map(|k| (Size { capacity: MOST, n: MOST, k }, selected(k))));
            let size = block(number_of);
            // Counts without a grid of several rows.
            let most = number_of(MOST).max(selected(MOST / 4));
            // Parts are the most where all of them are of one unit.
            let units = (1..2100).map(|units| units * size.min(MOST / 2100));
            cases.extend(units.map(|n| (Size { capacity: MOST, n, k: 1 }, number_of(n))));
            let parts = cases.iter().map(|(_, number)| *number).max().unwrap_or(0) as u32;
            let up_to = |most, of| Count { most, ..Count::of(of) };
            let candidates = [
                Count { times: number_of(1), ..Count::of(Base::One) },
                up_to(most, Base::Blocks([size])),
                Count::of(Base::Parts([size, parts])),
                up_to(most, Base::Selected([block(|k| selected(k.min(MOST / 4)))])),
            ];
            (*dispatch, self.grid(candidates, &cases))
        };
        let passes: Vec<(Dispatch, Count)> = many.dispatches().enumerate().map(of_passes).collect();
        let words = |(name, bytes)| (name, Count { times: bytes / 4, ..Count::of(Base::One) }.json());
        json!({
            "least": least,
            "items": self.items.of(&prepare_top_text(self.callers)),
            "buffers": Select::ROOM.map(words).into_iter().collect::<BTreeMap<_, _>>(),
            "passes": passes.iter().map(|(dispatch, workgroups)| self.pass(dispatch, dispatch, workgroups)).collect::<Vec<_>>(),
        })
    }

    /// The passes that sort segments: groups of short ones, and then long ones.
    fn segments(&mut self) -> Value {
        let longest = self.sizes.longest;
        let plan = |n, iota, are_long| {
            let lengths = if are_long { longest + 1..=n } else { 0..=n };
            self.callers.segments(n, iota, &lengths).expect("such elements are planned for")
        };
        let groups = segment_groups(&self.callers.limits).expect("every device has room for a tile");
        let whole = plan(MOST, false, false);
        let with_iota = plan(MOST, true, false);
        let mut passes = Vec::new();
        for (number, (dispatch, iota)) in whole.dispatches().zip(with_iota.dispatches()).enumerate() {
            let most = self.workgroups(dispatch, MOST);
            let count = match groups.get(number) {
                Some((tile, group)) => {
                    let class = |log2: u32| {
                        let shortest = if log2 == FIRST_CLASS_LOG2 { 2 } else { (1_u32 << (log2 - 1)) + 1 };
                        [shortest, 1_u32 << (tile.log2() - log2)]
                    };
                    Count { most, ..Count::of(Base::Listed(group.classes().flat_map(class).collect())) }
                }
                None if dispatch.access().changes_sides => Count::of(Base::LongTiles),
                None => Count { most, ..Count::of(Base::LongTiles) },
            };
            passes.push((*dispatch, *iota, count));
        }
        for n in self.numbers() {
            for are_long in [false, true] {
                let plan = plan(n, false, are_long);
                // Passes without work are left out: the rule is in npm/src/sorter.ts, too.
                let there = passes.iter().enumerate().filter(|&(number, (_, _, count))| {
                    if number < groups.len() {
                        !are_long && count.value(self.sizes, Size::all(n)) > 0
                    } else {
                        n > self.sizes.longest
                    }
                });
                let there: Vec<_> = there.map(|(_, pass)| pass).collect();
                assert_eq!(there.len() as u64, plan.dispatch_count(), "passes over segments in {n} elements");
                for (dispatch, (template, _, count)) in plan.dispatches().zip(there) {
                    assert_eq!(dispatch.pipeline(), template.pipeline(), "segments in {n} elements");
                    assert_eq!(dispatch.digit(), template.digit(), "segments in {n} elements");
                    self.grid([count.clone()], &[(Size::all(n), self.workgroups(dispatch, n))]);
                }
            }
        }
        let limits = &self.callers.limits;
        let plans: Vec<Plan> = self.numbers().map(|n| plan(n, false, false)).collect();
        let digits = self.digits();
        let of = |of, times, plus| Count { times, plus, ..Count::of(of) };
        // Without long segments, other buffers of these names have room.
        let needed = |name: &str, count: Count| {
            let are_long = |plan: &&Plan| plan.n() > self.sizes.longest;
            let case = |plan: &Plan| (Size::all(plan.n()), words_of(plan, name));
            self.words(name, [count], &plans.iter().filter(are_long).map(case).collect()).json()
        };
        let found = self.numbers().map(|n| (Size::all(n), segments_words(n, limits))).collect();
        let each = segments_words(self.sizes.longest + 1, limits) - segments_words(0, limits);
        let found = self.words("segments", [of(Base::Long, each, segments_words(0, limits))], &found);
        let buffers = json!({
            "segments": found.json(),
            "histograms": needed("histograms", of(Base::Long, 256 * digits, 0)),
            "status": needed("status", of(Base::LongTiles, 512, digits)),
            "segment_tiles": needed("segment_tiles", of(Base::LongTiles, 4, 0)),
            "segment_classes": needed("segment_classes", of(Base::One, 64, 0)),
        });
        let long = self.numbers().map(|n| (Size::all(n), most_long_segments(n, limits).into())).collect();
        self.words("long segments", [Count::of(Base::Long)], &long);
        let text = segments_text(self.callers).expect("there are as many groups as there may be");
        let items = self.items.of(&text);
        let passes = passes.iter().map(|(dispatch, iota, count)| self.pass(dispatch, iota, count));
        let passes: Vec<Value> = passes.collect();
        json!({ "items": items, "buffers": buffers, "passes": passes })
    }

    /// For rows of up to each power of two: kernels that move a payload, and that number it, and rows in a
    /// tile.
    fn rows(&mut self) -> Vec<Value> {
        let mut rows = Vec::new();
        for log2 in 0..=self.sizes.longest.ilog2() {
            let longest = 1 << log2;
            let dispatch = |count, length, iota| {
                let plan = self.callers.rows(count, length, iota).expect("such rows are planned for");
                assert_eq!(plan.dispatch_count(), 1, "{count} rows of {length}");
                *plan.dispatches().next().expect("it is one")
            };
            let [moved, numbered] = [false, true].map(|iota| dispatch(1, longest, iota));
            let workgroups = |rows: u32| dispatch(rows, longest, false).grid().workgroups();
            let each = block(|rows| workgroups(rows.min(MOST / longest)));
            for length in [longest / 2 + 1, longest] {
                for count in [1, 2, each, each + 1, 77_777].into_iter().filter(|count| count * length <= MOST)
                {
                    let dispatch = dispatch(count, length, false);
                    assert_eq!(dispatch.pipeline(), moved.pipeline(), "rows of {length}");
                    let case = (Size::all(count), dispatch.grid().workgroups());
                    self.grid([Count::of(Base::Blocks([each]))], &[case]);
                }
            }
            let moved = self.kernel(&moved);
            let numbered = if self.callers.shape.payload { self.kernel(&numbered) } else { moved };
            rows.push(json!([moved, numbered, each]));
        }
        rows
    }
}

/// The words of a buffer in a plan.
fn words_of(plan: &Plan, name: &str) -> u64 {
    plan.aux_buffers().iter().find(|(own, _)| own.name == name).map_or(0, |(_, words)| *words)
}

fn kernel(key: PipelineKey, items: &mut Items) -> Value {
    let (text, entry) = key.module();
    let bindings = key.bindings();
    let mut bound = vec![("keys", false), ("payload", !bindings.payload)];
    let others = [("other keys", bindings.other), ("other payload", bindings.other && bindings.payload)];
    bound.extend(others.into_iter().filter(|(_, is_bound)| *is_bound).map(|(name, _)| (name, false)));
    let numbers: Vec<u32> =
        (0..bound.len() as u32).chain((ELEMENT_BINDINGS..).take(bindings.aux_buffers.len())).collect();
    bound.extend(bindings.aux_buffers.iter().map(|aux| (aux.name, aux.read_only)));
    json!({ "entry": entry, "items": items.of(&text), "bindings": numbers, "buffers": bound })
}
