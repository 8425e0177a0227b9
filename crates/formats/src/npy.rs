//! NumPy files with one array: a header that describes the elements, then the elements.
//!
//! After "A Simple File Format for NumPy Arrays" (NEP 1). Reads one-dimensional arrays of either
//! byte order; writes little-endian. The header is a Python literal; only the form that NumPy writes is
//! accepted, since a crate would bring a parser for all literals.

use gpusort_order::key::ElementType;

use super::input::Input;
use crate::error::Error;
use crate::human::quoted;

const MAGIC: &[u8] = b"\x93NUMPY";

/// Alignment of the first element.
const ALIGNMENT: usize = 64;

/// Longer headers describe record arrays, which are not supported.
const LONGEST: usize = 1 << 16;

/// The content of a header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Element type.
    pub element: ElementType,
    /// Byte order of the elements.
    pub big_endian: bool,
    /// Number of elements.
    pub count: u64,
    /// Length of the header in bytes.
    pub bytes: usize,
}

impl Header {
    /// Reads the header of an input.
    ///
    /// # Errors
    ///
    /// I/O errors; an array of several dimensions or of an unsupported type.
    pub fn read(input: &Input) -> Result<Self, Error> {
        let mut opened = input.open()?;
        let refused = |problem: String| Error::input(input.name(), problem);
        let not_npy = || refused("does not begin with a .npy header".to_owned());
        let mut fill = |room: &mut [u8]| match opened.fill(room)? {
            count if count < room.len() => Err(not_npy()),
            _ => Ok(()),
        };
        let mut start = [0; MAGIC.len() + 2];
        fill(&mut start)?;
        let length_bytes = match start.strip_prefix(MAGIC) {
            Some([1, _]) => 2,
            Some([2 | 3, _]) => 4,
            Some([version, ..]) => {
                let problem =
                    format!("has version {version} of the .npy format; versions 1 to 3 are supported");
                return Err(refused(problem));
            }
            _ => return Err(not_npy()),
        };
        let mut length = [0; 4];
        fill(&mut length[..length_bytes])?;
        let length = u32::from_le_bytes(length) as usize;
        if length > LONGEST {
            return Err(refused(format!("has a header of {length} bytes; at most {LONGEST} are supported")));
        }
        let mut text = vec![0; length];
        fill(&mut text)?;
        let text = String::from_utf8_lossy(&text);
        let (element, big_endian, count) = parse(&text).map_err(refused)?;
        let bytes = start.len() + length_bytes + length;
        Ok(Self { element, big_endian, count, bytes })
    }

    /// The header for this many little-endian elements.
    pub fn of(element: ElementType, count: u64) -> Vec<u8> {
        let (order, kind) = (if element.bytes() == 1 { '|' } else { '<' }, kind(element));
        let dictionary =
            format!("{{'descr': '{order}{kind}', 'fortran_order': False, 'shape': ({count},), }}");
        let before = MAGIC.len() + 4;
        // Padded with blanks and closed by a line end.
        let length = (before + dictionary.len() + 1).next_multiple_of(ALIGNMENT) - before;
        let mut header = [MAGIC, &[1, 0], &(length as u16).to_le_bytes()].concat();
        header.extend_from_slice(format!("{dictionary:width$}\n", width = length - 1).as_bytes());
        header
    }
}

/// NumPy's name of a type, without the byte order.
fn kind(element: ElementType) -> String {
    // Our names begin with NumPy's letter: u, i or f. A type without such a name needs its own case here.
    format!("{}{}", &element.name()[..1], element.bytes())
}

/// Returns the type, true for big-endian elements, and the number of elements in a header.
fn parse(header: &str) -> Result<(ElementType, bool, u64), String> {
    let value = |name: &str| {
        let rest = header.split_once(&format!("'{name}':"));
        rest.map(|(_, rest)| rest.trim_start()).ok_or_else(|| format!("has a header without '{name}'"))
    };
    let shape = value("shape")?.strip_prefix('(').and_then(|rest| rest.split_once(')'));
    let (shape, _) = shape.ok_or("has a header without a shape")?;
    let dimensions: Vec<&str> = shape.split(',').map(str::trim).filter(|length| !length.is_empty()).collect();
    let shape = quoted(shape);
    let [count] = dimensions[..] else {
        return Err(format!("has the shape ({shape}); only arrays of one dimension are supported"));
    };
    let count = count.parse().map_err(|_| format!("has the invalid shape ({shape})"))?;

    let kinds = "u1 i1 u2 i2 f2 u4 i4 f4 u8 i8 f8";
    let descr = value("descr")?.strip_prefix('\'').and_then(|rest| rest.split_once('\''));
    let (descr, _) = descr.ok_or_else(|| format!("has a structured dtype; supported: {kinds}"))?;
    let named = descr.strip_prefix(['<', '>', '=', '|']);
    let big_endian = descr.starts_with('>') || cfg!(target_endian = "big") && descr.starts_with('=');
    let element = ElementType::ALL.into_iter().find(|&element| named == Some(&kind(element)));
    let element = element.ok_or_else(|| format!("has dtype '{}'; supported: {kinds}", quoted(descr)))?;
    Ok((element, big_endian, count))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_of_all_forms() {
        let numpy = "{'descr': '<f8', 'fortran_order': False, 'shape': (3,), }      \n";
        assert_eq!(parse(numpy), Ok((ElementType::F64, false, 3)));
        let other = "{'shape': (0, ), 'fortran_order': True,'descr':'>u2'}";
        assert_eq!(parse(other), Ok((ElementType::U16, true, 0)));
        assert_eq!(parse("{'descr': '|i1', 'shape': (1,)}"), Ok((ElementType::I8, false, 1)));
        for (header, problem) in [
            ("{'descr': '<c8', 'shape': (3,)}", "has dtype '<c8'"),
            ("{'descr': '|b1', 'shape': (3,)}", "has dtype '|b1'"),
            ("{'descr': '', 'shape': (3,)}", "has dtype ''"),
            ("{'descr': '\u{fffd}\x1b', 'shape': (3,)}", "has dtype '\u{fffd}\\u{1b}'"),
            ("{'descr': 'f8', 'shape': (3,)}", "has dtype 'f8'"),
            ("{'descr': '<', 'shape': (3,)}", "has dtype '<'"),
            ("{'descr': [('a', '<f8')], 'shape': (3,)}", "has a structured dtype"),
            ("{'descr': '<f8', 'shape': (3, 4)}", "has the shape (3, 4); only arrays"),
            ("{'descr': '<f8', 'shape': ()}", "has the shape (); only arrays"),
            ("{'descr': '<f8', 'shape': (-1,)}", "has the invalid shape (-1,)"),
            ("{'descr': '<f8'}", "has a header without 'shape'"),
            ("", "has a header without 'shape'"),
        ] {
            let said = parse(header).unwrap_err();
            assert!(said.starts_with(problem), "{header}: {said}");
        }
    }

    #[test]
    fn what_is_written_is_understood() {
        for element in ElementType::ALL {
            for count in [0, 7, u64::MAX] {
                let header = Header::of(element, count);
                assert_eq!(header.len() % ALIGNMENT, 0);
                let text = std::str::from_utf8(&header[10..]).unwrap();
                assert_eq!(usize::from(header[8]) + 256 * usize::from(header[9]), text.len());
                assert!(text.ends_with('\n'));
                assert_eq!(parse(text), Ok((element, false, count)));
            }
        }
    }
}
