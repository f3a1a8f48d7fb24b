//! Real data among replicates: how annealing behaves on them, and what they look like.

use super::clock::{Clock, seconds_at};
use super::predictive::{self, Column, MISMATCH, Side};
use super::{Curve, Findings, Fitted, Plan, SIMULATED, calibrate, curve};
use crate::checkpoint::Halt;
use crate::executor::{Chains, Executor, Workshop};
use crate::experiment::{REAL, TWIN, Work, estimates};
use crate::number::{Number, count};
use crate::result::{Calibration, Simulation};

/// T and chains of the curves, whatever the ladder: curves are computed R + 1 times, and the rank is exact for any T.
struct Extent {
    steps: &'static [usize],
    chains: usize,
}

/// From the prior.
const LONG: Extent = Extent { steps: &[10, 30, 100], chains: 50 };
/// From a reference, which is near.
const BRIEF: Extent = Extent { steps: &[10, 30], chains: 24 };
/// The fewest replicates that a test needs: a rank among R + 1 has p ≥ 1/(R + 1).
const FEWEST: u32 = 19;
/// Times as many datasets where there is an alarm.
const MORE: u32 = 4;

/// What names of statistics begin with that say how annealing goes.
pub(super) const ANNEALING: &str = "annealing:";

/// Ranks the real data among replicates.
pub(super) fn compare<E: Fitted, X: Executor<E>>(
    workshop: &mut Workshop<'_, X>,
    plan: &Plan,
    clock: Clock,
    kernels: &E::Kernels,
    findings: &mut Findings,
) -> Result<(), Halt<E::Error>> {
    if plan.replicates == 0 {
        return Ok(());
    }
    let conditional = plan.simulation == Simulation::Conditional;
    let extent = if conditional { BRIEF } else { LONG };
    let (replicates, each) = affordable(workshop, plan, clock, &extent, findings);
    let datasets = if replicates > 0 { replicates } else { plan.replicates };
    // What is not annealed has to be drawn all the same.
    let drawing = f64::from(datasets) * clock.dataset;
    if replicates == 0 && !clock.allows(workshop.journal, drawing) {
        findings.skipped.push(format!("the comparison with replicates: to draw them would take {drawing:.0} s more"));
        return Ok(());
    }
    among::<E, X>(workshop, plan, kernels, (&extent, replicates, datasets, MISMATCH), findings)?;
    // An alarm is looked at again among more replicates, so that chance does not decide it.
    let more = MORE * (datasets + 1) - 1;
    let alarmed = findings.predictive.as_ref().is_some_and(|test| test.alarm.is_some());
    let needed = f64::from(more - datasets) * (if replicates > 0 { each } else { clock.dataset });
    if alarmed && clock.allows(workshop.journal, needed) {
        let annealed = if replicates > 0 { more } else { 0 };
        among::<E, X>(workshop, plan, kernels, (&extent, annealed, more, MISMATCH / 2.0), findings)?;
    }
    Ok(())
}

/// The real data among so many replicates, of which some are annealed; p up to the level is an alarm.
fn among<E: Fitted, X: Executor<E>>(
    workshop: &mut Workshop<'_, X>,
    plan: &Plan,
    kernels: &E::Kernels,
    (extent, replicates, datasets, level): (&Extent, u32, u32, f64),
    findings: &mut Findings,
) -> Result<(), Halt<E::Error>> {
    let conditional = plan.simulation == Simulation::Conditional;
    let mut columns = Vec::new();
    if replicates > 0 {
        let curves = curves::<E, X>(workshop, plan, kernels, (extent, replicates))?;
        let Some((real, others)) = curves.split_first() else { return Ok(()) };
        if let (true, Some((twin, others))) = (conditional, others.split_first()) {
            columns = shortfalls(extent, (real, twin), others);
            findings.calibration = Some(one_sided(extent, &columns, real, others));
        } else {
            let shifted = |of: &Weights| curve(&of.0.iter().map(Vec::as_slice).collect::<Vec<_>>());
            let others: Vec<Curve> = others.iter().map(shifted).collect();
            let found = calibrate(extent.steps, extent.chains, &shifted(real), &others);
            let values = std::iter::once(found.discrepancy).chain(found.replicates.iter().copied()).collect();
            columns.push(Column { name: format!("{ANNEALING} shape of the curve"), side: Side::Upper, values });
            let levels = curves.iter().map(Weights::level).collect();
            columns.push(Column { name: format!("{ANNEALING} log-ML"), side: Side::Both, values: levels });
            findings.calibration = Some(found);
        }
    }
    columns.extend(outcomes::<E, X>(workshop, datasets)?);
    findings.predictive = predictive::compare(&columns, level);
    Ok(())
}

