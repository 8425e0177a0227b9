//! A plan performed by the CPU interpreter: the elements after each pass and, if they are few, each
//! comparison.
//!
//! An element is its rank, the position in the sorted order; equal keys share the lowest of their
//! ranks unless positions decide. A rank gives the colour, the printed value and the outcome of a
//! comparison, so networks are interpreted on ranks alone. Plans with digits carry the keys, too.

use std::collections::{HashMap, VecDeque};

use gpusort_order::item::{Item, Pair};
use gpusort_order::network::Step;
use gpusort_planner::kernels::DIGIT_BITS;
use gpusort_planner::plan::{Dispatch, Kernel, Plan, Radix, RadixWork, Scope, TransposeWork, interpreter};

use super::heat::Heat;
use super::{FEW, FILLER, MOST, steps};
use gpusort_base::error::Error;
use gpusort_engine::key_buf::{KeyBuf, by_width, in_one};

/// The most comparisons for a picture: some tens of seconds.
const MOST_COMPARISONS: u64 = 1 << 35;

/// A plan performed on an input.
pub struct Played {
    /// The keys in order: a rank is a place here.
    pub sorted: Vec<u64>,
    /// The rank of each element of the input.
    pub input: Vec<u32>,
    /// Each dispatch, where there are at most [`FEW`] elements.
    pub moments: Vec<Moment>,
    /// The elements after dispatches, as colours.
    pub(super) heat: Heat,
    /// The dispatch that leaves the elements in order for good; 0 if the input is sorted.
    pub in_order_after: Option<u64>,
}

/// One dispatch on few elements.
#[derive(Clone, Debug)]
pub struct Moment {
    /// The elements before it, as ranks.
    pub before: Vec<u32>,
    /// Its operations, in order.
    pub layers: Vec<Layer>,
    /// The elements after it.
    pub after: Vec<u32>,
}

/// A comparison that was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Compared {
    /// Where the smaller element goes.
    pub low: usize,
    /// Where the larger one goes.
    pub high: usize,
    /// True if they changed places.
    pub swapped: bool,
}

impl Compared {
    /// Returns true if the larger element goes up.
    pub(super) fn falls(&self) -> bool {
        self.low > self.high
    }
}

/// Simultaneous operations.
#[derive(Clone, Debug)]
pub enum Layer {
    /// The comparisons of a step.
    Compare(Step, Vec<Compared>),
    /// Elements go to other places: for each place the one that its element comes from, if any
    /// does.
    Move(Vec<Option<usize>>),
    /// The number of each of a digit's values; empty where counts are cleared.
    Count(Vec<u32>),
    /// The number of lower values.
    Sum(Vec<u32>),
}

impl Layer {
    /// Its comparisons.
    pub(super) fn pairs(&self) -> &[Compared] {
        match self {
            Self::Compare(_, pairs) => pairs,
            _ => &[],
        }
    }
}

impl Played {
    /// Performs the plan on these keys.
    ///
    /// # Errors
    ///
    /// Too many elements or comparisons for a picture.
    ///
    /// # Panics
    ///
    /// When the plan is for another number of elements.
    pub fn new(plan: &Plan, keys: &KeyBuf) -> Result<Self, Error> {
        let n = keys.len();
        assert_eq!(plan.n() as usize, n, "the plan is for another size");
        let (_, comparisons) = super::work(plan);
        gpusort_order::error::at_most([("elements for a picture", n as u64, MOST as u64)])?;
        gpusort_order::error::at_most([("comparisons for a picture", comparisons, MOST_COMPARISONS)])?;
        let keys: Vec<u64> =
            by_width!(keys.borrowed(), blocks => in_one(blocks).iter().copied().map(Item::key).collect());
        let mut order: Vec<u32> = (0..n as u32).collect();
        order.sort_by_key(|&at| keys[at as usize]);
        let sorted: Vec<u64> = order.iter().map(|&at| keys[at as usize]).collect();
        let mut input = vec![0; n];
        for (place, (&at, key)) in order.iter().zip(&sorted).enumerate() {
            let is_unique = plan.shape().payload;
            let rank = if is_unique { place } else { sorted.partition_point(|other| other < key) };
            input[at as usize] = rank as u32;
        }
        let mut played = Self {
            heat: Heat::new(plan, &input),
            moments: Vec::new(),
            in_order_after: input.is_sorted().then_some(0),
            sorted,
            input,
        };
        if plan.distinct_dispatches().any(|it| matches!(it.kernel(), Kernel::Radix(_) | Kernel::Select(_))) {
            let item = |&rank: &u32| Pair { key: played.sorted[rank as usize], payload: rank };
            let items = played.input.iter().map(item).collect();
            played.play(plan, items, Pair { key: u64::MAX, payload: FILLER }, |item| item.payload);
        } else {
            played.play(plan, played.input.clone(), FILLER, |rank| rank);
        }
        Ok(played)
    }

