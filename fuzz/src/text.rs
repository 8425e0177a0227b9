//! Text that is read and sorted: `gpusort sort`, with `--type`, `--nan`, `-r`, `-u` and `--top`.

use gpusort_order::{Invalid, KeyOrder, Nulls, Reading, Selection};
use gpusort_planner::key::ElementType;

use crate::asked::{self, By, Kind};
use crate::choices::{Choices, inputs};
use crate::library::{self, Said, files, name};
use crate::pipeline::Ask;
use crate::twin::kinds::are_long;
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
    let ((element, order, one_a_line), selection) = (choices.text(), choices.selection());
    if matches!(order.reading, Reading::Sizes | Reading::Durations) && are_long(data) {
        return Ok(());
    }
    let inputs = inputs(data, 3);
    let case = (element, order, one_a_line, selection, Shown(&inputs));

    let by = By { element, order, ..By::default() };
    let (kind, is_one) = kind(order, one_a_line);
    let asked = asked::Asked { kind, by, unique: selection.unique };
    let options = || asked.options(files(&inputs));
    let ask = Ask { first: library::first(selection), ..Ask::default() };
    let sorted = library::sort(options(), ask);
    // Tokens that are no numbers are rows.
    let may_differ = inputs.len() > 1 && order.reading != Reading::Numbers;
    library::same_in_parts(&case, &options, may_differ, ask, &sorted)?;
    let mut library: Said = sorted.map(|sorted| sorted.bytes);
    spoil(&mut library);
    let has_several = is_one && has_several(&tokens(&inputs));
    let twin = if has_several { Err(None) } else { sort(&inputs, element, order, selection) };
    same(&case, &library, &twin)?;
    if let (Err(refusal), Err(Some(place))) = (&library, &twin)
        && refusal.token.as_ref() != Some(place)
    {
        return Err(differ(&case, &shown(&library), &format!("refuses the token at {place}")));
    }
    Ok(())
}

/// Whether a line has several tokens.
pub fn has_several(tokens: &[Token]) -> bool {
    tokens.windows(2).any(|pair| (pair[0].input, pair[0].line) == (pair[1].input, pair[1].line))
}

/// What text is, and whether a line may have one number alone, which is not looked at where it is
/// none.
pub fn kind(order: KeyOrder, one_a_line: bool) -> (Kind, bool) {
    (Kind::Text { one_a_line }, one_a_line && order.reading == Reading::Numbers)
}

/// What is asked of text.
pub fn asked(element: Option<ElementType>, order: KeyOrder) -> Asked {
    // There are no fields that could be empty, and a token that is no number is an error.
    let order = KeyOrder { empty: Nulls::Error, invalid: Invalid::Error, ..order };
    Asked { element, order, ..Asked::default() }
}

/// Tokens and their keys.
type Records<'a> = Vec<(Token<'a>, Key)>;

/// The tokens and their keys, in input order.
///
/// # Errors
///
/// What cannot be sorted, with all tokens.
pub fn keys<'a>(inputs: &[&'a [u8]], asked: &Asked) -> Result<Records<'a>, (Vec<Token<'a>>, Wrong)> {
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
    order: KeyOrder,
    selection: Selection,
) -> Result<Vec<u8>, Option<String>> {
    let asked = asked(element, order);
    let records =
        keys(inputs, &asked).map_err(|(tokens, wrong)| wrong.record.map(|at| place(&tokens[at])))?;
    let compare = |a: &(Token, Key), b: &(Token, Key)| number::order(&a.1, &b.1, &asked);
    let positions = sorted(&records, selection, compare);
    Ok(positions.into_iter().flat_map(|at| [records[at].0.bytes, b"\n"].concat()).collect())
}

/// `file:line:column`.
fn place(token: &Token) -> String {
    format!("{}:{}:{}", name(token.input), token.line, token.column)
}
