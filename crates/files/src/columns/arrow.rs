//! Arrow arrays as columns to order by, in place in memory.
//!
//! Numbers, dates, times and small decimals are ordered by their stored numbers, a wide decimal by two, and
//! the values of a dictionary by their ranks or, across batches, by their texts.

use std::iter;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Decimal128Type;
use arrow_array::{
    Array, ArrayRef, Int64Array, UInt8Array, UInt32Array, UInt64Array, downcast_dictionary_array,
};
use arrow_buffer::{ArrowNativeType, NullBuffer};
use arrow_schema::{DataType, Field, IntervalUnit};
use arrow_select::take::take;
use gpusort_order::ElementType;

use super::{Column, Values, argsort, is_nan};
use gpusort_base::error::Error;
use gpusort_base::parallel;
use gpusort_engine::element::Element;
use gpusort_formats::arrow::failed;

pub use gpusort_formats::arrow::arrays::{gathered, joined};

/// Evaluates an expression with `T` as the Rust type of an [`ElementType`].
#[macro_export]
#[doc(hidden)]
macro_rules! by_element {
    ($element:expr, $type:ident => $value:expr) => {{
        macro_rules! with {
            ($rust:ty) => {{
                type $type = $rust;
                $value
            }};
        }
        match $element {
            $crate::ElementType::U8 => with!(u8),
            $crate::ElementType::I8 => with!(i8),
            $crate::ElementType::U16 => with!(u16),
            $crate::ElementType::I16 => with!(i16),
            $crate::ElementType::F16 => with!($crate::half::f16),
            $crate::ElementType::U32 => with!(u32),
            $crate::ElementType::I32 => with!(i32),
            $crate::ElementType::F32 => with!(f32),
            $crate::ElementType::U64 => with!(u64),
            $crate::ElementType::I64 => with!(i64),
            $crate::ElementType::F64 => with!(f64),
        }
    }};
}

/// The sort keys of an array.
pub struct Decoded {
    /// Arrays of numbers or of texts, by precedence: the array itself, or arrays in the same order.
    arrays: Vec<ArrayRef>,
    nulls: Option<NullBuffer>,
    /// The number of each row's text, for a dictionary of texts compared across batches.
    numbers: Option<Vec<u32>>,
}

/// A test of two rows.
type IsSame<'a> = Box<dyn Fn(usize, usize) -> bool + Sync + 'a>;

/// Returns true if the field says that its dictionary values are in order, as Polars does for an enumeration.
#[allow(deprecated)]
pub(crate) fn is_ordered(field: &Field) -> bool {
    field.dict_is_ordered() == Some(true) || field.metadata().keys().any(|key| key.starts_with("_PL_ENUM"))
}

impl Decoded {
    /// Decodes an array of this field.
    ///
    /// # Errors
    ///
    /// The array's type has no order.
    pub fn of(field: &Field, array: &ArrayRef) -> Result<Self, Error> {
        Self::decode(field, array, false)
    }

    /// Decodes an array of this field. With `is_across`, its columns compare with the columns of other arrays of
    /// the field.
    ///
    /// # Errors
    ///
    /// See [`Decoded::of`].
    pub(crate) fn decode(field: &Field, array: &ArrayRef, is_across: bool) -> Result<Self, Error> {
        let nulls = array.logical_nulls();
        let arrays: Vec<ArrayRef> = match array.data_type() {
            kind if is_text(kind) || element_of(kind).is_some() => vec![array.clone()],
            DataType::Boolean => {
                let bits = array.as_boolean().values().iter().map(u8::from);
                vec![Arc::new(UInt8Array::from_iter_values(bits))]
            }
            DataType::Null => vec![Arc::new(UInt8Array::from(vec![0; array.len()]))],
            DataType::Decimal128(..) => {
                let values = array.as_primitive::<Decimal128Type>().values();
                let high = Int64Array::from_iter_values(values.iter().map(|&value| (value >> 64) as i64));
                let low = UInt64Array::from_iter_values(values.iter().map(|&value| value as u64));
                vec![Arc::new(high), Arc::new(low)]
            }
            DataType::Dictionary(..) if is_ordered(field) => {
                vec![Arc::new(UInt32Array::from(by_value(array, |number| number)))]
            }
            DataType::Dictionary(_, kind) if is_text(kind) && is_across => {
                let numbers = Some(by_value(array, |number| number));
                let arrays = vec![array.as_any_dictionary().values().clone()];
                return Ok(Self { arrays, nulls, numbers });
            }
            DataType::Dictionary(_, kind) if is_text(kind) => {
                // Ranks hold within one dictionary.
                let ranks = ranks(array.as_any_dictionary().values())?;
                let rank = |number| ranks.get(number as usize).copied().unwrap_or(0);
                vec![Arc::new(UInt32Array::from(by_value(array, rank)))]
            }
            DataType::Dictionary(_, kind) => {
                let dictionary = array.as_any_dictionary();
                let unpacked = take(dictionary.values(), dictionary.keys(), None).map_err(failed)?;
                return Self::decode(&Field::new("", kind.as_ref().clone(), true), &unpacked, is_across);
            }
            DataType::Struct(_) => {
                return Err(Error::options("a struct has no order of its own; order by its fields"));
            }
            kind => {
                return Err(Error::options(format!(
                    "Arrow arrays of type {kind} have no order; cast them to numbers, times or strings"
                )));
            }
        };
        Ok(Self { arrays, nulls, numbers: None })
    }

