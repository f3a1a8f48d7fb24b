//! The results of all commands, as `--json` and `result.json` have them and as reports read them.
//!
//! Numbers that JSON cannot say are `null` (not a number, or not estimated), `"Infinity"` and `"-Infinity"`. There are
//! no times in here, so that the file is the same byte by byte whenever the same command is run again: times are a
//! [`Timing`].

mod approximate;
mod bread;
mod check;
mod density;
mod divergence;
mod evidence;
mod reproduce;
mod sample;
mod sbc;
mod simulate;
mod testbed;
#[cfg(test)]
mod tests;

pub use approximate::{Approximate, Drift, ElboStep, Taddaa};
pub use bread::{Bread, Confirmation, Predictive, PredictiveStatistic, Simulated, Simulation};
pub use check::{
    BlockSummary, Checked, Diagnostic, DrawnOutcome, DrawnParameter, JointReading, JointSummary, ProgramSummary,
    VariableSummary,
};
pub use density::{Bench, BenchRow, Density, Point};
pub use divergence::{Bounds, BreadApproximation, FitOf, GapRank, KlRange};
pub use evidence::{Evidence, EvidenceKind, EvidenceMethod, EvidenceTiming};
pub use reproduce::{
    RealDataRow, RealDataTable, Reproduce, Table1, Table1Cell, Table1Row, TaddaaBound, TaddaaFunctional,
    TaddaaReference, TaddaaRun, TaddaaTable, TaddaaTarget, Toy, ToyRow,
};
pub use sample::{Sample, SampleFacts, Seconds};
pub use sbc::{Sbc, SbcFit, SbcQuantity, Troubles};
pub use simulate::{Json, Simulate, SimulatedData};
pub use testbed::{
    GroundTruth, Knob, ModelName, ModelTiming, OurResult, PaperComparison, PaperResult, Testbed, TestbedKind,
    TestbedModel, TestbedRow, TestbedTiming, TrialTimes,
};

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What a command found. The JSON of all of them begins with the name of the command.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "command", rename_all = "lowercase")]
pub enum Results {
    Check(Checked),
    Density(Density),
    Bench(Bench),
    Sample(Sample),
    Approximate(Approximate),
    Taddaa(Taddaa),
    Simulate(Simulate),
    Bdmc(Bdmc),
    Bread(Bread),
    #[serde(rename = "bread-approximation")]
    BreadApproximation(BreadApproximation),
    Compare(Compare),
    Evidence(Evidence),
    Reproduce(Reproduce),
    Sbc(Sbc),
    Testbed(Testbed),
}

impl Results {
    /// What `--json` and `result.json` hold: one line, but for people's eyes where a program was checked.
    pub fn to_json(&self) -> serde_json::Result<String> {
        match self {
            Self::Check(_) => serde_json::to_string_pretty(self),
            _ => serde_json::to_string(self),
        }
    }
}

/// What was run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// The version of crust.
    pub version: String,
    /// The file of the program, without its folder.
    pub model: String,
    /// The file of the data, without its folder; empty if there was none.
    pub data: String,
    pub seed: u64,
    /// Chains in each direction and rung.
    pub chains: usize,
    /// The ladder of T that was asked for; fewer rungs are run once the sandwich is tight.
    pub steps: Vec<usize>,
    pub tolerance: f64,
    pub schedule: String,
    pub kernel: String,
    /// The number of unconstrained parameters.
    pub dimension: usize,
    /// Other options, in the words of the command line.
    pub options: BTreeMap<String, String>,
}

/// The result of `crust bdmc`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Bdmc {
    pub run: Run,
    pub reading: Reading,
    /// The rungs of the first dataset. With several datasets, `jeffreys_se` and `mean` are over all of them.
    pub rungs: Vec<Rung>,
    /// Every simulated dataset, the first included.
    pub datasets: Vec<Dataset>,
    /// Means over the datasets, rung by rung; empty unless there are several datasets.
    pub mean: Vec<MeanRung>,
    pub kernels: Vec<KernelAt>,
    pub violation: bool,
    pub checks: Vec<Check>,
    pub verdict: Verdict,
    /// Whether the run was ended before all was done.
    pub partial: bool,
}

