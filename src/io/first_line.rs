//! Tells text from lines by the first line that is neither blank nor a comment.
//!
//! ```text
//! "# sizes\n\n12\n"        one token: text, one number a line
//! "12 README.md\n"         several: lines
//! "README.md\n"            no number: lines
//! "3 1 2\n", and no more   one line of numbers
//! ```
//!
//! What was read of a pipe for this is read again when the pipe is opened.

use super::number::{ends_line, is_space, spelled};
use super::source::{Input, MARK, Opened};
use crate::error::{Error, Hint};
use crate::human;

/// The first record line of inputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FirstLine {
    /// There is none.
    Missing,
    /// It has one token, a number.
    One,
    /// It begins with a token that is no number.
    Word,
    /// It begins with `{`, as an object of JSON does.
    Brace,
    /// It has several.
    Several,
    /// It has several numbers and nothing else, and is the only one.
    Numbers,
}

/// Looks for the first record line of these inputs. With `may_be_numbers`, a line of numbers is
/// looked at to its end, and for another one after it; `most` tells how many bytes may be kept for
/// that.
///
/// # Errors
///
/// I/O errors; a line that goes on for more than these bytes.
pub fn first_line(
    inputs: &mut [Input],
    may_be_numbers: bool,
    most: &dyn Fn() -> u64,
) -> Result<FirstLine, Error> {
    for input in inputs {
        let mut opened = input.open()?;
        let mut bytes = Vec::new();
        let found = find(&mut opened, &mut bytes, may_be_numbers, input.can_be_read_again(), most)?;
        if !input.can_be_read_again() {
            *input = input.clone().begun(bytes, opened);
        }
        if found != FirstLine::Missing {
            return Ok(found);
        }
    }
    Ok(FirstLine::Missing)
}

/// The first record line of this input, of which `bytes` are what was read; only the last of them
/// where it can be read again.
fn find(
    opened: &mut Opened,
    bytes: &mut Vec<u8>,
    may_be_numbers: bool,
    is_read_again: bool,
    most: &dyn Fn() -> u64,
) -> Result<FirstLine, Error> {
    /// Fewer bytes are kept in any case.
    const FEW: usize = 16 << 20;
    let (mut scan, mut block) = (Scan { may_be_numbers, ..Scan::default() }, 1 << 16);
    loop {
        let begin = bytes.len();
        bytes.resize(begin + block, 0);
        let count = opened.read_some(&mut bytes[begin..])?;
        bytes.truncate(begin + count);
        if let Some(found) = scan.next(bytes, count == 0) {
            return Ok(found);
        }
        if is_read_again {
            bytes.drain(..scan.pass());
        }
        if bytes.len() > FEW && bytes.len() as u64 > most() {
            let problem = format!("the first line is longer than {}", human::bytes(bytes.len() as u64));
            return Err(Error::input(&opened.name, problem).hinting(Hint::Several));
        }
        // In proportion to what there is, so that each byte is copied a few times at most.
        block = block.max(bytes.len() / 4);
    }
}

/// How far bytes were looked at, of which more come.
#[derive(Default)]
struct Scan {
    may_be_numbers: bool,
    /// Where the next token is looked for, and up to where its end was.
    at: usize,
    looked: usize,
    is_begun: bool,
    /// Whether `at` is within a line.
    is_within: bool,
    /// The tokens of the record line, and whether any is no number.
    tokens: usize,
    has_words: bool,
    /// Whether that line has ended.
    is_over: bool,
}

impl Scan {
    /// Forgets the bytes that are not looked at again, and returns how many these are.
    fn pass(&mut self) -> usize {
        self.looked = self.looked.saturating_sub(self.at);
        std::mem::take(&mut self.at)
    }

    /// What the record line is, as soon as these bytes tell.
    fn next(&mut self, bytes: &[u8], is_end: bool) -> Option<FirstLine> {
        if !self.is_begun {
            if bytes.len() < MARK.len() && MARK.starts_with(bytes) && !is_end {
                return None;
            }
            self.is_begun = true;
            self.at = if bytes.starts_with(MARK) { MARK.len() } else { 0 };
        }
        loop {
            while let Some(&byte) = bytes.get(self.at).filter(|&&byte| is_space(byte)) {
                self.is_within = !ends_line(byte);
                self.is_over |= !self.is_within && self.tokens > 0;
                if self.is_over && self.tokens == 1 {
                    return Some(FirstLine::One);
                }
                self.at += 1;
            }
            let is_comment = match bytes.get(self.at) {
                Some(&first) => first == b'#' && !self.is_within,
                None => return is_end.then(|| self.at_end()),
            };
            if !is_comment && (self.is_over || self.tokens > 0 && !self.may_be_numbers) {
                return Some(FirstLine::Several);
            }
            let ends = |&byte: &u8| if is_comment { ends_line(byte) } else { is_space(byte) };
            let begin = self.looked.max(self.at);
            let length = bytes[begin..].iter().position(ends);
            self.looked = length.map_or(bytes.len(), |length| begin + length);
            if length.is_none() && !is_end {
                return None;
            }
            if !is_comment {
                self.tokens += 1;
                self.has_words |= spelled(&bytes[self.at..self.looked]).is_none();
                match self.tokens {
                    1 if bytes[self.at] == b'{' => return Some(FirstLine::Brace),
                    1 if self.has_words => return Some(FirstLine::Word),
                    2.. if self.has_words => return Some(FirstLine::Several),
                    _ => {}
                }
            }
            (self.at, self.is_within) = (self.looked, true);
        }
    }

