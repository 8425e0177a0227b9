//! Groups rows with the same bytes in their key fields, so that many rows with few keys need little memory.
//!
//! ```text
//! text ── pieces, a table for each core ──> the first row of each group, and the number of its rows
//! ```

use std::ops::Range;

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use memchr::memchr;
use xxhash_rust::xxh3::xxh3_64;

use super::column::{Column, NotAdded};
use super::dialect::QUOTE;
use super::header::ColumnAt;
use super::layout::{Layout, Problem, Rows, Wrong};
use super::spec::InputSpec;
use super::{Known, bodies, rows};
use crate::counts::Counts;
use crate::error::Error;
use crate::keys;
use crate::order::Class;
use crate::parallel::{self, map_parts};
use crate::text::{Before, Text};

/// Groups of rows, by the bytes of their key fields.
pub struct Groups<'a> {
    how: &'a InputSpec,
    /// One table for each core; several may have groups of the same fields.
    tables: Vec<Table>,
    /// The bytes before the next text.
    passed: u64,
    /// The name of the first input, and its line end.
    first: Option<(String, &'static [u8])>,
}

#[derive(Default)]
struct Table {
    groups: HashTable<Group>,
    /// The first row of each group with a line end, and the fields of its keys.
    bytes: Vec<u8>,
    /// The first few distinct invalid fields.
    invalid: Counts,
}

struct Group {
    hash: u64,
    /// The offset of the first row in all inputs.
    at: u64,
    count: u64,
    row: Range<usize>,
    key: Range<usize>,
    /// The fields of the first row that are NaN, empty and invalid.
    nulls: [u32; 3],
    is_skipped: bool,
}

impl<'a> Groups<'a> {
    /// Begins without groups.
    pub fn new(how: &'a InputSpec) -> Self {
        Self { how, tables: Vec::new(), passed: 0, first: None }
    }

    /// Returns the number of groups, and the bytes of their first rows and fields.
    pub fn size(&self) -> (u64, u64) {
        let of_table = |table: &Table| (table.groups.len() as u64, table.bytes.len() as u64);
        self.tables.iter().map(of_table).fold((0, 0), |(groups, bytes), (more, long)| (groups + more, bytes + long))
    }

    /// Adds the rows of a text.
    ///
    /// # Errors
    ///
    /// The error of the first row that a sort refuses.
    pub fn add(&mut self, text: &Text, known: &mut Known) -> Result<(), Error> {
        /// The number of bytes that justifies a parallel task.
        const LEAST: usize = 1 << 18;
        let fields = self.how.kind.dialect().fields;
        let (_, bodies) = bodies(text, self.how.kind.dialect(), known)?;
        known.passed += text.bytes.len() as u64;
        let layout = Layout::new(text, self.how);
        let mut pieces = Vec::new();
        for (body, line_end) in &bodies {
            self.first.get_or_insert_with(|| (text.parts[0].name.clone(), line_end));
            let bytes = &text.bytes[..=body.end];
            // Only without quotes is it certain where rows begin.
            let is_certain = fields.are_of_lines() || memchr(QUOTE, &bytes[body.clone()]).is_none();
            let parts = if is_certain && body.len() > LEAST { parallel::threads() } else { 1 };
            let of_body = rows::pieces(bytes, body.clone(), fields, body.len().div_ceil(parts).max(1));
            pieces.extend(of_body.into_iter().map(|piece| (bytes, piece, *line_end)));
        }
        let tables = if pieces.len() > 1 { parallel::threads() } else { 1 };
        self.tables.resize_with(tables.max(self.tables.len()), Table::default);
        let passed = self.passed;
        let parts = pieces.chunks(pieces.len().div_ceil(self.tables.len()).max(1));
        let added = map_parts(self.tables.iter_mut().zip(parts), |(table, pieces)| {
            pieces.iter().try_for_each(|(bytes, piece, line_end)| {
                let added = table.add(&layout, (&bytes[piece.start..], piece.len()), line_end, passed + piece.start as u64);
                added.map_err(|Problem(at, wrong)| Problem(piece.start + at, wrong))
            })
        });
        self.passed += text.bytes.len() as u64;
        added.into_iter().collect::<Result<(), Problem>>().map_err(|problem| layout.error(problem))
    }

