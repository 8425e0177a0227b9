//! Sorts of slices in memory: the functions of the crate root.
//!
//! Each sort maps elements to keys, sorts the keys, and maps them back; every bit of an element is
//! kept.

use gpusort_order::{ElementType, KeyOrder, Pair, Selection, Word, is_few};
use half::f16;

use crate::key_buf::{KeyBuf, KeyWidth};
use crate::report::{Form, Report};
use crate::sorter::{Request, Sorted, Sorter, number_of_records};
use gpusort_base::clock::Instant;
use gpusort_base::error::Error;
use gpusort_base::parallel::{self, map_into};
use gpusort_cpu::{self as cpu, Keyed};

/// A sortable number of one of the eleven types of [`ElementType`]. The crate `half`, re-exported,
/// provides `f16`.
///
/// No other type can implement this trait.
pub trait Element: Copy + PartialOrd + Send + Sync + sealed::Sealed + 'static {
    /// The type of the element.
    const TYPE: ElementType;
    /// The word that holds the bits and the key of an element.
    type Word: KeyWidth;

    /// Returns the bits of the element, in the lowest bits of the word.
    #[must_use]
    fn to_word(self) -> Self::Word;
    /// Returns the element with these bits.
    #[must_use]
    fn from_word(word: Self::Word) -> Self;
    /// Returns these elements as words of equal width; `None` for narrower elements.
    #[doc(hidden)]
    fn as_words(elements: &mut [Self]) -> Option<&mut [Self::Word]>;
}

mod sealed {
    /// Prevents other implementations: the kernels and maps know only these types.
    pub trait Sealed {}
}

macro_rules! element {
    // An element as wide as its word.
    ($type:ident is $word:ident, $($rest:tt)*) => {
        element!($type, $word, $($rest)*, |elements| Some(bytemuck::cast_slice_mut(elements)));
    };
    // An element narrower than its word.
    ($type:ident in $word:ident, $($rest:tt)*) => {
        element!($type, $word, $($rest)*, |_elements| None);
    };
    (
        $type:ident, $word:ident, $name:ident,
        $element:ident => $to:expr, $bits:ident => $from:expr, |$elements:ident| $words:expr
    ) => {
        impl sealed::Sealed for $type {}

        impl Element for $type {
            const TYPE: ElementType = ElementType::$name;
            type Word = $word;

            #[inline]
            fn to_word(self) -> $word {
                let $element = self;
                $to
            }

            #[inline]
            fn from_word($bits: $word) -> Self {
                $from
            }

            fn as_words($elements: &mut [Self]) -> Option<&mut [$word]> {
                $words
            }
        }
    };
}

element!(u8 in u32, U8, element => element.into(), bits => bits as u8);
element!(i8 in u32, I8, element => element.cast_unsigned().into(), bits => bits as i8);
element!(u16 in u32, U16, element => element.into(), bits => bits as u16);
element!(i16 in u32, I16, element => element.cast_unsigned().into(), bits => bits as i16);
element!(f16 in u32, F16, element => element.to_bits().into(), bits => f16::from_bits(bits as u16));
element!(u32 is u32, U32, element => element, bits => bits);
element!(i32 is u32, I32, element => element.cast_unsigned(), bits => bits.cast_signed());
element!(f32 is u32, F32, element => element.to_bits(), bits => f32::from_bits(bits));
element!(u64 is u64, U64, element => element, bits => bits);
element!(i64 is u64, I64, element => element.cast_unsigned(), bits => bits.cast_signed());
element!(f64 is u64, F64, element => element.to_bits(), bits => f64::from_bits(bits));

/// The smallest element first, NaN last.
const ASCENDING: KeyOrder = KeyOrder::ASCENDING;
/// The largest element first, NaN last.
const DESCENDING: KeyOrder = KeyOrder { descending: true, ..ASCENDING };

/// Unwraps a result of the CPU, which refuses only more records than 32-bit positions can tell
/// apart.
fn done<T>(result: Result<T, Error>) -> T {
    result.unwrap_or_else(|error| panic!("{error}"))
}

