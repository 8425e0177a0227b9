//! Sorted runs in memory and in files, and their merge.
//!
//! ```text
//! frames, differences     the form of a run: keys with records, or keys alone
//! spill                   runs in temporary files
//! steps                   the merge of runs by cuts and windows
//! records, elements       the merge of keys with records, or of keys alone
//! disorder                checks of the order
//! ```
//!
//! An internal part of `gpusort`: any release may change all of it.

// Values that nobody uses are noticed where all callers are known.
#![allow(clippy::return_self_not_must_use, clippy::len_without_is_empty)]

pub mod differences;
mod disorder;
mod elements;
pub mod frames;
mod numbered;
mod records;
mod spill;
mod steps;

use gpusort_base::error::{self, Error};
use gpusort_base::{cancel, human, memory, parallel};
use gpusort_engine::key_buf;
use gpusort_formats::batch::{Batches, Stretches, shown};
use gpusort_formats::binary::{self, BinaryInput};
use gpusort_formats::budget::Budget;
use gpusort_formats::fields::{InputKind, InputSpec};
use gpusort_formats::input::Input;
use gpusort_formats::input::opened::may_be_open;
use gpusort_formats::output::Output;
use gpusort_formats::piece::Piece;
use gpusort_formats::records::Print;
use gpusort_order as order;
use gpusort_order::Selection;
use gpusort_order::key::KeyWords;

pub use self::disorder::{Disorder, Last, not_sorted};
pub use self::elements::{ElementForm, Elements, Source};
pub use self::numbered::Numbered;
pub use self::records::{BESIDE_BYTES, Emit, MergeSpec, REPEATED, RowBatches, merge_records};
pub use self::records::{merge_rows, partition, push_numbered};
pub use self::spill::{Folders, Spill, Spilled};
pub use self::steps::{Merged, merge_down};

/// The number of bytes read at once from all inputs together, on a machine with few cores.
const BLOCKS: usize = 8 << 20;

/// Returns an error if standard input is named more than once.
fn check_stdin(inputs: &[Input]) -> Result<(), Error> {
    if inputs.iter().filter(|input| input.is_stdin()).count() > 1 {
        return Err(Error::input(Input::Stdin.name(), "can be read only once; name it once"));
    }
    Ok(())
}

/// Returns the first violation of the order in the concatenated inputs; with `unique`, repeated keys
/// violate the order, too. Calls `progress` with the bytes read so far.
///
/// # Errors
///
/// I/O errors, and any error of a sort that occurs before the first violation.
pub fn check(
    inputs: &[Input],
    how: &InputSpec,
    unique: bool,
    stretches: Stretches,
    progress: impl Fn(u64),
) -> Result<Option<Disorder>, Error> {
    if let InputKind::Bits(sources) = &how.kind {
        let found = elements::first_disorder(sources, how.by.order, unique, progress)?;
        return Ok(found.map(|(number, element, keys)| {
            let order = how.by.order.map(sources[number].element);
            let [before, value] = keys.map(|key| binary::shown(key, order));
            Disorder { place: format!("{}, element {element}", inputs[number].name()), value, before }
        }));
    }
    check_stdin(inputs)?;
    let budget = Budget::unlimited();
    let mut batches = Batches::new(inputs, how, &budget, stretches);
    // With more cores, larger batches.
    let most = stretches.most.max((parallel::threads() << 20).min(2 * stretches.most));
    let most = within_limits(4 * most as u64) as usize / 4;
    let mut last = Last::default();
    let orders = how.orders();
    let unique = unique.then_some(&orders[..]);
    while let Some(pieces) = batches.next(most)? {
        let show = |piece: &Piece, record, key| shown(piece, record, how, key);
        if let Some((.., disorder)) = last.follow(&show, &pieces, unique) {
            return Ok(Some(disorder));
        }
        progress(batches.chunks.bytes);
    }
    Ok(None)
}

/// Merges sorted inputs and writes the selected records. Equal records keep the order of the inputs. Binary elements
/// are written as text if `print` is given.
///
/// # Errors
///
/// I/O errors; an unsorted input; any error of a sort.
pub fn merge(
    inputs: &[Input],
    how: &InputSpec,
    selection: Selection,
    print: Option<Print>,
    to: &mut Output,
    mut progress: impl FnMut(u64),
) -> Result<Merged, Error> {
    check_stdin(inputs)?;
    let shut = !may_be_open(inputs.len());
    if let InputKind::Bits(sources) = &how.kind {
        let Some(element) = how.element() else { return Ok(Merged::default()) };
        let direction = how.by.order;
        let open = |(source, input): (_, &Input)| {
            Ok(Source::Input(source, input.open_as(shut)?, BinaryInput::refuses_nan(source, direction)))
        };
        let sources = sources.iter().zip(inputs).map(open).collect::<Result<_, Error>>()?;
        let (order, memory) = (direction.map(element), within_limits(elements::MEMORY));
        let form = print.map_or(ElementForm::Binary, ElementForm::Text);
        let elements = Elements { sources, order, selection, form, memory };
        return merge_elements(elements, to, &mut progress);
    }
    let blocks = (parallel::threads() << 21).clamp(BLOCKS, 3 * BLOCKS);
    let bytes = (within_limits(blocks as u64 * TIMES) / TIMES) as usize;
    let budget = Budget::unlimited();
    let most = steps::share(1, inputs.len() as u64, bytes as u64 / 4 * 3);
    let new = |(number, input)| {
        let mut batches =
            Batches::new(std::slice::from_ref(input), how, &budget, Stretches { most, piece: None });
        (batches.shut, batches.has_ranges, batches.known.is_later) = (shut, true, number > 0);
        batches
    };
    let sources: Vec<Batches> = inputs.iter().enumerate().map(new).collect();
    records::merge_inputs(sources, how, selection, bytes, to, &mut progress)
}

/// Merges runs of elements.
///
/// # Errors
///
/// I/O errors; a run that was changed.
pub fn merge_elements(
    elements: Elements,
    to: &mut Output,
    progress: &mut dyn FnMut(u64),
) -> Result<Merged, Error> {
    let merge = match elements.order.element.key_words() {
        KeyWords::One => elements::merge::<u32>,
        KeyWords::Two => elements::merge::<u64>,
    };
    merge(elements, to, progress)
}

/// Returns `most` bytes, or less if little memory is available.
fn within_limits(most: u64) -> u64 {
    if memory::address_space_left().is_some() {
        // The threads take their part of the address space first.
        parallel::threads();
    }
    memory::available().map_or(most, |left| most.min(left / 8))
}

/// The memory of a short record in multiples of its bytes: as read, as kept with its key, and as written.
const TIMES: u64 = 8;
