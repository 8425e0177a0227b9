//! Benchmarks: what is counted, what is refused, and that no wrong result passes.

use std::cell::Cell;
use std::time::{Duration, Instant};

use gpusort::ElementType;
use gpusort::{Error, ErrorKind, Kind, Method};
use gpusort_bench::contender::{Contender, Sample, Sorted, on_cpu, on_gpu};
use gpusort_bench::generate::{Distribution, Sequence, Type};
use gpusort_bench::statistics::median;
use gpusort_bench::{
    Case, Device, Event, Measurement, Outcome, Pace, Skipped, SpinUp, Suite, measure, verified,
};
use gpusort_engine::gpu::{Buffers, execute};
use gpusort_engine::key_buf::KeyBuf;
use gpusort_planner::key::KeyWords;
use gpusort_planner::plan::{Algorithm, Plan, Shape, Variant};

use crate::device;
use crate::trace::all;

fn keys(n: usize) -> impl Fn(u64) -> KeyBuf<'static> {
    move |seed| {
        let (element, distribution) = (ElementType::U32, Distribution::Uniform);
        Sequence { element, distribution, count: n as u64, seed }.keys(0, n)
    }
}

/// A sort with given times that spoils its result as given.
struct Mock<F: FnMut(usize, &mut Vec<u32>)> {
    times: fn(usize) -> Duration,
    spoil: F,
    runs: usize,
}

impl<F: FnMut(usize, &mut Vec<u32>)> Mock<F> {
    fn new(times: fn(usize) -> Duration, spoil: F) -> Self {
        Self { times, spoil, runs: 0 }
    }
}

impl<F: FnMut(usize, &mut Vec<u32>)> Mock<F> {
    fn sort(&mut self, input: &KeyBuf<'static>) -> (Sample, Sorted) {
        let mut keys: Vec<u32> = input.clone().into_vec().expect("u32 keys are of one word");
        keys.sort_unstable();
        (self.spoil)(self.runs, &mut keys);
        let time = (self.times)(self.runs);
        self.runs += 1;
        let sample = Sample { end_to_end: time, ..Sample::on_cpu(time / 2) };
        (sample, Sorted { words: keys.into(), positions: false })
    }
}

/// Measures a contender on these keys.
fn measured(
    contender: &mut Contender,
    keys: &dyn Fn(u64) -> KeyBuf<'static>,
    pace: &Pace,
    ran: &mut dyn FnMut(usize),
) -> Result<Outcome, Error> {
    measure(&mut |seed| verified(contender, &keys(seed), seed), pace, ran)
}

/// So long that nothing is left out for lack of time, however busy the machine is.
const NO_LIMIT: Duration = Duration::from_secs(1_000_000);

fn seconds(seconds: f64) -> Duration {
    Duration::from_secs_f64(seconds)
}

/// What a wrong sort might do to sorted keys.
type Spoil = fn(&mut Vec<u32>);

#[test]
fn a_wrong_result_of_any_run_ends_the_bench() {
    let spoils: [(&str, Spoil); 6] = [
        ("lost", |keys| keys.truncate(999)),
        ("swapped", |keys| keys.swap(499, 500)),
        ("altered", |keys| keys[999] = u32::MAX),
        ("a bit", |keys| keys[0] ^= 1),
        ("doubled", |keys| keys[500] = keys[499]),
        ("none at all", Vec::clear),
    ];
    let pace = Pace { runs: 4, warm_up: 1, seed: 7, ..Pace::default() };
    for (what, spoil) in spoils {
        for wrong_run in 0..5 {
            let spoil = |run, keys: &mut Vec<u32>| {
                if run == wrong_run {
                    spoil(keys);
                }
            };
            let mut mock = Mock::new(|_| seconds(0.001), spoil);
            let error =
                measured(&mut |input| Ok(mock.sort(input)), &keys(1000), &pace, &mut |_| {}).unwrap_err();
            let ErrorKind::WrongResult { seed, .. } = error.kind() else { panic!("{what}: {error}") };
            assert_eq!(*seed, 7 + wrong_run as u64, "{what}: the seed that makes the input again");
        }
    }
    let mut mock = Mock::new(|_| seconds(0.001), |_, _| {});
    let right = measured(&mut |input| Ok(mock.sort(input)), &keys(1000), &pace, &mut |_| {});
    assert!(right.is_ok());
}

