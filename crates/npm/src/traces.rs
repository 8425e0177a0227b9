//! Traces of sorts for the page in `web/`.

/// All files, with their texts.
pub(crate) fn files() -> Vec<(String, String)> {
    Vec::new()
}
