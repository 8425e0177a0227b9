//! Text that is read and sorted: `gpusort sort`, with `--type`, `--nan`, `-r`, `-u` and `--top`.

use gpusort::Wanted;
use gpusort::unstable::io::{KeyOrder, Place, KeyOrder};
use gpusort::unstable::key::ElementType;

use crate::choices::{Choices, inputs};
use crate::library::{files, name, sort_text};
use crate::twin::number::{self, Asked, Key, Wrong};
use crate::twin::sorted;
use crate::twin::text::{Token, tokens};
use crate::{Shown, Spoil, differ, same, shown};

/// Bytes of options.
const OPTIONS: usize = 5;

/// # Errors
///
/// How the library and its twin differ.
pub fn compare(bytes: &[u8], spoil: Spoil) -> Result<(), String> {
    let (mut choices, data) = Choices::new(bytes, OPTIONS);
    let (element, direction, wanted) = (choices.text_type(), choices.direction(), choices.wanted());
    let inputs = inputs(data, 3);
    let case = (element, direction, wanted, Shown(&inputs));

    let mut library = sort_text(&files(&inputs), element, direction, wanted);
    spoil(&mut library);
    let twin = sort(&inputs, element, direction, wanted);
    same(&case, &library, &twin)?;
    if let (Err(refusal), Err(Some(place))) = (&library, &twin)
        && refusal.token.as_ref() != Some(place)
    {
        return Err(differ(&case, &shown(&library), &format!("refuses the token at {place}")));
    }
    Ok(())
}

/// What is asked of text.
pub fn asked(element: Option<ElementType>, direction: KeyOrder) -> Asked {
    // There are no fields that could be empty, and a token that is no number is an error.
    let rules = KeyOrder { nan: direction.nan, empty: Place::Error, invalid: Place::Error };
    Asked { element, rules, descending: direction.descending }
}

/// The tokens and their keys, in input order.
///
/// # Errors
///
/// What cannot be sorted.
pub fn keys<'a>(
    inputs: &[&'a [u8]],
    asked: &Asked,
) -> Result<Vec<(Token<'a>, Key)>, (Vec<Token<'a>>, Wrong)> {
    let tokens = tokens(inputs);
    let fields: Vec<&[u8]> = tokens.iter().map(|token| token.bytes).collect();
    match number::column(&fields, asked) {
        Ok(keys) => Ok(tokens.into_iter().zip(keys).collect()),
        Err(wrong) => Err((tokens, wrong)),
    }
}

/// What must come out.
///
/// # Errors
///
/// The place of the token that must be refused, where it is one.
pub fn sort(
    inputs: &[&[u8]],
    element: Option<ElementType>,
    direction: KeyOrder,
    wanted: Wanted,
) -> Result<Vec<u8>, Option<String>> {
    let asked = asked(element, direction);
    let records =
        keys(inputs, &asked).map_err(|(tokens, wrong)| wrong.record.map(|at| place(&tokens[at])))?;
    let order = |a: &(Token, Key), b: &(Token, Key)| number::order(&a.1, &b.1, &asked);
    let positions = sorted(&records, wanted.unique, wanted.top, order);
    Ok(positions.into_iter().flat_map(|at| [records[at].0.bytes, b"\n"].concat()).collect())
}

/// `file:line:column`.
fn place(token: &Token) -> String {
    format!("{}:{}:{}", name(token.input), token.line, token.column)
}
