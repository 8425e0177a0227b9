//! One request, one result: keys in, and sorted keys, positions or records out, on the chosen device.
//!
//! A device does one thing: it sorts keys of one word, or finds the first of them, and returns the requested
//! result (`DeviceJob`). This module builds every other request from such sorts, in one way for all devices:
//!
//! * Records of several words are sorted by the last word, then by the word before it, and so on to the
//!   first: because every sort is stable, earlier words decide, and later words break ties. Tables pack
//!   short keys into one word, so most sorts have only one.
//! * A unique sort keeps the first of records with equal keys, once the records are in order.
//! * For the first K by several words, only records whose first word is among the first K count.

#[cfg(feature = "gpu")]
mod lines;
mod on_cpu;
#[cfg(feature = "gpu")]
mod on_gpu;
#[cfg(not(feature = "gpu"))]
#[path = "absent.rs"]
mod on_gpu;
#[cfg(feature = "gpu")]
mod partitions;
#[cfg(feature = "gpu")]
mod planned;
#[cfg(feature = "gpu")]
mod resident;

use std::time::Duration;

use gpusort_order::key::KeyMap;
use gpusort_order::{Item, KeyWords, Method, Selection, Shape};
#[cfg(any(feature = "costs", feature = "gpu"))]
use gpusort_planner::plan::Crossovers;

use self::on_gpu::OnGpu;
use crate::gpu::Gpu;
use crate::key_buf::{KeyBuf, KeyWidth, by_width, in_one};
use crate::report::Report;
use gpusort_base::clock::{Instant, timed};
use gpusort_base::device::{AdapterInfo, Select};
use gpusort_base::error::Error;
use gpusort_base::parallel;

/// Keys that come block by block; their number is known in advance.
pub struct Incoming<'a> {
    /// The number of keys.
    pub n: usize,
    /// The number of words in a key.
    pub width: KeyWords,
    blocks: Box<dyn Iterator<Item = Result<KeyBuf<'a>, Error>> + Send + 'a>,
}

impl<'a> Incoming<'a> {
    /// Returns `n` keys of this width; later keys may still be read while the first are on their way to a
    /// device.
    pub fn new(
        n: usize,
        width: KeyWords,
        blocks: impl Iterator<Item = Result<KeyBuf<'a>, Error>> + Send + 'a,
    ) -> Self {
        Self { n, width, blocks: Box::new(blocks) }
    }

    /// Collects all keys.
    ///
    /// # Errors
    ///
    /// Returns the first error of a block.
    pub fn collect(self) -> Result<KeyBuf<'a>, Error> {
        let mut all = KeyBuf::new(self.width);
        for block in self.blocks {
            all.append(block?);
        }
        Ok(all)
    }
}

impl<'a> From<KeyBuf<'a>> for Incoming<'a> {
    fn from(words: KeyBuf<'a>) -> Self {
        let (n, width) = (words.len(), words.width());
        by_width!(words, blocks => {
            Self::new(n, width, blocks.into_iter().map(|block| Ok(KeyWidth::words(vec![block]))))
        })
    }
}

/// A sort: its keys, its method, and the wanted result.
pub struct Request<'a> {
    keys: Incoming<'a>,
    /// Words that decide between records with equal previous words.
    further: Vec<KeyBuf<'a>>,
    result: ResultKind<'a>,
    selection: Selection,
    method: Method,
}

/// The kind of result of a sort.
enum ResultKind<'a> {
    /// The keys, in order.
    Keys,
    /// The positions of the sorted keys in the input; equal keys keep their order.
    Positions,
    /// Words that stand for the records, in the order of their keys; records with equal keys keep their
    /// order.
    Records(KeyBuf<'a>),
}

impl ResultKind<'_> {
    /// Returns the words for the records at these positions.
    fn at(self, positions: Vec<u32>) -> KeyBuf<'static> {
        match self {
            ResultKind::Records(records) => records.gathered(&positions),
            ResultKind::Keys | ResultKind::Positions => positions.into(),
        }
    }

    /// Returns the words for the records of `n` keys, if any.
    fn records(self, n: usize) -> Option<KeyBuf<'static>> {
        let ResultKind::Records(records) = self else { return None };
        assert_eq!(records.len(), n, "each record has its key");
        Some(records.joined())
    }
}

