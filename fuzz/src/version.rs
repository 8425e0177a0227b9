//! The order of `sort -V`: gnulib's filevercmp in coreutils 9.1.

use std::cmp::Ordering;

/// Empty names first, then `.`, `..`, names that begin with a dot, then all names. Names compare
/// without their extensions first, then whole.
pub fn order(a: &[u8], b: &[u8]) -> Ordering {
    let class = |name: &[u8]| match name {
        [] => 0,
        [b'.'] => 1,
        [b'.', b'.'] => 2,
        [b'.', ..] => 3,
        _ => 4,
    };
    let classes = (class(a), class(b));
    if classes != (3, 3) && classes != (4, 4) {
        return classes.0.cmp(&classes.1);
    }
    let without = |name: &[u8]| name[..before_extensions(name)].to_vec();
    parts(&without(a), &without(b)).then_with(|| parts(a, b))
}

/// The start of the extensions: the first place from which only extensions follow. An extension is
/// a dot, a letter or `~`, then letters, digits and `~`.
fn before_extensions(name: &[u8]) -> usize {
    let mut start = 0;
    loop {
        let mut at = start;
        while at + 1 < name.len()
            && name[at] == b'.'
            && (name[at + 1].is_ascii_alphabetic() || name[at + 1] == b'~')
        {
            at += 2;
            while at < name.len() && (name[at].is_ascii_alphanumeric() || name[at] == b'~') {
                at += 1;
            }
        }
        if at == name.len() {
            return start;
        }
        start += 1;
    }
}

/// Compares runs of other characters by weight and runs of digits by value, alternately.
fn parts(a: &[u8], b: &[u8]) -> Ordering {
    let (mut i, mut j) = (0, 0);
    let is_digit = |name: &[u8], at: usize| name.get(at).is_some_and(u8::is_ascii_digit);
    while i < a.len() || j < b.len() {
        while i < a.len() && !is_digit(a, i) || j < b.len() && !is_digit(b, j) {
            let order = weight(a.get(i)).cmp(&weight(b.get(j)));
            if order.is_ne() {
                return order;
            }
            (i, j) = (i + 1, j + 1);
        }
        while a.get(i) == Some(&b'0') {
            i += 1;
        }
        while b.get(j) == Some(&b'0') {
            j += 1;
        }
        let mut first = Ordering::Equal;
        while is_digit(a, i) && is_digit(b, j) {
            first = first.then(a[i].cmp(&b[j]));
            (i, j) = (i + 1, j + 1);
        }
        match (is_digit(a, i), is_digit(b, j)) {
            (true, _) => return Ordering::Greater,
            (_, true) => return Ordering::Less,
            _ if first.is_ne() => return first,
            _ => {}
        }
    }
    Ordering::Equal
}

/// `~` is less than the end, which is less than letters, and these than all other characters.
fn weight(byte: Option<&u8>) -> i32 {
    match byte {
        Some(b'~') => -2,
        None => -1,
        Some(byte) if byte.is_ascii_digit() => 0,
        Some(&byte) if byte.is_ascii_alphabetic() => byte.into(),
        Some(&byte) => i32::from(byte) + 256,
    }
}
