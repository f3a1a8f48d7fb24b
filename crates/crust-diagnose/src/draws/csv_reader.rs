//! Reads chains that crust, `CmdStan` or rstan wrote, also with warm-up draws, thinned, or cut short by an
//! interruption.

use super::configuration::{Adaptation, Elapsed, InverseMetric, Settings};
use super::{Chain, Draws, Phase};
use std::collections::HashSet;
use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};

/// One chain's file.
#[derive(Clone, Debug, PartialEq)]
pub struct CsvChain {
    pub sampler_names: Vec<String>,
    pub names: Vec<String>,
    pub chain: Chain,
    pub comments: Comments,
}

/// What a file says besides its draws.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Comments {
    pub settings: Settings,
    pub adaptation: Option<Adaptation>,
    pub elapsed: Option<Elapsed>,
    /// The last line, counted from 1, where it was incomplete and hence left out: the run was interrupted.
    pub incomplete_line: Option<usize>,
}

/// A file that cannot be used, and why.
#[derive(Debug, thiserror::Error)]
#[error("{}: {problem}", path.display())]
pub struct CsvError {
    pub path: PathBuf,
    #[source]
    pub problem: CsvProblem,
}

/// Why a file cannot be used. Lines and columns count from 1.
#[derive(Debug, thiserror::Error)]
pub enum CsvProblem {
    #[error("cannot be read: {0}")]
    Io(#[from] io::Error),
    #[error("there is no line with the names of the columns; was the run stopped before its first draw?")]
    NoHeader,
    #[error("line {line}: two columns have the name {name}")]
    RepeatedName { line: usize, name: String },
    #[error("line {line}, column {column} ({name}): {text:?} is not a number")]
    NotANumber { line: usize, column: usize, name: String, text: String },
    #[error("line {line} has {found} values, but the header has {expected} columns")]
    Width { line: usize, found: usize, expected: usize },
    #[error("its columns are not those of {}: {difference}", first.display())]
    OtherColumns { first: PathBuf, difference: String },
}

/// Reads the chains of one run, a file for each.
pub fn read_files<P: AsRef<Path>>(paths: &[P]) -> Result<(Draws, Vec<Comments>), CsvError> {
    let mut draws = Draws::default();
    let mut comments = Vec::new();
    for path in paths.iter().map(AsRef::as_ref) {
        let error = |problem| CsvError { path: path.to_owned(), problem };
        let file = File::open(path).map_err(|problem| error(problem.into()))?;
        let csv = read_chain(BufReader::new(file)).map_err(error)?;
        let next = Draws { sampler_names: csv.sampler_names, names: csv.names, chains: vec![csv.chain] };
        comments.push(csv.comments);
        if draws.chains.is_empty() {
            draws = next;
        } else if let Some(difference) = difference(&draws, &next) {
            let first = paths[0].as_ref().to_owned();
            return Err(error(CsvProblem::OtherColumns { first, difference }));
        } else {
            draws.chains.extend(next.chains);
        }
    }
    Ok((draws, comments))
}

/// The first column in which a file differs from those before it.
pub(super) fn difference(draws: &Draws, other: &Draws) -> Option<String> {
    let expected: Vec<&String> = draws.sampler_names.iter().chain(&draws.names).collect();
    let found: Vec<&String> = other.sampler_names.iter().chain(&other.names).collect();
    if expected == found {
        return None;
    }
    let first = expected.iter().zip(&found).find(|(a, b)| a != b);
    Some(match first {
        Some((expected, found)) => format!("{found} in place of {expected}"),
        None => format!("{} in place of {}", found.len(), expected.len()),
    })
}

/// Reads one chain.
pub fn read_chain(mut input: impl BufRead) -> Result<CsvChain, CsvProblem> {
    let mut reader = Reader::default();
    let mut bytes = Vec::new();
    loop {
        bytes.clear();
        if input.read_until(b'\n', &mut bytes)? == 0 {
            return reader.finish();
        }
        // comments may hold file names in any encoding
        let text = String::from_utf8_lossy(&bytes);
        reader.line(text.trim_start_matches('\u{feff}'))?;
    }
}

/// A value outside the header's columns never gets here: there are as many places as columns.
#[derive(Clone, Copy, Debug)]
enum Place {
    Sampler,
    Quantity,
}

/// The lines of the inverse metric that may follow.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum Expected {
    #[default]
    Nothing,
    Diagonal,
    Rows,
}

