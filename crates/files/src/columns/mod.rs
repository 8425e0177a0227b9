//! Rows in memory, ordered by several columns of numbers and texts.
//!
//! The values of a column become codes: numbers from 0 in the same order. The codes of all columns share
//! words, which are sorted. The code of a text stands for its first bytes; if all words of two rows are
//! equal, the rest of the texts and the columns after them decide.

#[cfg(feature = "arrow")]
#[doc(hidden)]
pub mod arrow;

use std::ops::Range;
use std::sync::OnceLock;

use gpusort_base::clock::timed;
use gpusort_base::error::Error;
use gpusort_base::parallel::{self, map_parts};
use gpusort_engine::element::Element;
use gpusort_engine::key_buf::KeyBuf;
use gpusort_engine::report::Report;
use gpusort_engine::sorter::{Progress, Request, RowColumn, Sorted, Sorter};
use gpusort_formats::keys::texts::{TextColumn, too_long};
use gpusort_formats::keys::{self, Keys};
use gpusort_formats::packing::{Codes, codes, packed, room};
use gpusort_formats::piece::Piece;
use gpusort_formats::{Ties, Words};
use gpusort_order::{Class, KeyOrder, Method, Nulls, Selection, Word};

/// A column of values that orders rows: by default, smallest first, NaN after all numbers and nulls last.
#[must_use]
pub struct Column<'a> {
    rows: usize,
    values: Values<'a>,
    /// Bits, the lowest of a byte first, and the number of the first row's bit.
    valid: Option<(&'a [u8], usize)>,
    /// The order; its reading is the form of texts.
    pub(crate) order: KeyOrder,
}

enum Values<'a> {
    Numbers(Box<dyn Numbers + 'a>),
    Texts {
        text: Box<dyn Fn(usize) -> &'a [u8] + Sync + 'a>,
        /// The number of each row's text among different texts, if known.
        numbers: Option<&'a [u32]>,
    },
}

impl<'a> Column<'a> {
    /// Numbers of one of the eleven types, in the order of `gpusort::sort` with all NaNs equal.
    pub fn numbers<T: Element>(values: &'a [T]) -> Self {
        Self::of(values.len(), Values::Numbers(Box::new(values)))
    }

    /// Texts, one per row, ordered by their bytes: for UTF-8, the order of code points. `text` is called once
    /// for each row, on all cores, and the sort copies the returned bytes.
    pub fn texts(rows: usize, text: impl Fn(usize) -> &'a [u8] + Sync + 'a) -> Self {
        Self::of(rows, Values::Texts { text: Box::new(text), numbers: None })
    }

    fn of(rows: usize, values: Values<'a>) -> Self {
        Self { rows, values, valid: None, order: KeyOrder::ASCENDING }
    }

    /// This column with nulls in the rows whose bit is not set. Bit `first` of the bytes, counted from the
    /// lowest bit of each byte as in Arrow, belongs to the first row.
    ///
    /// # Panics
    ///
    /// If there are fewer bits than rows.
    pub fn valid(self, bytes: &'a [u8], first: usize) -> Self {
        assert!(bytes.len().saturating_mul(8) >= first + self.rows, "there are fewer bits than rows");
        Self { valid: Some((bytes, first)), ..self }
    }

    /// This column with the largest values first. NaN and nulls stay in place.
    pub fn descending(self) -> Self {
        Self { order: KeyOrder { descending: true, ..self.order }, ..self }
    }

    /// This column with nulls before all other values, and NaN next to them.
    pub fn nulls_first(self) -> Self {
        Self { order: KeyOrder { nan: Nulls::First, empty: Nulls::First, ..self.order }, ..self }
    }

    /// This column with NaN before or after all numbers, independently of nulls.
    pub fn nan_first(self, first: bool) -> Self {
        let nan = if first { Nulls::First } else { Nulls::Last };
        Self { order: KeyOrder { nan, ..self.order }, ..self }
    }

    #[inline]
    fn is_null(&self, row: usize) -> bool {
        self.valid.is_some_and(|(bytes, first)| bytes[(first + row) / 8] >> ((first + row) % 8) & 1 == 0)
    }
}

