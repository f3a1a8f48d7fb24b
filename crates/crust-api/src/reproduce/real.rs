//! The BREAD paper's experiments on real data: five models (Figs. 5 and 6), and two ways to write one (section 5.2).
//!
//! Each of them is an ordinary `bread` or `compare`, with programs and data that are part of this crate.

use crate::annealing::{Annealed, Annealing, Diagnosis, KernelChoice, PathChoice};
use crate::bread::{BreadOptions, bread};
use crate::compare::{CompareOptions, compare};
use crate::error::Error;
use crate::generative::Generation;
use crate::problem::{Problem, Source};
use crate::session::{Message, Nobody, Part, Session};
use crate::webppl::{WebPplProblem, compare_webppl};
use crust_diagnose::ladder::Ladder;
use crust_diagnose::result::{Bread, Compare, RealDataRow, RealDataTable, Simulation};
use std::fs;
use std::path::{Path, PathBuf};

/// A model of the paper with its data.
struct Example {
    name: &'static str,
    program: &'static str,
    data: Option<&'static str>,
    /// As the paper has them.
    hyperparameters: &'static [&'static str],
}

macro_rules! example {
    ($path:literal) => {
        include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/programs/", $path))
    };
}

const EXAMPLES: [Example; 5] = [
    Example {
        name: "linear-regression",
        program: example!("nhefs/linear_regression.stan"),
        data: Some(example!("nhefs/nhefs.json")),
        hyperparameters: &["sigma_sq", "scale_sq"],
    },
    Example {
        name: "logistic-regression",
        program: example!("pima/logistic_regression.stan"),
        data: Some(example!("pima/pima.json")),
        hyperparameters: &["scale_sq"],
    },
    Example {
        name: "matrix-factorization",
        program: example!("movielens/matrix_factorization.stan"),
        // Not ours to pass on.
        data: None,
        hyperparameters: &["scale_u_sq", "scale_v_sq", "sigma_sq"],
    },
    Example {
        name: "autoregression",
        program: example!("google/ar1.stan"),
        data: Some(example!("google/google.json")),
        hyperparameters: &["alpha", "beta", "sigma_sq"],
    },
    Example {
        name: "mixture",
        program: example!("faithful/mixture.stan"),
        data: Some(example!("faithful/faithful.json")),
        hyperparameters: &["scale_sq", "sigma_sq"],
    },
];

/// S, the transitions before the reverse chains, of the paper's Fig. 6. The first is that of the whole protocol.
const START_STEPS: [usize; 4] = [1000, 10, 100, 10_000];

/// The names of the five models.
pub const REAL_MODELS: [&str; 5] =
    [EXAMPLES[0].name, EXAMPLES[1].name, EXAMPLES[2].name, EXAMPLES[3].name, EXAMPLES[4].name];

/// Options of the experiments on real data.
#[derive(Clone, Debug)]
pub struct RealDataOptions {
    /// The largest number of distributions of the standard ladder.
    pub largest: usize,
    /// How many chains in each direction.
    pub chains: usize,
    /// Which of [`REAL_MODELS`]; all if there are none.
    pub models: Vec<String>,
    /// The ratings for the matrix factorization, which may not be passed on.
    pub movielens: Option<Source>,
    /// Programs, data and journals: a run that was ended goes on from there.
    pub folder: PathBuf,
}

impl Default for RealDataOptions {
    fn default() -> Self {
        Self {
            largest: 100_000,
            chains: Annealing::default().chains,
            models: Vec::new(),
            movielens: None,
            folder: PathBuf::from("crust-bread-real"),
        }
    }
}

impl RealDataOptions {
    /// Whether the whole ladder is climbed, which takes long.
    pub fn is_full(&self) -> bool {
        Ladder::default().steps.iter().all(|&t| t <= self.largest)
    }

