//! Raw elements: sorted, checked and merged, beside a stable sort by a reference order.

use gpusort::Format;
use gpusort_planner::key::ElementType;

use crate::asked::Asked;
use crate::bits;
use crate::choices::{Choices, inputs};
use crate::library::{self, files};
use crate::pipeline::Ask;
use crate::{Shown, Spoil, differ, properties, same, shown};

/// Bytes of options.
const OPTIONS: usize = 8;

/// # Errors
///
/// The first difference from the reference, or the property that fails.
pub fn compare(bytes: &[u8], spoil: Spoil) -> Result<(), String> {
    let (mut choices, data) = Choices::new(bytes, OPTIONS);
    let (order, selection) = (choices.order(), choices.selection());
    let element = choices.of(&ElementType::ALL);
    let (to_text, pieces) = (choices.below(4) == 1, choices.below(64) + 1);
    let inputs = inputs(data, 4);
    let asked = Asked {
        format: Some(Format::Binary),
        element: Some(element),
        nan: order.nan,
        descending: order.descending,
        unique: selection.unique,
        ..Asked::default()
    };
    let case = (&asked, selection, to_text, Shown(&inputs));
    let to = Some(if to_text { Format::Text } else { Format::Binary });
    let ask = Ask { first: library::first(selection), positions: false, to };
    let mut library = library::sort(asked.options(files(&inputs)), ask).map(|sorted| sorted.bytes);
    spoil(&mut library);
    let elements =
        inputs.iter().map(|input| bits::elements(input, element, false)).collect::<Option<Vec<_>>>();
    let right = elements
        .ok_or("a part of an element")
        .and_then(|all| bits::sorted(&all.concat(), element, order, selection));
    match (&library, &right) {
        (Ok(text), Ok(elements)) if to_text => bits::is_text_of(text, elements, element)
            .map_err(|problem| differ(&case, &shown(&library), &problem))?,
        _ => same(&case, &library, &right.map(|elements| bits::written(&elements, element)))?,
    }
    let top = selection.first.unwrap_or(2) as u64;
    properties::binary(asked, inputs, top, pieces, spoil)
}
