//! Numbers in one form, read as if they were in another: elements as text or as wider elements, tokens as elements.

use std::io::{self, Read};

use super::infer::{Inference, Number};
use super::number::Tokens;
use super::records::{Print, push_fixed};
use crate::key::ElementType;
use crate::order::KeyOrder;

/// Reads what another reader gives, converted block by block.
pub(crate) struct Converted<R> {
    reader: R,
    convert: Convert,
    /// Read and not converted yet.
    raw: Vec<u8>,
    /// Converted and not given yet, from `at` on.
    ready: Vec<u8>,
    at: usize,
    /// Bytes read at once.
    block: usize,
}

/// Appends the conversion of as much as is complete, and returns how much that is.
type Convert = Box<dyn Fn(&[u8], &mut Vec<u8>) -> usize + Send + Sync>;

impl<R: Read> Converted<R> {
    /// Elements as text, one a line: integers, or numbers of f64 that are printed with fixed digits.
    pub(crate) fn text_of(reader: R, from: ElementType, print: Print, block: usize) -> Self {
        match print {
            Print::Shortest => Self::new(reader, move |raw, ready| print_integers(raw, from, ready), block),
            Print::Fixed(digits) => {
                Self::new(reader, move |raw, ready| print_fixed(raw, digits, ready), block)
            }
        }
    }

    /// Integers as elements of a type that holds them.
    pub(crate) fn widened(reader: R, from: ElementType, to: ElementType, block: usize) -> Self {
        Self::new(reader, move |raw, ready| widen(raw, from, to, ready), block)
    }

    /// Lines of text with a token each as elements of a type that holds them.
    pub(crate) fn elements_of(reader: R, to: ElementType, block: usize) -> Self {
        Self::new(reader, move |raw, ready| parse(raw, to, ready), block)
    }

    fn new(
        reader: R,
        convert: impl Fn(&[u8], &mut Vec<u8>) -> usize + Send + Sync + 'static,
        block: usize,
    ) -> Self {
        Self { reader, convert: Box::new(convert), raw: Vec::new(), ready: Vec::new(), at: 0, block }
    }
}

impl<R: Read> Read for Converted<R> {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        while self.at == self.ready.len() {
            self.at = 0;
            self.ready.clear();
            let kept = self.raw.len();
            self.raw.resize(kept + self.block, 0);
            let count = self.reader.read(&mut self.raw[kept..]);
            self.raw.truncate(kept + *count.as_ref().unwrap_or(&0));
            if count? == 0 {
                return Ok(0);
            }
            let done = (self.convert)(&self.raw, &mut self.ready);
            self.raw.drain(..done);
        }
        let count = room.len().min(self.ready.len() - self.at);
        room[..count].copy_from_slice(&self.ready[self.at..self.at + count]);
        self.at += count;
        Ok(count)
    }
}

/// The integers in elements of this type.
fn integers(elements: &[u8], element: ElementType) -> impl Iterator<Item = i128> {
    elements.chunks_exact(element.bytes()).map(move |bytes| {
        let mut wide = [0; 8];
        wide[..bytes.len()].copy_from_slice(bytes);
        let bits = u64::from_le_bytes(wide);
        match element {
            ElementType::I32 => (bits as i32).into(),
            ElementType::I64 => (bits as i64).into(),
            _ => bits.into(),
        }
    })
}

/// Appends the element of a number that its type holds.
fn push(number: Number, element: ElementType, to: &mut Vec<u8>) {
    match (element, number) {
        (ElementType::F32, Number::Integer(value)) => to.extend_from_slice(&(value as f32).to_le_bytes()),
        (ElementType::F64, Number::Integer(value)) => to.extend_from_slice(&(value as f64).to_le_bytes()),
        (_, Number::Integer(value)) => to.extend_from_slice(&value.to_le_bytes()[..element.bytes()]),
        (ElementType::F32, number) => {
            let value = number.to_float();
            let narrow = if value.is_nan() { f32::NAN } else { value as f32 };
            to.extend_from_slice(&narrow.to_le_bytes());
        }
        (ElementType::F64, number) => to.extend_from_slice(&number.to_float().to_le_bytes()),
        _ => to.resize(to.len() + element.bytes(), 0),
    }
}

fn print_fixed(raw: &[u8], digits: u8, ready: &mut Vec<u8>) -> usize {
    let (elements, rest) = raw.as_chunks();
    elements.iter().for_each(|&bytes| push_fixed(f64::from_le_bytes(bytes), digits, ready));
    raw.len() - rest.len()
}

fn print_integers(raw: &[u8], from: ElementType, ready: &mut Vec<u8>) -> usize {
    for value in integers(raw, from) {
        ready.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
        ready.push(b'\n');
    }
    raw.len() - raw.len() % from.bytes()
}

fn widen(raw: &[u8], from: ElementType, to: ElementType, ready: &mut Vec<u8>) -> usize {
    integers(raw, from).for_each(|value| push(Number::Integer(value), to, ready));
    raw.len() - raw.len() % from.bytes()
}

fn parse(raw: &[u8], to: ElementType, ready: &mut Vec<u8>) -> usize {
    let end = memchr::memrchr(b'\n', raw).map_or(0, |newline| newline + 1);
    // NaN was accepted when the tokens were read.
    let mut inference = Inference::new(Some(to), KeyOrder::ASCENDING);
    for (_, token) in Tokens::new(&raw[..end]) {
        if let Ok(number) = inference.read(token, || ()) {
            push(number, to, ready);
        }
    }
    end
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(mut converted: impl Read) -> Vec<u8> {
        let mut bytes = Vec::new();
        converted.read_to_end(&mut bytes).unwrap();
        bytes
    }

    #[test]
    fn numbers_keep_their_values_in_blocks_of_any_size() {
        let signed = [i32::MIN, -1, 0, 7, i32::MAX];
        let elements: Vec<u8> = signed.iter().flat_map(|value| value.to_le_bytes()).collect();
        let text = "-2147483648\n-1\n0\n7\n2147483647\n";
        for block in [1, 3, 4, 100] {
            let as_text = Converted::text_of(&elements[..], ElementType::I32, Print::Shortest, block);
            assert_eq!(String::from_utf8(all(as_text)).unwrap(), text);
            for (to, expected) in [
                (ElementType::I64, signed.map(|value| i64::from(value).to_le_bytes())),
                (ElementType::F64, signed.map(|value| f64::from(value).to_le_bytes())),
            ] {
                let wide = Converted::widened(&elements[..], ElementType::I32, to, block);
                assert_eq!(all(wide), expected.concat(), "{block} {to}");
                let parsed = Converted::elements_of(text.as_bytes(), to, block);
                assert_eq!(all(parsed), expected.concat(), "{block} {to}");
            }
            let odd = Converted::elements_of(&b"-0\n+007.50\nnan\n-inf\n"[..], ElementType::F64, block);
            let expected = [-0.0, 7.5, f64::NAN, f64::NEG_INFINITY].map(f64::to_le_bytes);
            assert_eq!(all(odd), expected.concat());
            let large = u64::MAX.to_le_bytes();
            let large = all(Converted::text_of(&large[..], ElementType::U64, Print::Shortest, block));
            assert_eq!(large, b"18446744073709551615\n");
        }
    }
}
