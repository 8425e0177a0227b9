//! `gpusort trace`.
