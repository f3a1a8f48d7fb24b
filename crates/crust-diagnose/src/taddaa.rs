//! TADDAA: lower bounds on the errors of an approximation, from many short Markov chains that start at it (Wang,
//! Kasprzak & Huggins 2023, "A targeted accuracy diagnostic for variational approximations", "the paper" below).
//!
//! The chains come closer to the posterior, so what a functional has moved by at least, it was wrong by at least.
//! Everything here works on the values of quantities at the start and at the end of the chains; who runs the chains
//! does not matter.

mod efficiency;
pub mod functional;
pub mod intervals;
mod level;
mod moving;
mod quantiles;
pub mod sizes;
mod verdict;

pub use efficiency::efficiency;
pub(crate) use quantiles::student as student_quantile;
pub use verdict::{Level, Verdict};

use crate::number::count;
use functional::{Functional, Kind};
use intervals::{Interval, Known};
use serde::{Deserialize, Serialize};
use sizes::Tolerances;

/// Beyond this squared correlation of starts and ends, chains have not moved enough to be relied on (section 3.4).
pub const MOST_CORRELATION: f64 = 0.1;

/// Means whose intervals are wider than this, in standard deviations, cannot be called right.
pub const MOST_MARGIN: f64 = 0.5;

/// The error probability of all bounds together, unless told otherwise.
pub const ALPHA: f64 = 0.05;

/// What is judged: a functional of a quantity.
#[derive(Clone, Debug)]
pub struct Item<'a> {
    pub functional: Functional,
    /// The quantity at the end of each chain; or at its last states, chain after chain.
    pub end: &'a [f64],
    /// How many states of each chain these are. Their average distribution takes the place of that of the ends: under
    /// the paper's condition 1 its error has the sign of that of the approximation and is no larger, so that bounds hold
    /// as well, and chains that mix tell as much as several.
    pub states: usize,
    /// For covariances, the other quantity.
    pub other: Option<&'a [f64]>,
    /// What the approximation says.
    pub before: Known,
    /// How many independent chains a chain is worth: 1, unless chains start at draws that depend on each other.
    pub efficiency: f64,
}

/// What the chains say about a functional.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Judged {
    pub name: String,
    #[serde(skip)]
    pub kind: Kind,
    #[serde(with = "crate::number")]
    pub approximation: f64,
    /// At the end of the chains.
    #[serde(with = "crate::number")]
    pub improved: f64,
    /// A confidence interval for improved − approximation (equations 2 to 4).
    #[serde(with = "crate::number::list")]
    pub interval: Vec<f64>,
    /// Intervals that hold for all functionals at once.
    #[serde(with = "crate::number::list")]
    pub simultaneous_interval: Vec<f64>,
    /// `B_F` of equation 1: the approximation is wrong by at least this, with 95 % confidence for this functional
    /// alone.
    #[serde(with = "crate::number")]
    pub lower_bound: f64,
    /// The same for all functionals at once.
    #[serde(with = "crate::number")]
    pub simultaneous_lower_bound: f64,
    /// The simultaneous bound in standard deviations of the quantity (of the logarithm of one for log variances, as it
    /// is for probabilities).
    #[serde(with = "crate::number")]
    pub relative: f64,
    /// What Pareto-smoothed importance sampling makes of the approximation, where k-hat says that it can be relied on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub psis: Option<f64>,
}

/// The whole diagnosis.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Taddaa {
    pub chains: usize,
    pub iterations: usize,
    /// The largest squared correlation between starts and ends of the chains, over coordinates.
    #[serde(with = "crate::number")]
    pub rho2_max: f64,
    pub functionals: Vec<Judged>,
    /// Functionals of quantities that do not vary, neither under the approximation nor over the chains. They are not
    /// judged, and do not count among those that all bounds hold for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub constant: Vec<String>,
    /// The widest margin of a simultaneous interval of a mean, in standard deviations: smaller errors may go unnoticed.
    /// 0 if no mean is judged.
    #[serde(default, with = "crate::number")]
    pub margin_max: f64,
    /// Whether functionals still moved while they were looked at.
    #[serde(default)]
    pub still_moving: bool,
    /// The level at which each simultaneous interval is computed, so that all hold at once.
    pub simultaneous_level: f64,
    pub verdict: Verdict,
}

