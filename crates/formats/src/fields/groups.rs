//! Groups rows with the same bytes in their key fields, so that many rows with few keys need little memory.
//!
//! ```text
//! text ── pieces, one for each core ── hashes, a table for each core ──> first rows, and numbers of rows
//! ```

use std::ops::Range;

use memchr::{memchr, memchr_iter};
use xxhash_rust::xxh3::xxh3_64;

use super::column::{Column, NotAdded};
use super::dialect::QUOTE;
use super::header::{ColumnAt, ResolvedKey};
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
    /// One table for each core, by the hashes of the fields.
    tables: Vec<Table>,
    /// The bytes before the next text.
    passed: u64,
    /// The name of the first input, and its line end.
    first: Option<(String, &'static [u8])>,
}

/// Finds groups by the hashes of their fields: from the place of a hash on, the first free place ends the search.
#[derive(Default)]
struct Table {
    /// The higher half of a group's hash, and the number of the group, from 1; 0 marks a free place. The
    /// number of places is a power of two, and at least half of them are free.
    places: Vec<u64>,
    groups: Vec<Group>,
    /// The offset of the first row of each group in all inputs, and its range with the line end.
    firsts: Vec<(u64, Range<usize>)>,
    /// The first row of each group, and the fields of its keys.
    bytes: Vec<u8>,
}

/// Aligned, so that a group lies in one cache line.
#[repr(align(32))]
struct Group {
    hash: u64,
    count: u64,
    key: Range<usize>,
}

/// A row whose group is not yet found. Its count includes equal rows shortly after it.
struct Row {
    at: usize,
    hash: u64,
    count: u64,
    /// The range of the fields in the piece, or in the joined fields of these rows.
    key: Range<usize>,
}

/// The rows of a piece.
struct Found<'t> {
    /// The piece, and what follows it.
    bytes: &'t [u8],
    /// The offset of the piece in the text.
    start: usize,
    /// The rows of each table.
    rows: Vec<Vec<Row>>,
    joined: Vec<u8>,
    /// The number of bytes read.
    end: usize,
    wrong: Option<Problem>,
}

/// The number of rows whose groups are fetched from memory together.
const TOGETHER: usize = 32;

/// The most bytes of a piece that a core reads at once, and the approximate number of its rows.
const PIECE: usize = 1 << 20;
/// The least bytes that justify a parallel task.
const LEAST: usize = 1 << 16;
const ROWS: usize = 1 << 15;

/// The number of recent rows to compare the next row with; a power of two. Without this comparison, a few frequent keys
/// would leave most tables without work.
const RECENT: usize = 1 << 12;

/// The bytes whose rows are counted for an estimate.
const SAMPLE: usize = 1 << 14;

impl<'a> Groups<'a> {
    /// Begins without groups.
    pub fn new(how: &'a InputSpec) -> Self {
        Self { how, tables: Vec::new(), passed: 0, first: None }
    }

    /// Returns the number of groups, and the bytes of their first rows and fields.
    pub fn size(&self) -> [u64; 2] {
        let sizes = self.tables.iter().map(|table| [table.groups.len() as u64, table.bytes.len() as u64]);
        sizes.fold([0, 0], |[groups, bytes], [more, long]| [groups + more, bytes + long])
    }

    /// Adds the rows of a text.
    ///
    /// # Errors
    ///
    /// The error of the first row that a sort refuses.
    pub fn add(&mut self, text: &Text, known: &mut Known) -> Result<(), Error> {
        let fields = self.how.kind.dialect().fields;
        let (_, bodies) = bodies(text, self.how.kind.dialect(), known)?;
        known.passed += text.bytes.len() as u64;
        let layout = Layout::new(text, self.how);
        if self.tables.is_empty() {
            self.tables.resize_with(parallel::threads(), Table::default);
        }
        for (body, line_end) in &bodies {
            self.first.get_or_insert_with(|| (text.parts[0].name.clone(), line_end));
            let bytes = &text.bytes[..=body.end];
            // Only without quotes is it certain where rows begin.
            let is_certain = fields.are_of_lines() || memchr(QUOTE, &bytes[body.clone()]).is_none();
            let sample = &bytes[body.start..body.end.min(body.start + SAMPLE)];
            let ends = memchr_iter(fields.line_end().byte(), sample).count();
            let most = body.len().div_ceil(parallel::threads()).clamp(LEAST, PIECE);
            let size = (sample.len() * ROWS / ends.max(1)).clamp(1, most);
            let size = if is_certain { size } else { body.len().max(1) };
            for pieces in rows::pieces(bytes, body.clone(), fields, size).chunks(parallel::threads()) {
                let mut left = pieces.to_vec();
                while left.iter().any(|piece| !piece.is_empty()) {
                    let added = self.add_pieces(&layout, bytes, &mut left, line_end);
                    added.map_err(|problem| layout.error(problem))?;
                }
            }
        }
        self.passed += text.bytes.len() as u64;
        Ok(())
    }

