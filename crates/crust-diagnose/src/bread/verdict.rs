//! The verdict of BREAD in one sentence, what it rests on and what it does not cover.

use super::compare::ANNEALING;
use super::predictive::MISMATCH;
use super::{Findings, Plan};
use crate::bdmc::{ANOTHER_PATH, OVERFLOW, Size, nats, nats_with_error};
use crate::convergence::mean;
use crate::number::count;
use crate::result::{Calibration, Fit, ForwardRung, Level, Predictive, Rung, Simulation, Verdict};

pub(super) fn verdict(findings: &Findings, plan: &Plan) -> Verdict {
    let (level, sentence) = judge(findings, plan);
    Verdict { sentence, rests_on: rests_on(findings, plan), does_not_cover: does_not_cover(findings, plan), level }
}

/// The rung that the verdict rests on: that of new chains, if there is one.
fn decisive(findings: &Findings) -> Option<&Rung> {
    let confirmed = findings.confirmation.as_ref().map(|confirmation| &confirmation.rung);
    confirmed.or(findings.simulated.rungs.last())
}

fn judge(findings: &Findings, plan: &Plan) -> (Level, String) {
    if findings.violation {
        let starts = match plan.simulation {
            Simulation::Conditional | Simulation::Nothing => "the draws of the fit are not draws of the posterior",
            Simulation::Fitted => "the reverse chains need more steps before they start (`--start-steps`)",
            Simulation::Prior => "parameters were not drawn as the program states",
        };
        return (
            Level::Violation,
            format!(
                "The bounds contradict each other: upper bounds lie significantly below lower bounds. Either {starts}, or simulator, \
                 density and kernels do not belong together."
            ),
        );
    }
    if findings.fit.as_ref().is_some_and(|fit| fit.unfinished) {
        return (
            Level::Partial,
            "The fit to the real data did not come far enough in its time for a bound: a longer `--budget`, or `--draws` with draws of \
             your own, would."
                .to_owned(),
        );
    }
    let Some(rung) = decisive(findings) else {
        return (Level::Partial, "The run ended before there was a bound.".to_owned());
    };
    // Reverse chains that begin with draws of a bad fit are no bound: then it is no mistake that they are below.
    let bound = if super::contradictory(findings) {
        format!(
            "With T = {} distributions, bounds of annealing contradict each other, as exact draws would not let them",
            rung.t
        )
    } else {
        in_words(rung, plan.simulation)
    };
    if findings.partial {
        return (Level::Partial, format!("{bound}; the run was ended before its end."));
    }
    let (level, more) = objection(findings, plan, rung).unwrap_or_else(|| {
        (Level::Good, format!(", and {}.{}", carries_over(findings, plan), hardly_looked(findings)))
    });
    (level, bound + &more)
}

/// What a good verdict has to say about modes that the fit may have missed, if hardly anybody has looked for them.
fn hardly_looked(findings: &Findings) -> String {
    let few = findings.fit.as_ref().and_then(few_scouts);
    few.map_or_else(String::new, |few| format!(" It does not cover {few} (a longer `--budget`)."))
}

/// Whether all bounds are as small as a good verdict wants them, of simulated and of real data.
pub(super) fn bounds_hold(findings: &Findings, plan: &Plan) -> bool {
    let small = |rung: &Rung| rung.jeffreys_upper <= plan.acceptable;
    let steady = |rung: &ForwardRung| scatter(rung) <= plan.acceptable;
    decisive(findings).is_none_or(small)
        && findings.real.rungs.last().is_none_or(steady)
        && findings.real.heuristic.as_ref().is_none_or(small)
}

