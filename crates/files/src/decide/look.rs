//! The sample that decisions look at: the first 7 MiB of the concatenated inputs, and the last MiB of
//! each regular, uncompressed file.

use gpusort_base::error::Error;
use gpusort_formats::budget::Budget;
use gpusort_formats::fields::{self, Dialect, Known, Layout, Surveyed};
use gpusort_formats::input::opened::Opened;
use gpusort_formats::text::Before;
use gpusort_formats::{Input, InputSpec, LineEnd, Text};

/// The sampled bytes at the beginning of the inputs, in total.
pub(crate) const FIRST: usize = 7 << 20;

/// The sampled bytes at the end of a file.
const LAST: u64 = 1 << 20;

/// The distance between the places of examples in two inputs.
const APART: u32 = 44;

/// A callback with a text, its rows, the base of their offsets, and true for the end of a file.
pub(super) type Take<'a> = &'a mut dyn FnMut(&Text, &[fields::Body], u64, bool) -> Result<(), Error>;

/// The beginnings of the inputs.
pub(super) struct Look {
    pub(super) inputs: Vec<Input>,
    heads: Vec<Head>,
    line_end: LineEnd,
}

/// The beginning of an input.
struct Head {
    text: Text,
    /// False if the input goes on.
    is_all: bool,
    /// The open remainder of an input that allows only one pass.
    rest: Option<Opened>,
}

impl Look {
    /// Reads the beginnings of inputs.
    ///
    /// # Errors
    ///
    /// I/O errors.
    pub(super) fn at(inputs: Vec<Input>, line_end: LineEnd) -> Result<Self, Error> {
        let (mut heads, mut left) = (Vec::new(), FIRST);
        for input in &inputs {
            if left == 0 {
                break;
            }
            let mut opened = input.open()?;
            let (bytes, is_all) = read(&mut opened, Vec::new(), left)?;
            let is_all = is_all && !input.is_beginning();
            left -= bytes.len().min(left);
            let text = Text::of_one(&input.name(), bytes, None, line_end);
            let rest = (!input.can_be_read_again()).then_some(opened);
            heads.push(Head { text, is_all, rest });
        }
        Ok(Self { inputs, heads, line_end })
    }

    /// Reads more of an input with an incomplete first record.
    fn extend(&mut self, number: usize) -> Result<(), Error> {
        let (input, head) = (&self.inputs[number], &mut self.heads[number]);
        if input.is_beginning() {
            return Err(Error::input(
                input.name(),
                "the first record does not end within the given beginning; give more of the input",
            ));
        }
        let mut bytes = std::mem::take(&mut head.text.bytes);
        // The input does not include the line end behind the text.
        bytes.pop();
        let most = 2 * bytes.len();
        let (bytes, is_all) = match &mut head.rest {
            Some(rest) => read(rest, bytes, most)?,
            None => read(&mut input.open()?, Vec::new(), most)?,
        };
        head.is_all = is_all;
        head.text = Text::of_one(&input.name(), bytes, None, self.line_end);
        Ok(())
    }

    /// Reads on until each sampled input has a whole first record, after comments and a header.
    ///
    /// # Errors
    ///
    /// I/O errors.
    pub(super) fn complete(&mut self, dialect: Dialect) -> Result<(), Error> {
        for number in 0..self.heads.len() {
            while !self.heads[number].is_all && self.heads[number].end(dialect).is_none() {
                // Records of an earlier input suffice.
                if self.inputs[number].is_beginning() && !self.heads[..number].iter().all(Head::is_nothing) {
                    break;
                }
                self.extend(number)?;
            }
        }
        Ok(())
    }

    /// Returns the text of the first non-empty input.
    pub(super) fn first(&self) -> Option<&Text> {
        self.texts().next()
    }

    /// Returns the texts of the non-empty inputs of the sample.
    pub(super) fn texts(&self) -> impl Iterator<Item = &Text> {
        self.heads.iter().map(|head| &head.text).filter(|text| !text.parts[0].range.is_empty())
    }

    /// Surveys the fields of all keys.
    ///
    /// # Errors
    ///
    /// I/O errors; the first wrong row.
    pub(super) fn survey(&self, how: &InputSpec) -> Result<Surveyed, Error> {
        let mut all = Surveyed::new(how.keys.len());
        self.for_each(how.kind.dialect(), &mut |text, bodies, base, is_tail| {
            match Layout::new(text, how).survey(bodies, base) {
                Ok(part) => all.merge(part),
                // Quotes may mislead about the beginning of a row in the middle of a file.
                Err(_) if is_tail => {}
                Err(error) => return Err(error),
            }
            Ok(())
        })?;
        Ok(all)
    }