/// The numbers of the rows in sorted order: by the first column, and by the next column between rows with
/// equal values. Rows with equal values in all columns keep their order.
///
/// # Errors
///
/// No columns, or columns of different lengths; 2^32 rows or more; 2 GiB of text in a few thousand rows.
pub fn argsort(columns: &[Column]) -> Result<Vec<u32>, Error> {
    Ok(Sorter::cpu().argsort_columns(columns)?.0)
}

/// Returns true if the rows are in the order of [`argsort`]. Stops soon after the first row out of order.
///
/// # Errors
///
/// The errors of [`argsort`].
#[doc(hidden)]
pub fn is_sorted(columns: &[Column]) -> Result<bool, Error> {
    /// The rows that one core compares at a time.
    const PART: usize = 1 << 15;
    let rows = rows_of(columns)?;
    let failure = OnceLock::new();
    let in_order = |part: usize| {
        // With the row before, to compare all neighbours.
        let rows = (part * PART).saturating_sub(1)..rows.min((part + 1) * PART);
        let keys = columns.iter().map(|column| column.keys(rows.clone())).collect::<Result<_, _>>();
        keys.map_or_else(
            |error| failure.set(error).is_err(),
            |keys| Keys::of(keys).by_records().first_broken(None, None).is_none(),
        )
    };
    let are_in_order = parallel::all(0..rows.div_ceil(PART), &in_order);
    failure.into_inner().map_or(Ok(are_in_order), Err)
}

#[doc(hidden)]
impl RowColumn for Column<'_> {
    fn argsort(sorter: &Sorter, columns: &[Self], first: Option<usize>) -> Result<(Vec<u32>, Report), Error> {
        let rows = rows_of(columns)?;
        let selection = Selection { first: first.filter(|&first| first < rows), ..Selection::ALL };
        let done = order_columns(sorter, columns, selection, Method::default(), &mut |_, _| {})?;
        Ok((done.words.into_vec().expect("positions have 32 bits"), done.report))
    }
}

/// Returns the number of rows of these columns.
fn rows_of(columns: &[Column]) -> Result<usize, Error> {
    let Some(first) = columns.first() else { return Err(Error::options("no columns to sort by")) };
    let rows = first.rows;
    if let Some(other) = columns.iter().map(|column| column.rows).find(|&other| other != rows) {
        return Err(Error::options(format!("columns of {rows} and {other} rows")));
    }
    match u32::try_from(rows) {
        Ok(_) => Ok(rows),
        Err(_) => Err(Error::limit("rows of one sort", rows as u64, u64::from(u32::MAX))),
    }
}

/// Returns the positions of the selected rows in order, as words of 32 bits.
pub(crate) fn order_columns(
    sorter: &Sorter,
    columns: &[Column],
    selection: Selection,
    method: Method,
    progress: Progress,
) -> Result<Sorted, Error> {
    let rows = rows_of(columns)?;
    if let [Column { values: Values::Numbers(numbers), valid: None, order, .. }] = columns
        && (selection, method) == (Selection::ALL, Method::default())
    {
        let (positions, report) = numbers.positions(sorter, *order)?;
        return Ok(Sorted { words: positions.into(), repeated: 0, report });
    }
    let (words, pieces) = coded(columns, &parts(rows))?;
    let tied = pieces.first().map_or(0, |piece| piece.keys.columns.len());
    let orders = vec![KeyOrder::ASCENDING; tied];
    let settle = |ties: &Ties, order: &mut Vec<u32>, words: &[KeyBuf]| {
        ties.settle(order, words, &pieces, &orders, selection.unique);
    };
    order_words(words, settle, sorter, selection, method, progress)
}

