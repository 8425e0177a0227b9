//! Numbers with a decimal sign and a separator of thousands of their own.

use crate::asked::Spelling;

/// Where a character stands at the beginning of these bytes, what comes after it.
fn after<'a>(bytes: &'a [u8], mark: Option<char>) -> Option<&'a [u8]> {
    let mut buffer = [0; 4];
    bytes.strip_prefix(mark?.encode_utf8(&mut buffer).as_bytes())
}

/// A field whose number has a point and no separators, as it is read elsewhere; what comes after
/// its number stays. `None` if that is no number as numbers are written here: separators are not
/// where they belong, or there is a point that means nothing.
pub fn plain(field: &[u8], spelling: &Spelling) -> Option<Vec<u8>> {
    if spelling.decimal.is_none() && spelling.thousands.is_none() {
        return Some(field.to_vec());
    }
    let digits = |bytes: &[u8]| bytes.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let sign = usize::from(matches!(field.first(), Some(b'+' | b'-')));
    let mut rest = &field[sign..];
    let mut groups: Vec<&[u8]> = Vec::new();
    loop {
        let count = digits(rest);
        groups.push(&rest[..count]);
        rest = &rest[count..];
        match after(rest, spelling.thousands) {
            Some(next) if count > 0 && digits(next) > 0 => rest = next,
            _ => break,
        }
    }
    let lengths: Vec<usize> = groups.iter().map(|group| group.len()).collect();
    let are_in_place = match lengths[..] {
        [_] => true,
        [first, .., 3] => {
            let middle = &lengths[1..lengths.len() - 1];
            // Of two in India, but for the last.
            [2, 3].into_iter().any(|long| {
                let most = if middle.is_empty() { 3 } else { long };
                first <= most && middle.iter().all(|&length| length == long)
            })
        }
        _ => false,
    };
    if !are_in_place {
        return None;
    }
    let mut plain = field[..sign].to_vec();
    groups.iter().for_each(|group| plain.extend_from_slice(group));
    match after(rest, spelling.decimal.or(Some('.'))) {
        Some(fraction) => {
            plain.push(b'.');
            plain.extend_from_slice(fraction);
        }
        None if rest.starts_with(b".") => return None,
        None => plain.extend_from_slice(rest),
    }
    Some(plain)
}

/// Whether a field that is no number as numbers are written here has nothing but digits, signs and
/// marks, and so is one that is written in another way.
pub fn is_misspelled(field: &[u8], spelling: &Spelling) -> bool {
    let Ok(text) = std::str::from_utf8(field) else { return false };
    let is_mark = |c: char| spelling.decimal == Some(c) || spelling.thousands == Some(c);
    plain(field, spelling).is_none()
        && text.chars().any(|c| c.is_ascii_digit())
        && text.chars().all(|c| c.is_ascii_digit() || "+-.eE".contains(c) || is_mark(c))
}

/// Whether there are no such signs beside what separates fields.
pub fn is_possible(spelling: &Spelling, divides: impl Fn(char) -> bool) -> bool {
    let (decimal, thousands) = (spelling.decimal, spelling.thousands);
    let are_alike = thousands.is_some() && decimal.or(Some('.')) == thousands;
    !are_alike && !decimal.into_iter().chain(thousands).any(divides)
}