/// Sorts on all cores: smallest first, −0 before +0, NaN last.
///
/// On several cores, a sort of elements with four or eight bytes takes additional memory of the elements'
/// size, and more if most elements share their highest bits. Up to 16 megabytes of this memory are kept for
/// the next sort, and two megabytes by each thread. A single core that sorts by vector instructions alone
/// takes at most these two megabytes.
///
/// ```
/// let mut numbers = [2.5, -1.0, f64::NAN, 0.0, -0.0];
/// gpusort::sort(&mut numbers);
/// assert_eq!(numbers[..4], [-1.0, -0.0, 0.0, 2.5]);
/// ```
pub fn sort<T: Element>(elements: &mut [T]) {
    sort_on_cpu(elements, ASCENDING);
}

/// Sorts on all cores: largest first, +0 before −0, NaN last.
pub fn sort_descending<T: Element>(elements: &mut [T]) {
    sort_on_cpu(elements, DESCENDING);
}

/// Returns the positions of the elements in the order of [`sort`]; equal elements keep their order.
///
/// ```
/// assert_eq!(gpusort::argsort(&[30_u8, 10, 20, 10]), [1, 3, 2, 0]);
/// ```
///
/// # Panics
///
/// Panics for 2^32 elements or more: use [`argsort_u64`] for them.
#[must_use]
pub fn argsort<T: Element>(elements: &[T]) -> Vec<u32> {
    done(argsort_on_cpu(elements, ASCENDING)).0
}

/// Returns the positions of the elements in the order of [`sort_descending`]; equal elements keep
/// their order.
///
/// # Panics
///
/// Panics like [`argsort`].
#[must_use]
pub fn argsort_descending<T: Element>(elements: &[T]) -> Vec<u32> {
    done(argsort_on_cpu(elements, DESCENDING)).0
}

/// Like [`argsort`], for any number of elements.
#[must_use]
pub fn argsort_u64<T: Element>(elements: &[T]) -> Vec<u64> {
    wide_positions(elements, ASCENDING)
}

/// Like [`argsort_descending`], for any number of elements.
#[must_use]
pub fn argsort_descending_u64<T: Element>(elements: &[T]) -> Vec<u64> {
    wide_positions(elements, DESCENDING)
}

/// Returns the first `k` elements in the order of [`sort`], or all if there are fewer. For a small `k`,
/// the other elements stay unsorted.
///
/// ```
/// assert_eq!(gpusort::top(&[5, -3, 8, -3], 3), [-3, -3, 5]);
/// ```
#[must_use]
pub fn top<T: Element>(elements: &[T], k: usize) -> Vec<T> {
    done(Sorter::cpu().top(elements, k)).0
}

/// Returns the first `k` elements in the order of [`sort_descending`], or all if there are fewer.
#[must_use]
pub fn top_descending<T: Element>(elements: &[T], k: usize) -> Vec<T> {
    done(Sorter::cpu().top_descending(elements, k)).0
}

/// Returns the positions of the first `k` elements in the order of [`sort`], or of all if there are
/// fewer; equal elements keep their order.
///
/// ```
/// assert_eq!(gpusort::argtop(&[5, -3, 8, -3], 3), [1, 3, 0]);
/// ```
///
/// # Panics
///
/// Panics like [`argsort`].
#[must_use]
pub fn argtop<T: Element>(elements: &[T], k: usize) -> Vec<u32> {
    done(Sorter::cpu().argtop_as(elements, k, ASCENDING))
}

/// Returns the positions of the first `k` elements in the order of [`sort_descending`], or of all if
/// there are fewer; equal elements keep their order.
///
/// # Panics
///
/// Panics like [`argsort`].
#[must_use]
pub fn argtop_descending<T: Element>(elements: &[T], k: usize) -> Vec<u32> {
    done(Sorter::cpu().argtop_as(elements, k, DESCENDING))
}

fn wide_positions<T: Element>(elements: &[T], order: KeyOrder) -> Vec<u64> {
    if let Ok((positions, _)) = argsort_on_cpu(elements, order) {
        return parallel::map(&positions, |&position| position.into());
    }
    let positions: Vec<u64> = (0..elements.len() as u64).collect();
    done(Sorter::cpu().ordered(elements, order, |keys| Request::records(keys, positions.into()))).0
}

