//! The device of a sort: the CPU, a GPU started once in a process, or the faster of both by estimate.

use std::sync::OnceLock;
use std::time::Duration;

use gpusort::{AdapterInfo, Kind, Select, Sorter};
use gpusort_base::parallel;
use gpusort_engine::cost::{Costs, FEWEST};
use gpusort_order::Shape;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

use crate::errors::exception;

/// A started device.
#[pyclass(frozen, module = "gpusort._gpusort")]
pub(crate) struct Device {
    sorter: Sorter,
    /// The process that started the device.
    process: u32,
}

#[pymethods]
impl Device {
    /// Starts the GPU with this number or name, or the first GPU; or takes the CPU.
    #[new]
    fn new(py: Python, name: &str, number: Option<usize>) -> PyResult<Self> {
        let select = match (number, name) {
            (Some(number), _) => Select::Index(number),
            (None, "cpu") => return Ok(Self::of(Sorter::cpu())),
            (None, "gpu") => Select::Hardware,
            (None, name) => Select::Name(name.to_owned()),
        };
        py.detach(|| Sorter::gpu(&select)).map(Self::of).map_err(exception)
    }

    /// Its name.
    #[getter]
    fn name(&self) -> String {
        self.sorter.device().map_or_else(|| "CPU".to_owned(), |info| info.name.clone())
    }
}

impl Device {
    /// This one, of this process.
    fn of(sorter: Sorter) -> Self {
        Self { sorter, process: std::process::id() }
    }

    /// The sorter.
    ///
    /// # Errors
    ///
    /// This process was forked after the GPU was started.
    pub(crate) fn sorter(&self) -> PyResult<&Sorter> {
        if self.sorter.started().is_some() && self.process != std::process::id() {
            return Err(PyRuntimeError::new_err(
                "this process was forked after the GPU was started, which it cannot use; start processes by \
                 multiprocessing's \"spawn\", or use device=\"cpu\"",
            ));
        }
        Ok(&self.sorter)
    }
}

/// Says that this process was just forked.
#[pyfunction]
pub(crate) fn after_fork() {
    parallel::forked();
}

/// The sorter on the CPU.
pub(crate) fn cpu() -> &'static Sorter {
    static CPU: OnceLock<Sorter> = OnceLock::new();
    CPU.get_or_init(Sorter::cpu)
}

/// Chooses the sorter for `n` elements of this shape if the caller names no device: a GPU only if a GPU is
/// expected to finish first.
pub(crate) fn chosen(n: usize, shape: Shape) -> &'static Sorter {
    static COSTS: OnceLock<Costs> = OnceLock::new();
    /// `None` on a machine without a GPU known to be fast.
    static GPU: OnceLock<Option<Device>> = OnceLock::new();
    if (n as u64) < FEWEST {
        return cpu();
    }
    let cores = parallel::cores();
    let costs = COSTS.get_or_init(|| {
        let kept = Costs::kept().ok().flatten();
        kept.inspect(|costs| costs.prefer_digits(cores)).unwrap_or_else(Costs::built_in)
    });
    let starting = match GPU.get() {
        Some(None) => return cpu(),
        Some(_) => Duration::ZERO,
        None => costs.start().unwrap_or_default(),
    };
    if !costs.choose(n as u64, shape, cores, starting).is_gpu() {
        return cpu();
    }
    let gpu = GPU.get_or_init(|| {
        let measured = costs.gpu.as_ref().filter(|_| costs.measured_here);
        let select = measured.map_or(Select::Hardware, |gpu| Select::Name(gpu.name.clone()));
        let sorter = Sorter::gpu(&select).ok()?;
        let is_known = costs.measured_here || sorter.device()?.kind == Kind::Discrete;
        is_known.then(|| Device::of(sorter))
    });
    // A forked process cannot use its parent's GPU.
    gpu.as_ref().and_then(|gpu| gpu.sorter().ok()).unwrap_or(cpu())
}

/// The name, backend, kind and driver of each GPU.
type Known = (String, &'static str, &'static str, String);

/// Returns the properties of each GPU, by number.
#[pyfunction]
pub(crate) fn devices(py: Python) -> Vec<Known> {
    let known = |info: AdapterInfo| (info.name, info.backend, info.kind.name(), info.driver);
    py.detach(|| gpusort::adapters().into_iter().map(known).collect())
}
