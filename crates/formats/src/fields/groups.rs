//! Groups rows with the same bytes in their key fields, so that many rows with few keys need little memory.
//!
//! ```text
//! text ── pieces, a table for each core ──> the first row of each group, and the number of its rows
//! ```

use std::ops::Range;

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
use crate::memory::prefetch;
use crate::order::Class;
use crate::parallel::{self, map_parts};
use crate::text::{Before, Text};

/// Groups of rows, by the bytes of their key fields.
pub struct Groups<'a> {
    how: &'a InputSpec,
    /// One table for each core.
    tables: Vec<Table>,
    /// The bytes before the next text.
    passed: u64,
    /// The name of the first input, and its line end.
    first: Option<(String, &'static [u8])>,
}

/// Finds groups by the hashes of their fields: from the place of a hash on, the first free place ends the search.
#[derive(Default)]
struct Table {
    /// The numbers of groups, from 1; 0 is a free place. At least half of the places are free; a power of two.
    places: Vec<u32>,
    groups: Vec<Group>,
    /// The first row of each group with a line end, and the fields of its keys.
    bytes: Vec<u8>,
}

struct Group {
    hash: u64,
    /// The offset of the first row in all inputs.
    at: u64,
    count: u64,
    row: Range<usize>,
    key: Range<usize>,
}

/// A row whose group is not yet found.
struct Row {
    at: usize,
    hash: u64,
    /// The range of the fields in the text, or in the joined fields of these rows.
    key: Range<usize>,
}

/// The number of rows whose groups are fetched from memory together.
const TOGETHER: usize = 32;

impl<'a> Groups<'a> {
    /// Begins without groups.
    pub fn new(how: &'a InputSpec) -> Self {
        Self { how, tables: Vec::new(), passed: 0, first: None }
    }

