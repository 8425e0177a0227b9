//! The costs of a machine: valid JSON is accepted, written back unchanged, and decides the device.

mod json;

use std::time::Duration;

use gpusort_engine::cost::Costs;
use gpusort_planner::key::KeyWords;
use gpusort_planner::plan::Shape;

use self::json::Json;
use crate::choices::Choices;
use crate::library::{Refusal, Said};
use crate::{Spoil, differ, same};

/// Bytes of options.
const OPTIONS: usize = 8;

/// Valid JSON, the start of all edits.
const RIGHT: &str = r#"{"gpu":{"name":"G","start_ms":100.0,"sorts":[
{"key_words":1,"records":false,"times":[[65536,1.0],[1048576,2.0]]},
{"key_words":2,"records":true,"times":[[65536,1.5],[1048576,4.0]]}]},
"cpus":[{"name":"C","cores":2,"sorts":[{"key_words":1,"records":false,"times":[[65536,4.0],[1048576,64.0]]}]},
{"name":"C","cores":8,"sorts":[{"key_words":1,"records":false,"times":[[65536,1.0],[1048576,16.0]]},
{"key_words":2,"records":true,"times":[[1000,0.5]]}]}],
"binary_bytes_per_ms":1000000.0,"text_bytes_per_ms":100000.0}"#;

/// # Errors
///
/// The difference between the library and the reference.
pub fn compare(bytes: &[u8], spoil: Spoil) -> Result<(), String> {
    let (mut choices, data) = Choices::new(bytes, OPTIONS);
    let n = choices.of(&[1 << 18, 0, 1, 5, 65_535, 65_536, 100_000, 1 << 20, 1 << 23, 1 << 40, u64::MAX]);
    let n = n ^ u64::from(choices.byte());
    let cores = choices.of(&[4, 0, 1, 2, 3, 7, 8, 9, 64, usize::MAX]);
    let start = choices.of(&[0, 1, 15, 60, 10_000, u64::MAX]);
    let key = choices.of(&[KeyWords::One, KeyWords::One, KeyWords::Two]);
    let shape = Shape { key, payload: choices.below(2) == 1 };
    let json = if choices.below(4) == 0 {
        match std::str::from_utf8(data) {
            Ok(json) => json.to_owned(),
            Err(_) => return Ok(()),
        }
    } else {
        let mut value: Json = serde_json::from_str(RIGHT).expect("it is JSON");
        data.chunks_exact(3).take(8).for_each(|edit| value.edit(edit));
        value.to_string()
    };
    let case = (&json, n, cores, start, shape);

    let costs = Costs::from_json(&json);
    let right = serde_json::from_str(&json).map_err(|error| error.to_string()).and_then(|json: Json| {
        let machine = Machine::read(&json).ok_or("no costs")?;
        if machine.is_possible() { Ok(machine) } else { Err("impossible costs".to_owned()) }
    });
    let taken = |taken: bool| if taken { Ok(b"taken\n".to_vec()) } else { Err(()) };
    let mut library: Said = match &costs {
        Ok(_) => taken(true).map_err(|()| unreachable!("it is taken")),
        Err(error) => Err(Refusal { message: error.to_string() }),
    };
    spoil(&mut library);
    same(&case, &library, &taken(right.is_ok()))?;
    let (Ok(costs), Ok(machine)) = (costs, right) else { return Ok(()) };

    let again = costs.to_json().map(|json| Costs::from_json(&json));
    let is_kept = matches!(&again, Ok(Ok(again)) if *again == costs);
    if !is_kept {
        return Err(differ(&case, &format!("{again:?}"), &format!("{costs:?}")));
    }

    let choice = costs.choose(n, shape, cores, Duration::from_millis(start));
    let told = choice.to_string();
    let (cpu, gpu) = (machine.on_cpu(n, shape, cores), machine.on_gpu(n, shape));
    let numbers = numbers(&told);
    // Where the reference says nothing, nothing is compared.
    let is_near = |said: Option<&f64>, right: Option<f64>| match (said, right) {
        (Some(said), Some(right)) => {
            // The most that a duration holds: seconds are 64 bits.
            let right = right.min(u64::MAX as f64 * 1e3);
            (said - right).abs() <= 0.0006 + 0.006 * right
        }
        _ => true,
    };
    let right_gpu = gpu.is_some() == told.contains("on the GPU");
    if !(right_gpu && is_near(numbers.get(1), cpu) && is_near(numbers.get(2), gpu.flatten())) {
        return Err(differ(&case, &told, &format!("{cpu:?} ms on the CPU, {gpu:?} on the GPU")));
    }
    if let (Some(cpu), Some(Some(gpu))) = (cpu, gpu) {
        let gpu = gpu + start as f64;
        // Durations are whole nanoseconds.
        let is_clear = (cpu - gpu).abs() > 1e-9 * cpu.max(gpu) + 1e-5 && cpu < 1e21 && gpu < 1e21;
        if is_clear && choice.is_gpu() != (gpu < cpu) {
            return Err(differ(
                &case,
                &format!("{choice:?}"),
                &format!("{cpu} ms on the CPU, {gpu} on the GPU"),
            ));
        }
    }
    for (is_text, rate) in [(false, machine.binary), (true, machine.text)] {
        let (said, right) = (costs.reading(n, is_text).as_secs_f64() * 1e3, n as f64 / rate);
        if !is_near(Some(&said), Some(right)) {
            return Err(differ(&case, &format!("{said} ms of reading"), &format!("{right}")));
        }
    }
    Ok(())
}