    /// Adds the rows of pieces, and leaves what follows the most rows of a piece.
    fn add_pieces(
        &mut self,
        layout: &Layout,
        bytes: &[u8],
        pieces: &mut [Range<usize>],
        line_end: &[u8],
    ) -> Result<(), Problem> {
        let (tables, passed) = (self.tables.len(), self.passed);
        // Later pieces follow the whole of earlier ones.
        let most = if pieces.len() == 1 { ROWS } else { usize::MAX };
        let read =
            |piece: &Range<usize>| Found::read(layout, &bytes[piece.start..], piece.clone(), tables, most);
        let found = map_parts(&*pieces, read);
        let added = map_parts(self.tables.iter_mut().enumerate(), |(number, table)| {
            found.iter().try_for_each(|found| table.add(layout, found, number, line_end, passed))
        });
        for (piece, found) in pieces.iter_mut().zip(&found) {
            piece.start = piece.end.min(found.start + found.end);
        }
        let wrong = found.into_iter().filter_map(|found| found.wrong);
        let first = wrong.chain(added.into_iter().filter_map(Result::err)).min_by_key(|problem| problem.0);
        first.map_or(Ok(()), Err)
    }

    /// Takes the first row of each group, in the order of the input, and the number of rows of each group.
    pub fn take(&mut self) -> (Text, Vec<u64>) {
        let tables = std::mem::take(&mut self.tables);
        let count = tables.iter().map(|table| table.groups.len()).sum();
        let mut groups: Vec<(u64, &[u8], u64)> = Vec::with_capacity(count);
        for table in &tables {
            let firsts = table.firsts.iter().zip(&table.groups);
            groups.extend(firsts.map(|((at, row), group)| (*at, &table.bytes[row.clone()], group.count)));
        }
        groups.sort_unstable_by_key(|(at, ..)| *at);
        let mut rows = Vec::with_capacity(groups.iter().map(|(_, row, _)| row.len()).sum());
        groups.iter().for_each(|(_, row, _)| rows.extend_from_slice(row));
        let (name, line_end) = self.first.clone().unwrap_or_default();
        let before = Before { line_end: Some(line_end), ..Before::default() };
        let end = self.how.kind.dialect().fields.line_end();
        let text = Text::of_one(&name, rows, Some(before), end);
        (text, groups.iter().map(|(.., count)| *count).collect())
    }
}

impl<'t> Found<'t> {
    /// Reads the first rows, at most `most`, that begin in a piece, for this number of tables. `bytes` begin with the piece.
    fn read(layout: &Layout, bytes: &'t [u8], piece: Range<usize>, tables: usize, most: usize) -> Self {
        let keys = &layout.how.keys;
        let has_whole = keys.iter().any(|key| key.column == ColumnAt::Whole);
        let guess = piece.len() / (32 * tables);
        let rows = (0..tables).map(|_| Vec::with_capacity(guess.min(ROWS / tables))).collect();
        let mut found = Self { bytes, start: piece.start, rows, joined: Vec::new(), end: 0, wrong: None };
        let (mut rows, mut recent) = (Rows::new(layout, bytes), vec![(0_u32, 0_u32); RECENT]);
        // Whole lines need no fields here.
        let are_lines = has_whole && layout.dialect.are_plain_lines();
        for _ in 0..most {
            let advanced =
                if are_lines { Ok(rows.advance_line(piece.len())) } else { rows.advance(piece.len()) };
            match advanced {
                Ok(true) => {}
                Ok(false) => {
                    found.end = piece.len();
                    return found;
                }
                Err(Problem(at, wrong)) => {
                    found.wrong = Some(Problem(piece.start + at, wrong));
                    break;
                }
            }
            let begin = found.joined.len();
            let key = if has_whole {
                rows.line()
            } else {
                for key in 0..keys.len() {
                    let field = rows.shown(key);
                    found.joined.extend_from_slice(&field.len().to_le_bytes());
                    found.joined.extend_from_slice(field);
                }
                begin..found.joined.len()
            };
            let text = if has_whole { bytes } else { &found.joined };
            let hash = xxh3_64(&text[key.clone()]);
            let same = &mut found.rows[table_of(hash, tables)];
            let (recent, half) = (&mut recent[hash as usize % RECENT], (hash >> 32) as u32);
            let before = if recent.1 == half { same.get_mut(recent.0 as usize) } else { None };
            match before {
                Some(row) if row.hash == hash && text[row.key.clone()] == text[key.clone()] => {
                    row.count += 1;
                    found.joined.truncate(begin);
                }
                _ => {
                    *recent = (same.len() as u32, half);
                    same.push(Row { at: rows.at, hash, count: 1, key });
                }
            }
        }
        found.end = rows.next;
        found
    }
}

