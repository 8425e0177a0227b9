//! Arrays of NumPy: the header, the elements after it, and how they are sorted and written.

use gpusort::Format;
use gpusort_files::Header;
use gpusort_planner::key::ElementType;

use crate::asked::Asked;
use crate::bits;
use crate::choices::{BETWEEN, Choices};
use crate::library::{self, Refusal, Said, memory};
use crate::pipeline::{self, Ask};
use crate::{Spoil, differ, same, shown};

/// Bytes of options.
const OPTIONS: usize = 6;

const MAGIC: &[u8] = b"\x93NUMPY";

/// # Errors
///
/// The difference between the library and the reference.
pub fn compare(bytes: &[u8], spoil: Spoil) -> Result<(), String> {
    let (mut choices, data) = Choices::new(bytes, OPTIONS);
    let (order, selection) = (choices.order(), choices.selection());
    let (form, pieces) = (choices.byte(), choices.byte());
    // All of a file, or a header's text and the elements, which is easier to get right.
    let file = match form % 8 {
        0 => data.to_vec(),
        other => {
            let mut parts = data.splitn(2, |&byte| byte == BETWEEN);
            let (text, elements) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
            let (version, length) = match other {
                1..=5 => (1, (text.len() as u16).to_le_bytes().to_vec()),
                other => (other - 4, (text.len() as u32).to_le_bytes().to_vec()),
            };
            [MAGIC, &[version, 0], &length, text, elements].concat()
        }
    };
    let pieces: &[usize] = if pieces % 4 == 1 { &[file.len() / 4 + 1] } else { &[] };
    let (input, to_text) = (|| memory(0, &file, pieces), form / 8 % 4 == 1);
    let case = (order, selection, to_text, pieces, file.escape_ascii().to_string());

    let header = Header::read(&input());
    let right = reference_header(&file);
    match (&header, &right) {
        (Ok(header), Reading::Array(array)) if header == array => {}
        (Err(_), Reading::Other) => {}
        (Err(_), Reading::Unknown) => return Ok(()),
        // NumPy would write another header, but the text must have the type and the shape.
        (Ok(header), Reading::Unknown) => {
            let text = String::from_utf8_lossy(&file[..header.bytes.min(file.len())]).into_owned();
            let kind = format!("{}{}'", &header.element.name()[..1], header.element.bytes());
            let (descr, shape) = (text.contains("'descr':"), text.contains("'shape':"));
            if !(descr && shape && text.contains(&kind) && text.contains(&header.count.to_string())) {
                return Err(differ(&case, &format!("{header:?}"), "has nothing of that"));
            }
        }
        (header, right) => return Err(differ(&case, &format!("{header:?}"), &format!("{right:?}"))),
    }
    let header = match header {
        Ok(header) => header,
        // To be spoilt too.
        Err(error) => {
            let mut library: Said = Err(Refusal::from(error));
            spoil(&mut library);
            return same(&case, &library, &Err("the header"));
        }
    };
    written_header(header.element, header.count)?;

    let format = if to_text { Format::Text } else { Format::Binary };
    let asked = Asked {
        format: Some(Format::Npy),
        nan: order.nan,
        descending: order.descending,
        unique: selection.unique,
        ..Asked::default()
    };
    let ask = Ask { first: library::first(selection), positions: false, to: Some(format) };
    let mut library: Said = library::sort(asked.options([input()]), ask).map(|sorted| sorted.bytes);
    spoil(&mut library);
    let after = &file[header.bytes.min(file.len())..];
    let element = header.element;
    let all = bits::elements(after, element, header.big_endian);
    let all = all.filter(|all| all.len() as u64 == header.count).ok_or("another number of elements");
    let right = all.clone().and_then(|all| bits::sorted(&all, element, order, selection));
    if let (Ok(text), Ok(elements), true) = (&library, &right, to_text) {
        return bits::is_text_of(text, elements, element)
            .map_err(|problem| differ(&case, &shown(&library), &problem));
    }
    let right = right.map(|elements| bits::written(&elements, element));
    same(&case, &library, &right)?;
    let merged = pipeline::merge(asked.options([input()]), ask);
    let mut merged: Said = merged.map(|(sorted, _)| sorted.bytes).map_err(Into::into);
    // A merge for the first elements reads no others.
    if selection.first.is_some() || to_text {
        return Ok(());
    }
    spoil(&mut merged);
    let is_in_order = all
        .as_ref()
        .is_ok_and(|all| all.windows(2).all(|pair| bits::order(pair[0], pair[1], element, order).is_le()));
    same(&case, &merged, &if is_in_order { right } else { Err("out of order") })
}