/// The result of `crust compare`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Compare {
    /// What all entries share; `model` and `kernel` are those of the first.
    pub run: Run,
    pub entries: Vec<Entry>,
    /// Parameters whose generating values the entries share, by name.
    pub shared: Vec<String>,
    pub violation: bool,
    pub checks: Vec<Check>,
    pub verdict: Verdict,
    pub partial: bool,
}

/// One way to do it: a representation with a kernel and a schedule.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    pub name: String,
    pub kernel: String,
    pub schedule: String,
    pub dimension: usize,
    pub rungs: Vec<Rung>,
    pub kernels: Vec<KernelAt>,
    /// Whether the reverse chains begin with an exact draw from the posterior of this representation.
    pub exact_start: bool,
}

/// A simulated dataset with its sandwiches.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Dataset {
    /// From 1 on: `simulated-1.json` holds the data of the first.
    pub number: u32,
    pub rungs: Vec<Rung>,
}

/// Both directions at one T, on one simulated dataset.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Rung {
    /// The number of distributions on the path, the prior and the posterior included.
    #[serde(rename = "T")]
    pub t: usize,
    /// log w of each forward chain: stochastic lower bounds on log-ML.
    #[serde(with = "crate::number::list")]
    pub forward: Vec<f64>,
    /// −log w of each reverse chain: stochastic upper bounds on log-ML.
    #[serde(with = "crate::number::list")]
    pub reverse: Vec<f64>,
    #[serde(with = "crate::number")]
    pub log_ml_lower: f64,
    #[serde(with = "crate::number")]
    pub log_ml_upper: f64,
    #[serde(with = "crate::number")]
    pub log_ml_bar: f64,
    #[serde(with = "crate::number")]
    pub log_ml_bar_se: f64,
    /// The mean of B̂ over single chains.
    #[serde(with = "crate::number")]
    pub jeffreys_bound: f64,
    /// From the chains of this dataset: reverse chains share their start, and that is not in it.
    #[serde(with = "crate::number")]
    pub jeffreys_se: f64,
    /// B is below this with probability 0.95, as far as one dataset tells; infinite if the chains do not show that B is
    /// finite.
    #[serde(with = "crate::number", default)]
    pub jeffreys_upper: f64,
    /// k of the bad tails, of low forward weights and of high reverse estimates: there is a mean if k < 1.
    #[serde(with = "crate::number", default)]
    pub khat_forward: f64,
    #[serde(with = "crate::number", default)]
    pub khat_reverse: f64,
    /// How many chains make up half of what B̂ has beyond its median.
    #[serde(default)]
    pub deciding: usize,
    /// Quartiles of B̂ over all pairs of a forward and a reverse chain.
    #[serde(with = "crate::number::list")]
    pub jeffreys_quartiles: Vec<f64>,
    /// Bounds the divergence of the approximate samples from the posterior, KL(q ‖ p), in expectation.
    #[serde(with = "crate::number")]
    pub kl_forward_bound: f64,
    #[serde(with = "crate::number")]
    pub kl_forward_se: f64,
    /// Bounds KL(p ‖ q) in expectation.
    #[serde(with = "crate::number")]
    pub kl_reverse_bound: f64,
    #[serde(with = "crate::number")]
    pub kl_reverse_se: f64,
    /// Mean acceptance rates of the transitions.
    #[serde(with = "crate::number")]
    pub accept_forward: f64,
    #[serde(with = "crate::number")]
    pub accept_reverse: f64,
    /// Evaluations of the density (with its gradient, if the kernel needs it) in both directions.
    pub evaluations: u64,
    pub divergences: u64,
    /// Chains of weight 0, which met a point without density.
    pub rejected: u64,
}