impl Table {
    /// Adds the rows of a piece that belong to this table.
    fn add(
        &mut self,
        layout: &Layout,
        found: &Found,
        number: usize,
        line_end: &[u8],
        passed: u64,
    ) -> Result<(), Problem> {
        let (keys, bytes) = (&layout.how.keys, found.bytes);
        let has_whole = keys.iter().any(|key| key.column == ColumnAt::Whole);
        let mut columns: Vec<Column> = keys.iter().map(|key| Column::new(key, 0)).collect();
        for rows in found.rows[number].chunks(TOGETHER) {
            self.grow(rows.len());
            self.fetch(rows, if has_whole { bytes } else { &found.joined });
            for Row { at, hash, count, key } in rows {
                let key = if has_whole { &bytes[key.clone()] } else { &found.joined[key.clone()] };
                let place = self.find(*hash, key);
                if let Some(group) = group_at(self.places[place]) {
                    self.groups[group].count += count;
                    continue;
                }
                let moved = |Problem(_, wrong)| Problem(found.start + at, wrong);
                let mut row = Rows::new(layout, &bytes[*at..]);
                row.advance(1).map_err(moved)?;
                check(&row, keys, &mut columns).map_err(moved)?;
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
                self.groups.push(Group { hash: *hash, count: *count, key });
                self.firsts.push((passed + (found.start + at) as u64, row));
                self.places[place] = place_of(*hash, self.groups.len());
            }
        }
        Ok(())
    }

    /// Returns the place of the group of these fields, or the free place for it.
    fn find(&self, hash: u64, key: &[u8]) -> usize {
        let last = self.places.len() - 1;
        let mut place = hash as usize & last;
        while let Some(group) = group_at(self.places[place]) {
            if self.places[place] >> 32 == hash >> 32 && self.bytes[self.groups[group].key.clone()] == *key {
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
                self.places[place] = place_of(group.hash, number);
            }
        }
    }

    /// Fetches what the search for the groups of these rows reads, so that the rows wait for memory together.
    fn fetch(&self, rows: &[Row], text: &[u8]) {
        let place = |row: &Row| row.hash as usize & (self.places.len() - 1);
        for row in rows {
            prefetch(&self.places, place(row));
            prefetch(text, row.key.start);
        }
        let group = |row: &Row| {
            let there = self.places[place(row)];
            group_at(there).filter(|_| there >> 32 == row.hash >> 32)
        };
        rows.iter().filter_map(group).for_each(|group| prefetch(&self.groups, group));
        for key in rows.iter().filter_map(group).map(|group| &self.groups[group].key) {
            prefetch(&self.bytes, key.start);
            prefetch(&self.bytes, key.end);
        }
    }
}

/// Returns the number of the table for a hash.
pub fn table_of(hash: u64, tables: usize) -> usize {
    (((hash >> 32) * tables as u64) >> 32) as usize
}

/// Returns the entry of a place for the group with this number, from 1.
fn place_of(hash: u64, number: usize) -> u64 {
    hash >> 32 << 32 | u64::from(u32::try_from(number).expect("a table has less than 2^32 groups"))
}

/// Returns the index of the group at a place, if any.
fn group_at(place: u64) -> Option<usize> {
    (place as u32 as usize).checked_sub(1)
}

/// Checks that a sort takes a row.
fn check(rows: &Rows, keys: &[ResolvedKey], columns: &mut [Column]) -> Result<(), Problem> {
    for (key, column) in columns.iter_mut().enumerate() {
        let (field, order) = (rows.field(key), keys[key].order);
        if !order.skips_invalid() || column.refused(&field) != Some(NotAdded::Null(Class::Invalid)) {
            column.words = keys::Column::of(order, 0);
            let added = column.push(&field, &mut Counts::default());
            added.map_err(|refused| Problem(rows.at, Wrong::of(key, refused)))?;
        }
    }
    Ok(())
}