    /// What the record line is where nothing follows.
    fn at_end(&self) -> FirstLine {
        match self.tokens {
            0 => FirstLine::Missing,
            1 => FirstLine::One,
            _ => FirstLine::Numbers,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bytes that come so many at a time, as from a pipe.
    struct Pieces(std::collections::VecDeque<u8>, usize);

    impl std::io::Read for Pieces {
        fn read(&mut self, room: &mut [u8]) -> std::io::Result<usize> {
            let most = room.len().min(self.1);
            self.0.read(&mut room[..most])
        }
    }

    fn pipe(content: &str, piece: usize) -> Input {
        Input::reader("in", Pieces(content.bytes().collect(), piece))
    }

    /// What is found in these inputs, which come in pieces of so many bytes; of 0 they are files.
    fn found(contents: &[&str], may_be_numbers: bool, piece: usize) -> FirstLine {
        let input = |content: &&str| match piece {
            0 => Input::bytes("in", content.as_bytes()),
            piece => pipe(content, piece),
        };
        let mut inputs: Vec<Input> = contents.iter().map(input).collect();
        let found = first_line(&mut inputs, may_be_numbers, &|| u64::MAX).unwrap();
        for (input, content) in inputs.iter().zip(contents) {
            let mut room = vec![0; content.len() + 1];
            let count = input.open().unwrap().fill(&mut room).unwrap();
            assert_eq!(&room[..count], content.as_bytes(), "what was read is given again");
        }
        found
    }

    #[test]
    fn the_first_record_line_of_all_inputs_decides() {
        use FirstLine::{Brace, Missing, Numbers, One, Several, Word};
        for (contents, expected, of_numbers) in [
            (&[""][..], Missing, Missing),
            (&["\n \r\n# 1 2\n\t\n"], Missing, Missing),
            (&["5"], One, One),
            (&["\u{feff}5\n1 2\n"], One, One),
            (&["  5 \t\r3 4"], One, One),
            (&["# 1 2\r\n\nfive\n1 2\n"], Word, Word),
            (&["1e5x"], Word, Word),
            (&["# x\n {\"a\": 1}\n"], Brace, Brace),
            (&["inf"], One, One),
            (&["", "#\n", "\n5\n", "1 2"], One, One),
            (&["12 README.md"], Several, Several),
            (&["README.md 12"], Word, Word),
            (&["3 1 2"], Several, Numbers),
            (&["\u{feff}\n# x\n 3\t1e5 -inf \r\n\n# 4 5\n"], Several, Numbers),
            (&["3 1 2\n4"], Several, Several),
            (&["3 1 2\n # 4"], Several, Several),
            (&["3 #1\n"], Several, Several),
            (&["\u{feff}# 1 2\n5\n"], One, One),
            (&["\u{feff}"], Missing, Missing),
        ] {
            for piece in [0, 1, 2, 3, 7, 1 << 20] {
                assert_eq!(found(contents, false, piece), expected, "{contents:?} in {piece}");
                assert_eq!(found(contents, true, piece), of_numbers, "{contents:?} in {piece}");
            }
        }
        // Larger than a block, with what decides at its end.
        let many = "7 ".repeat(1 << 20);
        for piece in [0, 1 << 10] {
            assert_eq!(found(&[&many], true, piece), Numbers);
            assert_eq!(found(&[&format!("{many}x")], true, piece), Several);
            assert_eq!(found(&[&format!("#{many}\n{many}\n{many}")], true, piece), Several);
        }
    }

    #[test]
    fn what_comes_later_is_not_waited_for() {
        /// Fails when it is read once more.
        struct Last(bool);
        impl std::io::Read for Last {
            fn read(&mut self, room: &mut [u8]) -> std::io::Result<usize> {
                assert!(!std::mem::replace(&mut self.0, true), "the first line was enough");
                room[..4].copy_from_slice(b"1 x ");
                Ok(4)
            }
        }
        let mut opened = Opened::of("in", Last(false));
        let found = find(&mut opened, &mut Vec::new(), true, false, &|| u64::MAX).unwrap();
        assert_eq!(found, FirstLine::Several);
    }

    #[test]
    fn a_line_without_end_is_refused() {
        let line = "7 ".repeat(10 << 20);
        let mut inputs = [pipe(&line, 1 << 16)];
        let error = first_line(&mut inputs, true, &|| 17 << 20).unwrap_err();
        assert!(error.to_string().starts_with("in: the first line is longer than 17"), "{error}");
        assert_eq!(error.hint(), Some(&Hint::Several));
    }
}
