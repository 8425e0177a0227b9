//! A new file that replaces another, on any system.

use std::fs::File;
use std::io::{self, Seek, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use super::under_way::{Registered, undisturbed, until};

/// A new file next to the one it replaces.
pub(super) struct Replacement {
    file: NamedTempFile,
    registered: Registered,
    pub(super) target: PathBuf,
}

impl Replacement {
    pub(super) fn new(target: &Path, folder: &Path, existing: Option<File>) -> io::Result<Self> {
        undisturbed(|| {
            let file = tempfile::Builder::new().prefix(".gpusort-").suffix(".tmp").tempfile_in(folder)?;
            let registered = Registered::new(file.path());
            if let Some(existing) = existing {
                file.as_file().set_permissions(existing.metadata()?.permissions())?;
            }
            Ok(Self { file, registered, target: target.to_owned() })
        })
    }

    pub(super) fn expect(&mut self, _: u64) {}

    pub(super) fn taking(&self) -> u64 {
        0
    }

    pub(super) fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.as_file_mut().write(bytes)
    }

    pub(super) fn place(mut self, last: bool) -> io::Result<()> {
        self.file.as_file_mut().flush()?;
        self.file.stream_position()?;
        let Self { file, registered, target } = self;
        let place = || {
            let placed = file.persist(&target).map(drop).map_err(|error| error.error);
            drop(registered);
            placed
        };
        until(place, |placed| last && placed.is_ok())
    }
}