/// Returns the positions of the selected records in order, as words of 32 bits. `settle` orders the records whose
/// words are equal, and leaves out those whose keys repeat if the selection does.
pub(crate) fn order_words(
    Words { words, ties }: Words,
    settle: impl FnOnce(&Ties, &mut Vec<u32>, &[KeyBuf]),
    sorter: &Sorter,
    selection: Selection,
    method: Method,
    progress: Progress,
) -> Result<Sorted, Error> {
    let Some(ties) = ties else {
        return sorter.run(Request::positions_by(words).select(selection).by(method), progress);
    };
    let request = Request::positions_by(words.iter().map(KeyBuf::borrowed).collect());
    let Sorted { words: order, mut report, .. } = sorter.run(request.by(method), progress)?;
    let mut order = order.into_vec().expect("positions have 32 bits");
    let all = order.len();
    timed(&mut report.sort.time, || settle(&ties, &mut order, &words));
    let repeated = all - order.len();
    order.truncate(selection.first.unwrap_or(usize::MAX));
    Ok(Sorted { words: order.into(), repeated, report })
}

/// Ranges of rows, several for each core.
fn parts(rows: usize) -> Vec<Range<usize>> {
    const FEW: usize = 1 << 14;
    const MANY: usize = 1 << 19;
    parallel::ranges(rows, (rows / (4 * parallel::threads())).clamp(FEW, MANY)).collect()
}

/// Returns the keys of rows: words, and the values of all rows in the columns that break ties.
fn coded(columns: &[Column], parts: &[Range<usize>]) -> Result<(Words<'static>, Vec<Piece>), Error> {
    let mut codes = Vec::new();
    // The number of bytes of a text in the last codes, if there may be ties.
    let mut bytes = None;
    let mut settling: Vec<Vec<keys::Column>> = parts.iter().map(|_| Vec::new()).collect();
    for column in columns {
        let is_tied = bytes.is_some();
        if let (Values::Numbers(numbers), false) = (&column.values, is_tied) {
            codes.extend(numbers.codes(column, parts));
            continue;
        }
        let of_column = map_parts(parts, |rows| column.keys(rows.clone()));
        let of_column = of_column.into_iter().collect::<Result<Vec<_>, _>>()?;
        if !is_tied {
            let texts: Vec<&TextColumn> = of_column.iter().filter_map(keys::Column::texts).collect();
            let of_texts;
            (of_texts, bytes) = codes::of_texts(&texts, room(&codes));
            codes.push(of_texts);
        }
        if bytes.is_some() {
            settling.iter_mut().zip(of_column).for_each(|(part, column)| part.push(column));
        }
    }
    let words = packed(codes, &parts.iter().map(Range::len).collect::<Vec<_>>());
    let ties = bytes.map(|bytes| Ties { key: 0, bytes });
    let pieces = settling.into_iter().map(|columns| Piece::of(Keys::of(columns))).collect();
    Ok((Words { words, ties }, pieces))
}

impl Column<'_> {
    /// The values of these rows as keys, which compare with the keys of other columns of this type and order.
    pub(crate) fn keys(&self, rows: Range<usize>) -> Result<keys::Column, Error> {
        let (text, numbers) = match &self.values {
            Values::Numbers(numbers) => return Ok(numbers.keys(self, rows)),
            Values::Texts { text, numbers } => (text, numbers.map(|numbers| &numbers[rows.clone()])),
        };
        let mut texts = TextColumn::with_capacity(self.order, rows.len());
        // The first record with each text of a dictionary.
        let most = numbers.and_then(|numbers| numbers.iter().max());
        let mut firsts = vec![None; most.map_or(0, |&most| most as usize + 1)];
        for (record, row) in (0..).zip(rows) {
            if self.is_null(row) {
                texts.push_null(Class::Empty);
                continue;
            }
            let first =
                numbers.map(|numbers| firsts[numbers[record as usize] as usize].get_or_insert(record));
            match first {
                Some(&mut first) if first < record => texts.push_again(first),
                _ => texts.push_own(text(row)).map_err(|_| too_long())?,
            }
        }
        Ok(keys::Column::Texts(texts))
    }
}

/// Numbers of one type.
trait Numbers: Sync {
    /// The positions of the numbers in this order.
    fn positions(&self, sorter: &Sorter, order: KeyOrder) -> Result<(Vec<u32>, Report), Error>;

