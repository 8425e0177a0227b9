//! What ran in a sort.

use gpusort_order::{Algorithm, Variant};

/// What ran: an algorithm, and which form of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ran {
    /// The network; `None` is what the CPU chose by itself.
    pub algorithm: Option<Algorithm>,
    /// Its form.
    pub form: Form,
}

/// The form in which a sort ran.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Form {
    /// The keys were in order, and were left so.
    InOrder,
    /// The keys were in falling order, and were reversed.
    Reversed,
    /// Few keys, sorted by comparisons on one core.
    Comparison,
    /// Radix sort.
    Radix,
    /// Quicksort by vector instructions.
    Quicksort,
    /// Only the first of the result were searched for.
    Top,
    /// Sorted inputs were merged.
    Merge,
    /// A network on the CPU.
    Network,
    /// The kernels of a variant.
    Variant(Variant),
}

impl Ran {
    /// A form of the CPU's own choice.
    #[must_use]
    pub fn on_cpu(form: Form) -> Self {
        Self { algorithm: None, form }
    }

    /// The name of the algorithm in reports.
    #[must_use]
    pub fn algorithm(self) -> &'static str {
        self.algorithm.map_or("cpu", Algorithm::name)
    }

    /// The name of the form in reports.
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
