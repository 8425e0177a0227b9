use pyo3::prelude::*;
#[pyfunction]
pub(crate) fn sort_file() {}
#[pyfunction]
pub(crate) fn check_file() {}
#[pyfunction]
pub(crate) fn merge_files() {}