impl<'a> Request<'a> {
    /// Requests the keys in ascending order.
    pub fn keys(keys: impl Into<Incoming<'a>>) -> Self {
        Self::new(keys.into(), Vec::new(), ResultKind::Keys)
    }

    /// Requests the positions of the keys in ascending order, as u32; equal keys keep their order.
    pub fn positions(keys: impl Into<Incoming<'a>>) -> Self {
        Self::new(keys.into(), Vec::new(), ResultKind::Positions)
    }

    /// Requests the positions of records with several keys each: the first key decides, then each next key
    /// between records with equal previous keys. Without keys, the result is empty.
    pub fn positions_by(keys: Vec<KeyBuf<'a>>) -> Self {
        let mut keys = keys.into_iter();
        let first = keys.next().unwrap_or_else(|| KeyBuf::new(KeyWords::One));
        Self::new(first.into(), keys.collect(), ResultKind::Positions)
    }

    /// Requests the records in the ascending order of their keys; records with equal keys keep their order.
    /// There is one record per key, and the records ascend, as places in an input do.
    pub fn records(keys: impl Into<Incoming<'a>>, records: KeyBuf<'a>) -> Self {
        Self::new(keys.into(), Vec::new(), ResultKind::Records(records))
    }

    fn new(keys: Incoming<'a>, further: Vec<KeyBuf<'a>>, result: ResultKind<'a>) -> Self {
        Self { keys, further, result, selection: Selection::ALL, method: Method::default() }
    }

    /// Limits the result to this selection.
    #[must_use]
    pub fn select(self, selection: Selection) -> Self {
        Self { selection, ..self }
    }

    /// Sorts by this method.
    #[must_use]
    pub fn by(self, method: Method) -> Self {
        Self { method, ..self }
    }
}

/// A text of lines of integers, which a device reads itself.
#[derive(Clone, Copy)]
pub struct Lines<'a> {
    /// The number of bytes. The last line has a line end.
    pub bytes: u64,
    /// The maximum number of lines.
    pub most: usize,
    /// The map from integers to keys.
    pub map: KeyMap,
    /// True if carriage returns before line feeds are left out.
    pub may_return: bool,
    /// Fills a part of the text from a place on.
    pub fill: &'a Fill<'a>,
}

/// Fills a part of a text from a place on.
pub type Fill<'a> = dyn Fn(u64, &mut [u8]) -> Result<(), Error> + Sync + 'a;

/// The result of a request, in memory.
#[derive(Clone, Debug, PartialEq)]
pub struct Sorted {
    /// The keys, the positions as words of 32 bits, or the records; in one block.
    pub words: KeyBuf<'static>,
    /// The number of records left out because an equal record precedes them.
    pub repeated: usize,
    /// The report of the sort.
    pub report: Report,
}

/// A column of values that orders rows, such as `gpusort::columns::Column`.
pub trait RowColumn: Sized {
    /// Returns the positions of the rows in order, or of the `first` ones; see [`Sorter::argsort_columns`].
    ///
    /// # Errors
    ///
    /// The errors of [`Sorter::argsort_columns`].
    fn argsort(sorter: &Sorter, columns: &[Self], first: Option<usize>) -> Result<(Vec<u32>, Report), Error>;
}

/// A result in memory, or still on a GPU.
pub struct Ordered<'s> {
    place: Place<'s>,
    count: usize,
    repeated: usize,
    report: Report,
}

/// The place of a result.
enum Place<'s> {
    Memory(KeyBuf<'static>),
    /// With records, the words on the device are their positions.
    Device(Box<dyn Remote + 's>, Option<KeyBuf<'static>>),
}

/// A result on a GPU, in one piece or in partitions that the GPU merges.
trait Remote: Send {
    /// Downloads the result to memory in one block.
    fn bring(self: Box<Self>) -> Result<KeyBuf<'static>, Error>;

    /// Passes the result to `take` in order, block by block, while later blocks are on their way.
    fn take(self: Box<Self>, take: &mut dyn FnMut(KeyBuf) -> Result<(), Error>) -> Result<(), Error>;
}

impl From<Sorted> for Ordered<'_> {
    fn from(Sorted { words, repeated, report }: Sorted) -> Self {
        Self { count: words.len(), place: Place::Memory(words), repeated, report }
    }
}