/// How to judge.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    pub iterations: usize,
    /// What errors matter, and how sure bounds are.
    pub tolerances: Tolerances,
    /// Of the random weights that find the simultaneous level.
    pub seed: u64,
}

/// Judges functionals. `rho2` are the squared correlations of [`squared_correlation`].
pub fn judge(items: &[Item<'_>], rho2: &[f64], settings: &Settings) -> Taddaa {
    let chains = items.first().map_or(0, Item::chains);
    // Summaries are as large as all states, so that they are made twice and not kept.
    let first = |item: &Item<'_>| {
        let summary = item.summary();
        (summary.interval(settings.tolerances.alpha), summary.influence)
    };
    let (plain, influences): (Vec<Interval>, Vec<Vec<f64>>) = items.iter().map(first).unzip();
    let level = level::simultaneous(influences, settings.tolerances.alpha, settings.seed);
    let functionals: Vec<Judged> = items.iter().zip(plain).map(|(item, plain)| judge_one(item, plain, level)).collect();
    let rho2_max = rho2.iter().copied().fold(0.0, |a: f64, b| if b.is_nan() { b } else { a.max(b) });
    let margin = |(item, judged): (&Item<'_>, &Judged)| match item.functional.kind {
        Kind::Mean => item.relative(0.5 * (judged.simultaneous_interval[1] - judged.simultaneous_interval[0])),
        _ => 0.0,
    };
    let margin_max = items.iter().zip(&functionals).map(margin).fold(0.0, f64::max);
    let still_moving = moving::still_moving(items, settings.tolerances.alpha);
    let doubts = verdict::Doubts { rho2_max, still_moving, margin_max };
    let verdict = verdict::verdict(&functionals, &settings.tolerances, doubts);
    Taddaa {
        chains,
        iterations: settings.iterations,
        rho2_max,
        functionals,
        constant: Vec::new(),
        margin_max,
        still_moving,
        simultaneous_level: level,
        verdict,
    }
}

fn judge_one(item: &Item<'_>, plain: Interval, level: f64) -> Judged {
    let summary = item.summary();
    let wide = summary.interval(level);
    let bound = wide.least_distance();
    Judged {
        name: item.functional.to_string(),
        kind: item.functional.kind,
        approximation: item.before.value,
        improved: summary.estimate,
        interval: vec![plain.low, plain.high],
        simultaneous_interval: vec![wide.low, wide.high],
        lower_bound: plain.least_distance(),
        simultaneous_lower_bound: bound,
        relative: item.relative(bound),
        psis: None,
    }
}

impl Interval {
    /// `B_F` of equation 1: the least absolute value in the interval.
    pub fn least_distance(self) -> f64 {
        if self.low <= 0.0 && 0.0 <= self.high { 0.0 } else { self.low.abs().min(self.high.abs()) }
    }
}

/// ρ² of section 3.4: the squared correlation of a coordinate at the start and at the end of the chains. (The paper
/// prints the correlation itself under this name.) 1 where one of both is constant: nothing has moved, or nothing can
/// be told.
pub fn squared_correlation(start: &[f64], end: &[f64]) -> f64 {
    let mean = |x: &[f64]| x.iter().sum::<f64>() / count(x.len());
    let (m0, m1) = (mean(start), mean(end));
    let (mut xx, mut yy, mut xy) = (0.0, 0.0, 0.0);
    for (x, y) in start.iter().zip(end) {
        xx += (x - m0).powi(2);
        yy += (y - m1).powi(2);
        xy += (x - m0) * (y - m1);
    }
    if xx > 0.0 && yy > 0.0 { xy * xy / (xx * yy) } else { 1.0 }
}

#[cfg(test)]
mod tests;