    /// The null buffer, if any.
    pub fn nulls(&self) -> Option<&NullBuffer> {
        self.nulls.as_ref()
    }

    /// Returns the number of NaNs, and the first row with a NaN. The value stored for a null does not count.
    pub(crate) fn nans(&self) -> (u64, Option<usize>) {
        let is_valid = |row| self.nulls().is_none_or(|nulls| nulls.is_valid(row));
        let of_array = |array: &ArrayRef| {
            let element = element_of(array.data_type()).filter(|element| element.is_float())?;
            Some(by_element!(element, T => {
                let values = numbers_of::<T>(array);
                parallel::map_parts(parallel::ranges(values.len(), 1 << 16), |mut rows| {
                    let mut nans = iter::from_fn(|| rows.find(|&row| is_nan(values[row]) && is_valid(row)));
                    let first = nans.next();
                    (u64::from(first.is_some()) + nans.count() as u64, first)
                })
            }))
        };
        let parts = self.arrays.iter().filter_map(of_array).flatten();
        parts.fold((0, None), |(all, first), (count, of_part)| (all + count, first.or(of_part)))
    }

    /// The columns to order by, by precedence.
    pub fn columns(&self) -> Vec<Column<'_>> {
        let column = |array| {
            let column = match (element_of(Array::data_type(array)), &self.numbers) {
                (Some(element), _) => by_element!(element, T => Column::numbers(numbers_of::<T>(array))),
                (None, Some(numbers)) => {
                    let text = text_of(array);
                    let text = Box::new(move |row: usize| text(numbers[row] as usize));
                    Column::of(numbers.len(), Values::Texts { text, numbers: Some(numbers) })
                }
                (None, None) => Column::texts(array.len(), text_of(array)),
            };
            match self.nulls().filter(|nulls| nulls.null_count() > 0) {
                // The first column decides; null rows tie in every other.
                Some(nulls) => column.valid(nulls.validity(), nulls.offset()),
                None => column,
            }
        };
        self.arrays.iter().map(column).collect()
    }

    /// Passes each row with its rank to `take`, in this order of the rows. Equal elements share a rank: also zeros of
    /// both signs, all NaNs, and all nulls.
    pub fn rank(&self, order: &[u32], mut take: impl FnMut(usize, u32)) {
        let of_array = |array| -> IsSame<'_> {
            let Some(element) = element_of(Array::data_type(array)) else {
                assert!(self.numbers.is_none(), "texts of a dictionary compare by their ranks");
                let text = text_of(array);
                return Box::new(move |a, b| text(a) == text(b));
            };
            by_element!(element, T => same_numbers(numbers_of::<T>(array)))
        };
        let are_same: Vec<IsSame> = self.arrays.iter().map(of_array).collect();
        let is_null = |row| self.nulls.as_ref().is_some_and(|nulls| nulls.is_null(row));
        let is_equal = |a, b| match (is_null(a), is_null(b)) {
            (false, false) => are_same.iter().all(|is_same| is_same(a, b)),
            (a, b) => a == b,
        };
        let mut rank = 0;
        for (place, &row) in order.iter().enumerate() {
            rank += u32::from(place > 0 && !is_equal(order[place - 1] as usize, row as usize));
            take(row as usize, rank);
        }
    }
}

