//! The records of inputs, by the contract: lines, rows of tables, tokens of text, elements.

/// A byte order mark.
pub const MARK: &[u8] = b"\xEF\xBB\xBF";

/// A division of bytes into records.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Form {
    /// Lines that end in this byte.
    Lines(u8),
    /// Rows of a table with quotes, and its delimiter.
    Rows(u8),
    /// Tokens between white space, written one a line.
    Tokens,
    /// Elements of this many bytes.
    Elements(usize),
}

/// A record and its end, as the output has them.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    pub body: Vec<u8>,
    pub end: Vec<u8>,
}

impl Record {
    pub fn bytes(&self) -> Vec<u8> {
        [&self.body[..], &self.end].concat()
    }
}

/// The records of all inputs.
#[derive(Clone, Debug, Default)]
pub struct Records {
    pub mark: &'static [u8],
    /// All comments, then the header.
    pub head: Vec<Record>,
    /// The rows of the header without their ends.
    pub header: Vec<Vec<u8>>,
    pub all: Vec<Record>,
}

impl Records {
    /// Reads inputs; `None` for an unclosed quote, headers that differ, or a part of an element.
    pub fn read(inputs: &[&[u8]], form: Form, comments: bool, header: usize) -> Option<Self> {
        let (mut records, mut top) = (Self::default(), Vec::new());
        for input in inputs {
            let mut rest = *input;
            if !matches!(form, Form::Elements(_)) && input.starts_with(MARK) {
                rest = &input[MARK.len()..];
                // Tokens are written without what separates them.
                records.mark = if form == Form::Tokens { b"" } else { MARK };
            }
            let is_comment = |record: &Record| comments && record.body.starts_with(b"#");
            let (on_top, mut own): (Vec<_>, Vec<_>) =
                divide(rest, form, comments)?.into_iter().partition(is_comment);
            records.head.extend(on_top);
            records.all.extend(own.split_off(header.min(own.len())));
            let bodies: Vec<Vec<u8>> = own.iter().map(|row| row.body.clone()).collect();
            if records.header.is_empty() {
                (records.header, top) = (bodies, own);
            } else if !bodies.is_empty() && bodies != records.header {
                return None;
            }
        }
        records.head.extend(top);
        Some(records)
    }

    /// The output with the records at these positions.
    pub fn output(&self, positions: &[usize]) -> Vec<u8> {
        let records = positions.iter().map(|&at| &self.all[at]);
        let bytes = self.head.iter().chain(records).map(Record::bytes);
        std::iter::once(self.mark.to_vec()).chain(bytes).collect::<Vec<_>>().concat()
    }
}

fn divide(bytes: &[u8], form: Form, comments: bool) -> Option<Vec<Record>> {
    match form {
        Form::Tokens => {
            let is_space = |byte: &u8| byte.is_ascii_whitespace() || *byte == 0x0B;
            let tokens = bytes.split(is_space).filter(|token| !token.is_empty());
            Some(tokens.map(|token| Record { body: token.to_vec(), end: b"\n".to_vec() }).collect())
        }
        Form::Elements(size) => {
            let element = |body: &[u8]| Record { body: body.to_vec(), end: Vec::new() };
            bytes.len().is_multiple_of(size).then(|| bytes.chunks(size).map(element).collect())
        }
        Form::Lines(_) | Form::Rows(_) => {
            let (mut records, mut at) = (Vec::<Record>::new(), 0);
            while at < bytes.len() {
                let of_record = match form {
                    // Quotes have no meaning in a comment.
                    Form::Rows(_) if comments && bytes[at] == b'#' => Form::Lines(b'\n'),
                    form => form,
                };
                let end = end_of_record(bytes, at, of_record)?;
                let (body, mut end_bytes) = split_end(&bytes[at..end], form);
                if end_bytes.is_empty() {
                    let other = if form == Form::Lines(0) { b"\0" } else { b"\n" };
                    end_bytes = records.first().map_or(other.to_vec(), |first| first.end.clone());
                }
                records.push(Record { body: body.to_vec(), end: end_bytes });
                at = end;
            }
            Some(records)
        }
    }
}

/// The end of the record at `start`; `None` for an unclosed quote.
fn end_of_record(bytes: &[u8], start: usize, form: Form) -> Option<usize> {
    #[derive(Clone, Copy, PartialEq)]
    enum At {
        FieldStart,
        Field,
        Quoted,
        ClosingQuote,
    }
    let line_end = if form == Form::Lines(0) { 0 } else { b'\n' };
    let mut at = At::FieldStart;
    for (place, &byte) in bytes.iter().enumerate().skip(start) {
        at = match (form, at) {
            (Form::Rows(_), At::Quoted) if byte == b'"' => At::ClosingQuote,
            (_, At::Quoted) => At::Quoted,
            (Form::Rows(_), At::FieldStart | At::ClosingQuote) if byte == b'"' => At::Quoted,
            _ if byte == line_end => return Some(place + 1),
            (Form::Rows(delimiter), _) if byte == delimiter => At::FieldStart,
            _ => At::Field,
        };
    }
    (at != At::Quoted).then_some(bytes.len())
}

fn split_end(record: &[u8], form: Form) -> (&[u8], Vec<u8>) {
    let ends: &[&[u8]] = if form == Form::Lines(0) { &[b"\0"] } else { &[b"\r\n", b"\n"] };
    let end = ends.iter().find(|end| record.ends_with(end)).copied().unwrap_or_default();
    (&record[..record.len() - end.len()], end.to_vec())
}