/// A header as the reference reads it.
#[derive(Debug)]
enum Reading {
    /// A supported array.
    Array(Header),
    /// An unsupported array, or no header.
    Other,
    /// Not quite as NumPy writes it: somebody may understand it or not.
    Unknown,
}

fn reference_header(file: &[u8]) -> Reading {
    let Some(after) = file.strip_prefix(MAGIC) else { return Reading::Other };
    let (length, start) = match after {
        [1, _, a, b, ..] => (u32::from_le_bytes([*a, *b, 0, 0]), 10),
        [2 | 3, _, a, b, c, d, ..] => (u32::from_le_bytes([*a, *b, *c, *d]), 12),
        _ => return Reading::Other,
    };
    let bytes = start + length as usize;
    let Some(text) = file.get(start..bytes) else { return Reading::Other };
    let Some(text) = std::str::from_utf8(text).ok().filter(|text| text.is_ascii()) else {
        return Reading::Unknown;
    };
    let Some((descr, shape)) = dictionary(text) else { return Reading::Unknown };
    let kinds = [
        ("u1", ElementType::U8),
        ("i1", ElementType::I8),
        ("u2", ElementType::U16),
        ("i2", ElementType::I16),
        ("f2", ElementType::F16),
        ("u4", ElementType::U32),
        ("i4", ElementType::I32),
        ("f4", ElementType::F32),
        ("u8", ElementType::U64),
        ("i8", ElementType::I64),
        ("f8", ElementType::F64),
    ];
    let kind = descr.strip_prefix(['<', '>', '=', '|']);
    let found = kinds.into_iter().find(|&(name, _)| kind == Some(name));
    match (found, &shape[..]) {
        (Some((_, element)), &[count]) => {
            Reading::Array(Header { element, big_endian: descr.starts_with('>'), count, bytes })
        }
        _ => Reading::Other,
    }
}

/// The type and the shape in a dictionary as NumPy writes them: its three entries, in any order.
fn dictionary(text: &str) -> Option<(String, Vec<u64>)> {
    let mut rest = text.trim_matches([' ', '\n']).strip_prefix('{')?.strip_suffix('}')?.trim_matches(' ');
    let (mut descr, mut shape, mut order) = (None, None, None);
    while !rest.is_empty() {
        let (name, after) = rest.strip_prefix('\'')?.split_once("':")?;
        let after = after.trim_start_matches(' ');
        let value_end = match name {
            "descr" if descr.is_none() => {
                let (value, _) = after.strip_prefix('\'')?.split_once('\'')?;
                if value.contains('\\') {
                    return None;
                }
                descr = Some(value.to_owned());
                value.len() + 2
            }
            "fortran_order" if order.is_none() => {
                let value = ["True", "False"].into_iter().find(|value| after.starts_with(value))?;
                order = Some(value);
                value.len()
            }
            "shape" if shape.is_none() => {
                let (value, _) = after.strip_prefix('(')?.split_once(')')?;
                let mut lengths = Vec::new();
                let mut numbers: Vec<&str> =
                    value.split(',').map(|number| number.trim_matches(' ')).collect();
                // A last comma ends the tuple.
                if numbers.last() == Some(&"") {
                    numbers.pop();
                }
                for number in numbers {
                    let is_number = !number.is_empty() && number.chars().all(|c| c.is_ascii_digit());
                    lengths.push(number.parse().ok().filter(|_| is_number)?);
                }
                shape = Some(lengths);
                value.len() + 2
            }
            _ => return None,
        };
        rest = after[value_end..].trim_start_matches(' ');
        match rest.strip_prefix(',') {
            Some(after) => rest = after.trim_start_matches(' '),
            None if rest.is_empty() => {}
            None => return None,
        }
    }
    order?;
    Some((descr?, shape?))
}

/// That the reference understands the header that the library writes for this many elements.
fn written_header(element: ElementType, count: u64) -> Result<(), String> {
    let header = Header::of(element, count);
    let right = Header { element, big_endian: false, count, bytes: header.len() };
    match reference_header(&header) {
        Reading::Array(array)
            if array == right && header.len().is_multiple_of(64) && header.ends_with(b"\n") =>
        {
            Ok(())
        }
        right => Err(differ(&(element, count), &header.escape_ascii().to_string(), &format!("{right:?}"))),
    }
}
