//! Ways to do the same inference side by side: representations of a model, kernels, schedules.

use crate::bdmc::{Ladders, is_tight, nats, nats_with_error, violation_checks};
use crate::checkpoint::{Halt, Journal};
use crate::executor::{Chains, Executor, InProcess, Workshop};
use crate::experiment::Experiment;
use crate::result::{Check, Entry, Level, Rung, Timing, Verdict};
use crate::timing::{part_seconds, rung_time};
use crate::units::{Part, Task};
use std::fmt::Write;

/// One way, with what is known of it beforehand: everything but rungs and kernels is filled in.
#[derive(Debug)]
pub struct Way<E> {
    pub entry: Entry,
    pub experiment: E,
}

/// What to run.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    pub chains: usize,
    pub steps: Vec<usize>,
    pub tolerance: f64,
}

/// What came out, as far as the run got.
#[derive(Clone, Debug, Default)]
pub struct Findings {
    pub entries: Vec<Entry>,
    pub checks: Vec<Check>,
    pub violation: bool,
    pub verdict: Verdict,
    pub partial: bool,
    pub timing: Timing,
}

/// The dataset that all share.
const DATASET: u32 = 1;

/// Runs the ladder for every way on the same simulated data. An interruption is no error: the findings are what was
/// finished.
pub fn compare<E: Experiment>(
    ways: &mut [Way<E>],
    plan: &Plan,
    journal: &mut Journal,
) -> Result<Findings, Halt<E::Error>> {
    let mut findings = Findings::default();
    for (way, number) in ways.iter_mut().zip(1..) {
        let entry = &mut way.entry;
        let mut executor = InProcess::new(&mut way.experiment);
        let mut workshop = Workshop { executor: &mut executor, journal: &mut *journal, way: Some(number) };
        let climbed = climb::<E, _>(&mut workshop, plan, entry);
        let time = |rung: &Rung| rung_time(journal, entry.name.clone(), (Some(number), DATASET), rung.t);
        findings.timing.rungs.extend(entry.rungs.iter().map(time));
        let is_pilot = |unit: &crate::units::UnitName| unit.way == Some(number) && unit.part == Part::Pilot;
        findings.timing.parts.extend([part_seconds(journal, &format!("pilot {}", entry.name), is_pilot)]);
        findings.entries.push(entry.clone());
        match climbed {
            Ok(()) => {}
            Err(Halt::Interrupted) => {
                findings.partial = true;
                break;
            }
            Err(halt) => return Err(halt),
        }
    }
    findings.finish();
    Ok(findings)
}

fn climb<E: Experiment, X: Executor<E>>(
    workshop: &mut Workshop<'_, X>,
    plan: &Plan,
    entry: &mut Entry,
) -> Result<(), Halt<E::Error>> {
    let truth = workshop.executor.experiment().simulate(DATASET).map_err(Halt::Work)?;
    let kernels = workshop.one::<E, E::Kernels>(workshop.unit::<E>(DATASET, Task::Pilot))?;
    entry.kernels = workshop.executor.experiment().table(&kernels);
    let starts = vec![truth; plan.chains];
    for &t in &plan.steps {
        let (up, down) = workshop.both::<E>(&kernels, &Chains::first(DATASET, t, plan.chains), &starts)?;
        entry.rungs.push(Rung::new(t, &up, &down));
        if entry.rungs.last().is_some_and(|rung| is_tight(rung, plan.tolerance)) {
            break;
        }
    }
    Ok(())
}

impl Findings {
    fn finish(&mut self) {
        for entry in &self.entries {
            let ladders: Ladders<'_> = vec![entry.rungs.as_slice()];
            let mut checks = violation_checks(&ladders, false);
            checks.iter_mut().for_each(|check| check.name = format!("{}: {}", entry.name, check.name));
            self.checks.extend(checks);
        }
        self.violation = self.checks.iter().any(|check| check.failed && check.rigorous);
        self.verdict = self.judge();
    }

    fn judge(&self) -> Verdict {
        let (level, sentence) = if self.violation {
            let failed = self.checks.iter().find(|check| check.failed && check.rigorous);
            let what = failed.map_or("", |check| check.name.as_str());
            let sentence = format!(
                "Something is wrong, and the bounds mean nothing ({what}): representations that do not state the same model \
                 give this, too."
            );
            (Level::Violation, sentence)
        } else if self.partial {
            (Level::Partial, "The run was ended before all was compared.".to_owned())
        } else if let Some([one, other]) = self.different_models() {
            let sentence = format!(
                "These are different models: the log marginal likelihood of the same data is {one} and {other}. \
                 Representations of one model have the same; compare ways to write the model, not models."
            );
            (Level::Mismatch, sentence)
        } else {
            (Level::Good, self.winners())
        };
        Verdict {
            sentence,
            rests_on: vec![
                "the same simulated data and the same generating values for all, and single chains in both directions"
                    .to_owned(),
                "± is the standard error between chains, of which the reverse ones share their start".to_owned(),
            ],
            does_not_cover: vec![
                "other datasets: the order may change with the size of the data".to_owned(),
                "seconds are those of this machine".to_owned(),
            ],
            level,
        }
    }

