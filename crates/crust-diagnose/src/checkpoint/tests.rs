//! Journals that are cut off, damaged, of another run, or in use.

use super::*;
use std::convert::Infallible;
use std::fs;

/// A folder that is removed at the end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("crust-journal-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).expect("a folder");
        Self(path)
    }

    fn file(&self) -> PathBuf {
        self.0.join(FILE)
    }

    fn open(&self) -> Result<Journal, JournalError> {
        Journal::open(&self.0, &Identity::of(&["program", "data"]))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn compute(journal: &mut Journal, name: &str, value: &[f64]) -> Vec<f64> {
    journal.unit(name, || Ok::<_, Infallible>(Some(value.to_vec()))).expect("a value")
}

fn recall(journal: &mut Journal, name: &str) -> Option<Vec<f64>> {
    journal.unit(name, || Ok::<_, Infallible>(None)).ok()
}

const NUMBERS: [f64; 4] = [0.1 + 0.2, -1e-310, 12345.678e200, -0.0];

#[test]
fn units_are_done_once_and_kept_to_the_last_bit() {
    let folder = Folder::new("kept");
    let mut journal = folder.open().expect("a new journal");
    compute(&mut journal, "a", &NUMBERS);
    assert_eq!(compute(&mut journal, "a", &[7.0]), NUMBERS, "not done again");
    assert!(recall(&mut journal, "b").is_none(), "an interrupted unit is not finished");
    drop(journal);
    let mut journal = folder.open().expect("the same journal");
    let kept = recall(&mut journal, "a").expect("kept");
    assert!(kept.iter().zip(NUMBERS).all(|(a, b)| a.to_bits() == b.to_bits()));
    assert!(journal.has("a") && !journal.has("b"));
    for (dataset, seconds) in [(1, 2.5), (2, 4.0)] {
        journal.keep(&format!("pilot/{dataset}"), seconds, Value::Null).expect("kept");
    }
    let seconds = |dataset: u32| journal.seconds(|name| name.dataset == dataset);
    assert_eq!((seconds(1), seconds(2), seconds(3)), (2.5, 4.0, 0.0), "names that are no units do not count");
}

#[test]
fn every_cut_leaves_the_complete_lines() {
    let folder = Folder::new("cut");
    let mut journal = folder.open().expect("a new journal");
    compute(&mut journal, "a", &[1.0]);
    let first = fs::read(folder.file()).expect("a file").len();
    compute(&mut journal, "b", &[2.0]);
    drop(journal);
    let whole = fs::read(folder.file()).expect("a file");
    let header = whole.iter().position(|&b| b == b'\n').expect("a header") + 1;
    for length in 0..=whole.len() {
        fs::write(folder.file(), &whole[..length]).expect("written");
        let mut journal = folder.open().expect("readable whatever is missing");
        assert_eq!(journal.has("a"), length >= first, "cut at {length}");
        assert_eq!(journal.has("b"), length == whole.len(), "cut at {length}");
        compute(&mut journal, "c", &[3.0]);
        drop(journal);
        let mut again = folder.open().expect("it goes on cleanly");
        assert_eq!(recall(&mut again, "c"), Some(vec![3.0]), "cut at {length} (header {header})");
    }
}

#[test]
fn other_runs_and_damage_are_refused() {
    let folder = Folder::new("other");
    let mut journal = folder.open().expect("a new journal");
    compute(&mut journal, "a", &[1.0]);
    compute(&mut journal, "b", &[1.0]);
    assert!(matches!(folder.open(), Err(JournalError::InUse { .. })));
    drop(journal);
    // the same bytes, divided in another way, are another run
    for inputs in [["program", "other"], ["programd", "ata"]] {
        let refused = Journal::open(&folder.0, &Identity::of(&inputs)).expect_err("another run").to_string();
        assert!(refused.contains("(another program, data or options)"), "{refused}");
    }
    let text = fs::read_to_string(folder.file()).expect("a file");
    fs::write(folder.file(), text.replacen("\"unit\":\"a\"", "\"unit\":", 1)).expect("written");
    assert!(matches!(folder.open(), Err(JournalError::Damaged { line: 2, .. })));
    fs::write(folder.file(), "this is no journal\n").expect("written");
    assert!(matches!(folder.open(), Err(JournalError::NoJournal { .. })));
}

/// A header says by which build and where it was made; which of the three is another one is told.
#[test]
fn other_builds_and_processors_are_told_apart() {
    let folder = Folder::new("builds");
    drop(folder.open().expect("a new journal"));
    let text = fs::read_to_string(folder.file()).expect("a file");
    let own: Header = serde_json::from_str(&text).expect("a header");
    let other = |part: &str, value: &str| text.replacen(&format!("\"{part}\":\""), &format!("\"{part}\":\"{value}"), 1);
    let build = other("build", "0");
    let cases = [
        (build.clone(), "(made by another build of crust)"),
        (other("processor", "quantum "), "(made on a processor with other vector instructions)"),
        (
            build.replacen("\"inputs\":\"", "\"inputs\":\"0", 1),
            "(another program, data or options; made by another build of crust)",
        ),
        ("{\"crust_journal\":1,\"hash\":\"0\"}\n".to_owned(), "(made by another build of crust)"),
    ];
    for (text, words) in cases {
        fs::write(folder.file(), &text).expect("written");
        let refused = folder.open().expect_err("refused").to_string();
        assert!(refused.contains(words), "{refused}");
        // and nothing is taken from it, either
        let mut journal = Journal { identity: own.identity.clone(), ..Journal::default() };
        fs::write(folder.file(), text + "{\"unit\":\"rank/1\",\"seconds\":0.0,\"value\":1.0}\n").expect("written");
        journal.adopt(&folder.0, |_| true).expect("nothing");
        assert!(!journal.has("rank/1"));
    }
}

#[test]
fn a_folder_that_is_not_there_is_told() {
    let error = Journal::open(Path::new("/nowhere/at/all"), &Identity::of(&[])).expect_err("no folder");
    assert!(error.to_string().contains("cannot write"));
}

/// A full disk, as Linux has one for tests.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_told_and_does_no_harm() {
    let folder = Folder::new("full");
    let mut journal = folder.open().expect("a new journal");
    compute(&mut journal, "a", &[1.0]);
    let place = journal.place.as_mut().expect("a file");
    let file = std::mem::replace(&mut place.file, OpenOptions::new().write(true).open("/dev/full").expect("/dev/full"));
    let failed = journal.unit("b", || Ok::<_, Infallible>(Some(1.0)));
    assert!(matches!(failed, Err(Halt::Journal(JournalError::Write { .. }))));
    drop((journal, file));
    let journal = folder.open().expect("intact");
    assert!(journal.has("a") && !journal.has("b"));
}

