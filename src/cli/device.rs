//! What `--device` names.

use anyhow::{anyhow, bail};
use gpusort::gpu::Select;

/// Where to sort.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Device {
    Auto,
    Cpu,
    Gpu(Select),
}

impl Device {
    pub(super) fn named(name: &str) -> anyhow::Result<Self> {
        Ok(match name.to_ascii_lowercase().as_str() {
            "auto" => Self::Auto,
            "cpu" => Self::Cpu,
            "gpu" => Self::Gpu(Select::Hardware),
            "" => bail!("--device needs auto, cpu, gpu, a number or a part of a name"),
            digits if digits.bytes().all(|byte| byte.is_ascii_digit()) => {
                let index = digits.parse().map_err(|_| anyhow!("no GPU has the number {digits}"))?;
                Self::Gpu(Select::Index(index))
            }
            _ => Self::Gpu(Select::Name(name.to_owned())),
        })
    }
}
