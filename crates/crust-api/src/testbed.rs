//! `crust testbed`: how good estimators of the marginal likelihood are, on simulated data where it is known.

mod convert;

use crate::annealing::{Diagnosis, journal};
use crate::error::Error;
use crate::session::{Observer, Part, Progress, Session, Unit};
use crust_diagnose::result::{Testbed, TestbedTiming};
use crust_diagnose::sandwich::LEVEL;
use crust_testbed::comparison::{Task, Which};
use crust_testbed::roster::{Effort, Family};
use crust_testbed::trials::{Trials, Watcher};
use std::path::PathBuf;

/// Options of `testbed`.
#[derive(Clone, Debug, Default)]
pub struct TestbedOptions {
    /// Small data and short runs, to see that everything works.
    pub quick: bool,
    /// Which models, by name; all if there are none.
    pub models: Vec<String>,
    /// Which estimators, by name; all if there are none.
    pub estimators: Vec<String>,
    /// How often each estimator is run at each setting; 25 unless told otherwise, 5 for a quick run.
    pub trials: Option<u32>,
    /// Keeps the files of other runs from being overwritten, and two runs from one folder.
    pub folder: Option<PathBuf>,
}

/// What came of all models that were finished.
#[derive(Clone, Debug)]
pub struct TestbedOutput {
    pub result: Testbed,
    pub timing: TestbedTiming,
    pub diagnosis: Diagnosis,
}

/// Runs all estimators on all models. Each model that is finished is told at once, as a [`Part`]; what is stopped is
/// left out.
pub fn testbed(options: &TestbedOptions, session: &Session<'_>) -> Result<TestbedOutput, Error> {
    let models = chosen(&options.models, &Which::ALL, Which::id, "model")?;
    let families = chosen(&options.estimators, &Family::ALL, Family::id, "estimator")?;
    let threads = session.threads();
    let trials = options.trials.unwrap_or(if options.quick { 5 } else { 25 });
    if trials < 2 {
        return Err(Error::option("trials", trials, "must be at least 2"));
    }
    let task = Task {
        families,
        effort: if options.quick { Effort::Quick } else { Effort::Full },
        trials: Trials { count: trials, seed: session.seed, threads },
    };
    let settings = format!("testbed {models:?} {:?} {:?} {trials} {}", task.families, task.effort, session.seed);
    let _journal = journal(options.folder.as_deref(), &[&settings])?;
    let mut result = Testbed {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        quick: options.quick,
        seed: session.seed,
        trials,
        models: vec![],
        partial: true,
    };
    let mut timing = TestbedTiming { threads: threads.get(), models: vec![] };
    for &model in &models {
        let (findings, rows) = match model.run(&task, session.stop.control(), &Bar(session.observer)) {
            Err(error) if error.is_interruption() => break,
            found => found.map_err(|error| Error::Testbed { model: model.words(), error })?,
        };
        let comparisons = if options.quick { vec![] } else { model.compare(&findings.rows, &rows) };
        timing.models.push(convert::timing(model, &rows, &comparisons));
        result.models.push(convert::model(findings));
        result.partial = result.models.len() < models.len();
        session.observer.part(&Part::Testbed { result: &result, timing: &timing })?;
    }
    let diagnosis = match &result {
        result if result.models.iter().any(|model| model.truth.p_value < LEVEL) => Diagnosis::Bad,
        result if result.partial => Diagnosis::Partial,
        _ => Diagnosis::Fine,
    };
    Ok(TestbedOutput { result, timing, diagnosis })
}

/// Those that were asked for by name; all if none was.
fn chosen<T: Copy + PartialEq>(
    names: &[String],
    all: &[T],
    id: impl Fn(T) -> &'static str,
    what: &'static str,
) -> Result<Vec<T>, Error> {
    if names.is_empty() {
        return Ok(all.to_vec());
    }
    let mut found = vec![];
    for name in names {
        let Some(&one) = all.iter().find(|one| id(**one) == name) else {
            let known = all.iter().map(|one| id(*one)).collect();
            return Err(Error::Unknown { what, name: name.clone(), known });
        };
        if !found.contains(&one) {
            found.push(one);
        }
    }
    Ok(found)
}

/// Trials that are finished.
struct Bar<'a>(&'a dyn Observer);

impl Watcher for Bar<'_> {
    fn begin(&self, what: &str, trials: usize) {
        self.0.progress(&Progress::Begin { what, total: trials as u64, unit: Unit::Trials });
    }

    fn finished(&self) {
        self.0.progress(&Progress::Advance(1));
    }
}