#[derive(Debug, Default)]
struct Reader {
    /// The number of the current line.
    line: usize,
    columns: Vec<(String, Place)>,
    sampler_row: Vec<f64>,
    quantity_row: Vec<f64>,
    warmup: Option<Phase>,
    current: Phase,
    comments: Comments,
    expected: Expected,
    /// A row with too few values: harmless if it is the last.
    short: Option<CsvProblem>,
}

impl Reader {
    fn line(&mut self, line: &str) -> Result<(), CsvProblem> {
        self.line += 1;
        let complete = line.ends_with('\n');
        let text = line.trim_end();
        if let Some(comment) = text.strip_prefix('#') {
            self.comment(comment);
            return Ok(());
        }
        if text.trim_start().is_empty() {
            return Ok(());
        }
        if self.columns.is_empty() {
            return if complete { self.header(text) } else { Err(CsvProblem::NoHeader) };
        }
        if let Some(problem) = self.short.take() {
            return Err(problem);
        }
        if !complete {
            // even with all its columns, the last number may have lost digits
            self.comments.incomplete_line = Some(self.line);
            return Ok(());
        }
        self.row(text)
    }

    fn header(&mut self, text: &str) -> Result<(), CsvProblem> {
        let mut seen = HashSet::new();
        for (column, name) in header_names(text).into_iter().enumerate() {
            // The numbers of rows, as R and pandas write them, have no name.
            let name = if name.is_empty() && column == 0 { "row__".to_owned() } else { name };
            if name.is_empty() || name.parse::<f64>().is_ok() {
                return Err(CsvProblem::NoHeader);
            }
            if !seen.insert(name.clone()) {
                return Err(CsvProblem::RepeatedName { line: self.line, name });
            }
            // Stan's identifiers cannot end in two underscores: these are the sampler's
            let place = if name.ends_with("__") { Place::Sampler } else { Place::Quantity };
            self.columns.push((name, place));
        }
        self.current = self.no_draws();
        Ok(())
    }

    fn no_draws(&self) -> Phase {
        let sampler = self.columns.iter().filter(|(_, place)| matches!(place, Place::Sampler)).count();
        Phase::new(sampler, self.columns.len() - sampler)
    }

    fn row(&mut self, text: &str) -> Result<(), CsvProblem> {
        self.sampler_row.clear();
        self.quantity_row.clear();
        let (line, expected) = (self.line, self.columns.len());
        let found = text.split(',').count();
        let problem = CsvProblem::Width { line, found, expected };
        if found < expected {
            self.short = Some(problem);
            return Ok(());
        }
        if found > expected {
            return Err(problem);
        }
        for (field, (column, (name, place))) in text.split(',').zip(self.columns.iter().enumerate()) {
            let text = field.trim().trim_matches('"');
            if name == "row__" {
                // may be anything
                self.sampler_row.push(text.parse().unwrap_or(f64::NAN));
                continue;
            }
            let value = text.parse().map_err(|_| CsvProblem::NotANumber {
                line,
                column: column + 1,
                name: name.clone(),
                text: text.to_owned(),
            })?;
            match place {
                Place::Sampler => self.sampler_row.push(value),
                Place::Quantity => self.quantity_row.push(value),
            }
        }
        self.current.push(&self.sampler_row, &self.quantity_row);
        Ok(())
    }

    fn comment(&mut self, comment: &str) {
        let text = comment.trim();
        if self.columns.is_empty() {
            self.comments.settings.add(comment);
        } else if text.starts_with("Adaptation terminated") {
            self.end_warmup();
        } else if let Some(step_size) = text.strip_prefix("Step size =") {
            self.end_warmup();
            let step_size = step_size.trim().parse().unwrap_or(f64::NAN);
            self.comments.adaptation = Some(Adaptation { step_size, inverse_metric: InverseMetric::Unit });
        } else if text.starts_with("Diagonal elements of inverse") {
            self.expected = Expected::Diagonal;
        } else if text.starts_with("Elements of inverse") {
            self.expected = Expected::Rows;
        } else if let Some((time, phase)) = text.split_once(" seconds (") {
            self.elapsed(time, phase);
        } else if self.expected != Expected::Nothing {
            self.metric_row(text);
        }
    }