/// Evaluates a value for the keys of elements. The kind of map is tested once, not for each element.
macro_rules! by_keys {
    ($elements:expr, $map:expr, $keys:ident => $value:expr) => {{
        let (elements, map) = ($elements, $map);
        match map.float {
            None => {
                let $keys = Keyed { elements, key: move |one: T| one.to_word() ^ map.flip };
                $value
            }
            Some(float) => {
                let $keys = Keyed { elements, key: move |one: T| one.to_word().key_of_float(float) };
                $value
            }
        }
    }};
}

/// Returns the positions in this order. Reads no clock, like [`sort_on_cpu`].
///
/// # Errors
///
/// Fails if 32 bits cannot tell the elements apart.
#[doc(hidden)]
pub fn argsort_on_cpu<T: Element>(elements: &[T], order: KeyOrder) -> Result<(Vec<u32>, Form), Error> {
    number_of_records(elements.len())?;
    let map = T::Word::map(order.map(T::TYPE));
    Ok(by_keys!(elements, map, keys => cpu::positions(&[keys])))
}

/// Sorts in place. Reads no clock, because a reading takes as long as a sort of a few elements.
#[doc(hidden)]
pub fn sort_on_cpu<T: Element>(elements: &mut [T], order: KeyOrder) -> Form {
    let map = T::Word::map(order.map(T::TYPE));
    if are_surely_in_order(elements, order) {
        return Form::InOrder;
    }
    match (T::as_words(elements), map.float) {
        (Some(words), None) => {
            let is_key = map.flip == T::Word::default();
            cpu::sort_words(words, is_key, move |bits| bits ^ map.flip, move |key| key ^ map.flip)
        }
        (Some(words), Some(float)) => {
            let key = move |bits: T::Word| bits.key_of_float(float);
            cpu::sort_words(words, false, key, move |key| key.bits_of_float(float))
        }
        (None, _) => cpu::sort_shorts(
            elements,
            8 * T::TYPE.bytes() as u32,
            move |element| element.to_word().key(map),
            move |key| T::from_word(key.bits(map)),
        ),
    }
}

/// Returns true if the elements are in this order.
#[doc(hidden)]
pub fn is_in_order<T: Element>(elements: &[T], order: KeyOrder) -> bool {
    let map = T::Word::map(order.map(T::TYPE));
    cpu::is_in_order(elements, |a, b| a.to_word().key(map) <= b.to_word().key(map))
}

/// Returns true if comparisons show that the elements are in order, which is faster than comparing their
/// keys. Returns false if there are NaN, or zeros of both signs side by side.
fn are_surely_in_order<T: Element>(elements: &[T], order: KeyOrder) -> bool {
    let same = |a: T, b: T| a.to_word() == b.to_word();
    if order.descending {
        cpu::is_in_order(elements, |a, b| (a > b) | same(a, b))
    } else {
        cpu::is_in_order(elements, |a, b| (a < b) | same(a, b))
    }
}

/// Sorts slices on the sorter's device, and reports each sort. Functions with an order are for the
/// Python package.
impl Sorter {
    /// Sorts in the order of [`sort`].
    ///
    /// # Errors
    ///
    /// Fails for more elements than the device takes in one sort, or if the device fails. The elements then
    /// stay unchanged.
    pub fn sort<T: Element>(&self, elements: &mut [T]) -> Result<Report, Error> {
        self.sort_as(elements, ASCENDING)
    }

    /// Sorts in the order of [`sort_descending`].
    ///
    /// # Errors
    ///
    /// The errors of [`Sorter::sort`].
    pub fn sort_descending<T: Element>(&self, elements: &mut [T]) -> Result<Report, Error> {
        self.sort_as(elements, DESCENDING)
    }

    /// Returns the positions of the elements in the order of [`sort`]; equal elements keep their order.
    ///
    /// # Errors
    ///
    /// The errors of [`Sorter::sort`]; 2^32 elements or more.
    pub fn argsort<T: Element>(&self, elements: &[T]) -> Result<(Vec<u32>, Report), Error> {
        self.argsort_as(elements, ASCENDING)
    }

