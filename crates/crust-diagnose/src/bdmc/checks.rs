//! Checks of the implementation: results that a correct one has with tiny probability only.

use std::borrow::Cow;

use crate::checkpoint::Halt;
use crate::executor::{Executor, Workshop};
use crate::experiment::{Experiment, Moves};
use crate::number::count;
use crate::result::{Check, Rung};
use crate::sandwich::{
    Exchange, LEVEL, SLOPE_LEVEL, exchange_check, fisher_combination, fluctuation_slope, markov_check, rank_p_values,
};
use crate::units::Task;

/// The rungs of each dataset.
pub(crate) type Ladders<'a> = Vec<&'a [Rung]>;

/// Others among which the generating values are ranked.
const SPOKES: usize = 99;
/// Transitions from the generating values to the hub, and from the hub to each of the others.
const TRANSITIONS: usize = 20;
/// Parameters whose ranks are looked at: each more makes the others count for less.
const MOST_PARAMETERS: usize = 100;
/// Transitions of the check of one dataset.
pub(crate) const RANK_TRANSITIONS: usize = (SPOKES + 1) * TRANSITIONS;

/// Whether the generating parameters look like draws from the posterior that the kernels leave invariant.
///
/// From the generating values, which are an exact draw of the posterior, a chain of reversible transitions leads to a
/// hub, and independent chains of the same length lead from there to others. Seen from the hub all ends are alike: the
/// generating values and the others are exchangeable, exactly and for any number of transitions (Besag and Clifford
/// 1989). So their ranks are uniform in every quantity: log prior, log likelihood and parameters are looked at. Ranks
/// of independent datasets are combined by Fisher's method, for each direction; the quantities and directions by
/// Bonferroni's. A simulator or a kernel with a mistake breaks this. A kernel that is not reversible goes to the hub by
/// its time reversal.
pub(crate) fn rank_check<E: Experiment, X: Executor<E>>(
    workshop: &mut Workshop<'_, X>,
    datasets: u32,
    kernels: &E::Kernels,
) -> Result<Option<Check>, Halt<E::Error>> {
    if datasets == 0 {
        return Ok(None);
    }
    let unit = |dataset| workshop.unit::<E>(dataset, Task::Rank { kernels: Cow::Borrowed(kernels) });
    let units = (1..=datasets).map(unit).collect();
    let all: Vec<Vec<[f64; 2]>> = workshop.all::<E, _>(units)?;
    let p_value = combine(&all);
    let failed = p_value <= LEVEL;
    let found = if failed {
        "the parameters that data were simulated with do not look like draws from the posterior of these data: the simulator \
         does not draw from the density that the program states, or the kernels do not leave it invariant"
    } else {
        "the parameters that data were simulated with rank among draws of the kernels as they should"
    };
    Ok(Some(Check {
        name: "generating values among posterior draws".to_owned(),
        p_value,
        level: LEVEL,
        rigorous: true,
        failed,
        sentence: format!("In {datasets} simulated datasets, {found}."),
    }))
}

/// The smallest of the combined p-values, with the price of having looked at several.
fn combine(all: &[Vec<[f64; 2]>]) -> f64 {
    let quantities = all.iter().map(Vec::len).min().unwrap_or(0);
    let mut least: f64 = 1.0;
    for quantity in 0..quantities {
        for direction in 0..2 {
            let p_values: Vec<f64> = all.iter().map(|dataset| dataset[quantity][direction]).collect();
            least = least.min(fisher_combination(&p_values));
        }
    }
    (2.0 * count(quantities) * least).min(1.0)
}

