//! A report of the algorithm and form that sorted.

use gpusort_order::{Algorithm, Variant};

/// The algorithm that ran, and its form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ran {
    /// The algorithm; `None` means the CPU's own choice.
    pub algorithm: Option<Algorithm>,
    /// The form of the algorithm.
    pub form: Form,
}

/// The form of a sort.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Form {
    /// The keys were in order and stayed unchanged.
    InOrder,
    /// The keys were in descending order and were reversed.
    Reversed,
    /// Few keys, sorted by comparisons on one core.
    Comparison,
    /// Radix sort.
    Radix,
    /// Quicksort by vector instructions.
    Quicksort,
    /// A search for only the first keys of the result.
    Top,
    /// A merge of sorted inputs.
    Merge,
    /// A network on the CPU.
    Network,
    /// The kernels of a variant.
    Variant(Variant),
}

impl Ran {
    /// Returns a form of the CPU's own choice.
    #[must_use]
    pub fn on_cpu(form: Form) -> Self {
        Self { algorithm: None, form }
    }

    /// Returns the name of the algorithm in reports.
    #[must_use]
    pub fn algorithm(self) -> &'static str {
        self.algorithm.map_or("cpu", Algorithm::name)
    }

    /// Returns the name of the form in reports.
    #[must_use]
    pub fn variant(self) -> &'static str {
        match self.form {
            Form::InOrder => "in-order",
            Form::Reversed => "reversed",
            Form::Comparison => "comparison",
            Form::Radix => "radix",
            Form::Quicksort => "quicksort",
            Form::Top => "top",
            Form::Merge => "merge",
            Form::Network => "network",
            Form::Variant(variant) => variant.name(),
        }
    }
}
