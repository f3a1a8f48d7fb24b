//! The verdict of BREAD in one sentence, what it rests on and what it does not cover.

use super::{Findings, Plan};
use crate::bdmc::{OVERFLOW, nats_with_error, without_density};
use crate::result::{Calibration, Fit, Level, Rung, Verdict};

/// Real data whose rank is this extreme are called different. It is the rate of false alarms, too.
const MISMATCH: f64 = 0.05;

pub(super) fn verdict(findings: &Findings, plan: &Plan) -> Verdict {
    let (level, sentence) = judge(findings, plan);
    Verdict { sentence, rests_on: rests_on(findings, plan), does_not_cover: does_not_cover(findings), level }
}

fn judge(findings: &Findings, plan: &Plan) -> (Level, String) {
    if findings.violation {
        return (
            Level::Violation,
            "The bounds contradict each other: upper bounds lie significantly below lower bounds. Either the reverse chains need more \
             steps before they start (`--start-steps`), or simulator, density and kernels do not belong together."
                .to_owned(),
        );
    }
    let Some(rung) = findings.simulated.rungs.last() else {
        return (Level::Partial, "The run ended before there was a bound.".to_owned());
    };
    let bound = if rung.jeffreys_bound.is_finite() { in_words(rung) } else { unbounded(rung) };
    let mismatch = findings.calibration.as_ref().is_some_and(|c| c.p_value <= MISMATCH);
    let agree = findings.start_check.as_ref().is_none_or(|check| check.agree);
    let rank = findings.calibration.as_ref().map(rank_in_words).unwrap_or_default();
    let good = rung.jeffreys_bound <= plan.acceptable;
    match (findings.partial, mismatch, agree && good) {
        (true, ..) => (Level::Partial, format!("{bound}; the run was ended before its end.")),
        (_, true, _) => (
            Level::Mismatch,
            format!(
                "{bound}, but the real data do not behave as simulated data do ({rank}): the bound does not carry over to them. \
                 The model probably does not describe the data."
            ),
        ),
        (.., true) => (Level::Good, format!("{bound}, and {}.", carries_over(findings, &rank))),
        (.., false) if !agree => (
            Level::Poor,
            format!(
                "{bound}, but this depends on the number of steps before the reverse chains: use more (`--start-steps`)."
            ),
        ),
        (.., false) if findings.size_notice.is_some() => {
            (Level::Poor, format!("{bound}; and {}", findings.size_notice.as_deref().unwrap_or_default()))
        }
        (.., false) if !rung.jeffreys_bound.is_finite() => {
            (Level::Poor, format!("{bound}; {}. {OVERFLOW}", carries_over(findings, &rank)))
        }
        (.., false) => (
            Level::Poor,
            format!(
                "{bound}; the bound is not small: more distributions (`--steps`), another kernel or another way to write the model may \
                 help; {}.",
                carries_over(findings, &rank)
            ),
        ),
    }
}

fn in_words(rung: &Rung) -> String {
    format!(
        "With T = {} distributions, annealing on data simulated from the fitted model ends within {} nats of the posterior \
         (Jeffreys divergence, bounded in expectation)",
        rung.t,
        nats_with_error(rung.jeffreys_bound, rung.jeffreys_se)
    )
}

fn unbounded(rung: &Rung) -> String {
    format!(
        "With T = {} distributions, there is no finite bound for annealing on data simulated from the fitted model: {}",
        rung.t,
        without_density(rung)
    )
}

fn carries_over(findings: &Findings, rank: &str) -> String {
    if findings.calibration.is_some() {
        format!("inference on the real data behaves as on simulated data ({rank})")
    } else {
        "whether the real data behave in the same way was not tested (`--replicates`)".to_owned()
    }
}

fn rank_in_words(calibration: &Calibration) -> String {
    let Calibration { rank, replicates, p_value, .. } = calibration;
    format!("discrepancy of rank {rank} among {}, p = {p_value:.2}", replicates.len() + 1)
}

fn rests_on(findings: &Findings, plan: &Plan) -> Vec<String> {
    let chains = plan.chains;
    let mut list = vec![format!(
        "bound: {chains} forward and {chains} reverse chains on one dataset that was simulated with the fitted hyperparameters; \
         ± is the standard error between chains"
    )];
    if let Some(fit) = &findings.fit {
        list.push(fit_in_words(fit));
    }
    if let Some(check) = &findings.start_check {
        let word = if check.agree { "does not change" } else { "changes" };
        list.push(format!(
            "heuristic: reverse chains start {} transitions away from the generating values, in place of an exact draw; starting after \
             {} {word} their estimates (by {} nats at T = {})",
            check.steps,
            check.fewer_steps,
            nats_with_error(check.difference, check.difference_se),
            check.t
        ));
    }
    if let Some(calibration) = &findings.calibration {
        list.push(format!(
            "test: {} datasets were simulated from the fitted model and annealed like the real one; if the real data come from it, \
             p ≤ {MISMATCH} happens with probability {MISMATCH}",
            calibration.replicates.len()
        ));
    }
    list.extend(findings.checks.iter().map(|check| check.sentence.clone()));
    list
}

fn fit_in_words(fit: &Fit) -> String {
    let values: Vec<String> = fit.hyperparameters.iter().map(|h| format!("{} = {:.3}", h.name, h.value)).collect();
    let values = match values.len() {
        0 => "no hyperparameters: all parameters are drawn from the prior".to_owned(),
        1..=6 => format!("hyperparameters {}", values.join(", ")),
        n => format!("{n} hyperparameters"),
    };
    format!("fit: NUTS with {} chains, worst R-hat {:.3}; {values}", fit.chains, fit.worst_r_hat)
}

fn does_not_cover(findings: &Findings) -> Vec<String> {
    let mut list = vec![
        "the posterior of the real data itself: the bound is for simulated data, and carries over as far as both behave alike".to_owned(),
        "other samplers than the one that was annealed; NUTS on its own is judged by R-hat and effective sample size only".to_owned(),
        "whether the model is true: behaving alike is about inference, not about fit".to_owned(),
    ];
    list.extend(findings.size_notice.clone());
    if let Some(fit) = findings.fit.as_ref().filter(|fit| !fit.warnings.is_empty()) {
        list.push(format!("the fit, which has trouble of its own: {}", fit.warnings.join("; ")));
    }
    list
}