#[test]
fn units_of_another_run_are_adopted() {
    let (first, second) = (Folder::new("first"), Folder::new("second"));
    let mut journal = first.open().expect("a new journal");
    compute(&mut journal, "pilot/1", &NUMBERS);
    compute(&mut journal, "starts/1", &[1.0]);
    let mut other = second.open().expect("a new journal");
    other.adopt(&first.0, |name| name.part == crate::units::Part::Pilot).expect("units");
    other.adopt(&first.0.join("nowhere"), |_| true).expect("nothing");
    drop(other);
    let mut other = second.open().expect("the same journal");
    assert_eq!(recall(&mut other, "pilot/1"), Some(NUMBERS.to_vec()));
    assert!(!other.has("starts/1"));
}

/// Another way to do the rest takes the fit and nothing else, and has spent no time on it.
#[test]
fn chosen_units_go_on_in_a_new_journal() {
    let mut journal = Journal::in_memory();
    for name in ["before", "fit/0", "pilot/1", "anneal/1/10/forward/0"] {
        compute(&mut journal, name, &[1.5]);
    }
    let mut other = journal.with_only(|unit| unit.part == crate::units::Part::Fit);
    assert_eq!(recall(&mut other, "fit/0"), Some(vec![1.5]));
    assert!(["before", "pilot/1", "anneal/1/10/forward/0"].iter().all(|name| !other.has(name)));
    assert!(other.seconds(|_| true) == 0.0);
}