/// The first thing that stands against a good verdict, with what to do about it.
fn objection(findings: &Findings, plan: &Plan, rung: &Rung) -> Option<(Level, String)> {
    let poor = |text: String| Some((Level::Poor, text));
    if let Some(trouble) = findings.fit.as_ref().and_then(bad_fit) {
        let whose =
            if findings.fit.as_ref().is_some_and(|fit| fit.given) { "your draws" } else { "the fit to the real data" };
        let remedy = match plan.simulation {
            Simulation::Prior => "Longer chains, or another way to write the model (non-centred, say), may help.",
            Simulation::Nothing => {
                "The bound rests on it; run `crust sample` with more iterations, or write the model in another way \
             (non-centred, say)."
            }
            Simulation::Conditional | Simulation::Fitted => {
                "What was simulated rests on it; run `crust sample` with more iterations, \
             or write the model in another way (non-centred, say)."
            }
        };
        return poor(format!(", but {whose} cannot be trusted: {trouble}. {remedy}"));
    }
    // Where annealing does not get near on simulated data, how it goes on the real ones says little about these.
    let small = rung.jeffreys_upper <= plan.acceptable;
    let by_annealing = |test: &Predictive| test.alarm.as_ref().is_some_and(|name| name.starts_with(ANNEALING));
    let of_annealing = findings.predictive.as_ref().is_some_and(by_annealing);
    if let Some(alarm) = mismatch(findings).filter(|_| small || !of_annealing) {
        let text = format!(
            ", but the real data are not like simulated ones ({alarm}): the bound need not carry over to them. The model probably does \
             not describe the data."
        );
        return Some((Level::Mismatch, text));
    }
    if findings.start_check.as_ref().is_some_and(|check| !check.agree) {
        let text = ", but this depends on the number of steps before the reverse chains: use more (`--start-steps`).";
        return poor(text.to_owned());
    }
    if rung.jeffreys_upper > plan.acceptable || rung.jeffreys_upper.is_nan() {
        let carries = carries_over(findings, plan);
        return poor(match (&findings.size_notice, Size::of(rung)) {
            (Some(notice), _) => format!("; and {notice}"),
            (None, Size::Infinite(_)) => format!("; {carries}. {OVERFLOW}"),
            (None, Size::Unsteady(_)) => format!("; {carries}. {}", another_path(plan.simulation)),
            (None, Size::Bounded(_)) => format!(
                "; the bound is not small: more distributions (`--steps`), another kernel or another way to write the model may \
                 help; {carries}."
            ),
        });
    }
    if let Some(scatter) = findings.real.rungs.last().map(scatter).filter(|&scatter| scatter > plan.acceptable) {
        return poor(format!(
            ", but chains on the real data scatter more than that: the log of their mean weight is {} nats above the mean of their log \
             weights, so that a single chain is that far off by their own account. Several modes that chains cannot leave give this.",
            nats(scatter)
        ));
    }
    let real = findings.real.heuristic.as_ref()?;
    let far = real.jeffreys_upper > plan.acceptable || real.jeffreys_upper.is_nan();
    far.then(|| {
        let (size, follows) = match Size::of(real) {
            Size::Bounded(size) => (size, "Fit and annealing do not agree on the posterior of the real data."),
            Size::Unsteady(why) | Size::Infinite(why) => (
                format!("an unknown distance ({why})"),
                "So it is not known whether fit and annealing agree on the posterior of the real data.",
            ),
        };
        let text = format!(
            ", but on the real data chains from the fitted draws and back are {size} apart (a heuristic: fitted draws stand for exact \
             ones). {follows}"
        );
        (Level::Poor, text)
    })
}

fn another_path(simulation: Simulation) -> &'static str {
    match simulation {
        Simulation::Conditional | Simulation::Nothing => {
            "Tails of the posterior that the fitted reference does not have give this: more distributions (`--steps`) or another way to \
             write the model may help."
        }
        Simulation::Fitted | Simulation::Prior => ANOTHER_PATH,
    }
}

/// What alarms about the real data among replicates, in words.
fn mismatch(findings: &Findings) -> Option<String> {
    match &findings.predictive {
        Some(test) => {
            let alarm = test.alarm.as_ref()?;
            let found = test.statistics.iter().find(|statistic| statistic.name == *alarm)?;
            Some(format!(
                "{alarm} is {} where {} replicates have {} to {}; p = {:.3} for all statistics together",
                plain(found.real),
                test.replicates,
                plain(found.least),
                plain(found.largest),
                test.p_value
            ))
        }
        None => findings.calibration.as_ref().filter(|c| c.p_value <= MISMATCH).map(rank_in_words),
    }
}

/// A number of data, with four digits.
fn plain(value: f64) -> String {
    let text = if value != 0.0 && !(1e-3..1e5).contains(&value.abs()) {
        format!("{value:.3e}")
    } else {
        let text = format!("{value:.4}");
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    };
    text.replace('-', "−")
}

/// log mean w − mean log w of the chains on real data. The first is a lower bound on log-ML, so that this is a lower
/// estimate of log-ML − E[log w], which bounds the divergence of the samples from the posterior (after Eq. 12).
fn scatter(rung: &ForwardRung) -> f64 {
    let mean = mean(&rung.forward);
    if mean == f64::NEG_INFINITY { f64::INFINITY } else { rung.log_ml_lower - mean }
}

/// Chains from other starts that did not come to an end, or were not sent, have looked nowhere.
fn few_scouts(fit: &Fit) -> Option<String> {
    /// As many as there are of each kind of start.
    const FEW: usize = 8;
    let how_many = if fit.scouts == 0 { "no chain".to_owned() } else { format!("only {} chains", fit.scouts) };
    (fit.scouts < FEW).then(|| format!("modes that the fit has missed: {how_many} from other starts looked for them"))
}