/// How many replicates can be annealed in what is left of the time, and how long each takes.
fn affordable<X>(
    workshop: &Workshop<'_, X>,
    plan: &Plan,
    clock: Clock,
    extent: &Extent,
    findings: &mut Findings,
) -> (u32, f64) {
    let Some(rung) = findings.simulated.rungs.last() else { return (0, 0.0) };
    let transitions = count(rung.t * (rung.forward.len() + rung.reverse.len()));
    let each = seconds_at(workshop.journal, rung.t, |dataset| dataset == SIMULATED) / transitions;
    // Replicates are drawn twice: to be annealed, and to be looked at.
    let drawing = 2.0 * clock.dataset + 0.002;
    let seconds = 1.3 * each * count(extent.steps.iter().sum::<usize>() * extent.chains) + drawing;
    let left = clock.left(workshop.journal);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates, which is meant")]
    let most = (0.8 * left / seconds) as u32;
    if most >= plan.replicates {
        return (plan.replicates, seconds);
    }
    if most >= FEWEST {
        findings.skipped.push(format!("all but {most} of {} replicates", plan.replicates));
        return (most, seconds);
    }
    findings.skipped.push("annealing of replicates: they are compared with the data as they are".to_owned());
    (0, seconds)
}

/// log w of a dataset at each T.
#[derive(Clone, Debug, PartialEq)]
struct Weights(Vec<Vec<f64>>);

impl Weights {
    fn quartiles(&self, at: usize) -> [f64; 3] {
        self.0.get(at).map_or([f64::NAN; 3], |weights| crate::sandwich::quartiles(weights))
    }

    /// The median at the largest T.
    fn level(&self) -> f64 {
        self.quartiles(self.0.len().saturating_sub(1))[1]
    }
}

/// Forward weights of the real data, of the real data taken twice where data are conditioned on, and then of each
/// replicate.
fn curves<E: Fitted, X: Executor<E>>(
    workshop: &mut Workshop<'_, X>,
    plan: &Plan,
    kernels: &E::Kernels,
    (extent, replicates): (&Extent, u32),
) -> Result<Vec<Weights>, Halt<E::Error>> {
    let chains = plan.chains.min(extent.chains);
    let twin = (plan.simulation == Simulation::Conditional).then_some((TWIN, chains));
    let datasets = (SIMULATED + 1..=SIMULATED + replicates).map(|dataset| (dataset, chains));
    // The real data's chains are those of the ladder, where it has these T.
    let datasets = std::iter::once((REAL, plan.chains)).chain(twin).chain(datasets);
    let wanted = datasets.flat_map(|(dataset, run)| extent.steps.iter().map(move |&t| Chains::first(dataset, t, run)));
    let units: Vec<Vec<_>> = wanted.map(|wanted| workshop.forward_units::<E>(kernels, wanted)).collect();
    let counts: Vec<usize> = units.iter().map(Vec::len).collect();
    let mut works = workshop.all::<E, Vec<Work>>(units.concat())?.into_iter();
    let mut log_weights = |count: usize| {
        let works: Vec<Work> = works.by_ref().take(count).flatten().collect();
        estimates(&works[..chains.min(works.len())])
    };
    let all: Vec<Vec<f64>> = counts.into_iter().map(&mut log_weights).collect();
    Ok(all.chunks(extent.steps.len()).map(|rungs| Weights(rungs.to_vec())).collect())
}