    /// Returns the number of groups, and the bytes of their first rows and fields.
    pub fn size(&self) -> (u64, u64) {
        let of_table = |table: &Table| (table.groups.len() as u64, table.bytes.len() as u64);
        self.tables
            .iter()
            .map(of_table)
            .fold((0, 0), |(groups, bytes), (more, long)| (groups + more, bytes + long))
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
                let added = table.add(
                    &layout,
                    (&bytes[piece.start..], piece.len()),
                    line_end,
                    passed + piece.start as u64,
                );
                added.map_err(|Problem(at, wrong)| Problem(piece.start + at, wrong))
            })
        });
        self.passed += text.bytes.len() as u64;
        added.into_iter().collect::<Result<(), Problem>>().map_err(|problem| layout.error(problem))
    }

    /// Takes the first row of each group, in the order of the input, and the number of rows of each group. Groups of
    /// different cores may have the same fields.
    pub fn take(&mut self) -> (Text, Vec<u64>) {
        let tables = std::mem::take(&mut self.tables);
        let mut groups: Vec<(&[u8], &Group)> = tables
            .iter()
            .flat_map(|table| table.groups.iter().map(|group| (&table.bytes[group.row.clone()], group)))
            .collect();
        groups.sort_unstable_by_key(|(_, group)| group.at);
        let rows: Vec<&[u8]> = groups.iter().map(|(row, _)| *row).collect();
        let (name, line_end) = self.first.clone().unwrap_or_default();
        let before = Before { line_end: Some(line_end), ..Before::default() };
        let end = self.how.kind.dialect().fields.line_end();
        let text = Text::of_one(&name, rows.concat(), Some(before), end);
        (text, groups.iter().map(|(_, group)| group.count).collect())
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
        let mut rows = Rows::new(layout, bytes);
        let (mut found, mut joined, mut is_over) = (Vec::with_capacity(TOGETHER), Vec::new(), false);
        while !is_over {
            found.clear();
            joined.clear();
            let mut wrong = None;
            while found.len() < TOGETHER && !is_over {
                match rows.advance(until) {
                    Ok(true) if has_whole => {
                        let key = rows.line();
                        found.push(Row { at: rows.at, hash: xxh3_64(&bytes[key.clone()]), key });
                    }
                    Ok(true) => {
                        let begin = joined.len();
                        for key in 0..keys.len() {
                            let field = rows.shown(key);
                            joined.extend_from_slice(&field.len().to_le_bytes());
                            joined.extend_from_slice(field);
                        }
                        let key = begin..joined.len();
                        found.push(Row { at: rows.at, hash: xxh3_64(&joined[key.clone()]), key });
                    }
                    Ok(false) => is_over = true,
                    Err(problem) => (wrong, is_over) = (Some(problem), true),
                }
            }
            self.grow(found.len());
            self.fetch(&found);
            for Row { at, hash, key } in found.drain(..) {
                let key = if has_whole { &bytes[key] } else { &joined[key] };
                let place = self.find(hash, key);
                if let Some(group) = self.places[place].checked_sub(1) {
                    self.groups[group as usize].count += 1;
                    continue;
                }
                let mut row = Rows::new(layout, &bytes[at..]);
                row.advance(1)?;
                let moved = |Problem(_, wrong)| Problem(at, wrong);
                check(&row, &mut columns).map_err(moved)?;
                let (line, begin) = (at + row.line().start..at + row.line().end, self.bytes.len());
                self.bytes.extend_from_slice(&bytes[line.clone()]);
                let end = self.bytes.len();
                // The line end after an input belongs to no row.
                let next = at + row.next;
                let own_end = if next < bytes.len() { &bytes[line.end..next] } else { line_end };
                self.bytes.extend_from_slice(own_end);
                let row = begin..self.bytes.len();
                if !has_whole {
                    self.bytes.extend_from_slice(key);
                }
                let key = if has_whole { begin..end } else { row.end..self.bytes.len() };
                self.groups.push(Group { hash, at: offset + at as u64, count: 1, row, key });
                self.places[place] = self.groups.len() as u32;
            }
            wrong.map_or(Ok(()), Err)?;
        }
        Ok(())
    }

    /// Returns the place of the group of these fields, or the free place for it.
    fn find(&self, hash: u64, key: &[u8]) -> usize {
        let last = self.places.len() - 1;
        let mut place = hash as usize & last;
        while let Some(group) = self.places[place].checked_sub(1) {
            let group = &self.groups[group as usize];
            if group.hash == hash && self.bytes[group.key.clone()] == *key {
                break;
            }
            place = (place + 1) & last;
        }
        place
    }

    /// Makes room for more groups.
    fn grow(&mut self, more: usize) {
        let needed = 2 * (self.groups.len() + more);
        if needed > self.places.len() {
            self.places = vec![0; needed.next_power_of_two().max(1 << 12)];
            let last = self.places.len() - 1;
            for (number, group) in (1..).zip(&self.groups) {
                let mut place = group.hash as usize & last;
                while self.places[place] > 0 {
                    place = (place + 1) & last;
                }
                self.places[place] = number;
            }
        }
    }

    /// Fetches what the search for the groups of these rows reads, so that the rows wait for memory together.
    fn fetch(&self, rows: &[Row]) {
        let place = |row: &Row| row.hash as usize & (self.places.len() - 1);
        rows.iter().for_each(|row| prefetch(&self.places, place(row)));
        let group = |row: &Row| self.places[place(row)].checked_sub(1).map(|group| group as usize);
        rows.iter().filter_map(group).for_each(|group| prefetch(&self.groups, group));
        for key in rows.iter().filter_map(group).map(|group| &self.groups[group].key) {
            prefetch(&self.bytes, key.start);
            prefetch(&self.bytes, key.end);
        }
    }
}

/// Checks that a sort takes a row.
fn check(rows: &Rows, columns: &mut [Column]) -> Result<(), Problem> {
    for (key, column) in columns.iter_mut().enumerate() {
        let (field, order) = (rows.field(key), rows.order(key));
        if !order.skips_invalid() || column.refused(&field) != Some(NotAdded::Null(Class::Invalid)) {
            column.words = keys::Column::of(order, 0);
            let added = column.push(&field, &mut Counts::default());
            added.map_err(|refused| Problem(rows.at, Wrong::of(key, refused)))?;
        }
    }
    Ok(())
}
