//! What is wrong with a run, in plain words, and what to do about it.

use super::{Row, SamplerReport, SummaryOptions};
use crate::draws::Draws;
use crate::number::count as to_number;
use serde::{Deserialize, Serialize};

/// Chains with an R-hat above this have not mixed well enough (Vehtari et al. 2021).
const GREATEST_RHAT: f64 = 1.01;
/// Below this effective sample size per chain, R-hat and the error estimates are themselves unreliable (Vehtari et al.
/// 2021).
const LEAST_ESS_PER_CHAIN: usize = 100;
/// Chains with an E-BFMI below this explore the energy too slowly (Betancourt 2016; the threshold is `CmdStan`'s).
const LEAST_EBFMI: f64 = 0.3;

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Warning {
    pub kind: WarningKind,
    /// What was found.
    pub finding: String,
    /// What it means and what to do.
    pub advice: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WarningKind {
    Divergences,
    TreeDepth,
    Ebfmi,
    RHat,
    EssBulk,
    EssTail,
    NonFinite,
    OneChain,
    UnequalChains,
    TooFewDraws,
}

/// All warnings, those about the sampler first: they explain the others.
pub(super) fn warnings(draws: &Draws, rows: &[Row], sampler: &SamplerReport, options: &SummaryOptions) -> Vec<Warning> {
    let total = draws.chains.iter().map(|chain| chain.sampling.len()).sum();
    let least_ess = LEAST_ESS_PER_CHAIN * draws.chains.len();
    let found = [
        divergences(sampler.divergences, total),
        tree_depth(sampler.max_depth_reached, total, options.max_depth),
        ebfmi(sampler),
        non_finite(draws),
        too_few_draws(draws),
        r_hat(rows),
        ess(WarningKind::EssBulk, rows, least_ess),
        ess(WarningKind::EssTail, rows, least_ess),
        one_chain(draws),
        unequal_chains(draws),
    ];
    found.into_iter().flatten().collect()
}

impl Warning {
    fn new(kind: WarningKind, finding: String, advice: &str) -> Self {
        Self { kind, finding, advice: advice.to_owned() }
    }
}

/// "10 of 4000 transitions (0.2%)"
fn share(count: usize, total: usize) -> String {
    let noun = if total == 1 { "transition" } else { "transitions" };
    format!("{count} of {total} {noun} ({:.1}%)", 100.0 * to_number(count) / to_number(total))
}

fn divergences(count: usize, total: usize) -> Option<Warning> {
    if count == 0 {
        return None;
    }
    Some(Warning::new(
        WarningKind::Divergences,
        format!("{} after warm-up diverged.", share(count, total)),
        "The sampler could not follow the posterior where it curves sharply, so that the draws may miss a part of it. \
         Write the model in another way (a non-centred parameterisation, tighter priors on scales), or raise the target \
         acceptance rate (delta) towards 1.",
    ))
}

fn tree_depth(count: usize, total: usize, max_depth: Option<u32>) -> Option<Warning> {
    let depth = max_depth.filter(|_| count > 0)?;
    Some(Warning::new(
        WarningKind::TreeDepth,
        format!("{} reached the greatest tree depth, {depth}.", share(count, total)),
        "Trajectories ended before they turned: the draws are valid, but each costs more and moves less than it could. \
         Rescale or reparameterise the model, try a dense metric, or raise the greatest depth.",
    ))
}

fn ebfmi(sampler: &SamplerReport) -> Option<Warning> {
    let low: Vec<(usize, f64)> =
        (1..).zip(sampler.ebfmi.iter().map(|x| x.0)).filter(|&(_, x)| x < LEAST_EBFMI).collect();
    let least = low.iter().map(|&(_, x)| x).reduce(f64::min)?;
    let chains: Vec<String> = low.iter().map(|(chain, _)| chain.to_string()).collect();
    let noun = if chains.len() == 1 { "chain" } else { "chains" };
    Some(Warning::new(
        WarningKind::Ebfmi,
        format!("E-BFMI is below {LEAST_EBFMI} in {noun} {} (lowest {least:.2}).", chains.join(", ")),
        "The momentum moves the energy only a little at a time, so that heavy tails are explored slowly. Reparameterise the \
         model, above all scales of hierarchical parameters.",
    ))
}

fn non_finite(draws: &Draws) -> Option<Warning> {
    // all of a chain's draws at once: a loop that may end at each costs several times more
    let is_finite = |chain: &[f64]| chain.iter().fold(true, |all, x| all & x.is_finite());
    let has = |index: &usize| !draws.quantity(*index).into_iter().all(is_finite);
    let bad: Vec<usize> = (0..draws.names.len()).filter(has).collect();
    let first = crate::draws::bracketed(&draws.names[*bad.first()?]);
    let finding = match bad.len() {
        1 => format!("{first} has draws that are NaN or infinite."),
        n => format!("{n} quantities have draws that are NaN or infinite, the first is {first}."),
    };
    Some(Warning::new(
        WarningKind::NonFinite,
        finding,
        "Statistics that need all draws are missing for them. Look for a division by 0, the logarithm or root of a negative \
         number, or a value that is never assigned.",
    ))
}

fn too_few_draws(draws: &Draws) -> Option<Warning> {
    // halves of chains need three draws for an effective sample size
    const FEWEST: usize = 6;
    let shortest = draws.lengths().0;
    if draws.chains.is_empty() || shortest >= FEWEST {
        return None;
    }
    let finding = match shortest {
        0 => "A chain has no draws after warm-up.".to_owned(),
        1 => "A chain has only one draw after warm-up.".to_owned(),
        n => format!("A chain has only {n} draws after warm-up."),
    };
    Some(Warning::new(WarningKind::TooFewDraws, finding, "Convergence cannot be judged. Run longer chains."))
}

/// The row with the worst value, and how many rows are beyond the limit.
fn worst(rows: &[Row], beyond: impl Fn(&Row) -> bool, badness: impl Fn(&Row) -> f64) -> Option<(&Row, usize)> {
    let count = rows.iter().filter(|row| beyond(row)).count();
    let row = rows.iter().filter(|row| beyond(row)).max_by(|a, b| badness(a).total_cmp(&badness(b)))?;
    Some((row, count))
}

fn quantities(count: usize, total: usize) -> String {
    format!("for {count} of {total} {}", if total == 1 { "quantity" } else { "quantities" })
}

fn r_hat(rows: &[Row]) -> Option<Warning> {
    let (row, count) = worst(rows, |row| row.r_hat > GREATEST_RHAT, |row| row.r_hat)?;
    let (name, value) = (&row.name, row.r_hat);
    Some(Warning::new(
        WarningKind::RHat,
        format!("R-hat is above {GREATEST_RHAT} {} (worst {value:.3}, {name}).", quantities(count, rows.len())),
        "The chains, or their halves, disagree: they have not converged to one distribution, and means and intervals cannot be \
         trusted. Run longer chains; if it stays, look for separate modes, weak identification or a hard geometry.",
    ))
}

fn ess(kind: WarningKind, rows: &[Row], least: usize) -> Option<Warning> {
    let value = |row: &Row| if kind == WarningKind::EssBulk { row.ess_bulk } else { row.ess_tail };
    let limit = to_number(least);
    let (row, count) = worst(rows, |row| value(row) < limit, |row| -value(row))?;
    let (what, consequence) = if kind == WarningKind::EssBulk {
        (
            "Bulk",
            "Means and medians have a large Monte Carlo error, and R-hat is unreliable. Draw more, or make the model easier.",
        )
    } else {
        ("Tail", "Quantiles and intervals have a large Monte Carlo error. Draw more, or make the model easier.")
    };
    let found = format!(
        "{what} effective sample size is below {least} ({LEAST_ESS_PER_CHAIN} per chain) {} (lowest {:.0}, {}).",
        quantities(count, rows.len()),
        value(row),
        row.name
    );
    Some(Warning::new(kind, found, consequence))
}

fn one_chain(draws: &Draws) -> Option<Warning> {
    if draws.chains.len() != 1 {
        return None;
    }
    Some(Warning::new(
        WarningKind::OneChain,
        "There is only one chain.".to_owned(),
        "R-hat compares only its two halves, and cannot see a mode that the chain never visited. Run four chains or more.",
    ))
}

fn unequal_chains(draws: &Draws) -> Option<Warning> {
    let (shortest, longest) = draws.lengths();
    if shortest == longest {
        return None;
    }
    Some(Warning::new(
        WarningKind::UnequalChains,
        format!("The chains have different lengths, {shortest} to {longest} draws."),
        "Only the first draws of each, as many as the shortest chain has, are summarised. Was the run interrupted?",
    ))
}
