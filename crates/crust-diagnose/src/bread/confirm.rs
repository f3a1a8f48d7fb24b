//! The bound once more, from chains and datasets that nothing was decided by; and the way back on the real data.

use super::clock::{Clock, seconds_at};
use super::{CONFIRMING, Findings, Fitted, Plan, SIMULATED};
use crate::checkpoint::Halt;
use crate::executor::{BothWays, Chains, Executor, Workshop};
use crate::experiment::{REAL, Work, estimates, mean_and_error, reverse_estimates};
use crate::number::count;
use crate::result::{Confirmation, Rung, Simulation};
use crate::sandwich::small_sample_quantile;

/// Datasets over which the confirmation is spread, if there are chains enough for all.
const DATASETS: usize = 10;
/// The fewest chains of one of them.
const FEWEST: usize = 4;
/// Times as many chains where the first do not show whether there is a mean: 100 values have 20 in their tail, and k-hat
/// of 20 is off by 0.3; 400 have 60, which lie further out.
const MORE: usize = 4;

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
    let Some((t, each_way)) = findings.simulated.rungs.last().map(|rung| (rung.t, rung.forward.len())) else {
        return Ok(());
    };
    let exact = plan.simulation != Simulation::Fitted;
    if !exact && !ended_early {
        return Ok(());
    }
    let drawing = if exact { count(DATASETS) * clock.dataset } else { 0.0 };
    let needed = drawing + seconds_at(workshop.journal, t, |dataset| dataset == SIMULATED);
    if !clock.allows(workshop.journal, needed) {
        findings
            .skipped
            .push(format!("the confirmation of the bound by new chains, which would take {needed:.0} s more"));
        return Ok(());
    }
    if exact {
        let datasets = (each_way / FEWEST).clamp(1, DATASETS);
        let chains = each_way.div_ceil(datasets);
        let mut all: Vec<BothWays> = vec![<_>::default(); datasets];
        for range in [0..chains, chains..MORE * chains] {
            for (dataset, (up, down)) in (CONFIRMING..).zip(&mut all) {
                let truth = workshop.executor.experiment().simulate(dataset).map_err(Halt::Work)?;
                let chains = Chains { dataset, t, range: range.clone() };
                let (forward, reverse) = workshop.both::<E>(kernels, &chains, &vec![truth; range.end])?;
                up.extend(forward);
                down.extend(reverse);
            }
            let found = together(t, &all);
            let needed = count(MORE - 1) * needed;
            let decided = found.rung.jeffreys_upper.is_finite() || !clock.allows(workshop.journal, 2.0 * needed);
            findings.confirmation = Some(found);
            if decided {
                break;
            }
        }
        return Ok(());
    }
    let starts = &starts[..each_way];
    let again = [starts, starts].concat();
    let chains = Chains { dataset: SIMULATED, t, range: each_way..2 * each_way };
    let (up, down) = workshop.both::<E>(kernels, &chains, &again)?;
    findings.confirmation = Some(Confirmation { datasets: 1, rung: Rung::new(t, &up, &down) });
    Ok(())
}

/// The chains of several datasets as those of one: each dataset is shifted by its own log-ML. B̂ does not change by
/// that, and its error is that between datasets if it is larger.
fn together(t: usize, all: &[BothWays]) -> Confirmation {
    let datasets = all.len();
    let (mut up, mut down, mut gaps): (Vec<Work>, Vec<Work>, Vec<f64>) = (vec![], vec![], vec![]);
    for (forward, reverse) in all {
        let (w, r) = (estimates(forward), reverse_estimates(reverse));
        gaps.push(mean_and_error(&r).0 - mean_and_error(&w).0);
        let shift = Rung::new(t, forward, reverse).level();
        up.extend(forward.iter().map(|work| Work { log_weight: work.log_weight - shift, ..*work }));
        down.extend(reverse.iter().map(|work| Work { log_weight: work.log_weight + shift, ..*work }));
    }
    let (mean, between) = mean_and_error(&gaps);
    let mut rung = Rung::new(t, &up, &down);
    rung.without_log_ml();
    if datasets > 2 {
        rung.jeffreys_se = between;
        rung.jeffreys_upper = rung.jeffreys_upper.max(mean.max(0.0) + small_sample_quantile(datasets) * between);
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
    if plan.simulation == Simulation::Nothing {
        // That is what the bound is made of.
        return Ok(());
    }
    let Some((t, each_way)) = findings.real.rungs.last().map(|rung| (rung.t, rung.forward.len())) else {
        return Ok(());
    };
    let starts = workshop.executor.experiment().fitted_draws(each_way);
    if starts.is_empty() {
        return Ok(());
    }
    let needed = seconds_at(workshop.journal, t, |dataset| dataset == REAL);
    if !clock.allows(workshop.journal, needed) {
        findings.skipped.push(format!("reverse chains on the real data, which would take {needed:.0} s more"));
        return Ok(());
    }
    let starts: Vec<E::State> = starts.iter().cycle().take(MORE * each_way).cloned().collect();
    let (mut up, mut down): (Vec<Work>, Vec<Work>) = (vec![], vec![]);
    for range in [0..each_way, each_way..MORE * each_way] {
        let chains = Chains { dataset: REAL, t, range };
        let units = workshop.reverse_units::<E>(kernels, chains.clone(), &starts, false);
        down.extend(workshop.all::<E, Vec<Work>>(units)?.concat());
        up.extend(workshop.forward::<E>(kernels, chains)?);
        let rung = Rung::new(t, &up, &down);
        let decided =
            rung.jeffreys_upper.is_finite() || !clock.allows(workshop.journal, 4.0 * count(MORE - 1) * needed);
        findings.real.heuristic = Some(rung);
        if decided {
            break;
        }
    }
    Ok(())
}
