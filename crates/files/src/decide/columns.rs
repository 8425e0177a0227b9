//! Finds the columns of names: the line with the names, and the way to split it.

use super::Asked;
use super::look::Look;
use gpusort_base::error::Error;
use gpusort_base::format::Format;
use gpusort_formats::fields::{
    ColumnAt, Dialect, Fields, Gap, Header, Key, KeySpec, ResolvedKey, end_of_row,
};
use gpusort_formats::{LineEnd, Text};

/// The division of lines into fields, and the names of columns.
pub(super) struct Columns {
    pub(super) dialect: Dialect,
    pub(super) header: Header,
    /// The positions of columns, for a header split at blanks.
    positions: Vec<(String, Gap, Option<Gap>)>,
    /// True if some row and the header differ in their number of fields.
    are_cut: bool,
}

/// Returns the separators to try, in this order: several only for names.
fn tries(asked: &Asked, has_names: bool) -> Vec<Fields> {
    let quoted = |bytes: &[u8]| bytes.iter().map(|&byte| Fields::Quoted(byte)).collect::<Vec<_>>();
    let words = Fields::Words(asked.line_end);
    match (asked.delimiter, asked.format) {
        (Some(byte), Format::Lines) => vec![Fields::Split(byte, asked.line_end)],
        (Some(byte), _) => quoted(&[byte]),
        (None, Format::Csv) if has_names => quoted(b",\t;"),
        (None, Format::Csv) => quoted(b","),
        (None, Format::Tsv) => quoted(b"\t"),
        (None, _) if has_names && asked.line_end == LineEnd::Lf => [quoted(b"\t,;"), vec![words]].concat(),
        (None, _) => vec![words],
    }
}

/// Finds the separator of fields and the line with the names.
///
/// # Errors
///
/// I/O errors; a malformed header.
pub(super) fn find(look: &mut Look, asked: &Asked) -> Result<Columns, Error> {
    let names: Vec<&Key> = asked.by.keys.iter().filter(|key| key.is_name()).collect();
    let tries = tries(asked, !names.is_empty());
    let usual = tries[0];
    let is_table = matches!(usual, Fields::Quoted(_));
    let rows = asked.header.unwrap_or(usize::from(is_table || !names.is_empty()));
    let dialect = |fields, header| Dialect { fields, header, comments: asked.comments };
    look.complete(dialect(usual, rows))?;
    // The last comment with all names comes first, then the last row of the header.
    let (mut best, mut first_wrong): (Option<(usize, Columns)>, _) = (None, None);
    let mut lines = Vec::new();
    for text in look.texts() {
        let own = candidates(text, rows, asked, usual).into_iter();
        lines.extend(own.map(|(start, is_comment)| (text, start, is_comment)));
        // An input may have comments alone.
        if lines.last().is_some_and(|(.., is_comment)| !is_comment) {
            break;
        }
    }
    for (text, start, is_comment) in lines {
        let wrong = |problem| Error::input(text.line(start), problem);
        for &fields in &tries {
            let header = if is_comment { asked.header.unwrap_or(0) } else { rows };
            let read = Header::read(&text.bytes, start, text.parts[0].range.end, dialect(fields, 1));
            let read = match read {
                Ok((_, read)) => read,
                Err(problem) if names.is_empty() => return Err(wrong(problem)),
                Err(problem) => {
                    first_wrong.get_or_insert_with(|| wrong(problem));
                    continue;
                }
            };
            let mut columns = Columns::of(dialect(fields, header), read);
            if rows == 0 && !is_comment {
                columns.header = columns.header.unnamed();
                return Ok(columns);
            }
            if matches!(fields, Fields::Words(_)) && !is_comment {
                columns.look_at_positions(look, text, start)?;
            }
            if columns.hold(&names) {
                return Ok(columns);
            }
            let count = columns.header.names().count();
            if best.as_ref().is_none_or(|(most, _)| count > *most) {
                best = Some((count, columns));
            }
        }
    }
    match (best, first_wrong) {
        (Some((_, columns)), _) => Ok(columns),
        (None, Some(error)) => Err(error),
        (None, None) => Ok(Columns::of(dialect(usual, rows), Header::of_lines())),
    }
}

/// Returns the offsets of lines that may hold the names, and whether each line is a comment.
fn candidates(text: &Text, rows: usize, asked: &Asked, fields: Fields) -> Vec<(usize, bool)> {
    let range = text.parts[0].range.clone();
    let dialect = Dialect { fields, header: rows, comments: asked.comments };
    let (mut comments, mut header, mut at, mut left) = (Vec::new(), None, range.start, rows.max(1));
    while at < range.end {
        let is_comment = asked.comments && text.bytes[at] == b'#';
        if !is_comment && left == 0 && !asked.comments {
            break;
        }
        if is_comment {
            // With or without the sign, as in `#CHROM POS`.
            comments.extend([(at, true), (at + 1, true)]);
        } else if left > 0 {
            header = Some((at, false));
            left -= 1;
        }
        let comment = dialect.comment(&text.bytes, at);
        let Some(next) = comment.or_else(|| end_of_row(&text.bytes, at, fields)) else { break };
        at = next;
    }
    if asked.by.keys.iter().any(Key::is_name) {
        comments.into_iter().rev().chain(header).collect()
    } else {
        header.into_iter().collect()
    }
}

