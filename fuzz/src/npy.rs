//! Arrays of NumPy: the header, the elements after it, and how they are sorted and written.

use gpusort::Format;
use gpusort::files::internal::Header;
use gpusort_order::Nulls;
use gpusort_planner::key::ElementType;

use crate::asked::{Asked, By, Kind};
use crate::choices::{BETWEEN, Choices};
use crate::library::{self, Refusal, Said, memory};
use crate::pipeline::Ask;
use crate::twin::{bits, sorted};
use crate::{Spoil, differ, same, shown};

/// Bytes of options.
const OPTIONS: usize = 6;

const MAGIC: &[u8] = b"\x93NUMPY";

/// # Errors
///
/// How the library and its twin differ.
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
    let twin = twin_header(&file);
    match (&header, &twin) {
        (Ok(header), Twin::Array(array)) if header == array => {}
        (Err(_), Twin::Other) => {}
        (Err(_), Twin::Unknown) => return Ok(()),
        // Not as NumPy writes it; but what is read must be there.
        (Ok(header), Twin::Unknown) => {
            let text = String::from_utf8_lossy(&file[..header.bytes.min(file.len())]).into_owned();
            let kind = format!("{}{}'", &header.element.name()[..1], header.element.bytes());
            let (descr, shape) = (text.contains("'descr':"), text.contains("'shape':"));
            if !(descr && shape && text.contains(&kind) && text.contains(&header.count.to_string())) {
                return Err(differ(&case, &format!("{header:?}"), "has nothing of that"));
            }
        }
        (header, twin) => return Err(differ(&case, &format!("{header:?}"), &format!("{twin:?}"))),
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
    let by = By { order, ..By::default() };
    let asked = Asked { kind: Kind::Npy, by, unique: selection.unique };
    let ask = Ask { first: library::first(selection), positions: false, to: Some(format) };
    let mut library: Said = library::sort(asked.options([input()]), ask).map(|sorted| sorted.bytes);
    spoil(&mut library);
    let after = &file[header.bytes.min(file.len())..];
    let element = header.element;
    let all = bits::elements(after, element, header.big_endian);
    let all = all.filter(|all| all.len() as u64 == header.count).ok_or("another number of elements");
    let refuses_nan = order.nan == Nulls::Error;
    let all = all.and_then(|all| {
        let has_nan = all.iter().any(|&element_bits| bits::is_nan(element_bits, element));
        if refuses_nan && has_nan { Err("NaN") } else { Ok(all) }
    });
    let twin = all.map(|all| {
        let compare = |a: &u64, b: &u64| bits::order(*a, *b, element, order);
        sorted(&all, selection, compare).into_iter().map(|at| all[at]).collect::<Vec<u64>>()
    });
    if let (Ok(text), Ok(elements), true) = (&library, &twin, to_text) {
        return bits::is_text_of(text, elements, element)
            .map_err(|problem| differ(&case, &shown(&library), &problem));
    }
    same(&case, &library, &twin.map(|elements| bits::written(&elements, element)))
}

/// What the twin makes of a header.
#[derive(Debug)]
enum Twin {
    /// An array that is sorted.
    Array(Header),
    /// Something that is not.
    Other,
    /// Not quite as NumPy writes it: somebody may understand it or not.
    Unknown,
}

fn twin_header(file: &[u8]) -> Twin {
    let Some(after) = file.strip_prefix(MAGIC) else { return Twin::Other };
    let (length, start) = match after {
        [1, _, a, b, ..] => (u32::from_le_bytes([*a, *b, 0, 0]), 10),
        [2 | 3, _, a, b, c, d, ..] => (u32::from_le_bytes([*a, *b, *c, *d]), 12),
        _ => return Twin::Other,
    };
    let bytes = start + length as usize;
    let Some(text) = file.get(start..bytes) else { return Twin::Other };
    let Some(text) = std::str::from_utf8(text).ok().filter(|text| text.is_ascii()) else {
        return Twin::Unknown;
    };
    let Some((descr, shape)) = dictionary(text) else { return Twin::Unknown };
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
            Twin::Array(Header { element, big_endian: descr.starts_with('>'), count, bytes })
        }
        _ => Twin::Other,
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
                // What follows the last comma.
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

/// That the twin understands the header that the library writes for this many elements.
fn written_header(element: ElementType, count: u64) -> Result<(), String> {
    let header = Header::of(element, count);
    let right = Header { element, big_endian: false, count, bytes: header.len() };
    match twin_header(&header) {
        Twin::Array(array)
            if array == right && header.len().is_multiple_of(64) && header.ends_with(b"\n") =>
        {
            Ok(())
        }
        twin => Err(differ(&(element, count), &header.escape_ascii().to_string(), &format!("{twin:?}"))),
    }
}
