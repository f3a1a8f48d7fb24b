//! A journal of finished units of work, so that a run that was ended goes on where it was.
//!
//! One JSON object a line: a header with the [`Identity`] of the run, then a line for each finished unit. A line is on
//! the disk before the next unit begins. A last line that is incomplete (power cut, `kill -9`, full disk) is dropped.

mod identity;
#[cfg(test)]
mod tests;

pub use identity::{Difference, Differences, Identity};

use crate::units::UnitName;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

/// The file in the folder of the run.
pub const FILE: &str = "journal.jsonl";

#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    #[error(
        "{} belongs to another run ({differences}): choose another folder, or remove that file to begin anew", .path.display()
    )]
    AnotherRun { path: PathBuf, differences: Differences },
    #[error("{} is not a journal of crust: choose another folder, or remove that file to begin anew", .path.display())]
    NoJournal { path: PathBuf },
    #[error("another crust is at work in the folder of {}: wait for it, or choose another folder", .path.display())]
    InUse { path: PathBuf },
    #[error("line {line} of {} is damaged: remove the file to begin anew", .path.display())]
    Damaged { path: PathBuf, line: usize },
    #[error(
        "cannot write {}: {error}; what was finished before is kept: make room, and the same command goes on from there",
        .path.display()
    )]
    Write { path: PathBuf, error: io::Error },
    #[error("cannot read {}: {error}", .path.display())]
    Read { path: PathBuf, error: io::Error },
    #[error("a result cannot be kept: {0}")]
    Value(serde_json::Error),
}

/// Why work ended before its end.
#[derive(Debug, thiserror::Error)]
pub enum Halt<E> {
    /// By the user: what is finished is kept.
    #[error("interrupted")]
    Interrupted,
    #[error(transparent)]
    Work(E),
    #[error(transparent)]
    Journal(JournalError),
    #[error("there are no real data to fit")]
    NoRealData,
}

/// Finished units by name, in memory and, if there is a folder, on the disk.
#[derive(Debug, Default)]
pub struct Journal {
    place: Option<Place>,
    identity: Identity,
    units: BTreeMap<String, Finished>,
}

#[derive(Debug)]
struct Place {
    path: PathBuf,
    file: File,
    /// The end of the last complete line.
    length: u64,
}

#[derive(Clone, Debug)]
struct Finished {
    seconds: f64,
    value: Value,
}

#[derive(Serialize, Deserialize)]
struct Header {
    /// What the file is.
    crust_journal: u32,
    #[serde(flatten)]
    identity: Identity,
}

/// All that is sure to be in the header of any format.
#[derive(Deserialize)]
struct Format {
    crust_journal: u32,
}

#[derive(Serialize, Deserialize)]
struct Line<T> {
    unit: String,
    seconds: f64,
    value: T,
}

/// The format of the journal.
const FORMAT: u32 = 2;

impl Journal {
    /// One that is forgotten at the end.
    pub fn in_memory() -> Self {
        Self::default()
    }