/// The p-values of log prior, log likelihood and the first parameters for one dataset.
pub(crate) fn ranks<E: Experiment>(
    experiment: &mut E,
    kernels: &E::Kernels,
    dataset: u32,
) -> Result<Vec<[f64; 2]>, E::Error> {
    let truth = experiment.simulate(dataset)?;
    let hub = experiment.equilibrate(kernels, dataset, std::slice::from_ref(&truth), TRANSITIONS, Moves::Hub)?;
    let starts: Vec<E::State> = hub.iter().cycle().take(SPOKES).cloned().collect();
    let mut states = experiment.equilibrate(kernels, dataset, &starts, TRANSITIONS, Moves::Spokes)?;
    states.push(truth);
    let densities = experiment.densities(dataset, &states)?;
    let rank = |values: Vec<f64>| values.split_last().map_or([1.0; 2], |(truth, others)| rank_p_values(*truth, others));
    let mut p_values = vec![
        rank(densities.iter().map(|d| d.log_prior).collect()),
        rank(densities.iter().map(|d| d.log_likelihood).collect()),
    ];
    let points: Vec<Vec<f64>> = states.iter().map(|state| experiment.coordinates(state)).collect();
    let dimension = points.iter().map(Vec::len).min().unwrap_or(0);
    p_values.extend((0..dimension.min(MOST_PARAMETERS)).map(|i| rank(points.iter().map(|point| point[i]).collect())));
    Ok(p_values)
}

/// Datasets that the check of signs needs to have a chance.
const FEWEST_SIGNS: usize = 5;

/// Checks of forward against reverse estimates. `spread_starts` says whether reverse chains of a dataset have starts of
/// their own.
pub(crate) fn violation_checks(ladders: &Ladders<'_>, spread_starts: bool) -> Vec<Check> {
    let mut checks = Vec::new();
    if ladders.iter().all(|rungs| rungs.is_empty()) {
        return checks;
    }
    let exchanges: Vec<Vec<Exchange<'_>>> =
        ladders.iter().map(|rungs| rungs.iter().map(Exchange::from).collect()).collect();
    checks.push(markov(markov_check(&exchanges)));
    let first: Vec<f64> = exchanges
        .iter()
        .filter_map(|rungs| rungs.first())
        .filter_map(|e| Some(e.reverse.first()? - e.forward.first()?))
        .collect();
    if first.len() >= FEWEST_SIGNS {
        checks.push(signs(exchange_check(&first), first.len()));
    }
    let slopes: Vec<f64> = exchanges.iter().flatten().filter_map(|&exchange| fluctuation_slope(exchange)).collect();
    if let Some(least) = slopes.iter().copied().reduce(f64::min) {
        checks.push(slope((least * count(slopes.len())).min(1.0), spread_starts));
    }
    checks
}

fn markov(p_value: f64) -> Check {
    let failed = p_value <= LEVEL;
    let sentence = if failed {
        "Reverse estimates are so far below forward ones that one of simulator, density and kernels must be wrong: upper \
         bounds below lower bounds have at most this probability otherwise."
    } else {
        "Upper bounds are not significantly below lower bounds."
    };
    Check {
        name: "upper bounds above lower bounds".to_owned(),
        p_value,
        level: LEVEL,
        rigorous: true,
        failed,
        sentence: sentence.to_owned(),
    }
}

fn signs(p_value: f64, datasets: usize) -> Check {
    let failed = p_value <= LEVEL;
    let found = if failed { "far too often" } else { "no more often than they may" };
    Check {
        name: "signs of single gaps".to_owned(),
        p_value,
        level: LEVEL,
        rigorous: true,
        failed,
        sentence: format!("In {datasets} datasets, single reverse chains end below single forward chains {found}."),
    }
}

fn slope(p_value: f64, spread_starts: bool) -> Check {
    let failed = p_value <= SLOPE_LEVEL;
    let sentence = match (failed, spread_starts) {
        (false, _) => "Forward and reverse weights have the ratio of frequencies that they must have.",
        (true, false) => {
            "Forward and reverse weights do not have the ratio of frequencies that they must have: the reverse chains, which \
             all start from the same point, do not forget it, or something is wrong: more datasets (`--datasets`) tell which."
        }
        (true, true) => {
            "Forward and reverse weights do not have the ratio of frequencies that they must have: the starts of the reverse \
             chains are not spread as the posterior is, or something is wrong."
        }
    };
    Check {
        name: "ratio of forward and reverse frequencies".to_owned(),
        p_value,
        level: SLOPE_LEVEL,
        rigorous: false,
        failed,
        sentence: sentence.to_owned(),
    }
}

impl<'a> From<&'a Rung> for Exchange<'a> {
    fn from(rung: &'a Rung) -> Self {
        Self { forward: &rung.forward, reverse: &rung.reverse }
    }
}
