//! Sorts of lines of integers whose text a GPU reads and writes.
//!
//! ```text
//! text     part 0 ─┬─ part 1 ─┬─ part 2       one part, unless its keys exceed a buffer or the memory
//! keys     sorted     sorted     sorted       on the device
//! merged   ─────|──────────|───────────       in windows, each printed into the output
//! ```

use std::ops::Range;
use std::time::Duration;

use gpusort_order::Shape;

use super::on_gpu::{OnDevice, OnGpu, Placed, report};
use super::partitions::MOST;
use super::planned::{PlannedSort, Task, first_that_fits};
use super::resident::{Merging, ResidentRuns};
use super::{Lines, Method};
use crate::gpu::execute;
use crate::report::{Form, Report};
use gpusort_base::clock::{Instant, timed};
use gpusort_base::error::Error;
use gpusort_base::parallel;

/// The minimum number of lines of a part.
const LEAST: usize = 1 << 22;

/// The sorted keys of lines.
enum Keys<'s> {
    One(Box<OnDevice<'s>>),
    Parts(Merging<'s>),
}

impl OnGpu {
    /// See [`Sorter::sort_lines`](super::Sorter::sort_lines).
    pub(super) fn sort_lines(
        &self,
        lines: Lines,
        method: Method,
        begin: &mut dyn FnMut(usize) -> bool,
        take: &mut dyn FnMut(&[u8]) -> Result<(), Error>,
    ) -> Result<Option<Report>, Error> {
        let shape = Shape::of(lines.map.element, false);
        let most = self.most(lines.most, shape, method);
        let room = if most < lines.most { most.min(MOST) } else { most };
        match self.sort_lines_in(room, LEAST, lines, method) {
            Err(error) if error.is_of_size() => Ok(None),
            sorted => {
                let sorted = sorted?.filter(|(_, count, _)| begin(*count));
                sorted.map(|(keys, _, report)| self.print(keys, lines, report, take)).transpose()
            }
        }
    }

    /// Sorts lines in parts of at most `room` lines. Halves this number, down to `least`, while the device lacks memory.
    /// Returns the keys and their number.
    fn sort_lines_in(
        &self,
        mut room: usize,
        least: usize,
        lines: Lines,
        method: Method,
    ) -> Result<Option<(Keys<'_>, usize, Report)>, Error> {
        let shape = Shape::of(lines.map.element, false);
        let task = |n| Task { n, first: None, shape, method };
        loop {
            match self.place(task(room)) {
                Err(error) if error.is_no_memory() && room / 2 >= least => room /= 2,
                placed => {
                    self.keep(placed?.buffers);
                    break;
                }
            }
        }
        // A part with short lines has more lines than the average.
        let parts = if room < lines.most { (lines.most + lines.most / 3).div_ceil(room) as u64 } else { 1 };
        let (size, resident) = (lines.bytes.div_ceil(parts), ResidentRuns::new(self, shape, true));
        let (mut count, mut all): (_, Option<Report>) = (0, None);
        for number in 0..parts {
            let part = (number * size).min(lines.bytes)..((number + 1) * size).min(lines.bytes);
            let sorted = self.sort_part(&lines, part, task, self.place(task(room))?)?;
            let Some((sorted, report)) = sorted else { return Ok(None) };
            count += sorted.count;
            let report = all.map_or_else(|| report.clone(), |before| report.clone().after(&before));
            if parts == 1 {
                return Ok(Some((Keys::One(Box::new(sorted)), count, report)));
            }
            resident.add(count, sorted)?;
            all = Some(Report { shares: parts as usize, ..report });
        }
        let merging = resident.gathered()?.merging;
        Ok(merging.zip(all).map(|(merging, report)| (Keys::Parts(merging), count, report)))
    }

    /// Sorts the lines that end in a part of the text. Returns `None` if the text must be read otherwise.
    fn sort_part(
        &self,
        lines: &Lines,
        part: Range<u64>,
        task: impl Fn(usize) -> Task,
        placed: Placed,
    ) -> Result<Option<(OnDevice<'_>, Report)>, Error> {
        let (mut buffers, start, gpu) = (placed.buffers, Instant::now(), self.gpu());
        let kernels = self.text_kernels(lines.map.element.key_words());
        let (n, prepare) = std::thread::scope(|scope| {
            let preparing = parallel::meanwhile(scope, || {
                let start = Instant::now();
                gpu.prepare(&placed.planned.plan).map(|()| start.elapsed())
            });
            let n = kernels.parse(gpu, &buffers, lines.map, lines.may_return, part, lines.fill)?;
            Ok::<_, Error>((n, preparing.wait()?))
        })?;
        let upload = placed.allocating + start.elapsed();
        let Some(task) = n.map(|n| task(n as usize)) else { return Ok(None) };
        let plans = task.plans(&gpu.info().limits, self.crossovers());
        let (PlannedSort { plan, algorithm, variant }, (), lacked) =
            first_that_fits(plans, |plan| buffers.refit(gpu, plan))?;
        let done = execute(gpu, &plan, &buffers, |_| {})?;
        let why = task.why(algorithm, self.crossovers(), lacked.as_ref());
        let report = report(&plan, (algorithm, Form::Variant(variant)), done, [prepare, upload], why);
        Ok(Some((self.on_device(buffers, task), report)))
    }

    /// Passes the lines of sorted keys to `take`. Returns the report with the time of the transfer.
    fn print(
        &self,
        keys: Keys,
        lines: Lines,
        report: Report,
        take: &mut dyn FnMut(&[u8]) -> Result<(), Error>,
    ) -> Result<Report, Error> {
        let kernels = self.text_kernels(lines.map.element.key_words());
        let (start, mut taking, mut printed) = (Instant::now(), Duration::ZERO, 0);
        let mut take = |block: &[u8]| timed(&mut taking, || take(block));
        let mut print = |keys: OnDevice| {
            printed += kernels.print(self.gpu(), keys.buffers(), lines.map, &mut take)?;
            keys.keep();
            Ok(())
        };
        match keys {
            Keys::One(keys) => print(*keys)?,
            Keys::Parts(merging) => merging.each(&mut print)?,
        }
        if printed != lines.bytes && !lines.may_return {
            return Err(Error::input("input", "changed while it was read"));
        }
        Ok(report.with_download(start.elapsed().saturating_sub(taking)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gpu::Gpu;
    use gpusort_base::device::Select;
    use gpusort_order::key::{ElementType, KeyMap};

    fn gpu() -> OnGpu {
        OnGpu::new(
            Gpu::start(&Select::Index(0)).expect("a GPU, or the software one of Mesa's Vulkan drivers"),
        )
    }

    /// The sorted text; `None` if the device refuses a line.
    fn sorted(gpu: &OnGpu, text: &[u8], map: KeyMap, room: usize) -> Option<Vec<u8>> {
        let fill = |place: u64, to: &mut [u8]| {
            to.copy_from_slice(&text[place as usize..][..to.len()]);
            Ok(())
        };
        let most = text.split(|&byte| byte == b'\n').count() - 1;
        let lines = Lines { bytes: text.len() as u64, most, map, may_return: true, fill: &fill };
        let (keys, count, report) = gpu.sort_lines_in(room, room, lines, Method::default()).unwrap()?;
        assert_eq!(count, most);
        let mut all = Vec::new();
        let mut take = |block: &[u8]| {
            all.extend_from_slice(block);
            Ok(())
        };
        gpu.print(keys, lines, report, &mut take).unwrap();
        Some(all)
    }

    fn lines_of(values: impl IntoIterator<Item = i128>) -> Vec<u8> {
        values.into_iter().flat_map(|value| format!("{value}\n").into_bytes()).collect()
    }

    /// The sorted lines of integers in canonical form.
    fn expected(text: &[u8], descending: bool) -> Vec<u8> {
        let text = std::str::from_utf8(text).unwrap();
        let mut values: Vec<i128> = text.lines().map(|line| line.parse().unwrap()).collect();
        values.sort_unstable();
        if descending {
            values.reverse();
        }
        lines_of(values)
    }

    const TYPES: [ElementType; 4] = [ElementType::U32, ElementType::I32, ElementType::U64, ElementType::I64];

    /// Integers of all lengths, with the ends of the type and powers of ten.
    fn values(count: usize, (least, greatest): (i128, i128)) -> impl Iterator<Item = i128> {
        let powers = (0..20).flat_map(|log10| [-1, 0, 1].map(|near| 10_i128.pow(log10) + near));
        let near = powers.flat_map(|value| [value, -value]).chain([0, least, greatest]);
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        let random = std::iter::repeat_with(move || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let value = i128::from(state) >> (state % 64);
            if state & (1 << 40) > 0 { value } else { -value }
        });
        near.chain(random).filter(move |value| (least..=greatest).contains(value)).take(count)
    }

    #[test]
    fn integers_of_all_types_and_sizes_come_back_in_order() {
        let gpu = gpu();
        for element in TYPES {
            let (least, greatest) = element.limits();
            for (count, descending) in [(1, false), (2, true), (700, false), (4099, true), (40_000, false)] {
                let map = KeyMap { element, descending, nan_first: false };
                let text = lines_of(values(count, (least, greatest)));
                let expected = expected(&text, descending);
                assert!(sorted(&gpu, &text, map, count).unwrap() == expected, "{element} {count}");
                if count > 1000 {
                    let in_parts = sorted(&gpu, &text, map, count / 3).unwrap();
                    assert!(in_parts == expected, "{element} {count} in parts");
                    assert!(in_parts != text);
                    let returns = String::from_utf8(text).unwrap().replace('\n', "\r\n").into_bytes();
                    assert!(sorted(&gpu, &returns, map, count).unwrap() == expected, "{element} CR LF");
                }
            }
        }
    }

    #[test]
    fn every_other_line_is_refused_wherever_it_is() {
        let gpu = gpu();
        let others = |(least, greatest): (i128, i128)| {
            let beyond =
                [least - 1, greatest + 1, least * 10 - 10, greatest * 10 + 9].map(|value| value.to_string());
            let odd = [
                "", " ", "-", "-0", "+5", "007", "00", "-01", "5 ", " 5", "1 2", "5\r\r", "1.5", "1e3", "0x1",
            ];
            let odder = ["--5", "5-", "\0", "9\0", "\u{a0}5", "\u{661}", "1,000", "5\t"].map(str::to_owned);
            let long = ["1".repeat(21), "0".repeat(40), "9".repeat(5000)];
            beyond.into_iter().chain(odd.map(str::to_owned)).chain(odder).chain(long).collect::<Vec<_>>()
        };
        for element in TYPES {
            let (least, greatest) = element.limits();
            let map = KeyMap::ascending(element);
            let good = "12345\n7\n".repeat(700);
            assert!(sorted(&gpu, good.as_bytes(), map, 1400).is_some());
            for odd in others((least, greatest)) {
                for place in [0, 682, 683, 1400] {
                    let before: usize = good.lines().take(place).map(|line| line.len() + 1).sum();
                    let text = [&good[..before], &odd, "\n", &good[before..]].concat();
                    assert!(sorted(&gpu, text.as_bytes(), map, 1401).is_none(), "{element} {odd:?} {place}");
                }
            }
            if least == 0 {
                assert!(sorted(&gpu, b"1\n-5\n", map, 2).is_none());
            }
        }
    }

    #[test]
    fn more_lines_than_estimated_are_refused() {
        let gpu = gpu();
        let text = "5\n".repeat(5000);
        let fill = |place: u64, to: &mut [u8]| {
            to.copy_from_slice(&text.as_bytes()[place as usize..][..to.len()]);
            Ok(())
        };
        let map = KeyMap::ascending(ElementType::I32);
        for (most, is_taken) in [(4999, false), (5000, true)] {
            let lines = Lines { bytes: 10_000, most, map, may_return: false, fill: &fill };
            let mut calls = 0;
            let mut begin = |_| {
                calls += 1;
                true
            };
            let sorted = gpu.sort_lines(lines, Method::default(), &mut begin, &mut |_| Ok(())).unwrap();
            assert_eq!((sorted.is_some(), calls), (is_taken, i32::from(is_taken)));
        }
    }
}