/// The numbers in a text: of elements, and of milliseconds.
fn numbers(text: &str) -> Vec<f64> {
    let is_part = |c: char| c.is_ascii_digit() || c == '.' || c == ',';
    let parts = text.split(|c| !is_part(c)).map(|part| part.replace(',', ""));
    parts.filter_map(|part| part.parse().ok()).collect()
}

/// Costs as the reference has them.
struct Machine {
    gpu: Option<(f64, Vec<Times>)>,
    cpus: Vec<(u64, Vec<Times>)>,
    binary: f64,
    text: f64,
}

struct Times {
    shape: (u64, bool),
    times: Vec<(u64, f64)>,
}

impl Machine {
    /// Reads JSON with exactly these fields.
    fn read(json: &Json) -> Option<Self> {
        // A machine without a GPU may leave the field out.
        let [gpu, cpus, binary, text] =
            json.fields(["gpu", "cpus", "binary_bytes_per_ms", "text_bytes_per_ms"], &["gpu"])?;
        let gpu = match gpu {
            Json::Null => None,
            gpu => {
                let [name, start, sorts] = gpu.fields(["name", "start_ms", "sorts"], &[])?;
                name.text()?;
                Some((start.float()?, Times::read_all(sorts)?))
            }
        };
        let cpu = |cpu: &Json| {
            let [name, cores, sorts] = cpu.fields(["name", "cores", "sorts"], &[])?;
            name.text()?;
            Some((cores.integer()?, Times::read_all(sorts)?))
        };
        let cpus = cpus.elements()?.iter().map(cpu).collect::<Option<_>>()?;
        Some(Self { gpu, cpus, binary: binary.float()?, text: text.float()? })
    }

    fn is_possible(&self) -> bool {
        let rises = |numbers: &[u64]| !numbers.is_empty() && numbers.windows(2).all(|pair| pair[0] < pair[1]);
        let cores: Vec<u64> = self.cpus.iter().map(|cpu| cpu.0).collect();
        let mut all = self.cpus.iter().flat_map(|cpu| &cpu.1).chain(self.gpu.iter().flat_map(|gpu| &gpu.1));
        // A machine has a core, and sorts of something.
        rises(&cores)
            && cores[0] > 0
            && all.all(|Times { times, .. }| {
                let sizes: Vec<u64> = times.iter().map(|time| time.0).collect();
                rises(&sizes) && sizes[0] > 0 && times.iter().all(|time| time.1 > 0.0)
            })
            && self.gpu.as_ref().is_none_or(|gpu| gpu.0 >= 0.0)
            && self.binary > 0.0
            && self.text > 0.0
    }

    /// Milliseconds on the CPU, from the machines with times of this shape, 0 without such machines;
    /// `None` beyond the precision of the reference.
    fn on_cpu(&self, n: u64, shape: Shape, cores: usize) -> Option<f64> {
        let cores = cores as u64;
        let (mut below, mut above) = (None, None);
        for (others, sorts) in &self.cpus {
            let Some(times) = Times::of(sorts, shape) else { continue };
            let known = (*others, times.at(n)?);
            if *others == cores {
                return Some(known.1);
            }
            if *others < cores {
                below = Some(known);
            } else {
                above = above.or(Some(known));
            }
        }
        match (below, above) {
            (Some(below), Some(above)) => between(below, above, cores),
            (Some((_, time)), None) | (None, Some((_, time))) => Some(time),
            (None, None) => Some(0.0),
        }
    }

    /// Milliseconds on the GPU, with known times; `Some(None)` beyond the precision of the reference.
    fn on_gpu(&self, n: u64, shape: Shape) -> Option<Option<f64>> {
        Some(Times::of(&self.gpu.as_ref()?.1, shape)?.at(n))
    }
}

impl Times {
    fn read_all(sorts: &Json) -> Option<Vec<Self>> {
        let times = |sort: &Json| {
            let [key_words, records, times] = sort.fields(["key_words", "records", "times"], &[])?;
            let words = key_words.integer().filter(|&words| words <= u32::MAX.into())?;
            let Json::Bool(records) = records else { return None };
            let time = |time: &Json| match time.elements()? {
                [n, ms] => Some((n.integer()?, ms.float()?)),
                _ => None,
            };
            let times = times.elements()?.iter().map(time).collect::<Option<_>>()?;
            Some(Self { shape: (words, *records), times })
        };
        sorts.elements()?.iter().map(times).collect()
    }

    fn of(all: &[Self], shape: Shape) -> Option<&Self> {
        all.iter().find(|times| times.shape == (shape.key_words().into(), shape.payload))
    }

    /// Interpolates linearly in logarithms between two measurements; smaller sizes take the first
    /// time; beyond the last size, an element takes as long as between the last two.
    fn at(&self, n: u64) -> Option<f64> {
        let (first, last) = (self.times[0], self.times[self.times.len() - 1]);
        if n <= first.0 {
            return Some(first.1);
        }
        if n > last.0 {
            let before = self.times.iter().rev().nth(1).copied().unwrap_or((0, 0.0));
            let each = (last.1 - before.1).max(0.0) / (last.0 - before.0) as f64;
            return Some(last.1 + each * (n - last.0) as f64);
        }
        let pair = self.times.windows(2).find(|pair| n <= pair[1].0)?;
        between(pair[0], pair[1], n)
    }
}

fn between(a: (u64, f64), b: (u64, f64), n: u64) -> Option<f64> {
    let part = (n as f64 / a.0 as f64).ln() / (b.0 as f64 / a.0 as f64).ln();
    let is_clear = a.0 > 0 && b.0 as f64 / a.0 as f64 > 1.000_001;
    (is_clear && part.is_finite()).then(|| a.1.powf(1.0 - part) * b.1.powf(part)).filter(|ms| ms.is_finite())
}
