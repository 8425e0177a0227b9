//! What is kept of a machine's costs: which JSON is taken, that it is kept as it is, and what is
//! chosen by it.

use std::time::Duration;

use gpusort_engine::cost::Costs;
use gpusort_planner::key::KeyWords;
use gpusort_planner::plan::Shape;
use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

use crate::choices::Choices;
use crate::library::{Refusal, Said};
use crate::{Spoil, differ, same};

/// Bytes of options.
const OPTIONS: usize = 8;

/// JSON that is taken, to be changed.
const RIGHT: &str = r#"{"gpu":{"name":"G","start_ms":100.0,"sorts":[
{"key_words":1,"records":false,"times":[[65536,1.0],[1048576,2.0]]},
{"key_words":2,"records":true,"times":[[65536,1.5],[1048576,4.0]]}]},
"cpus":[{"name":"C","cores":2,"sorts":[{"key_words":1,"records":false,"times":[[65536,4.0],[1048576,64.0]]}]},
{"name":"C","cores":8,"sorts":[{"key_words":1,"records":false,"times":[[65536,1.0],[1048576,16.0]]},
{"key_words":2,"records":true,"times":[[1000,0.5]]}]}],
"binary_bytes_per_ms":1000000.0,"text_bytes_per_ms":100000.0}"#;

/// # Errors
///
/// How the library and its twin differ.
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
    let twin = serde_json::from_str(&json).map_err(|error| error.to_string()).and_then(|json: Json| {
        let machine = Machine::read(&json).ok_or("no costs")?;
        if machine.is_possible() { Ok(machine) } else { Err("impossible costs".to_owned()) }
    });
    let taken = |taken: bool| if taken { Ok(b"taken\n".to_vec()) } else { Err(()) };
    let mut library: Said = match &costs {
        Ok(_) => taken(true).map_err(|()| unreachable!("it is taken")),
        Err(error) => Err(Refusal { message: error.to_string(), ..Refusal::default() }),
    };
    spoil(&mut library);
    same(&case, &library, &taken(twin.is_ok()))?;
    let (Ok(costs), Ok(machine)) = (costs, twin) else { return Ok(()) };

    let again = costs.to_json().map(|json| Costs::from_json(&json));
    let is_kept = matches!(&again, Ok(Ok(again)) if *again == costs);
    if !is_kept {
        return Err(differ(&case, &format!("{again:?}"), &format!("{costs:?}")));
    }

    let choice = costs.choose(n, shape, cores, Duration::from_millis(start));
    let told = choice.to_string();
    let (cpu, gpu) = (machine.on_cpu(n, shape, cores), machine.on_gpu(n, shape));
    let numbers = numbers(&told);
    // Where the twin's own arithmetic says nothing, nothing is compared.
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