/// What would be bad about annealing on the real data.
///
/// A replicate y′ is annealed as p(θ | y, y′), from a reference that was fitted to p(θ | y). How annealing goes is
/// looked at on p(θ | y) itself, which is nearer to the reference: only the bad side says something. It must not be
/// looked at on p(θ | y, y): where each observation has a parameter of its own, the same numbers twice let a scale go to
/// 0 as no two datasets do. How likely the data are is a matter of p(θ | y, y): in the posterior that all datasets share
/// the real data are better described than others, and again only the bad side says something.
fn shortfalls(extent: &Extent, (real, twin): (&Weights, &Weights), others: &[Weights]) -> Vec<Column> {
    let last = extent.steps.len() - 1;
    let column = |name: String, first: &Weights, value: &dyn Fn(&Weights) -> f64| Column {
        name: format!("{ANNEALING} {name}"),
        side: Side::Upper,
        values: std::iter::once(first).chain(others).map(value).collect(),
    };
    let spread = |w: &Weights| w.quartiles(last)[2] - w.quartiles(last)[0];
    vec![
        column(format!("shortfall at T = {}", extent.steps[0]), real, &|w| w.level() - w.quartiles(0)[1]),
        column(format!("spread at T = {}", extent.steps[last]), real, &spread),
        column("how unlikely the data are".to_owned(), twin, &|w| -w.level()),
    ]
}

/// The rank of the real curve, by what would be bad about it.
fn one_sided(extent: &Extent, columns: &[Column], real: &Weights, others: &[Weights]) -> Calibration {
    let all: Vec<Vec<f64>> = columns.iter().map(|c| predictive::deviations(&c.values, c.side)).collect();
    let worst = |i: usize| all.iter().map(|column| column[i]).fold(f64::NEG_INFINITY, f64::max);
    let discrepancies: Vec<f64> = (0..=others.len()).map(worst).collect();
    let rank = predictive::rank_of_first(&discrepancies);
    let numbers = |weights: &Weights| {
        let shifted = curve(&weights.0.iter().map(Vec::as_slice).collect::<Vec<_>>());
        shifted.0.iter().map(|q| q.map(Number).to_vec()).collect::<Vec<_>>()
    };
    Calibration {
        steps: extent.steps.to_vec(),
        chains: extent.chains,
        discrepancy: discrepancies[0],
        replicates: discrepancies[1..].to_vec(),
        rank,
        p_value: count(rank) / count(discrepancies.len()),
        real_curve: numbers(real),
        replicate_curves: others.iter().map(numbers).collect(),
    }
}

/// Numbers that describe the outcomes themselves.
fn outcomes<E: Fitted, X: Executor<E>>(
    workshop: &mut Workshop<'_, X>,
    replicates: u32,
) -> Result<Vec<Column>, Halt<E::Error>> {
    let experiment = workshop.executor.experiment();
    let real = experiment.statistics(REAL).map_err(Halt::Work)?;
    let column = |(name, value): (String, f64)| Column { name, side: Side::Both, values: vec![value] };
    let mut columns: Vec<Column> = real.into_iter().map(column).collect();
    if columns.is_empty() {
        return Ok(columns);
    }
    for dataset in SIMULATED + 1..=SIMULATED + replicates {
        let found = experiment.statistics(dataset).map_err(Halt::Work)?;
        for column in &mut columns {
            let value = found.iter().find(|(name, _)| *name == column.name).map_or(f64::NAN, |(_, value)| *value);
            column.values.push(value);
        }
    }
    // a number that some datasets do not have is no number to compare by
    columns.retain(|column| column.values.iter().all(|value| !value.is_nan()));
    Ok(columns)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Curves with a shortfall and a spread, at a level.
    fn weights(level: f64, shortfall: f64, spread: f64) -> Weights {
        let around = |middle: f64, spread: f64| (-2..=2).map(|i| middle + 0.5 * spread * f64::from(i)).collect();
        Weights(vec![around(level - shortfall, 1.0), around(level, spread)])
    }

    /// How annealing goes is that of the real data, how likely they are that of the real data taken twice.
    #[test]
    fn real_data_taken_twice_only_tell_how_likely_they_are() {
        let (real, twin) = (weights(-10.0, 2.0, 1.0), weights(-25.0, 50.0, 40.0));
        let others = [weights(-20.0, 3.0, 1.5), weights(-30.0, 4.0, 2.0)];
        let columns = shortfalls(&BRIEF, (&real, &twin), &others);
        let expected = [[2.0, 3.0, 4.0], [1.0, 1.5, 2.0], [25.0, 20.0, 30.0]];
        assert_eq!(columns.len(), 3);
        for (column, expected) in columns.iter().zip(expected) {
            assert!(column.name.starts_with(ANNEALING) && column.side == Side::Upper);
            let far = column.values.iter().zip(expected).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            assert!(far < 1e-12, "{}: {:?}", column.name, column.values);
        }
    }
}