#[test]
fn the_number_of_runs_follows_the_request_and_the_time_limit() {
    let runs = |pace: Pace, times: fn(usize) -> Duration| {
        let told = Cell::new(0);
        let mut mock = Mock::new(times, |_, _| {});
        match measured(&mut |input| Ok(mock.sort(input)), &keys(10), &pace, &mut |runs| told.set(runs))
            .unwrap()
        {
            Outcome::Measured(samples) => {
                assert_eq!(told.get(), mock.runs);
                (mock.runs, samples.len())
            }
            Outcome::TooLong(_) => (mock.runs, 0),
        }
    };
    let pace = Pace { runs: 15, warm_up: 2, limit: seconds(5.0), seed: 1 };
    assert_eq!(runs(pace, |_| seconds(0.1)), (17, 15));
    assert_eq!(runs(pace, |_| seconds(0.5)), (10, 8), "what would pass the limit is left out");
    assert_eq!(runs(pace, |_| seconds(1.5)), (3, 3), "long runs are their own warm-up");
    assert_eq!(runs(pace, |_| seconds(1.7)), (2, 0), "three do not fit");
    assert_eq!(runs(Pace { runs: 1, ..pace }, |_| seconds(4.0)), (1, 1), "one was asked for, and fits");
    assert_eq!(runs(Pace { warm_up: 0, runs: 2, ..pace }, |_| seconds(0.1)), (2, 2));
    // A first run may compile kernels.
    assert_eq!(runs(pace, |run| seconds(if run == 0 { 8.0 } else { 0.1 })), (17, 15));
    assert_eq!(runs(Pace { warm_up: 0, ..pace }, |run| seconds(if run == 0 { 8.0 } else { 1.0 })), (6, 5));
    // A first run that warms up a lot counts as no sample.
    assert_eq!(runs(pace, |run| seconds(if run == 0 { 0.9 } else { 0.1 })), (17, 15));
}

/// Every event of a suite.
fn run(suite: &Suite, devices: &[Device]) -> (Vec<Measurement>, Vec<Skipped>, usize) {
    let (mut measured, mut skipped, mut sizes) = (Vec::new(), Vec::new(), 0);
    suite
        .run::<Error>(devices, &mut |event| {
            match event {
                Event::Measured(measurement) => measured.push(measurement),
                Event::Skipped(case) => skipped.push(case),
                Event::SizeDone => sizes += 1,
                Event::Begins(..) | Event::Ran(_) => {}
            }
            Ok(())
        })
        .unwrap();
    (measured, skipped, sizes)
}

#[test]
fn a_suite_measures_every_combination() {
    let start = Instant::now();
    let gpu = Device::gpu(device::start(), start.elapsed()).unwrap();
    // A hundredth of what any memory does.
    assert!(gpu.report.copy_bytes_per_s.unwrap() > 1e8);
    let devices = [gpu, Device::cpu()];
    let methods: Vec<_> = all().map(|(algorithm, variant)| (algorithm, Some(variant))).collect();
    for positions in [false, true] {
        let suite = Suite {
            sizes: "1,2,100".parse().unwrap(),
            methods: methods.clone(),
            types: vec![Type::Number(ElementType::F32), Type::Number(ElementType::I64), Type::Text],
            distributions: vec![Distribution::Uniform, Distribution::Equal],
            positions,
            pace: Pace { runs: 2, warm_up: 1, limit: NO_LIMIT, ..Pace::default() },
        };
        let (measured, skipped, sizes) = run(&suite, &devices);
        assert_eq!(skipped, []);
        assert_eq!(sizes, 3 * 3 * 2);
        // Two sorts of the CPU, its networks, and every variant on the GPU.
        let networks = Algorithm::ALL.into_iter().filter(|algorithm| algorithm.is_network());
        let cases = 2 + networks.count() + methods.len();
        assert_eq!(suite.cases(&devices).len(), cases);
        assert_eq!(measured.len(), sizes * cases);
        assert!(measured.iter().all(|result| result.samples.len() == 2));
        let says = |case: &Case| case.positions == (positions && case.element != Type::Text);
        assert!(measured.iter().all(|result| says(&result.case)));
        let fused = measured.iter().find(|result| result.case.variant == "fused" && result.case.n == 100);
        let fused = fused.unwrap();
        let shape = Shape { key: KeyWords::One, payload: positions };
        let plan =
            Plan::new(Algorithm::Bitonic, Variant::Fused, 100, shape, &device::gpu().info().limits).unwrap();
        assert_eq!(fused.most(|sample| sample.dispatches), plan.dispatch_count());
        assert_eq!(fused.most(|sample| sample.bytes_moved), plan.bytes_moved());
        assert!(fused.samples.iter().all(|sample| {
            sample.end_to_end >= sample.upload + sample.download && !sample.sort.time.is_zero()
        }));
    }
}

#[test]
fn a_method_over_the_time_limit_is_skipped_before_it_runs() {
    let suite = Suite {
        sizes: "64,4M".parse().unwrap(),
        methods: vec![(Algorithm::OddEven, Some(Variant::Naive))],
        types: vec![Type::Number(ElementType::U32)],
        distributions: vec![Distribution::Uniform],
        positions: false,
        pace: Pace { runs: 3, warm_up: 0, limit: seconds(30.0), seed: 1 },
    };
    // 4M elements in 4M phases would take an hour or more, and 64 take no second.
    let (measured, skipped, _) = run(&suite, &[Device::cpu()]);
    assert!(skipped.iter().any(|skipped| skipped.case.algorithm == "odd-even" && skipped.case.n == 4 << 20));
    assert!(measured.iter().any(|result| result.case.algorithm == "odd-even" && result.case.n == 64));
}