    /// Two entries whose marginal likelihoods differ by more than chance explains: 5 standard errors, and by enough to
    /// matter.
    fn different_models(&self) -> Option<[Evidence<'_>; 2]> {
        const ERRORS: f64 = 5.0;
        const NATS: f64 = 0.3;
        let all: Vec<Evidence<'_>> = self.entries.iter().filter_map(Evidence::of).collect();
        let differ = |a: &Evidence<'_>, b: &Evidence<'_>| {
            let error = ERRORS * a.rung.log_ml_bar_se.hypot(b.rung.log_ml_bar_se);
            // as long as the sandwiches are wide, Bennett's estimates may be off by more than their errors say
            let above = |x: &Rung, y: &Rung| x.log_ml_lower > y.log_ml_upper;
            let apart = above(a.rung, b.rung) || above(b.rung, a.rung);
            apart && (a.rung.log_ml_bar - b.rung.log_ml_bar).abs() > error.max(NATS)
        };
        all.iter().enumerate().find_map(|(i, a)| {
            let other = all[i + 1..].iter().find(|b| differ(a, b))?;
            Some([*a, *other])
        })
    }

    /// Who is best by steps, and by evaluations. Seconds are not the same twice, so that they are told elsewhere.
    fn winners(&self) -> String {
        let Some(best) = self.best_at_common_t() else { return "There was nothing to compare.".to_owned() };
        let (t, entry, bound, se) = best;
        let clear = self.entries.iter().filter(|other| other.name != entry.name).all(|other| {
            let rung = other.rungs.iter().find(|rung| rung.t == t);
            rung.is_none_or(|rung| rung.jeffreys_bound - bound > 2.0 * rung.jeffreys_se.hypot(se))
        });
        let name = &entry.name;
        let word = if clear { "is best" } else { "is best, but not clearly" };
        let mut sentence =
            format!("By number of steps, {name} {word}: {} nats at T = {t}.", nats_with_error(bound, se));
        if let Some((name, evaluations, target)) = self.cheapest() {
            let _ = write!(
                sentence,
                " By number of evaluations, {name} is the first to reach {} nats: {evaluations} for each chain.",
                nats(target)
            );
        }
        sentence
    }

    /// The least bound at the largest T that all have.
    fn best_at_common_t(&self) -> Option<(usize, &Entry, f64, f64)> {
        let has = |t: usize| self.entries.iter().all(|entry| entry.rungs.iter().any(|rung| rung.t == t));
        let t = self.entries.first()?.rungs.iter().map(|rung| rung.t).filter(|&t| has(t)).max()?;
        let at =
            |entry: &'_ Entry| entry.rungs.iter().find(|rung| rung.t == t).map(|r| (r.jeffreys_bound, r.jeffreys_se));
        let candidates = self.entries.iter().filter_map(|entry| at(entry).map(|(bound, se)| (t, entry, bound, se)));
        candidates.min_by(|a, b| a.2.total_cmp(&b.2))
    }

    /// Who needs the fewest evaluations to reach the bound that all reach.
    fn cheapest(&self) -> Option<(&str, u64, f64)> {
        let least = |entry: &Entry| entry.rungs.iter().map(|rung| rung.jeffreys_bound).fold(f64::INFINITY, f64::min);
        let target = self.entries.iter().map(least).fold(f64::NEG_INFINITY, f64::max);
        let cost = |entry: &Entry| {
            let rung = entry.rungs.iter().find(|rung| rung.jeffreys_bound <= target)?;
            Some(rung.evaluations / (rung.forward.len() + rung.reverse.len()).max(1) as u64)
        };
        let costs = self.entries.iter().filter_map(|entry| Some((entry.name.as_str(), cost(entry)?)));
        costs.min_by_key(|(_, cost)| *cost).map(|(name, cost)| (name, cost, target))
    }
}

/// What an entry says about the marginal likelihood.
#[derive(Clone, Copy)]
struct Evidence<'a> {
    entry: &'a Entry,
    rung: &'a Rung,
}

impl<'a> Evidence<'a> {
    fn of(entry: &'a Entry) -> Option<Self> {
        let rung = entry.rungs.last()?;
        (rung.log_ml_bar.is_finite() && rung.log_ml_bar_se.is_finite()).then_some(Self { entry, rung })
    }
}

impl std::fmt::Display for Evidence<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Rung { log_ml_bar, log_ml_bar_se, .. } = self.rung;
        let value = format!("{log_ml_bar:.3}").replace('-', "−");
        write!(f, "{value} ± {log_ml_bar_se:.3} by {}", self.entry.name)
    }
}
