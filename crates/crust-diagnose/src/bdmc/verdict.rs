//! What a run of bidirectional Monte Carlo says, in words.

use super::{Findings, Plan};
use crate::result::{Level, Rung, Verdict};

/// A bound on a divergence, with a precision that its size deserves.
pub(crate) fn nats(value: f64) -> String {
    let text = match value.abs() {
        x if !x.is_finite() => "infinitely many".to_owned(),
        x if x < 0.095 => format!("{value:.3}"),
        x if x < 9.95 => format!("{value:.2}"),
        x if x < 99.5 => format!("{value:.1}"),
        _ => format!("{value:.0}"),
    };
    text.replace('-', "−")
}

/// The same with its standard error, to as many decimals.
pub(crate) fn nats_with_error(value: f64, se: f64) -> String {
    let text = nats(value);
    let decimals = text.split_once('.').map_or(0, |(_, decimals)| decimals.len());
    if se.is_finite() { format!("{text} ± {se:.decimals$}") } else { format!("{text} (error unknown)") }
}

/// What to do about points without density.
pub(crate) const OVERFLOW: &str = "Such points often come from overflow in the program: state log odds (`bernoulli_logit`) or log rates (`poisson_log`) in \
     place of probabilities and rates, or give parameters priors with lighter tails.";

/// Why there is no finite bound, and what there is.
pub(crate) fn without_density(rung: &Rung) -> String {
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
    let (bound, se) = match findings.mean.last() {
        Some(mean) if mean.t == rung.t => (mean.jeffreys_bound, mean.jeffreys_se),
        _ => (rung.jeffreys_bound, rung.jeffreys_se),
    };
    let t = rung.t;
    let size = if bound.is_finite() {
        format!("at most {} nats", nats_with_error(bound, se))
    } else {
        format!("not bounded: {}", without_density(rung))
    };
    let sentence = format!(
        "With T = {t} distributions, annealing produces samples whose Jeffreys divergence from the posterior of simulated data is \
         {size}, in expectation."
    );
    let good = bound <= plan.acceptable;
    let level = match (findings.partial, good) {
        (true, _) => Level::Partial,
        (false, true) => Level::Good,
        (false, false) => Level::Poor,
    };
    let advice = match level {
        Level::Poor if !bound.is_finite() => return (level, format!("{sentence} {OVERFLOW}")),
        Level::Poor => {
            " That is not small: more distributions (`--steps`), another kernel or another way to write the model may help."
        }
        Level::Partial => " The run was ended before its end.",
        _ => "",
    };
    (level, sentence + advice)
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