#[test]
fn sizes_that_the_device_refuses_are_skipped_with_the_reason() {
    let limits = device::gpu().info().limits;
    let n = usize::try_from(limits.binding_bytes.min(limits.buffer_bytes)).unwrap() / 8 + 1;
    let suite = Suite {
        sizes: n.to_string().parse().unwrap(),
        methods: vec![(Algorithm::Bitonic, Some(Variant::Fused))],
        types: vec![Type::Number(ElementType::U64)],
        distributions: vec![Distribution::Equal],
        positions: false,
        pace: Pace { runs: 1, warm_up: 0, limit: NO_LIMIT, seed: 1 },
    };
    let gpu = Device::gpu(device::start(), Duration::ZERO).unwrap();
    let (_, skipped, _) = run(&suite, &[gpu]);
    let of_gpu = skipped.iter().find(|skipped| skipped.case.variant == "fused").unwrap();
    assert!(of_gpu.why.starts_with("more than ") && of_gpu.why.contains(" bytes in one b"), "{of_gpu:?}");
}

#[test]
fn contenders_sort_keys_and_positions_of_both_widths() {
    let gpu = device::gpu();
    let pace = Pace { runs: 2, warm_up: 0, limit: NO_LIMIT, ..Pace::default() };
    for element in [ElementType::U32, ElementType::F64] {
        for positions in [false, true] {
            let n = 3001;
            let shape = Shape::of(element, positions);
            let plan =
                |algorithm, variant| Plan::new(algorithm, variant, n, shape, &gpu.info().limits).unwrap();
            let bitonic = Method { algorithm: Some(Algorithm::Bitonic), variant: None };
            let contenders: [Box<Contender>; 5] = [
                on_cpu(Some(Method::default()), positions),
                on_cpu(Some(bitonic), positions),
                on_cpu(None, positions),
                on_gpu(gpu, None, plan(Algorithm::Bitonic, Variant::Fused)).unwrap(),
                on_gpu(gpu, None, plan(Algorithm::OddEven, Variant::Block)).unwrap(),
            ];
            let keys = |seed| {
                let distribution = Distribution::FewDistinct;
                Sequence { element, distribution, count: n as u64, seed }.keys(0, n)
            };
            for mut contender in contenders {
                let outcome = measured(contender.as_mut(), &keys, &pace, &mut |_| {}).unwrap();
                assert!(matches!(outcome, Outcome::Measured(samples) if samples.len() == 2));
            }
        }
    }
}

/// The same sort timed independently: by the host's clock, several of them one after another, the
/// difference between `times` and twice as many. The first agreement counts: other work on the
/// machine makes some comparisons differ, a clock that is wrong all of them.
#[test]
fn the_median_agrees_with_the_hosts_clock() {
    let gpu = device::gpu();
    let is_software = gpu.info().kind == Kind::Software;
    // On hardware a sort so long that recording its dispatches does not count.
    let (n, times) = if is_software { (1 << 13, 16) } else { (1 << 27, 8) };
    let shape = Shape { key: KeyWords::One, payload: false };
    let plan = Plan::new(Algorithm::Bitonic, Variant::Fused, n, shape, &gpu.info().limits).unwrap();
    let spin_up = (!is_software).then(|| SpinUp::new(gpu).unwrap());
    let pace = Pace { limit: NO_LIMIT, ..Pace::default() };
    let by_bench = || {
        let mut contender = on_gpu(gpu, spin_up.as_ref(), plan.clone()).unwrap();
        let Outcome::Measured(samples) = measured(contender.as_mut(), &keys(n), &pace, &mut |_| {}).unwrap()
        else {
            panic!("nothing is too long")
        };
        let times: Vec<f64> = samples.iter().map(|sample| sample.sort.time.as_secs_f64()).collect();
        median(&times)
    };
    let by_host = || {
        let elements = Buffers::new(gpu, &plan).unwrap();
        let host = |times: usize| {
            if let Some(spin_up) = &spin_up {
                spin_up.again(gpu).unwrap();
            }
            let start = Instant::now();
            for _ in 0..times {
                execute(gpu, &plan, &elements, |_| {}).unwrap();
            }
            start.elapsed().as_secs_f64()
        };
        host(times);
        let differences: Vec<f64> = (0..9).map(|_| (host(2 * times) - host(times)) / times as f64).collect();
        median(&differences)
    };
    // A software driver shares its cores with whatever else runs.
    let tolerance = if is_software { 5.0 } else { 1.05 };
    let agrees = (0..20).any(|_| {
        let (bench, host) = (by_bench(), by_host());
        println!("{n} elements: {:.4} ms by the bench, {:.4} ms by the host", bench * 1e3, host * 1e3);
        bench < host * tolerance && host < bench * tolerance
    });
    assert!(agrees);
}
