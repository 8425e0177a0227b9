//! Elements, by their bits, and the containers of keys that the library sorts: the only place that converts between them.

use gpusort::key::{ElementType, Keys, Order, Pieces, to_bits, to_keys};

/// Every type, ascending and descending.
pub fn orders() -> impl Iterator<Item = Order> {
    ElementType::ALL
        .into_iter()
        .flat_map(|element| [false, true].map(|descending| Order { descending, ..Order::ascending(element) }))
}

/// The keys of the elements that have these bits.
pub fn keys_of(bits: &[u64], order: Order) -> Keys {
    if order.element.bytes() == 4 {
        let mut words: Vec<u32> = bits.iter().map(|&word| word as u32).collect();
        to_keys(&mut words, order);
        Keys::One(words)
    } else {
        let mut words = bits.to_vec();
        to_keys(&mut words, order);
        Keys::Two(words)
    }
}

/// The bits of the elements that have these keys.
pub fn bits_of(keys: Keys, order: Order) -> Vec<u64> {
    match keys {
        Keys::One(mut words) => {
            to_bits(&mut words, order);
            words.into_iter().map(u64::from).collect()
        }
        Keys::Two(mut words) => {
            to_bits(&mut words, order);
            words
        }
    }
}

/// All keys of these pieces, widened.
pub fn joined(pieces: Pieces) -> Vec<u64> {
    match pieces {
        Pieces::One(pieces) => pieces.into_iter().flatten().map(u64::from).collect(),
        Pieces::Two(pieces) => pieces.concat(),
    }
}

/// Keys in pieces of odd numbers, so that some begin in the middle of what a device maps.
pub fn in_pieces(keys: &[u32]) -> Pieces {
    let (mut pieces, mut rest, mut size) = (Vec::new(), keys, 1);
    while !rest.is_empty() {
        let (piece, after) = rest.split_at(size.min(rest.len()));
        pieces.push(piece.to_vec());
        (rest, size) = (after, size * 3 + 2);
    }
    Pieces::One(pieces)
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
