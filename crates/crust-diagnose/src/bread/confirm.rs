//! The bound once more, from chains and datasets that nothing was decided by; and the way back on the real data.

use super::clock::{Clock, seconds_at};
use super::{CONFIRMING, Findings, Fitted, Plan, SIMULATED};
use crate::checkpoint::Halt;
use crate::executor::{BothWays, Chains, Executor, Workshop};
use crate::experiment::{REAL, Work, estimates, mean_and_error, reverse_estimates};
use crate::result::{Confirmation, Rung, Simulation};
use crate::sandwich::small_sample_quantile;

/// Datasets over which the confirmation is spread, if there are chains enough for all.
const DATASETS: usize = 10;
/// The fewest chains of one of them.
const FEWEST: usize = 4;

/// The bound at the last T from new chains. A ladder that is climbed until a bound is small ends at bounds that are
/// small by chance.
///
/// Where generating values are exact draws each of several new datasets has its own, so that the error includes how
/// datasets and draws differ.
pub(super) fn confirm<E: Fitted, X: Executor<E>>(
    workshop: &mut Workshop<'_, X>,
    plan: &Plan,
    clock: Clock,
    (kernels, starts, ended_early): (&E::Kernels, &[E::State], bool),
    findings: &mut Findings,
) -> Result<(), Halt<E::Error>> {
    let Some(t) = findings.simulated.rungs.last().map(|rung| rung.t) else { return Ok(()) };
    let exact = plan.simulation != Simulation::Fitted;
    if !exact && !ended_early {
        return Ok(());
    }
    let needed = seconds_at(workshop.journal, t, |dataset| dataset == SIMULATED);
    if !clock.allows(workshop.journal, needed) {
        findings
            .skipped
            .push(format!("the confirmation of the bound by new chains, which would take {needed:.0} s more"));
        return Ok(());
    }
    if exact {
        let datasets = (plan.chains / FEWEST).clamp(1, DATASETS);
        let chains = plan.chains.div_ceil(datasets);
        let mut all: Vec<BothWays> = Vec::new();
        for dataset in (CONFIRMING..).take(datasets) {
            let truth = workshop.executor.experiment().simulate(dataset).map_err(Halt::Work)?;
            all.push(workshop.both::<E>(kernels, &Chains::first(dataset, t, chains), &vec![truth; chains])?);
        }
        findings.confirmation = Some(together(t, all));
        return Ok(());
    }
    let again = [starts, starts].concat();
    let chains = Chains { dataset: SIMULATED, t, range: starts.len()..2 * starts.len() };
    let (up, down) = workshop.both::<E>(kernels, &chains, &again)?;
    findings.confirmation = Some(Confirmation { datasets: 1, rung: Rung::new(t, &up, &down) });
    Ok(())
}

/// The chains of several datasets as those of one: each dataset is shifted by its own log-ML. B̂ does not change by
/// that, and its error is that between datasets if it is larger.
fn together(t: usize, all: Vec<BothWays>) -> Confirmation {
    let datasets = all.len();
    let (mut up, mut down, mut gaps): (Vec<Work>, Vec<Work>, Vec<f64>) = (vec![], vec![], vec![]);
    for (forward, reverse) in all {
        let (w, r) = (estimates(&forward), reverse_estimates(&reverse));
        gaps.push(mean_and_error(&r).0 - mean_and_error(&w).0);
        let shift = Rung::new(t, &forward, &reverse).level();
        up.extend(forward.into_iter().map(|work| Work { log_weight: work.log_weight - shift, ..work }));
        down.extend(reverse.into_iter().map(|work| Work { log_weight: work.log_weight + shift, ..work }));
    }
    let (mean, between) = mean_and_error(&gaps);
    let mut rung = Rung::new(t, &up, &down);
    rung.without_log_ml();
    if datasets > 2 {
        rung.jeffreys_se = between;
        rung.jeffreys_upper = rung.jeffreys_upper.max(mean + small_sample_quantile(datasets) * between);
    }
    Confirmation { datasets, rung }
}

/// Reverse chains on the real data from draws of the fit, at the last T.
///
/// If these were exact draws of the posterior, the gap to the forward chains would bound the divergence on the real
/// data themselves. What is computed with draws of another sampler is a subjective divergence (Cusumano-Towner and
/// Mansinghka 2017; section 4 of the preprint).
pub(super) fn real<E: Fitted, X: Executor<E>>(
    workshop: &mut Workshop<'_, X>,
    plan: &Plan,
    clock: Clock,
    kernels: &E::Kernels,
    findings: &mut Findings,
) -> Result<(), Halt<E::Error>> {
    let Some(t) = findings.real.rungs.last().map(|rung| rung.t) else { return Ok(()) };
    let starts = workshop.executor.experiment().fitted_draws(plan.chains);
    if starts.is_empty() {
        return Ok(());
    }
    let needed = seconds_at(workshop.journal, t, |dataset| dataset == REAL);
    if !clock.allows(workshop.journal, needed) {
        findings.skipped.push(format!("reverse chains on the real data, which would take {needed:.0} s more"));
        return Ok(());
    }
    let units = workshop.reverse_units::<E>(kernels, Chains::first(REAL, t, starts.len()), &starts, false);
    let down = workshop.all::<E, Vec<Work>>(units)?.concat();
    let up = workshop.forward::<E>(kernels, Chains::first(REAL, t, plan.chains))?;
    findings.real.heuristic = Some(Rung::new(t, &up, &down));
    Ok(())
}