    /// Passes the sampled texts to `take`, with their rows, the base of their offsets, and true for the
    /// end of a file.
    pub(super) fn for_each(&self, dialect: Dialect, take: Take) -> Result<(), Error> {
        let mut known = Known::default();
        for (number, input) in (0_u64..).zip(&self.inputs) {
            let base = number << APART;
            let head = self.heads.get(number as usize);
            let mut begin = 0;
            if let Some(head) = head {
                let Some(end) = head.end(dialect) else { continue };
                let (_, mut bodies) = fields::bodies(&head.text, dialect, &mut known)?;
                bodies.iter_mut().for_each(|(body, _)| body.end = body.end.min(end).max(body.start));
                take(&head.text, &bodies, base, false)?;
                if head.is_all {
                    continue;
                }
                begin = end as u64;
            }
            let Some(file) = input.open_regular()? else { continue };
            let begin = begin.max(file.size.saturating_sub(LAST));
            if begin >= file.size {
                continue;
            }
            let before = (begin > 0).then(Before::default);
            let text = file.part(begin..file.size, before, self.line_end)?;
            let (_, mut bodies) = fields::bodies(&text, dialect, &mut known)?;
            if begin > 0 {
                let start = fields::probable_row(&text.bytes, dialect.fields).unwrap_or(text.bytes.len() - 1);
                bodies.iter_mut().for_each(|(body, _)| body.start = start.min(body.end));
            }
            take(&text, &bodies, base + begin, true)?;
        }
        Ok(())
    }

    /// Returns the place of an example, as `file:line`.
    pub(super) fn place(&self, at: u64) -> Result<String, Error> {
        let (number, offset) = ((at >> APART) as usize, at & ((1 << APART) - 1));
        let input = &self.inputs[number];
        if let Some(head) = self.heads.get(number).filter(|head| offset < head.text.bytes.len() as u64) {
            return Ok(head.text.line(offset as usize));
        }
        let lines = if let Some(file) = input.open_regular()? { file.before(offset)?.lines } else { 0 };
        Ok(format!("{}:{}", input.name(), lines + 1))
    }

    /// Returns the inputs; those that allow only one pass get their sampled bytes back.
    pub(super) fn give_back(self) -> Vec<Input> {
        let mut inputs = self.inputs;
        for (input, head) in inputs.iter_mut().zip(self.heads) {
            if let Some(rest) = head.rest {
                let mut bytes = head.text.bytes;
                bytes.pop();
                *input = input.clone().begun(bytes, (!head.is_all).then_some(rest));
            }
        }
        inputs
    }
}

impl Head {
    /// Returns true if the input is empty except for a byte order mark.
    fn is_nothing(&self) -> bool {
        self.text.parts[0].range.is_empty()
    }

    /// Returns the end of the last whole record, or `None` if the first record is incomplete.
    fn end(&self, dialect: Dialect) -> Option<usize> {
        let bytes = &self.text.bytes[..self.text.bytes.len() - 1];
        if self.is_all {
            return Some(bytes.len());
        }
        fields::end_of_first_rows(bytes, dialect)
    }
}

/// Reads until `most` bytes are in the buffer. Returns true if the input has ended.
fn read(opened: &mut Opened, mut bytes: Vec<u8>, most: usize) -> Result<(Vec<u8>, bool), Error> {
    /// Room for a first read: small inputs take little memory.
    const ROOM: usize = 1 << 16;
    /// A sample of this size needs a check of the memory first: a small control group would kill the process.
    const CHECKED: usize = 1 << 20;
    loop {
        if bytes.len() >= most {
            return Ok((bytes, false));
        }
        let begin = bytes.len();
        let expected = opened.size.map_or(0, |size| usize::try_from(size).unwrap_or(usize::MAX));
        let room = expected.saturating_add(1).max(begin.max(ROOM)).min(most - begin);
        if begin < CHECKED && begin + room >= CHECKED {
            Budget::check_process()?;
        }
        // One byte more, for a line end.
        opened.grow(&mut bytes, room + 1)?;
        bytes.resize(begin + room, 0);
        let count = opened.fill(&mut bytes[begin..])?;
        bytes.truncate(begin + count);
        if count < room {
            return Ok((bytes, true));
        }
    }
}
