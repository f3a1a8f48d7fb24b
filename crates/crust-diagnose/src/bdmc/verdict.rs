//! What a run of bidirectional Monte Carlo says, in words.

use super::{Findings, Plan};
use crate::number::count;
use crate::result::{Level, MeanRung, Rung, Verdict};

/// A bound on a divergence, with a precision that its size deserves.
pub(crate) fn nats(value: f64) -> String {
    let text = match value.abs() {
        x if !x.is_finite() => "infinitely many".to_owned(),
        x if x < 0.095 => format!("{value:.3}"),
        x if x < 9.95 => format!("{value:.2}"),
        x if x < 99.5 => format!("{value:.1}"),
        x if x < 1e7 => format!("{value:.0}"),
        _ => format!("{value:.1e}"),
    };
    text.replace('-', "−")
}

/// The same with its standard error, to as many decimals.
pub(crate) fn nats_with_error(value: f64, se: f64) -> String {
    let text = nats(value);
    if value.abs() >= 1e7 || se.abs() >= 1e7 {
        return format!("{text} ± {}", nats(se));
    }
    let decimals = text.split_once('.').map_or(0, |(_, decimals)| decimals.len());
    if se.is_finite() { format!("{text} ± {se:.decimals$}") } else { format!("{text} (error unknown)") }
}

/// What the chains of a rung say about B, or why they say nothing: a size to be put behind "at most" or "within", or
/// else a reason.
pub(crate) enum Size {
    Bounded(String),
    /// The mean is decided by few chains, or does not exist.
    Unsteady(String),
    /// Some chains are infinitely far.
    Infinite(String),
}

impl Size {
    pub(crate) fn of(rung: &Rung) -> Self {
        if !rung.jeffreys_bound.is_finite() {
            return Self::Infinite(without_density(rung));
        }
        if !rung.jeffreys_upper.is_finite() {
            return Self::Unsteady(unsteady(rung));
        }
        let estimate = nats_with_error(rung.jeffreys_bound.max(0.0), rung.jeffreys_se);
        Self::Bounded(format!("{} nats (95 % limit; estimate {estimate})", nats(rung.jeffreys_upper)))
    }
}

/// Why a mean is not told.
fn unsteady(rung: &Rung) -> String {
    let median = rung.jeffreys_quartiles.get(1).copied().unwrap_or(f64::NAN).max(0.0);
    format!(
        "{} of {} chains decide the mean, which need not exist (Pareto k {:.1} forward and {:.1} reverse; a mean needs less than 1): \
         the median of single gaps is {} nats, from which no bound follows",
        rung.deciding,
        rung.forward.len() + rung.reverse.len(),
        rung.khat_forward,
        rung.khat_reverse,
        nats(median)
    )
}

/// What to do about means that few chains decide.
pub(crate) const ANOTHER_PATH: &str = "A prior with mass at scales of 0 gives this: more distributions do not help, another path does \
     (`--path reference`).";

/// What to do about points without density.
pub(crate) const OVERFLOW: &str = "Such points often come from overflow in the program: state log odds (`bernoulli_logit`) or log rates (`poisson_log`) in \
     place of probabilities and rates, or give parameters priors with lighter tails.";

/// Why there is no finite bound, and what there is.
fn without_density(rung: &Rung) -> String {
    let middle = match rung.jeffreys_quartiles[..] {
        [low, _, high] if low.is_finite() && high.is_finite() => {
            format!(" (the middle half of single gaps is {} to {} nats)", nats(low), nats(high))
        }
        _ => String::new(),
    };
    format!(
        "{} of {} chains met points where the density of the program is zero or not a number, and are infinitely far{middle}",
        rung.rejected,
        rung.forward.len() + rung.reverse.len()
    )
}

pub(super) fn verdict(findings: &Findings, plan: &Plan) -> Verdict {
    let last = findings.datasets.first().and_then(|dataset| dataset.rungs.last());
    let (level, sentence) = match last {
        _ if findings.violation => (Level::Violation, violated(findings)),
        None => (Level::Partial, "The run ended before there was a bound.".to_owned()),
        Some(rung) => judge(findings, plan, rung),
    };
    Verdict { sentence, rests_on: rests_on(findings, plan), does_not_cover: does_not_cover(), level }
}

fn violated(findings: &Findings) -> String {
    let failed = findings.checks.iter().find(|check| check.failed && check.rigorous);
    let reason = failed.map_or("", |check| check.sentence.as_str());
    format!("Something is wrong, and the bounds mean nothing: {reason}")
}

fn judge(findings: &Findings, plan: &Plan, rung: &Rung) -> (Level, String) {
    let (t, limit) = (rung.t, findings.mean.last().filter(|mean| mean.t == rung.t).and_then(MeanRung::limit));
    let (size, upper) = match (limit, Size::of(rung)) {
        (Some(upper), Size::Bounded(_)) => {
            let mean = findings.mean.last().map(|m| nats_with_error(m.jeffreys_bound.max(0.0), m.jeffreys_se));
            let size = format!("at most {} nats (95 % limit; mean {})", nats(upper), mean.unwrap_or_default());
            (size, upper)
        }
        (_, Size::Bounded(size)) => (format!("at most {size}"), rung.jeffreys_upper),
        (_, Size::Unsteady(why) | Size::Infinite(why)) => (format!("not bounded: {why}"), f64::INFINITY),
    };
    let sentence = format!(
        "With T = {t} distributions, annealing produces samples whose Jeffreys divergence from the posterior of simulated data is \
         {size}, in expectation."
    );
    let level = match (findings.partial, upper <= plan.acceptable) {
        (true, _) => Level::Partial,
        (false, true) => Level::Good,
        (false, false) => Level::Poor,
    };
    let advice = match (level, Size::of(rung)) {
        (Level::Poor, Size::Infinite(_)) => OVERFLOW,
        (Level::Poor, Size::Unsteady(_)) => ANOTHER_PATH,
        (Level::Poor, Size::Bounded(_)) => {
            "That is not small: more distributions (`--steps`), another kernel or another way to write the model may help."
        }
        (Level::Partial, _) => "The run was ended before its end.",
        _ => return (level, sentence),
    };
    (level, format!("{sentence} {advice}"))
}

impl MeanRung {
    /// The limit over datasets, which include the spread between them; none with fewer than three.
    fn limit(&self) -> Option<f64> {
        /// The 95 % quantile of the normal distribution, and for few datasets a little more.
        const QUANTILE: f64 = 1.645;
        let few = 1.0 + 1.0 / count(self.datasets.max(1));
        (self.datasets > 2).then_some(self.jeffreys_bound + QUANTILE * few * self.jeffreys_se)
    }
}

fn rests_on(findings: &Findings, plan: &Plan) -> Vec<String> {
    let chains = plan.chains;
    let datasets = findings.datasets.len();
    let mut list = vec![
        format!("{chains} forward and {chains} reverse chains at each T, each on its own (no averaging of weights)"),
        "exact draws from the posterior, which simulated data come with".to_owned(),
    ];
    if datasets > 1 {
        list.push(format!("{datasets} simulated datasets; ± is the standard error between them"));
    } else {
        list.push(
            "one simulated dataset; ± is the standard error between chains, and the reverse chains share their start"
                .to_owned(),
        );
    }
    list.extend(
        findings.checks.iter().filter(|check| check.rigorous && !check.failed).map(|check| check.sentence.clone()),
    );
    list
}

fn does_not_cover() -> Vec<String> {
    vec![
        "real data: `crust bread` compares them with simulated ones".to_owned(),
        "other samplers than the one that was annealed, such as NUTS on its own".to_owned(),
    ]
}