    /// Those that were asked for.
    fn chosen(&self) -> Result<Vec<&'static Example>, Error> {
        if let Some(unknown) = self.models.iter().find(|name| !REAL_MODELS.contains(&name.as_str())) {
            return Err(Error::Unknown { what: "model", name: unknown.clone(), known: REAL_MODELS.to_vec() });
        }
        let chosen = |example: &&Example| self.models.is_empty() || self.models.iter().any(|m| m == example.name);
        Ok(EXAMPLES.iter().filter(chosen).collect())
    }

    /// What all runs share.
    fn annealing(&self, folder: PathBuf) -> Annealing {
        let standard = Ladder::default().steps;
        let mut steps: Vec<usize> = standard.iter().copied().filter(|t| *t <= self.largest).collect();
        if steps.len() == standard.len() {
            steps.clear();
        }
        Annealing { chains: self.chains, steps, folder: Some(folder), ..Annealing::default() }
    }
}

/// The five models, and whether anything is wrong with them.
#[derive(Clone, Debug)]
pub struct RealDataOutput {
    pub result: RealDataTable,
    pub diagnosis: Diagnosis,
}

/// A text that is also left in a folder for the user.
fn write(folder: &Path, file: &str, text: &str) -> Result<Source, Error> {
    fs::create_dir_all(folder).map_err(Error::folder(folder))?;
    let path = folder.join(file);
    fs::write(&path, text).map_err(Error::write(&path))?;
    Ok(Source::text(path.display().to_string(), text))
}

/// Matrix factorization with one factor summed out, and with both in the program, in both languages: N = 50, K = 5, D =
/// 25. In Stan all parameters move at once, in WebPPL one number at a time, so that paths there are ten times as long
/// (BREAD, Fig. 2).
pub fn representations(options: &RealDataOptions, session: &Session<'_>) -> Result<Annealed<Compare>, Error> {
    options.chosen()?;
    let folder = &options.folder;
    let sizes = write(folder, "sizes.json", example!("factorization/sizes.json"))?;
    let problem = |file: &str, text: &str| Problem::read(write(folder, file, text)?, Some(sizes.clone()));
    let problems = [
        problem("collapsed.stan", example!("factorization/collapsed.stan"))?,
        problem("uncollapsed.stan", example!("factorization/uncollapsed.stan"))?,
    ];
    let annealing = options.annealing(folder.join("result"));
    session.message(Message::Stage("Stan programs …"));
    let stan = compare(&problems, &CompareOptions { annealing, ..CompareOptions::default() }, session)?;
    if stan.result.partial {
        return Ok(stan);
    }
    let problem = |file: &str, text: &str| WebPplProblem::read(write(folder, file, text)?, Some(sizes.clone()), None);
    let problems = [
        problem("collapsed.wppl", example!("factorization/collapsed.wppl"))?,
        problem("uncollapsed.wppl", example!("factorization/uncollapsed.wppl"))?,
    ];
    let mut annealing = options.annealing(folder.join("result-webppl"));
    annealing.steps = annealing.ladder().steps.into_iter().map(|t| t.saturating_mul(10)).collect();
    session.message(Message::Stage("WebPPL programs …"));
    let kernels = vec![KernelChoice::Mh];
    let webppl =
        compare_webppl(&problems, &CompareOptions { annealing, kernels, ..CompareOptions::default() }, session)?;
    Ok(together(stan, webppl))
}

/// Two comparisons as one, with the languages in the names.
fn together(mut stan: Annealed<Compare>, webppl: Annealed<Compare>) -> Annealed<Compare> {
    let (one, other) = (&mut stan.result, webppl.result);
    let named = |name: &str, language: &str| format!("{name}, {language}");
    one.entries.iter_mut().for_each(|entry| entry.name = named(&entry.name, "Stan"));
    stan.timing.rungs.iter_mut().for_each(|rung| rung.name = named(&rung.name, "Stan"));
    let entries = other.entries.into_iter();
    one.entries
        .extend(entries.map(|entry| crust_diagnose::result::Entry { name: named(&entry.name, "WebPPL"), ..entry }));
    let rungs = webppl.timing.rungs.into_iter();
    stan.timing
        .rungs
        .extend(rungs.map(|rung| crust_diagnose::result::RungTime { name: named(&rung.name, "WebPPL"), ..rung }));
    one.run.model = format!("{}, {}", one.run.model, other.run.model);
    one.checks.extend(other.checks);
    one.violation |= other.violation;
    one.partial |= other.partial;
    one.verdict.sentence = format!("Stan: {} WebPPL: {}", one.verdict.sentence, other.verdict.sentence);
    if webppl.diagnosis != Diagnosis::Fine {
        stan.diagnosis = webppl.diagnosis;
        one.verdict.level = other.verdict.level;
    }
    stan
}