    /// Returns the positions of the elements in the order of [`sort_descending`]; equal elements keep
    /// their order.
    ///
    /// # Errors
    ///
    /// The errors of [`Sorter::argsort`].
    pub fn argsort_descending<T: Element>(&self, elements: &[T]) -> Result<(Vec<u32>, Report), Error> {
        self.argsort_as(elements, DESCENDING)
    }

    /// Returns the first `k` elements in the order of [`sort`], or all if there are fewer.
    ///
    /// # Errors
    ///
    /// The errors of [`Sorter::sort`].
    pub fn top<T: Element>(&self, elements: &[T], k: usize) -> Result<(Vec<T>, Report), Error> {
        self.top_as(elements, k, ASCENDING)
    }

    /// Returns the first `k` elements in the order of [`sort_descending`], or all if there are fewer.
    ///
    /// # Errors
    ///
    /// The errors of [`Sorter::sort`].
    pub fn top_descending<T: Element>(&self, elements: &[T], k: usize) -> Result<(Vec<T>, Report), Error> {
        self.top_as(elements, k, DESCENDING)
    }

    #[doc(hidden)]
    pub fn argsort_as<T: Element>(
        &self,
        elements: &[T],
        order: KeyOrder,
    ) -> Result<(Vec<u32>, Report), Error> {
        if self.started().is_some() {
            return self.ordered(elements, order, Request::positions);
        }
        let start = Instant::now();
        let (positions, form) = argsort_on_cpu(elements, order)?;
        Ok((positions, Report::on_cpu(form, start.elapsed())))
    }

    #[doc(hidden)]
    pub fn sort_as<T: Element>(&self, elements: &mut [T], order: KeyOrder) -> Result<Report, Error> {
        if self.started().is_none() {
            let start = Instant::now();
            let form = sort_on_cpu(elements, order);
            return Ok(Report::on_cpu(form, start.elapsed()));
        }
        let (keys, report) = self.ordered::<T, T::Word>(elements, order, Request::keys)?;
        let map = T::Word::map(order.map(T::TYPE));
        map_into(&keys, elements, |key| T::from_word(key.bits(map)));
        Ok(report)
    }

    #[doc(hidden)]
    pub fn top_as<T: Element>(
        &self,
        elements: &[T],
        k: usize,
        order: KeyOrder,
    ) -> Result<(Vec<T>, Report), Error> {
        let map = T::Word::map(order.map(T::TYPE));
        if self.started().is_none() && is_few(k, elements.len()) {
            let start = Instant::now();
            let keys = by_keys!(elements, map, keys => cpu::top(&[keys], k, |key, _| key));
            let first = parallel::map(&keys, |key| T::from_word(key.bits(map)));
            return Ok((first, Report::on_cpu(Form::Top, start.elapsed())));
        }
        let selection = Selection { unique: false, first: Some(k) };
        let request = |keys| Request::keys(keys).select(selection);
        let (keys, report) = self.ordered::<T, T::Word>(elements, order, request)?;
        Ok((parallel::map(&keys, |key| T::from_word(key.bits(map))), report))
    }

    #[doc(hidden)]
    pub fn argtop_as<T: Element>(
        &self,
        elements: &[T],
        k: usize,
        order: KeyOrder,
    ) -> Result<Vec<u32>, Error> {
        if self.started().is_some() || !is_few(k, elements.len()) {
            let (mut positions, _) = self.argsort_as(elements, order)?;
            positions.truncate(k);
            return Ok(positions);
        }
        number_of_records(elements.len())?;
        let map = T::Word::map(order.map(T::TYPE));
        let pair = |key, payload| Pair { key, payload };
        Ok(cpu::records(&by_keys!(elements, map, keys => cpu::top(&[keys], k, pair))))
    }

    /// Runs a request for the keys of these elements, which are words like `W`.
    fn ordered<T: Element, W: KeyWidth>(
        &self,
        elements: &[T],
        order: KeyOrder,
        request: impl FnOnce(KeyBuf<'static>) -> Request<'static>,
    ) -> Result<(Vec<W>, Report), Error> {
        let map = T::Word::map(order.map(T::TYPE));
        let keys = by_keys!(elements, map, keys => cpu::join(&[keys]));
        let Sorted { words, report, .. } = self.run(request(keys.into()), &mut |_, _| {})?;
        Ok((words.into_vec().expect("a sort keeps the width"), report))
    }
}
