//! Elements, by their bits, and the containers of keys that the library sorts: the only place that
//! converts between them.

use gpusort_engine::key_buf::KeyBuf;
use gpusort_planner::key::{ElementType, KeyMap, KeyWords, Word};

/// Every type that is as wide as its key, ascending and descending.
pub fn orders() -> impl Iterator<Item = KeyMap> {
    ElementType::WIDE.into_iter().flat_map(|element| {
        [false, true].map(|descending| KeyMap { descending, ..KeyMap::ascending(element) })
    })
}

/// The keys of the elements that have these bits.
pub fn keys_of(bits: &[u64], order: KeyMap) -> KeyBuf<'static> {
    match order.element.key_words() {
        KeyWords::One => {
            bits.iter().map(|&word| (word as u32).key(u32::map(order))).collect::<Vec<_>>().into()
        }
        KeyWords::Two => bits.iter().map(|word| word.key(u64::map(order))).collect::<Vec<_>>().into(),
    }
}

/// The bits of the elements that have these keys.
pub fn bits_of(keys: KeyBuf, order: KeyMap) -> Vec<u64> {
    match keys.width() {
        KeyWords::One => {
            keys.into_vec::<u32>().unwrap().into_iter().map(|key| key.bits(u32::map(order)).into()).collect()
        }
        KeyWords::Two => {
            keys.into_vec::<u64>().unwrap().into_iter().map(|key| key.bits(u64::map(order))).collect()
        }
    }
}

/// Keys in blocks of odd numbers, so that some begin in the middle of what a device maps.
pub fn in_blocks(keys: &[u32]) -> KeyBuf<'static> {
    let (mut blocks, mut rest, mut size) = (Vec::new(), keys, 1);
    while !rest.is_empty() {
        let (block, after) = rest.split_at(size.min(rest.len()));
        blocks.push(block.to_vec());
        (rest, size) = (after, size * 3 + 2);
    }
    blocks.into()
}

/// These elements as the bytes of a file without a header, little-endian.
pub fn raw(element: ElementType, bits: &[u64]) -> Vec<u8> {
    bits.iter().flat_map(|word| word.to_le_bytes()[..element.bytes()].to_vec()).collect()
}

/// These elements as NumPy would write them into a .npy file, of either byte order.
pub fn npy(element: ElementType, bits: &[u64], big_endian: bool) -> Vec<u8> {
    let (kind, size) = element.name().split_at(1);
    let size: usize = size.parse::<usize>().unwrap() / 8;
    let order = if big_endian { '>' } else { '<' };
    let header =
        format!("{{'descr': '{order}{kind}{size}', 'fortran_order': False, 'shape': ({},), }}", bits.len());
    let header = format!("{header:117}\n");
    let mut file =
        [b"\x93NUMPY\x01\x00", &(header.len() as u16).to_le_bytes()[..], header.as_bytes()].concat();
    for word in bits {
        let mut bytes = word.to_le_bytes()[..size].to_vec();
        if big_endian {
            bytes.reverse();
        }
        file.extend_from_slice(&bytes);
    }
    file
}