    fn play<T: Item>(&mut self, plan: &Plan, mut items: Vec<T>, last: T, rank: impl Fn(T) -> u32) {
        let n = self.input.len();
        items.resize(plan.room().max(plan.other_room()) as usize, last);
        let (mut before, mut live) = (self.input.clone(), n);
        interpreter::watch(plan, &mut items, last, |done, dispatch, items| {
            let access = dispatch.access();
            let writes = access.writes as usize;
            live = if access.changes_sides { writes } else { live.max(writes) };
            let items = &items[..live];
            let is_in_order = items.is_sorted_by_key(|&item| rank(item));
            self.in_order_after = is_in_order.then(|| self.in_order_after.unwrap_or(done));
            let is_few = n <= FEW;
            if !is_few && !self.heat.wants(done) {
                return;
            }
            let after: Vec<u32> = items.iter().map(|&item| rank(item)).collect();
            self.heat.take(done, &after);
            if is_few {
                let layer = at_once(dispatch, &before, &after, &self.sorted);
                let layers = layer.map_or_else(|| compared(dispatch, &before), |layer| vec![layer]);
                let before = std::mem::replace(&mut before, after.clone());
                self.moments.push(Moment { before, layers, after });
            }
        });
        self.heat.end();
    }

    /// The number of places in the diagram: the most elements of a moment.
    pub(super) fn wires(&self) -> usize {
        let wires = self.moments.iter().map(|moment| moment.before.len().max(moment.after.len()));
        wires.max().unwrap_or(self.input.len())
    }

    /// The elements that the last dispatch leaves.
    pub fn last(&self) -> &[u32] {
        self.moments.last().map_or(&self.input, |moment| &moment.after)
    }

    /// The network alone: a moment for each stage, or for each phase, without regard to passes. Unless
    /// `of_elements`, each comparison counts as a swap, so that all comparisons look alike.
    #[must_use]
    pub fn stages(mut self, of_elements: bool) -> Self {
        let mut ranks = self.input.clone();
        ranks.resize(ranks.len().max(self.last().len()), FILLER);
        let mut stages: Vec<Moment> = Vec::new();
        let mut last = None;
        for layer in self.moments.into_iter().flat_map(|moment| moment.layers) {
            let Layer::Compare(step, mut pairs) = layer else { continue };
            let stage = match step {
                Step::Mirror { block_log2 } | Step::Alternating { block_log2, .. } => Some(block_log2),
                Step::Stride { .. } => last,
                Step::Phase { .. } => None,
            };
            if stage.is_none() || stage != last {
                stages.push(Moment { before: ranks.clone(), layers: Vec::new(), after: Vec::new() });
            }
            last = stage;
            pairs.iter().filter(|pair| pair.swapped).for_each(|pair| ranks.swap(pair.low, pair.high));
            pairs.iter_mut().for_each(|pair| pair.swapped |= !of_elements);
            if let Some(moment) = stages.last_mut() {
                moment.layers.push(Layer::Compare(step, pairs));
                moment.after.clone_from(&ranks);
            }
        }
        self.moments = stages;
        self
    }