impl Columns {
    pub(super) fn of(dialect: Dialect, header: Header) -> Self {
        Self { dialect, header, positions: Vec::new(), are_cut: false }
    }

    /// Returns true if every name belongs to a column.
    fn hold(&self, names: &[&Key]) -> bool {
        names.iter().all(|key| {
            let is_counted = self.header.names().any(|name| key.names(&String::from_utf8_lossy(name)));
            is_counted || self.positions.iter().any(|(name, ..)| key.names(name))
        })
    }

    /// Finds the columns between positions with blanks in the header and all sampled rows.
    fn look_at_positions(&mut self, look: &Look, text: &Text, start: usize) -> Result<(), Error> {
        let line = &text.bytes[start..];
        let end = self.dialect.fields.line_end().bytes()[0];
        let line = &line[..memchr::memchr(end, line).unwrap_or(line.len())];
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let header: Vec<char> = String::from_utf8_lossy(line).chars().collect();
        let count = self.header.names().count();
        let mut used = Vec::new();
        mark(&mut used, &header);
        look.for_each(self.dialect, &mut |text, bodies, _, _| {
            for (body, _) in bodies {
                for row in text.bytes[body.clone()].split(|&byte| byte == end) {
                    let row = row.strip_suffix(b"\r").unwrap_or(row);
                    mark(&mut used, &String::from_utf8_lossy(row).chars().collect::<Vec<_>>());
                    let is_blank = |byte: &u8| matches!(byte, b' ' | b'\t');
                    let fields = row.split(is_blank).filter(|field| !field.is_empty()).count();
                    self.are_cut |= fields > 0 && fields != count;
                }
            }
            Ok(())
        })?;
        let mut columns: Vec<(String, Gap, Option<Gap>)> = Vec::new();
        let (mut at, mut last) = (0, 0);
        while let Some(skipped) = used[at..].iter().position(|&used| used) {
            let begin = at + skipped;
            let end = used[begin..].iter().position(|&used| !used).map_or(used.len(), |end| begin + end);
            let within = begin.min(header.len())..end.min(header.len());
            let name: String = header[within].iter().collect();
            let name = name.trim_matches([' ', '\t']);
            let gap = Gap(last, begin);
            if !name.is_empty() {
                if let Some((.., until)) = columns.last_mut() {
                    *until = Some(gap);
                }
                columns.push((name.to_owned(), gap, None));
            }
            (at, last) = (end, end);
        }
        self.positions = columns;
        Ok(())
    }

    /// Finds the columns of keys.
    ///
    /// # Errors
    ///
    /// A column that does not exist, or whose name is ambiguous.
    pub(super) fn keys(&self, by: &KeySpec, table: &str) -> Result<Vec<ResolvedKey>, Error> {
        if self.positions.is_empty() {
            return self.header.find(by, table);
        }
        let mut all: Vec<ResolvedKey> = Vec::new();
        for key in &by.keys {
            let one = KeySpec { keys: vec![key.clone()], ..by.clone() };
            let position = self.positions.iter().find(|(name, ..)| key.names(name));
            let counted = self.header.find(&one, table);
            let mut found = match (counted, position) {
                (Err(_), Some((name, ..))) if !self.header.has_name(name) => {
                    Header::of_names(1, [&name[..]]).find(&one, table)?
                }
                (counted, _) => counted?,
            };
            let Some(resolved) = found.pop() else { continue };
            let index = if let ColumnAt::Field(index) = &resolved.column { *index } else { usize::MAX };
            let is_name = self.hold(&[key]);
            let column = match position {
                Some((name, from, until)) if is_name && (self.are_cut || !self.header.has_name(name)) => {
                    ColumnAt::Between(*from, *until)
                }
                _ if is_name && index + 1 == self.header.names().count() => ColumnAt::Rest(index),
                _ => resolved.column.clone(),
            };
            all.push(ResolvedKey { column, ..resolved });
        }
        Ok(all)
    }
}

/// Marks the positions that a line uses.
fn mark(used: &mut Vec<bool>, line: &[char]) {
    if used.len() < line.len() {
        used.resize(line.len(), false);
    }
    for (used, character) in used.iter_mut().zip(line) {
        *used |= !matches!(character, ' ' | '\t');
    }
}