/// Means over datasets at one T.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MeanRung {
    #[serde(rename = "T")]
    pub t: usize,
    pub datasets: usize,
    #[serde(with = "crate::number")]
    pub jeffreys_bound: f64,
    /// Between datasets: an honest error bar of E[B̂].
    #[serde(with = "crate::number")]
    pub jeffreys_se: f64,
    #[serde(with = "crate::number")]
    pub kl_forward_bound: f64,
    #[serde(with = "crate::number")]
    pub kl_reverse_bound: f64,
}

/// Forward annealing on the real data.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RealData {
    pub rungs: Vec<ForwardRung>,
    /// Both directions at the last T, reverse chains starting from draws of the fit: a heuristic, since those are no
    /// exact draws ("subjective divergence", Cusumano-Towner and Mansinghka 2017).
    #[serde(default)]
    pub heuristic: Option<Rung>,
}

/// The forward direction at one T.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ForwardRung {
    #[serde(rename = "T")]
    pub t: usize,
    #[serde(with = "crate::number::list")]
    pub forward: Vec<f64>,
    #[serde(with = "crate::number")]
    pub log_ml_lower: f64,
    /// Of log w over single chains.
    #[serde(with = "crate::number::list")]
    pub quartiles: Vec<f64>,
    #[serde(with = "crate::number")]
    pub accept_forward: f64,
    pub evaluations: u64,
    pub divergences: u64,
    pub rejected: u64,
}

/// The fit to the real data by NUTS.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Fit {
    pub chains: usize,
    /// Further chains that had hardly a draw when the time was over, and are left out.
    #[serde(default)]
    pub stuck: usize,
    /// Chains that were begun anew, since they stayed where there is next to nothing of the posterior.
    #[serde(default)]
    pub anew: usize,
    /// Iterations of warm-up in each chain.
    #[serde(default)]
    pub warmup: usize,
    pub draws: usize,
    /// The mean acceptance that warm-up aimed at.
    #[serde(default)]
    pub delta: f64,
    #[serde(with = "crate::number")]
    pub worst_r_hat: f64,
    /// The quantity that has it.
    pub worst_r_hat_name: String,
    #[serde(with = "crate::number")]
    pub least_ess: f64,
    pub least_ess_name: String,
    pub divergences: usize,
    /// The least E-BFMI of a chain: how much of the energy's spread a transition covers.
    #[serde(with = "crate::number", default)]
    pub least_e_bfmi: f64,
    /// Whether the draws are those of another run, which the user gave.
    #[serde(default)]
    pub given: bool,
    /// What is wrong with such draws, by short chains that start at them, in a sentence; empty if nothing is.
    #[serde(default)]
    pub wrong: String,
    /// Further chains from other starts, and how many of them ended where no draw of the fit is, by a quantity.
    #[serde(default)]
    pub scouts: usize,
    #[serde(default)]
    pub scouts_elsewhere: usize,
    #[serde(default)]
    pub elsewhere_name: String,
    /// The share of the posterior that draws of the prior, weighted with the likelihood, have elsewhere, by a quantity; 0
    /// where they agree with the draws or say nothing.
    #[serde(default)]
    pub missed_share: f64,
    #[serde(default)]
    pub missed_name: String,
    /// Whether the time ran out before there were draws enough to judge by.
    #[serde(default)]
    pub unfinished: bool,
    /// Hyperparameters as the simulation uses them, on the scale on which the program declares them.
    pub hyperparameters: Vec<Hyperparameter>,
    /// What to mind about the fit, in sentences.
    pub warnings: Vec<String>,
}

/// A fitted hyperparameter.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Hyperparameter {
    /// With indices where it has them: `scale[1]`.
    pub name: String,
    #[serde(with = "crate::number")]
    pub value: f64,
}