    /// The codes of the numbers of a column, part by part, the most significant codes first. Nulls get a code
    /// below or above all numbers, or a bit of their own if the numbers take all 64 bits.
    fn codes(&self, column: &Column, parts: &[Range<usize>]) -> Vec<Codes>;

    /// The numbers of these rows of a column as keys that compare with the keys of other columns. All NaNs have one
    /// key.
    fn keys(&self, column: &Column, rows: Range<usize>) -> keys::Column;
}

impl<T: Element> Numbers for &[T] {
    fn positions(&self, sorter: &Sorter, order: KeyOrder) -> Result<(Vec<u32>, Report), Error> {
        let (mut positions, report) = sorter.argsort_as(self, order)?;
        // NaNs are equal, whatever their bits.
        let is_nan = |row: &u32| is_nan(self[*row as usize]);
        let nans = match order.nan {
            Nulls::First => 0..positions.partition_point(is_nan),
            _ => positions.partition_point(|row| !is_nan(row))..positions.len(),
        };
        positions[nans].sort_unstable();
        Ok((positions, report))
    }

    fn codes(&self, column: &Column, parts: &[Range<usize>]) -> Vec<Codes> {
        let map = T::Word::map(column.order.map(T::TYPE));
        let key = |row: usize| -> u64 { self[row].to_word().key(map).with_one_nan(map).into() };
        let and = |(least, greatest), (low, high)| (u64::min(least, low), u64::max(greatest, high));
        let ends = map_parts(parts, |rows| {
            let keys = rows.clone().filter(|&row| !column.is_null(row)).map(key);
            keys.map(|key| (key, key)).fold((u64::MAX, 0), and)
        });
        let (least, greatest) = ends.into_iter().fold((u64::MAX, 0), and);
        let (most, has_nulls) = (greatest.saturating_sub(least), column.valid.is_some());
        let are_first = column.order.empty == Nulls::First;
        let of_parts = |of_null: u64, before: u64, most: u64| {
            // Another thread may have changed the number since the extremes were found.
            let above = |row| key(row).min(greatest).max(least) - least;
            let code = |row| if column.is_null(row) { of_null } else { above(row) + before };
            Codes { parts: map_parts(parts, |rows| rows.clone().map(code).collect()), most }
        };
        let Some(with_nulls) = most.checked_add(has_nulls.into()) else {
            let flag = |row| u64::from(column.is_null(row) != are_first);
            let flags = map_parts(parts, |rows| rows.clone().map(flag).collect());
            return vec![Codes { parts: flags, most: 1 }, of_parts(0, 0, most)];
        };
        let (of_null, before) = if are_first { (0, has_nulls.into()) } else { (with_nulls, 0) };
        vec![of_parts(of_null, before, with_nulls)]
    }

    fn keys(&self, column: &Column, rows: Range<usize>) -> keys::Column {
        let map = T::Word::map(column.order.map(T::TYPE));
        let key = |row: usize| -> u64 { self[row].to_word().key(map).with_one_nan(map).into() };
        let null = if column.order.empty == Nulls::First { 0 } else { u64::MAX };
        // Integers may take all 64 bits: lower halves tell nulls. For floats, giving all NaNs one key frees values at
        // one end.
        if !T::TYPE.is_float() && T::TYPE.bytes() == 8 {
            if column.valid.is_none() {
                return keys::Column::High(rows.map(key).collect());
            }
            let null = if null == 0 { 0 } else { u128::MAX };
            let word = |row| if column.is_null(row) { null } else { keys::whole(key(row)) };
            return keys::Column::whole(rows.map(word).collect());
        }
        let is_room_first = T::TYPE.is_float() && column.order.nan == Nulls::First;
        let code = |row| if is_room_first { key(row) - 1 } else { key(row) + 1 };
        keys::Column::High(rows.map(|row| if column.is_null(row) { null } else { code(row) }).collect())
    }
}

/// Returns true for NaN, which differs from itself.
#[allow(clippy::eq_op, reason = "only NaN differs from itself")]
pub(crate) fn is_nan<T: Element>(value: T) -> bool {
    value != value
}
