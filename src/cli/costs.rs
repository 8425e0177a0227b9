//! The file in which `gpusort tune` stores the costs of sorting on this machine.

use std::path::PathBuf;
use std::{fs, io};

use anyhow::{Context, bail};
use etcetera::BaseStrategy;
use gpusort::unstable::cost::Costs;
use gpusort::unstable::human;

/// The path of that file.
pub(super) fn file() -> anyhow::Result<PathBuf> {
    let folders = etcetera::choose_base_strategy().context("no folder for settings; set HOME")?;
    Ok(folders.config_dir().join("gpusort").join("costs.json"))
}

/// The costs measured on this machine, if any.
pub(super) fn kept() -> anyhow::Result<Option<Costs>> {
    let Ok(file) = file() else { return Ok(None) };
    let json = match fs::read_to_string(&file) {
        Ok(json) => json,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => bail!("{}: {}", human::path(&file), human::system(&error)),
    };
    let costs = Costs::from_json(&json);
    costs.map(Some).with_context(|| format!("{}: run 'gpusort tune' to replace it", human::path(&file)))
}