/// Whether the number of steps before the reverse chains matters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StartCheck {
    /// The T at which it was checked.
    #[serde(rename = "T")]
    pub t: usize,
    /// S.
    pub steps: usize,
    /// S/10.
    pub fewer_steps: usize,
    /// −log w of the reverse chains after S steps.
    #[serde(with = "crate::number::list")]
    pub reverse: Vec<f64>,
    /// The same after S/10 steps.
    #[serde(with = "crate::number::list")]
    pub reverse_fewer: Vec<f64>,
    /// Mean after S/10 steps minus mean after S, in nats, and its standard error.
    #[serde(with = "crate::number")]
    pub difference: f64,
    #[serde(with = "crate::number")]
    pub difference_se: f64,
    pub agree: bool,
}

/// The rank of the real data's forward curve among those of replicated data.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Calibration {
    /// The T of the curves.
    pub steps: Vec<usize>,
    /// Chains of each curve.
    pub chains: usize,
    /// Of the real data: the distance of its curve from those of the others.
    #[serde(with = "crate::number")]
    pub discrepancy: f64,
    /// The same of each replicated dataset.
    #[serde(with = "crate::number::list")]
    pub replicates: Vec<f64>,
    /// How many of the replicates are at least as far off, plus 1.
    pub rank: usize,
    #[serde(with = "crate::number")]
    pub p_value: f64,
    /// The shifted quartile curves of the real data and of each replicate: for each T, three numbers.
    pub real_curve: Vec<Vec<crate::summary::Number>>,
    pub replicate_curves: Vec<Vec<Vec<crate::summary::Number>>>,
}

/// The frozen kernel near one β.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct KernelAt {
    pub beta: f64,
    #[serde(with = "crate::number")]
    pub step_size: f64,
    #[serde(with = "crate::number")]
    pub accept: f64,
}

/// A test of the implementation: the kind of thing that cannot happen in a correct one.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Check {
    pub name: String,
    /// At most this is the probability of a result as extreme in a correct implementation.
    #[serde(with = "crate::number")]
    pub p_value: f64,
    /// The check fails below this.
    pub level: f64,
    /// Whether `p_value` is a proven bound (true), or an approximation for many chains (false).
    pub rigorous: bool,
    pub failed: bool,
    /// What was compared, and what it means, in a sentence.
    pub sentence: String,
}

/// How the model was understood.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Reading {
    pub parameters: Vec<Stated>,
    pub outcomes: Vec<Stated>,
    pub hyperparameters: Vec<String>,
    /// The order in which the forward simulation draws.
    pub order: Vec<String>,
    pub notes: Vec<String>,
}

/// A variable with its distribution.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Stated {
    pub name: String,
    /// `sigma ~ cauchy(0, 1), truncated by its bound`.
    pub words: String,
}

/// The answer.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Verdict {
    pub sentence: String,
    pub rests_on: Vec<String>,
    pub does_not_cover: Vec<String>,
    pub level: Level,
}

/// The verdict in a word.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    Good,
    /// The bound is not small.
    Poor,
    /// Upper bounds are below lower ones: a mistake somewhere.
    Violation,
    /// The real data do not behave as simulated ones do.
    Mismatch,
    /// Not everything was run.
    #[default]
    Partial,
}

/// How long parts of a run took; beside the result in `timing.json`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Timing {
    /// Seconds by the name of the part: `fit`, `pilot`, `starts`, `ladder`, `confirmation`, `start check`, `replicates`,
    /// `rank`.
    pub parts: BTreeMap<String, f64>,
    pub rungs: Vec<RungTime>,
}

/// How long a rung took.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RungTime {
    /// `simulated-1`, `real`; the name of the entry in a comparison.
    pub name: String,
    #[serde(rename = "T")]
    pub t: usize,
    pub forward_seconds: f64,
    pub reverse_seconds: f64,
}