/// The five models for several S. Each run is told as a [`Part`].
pub fn real_data(options: &RealDataOptions, session: &Session<'_>) -> Result<RealDataOutput, Error> {
    let chosen = options.chosen()?;
    let mut result = RealDataTable { experiment: "bread-real".to_owned(), rows: Vec::new(), missing: Vec::new() };
    let mut diagnosis = Diagnosis::Fine;
    for example in chosen {
        let own = options.folder.join(example.name);
        let program = write(&own, "model.stan", example.program)?;
        let data = match (example.data, &options.movielens) {
            (Some(text), _) => write(&own, "data.json", text)?,
            (None, Some(ratings)) => ratings.clone(),
            (None, None) => {
                result.missing.push(example.name.to_owned());
                continue;
            }
        };
        let problem = Problem::read(program, Some(data))?;
        for start_steps in START_STEPS {
            session.message(Message::Stage(&format!("{}, S = {start_steps} …", example.name)));
            let folder = own.join(format!("S-{start_steps}"));
            let run = one(&problem, example, start_steps, &own, options, session)?;
            session.observer.part(&Part::RealData { folder: &folder, run: &run })?;
            match run.diagnosis {
                Diagnosis::Partial => return Err(Error::Interrupted),
                Diagnosis::Bad => diagnosis = Diagnosis::Bad,
                Diagnosis::Fine => {}
            }
            result.rows.extend(rows(example.name, start_steps, &run.result));
        }
    }
    Ok(RealDataOutput { result, diagnosis })
}

/// One model and one S, in a folder of its own.
fn one(
    problem: &Problem,
    example: &Example,
    start_steps: usize,
    own: &Path,
    options: &RealDataOptions,
    session: &Session<'_>,
) -> Result<Annealed<Bread>, Error> {
    let folder = |steps: usize| own.join(format!("S-{steps}"));
    let hyper = example.hyperparameters.iter().map(|&name| name.to_owned()).collect();
    let annealing = Annealing {
        tolerance: 0.0,
        path: Some(PathChoice::Prior),
        generation: Generation { hyper: Some(hyper), ..Generation::default() },
        ..options.annealing(folder(start_steps))
    };
    let first = start_steps == START_STEPS[0];
    let standard = BreadOptions::default();
    let wanted = BreadOptions {
        annealing,
        // as the paper has it
        simulate: Some(Simulation::Fitted),
        start_steps: Some(start_steps),
        budget: None,
        // Real and simulated data are compared once.
        replicates: if first { standard.replicates } else { 0 },
        after: (!first).then(|| folder(START_STEPS[0])),
        ..standard
    };
    bread(problem, &wanted, &Session { observer: &Nobody, ..session.clone() })
}

fn rows(model: &str, start_steps: usize, result: &Bread) -> Vec<RealDataRow> {
    let finite = |x: f64| x.is_finite().then_some(x);
    let p_value = result.calibration.as_ref().and_then(|calibration| finite(calibration.p_value));
    let row = |rung: &crust_diagnose::result::Rung| RealDataRow {
        model: model.to_owned(),
        start_steps,
        distributions: rung.t,
        log_ml_lower: rung.log_ml_lower,
        log_ml_upper: rung.log_ml_upper,
        jeffreys_bound: rung.jeffreys_bound,
        jeffreys_se: rung.jeffreys_se,
        real_log_ml_lower: result.real.rungs.iter().find(|r| r.t == rung.t).and_then(|r| finite(r.log_ml_lower)),
        p_value,
    };
    result.simulated.rungs.iter().map(row).collect()
}
