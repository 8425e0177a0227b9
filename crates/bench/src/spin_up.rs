//! Keeps a GPU's clock frequency up while the host is at work.

use std::cell::Cell;
use std::time::{Duration, Instant};

use gpusort_order::key::KeyWords;
use gpusort_planner::plan::{Algorithm, Plan, Shape, Variant};

use gpusort_base::error::Error;
use gpusort_engine::gpu::{Buffers, Gpu, execute};

/// Unrelated work that runs until the device is as fast as at its fastest.
pub struct SpinUp {
    plan: Plan,
    elements: Buffers,
    /// The least time of the work, reached at the full clock frequency.
    fastest: Cell<Duration>,
}

impl SpinUp {
    /// Runs until the least time has not improved for a while.
    ///
    /// # Errors
    ///
    /// A failure of the device.
    pub fn new(gpu: &Gpu) -> Result<Self, Error> {
        let shape = Shape { key: KeyWords::One, payload: false };
        let plan = Plan::new(Algorithm::Bitonic, Variant::Fused, 1 << 20, shape, &gpu.info().limits)?;
        gpu.prepare(&plan)?;
        let elements = Buffers::new(gpu, &plan)?;
        let once = execute(gpu, &plan, &elements, |_| {})?.0.time;
        // Repeated within one submit, so that the device is not idle in between.
        let times = (Duration::from_millis(10).as_secs_f64() / once.as_secs_f64()).clamp(1.0, 200.0) as u32;
        let spin_up = Self { plan: plan.repeated(times)?, elements, fastest: Cell::new(Duration::MAX) };
        let (start, mut improved) = (Instant::now(), Instant::now());
        while improved.elapsed() < Duration::from_millis(300) && start.elapsed() < Duration::from_secs(3) {
            let before = spin_up.fastest.get();
            if spin_up.once(gpu)? < before.mul_f64(0.97) {
                improved = Instant::now();
            }
        }
        Ok(spin_up)
    }

    /// Runs until the work is about as fast as ever.
    ///
    /// # Errors
    ///
    /// A failure of the device.
    pub fn again(&self, gpu: &Gpu) -> Result<(), Error> {
        let start = Instant::now();
        let mut fastest_now = Duration::MAX;
        loop {
            let time = self.once(gpu)?;
            fastest_now = fastest_now.min(time);
            let elapsed = start.elapsed();
            if time <= self.fastest.get().mul_f64(1.03) && elapsed >= Duration::from_millis(30) {
                return Ok(());
            }
            if elapsed > Duration::from_secs(1) {
                // Lower the expectation: the device may be throttled by heat.
                self.fastest.set(fastest_now);
                return Ok(());
            }
        }
    }

    fn once(&self, gpu: &Gpu) -> Result<Duration, Error> {
        let time = execute(gpu, &self.plan, &self.elements, |_| {})?.0.time;
        self.fastest.set(self.fastest.get().min(time));
        Ok(time)
    }
}