/// Costs as the twin has them.
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
    /// What JSON says, if it has these fields and no others.
    fn read(json: &Json) -> Option<Self> {
        // Nobody has to say that there is no GPU.
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

    /// Milliseconds on the CPU, by those machines of which something is known of the shape, 0 if
    /// there are none; `None` where the twin cannot tell.
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

    /// Milliseconds on the GPU, if it is known; `Some(None)` where the twin cannot tell.
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

    /// On straight lines in logarithms between what was measured; below it as the least, above it
    /// in proportion.
    fn at(&self, n: u64) -> Option<f64> {
        let (first, last) = (self.times[0], self.times[self.times.len() - 1]);
        if n <= first.0 {
            return Some(first.1);
        }
        if n > last.0 {
            return Some(last.1 * (n as f64 / last.0 as f64));
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

/// JSON in which a name may come twice.
#[derive(Clone, Debug)]
enum Json {
    Null,
    Bool(bool),
    Number(serde_json::Number),
    Text(String),
    Array(Vec<Json>),
    Object(Vec<(String, Json)>),
}

impl Json {
    /// The fields of a structure, each once and no others; it may be an array of them in this
    /// order, too.
    fn fields<const N: usize>(&self, names: [&str; N], optional: &[&str]) -> Option<[&Self; N]> {
        match self {
            Self::Array(fields) if fields.len() == N => Some(std::array::from_fn(|at| &fields[at])),
            Self::Object(fields) => {
                if fields.iter().any(|(name, _)| !names.contains(&name.as_str())) {
                    return None;
                }
                let mut found = [&Self::Null; N];
                for (place, name) in found.iter_mut().zip(names) {
                    let mut same = fields.iter().filter(|(other, _)| other == name);
                    match (same.next(), same.next()) {
                        (Some((_, field)), None) => *place = field,
                        (None, None) if optional.contains(&name) => {}
                        _ => return None,
                    }
                }
                Some(found)
            }
            _ => None,
        }
    }

    fn elements(&self) -> Option<&[Self]> {
        if let Self::Array(elements) = self { Some(elements) } else { None }
    }

    fn text(&self) -> Option<&str> {
        if let Self::Text(text) = self { Some(text) } else { None }
    }

    fn float(&self) -> Option<f64> {
        if let Self::Number(number) = self { number.as_f64() } else { None }
    }

    fn integer(&self) -> Option<u64> {
        if let Self::Number(number) = self { number.as_u64() } else { None }
    }

    /// Changes one thing: which, how, and to what, by a byte each.
    fn edit(&mut self, edit: &[u8]) {
        let &[which, how, what] = edit else { return };
        let mut left = usize::from(which) % self.len();
        self.edit_at(&mut left, how, what);
    }

    /// All values in it.
    fn len(&self) -> usize {
        1 + match self {
            Self::Array(elements) => elements.iter().map(Self::len).sum(),
            Self::Object(fields) => fields.iter().map(|(_, field)| field.len()).sum::<usize>(),
            _ => 0,
        }
    }

    /// Changes the value that `left` others come before.
    fn edit_at(&mut self, left: &mut usize, how: u8, what: u8) -> bool {
        if *left == 0 {
            self.change(how, what);
            return true;
        }
        *left -= 1;
        match self {
            Self::Array(elements) => elements.iter_mut().any(|element| element.edit_at(left, how, what)),
            Self::Object(fields) => fields.iter_mut().any(|(_, field)| field.edit_at(left, how, what)),
            _ => false,
        }
    }

    fn change(&mut self, how: u8, what: u8) {
        const VALUES: [&str; 40] = [
            "0",
            "1",
            "2",
            "3",
            "4",
            "8",
            "16",
            "1000",
            "65536",
            "65537",
            "1048576",
            "1e6",
            "0.5",
            "1.5",
            "-1",
            "-0",
            "-0.0",
            "1e-320",
            "1e308",
            "0.1",
            "4294967295",
            "4294967296",
            "18446744073709551615",
            "18446744073709551616",
            "9007199254740993",
            "1.7976931348623157e308",
            "2.2250738585072014e-308",
            "null",
            "true",
            "false",
            "\"G\"",
            "[]",
            "{}",
            "[1,1]",
            "[65536,1]",
            "[2000000,3.25]",
            "64",
            "7",
            "100.25",
            "5e-324",
        ];
        let at = usize::from(what);
        let value = || serde_json::from_str(VALUES[at % VALUES.len()]).expect("it is JSON");
        match (how % 8, self) {
            (0, Self::Array(elements)) if !elements.is_empty() => {
                elements.remove(at % elements.len());
            }
            (0, Self::Object(fields)) if !fields.is_empty() => {
                fields.remove(at % fields.len());
            }
            (1, Self::Array(elements)) if !elements.is_empty() => {
                let copy = elements[at % elements.len()].clone();
                elements.push(copy);
            }
            (1, Self::Object(fields)) if !fields.is_empty() => {
                let copy = fields[at % fields.len()].clone();
                fields.push(copy);
            }
            (2, Self::Array(elements)) => elements.reverse(),
            (2, Self::Object(fields)) => fields.reverse(),
            (3, Self::Array(elements)) => elements.insert(at / 64 % (elements.len() + 1), value()),
            (3, Self::Object(fields)) if at % 2 == 0 => fields.push(("more".to_owned(), value())),
            (3, this @ Self::Object(_)) => {
                // Its fields without their names.
                let Self::Object(fields) = std::mem::replace(this, Self::Null) else { return };
                *this = Self::Array(fields.into_iter().map(|(_, field)| field).collect());
            }
            (4, Self::Number(number)) => {
                // Another number of the same kind.
                let factor = [0.5, 2.0, 1.0 + f64::EPSILON, 1.1, 3.0, 1e9, 1e-9, -1.0][at % 8];
                let scaled = number.as_f64().unwrap_or_default() * factor;
                let scaled = match number.as_u64() {
                    Some(_) if scaled >= 0.0 => Some((scaled as u64).into()),
                    _ => serde_json::Number::from_f64(scaled),
                };
                *number = scaled.unwrap_or(1.into());
            }
            (_, this) => *this = value(),
        }
    }
}

impl std::fmt::Display for Json {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let quoted = |text: &str| serde_json::Value::from(text).to_string();
        match self {
            Self::Null => f.write_str("null"),
            Self::Bool(value) => write!(f, "{value}"),
            Self::Number(number) => write!(f, "{number}"),
            Self::Text(text) => f.write_str(&quoted(text)),
            Self::Array(elements) => {
                let elements: Vec<String> = elements.iter().map(Self::to_string).collect();
                write!(f, "[{}]", elements.join(","))
            }
            Self::Object(fields) => {
                let fields: Vec<String> =
                    fields.iter().map(|(name, field)| format!("{}:{field}", quoted(name))).collect();
                write!(f, "{{{}}}", fields.join(","))
            }
        }
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Any;
        impl<'de> Visitor<'de> for Any {
            type Value = Json;

            fn expecting(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
                f.write_str("JSON")
            }

            fn visit_unit<E>(self) -> Result<Json, E> {
                Ok(Json::Null)
            }

            fn visit_bool<E>(self, value: bool) -> Result<Json, E> {
                Ok(Json::Bool(value))
            }

            fn visit_u64<E>(self, value: u64) -> Result<Json, E> {
                Ok(Json::Number(value.into()))
            }

            fn visit_i64<E>(self, value: i64) -> Result<Json, E> {
                Ok(Json::Number(value.into()))
            }

            fn visit_f64<E>(self, value: f64) -> Result<Json, E> {
                Ok(serde_json::Number::from_f64(value).map_or(Json::Null, Json::Number))
            }

            fn visit_str<E>(self, value: &str) -> Result<Json, E> {
                Ok(Json::Text(value.to_owned()))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Json, A::Error> {
                let mut elements = Vec::new();
                while let Some(element) = access.next_element()? {
                    elements.push(element);
                }
                Ok(Json::Array(elements))
            }

            fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Json, A::Error> {
                let mut fields = Vec::new();
                while let Some(field) = access.next_entry()? {
                    fields.push(field);
                }
                Ok(Json::Object(fields))
            }
        }
        deserializer.deserialize_any(Any)
    }
}
