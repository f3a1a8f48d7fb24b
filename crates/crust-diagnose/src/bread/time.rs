//! Which rung of the ladder there is time for: the next one, one below it, or one with fewer chains.

use super::clock::{Clock, seconds_at};
use super::{Findings, Plan, SIMULATED, Step};
use crate::executor::Workshop;
use crate::ladder::between;
use crate::number::count;
use crate::result::Rung;

/// What a rung takes with its confirmation and the way back on real data, in times that the rung itself takes.
const WITH_CONFIRMATION: f64 = 2.2;
/// Chains each way that a bound can still be told from: four on each of ten datasets.
const FEW_CHAINS: usize = 40;
/// Few chains are run where the bound is going to be this share of what is acceptable, since their limit is further above
/// it: B̂ of n chains has a standard error of √(2B/n) if work values are normal.
const FOR_FEW: f64 = 0.6;
/// Another rung with less than this many times the distributions would say little that is new.
const LEAST_GAIN: f64 = 1.5;

/// The rung that is run in place of the next one, which is that one if there is time for it, its confirmation, and the
/// way back on real data. What is left out is told.
pub(super) fn further<X>(
    workshop: &Workshop<'_, X>,
    plan: &Plan,
    clock: Clock,
    next: Step,
    findings: &mut Findings,
) -> Option<Step> {
    let Some(rung) = findings.simulated.rungs.last() else { return Some(next) };
    // The next rung has as many chains as this one.
    let each = WITH_CONFIRMATION * seconds_at(workshop.journal, rung.t, |dataset| dataset <= SIMULATED) / count(rung.t);
    let left = clock.left(workshop.journal);
    let found = affordable(rung, next, left / each, plan.acceptable);
    if found != Some(next) {
        let needed = each * count(next.t);
        let what = match found {
            Some(Step { t, chains }) if chains < next.chains => {
                format!("all but {chains} of {} chains each way at T = {t} and beyond", next.chains)
            }
            _ => format!("T = {} and beyond, which would take {needed:.0} s more", next.t),
        };
        findings.skipped.push(what);
    }
    found
}

/// The next rung, or what may be enough in its place, after `rung`, where `distributions` of as many chains as the next
/// one has can still be paid for.
///
/// B̂ falls as 1/T, whereas chains only make its standard error small: where time is short, large T with few chains says
/// more than small T with many.
fn affordable(rung: &Rung, next: Step, distributions: f64, acceptable: f64) -> Option<Step> {
    if count(next.t) <= distributions {
        return Some(next);
    }
    if rung.jeffreys_upper <= acceptable {
        return None;
    }
    // Forty values show a tail without a mean three times out of four only: those before must have shown none.
    let few = rung.jeffreys_upper.is_finite().then_some((next.chains.min(FEW_CHAINS), FOR_FEW * acceptable));
    let mut ways = std::iter::once((next.chains, acceptable)).chain(few);
    ways.find_map(|(chains, wanted)| {
        let factor = distributions * count(next.chains) / count(chains) / count(rung.t);
        let t = if factor >= count(next.t) / count(rung.t) { next.t } else { between(rung.t, next.t, factor)? };
        let gain = count(t) / count(rung.t);
        (gain >= LEAST_GAIN && rung.jeffreys_bound / gain <= wanted).then_some(Step { t, chains })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fewer_chains_go_further_where_time_is_short() {
        let rung = |bound: f64| Rung { t: 300, jeffreys_bound: bound, jeffreys_upper: 1.3 * bound, ..Rung::default() };
        let next = Step { t: 1000, chains: 100 };
        let paid = |bound: f64, distributions: f64| affordable(&rung(bound), next, distributions, 1.0);
        let step = |t: usize, chains: usize| Some(Step { t, chains });
        assert_eq!(paid(1.5, 1000.0), step(1000, 100), "there is time");
        assert_eq!(paid(1.5, 600.0), step(600, 100), "half way is enough: 1.5 / 2");
        assert_eq!(paid(1.5, 410.0), step(1000, 40), "40 chains cost 2/5, and 1.5 · 0.3 is below 0.6");
        assert_eq!(paid(1.5, 350.0), step(870, 40), "350 · 100 / 40 = 875");
        assert_eq!(paid(2.5, 410.0), None, "2.5 · 0.3 = 0.75 is too much for 40 chains");
        assert_eq!(paid(2.5, 900.0), step(900, 100), "not for 100");
        assert_eq!(paid(0.7, 500.0), None, "0.91 is good: nothing has to be run");
        assert_eq!(paid(1.5, 100.0), None, "250 distributions are fewer than there were");
        let own = Step { t: 1000, chains: 20 };
        assert_eq!(affordable(&rung(1.5), own, 410.0, 1.0), None, "few chains are not made more");
        assert_eq!(affordable(&rung(f64::INFINITY), next, 900.0, 1.0), None);
        let heavy = Rung { jeffreys_upper: f64::INFINITY, ..rung(1.5) };
        assert_eq!(affordable(&heavy, next, 410.0, 1.0), None, "no few chains after a tail without a mean");
        assert_eq!(affordable(&heavy, next, 600.0, 1.0), step(600, 100));
    }
}