impl Ordered<'_> {
    /// Returns the first and the last word of a nonempty result in memory; otherwise `None`.
    pub fn ends(&self) -> Option<[u64; 2]> {
        let Place::Memory(words) = &self.place else { return None };
        words.ends()
    }

    /// Returns the number of keys, positions or records.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Brings the result to memory.
    ///
    /// # Errors
    ///
    /// Fails if the device fails.
    pub fn bring(self) -> Result<Sorted, Error> {
        let start = Instant::now();
        let Self { place, repeated, report, .. } = self;
        Ok(match place {
            Place::Memory(words) => Sorted { words, repeated, report },
            Place::Device(result, records) => {
                let words = recorded(result.bring()?, records.as_ref());
                Sorted { words, repeated, report: report.with_download(start.elapsed()) }
            }
        })
    }

    /// Passes the result to `take` in order, block by block, while later blocks are on their way from a device.
    /// Returns the number of records left out because an equal record precedes them, and the report of the
    /// sort.
    ///
    /// # Errors
    ///
    /// Fails if the device fails; returns any error of `take`, which ends the transfer.
    pub fn take(self, take: &mut dyn FnMut(KeyBuf) -> Result<(), Error>) -> Result<(usize, Report), Error> {
        let (start, mut taking) = (Instant::now(), Duration::ZERO);
        match self.place {
            Place::Memory(words) => return take(words).map(|()| (self.repeated, self.report)),
            Place::Device(result, records) => result.take(&mut |words| {
                let words = recorded(words, records.as_ref());
                timed(&mut taking, || take(words))
            })?,
        }
        let waiting = start.elapsed().saturating_sub(taking);
        Ok((self.repeated, self.report.with_download(waiting)))
    }
}

/// Returns the words for the records at positions; without records, the words themselves.
fn recorded<'a>(words: KeyBuf<'a>, records: Option<&KeyBuf>) -> KeyBuf<'a> {
    let Some(records) = records else { return words };
    records.borrowed().gathered(&words.into_vec().expect("positions have 32 bits"))
}

/// Receives the progress of a sort: passes done, and the total number of passes.
pub type Progress<'a> = &'a mut dyn FnMut(u64, u64);

/// Work that a device does at once.
struct DeviceJob<'a> {
    keys: Incoming<'a>,
    result: ResultKind<'a>,
    /// The number of wanted elements from the start of the result; a shorter result is wanted whole.
    first: Option<usize>,
    method: Method,
}

impl DeviceJob<'_> {
    fn shape(&self) -> Shape {
        Shape { key: self.keys.width, payload: !matches!(self.result, ResultKind::Keys) }
    }
}

/// Sorts on the CPU, on one GPU or on several GPUs, any number of times.
pub struct Sorter {
    /// The GPUs; empty for the CPU.
    gpus: Vec<OnGpu>,
}

impl Sorter {
    /// Sorts on the CPU.
    #[must_use]
    pub fn cpu() -> Self {
        Self { gpus: Vec::new() }
    }

    /// Sorts on a started GPU.
    #[must_use]
    pub fn on(gpu: Gpu) -> Self {
        Self::on_all([gpu])
    }

    /// Sorts on started GPUs, or without any on the CPU. Each GPU takes its part, and the parts are merged
    /// in memory.
    #[must_use]
    pub fn on_all(gpus: impl IntoIterator<Item = Gpu>) -> Self {
        Self { gpus: gpus.into_iter().map(OnGpu::new).collect() }
    }

    /// Returns the positions of rows in the order of these columns: by the first column, and by the next column
    /// between rows with equal values. Rows with equal values in all columns keep their order.
    ///
    /// # Errors
    ///
    /// The errors of `gpusort::columns::argsort`; a failure of the device.
    pub fn argsort_columns<C: RowColumn>(&self, columns: &[C]) -> Result<(Vec<u32>, Report), Error> {
        C::argsort(self, columns, None)
    }

    /// Returns the positions of the first `k` rows in the order of [`argsort_columns`](Self::argsort_columns), or of
    /// all if there are fewer. For a small `k`, the other rows stay unsorted, unless a text decides.
    ///
    /// # Errors
    ///
    /// The errors of [`argsort_columns`](Self::argsort_columns).
    #[doc(hidden)]
    pub fn argtop_columns<C: RowColumn>(&self, columns: &[C], k: usize) -> Result<(Vec<u32>, Report), Error> {
        C::argsort(self, columns, Some(k))
    }