    /// Takes the groups: the first row of each in the order of the input, the numbers of their rows, and the counts
    /// of all rows.
    pub fn take(&mut self) -> (Text, Vec<u64>, Counts) {
        let mut tables = std::mem::take(&mut self.tables).into_iter();
        let mut all = tables.next().unwrap_or_default();
        tables.for_each(|table| all.merge(table));
        let Table { groups, bytes, invalid: mut counts } = all;
        let mut groups: Vec<Group> = groups.into_iter().collect();
        groups.sort_unstable_by_key(|group| group.at);
        for Group { count, nulls, is_skipped, .. } in &groups {
            let [nan, empty, invalid] = nulls.map(|nulls| count * u64::from(nulls));
            counts.nan += nan;
            counts.empty += empty;
            counts.invalid += invalid;
            counts.skipped += if *is_skipped { *count } else { 0 };
        }
        groups.retain(|group| !group.is_skipped);
        let rows: Vec<&[u8]> = groups.iter().map(|group| &bytes[group.row.clone()]).collect();
        let (name, line_end) = self.first.clone().unwrap_or_default();
        let before = Before { line_end: Some(line_end), ..Before::default() };
        let end = self.how.kind.dialect().fields.line_end();
        let text = Text::of_one(&name, rows.concat(), Some(before), end);
        (text, groups.iter().map(|group| group.count).collect(), counts)
    }
}

impl Table {
    /// Adds the rows that begin in the first `until` bytes, which are at this offset in all inputs.
    fn add(
        &mut self,
        layout: &Layout,
        (bytes, until): (&[u8], usize),
        line_end: &[u8],
        offset: u64,
    ) -> Result<(), Problem> {
        let keys = &layout.how.keys;
        let has_whole = keys.iter().any(|key| key.column == ColumnAt::Whole);
        let mut columns: Vec<Column> = keys.iter().map(|key| Column::new(key, 0)).collect();
        let (mut rows, mut joined) = (Rows::new(layout, bytes), Vec::new());
        while rows.advance(until)? {
            let line = rows.line();
            let key = match keys.len() {
                _ if has_whole => &bytes[line.clone()],
                1 => rows.shown(0),
                _ => {
                    joined.clear();
                    for key in 0..keys.len() {
                        let field = rows.shown(key);
                        joined.extend_from_slice(&field.len().to_le_bytes());
                        joined.extend_from_slice(field);
                    }
                    &joined
                }
            };
            let (hash, own) = (xxh3_64(key), &mut self.bytes);
            let is_same = |group: &Group| group.hash == hash && own[group.key.clone()] == *key;
            match self.groups.entry(hash, is_same, |group| group.hash) {
                Entry::Occupied(mut found) => found.get_mut().count += 1,
                Entry::Vacant(vacant) => {
                    let (nulls, is_skipped) = nulls_of(&rows, &mut columns, &mut self.invalid)?;
                    let begin = own.len();
                    own.extend_from_slice(&bytes[line.clone()]);
                    let end = own.len();
                    // Behind the last byte of an input is no line end of its own.
                    let has_end = rows.next < bytes.len();
                    own.extend_from_slice(if has_end { &bytes[line.end..rows.next] } else { line_end });
                    let row = begin..own.len();
                    if !has_whole {
                        own.extend_from_slice(key);
                    }
                    let key = if has_whole { begin..end } else { row.end..own.len() };
                    let at = offset + rows.at as u64;
                    vacant.insert(Group { hash, at, count: 1, row, key, nulls, is_skipped });
                }
            }
        }
        Ok(())
    }

    /// Adds the groups of another table.
    fn merge(&mut self, other: Self) {
        self.invalid.add_all(&other.invalid);
        for group in other.groups {
            let [key, row] = [&group.key, &group.row].map(|range| &other.bytes[range.clone()]);
            let is_same = |own: &Group| own.hash == group.hash && self.bytes[own.key.clone()] == *key;
            match self.groups.find_mut(group.hash, is_same) {
                Some(own) if own.at < group.at => own.count += group.count,
                found => {
                    // The row of the earlier group stands for both.
                    let begin = self.bytes.len();
                    self.bytes.extend_from_slice(row);
                    let end = self.bytes.len();
                    self.bytes.extend_from_slice(key);
                    let (row, key) = (begin..end, end..self.bytes.len());
                    match found {
                        Some(own) => *own = Group { count: own.count + group.count, row, key, ..group },
                        None => {
                            let group = Group { row, key, ..group };
                            self.groups.insert_unique(group.hash, group, |group| group.hash);
                        }
                    }
                }
            }
        }
    }
}

/// Returns the numbers of null fields in a row by their classes, and true for a row that is left out.
fn nulls_of(rows: &Rows, columns: &mut [Column], invalid: &mut Counts) -> Result<([u32; 3], bool), Problem> {
    let mut counts = Counts::default();
    let mut is_skipped = false;
    for (key, column) in columns.iter_mut().enumerate() {
        let (field, order) = (rows.field(key), rows.order(key));
        if order.skips_invalid() && column.refused(&field) == Some(NotAdded::Null(Class::Invalid)) {
            counts.add(Class::Invalid, &field.value());
            is_skipped = true;
            continue;
        }
        column.words = keys::Column::of(order, 0);
        column.push(&field, &mut counts).map_err(|refused| Problem(rows.at, Wrong::of(key, refused)))?;
    }
    invalid.add_all(&Counts { invalid_fields: counts.invalid_fields, ..Counts::default() });
    Ok(([counts.nan, counts.empty, counts.invalid].map(|count| count as u32), is_skipped))
}