    /// The number of drawn comparisons that swapped.
    pub fn swaps(&self) -> u64 {
        let pairs = self.moments.iter().flat_map(|moment| &moment.layers).flat_map(Layer::pairs);
        pairs.filter(|pair| pair.swapped).count() as u64
    }
}

/// The comparisons of a dispatch, one step after another.
fn compared(dispatch: &Dispatch, before: &[u32]) -> Vec<Layer> {
    let mut ranks = before.to_vec();
    // The elements that fill up are there only once they were written.
    ranks.resize(ranks.len().max(dispatch.access().writes as usize), FILLER);
    let (first, count) = (dispatch.first() as usize, u64::from(dispatch.count()));
    let of_step = |step: Step| {
        let pairs = step.within(count).map(|pair| {
            let (low, high) = (first + pair.low as usize, first + pair.high as usize);
            let swapped = ranks[high] < ranks[low];
            if swapped {
                ranks.swap(low, high);
            }
            Compared { low, high, swapped }
        });
        Layer::Compare(step, pairs.collect())
    };
    steps(dispatch).into_iter().map(of_step).collect()
}

/// The layer of a dispatch; `None` for comparisons in place.
fn at_once(dispatch: &Dispatch, before: &[u32], after: &[u32], sorted: &[u64]) -> Option<Layer> {
    match dispatch.kernel() {
        Kernel::Transpose(TransposeWork::Transpose { rows_log2, columns_log2 }) => {
            let from = |place: usize| {
                let (column, row) = (place >> rows_log2, place & ((1 << rows_log2) - 1));
                Some((row << columns_log2) + column)
            };
            Some(Layer::Move((0..after.len()).map(from).collect()))
        }
        Kernel::Select(_) | Kernel::Top(_) if dispatch.access().changes_sides => Some(moved(before, after)),
        Kernel::Radix(Radix { scope: Scope::Leading(_), work, .. }) if work != RadixWork::Clear => {
            (before != after).then(|| moved(before, after))
        }
        Kernel::Radix(radix) => {
            let digit = |rank: u32| {
                let key = sorted.get(rank as usize).copied().unwrap_or(u64::MAX);
                (key >> (radix.digit * DIGIT_BITS)) as usize & ((1 << DIGIT_BITS) - 1)
            };
            let mut counts = vec![0; 1 << DIGIT_BITS];
            before.iter().for_each(|&rank| counts[digit(rank)] += 1);
            Some(match radix.work {
                RadixWork::Histogram | RadixWork::Count { .. } => Layer::Count(counts),
                RadixWork::Scan => {
                    let mut sum = 0;
                    counts.iter_mut().for_each(|count| sum += std::mem::replace(count, sum));
                    Layer::Sum(counts)
                }
                // A digit with one value changes nothing.
                RadixWork::Sweep(_) | RadixWork::Scatter if counts.contains(&(before.len() as u32)) => {
                    return None;
                }
                RadixWork::Tile | RadixWork::Sweep(_) | RadixWork::Scatter => moved(before, after),
                RadixWork::Clear
                | RadixWork::Sample
                | RadixWork::Choose
                | RadixWork::Cut(_)
                | RadixWork::Finish(_)
                | RadixWork::Runs(_) => Layer::Count(Vec::new()),
            })
        }
        _ => None,
    }
}

/// The move from one array to the other; equal ranks keep their order.
fn moved(before: &[u32], after: &[u32]) -> Layer {
    let mut places: HashMap<u32, VecDeque<usize>> = HashMap::new();
    for (place, &rank) in before.iter().enumerate() {
        places.entry(rank).or_default().push_back(place);
    }
    let from = |rank: &u32| places.get_mut(rank).and_then(VecDeque::pop_front);
    Layer::Move(after.iter().map(from).collect())
}
