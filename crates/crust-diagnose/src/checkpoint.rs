//! A journal of finished units of work, so that a run that was ended goes on where it was.
//!
//! One JSON object a line: a header that names the run by a hash of its inputs and options, then a line for each finished unit. A
//! line is on the disk before the next unit begins. A last line that is incomplete (power cut, `kill -9`, full disk) is dropped.

#[cfg(test)]
mod tests;

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
        "{} belongs to another run: another program, other data, other options or another version of crust; \
         choose another folder, or remove that file to begin anew", .path.display()
    )]
    AnotherRun { path: PathBuf },
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
}

/// Finished units by name, in memory and, if there is a folder, on the disk.
#[derive(Debug, Default)]
pub struct Journal {
    place: Option<Place>,
    units: BTreeMap<String, Unit>,
}

#[derive(Debug)]
struct Place {
    path: PathBuf,
    file: File,
    /// The end of the last complete line.
    length: u64,
}

#[derive(Clone, Debug)]
struct Unit {
    seconds: f64,
    value: Value,
}

#[derive(Serialize, Deserialize)]
struct Header {
    /// What the file is.
    crust_journal: u32,
    hash: String,
}

#[derive(Serialize, Deserialize)]
struct Line<T> {
    unit: String,
    seconds: f64,
    value: T,
}

/// The format of the journal.
const FORMAT: u32 = 1;

impl Journal {
    /// One that is forgotten at the end.
    pub fn in_memory() -> Self {
        Self::default()
    }

    /// The journal of a run in its folder, which must exist. `inputs` is everything that the results depend on.
    pub fn open(folder: &Path, inputs: &[&str]) -> Result<Self, JournalError> {
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
        let hash = hash(inputs);
        let mut journal = Self { place: Some(Place { path, file, length: 0 }), units: BTreeMap::new() };
        journal.take_in(&text, &hash)?;
        Ok(journal)
    }

    /// Reads what an earlier run left, or begins.
    fn take_in(&mut self, text: &[u8], hash: &str) -> Result<(), JournalError> {
        let Some(place) = &mut self.place else { return Ok(()) };
        let mut lines = text.split_inclusive(|&byte| byte == b'\n').filter(|line| line.ends_with(b"\n"));
        let Some(first) = lines.next() else {
            // nothing, or a header that was cut off
            let header = Header { crust_journal: FORMAT, hash: hash.to_owned() };
            return place.append(&header);
        };
        let another = |path: &Path| JournalError::AnotherRun { path: path.to_owned() };
        let header: Header = serde_json::from_slice(first).map_err(|_| another(&place.path))?;
        if header.crust_journal != FORMAT || header.hash != hash {
            return Err(another(&place.path));
        }
        let mut length = first.len();
        let complete: Vec<&[u8]> = lines.collect();
        for (index, line) in complete.iter().enumerate() {
            match serde_json::from_slice::<Line<Value>>(line) {
                Ok(Line { unit, seconds, value }) => {
                    self.units.insert(unit, Unit { seconds, value });
                    length += line.len();
                }
                // blocks of a file can reach the disk in any order: the end of the last line may be there without its middle
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
        if let Some(unit) = self.units.get(name) {
            return V::deserialize(&unit.value).map_err(|e| Halt::Journal(JournalError::Value(e)));
        }
        let begin = Instant::now();
        let value = work().map_err(Halt::Work)?.ok_or(Halt::Interrupted)?;
        let seconds = begin.elapsed().as_secs_f64();
        let json = serde_json::to_value(&value).map_err(|e| Halt::Journal(JournalError::Value(e)))?;
        if let Some(place) = &mut self.place {
            place.append(&Line { unit: name.to_owned(), seconds, value: &json }).map_err(Halt::Journal)?;
        }
        self.units.insert(name.to_owned(), Unit { seconds, value: json });
        Ok(value)
    }

    /// Takes units from the journal of another run, which must have done them as this one would. A journal that is not there, or is not
    /// one, has none.
    pub fn adopt(&mut self, other: &Path, wanted: impl Fn(&str) -> bool) -> Result<(), JournalError> {
        let text = std::fs::read_to_string(other.join(FILE)).unwrap_or_default();
        for line in text.lines().skip(1) {
            let Ok(line) = serde_json::from_str::<Line<Value>>(line) else { continue };
            if !wanted(&line.unit) || self.has(&line.unit) {
                continue;
            }
            if let Some(place) = &mut self.place {
                place.append(&line)?;
            }
            self.units.insert(line.unit, Unit { seconds: line.seconds, value: line.value });
        }
        Ok(())
    }

    /// Whether a unit is finished.
    pub fn has(&self, name: &str) -> bool {
        self.units.contains_key(name)
    }

    /// How long the units took whose names begin so, whichever run did them.
    pub fn seconds(&self, prefix: &str) -> f64 {
        self.units
            .range(prefix.to_owned()..)
            .take_while(|(name, _)| name.starts_with(prefix))
            .map(|(_, u)| u.seconds)
            .sum()
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

/// FNV-1a with 128 bits over the texts and their lengths: two runs that a person has do not meet by chance.
fn hash(inputs: &[&str]) -> String {
    const OFFSET: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
    const PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;
    let mut state = OFFSET;
    let mut take = |bytes: &[u8]| bytes.iter().for_each(|&b| state = (state ^ u128::from(b)).wrapping_mul(PRIME));
    for input in inputs {
        take(&(input.len() as u64).to_le_bytes());
        take(input.as_bytes());
    }
    format!("{state:032x}")
}