    /// Replaces the sizes where the choice of an algorithm changes; the defaults are the sizes for the GPU's
    /// kind. The CPU has no such sizes.
    #[must_use]
    #[cfg(any(feature = "costs", feature = "gpu"))]
    pub fn with_crossovers(self, crossovers: &Crossovers) -> Self {
        Self { gpus: self.gpus.into_iter().map(|gpu| gpu.with_crossovers(crossovers.clone())).collect() }
    }

    /// Starts a GPU and sorts on it: the first hardware GPU for [`Select::Hardware`]; without hardware,
    /// [`Select::Any`] starts a software GPU.
    ///
    /// # Errors
    ///
    /// Fails if no device matches, and lists the existing devices; fails if a driver refuses.
    pub fn gpu(select: &Select) -> Result<Self, Error> {
        Gpu::start(select).map(Self::on)
    }

    /// Returns the GPU that sorts, or the first of several; `None` on the CPU.
    #[must_use]
    pub fn started(&self) -> Option<&Gpu> {
        self.gpus.first().map(OnGpu::gpu)
    }

    /// Returns the GPUs that sort; empty on the CPU.
    pub fn devices(&self) -> impl Iterator<Item = &AdapterInfo> {
        self.gpus.iter().map(|gpu| gpu.gpu().info())
    }

    /// Returns the GPU that sorts, or the first of several, as plain data; `None` on the CPU.
    #[must_use]
    pub fn device(&self) -> Option<&AdapterInfo> {
        self.started().map(Gpu::info)
    }

    /// Returns true if each GPU takes `n` elements of this shape at once, by this method.
    #[must_use]
    pub fn takes(&self, n: usize, shape: Shape, method: Method) -> bool {
        self.gpus.iter().all(|gpu| gpu.takes(n, shape, method))
    }

    /// Runs a request, with the result in memory. Calls `progress` if passes are many.
    ///
    /// # Errors
    ///
    /// The errors of [`Sorter::order`].
    ///
    /// # Panics
    ///
    /// Panics like [`Sorter::order`].
    pub fn run(&self, request: Request, progress: Progress) -> Result<Sorted, Error> {
        self.order(request, progress)?.bring()
    }

