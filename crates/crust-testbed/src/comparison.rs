//! The experiment of sections 6.2 and 6.4: all estimators on simulated data of the three models, against ground truth.

use crust_infer::drive::Control;
use crust_math::random::{Purpose, StreamKey};
use serde::Serialize;

use crate::estimators::{Error, Problem};
use crate::model::Simulate;
use crate::models::hyper::{Probabilities, Weights};
use crate::models::{binary, clustering, low_rank};
use crate::roster::{Complete, Effort, Family, roster};
use crate::trials::{self, GroundTruth, Row, Times, Trials, Watcher};

/// The models of section 6.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Which {
    Clustering,
    LowRank,
    Binary,
}

/// What is to be done.
#[derive(Clone, Debug)]
pub struct Task {
    pub families: Vec<Family>,
    pub effort: Effort,
    pub trials: Trials,
}

/// What came out, the same for every run with the same seed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Findings {
    pub model: Which,
    pub cases: usize,
    pub truth: GroundTruth,
    pub rows: Vec<Row>,
}

/// A result that the paper reports in words.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct PaperResult {
    pub estimator: &'static str,
    pub seconds: f64,
    /// Of single trials.
    pub rmse: f64,
}

impl PaperResult {
    /// Particle learning is one algorithm, with any number of particles.
    fn is_of(&self, row: &Row) -> bool {
        row.estimator.split(' ').next() == Some(self.estimator)
    }
}

/// One of the paper's results beside the fastest row that is at least as accurate.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Comparison {
    pub model: Which,
    pub paper: PaperResult,
    /// None if no setting of the knob was as accurate.
    pub ours: Option<Ours>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Ours {
    pub estimator: &'static str,
    pub knob: crate::estimators::Knob,
    pub seconds: f64,
    pub rmse: f64,
    /// The paper's seconds over ours.
    pub times_faster: f64,
}

impl Which {
    pub const ALL: [Self; 3] = [Self::Clustering, Self::LowRank, Self::Binary];