    /// The draws so far were warm-up draws.
    fn end_warmup(&mut self) {
        if self.warmup.is_none() {
            let none = self.no_draws();
            self.warmup = Some(std::mem::replace(&mut self.current, none));
        }
    }

    fn metric_row(&mut self, text: &str) {
        let row: Result<Vec<f64>, _> = text.split(',').map(|x| x.trim().parse()).collect();
        let (Ok(row), Some(adaptation)) = (row, &mut self.comments.adaptation) else {
            self.expected = Expected::Nothing;
            return;
        };
        match (self.expected, &mut adaptation.inverse_metric) {
            (Expected::Rows, InverseMetric::Dense(rows)) => rows.push(row),
            (Expected::Rows, metric) => *metric = InverseMetric::Dense(vec![row]),
            (_, metric) => {
                *metric = InverseMetric::Diagonal(row);
                self.expected = Expected::Nothing;
            }
        }
    }

    fn elapsed(&mut self, time: &str, phase: &str) {
        let time = time.trim_start_matches("Elapsed Time:").trim().parse();
        let elapsed = self.comments.elapsed.get_or_insert_default();
        match (phase, time) {
            ("Warm-up)", Ok(seconds)) => elapsed.warmup = seconds,
            ("Sampling)", Ok(seconds)) => elapsed.sampling = seconds,
            _ => {}
        }
    }

    fn finish(mut self) -> Result<CsvChain, CsvProblem> {
        if self.columns.is_empty() {
            return Err(CsvProblem::NoHeader);
        }
        if let Some(CsvProblem::Width { line, .. }) = self.short {
            self.comments.incomplete_line = Some(line);
        }
        let mut sampling = std::mem::take(&mut self.current);
        let warmup = match self.warmup.take() {
            Some(warmup) => warmup,
            None => split_front(&mut sampling, saved_warmup(&self.comments.settings)),
        };
        if self.comments.settings.get("method") == Some("variational") {
            // ADVI's first row is the mean of the approximation, not a draw of it.
            split_front(&mut sampling, 1);
        }
        let named = |wanted: fn(&Place) -> bool| {
            self.columns.iter().filter(|(_, place)| wanted(place)).map(|(name, _)| name.clone()).collect()
        };
        Ok(CsvChain {
            sampler_names: named(|place| matches!(place, Place::Sampler)),
            names: named(|place| matches!(place, Place::Quantity)),
            chain: Chain { warmup, sampling },
            comments: self.comments,
        })
    }
}

/// The names of columns, which may be quoted: `"L[1,2]"` has a comma of its own.
fn header_names(text: &str) -> Vec<String> {
    let mut names = vec![String::new()];
    let (mut quoted, mut depth) = (false, 0_usize);
    for letter in text.chars() {
        match letter {
            '"' => quoted = !quoted,
            ',' if !quoted && depth == 0 => names.push(String::new()),
            other => {
                match other {
                    '[' => depth += 1,
                    ']' => depth = depth.saturating_sub(1),
                    _ => {}
                }
                if let Some(name) = names.last_mut() {
                    name.push(other);
                }
            }
        }
    }
    names.iter().map(|name| name.trim().to_owned()).collect()
}

/// How many warm-up draws a run saves that never says where its warm-up ends: because it was interrupted or did not
/// adapt.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count; saturates")]
fn saved_warmup(settings: &Settings) -> usize {
    if settings.number("save_warmup").is_none_or(|save| save == 0.0) || settings.get("algorithm") == Some("fixed_param")
    {
        return 0;
    }
    let warmup = settings.num_warmup().unwrap_or(0.0);
    let thin = settings.number("thin").unwrap_or(1.0).max(1.0);
    // the first of every `thin` draws is kept
    (warmup / thin).ceil() as usize
}

/// Takes the first draws away.
fn split_front(phase: &mut Phase, count: usize) -> Phase {
    let count = count.min(phase.len());
    let take = |columns: &mut Vec<Vec<f64>>| columns.iter_mut().map(|column| column.drain(..count).collect()).collect();
    Phase { sampler: take(&mut phase.sampler), quantities: take(&mut phase.quantities) }
}