/// Whether what was found rests on draws of a fit that cannot be trusted.
pub(super) fn rests_on_bad_fit(findings: &Findings, plan: &Plan) -> bool {
    plan.simulation.rests_on_fit() && findings.fit.as_ref().is_some_and(|fit| bad_fit(fit).is_some())
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
    if fit.stuck > 0 {
        let all = fit.chains + fit.stuck;
        return Some(format!("{} of its {all} chains had hardly a draw when the time was over", fit.stuck));
    }
    if fit.worst_r_hat.is_nan() || fit.worst_r_hat > MOST_R_HAT {
        return Some(format!("R-hat of {} is {:.2}", fit.worst_r_hat_name, fit.worst_r_hat));
    }
    if fit.least_ess < LEAST_ESS {
        return Some(format!("the effective sample size of {} is {:.0}", fit.least_ess_name, fit.least_ess));
    }
    if count(fit.divergences) > MOST_DIVERGENCES * draws {
        return Some(format!("{} of {draws} transitions are divergent", fit.divergences));
    }
    if fit.scouts_elsewhere > 0 {
        return Some(format!(
            "{} of {} further chains from other starts stay where none of its draws is (by {}), so that it may have missed a mode",
            fit.scouts_elsewhere, fit.scouts, fit.elsewhere_name
        ));
    }
    if !fit.wrong.is_empty() {
        let wrong = fit.wrong.trim_end_matches('.');
        return Some(format!(
            "short chains that start at its draws show that they are not those of the posterior: {wrong}"
        ));
    }
    if fit.missed_share > 0.0 {
        return Some(format!(
            "draws of the prior, weighted with the likelihood, have about {:.0} % of the posterior elsewhere (by {}), so that it \
             has missed a part",
            100.0 * fit.missed_share,
            fit.missed_name
        ));
    }
    let slow = fit.least_e_bfmi > 0.0 && fit.least_e_bfmi < LEAST_E_BFMI;
    slow.then(|| format!("E-BFMI of a chain is {:.2}, so that it hardly changes its energy", fit.least_e_bfmi))
}

fn in_words(rung: &Rung, simulation: Simulation) -> String {
    let start = format!("With T = {} distributions, ", rung.t);
    let data = match simulation {
        Simulation::Conditional => "the real data and data simulated from draws of the fit",
        Simulation::Fitted => "data simulated from the fitted model",
        Simulation::Prior => "data simulated from the prior",
        Simulation::Nothing => "the real data",
    };
    let (bounded, bound) = match simulation {
        Simulation::Nothing => (
            "Jeffreys divergence, bounded in expectation if draws of the fit are draws of the posterior",
            "bound (for which draws of the fit stand for exact ones)",
        ),
        _ => ("Jeffreys divergence, bounded in expectation", "bound"),
    };
    match Size::of(rung) {
        Size::Bounded(size) => {
            format!("{start}annealing on {data} ends within {size} of the posterior ({bounded})")
        }
        Size::Unsteady(why) | Size::Infinite(why) => {
            format!("{start}there is no finite {bound} for annealing on {data}: {why}")
        }
    }
}

fn carries_over(findings: &Findings, plan: &Plan) -> String {
    let (tested, count_of, p_value) = match (&findings.predictive, &findings.calibration) {
        (Some(test), _) => (test.is_test, test.replicates, test.p_value),
        (None, Some(c)) => (count(c.replicates.len() + 1) * MISMATCH >= 1.0, c.replicates.len(), c.p_value),
        (None, None) => {
            if let Some(why) = &plan.incomparable {
                return format!("whether the real data are like simulated ones was not tested, since {why}");
            }
            return "whether the real data are like simulated ones was not tested (`--replicates`)".to_owned();
        }
    };
    if tested {
        return format!("the real data are like {count_of} simulated ones (p = {p_value:.2})");
    }
    format!(
        "whether the real data are like simulated ones cannot be told from {count_of} replicates: a test needs 19 (`--replicates`)"
    )
}

fn rank_in_words(calibration: &Calibration) -> String {
    let Calibration { rank, replicates, p_value, .. } = calibration;
    format!("discrepancy of rank {rank} among {}, p = {p_value:.2}", replicates.len() + 1)
}