    /// The journal of a run in its folder, which must exist.
    pub fn open(folder: &Path, identity: &Identity) -> Result<Self, JournalError> {
        let path = folder.join(FILE);
        let opened = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&path);
        let mut file = opened.map_err(|error| JournalError::Write { path: path.clone(), error })?;
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => return Err(JournalError::InUse { path }),
            // a file system without locks: two runs at once are the user's own doing
            Ok(()) | Err(TryLockError::Error(_)) => {}
        }
        let mut text = Vec::new();
        file.read_to_end(&mut text).map_err(|error| JournalError::Read { path: path.clone(), error })?;
        let mut journal =
            Self { place: Some(Place { path, file, length: 0 }), identity: identity.clone(), units: BTreeMap::new() };
        journal.take_in(&text)?;
        Ok(journal)
    }

    /// Reads what an earlier run left, or begins.
    fn take_in(&mut self, text: &[u8]) -> Result<(), JournalError> {
        let Some(place) = &mut self.place else { return Ok(()) };
        let mut lines = text.split_inclusive(|&byte| byte == b'\n').filter(|line| line.ends_with(b"\n"));
        let Some(first) = lines.next() else {
            // nothing, or a header that was cut off
            let header = Header { crust_journal: FORMAT, identity: self.identity.clone() };
            return place.append(&header);
        };
        let path = place.path.clone();
        let differences = match FirstLine::read(first) {
            FirstLine::NoJournal => return Err(JournalError::NoJournal { path }),
            theirs => self.identity.differences(theirs.identity()),
        };
        if !differences.0.is_empty() {
            return Err(JournalError::AnotherRun { path, differences });
        }
        let mut length = first.len();
        let complete: Vec<&[u8]> = lines.collect();
        for (index, line) in complete.iter().enumerate() {
            match serde_json::from_slice::<Line<Value>>(line) {
                Ok(Line { unit, seconds, value }) => {
                    self.units.insert(unit, Finished { seconds, value });
                    length += line.len();
                }
                // blocks of a file can reach the disk in any order: the end of the last line may be there without its
                // middle
                Err(_) if index + 1 == complete.len() => {}
                Err(_) => return Err(JournalError::Damaged { path: place.path.clone(), line: index + 2 }),
            }
        }
        place.length = length as u64;
        place.cut().map_err(|error| JournalError::Write { path: place.path.clone(), error })
    }

    /// The value of a unit: from the journal if it was finished before, otherwise from `work`, and then it is kept.
    ///
    /// `work` says `Ok(None)` if it was interrupted.
    pub fn unit<V, E>(&mut self, name: &str, work: impl FnOnce() -> Result<Option<V>, E>) -> Result<V, Halt<E>>
    where
        V: Serialize + DeserializeOwned,
    {
        let value_error = |error| Halt::Journal(JournalError::Value(error));
        if let Some(value) = self.value(name).map_err(Halt::Journal)? {
            return Ok(value);
        }
        let begin = Instant::now();
        let value = work().map_err(Halt::Work)?.ok_or(Halt::Interrupted)?;
        let json = serde_json::to_value(&value).map_err(value_error)?;
        self.keep(name, begin.elapsed().as_secs_f64(), json).map_err(Halt::Journal)?;
        Ok(value)
    }

    /// The value of a unit that is finished.
    pub fn value<V: DeserializeOwned>(&self, name: &str) -> Result<Option<V>, JournalError> {
        self.units.get(name).map(|unit| V::deserialize(&unit.value)).transpose().map_err(JournalError::Value)
    }

    /// Keeps the value of a unit that is finished now.
    pub fn keep(&mut self, name: &str, seconds: f64, value: Value) -> Result<(), JournalError> {
        if let Some(place) = &mut self.place {
            place.append(&Line { unit: name.to_owned(), seconds, value: &value })?;
        }
        self.units.insert(name.to_owned(), Finished { seconds, value });
        Ok(())
    }

    /// Takes units from the journal of another run, which must have done them as this one would. A journal that is not
    /// there, is not one, or is of another build or processor, has none.
    pub fn adopt(&mut self, other: &Path, wanted: impl Fn(&UnitName) -> bool) -> Result<(), JournalError> {
        let text = std::fs::read_to_string(other.join(FILE)).unwrap_or_default();
        let mut lines = text.lines();
        let theirs = FirstLine::read(lines.next().unwrap_or_default().as_bytes());
        // Another program or other options may share units, but never another build or processor.
        let apart = |difference: &Difference| *difference != Difference::Inputs;
        if self.identity.differences(theirs.identity()).0.iter().any(apart) {
            return Ok(());
        }
        for line in lines {
            let Ok(line) = serde_json::from_str::<Line<Value>>(line) else { continue };
            if !line.unit.parse().is_ok_and(|name| wanted(&name)) || self.has(&line.unit) {
                continue;
            }
            if let Some(place) = &mut self.place {
                place.append(&line)?;
            }
            self.units.insert(line.unit, Finished { seconds: line.seconds, value: line.value });
        }
        Ok(())
    }

    /// A journal in memory that has some units of this one. How long they took is no part of it: that went by before.
    #[must_use]
    pub fn with_only(self, wanted: impl Fn(&UnitName) -> bool) -> Self {
        let chosen = self.units.into_iter().filter(|(name, _)| name.parse().is_ok_and(|name| wanted(&name)));
        let units = chosen.map(|(name, unit)| (name, Finished { seconds: 0.0, ..unit })).collect();
        Self { place: None, identity: self.identity, units }
    }

    /// Whether a unit is finished.
    pub fn has(&self, name: &str) -> bool {
        self.units.contains_key(name)
    }

    /// How long the units took that are wanted, whichever run did them.
    pub fn seconds(&self, wanted: impl Fn(&UnitName) -> bool) -> f64 {
        let is_wanted = |name: &str| name.parse().is_ok_and(|name| wanted(&name));
        let wanted = self.units.iter().filter(|(name, _)| is_wanted(name));
        // The sum of nothing would be −0.
        wanted.fold(0.0, |sum, (_, unit)| sum + unit.seconds)
    }
}

impl Place {
    /// Appends a line and waits until it is on the disk. After a failure the file ends where it ended before.
    fn append(&mut self, line: &impl Serialize) -> Result<(), JournalError> {
        let mut text = serde_json::to_vec(line).map_err(JournalError::Value)?;
        text.push(b'\n');
        let written = self.file.seek(SeekFrom::Start(self.length));
        let written = written.and_then(|_| self.file.write_all(&text)).and_then(|()| self.file.sync_data());
        match written {
            Ok(()) => {
                self.length += text.len() as u64;
                Ok(())
            }
            Err(error) => {
                // if this fails too, the next run drops the incomplete line
                let _ = self.cut();
                Err(JournalError::Write { path: self.path.clone(), error })
            }
        }
    }

    fn cut(&mut self) -> io::Result<()> {
        self.file.set_len(self.length)
    }
}

/// The first line of a journal.
enum FirstLine {
    NoJournal,
    /// Of a format that this build does not write.
    OtherFormat,
    Header(Identity),
}

impl FirstLine {
    fn read(line: &[u8]) -> Self {
        match (serde_json::from_slice::<Format>(line), serde_json::from_slice::<Header>(line)) {
            (Err(_), _) => Self::NoJournal,
            (Ok(format), Ok(header)) if format.crust_journal == FORMAT => Self::Header(header.identity),
            _ => Self::OtherFormat,
        }
    }

    fn identity(&self) -> Option<&Identity> {
        match self {
            Self::Header(identity) => Some(identity),
            Self::NoJournal | Self::OtherFormat => None,
        }
    }
}
