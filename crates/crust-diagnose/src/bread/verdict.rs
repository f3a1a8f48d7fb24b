//! The verdict of BREAD in one sentence, what it rests on and what it does not cover.

use super::{Findings, Plan};
use crate::bdmc::{ANOTHER_PATH, OVERFLOW, Size, nats, nats_with_error};
use crate::convergence::mean;
use crate::number::count;
use crate::result::{Calibration, Fit, ForwardRung, Level, Rung, Verdict};

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
    let bound = in_words(rung);
    if findings.partial {
        return (Level::Partial, format!("{bound}; the run was ended before its end."));
    }
    let rank = findings.calibration.as_ref().map(rank_in_words).unwrap_or_default();
    let (level, more) = objection(findings, plan, rung, &rank)
        .unwrap_or_else(|| (Level::Good, format!(", and {}.", carries_over(findings, &rank))));
    (level, bound + &more)
}

/// The first thing that stands against a good verdict, with what to do about it.
fn objection(findings: &Findings, plan: &Plan, rung: &Rung, rank: &str) -> Option<(Level, String)> {
    let poor = |text: String| Some((Level::Poor, text));
    if let Some(trouble) = findings.fit.as_ref().and_then(bad_fit) {
        return poor(format!(
            ", but the fit to the real data cannot be trusted: {trouble}. What was simulated rests on it; run `crust sample` with more \
             iterations, or write the model in another way (non-centred, say)."
        ));
    }
    if findings.calibration.as_ref().is_some_and(|c| c.p_value <= MISMATCH) {
        let text = format!(
            ", but the real data do not behave as simulated data do ({rank}): the bound does not carry over to them. The model \
             probably does not describe the data."
        );
        return Some((Level::Mismatch, text));
    }
    if findings.start_check.as_ref().is_some_and(|check| !check.agree) {
        let text = ", but this depends on the number of steps before the reverse chains: use more (`--start-steps`).";
        return poor(text.to_owned());
    }
    if rung.jeffreys_upper > plan.acceptable || rung.jeffreys_upper.is_nan() {
        let carries = carries_over(findings, rank);
        return poor(match (&findings.size_notice, Size::of(rung)) {
            (Some(notice), _) => format!("; and {notice}"),
            (None, Size::Infinite(_)) => format!("; {carries}. {OVERFLOW}"),
            (None, Size::Unsteady(_)) => format!("; {carries}. {ANOTHER_PATH}"),
            (None, Size::Bounded(_)) => format!(
                "; the bound is not small: more distributions (`--steps`), another kernel or another way to write the model may \
                 help; {carries}."
            ),
        });
    }
    let scatter = findings.real.rungs.last().map(scatter).filter(|&scatter| scatter > plan.acceptable)?;
    poor(format!(
        ", but chains on the real data scatter more than that: the log of their mean weight is {} nats above the mean of their log \
         weights, so that a single chain is that far off by their own account. Several modes that chains cannot leave give this.",
        nats(scatter)
    ))
}

/// log mean w − mean log w of the chains on real data. The first is a lower bound on log-ML, so that this is a lower
/// estimate of log-ML − E[log w], which bounds the divergence of the samples from the posterior (after Eq. 12).
fn scatter(rung: &ForwardRung) -> f64 {
    let mean = mean(&rung.forward);
    if mean == f64::NEG_INFINITY { f64::INFINITY } else { rung.log_ml_lower - mean }
}

/// What makes a fit one that nothing may rest on. The limits are wider than those of warnings: beyond them chains are
/// in different places, or have hardly moved.
fn bad_fit(fit: &Fit) -> Option<String> {
    const MOST_R_HAT: f64 = 1.05;
    const LEAST_ESS: f64 = 100.0;
    /// Of the draws.
    const MOST_DIVERGENCES: f64 = 0.01;
    const LEAST_E_BFMI: f64 = 0.2;
    let draws = count(fit.chains * fit.draws);
    if fit.worst_r_hat.is_nan() || fit.worst_r_hat > MOST_R_HAT {
        return Some(format!("R-hat of {} is {:.2}", fit.worst_r_hat_name, fit.worst_r_hat));
    }
    if fit.least_ess < LEAST_ESS {
        return Some(format!("the effective sample size of {} is {:.0}", fit.least_ess_name, fit.least_ess));
    }
    if count(fit.divergences) > MOST_DIVERGENCES * draws {
        return Some(format!("{} of {draws} transitions are divergent", fit.divergences));
    }
    let slow = fit.least_e_bfmi > 0.0 && fit.least_e_bfmi < LEAST_E_BFMI;
    slow.then(|| format!("E-BFMI of a chain is {:.2}, so that it hardly changes its energy", fit.least_e_bfmi))
}

fn in_words(rung: &Rung) -> String {
    let start = format!("With T = {} distributions, ", rung.t);
    match Size::of(rung) {
        Size::Bounded(size) => format!(
            "{start}annealing on data simulated from the fitted model ends within {size} of the posterior (Jeffreys divergence, bounded \
             in expectation)"
        ),
        Size::Unsteady(why) | Size::Infinite(why) => {
            format!("{start}there is no finite bound for annealing on data simulated from the fitted model: {why}")
        }
    }
}

fn carries_over(findings: &Findings, rank: &str) -> String {
    match &findings.calibration {
        // a rank among R + 1 has p ≥ 1/(R + 1)
        Some(calibration) if count(calibration.replicates.len() + 1) * MISMATCH < 1.0 => format!(
            "whether the real data behave in the same way cannot be told from {} replicates: a test needs 19 (`--replicates`)",
            calibration.replicates.len()
        ),
        Some(_) => format!("inference on the real data behaves as on simulated data ({rank})"),
        None => "whether the real data behave in the same way was not tested (`--replicates`)".to_owned(),
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
