//! Elements of binary files.

use std::cmp::Ordering;

use gpusort_order::{KeyOrder, Nulls, Selection};
use gpusort_planner::key::ElementType;
use half::f16;

/// The bits of adjacent elements; `None` for a part of an element at the end.
pub fn elements(bytes: &[u8], element: ElementType, big_endian: bool) -> Option<Vec<u64>> {
    let size = element.bytes();
    if !bytes.len().is_multiple_of(size) {
        return None;
    }
    let value = |element: &[u8]| {
        let mut value = 0;
        for at in 0..size {
            let byte = if big_endian { element[at] } else { element[size - 1 - at] };
            value = value << 8 | u64::from(byte);
        }
        value
    };
    Some(bytes.chunks(size).map(value).collect())
}

/// The elements as they are written: little-endian.
pub fn written(elements: &[u64], element: ElementType) -> Vec<u8> {
    elements.iter().flat_map(|bits| bits.to_le_bytes()[..element.bytes()].to_vec()).collect()
}

enum Value {
    Integer(i128),
    Float(f64),
}

fn value(bits: u64, element: ElementType) -> Value {
    match element {
        ElementType::U8 | ElementType::U16 | ElementType::U32 | ElementType::U64 => {
            Value::Integer(bits.into())
        }
        ElementType::I8 => Value::Integer((bits as i8).into()),
        ElementType::I16 => Value::Integer((bits as i16).into()),
        ElementType::I32 => Value::Integer((bits as i32).into()),
        ElementType::I64 => Value::Integer((bits as i64).into()),
        ElementType::F16 => Value::Float(f16::from_bits(bits as u16).to_f64()),
        ElementType::F32 => Value::Float(f32::from_bits(bits as u32).into()),
        ElementType::F64 => Value::Float(f64::from_bits(bits)),
    }
}

/// Returns true for NaN.
pub fn is_nan(bits: u64, element: ElementType) -> bool {
    matches!(value(bits, element), Value::Float(value) if value.is_nan())
}

/// The order of two elements: NaN last, positive NaN by rising bits, then negative NaN by falling
/// bits.
pub fn order(a: u64, b: u64, element: ElementType, order: KeyOrder) -> Ordering {
    let nans = (is_nan(a, element), is_nan(b, element));
    let is_negative = |bits: u64| bits >> (8 * element.bytes() - 1) == 1;
    match nans {
        (true, true) => {
            let rising = if is_negative(a) { b.cmp(&a) } else { a.cmp(&b) };
            return is_negative(a).cmp(&is_negative(b)).then(rising);
        }
        (false, false) => {}
        (nan, _) => {
            let last = if nan { Ordering::Greater } else { Ordering::Less };
            return if order.nan == Nulls::First { last.reverse() } else { last };
        }
    }
    let numbers = match (value(a, element), value(b, element)) {
        (Value::Integer(a), Value::Integer(b)) => a.cmp(&b),
        (Value::Float(x), Value::Float(y)) => {
            // Only zeros are equal and have different bits.
            x.partial_cmp(&y).expect("both are numbers").then_with(|| is_negative(b).cmp(&is_negative(a)))
        }
        _ => unreachable!("both are of one type"),
    };
    if order.descending { numbers.reverse() } else { numbers }
}

/// The elements in order.
///
/// # Errors
///
/// A NaN, if the order refuses it.
pub fn sorted(
    elements: &[u64],
    element: ElementType,
    by: KeyOrder,
    selection: Selection,
) -> Result<Vec<u64>, &'static str> {
    if by.nan == Nulls::Error && elements.iter().any(|&bits| is_nan(bits, element)) {
        return Err("NaN");
    }
    let mut sorted = elements.to_vec();
    sorted.sort_by(|&a, &b| order(a, b, element, by));
    if selection.unique {
        sorted.dedup_by(|later, first| order(*later, *first, element, by).is_eq());
    }
    sorted.truncate(selection.first.unwrap_or(usize::MAX));
    Ok(sorted)
}

/// Tests a text of these elements, one a line; floats must have the shortest form that reads back.
///
/// # Errors
///
/// The first wrong line.
pub fn is_text_of(text: &[u8], elements: &[u64], element: ElementType) -> Result<(), String> {
    let text = std::str::from_utf8(text).map_err(|_| "no UTF-8".to_owned())?;
    let lines: Vec<&str> = text.split_terminator('\n').collect();
    if lines.len() != elements.len() || !text.is_empty() && !text.ends_with('\n') {
        return Err(format!("{} lines for {} elements", lines.len(), elements.len()));
    }
    for (line, &bits) in lines.into_iter().zip(elements) {
        let digits = |text: &str| {
            let mantissa = text.split('e').next().unwrap_or_default().replace(['.', '-'], "");
            mantissa.trim_matches('0').len()
        };
        let (reads_back, shortest) = match value(bits, element) {
            Value::Integer(value) => (line == value.to_string(), 0),
            Value::Float(value) if value.is_nan() => {
                let is_negative = bits >> (8 * element.bytes() - 1) == 1;
                (line == if is_negative { "-nan" } else { "nan" }, 0)
            }
            Value::Float(value) => match element {
                ElementType::F64 => {
                    (line.parse().is_ok_and(|it: f64| it.to_bits() == bits), digits(&format!("{value:e}")))
                }
                ElementType::F32 => {
                    let narrow = value as f32;
                    (
                        line.parse().is_ok_and(|it: f32| it.to_bits() == bits as u32),
                        digits(&format!("{narrow:e}")),
                    )
                }
                // The rounding of five digits to f64 is too small to change the f16.
                _ => {
                    let reads = |text: &str| {
                        text.parse().is_ok_and(|it: f64| f16::from_f64(it).to_bits() == bits as u16)
                    };
                    let shortest = (0..5).map(|digits| format!("{value:.digits$e}")).find(|text| reads(text));
                    (reads(line), shortest.map_or(0, |text| digits(&text)))
                }
            },
        };
        let is_number = element.is_float() && !is_nan(bits, element) && !line.contains("inf");
        if !reads_back || is_number && digits(line) != shortest {
            return Err(format!("'{line}' for the bits {bits:#x} of {element}"));
        }
    }
    Ok(())
}