    pub fn id(self) -> &'static str {
        match self {
            Self::Clustering => "clustering",
            Self::LowRank => "low-rank",
            Self::Binary => "binary",
        }
    }

    pub fn words(self) -> &'static str {
        match self {
            Self::Clustering => "clustering",
            Self::LowRank => "low rank",
            Self::Binary => "binary attributes",
        }
    }

    /// The greatest setting of a family's knob, so that the whole experiment takes minutes: moves of low rank in the
    /// constrained prior are one number at a time, and sweeps of binary attributes are the slowest.
    fn greatest(self, family: Family) -> usize {
        match (self, family) {
            (Self::LowRank, Family::NestedSampling) | (Self::Binary, Family::TemperedSmc) => 3,
            (Self::LowRank, Family::NestedParticles) => 0,
            (Self::LowRank, Family::SmcParticles) => 64,
            (Self::Binary, Family::NestedSampling) => 10,
            (Self::Binary, Family::HarmonicMean) => 1000,
            (Self::Binary, Family::BothDirections | Family::Bridge | Family::SteppingStone | Family::Thermodynamic) => {
                300
            }
            _ => usize::MAX,
        }
    }

    /// Section 6.4. The computer is not named there.
    pub fn paper(self) -> Vec<PaperResult> {
        let of = |estimator, seconds, rmse| PaperResult { estimator, seconds, rmse };
        match self {
            Self::Clustering => vec![of("SMC", 9.7, 4.6), of("AIS", 37.8, 7.0), of("NS", 51.2, 5.7)],
            Self::LowRank => vec![of("AIS", 1.6, 8.6)],
            Self::Binary => vec![of("AIS", 990.0, 7.5), of("NS", 906.0, 9.0), of("SMC", 4140.0, 4.7)],
        }
    }

    /// Simulates data, finds their marginal likelihood, and runs the trials.
    pub fn run(self, task: &Task, control: &Control, watcher: &dyn Watcher) -> Result<(Findings, Vec<Times>), Error> {
        match self {
            Self::Clustering => {
                let small = clustering::Prior { components: 3, weights: Weights::equal(3), ..paper_clustering().prior };
                let setting = clustering::Setting { cases: SMALL.0, dimensions: SMALL.1, prior: small };
                run::<clustering::Clustering>(self, [setting, paper_clustering()], task, control, watcher)
            }
            Self::LowRank => {
                let paper = low_rank::Setting::paper();
                let small = low_rank::Prior { components: 2, ..paper.prior };
                let setting = low_rank::Setting { cases: SMALL.0, dimensions: SMALL.1, prior: small };
                run::<low_rank::LowRank>(self, [setting, paper], task, control, watcher)
            }
            Self::Binary => {
                let paper = binary::Setting::paper();
                let probabilities = Probabilities::Fixed(vec![0.5; 3]);
                let small = binary::Prior { components: 3, probabilities, ..paper.prior.clone() };
                let setting = binary::Setting { cases: SMALL.0, dimensions: SMALL.1, prior: small };
                run::<binary::BinaryAttributes>(self, [setting, paper], task, control, watcher)
            }
        }
    }

    /// Each of the paper's results beside ours.
    pub fn compare(self, rows: &[Row], times: &[Times]) -> Vec<Comparison> {
        let ours = |paper: &PaperResult| {
            let rows = rows.iter().zip(times).filter(|(row, _)| paper.is_of(row));
            let accurate = rows.filter(|(row, _)| row.rmse <= paper.rmse);
            let (row, time) = accurate.min_by(|a, b| a.1.seconds.total_cmp(&b.1.seconds))?;
            let times_faster = paper.seconds / time.seconds;
            Some(Ours { estimator: row.estimator, knob: row.knob, seconds: time.seconds, rmse: row.rmse, times_faster })
        };
        let ran = |paper: &&PaperResult| rows.iter().any(|row| paper.is_of(row));
        let comparison = |paper: &PaperResult| Comparison { model: self, paper: *paper, ours: ours(paper) };
        self.paper().iter().filter(ran).map(comparison).collect()
    }
}

/// N and D of a quick run.
const SMALL: (usize, usize) = (15, 6);

fn paper_clustering() -> clustering::Setting {
    clustering::Setting::paper()
}

/// T and the number of chains in each direction for the ground truth.
fn sandwich(effort: Effort) -> (usize, u32) {
    match effort {
        Effort::Quick => (1000, 10),
        Effort::Full => (20_000, 10),
    }
}

/// `settings` are those of a quick run and of a full one.
fn run<M: Complete + Simulate>(
    which: Which,
    settings: [M::Setting; 2],
    task: &Task,
    control: &Control,
    watcher: &dyn Watcher,
) -> Result<(Findings, Vec<Times>), Error> {
    let [small, paper] = settings;
    let setting = if task.effort == Effort::Quick { small } else { paper };
    let dataset = Which::ALL.iter().zip(0..).find(|(w, _)| **w == which).map_or(0, |(_, n)| n);
    let key = StreamKey::new(task.trials.seed, Purpose::DATA).dataset(dataset);
    let (model, exact) = M::simulate(&setting, &mut key.stream())?;
    let problem = Problem { model: &model, exact: Some(&exact), control };
    watcher.begin(&format!("{}: ground truth", which.words()), 0);
    let (distributions, chains) = sandwich(task.effort);
    let truth = trials::ground_truth(&problem, distributions, chains, &task.trials)?;
    let roster = roster(&task.families, task.effort, |family| which.greatest(family));
    watcher
        .begin(&format!("{}: {} estimators", which.words(), roster.len()), roster.len() * task.trials.count as usize);
    let (rows, times) = trials::run(&problem, &roster, truth.log_ml, &task.trials, watcher)?;
    Ok((Findings { model: which, cases: model.cases(), truth, rows }, times))
}
