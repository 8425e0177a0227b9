//! Columns of fields, which may be text, numbers, times and others: what each is ordered by.

use gpusort_order::{Invalid, KeyOrder, Nulls, Reading, TextForm, TextOrder};

use super::number::{self, Asked, Key, Spelled, Wrong};
use super::{kinds, spelling};

/// What a key orders a record by.
#[derive(Clone, Debug, Default)]
pub struct Field {
    /// As text: without quotes, with all blanks that count.
    pub text: Vec<u8>,
    /// As anything else, without blanks around it: of a comment all of it.
    pub value: Vec<u8>,
}

/// What nothing reads.
const NONE: &[u8] = b"none";

fn is_na(text: &[u8], asked: &Asked) -> bool {
    text.is_empty() || asked.spelling.na.iter().any(|word| word.as_bytes() == text)
}

/// A field as numbers are usually written: nothing if it counts as empty.
fn usual(value: &[u8], asked: &Asked) -> Vec<u8> {
    if is_na(value, asked) {
        return Vec::new();
    }
    if asked.order.reading == Reading::Times && asked.spelling.times.is_some() {
        return value.to_vec();
    }
    let Some(plain) = spelling::plain(value, &asked.spelling) else { return NONE.to_vec() };
    let reads_numbers = matches!(asked.order.reading, Reading::Numbers | Reading::NumbersOrTimes);
    if asked.order.leading && reads_numbers { number_of(&plain).to_vec() } else { plain }
}

/// The longest beginning that is a number, and no word.
fn number_of(field: &[u8]) -> &[u8] {
    let is_plain = |bytes: &[u8]| bytes.iter().all(|byte| byte.is_ascii_digit() || b"+-.eE".contains(byte));
    let ends = (1..=field.len()).rev();
    let mut numbers = ends.map(|end| &field[..end]).filter(|start| is_plain(start));
    let number = numbers.find(|start| number::spelled(start) != Spelled::Nothing);
    number.unwrap_or(NONE)
}

/// The keys of a column.
///
/// # Errors
///
/// What cannot be ordered.
pub fn column(fields: &[Field], asked: &Asked) -> Result<Vec<Key>, Wrong> {
    match asked.order.reading {
        Reading::Text(form) => texts(fields, asked, form),
        Reading::Any => by_itself(fields, asked),
        _ => numbers(fields, asked),
    }
}

fn numbers(fields: &[Field], asked: &Asked) -> Result<Vec<Key>, Wrong> {
    let usual: Vec<Vec<u8>> = fields.iter().map(|field| usual(&field.value, asked)).collect();
    let usual: Vec<&[u8]> = usual.iter().map(Vec::as_slice).collect();
    let keys = number::column(&usual, asked)?;
    if have_other_units(fields, asked) {
        return Err(Wrong { record: None, alone: false });
    }
    Ok(keys)
}

/// Whether numbers that are followed by units of time, or of size, are followed by different ones.
fn have_other_units(fields: &[Field], asked: &Asked) -> bool {
    if !asked.order.leading || asked.order.reading != Reading::Numbers {
        return false;
    }
    let (mut sizes, mut times) = (Vec::new(), Vec::new());
    for field in fields {
        let Some(plain) = spelling::plain(&field.value, &asked.spelling) else { continue };
        let number = number_of(&plain);
        if is_na(&field.value, asked) || number == NONE {
            continue;
        }
        let (size, time) = kinds::units(&plain[number.len()..]);
        sizes.extend(size);
        times.extend(time);
    }
    sizes.windows(2).any(|pair| pair[0] != pair[1]) || times.windows(2).any(|pair| pair[0] != pair[1])
}

/// Text if there is a word; no number with a digit and no time may be beside it.
fn by_itself(fields: &[Field], asked: &Asked) -> Result<Vec<Key>, Wrong> {
    let (mut words, mut others) = (false, false);
    for (record, Field { value, .. }) in fields.iter().enumerate() {
        let alone = Wrong { record: Some(record), alone: true };
        if is_na(value, asked) {
            // What is empty among numbers is so among words, if it is to be an error.
            if asked.order.empty == Nulls::Error {
                return Err(alone);
            }
            continue;
        }
        if spelling::is_misspelled(value, &asked.spelling) {
            return Err(alone);
        }
        let plain = spelling::plain(value, &asked.spelling);
        let plain = plain.unwrap_or_default();
        match number::spelled(&plain) {
            _ if number::time(&plain).is_some() => others = true,
            Spelled::Nothing => words = true,
            Spelled::Integer(..) | Spelled::Decimal => others = true,
            Spelled::Nan | Spelled::Infinity => {}
        }
    }
    if words && others {
        return Err(Wrong { record: None, alone: false });
    }
    if words {
        let form = TextForm { order: TextOrder::Bytes, nocase: asked.order.nocase };
        return texts(fields, asked, form);
    }
    let order = KeyOrder { reading: Reading::NumbersOrTimes, ..asked.order };
    numbers(fields, &Asked { order, ..asked.clone() })
}

fn texts(fields: &[Field], asked: &Asked, form: TextForm) -> Result<Vec<Key>, Wrong> {
    let key = |(record, field): (usize, &Field)| {
        let alone = Wrong { record: Some(record), alone: true };
        let unless = |refused: bool, key| if refused { Err(alone.clone()) } else { Ok(key) };
        // A number in base 16 is one, and what counts of it is what counts of others.
        let text = if form.order == TextOrder::Hex { &field.value } else { &field.text };
        if is_na(text, asked) {
            return unless(asked.order.empty == Nulls::Error, Key::Empty);
        }
        let folded = if form.nocase { text.to_ascii_uppercase() } else { text.to_vec() };
        match form.order {
            TextOrder::Bytes => Ok(Key::Text(folded)),
            TextOrder::Version => Ok(Key::Version(folded)),
            TextOrder::Hex => match kinds::hex(text.trim_ascii()) {
                Some(digits) => Ok(Key::Hex(digits)),
                None => unless(!is_placed(asked.order.invalid), Key::Invalid),
            },
        }
    };
    fields.iter().enumerate().map(key).collect()
}

fn is_placed(invalid: Invalid) -> bool {
    matches!(invalid, Invalid::First | Invalid::Last)
}

/// Whether a field is not invalid.
pub fn is_valid(field: &Field, asked: &Asked) -> bool {
    match asked.order.reading {
        Reading::Text(TextForm { order: TextOrder::Hex, .. }) => {
            is_na(&field.value, asked) || kinds::hex(field.value.trim_ascii()).is_some()
        }
        Reading::Text(_) => true,
        _ => {
            let usual = usual(&field.value, asked);
            usual.is_empty() || number::is_valid(&usual, asked)
        }
    }
}