    /// Runs a request. The result stays at its place until a call brings or takes it.
    ///
    /// # Errors
    ///
    /// Fails for more records than 32-bit positions can tell apart, for a variant that the algorithm lacks, for
    /// an error of the incoming keys, for too little memory, or if the device fails.
    ///
    /// # Panics
    ///
    /// Panics if the keys and the records, or the words of different keys, differ in number.
    pub fn order(&self, request: Request, progress: Progress) -> Result<Ordered<'_>, Error> {
        let Request { keys, further, mut result, selection: Selection { unique, first }, method } = request;
        if further.is_empty() && !unique {
            return self.perform(DeviceJob { keys, result, first, method }, progress);
        }
        if let ResultKind::Keys = result {
            let sorted = self.perform(DeviceJob { keys, result, first: None, method }, progress)?.bring()?;
            let (words, repeated) = distinct(sorted.words, first);
            return Ok(Sorted { words, repeated, report: sorted.report }.into());
        }
        number_of_records(keys.n)?;
        let mut words: Vec<KeyBuf> = vec![keys.collect()?.joined()];
        words.extend(further.into_iter().map(KeyBuf::joined));
        assert!(words.iter().all(|word| word.len() == words[0].len()), "each record has all words");
        let mut before = None;
        if first.is_some() && !unique {
            let job = DeviceJob { keys: words[0].borrowed().into(), result: ResultKind::Keys, first, method };
            let best = self.perform(job, progress)?.bring()?;
            let candidates = positions_up_to(&words[0], &best.words);
            words = words.into_iter().map(|word| word.gathered(&candidates)).collect();
            result = ResultKind::Records(result.at(candidates));
            before = Some(best.report);
        }
        let (mut positions, mut report) = self.by_words(&words, method, progress)?;
        if let Some(before) = before {
            report = Report { ran: before.ran, why: before.why.clone(), ..report.after(&before) };
        }
        let all = positions.len();
        if unique {
            positions = firsts(&words, &positions);
        }
        let repeated = all - positions.len();
        positions.truncate(first.unwrap_or(usize::MAX));
        Ok(Sorted { words: result.at(positions), repeated, report }.into())
    }

    /// Sorts lines whose text a GPU reads and writes, and passes them to `take` in order, block by block. `begin` gets
    /// their number first. Returns `None`, with nothing taken, if the CPU must read the text: a line is not an
    /// integer of the map's type in canonical form, the lines are more than `most` or do not fit the GPU, several
    /// GPUs sort, or `begin` returns false.
    ///
    /// # Errors
    ///
    /// Errors of reading and of `take`; a failure of the device.
    pub fn sort_lines(
        &self,
        lines: Lines,
        method: Method,
        begin: &mut dyn FnMut(usize) -> bool,
        take: &mut dyn FnMut(&[u8]) -> Result<(), Error>,
    ) -> Result<Option<Report>, Error> {
        if let [gpu] = &self.gpus[..] { gpu.sort_lines(lines, method, begin, take) } else { Ok(None) }
    }

    /// Runs a job that the device can do at once.
    fn perform(&self, job: DeviceJob, progress: Progress) -> Result<Ordered<'_>, Error> {
        match &self.gpus[..] {
            [] => on_cpu::sort(job, progress),
            all @ [first, ..] => first.perform(all, job, progress),
        }
    }

    /// Returns the positions after sorts by one word after another, from the last.
    fn by_words(
        &self,
        words: &[KeyBuf],
        method: Method,
        progress: Progress,
    ) -> Result<(Vec<u32>, Report), Error> {
        let mut argsort = |keys: KeyBuf| {
            let job = DeviceJob { keys: keys.into(), result: ResultKind::Positions, first: None, method };
            let sorted = self.perform(job, progress)?.bring()?;
            Ok::<_, Error>((sorted.words.into_vec::<u32>().expect("positions have 32 bits"), sorted.report))
        };
        let mut words = words.iter().rev();
        let Some(last) = words.next() else { return argsort(KeyBuf::new(KeyWords::One)) };
        let (mut positions, mut report) = argsort(last.borrowed())?;
        for word in words {
            let (order, next) = argsort(word.borrowed().gathered(&positions))?;
            positions = parallel::map(&order, |&place| positions[place as usize]);
            report = next.after(&report);
        }
        Ok((positions, report))
    }
}

/// # Errors
///
/// Fails for more records than 32-bit positions can tell apart.
pub(crate) fn number_of_records(n: usize) -> Result<u32, Error> {
    u32::try_from(n).map_err(|_| Error::limit("records in one sort", n as u64, u32::MAX.into()))
}

/// Returns the distinct keys of sorted keys, at most `first`, and the number of repetitions left out.
fn distinct(sorted: KeyBuf, first: Option<usize>) -> (KeyBuf<'static>, usize) {
    by_width!(sorted, blocks => {
        let mut keys = in_one(blocks).into_owned();
        let all = keys.len();
        keys.dedup();
        let repeated = all - keys.len();
        keys.truncate(first.unwrap_or(usize::MAX));
        (keys.into(), repeated)
    })
}

/// Returns the positions of keys up to the last of the sorted keys, which have equal width.
fn positions_up_to(keys: &KeyBuf, sorted: &KeyBuf) -> Vec<u32> {
    let Some([_, last]) = sorted.ends() else { return Vec::new() };
    by_width!(keys.borrowed(), blocks => {
        let keys = in_one(blocks);
        (0..).zip(&*keys).filter(|(_, key)| key.key() <= last).map(|(position, _)| position).collect()
    })
}

/// Returns the first position of each run of equal words; the positions are in sorted order.
fn firsts(words: &[KeyBuf], positions: &[u32]) -> Vec<u32> {
    let mut is_first: Vec<bool> = (0..positions.len()).map(|place| place == 0).collect();
    for word in words {
        by_width!(word.borrowed(), blocks => {
            let keys = in_one(blocks);
            let keys = parallel::map(positions, |&position| keys[position as usize]);
            let differ = keys.windows(2).map(|pair| pair[0] != pair[1]);
            is_first.iter_mut().skip(1).zip(differ).for_each(|(is_first, differs)| *is_first |= differs);
        });
    }
    positions.iter().zip(is_first).filter(|(_, is_first)| *is_first).map(|(&position, _)| position).collect()
}