fn same_numbers<T: Element>(values: &[T]) -> IsSame<'_> {
    Box::new(move |a, b| values[a] == values[b] || is_nan(values[a]) && is_nan(values[b]))
}

/// The element type that a type is stored as and ordered by, if any.
pub fn element_of(kind: &DataType) -> Option<ElementType> {
    // Intervals of days are several numbers.
    let width = kind.primitive_width().filter(|_| *kind != DataType::Interval(IntervalUnit::DayTime))?;
    Some(match width {
        2 if kind.is_floating() => ElementType::F16,
        4 if kind.is_floating() => ElementType::F32,
        8 if kind.is_floating() => ElementType::F64,
        1 if kind.is_unsigned_integer() => ElementType::U8,
        2 if kind.is_unsigned_integer() => ElementType::U16,
        4 if kind.is_unsigned_integer() => ElementType::U32,
        8 if kind.is_unsigned_integer() => ElementType::U64,
        1 => ElementType::I8,
        2 => ElementType::I16,
        4 => ElementType::I32,
        8 => ElementType::I64,
        _ => return None,
    })
}

/// Returns true for types ordered by bytes.
pub(crate) fn is_text(kind: &DataType) -> bool {
    kind.is_string() || kind.is_binary()
}

/// Returns what `of` makes of the number of each row's value in a dictionary; the number of a null is arbitrary.
fn by_value(array: &ArrayRef, of: impl Fn(u32) -> u32 + Sync) -> Vec<u32> {
    downcast_dictionary_array!(
        array => {
            let last = array.values().len().saturating_sub(1);
            parallel::map(array.keys().values(), |key| of(key.as_usize().min(last) as u32))
        },
        kind => panic!("{kind} is no dictionary")
    )
}

/// Returns the rank of each text of a dictionary; equal texts share a rank.
fn ranks(values: &ArrayRef) -> Result<Vec<u32>, Error> {
    let values = Decoded::of(&Field::new("", values.data_type().clone(), true), values)?;
    let order = argsort(&values.columns())?;
    let mut ranks = vec![0; order.len()];
    values.rank(&order, |value, rank| ranks[value] = rank);
    Ok(ranks)
}

/// Borrows the numbers of an array.
///
/// # Panics
///
/// If the width of `T` differs.
pub fn numbers_of<T: Element>(array: &ArrayRef) -> &[T] {
    let width = array.data_type().primitive_width();
    assert_eq!(width, Some(size_of::<T>()), "numbers of {}", array.data_type());
    let data = array.to_data();
    let (offset, buffer) = (data.offset(), &data.buffers()[0]);
    let bytes = &buffer.as_slice()[offset * size_of::<T>()..][..array.len() * size_of::<T>()];
    // SAFETY:
    // - The array has `len` aligned numbers of this width.
    // - Any bits are a valid `T`.
    // - The array, which outlives the result, keeps the memory alive.
    unsafe { std::slice::from_raw_parts(bytes.as_ptr().cast(), array.len()) }
}

/// The text of each row of an array of texts.
fn text_of<'a>(array: &'a ArrayRef) -> Box<dyn Fn(usize) -> &'a [u8] + Sync + 'a> {
    macro_rules! text {
        ($array:expr $(, $as_bytes:ident)?) => {{
            let array = $array;
            Box::new(move |row| array.value(row)$(.$as_bytes())?)
        }};
    }
    match array.data_type() {
        DataType::Utf8 => text!(array.as_string::<i32>(), as_bytes),
        DataType::LargeUtf8 => text!(array.as_string::<i64>(), as_bytes),
        DataType::Utf8View => text!(array.as_string_view(), as_bytes),
        DataType::Binary => text!(array.as_binary::<i32>()),
        DataType::LargeBinary => text!(array.as_binary::<i64>()),
        DataType::BinaryView => text!(array.as_binary_view()),
        _ => text!(array.as_fixed_size_binary()),
    }
}