fn rests_on(findings: &Findings, plan: &Plan) -> Vec<String> {
    let Some(rung) = decisive(findings) else {
        return findings.fit.iter().map(|fit| fit_in_words(fit, plan.simulation)).collect();
    };
    let chains = rung.forward.len();
    let mut list = vec![match (&findings.confirmation, plan.simulation) {
        (Some(found), Simulation::Fitted) => format!(
            "bound: {} new chains each way on one dataset that was simulated with the fitted hyperparameters; ± is the standard error \
             between chains",
            found.rung.forward.len()
        ),
        (Some(found), Simulation::Nothing) => format!(
            "heuristic: {} new chains each way on the real data, reverse ones from {} draws of the fit, which stand for exact draws \
             (subjective divergence); ± is the standard error between draws",
            found.rung.forward.len(),
            found.datasets
        ),
        (None, Simulation::Nothing) => format!(
            "heuristic: {chains} forward and {chains} reverse chains on the real data, these from a draw of the fit, which stands for \
             an exact one (subjective divergence); ± is the standard error between chains"
        ),
        (Some(found), _) => format!(
            "bound: {} new chains each way on {} simulated datasets, each with a generating draw of its own; ± is the standard error \
             between datasets",
            found.rung.forward.len(),
            found.datasets
        ),
        (None, _) => format!(
            "bound: {chains} forward and {chains} reverse chains on one simulated dataset; ± is the standard error between chains"
        ),
    }];
    if plan.simulation == Simulation::Conditional {
        list.push(
            "θ* is a draw of the fit, y′ is simulated with θ*, and the posterior given the real data and y′ is annealed: θ* is an exact \
             draw of it if the fit is right (posterior SBC)"
                .to_owned(),
        );
    }
    if let Some(fit) = &findings.fit {
        list.push(fit_in_words(fit, plan.simulation));
    }
    if let Some(real) = &findings.real.heuristic {
        let size = match Size::of(real) {
            Size::Bounded(size) => format!("are within {size} of each other"),
            Size::Unsteady(why) | Size::Infinite(why) => format!("have no finite distance: {why}"),
        };
        list.push(format!(
            "heuristic: on the real data, forward chains and reverse chains from {} draws of the fit {size}",
            real.reverse.len()
        ));
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
    if let Some(test) = findings.predictive.as_ref().filter(|test| test.is_test) {
        list.push(format!(
            "test: {} replicated datasets, {} statistics; if the real data come from the model, p ≤ {level} happens with probability \
             {level} at most",
            test.replicates,
            test.statistics.len(),
            level = test.level
        ));
    }
    list.extend(findings.checks.iter().map(|check| check.sentence.clone()));
    list
}

fn fit_in_words(fit: &Fit, simulation: Simulation) -> String {
    let draws = if fit.given { "your draws, of".to_owned() } else { "NUTS with".to_owned() };
    let judged = if fit.unfinished {
        format!("fit: {draws} {} chains and {} draws of each, which are too few to be judged", fit.chains, fit.draws)
    } else {
        let anew = match fit.anew {
            0 => String::new(),
            n => format!(" ({n} begun anew: where it was there is next to nothing of the posterior)"),
        };
        format!("fit: {draws} {} chains{anew}, worst R-hat {:.3}", fit.chains, fit.worst_r_hat)
    };
    if simulation.rests_on_fit() {
        return judged;
    }
    let values: Vec<String> = fit.hyperparameters.iter().map(|h| format!("{} = {:.3}", h.name, h.value)).collect();
    let values = match values.len() {
        0 => "no hyperparameters: all parameters are drawn from the prior".to_owned(),
        1..=6 => format!("hyperparameters {}", values.join(", ")),
        n => format!("{n} hyperparameters"),
    };
    format!("{judged}; {values}")
}

fn does_not_cover(findings: &Findings, plan: &Plan) -> Vec<String> {
    let (first, last) = if plan.simulation == Simulation::Nothing {
        (
            "a fit that is wrong in ways that R-hat, effective sample size and chains from other starts do not show: no exact draw is \
             known, since no data could be simulated",
            "whether the model is true: real data were compared with nothing",
        )
    } else {
        (
            "the posterior of the real data itself: the bound is for simulated data, and carries over as far as both behave alike",
            "whether the model is true: the test finds misfit in the statistics that it looks at",
        )
    };
    let samplers = "other samplers than the one that was annealed; NUTS on its own is judged by R-hat and effective sample size only";
    let mut list = vec![first.to_owned(), samplers.to_owned(), last.to_owned()];
    list.extend(findings.fit.as_ref().and_then(few_scouts));
    list.extend(findings.skipped.iter().map(|what| format!("left out for want of time: {what} (`--budget`)")));
    list.extend(findings.size_notice.clone());
    if let Some(fit) = findings.fit.as_ref().filter(|fit| !fit.warnings.is_empty()) {
        list.push(format!("the fit, which has trouble of its own: {}", fit.warnings.join("; ")));
    }
    list
}
