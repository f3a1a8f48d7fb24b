//! The protocols on a model whose marginal likelihood is an integral over one parameter, right and with planted
//! mistakes.

mod toy;

use crust_diagnose::bdmc::{self, bdmc};
use crust_diagnose::bread::{self, Fitted, bread, bread_with};
use crust_diagnose::checkpoint::{Halt, Identity, Journal};
use crust_diagnose::compare::{self, Way, compare};
use crust_diagnose::executor::{Executor, InProcess, Keep, UnitOf};
use crust_diagnose::experiment::{Experiment, Group};
use crust_diagnose::ladder::Ladder;
use crust_diagnose::result::{Entry, Level, Simulation};
use crust_diagnose::sandwich::{Exchange, LEVEL, lower_bound, markov_check, upper_bound};
use std::convert::Infallible;
use std::path::PathBuf;
use toy::Toy;

fn plan(steps: &[usize]) -> bdmc::Plan {
    bdmc::Plan {
        chains: 50,
        ladder: Ladder::exactly(steps.to_vec()),
        tolerance: 0.05,
        bennett_error: None,
        datasets: 1,
        start_steps: 0,
        rank_checks: 20,
        acceptable: 1.0,
    }
}

/// Hyperparameters are fitted, and time does not matter.
fn fitted() -> bread::Plan {
    bread::Plan {
        simulation: Simulation::Fitted,
        chains: 40,
        ladder: Ladder::default(),
        tolerance: 0.0,
        start_steps: 20,
        replicates: 0,
        incomparable: None,
        acceptable: 1.0,
        budget: None,
    }
}

fn run(toy: &mut Toy, plan: &bdmc::Plan) -> bdmc::Findings {
    bdmc(toy, plan, &mut Journal::in_memory()).expect("a result")
}

/// Chains are added until Bennett's estimate is as good as wished, and those that were there stay. The estimate is
/// within 5 of its standard errors: a false alarm in a million.
#[test]
fn chains_are_added_until_the_error_is_as_wished() {
    for start_steps in [0, 3] {
        let few = bdmc::Plan { start_steps, rank_checks: 0, tolerance: 0.0, ..plan(&[5, 20]) };
        let many = bdmc::Plan { bennett_error: Some(0.01), ..few.clone() };
        let mut toy = Toy::new(3);
        let (before, after) = (run(&mut toy, &few), run(&mut toy, &many));
        let last = |outcome: &bdmc::Findings| outcome.datasets[0].rungs[1].clone();
        let (before, after, truth) = (last(&before), last(&after), toy.log_marginal_likelihood(1));
        assert!(before.log_ml_bar_se > 0.01 && after.log_ml_bar_se <= 0.01);
        assert!(after.forward.len() > 50 && after.forward.len() == after.reverse.len());
        assert_eq!((&after.forward[..50], &after.reverse[..50]), (&before.forward[..], &before.reverse[..]));
        assert_ne!(after.forward[50..100], before.forward[..]);
        assert!((after.log_ml_bar - truth).abs() < 0.05, "{} {truth}", after.log_ml_bar);
    }
}

/// P(X ≥ n) for a binomial X: the sum of its terms.
fn binomial_tail(trials: u32, p: f64, n: u32) -> f64 {
    let mut log_term = f64::from(trials) * (1.0 - p).ln();
    let mut tail = 0.0;
    for k in 0..=trials {
        if k >= n {
            tail += log_term.exp();
        }
        log_term += (f64::from(trials - k) / f64::from(k + 1) * p / (1.0 - p)).ln();
    }
    tail
}

/// Over 1,000 random problems the bounds hold at the rates that the theory states. Each count is compared with the
/// binomial distribution of the largest probability that Markov's inequality allows; all false alarms together are
/// below 1e-4.
#[test]
fn bounds_hold_at_their_rates_over_a_thousand_problems() {
    const PROBLEMS: u32 = 1000;
    let (mut low, mut high) = (Vec::new(), Vec::new());
    let mut least_p: f64 = 1.0;
    for problem in 1..=PROBLEMS {
        let mut toy = Toy { observations: 1 + problem as usize % 20, ..Toy::new(u64::from(problem)) };
        let truth = toy.simulate(1).expect("data");
        let group = Group { dataset: 1, t: 2 + problem as usize % 6, first: 0, chains: 4 };
        let forward: Vec<f64> = toy.forward(&(), group).expect("chains").iter().map(|w| w.log_weight).collect();
        let reverse = toy.reverse(&(), group, &vec![truth; 4]).expect("chains");
        let reverse: Vec<f64> = reverse.iter().map(|w| -w.log_weight).collect();
        let log_z = toy.log_marginal_likelihood(1);
        low.push(lower_bound(&forward) - log_z);
        high.push(log_z - upper_bound(&reverse));
        least_p = least_p.min(markov_check(&[vec![Exchange { forward: &forward, reverse: &reverse }]]));
    }
    for (name, excess) in [("lower", &low), ("upper", &high)] {
        for b in [0.25_f64, 0.5, 1.0, 2.0] {
            let beyond = u32::try_from(excess.iter().filter(|&&x| x > b).count()).expect("few");
            let p = binomial_tail(PROBLEMS, (-b).exp(), beyond);
            assert!(p > 1e-6, "{name} bounds beyond by {b}: {beyond}");
        }
        // Jensen: the mean is not above 0; 4.9 standard errors are a false alarm of 5e-7
        let n = f64::from(PROBLEMS);
        let mean = excess.iter().sum::<f64>() / n;
        let sd = (excess.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n).sqrt();
        assert!(mean < 4.9 * sd / n.sqrt(), "{name}: mean {mean}");
        assert!(mean < -0.05, "{name} bounds are bounds, not estimates: {mean}");
    }
    // forward weights are unbiased: within 4.9 standard errors of 1 (reverse ones are, too, but their variance is
    // infinite at T = 2)
    let weights: Vec<f64> = low.iter().map(|x| x.exp()).collect();
    let n = f64::from(PROBLEMS);
    let mean = weights.iter().sum::<f64>() / n;
    let se = (weights.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n / n).sqrt();
    assert!((mean - 1.0).abs() < 4.9 * se, "mean weight {mean} ± {se}");
    // a false alarm of the violation test has probability 1e-6 in each problem
    assert!(least_p > LEVEL, "{least_p}");
}

#[test]
fn the_sandwich_holds_the_truth_and_tightens() {
    let mut toy = Toy::new(11);
    let outcome = run(&mut toy, &plan(&[10, 100, 1000]));
    let log_z = toy.log_marginal_likelihood(1);
    let rungs = &outcome.datasets[0].rungs;
    // Markov with b = 7: below 1e-3 for each; with this seed they are within
    for rung in rungs {
        assert!(rung.log_ml_lower < log_z + 0.5 && log_z - 0.5 < rung.log_ml_upper, "T = {}", rung.t);
    }
    let last = rungs.last().expect("rungs");
    assert!((last.log_ml_bar - log_z).abs() < 5.0 * last.log_ml_bar_se.max(0.01), "{} and {log_z}", last.log_ml_bar);
    assert!(last.jeffreys_bound < rungs[0].jeffreys_bound);
    assert!(!outcome.violation && !outcome.partial, "{:?}", outcome.checks);
    assert_eq!(outcome.verdict.level, Level::Good);
}

#[test]
fn a_simulator_with_a_wrong_scale_is_a_violation() {
    for noise in [0.5, 2.0] {
        let outcome = run(&mut Toy { noise, ..Toy::new(5) }, &plan(&[10]));
        assert!(outcome.violation, "scale {noise}: {:?}", outcome.checks);
        assert_eq!(outcome.verdict.level, Level::Violation);
    }
}

#[test]
fn a_kernel_without_its_jacobian_is_a_violation() {
    // it shifts the posterior by half of its width: the ranks of many datasets show that
    let few = bdmc::Plan { rank_checks: 200, ..plan(&[10]) };
    let outcome = run(&mut Toy { jacobian: false, observations: 2, ..Toy::new(6) }, &few);
    assert!(outcome.violation, "{:?}", outcome.checks);
    // with one dataset there is no proof, but the frequencies of the weights do not fit each other
    let long = bdmc::Plan { rank_checks: 0, ..plan(&[10, 100, 1000]) };
    let outcome = run(&mut Toy { jacobian: false, observations: 2, moves: 20, ..Toy::new(6) }, &long);
    assert!(outcome.checks.iter().any(|check| check.failed), "{:?}", outcome.checks);
}

#[test]
fn a_correct_implementation_is_no_violation() {
    // 60 runs with 3 rigorous checks at 1e-6: a false alarm of 2e-4
    for seed in 0..60 {
        let mut toy = Toy { observations: 1 + usize::try_from(seed).expect("small") % 10, ..Toy::new(100 + seed) };
        let outcome = run(&mut toy, &bdmc::Plan { datasets: 5, chains: 10, ..plan(&[5, 20]) });
        assert!(!outcome.violation, "seed {seed}: {:?}", outcome.checks);
        assert!(outcome.mean.len() == 2 && outcome.mean[0].jeffreys_se > 0.0);
    }
}

fn folder(name: &str) -> PathBuf {
    let path = std::env::temp_dir().join(format!("crust-protocol-{name}-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&path);
    std::fs::create_dir_all(&path).expect("a folder");
    path
}

/// The units of an interrupted run are not done again, and the end is the same whenever it was interrupted.
#[test]
fn interrupted_runs_end_with_the_same_numbers() {
    let ladder = Ladder { steps: vec![5, 20], further: vec![100] };
    let plan =
        bread::Plan { chains: 10, ladder, tolerance: 0.0, start_steps: 20, replicates: 3, acceptable: 1e9, ..fitted() };
    let short = bread(&mut Toy::new(21), &plan, &mut Journal::in_memory()).expect("a result");
    let plan = bread::Plan { acceptable: 0.9 * short.simulated.rungs[1].jeffreys_bound, ..plan };
    let whole = bread(&mut Toy::new(21), &plan, &mut Journal::in_memory()).expect("a result");
    let text = |outcome: &bread::Findings| {
        let parts = (&outcome.real, &outcome.simulated, &outcome.start_check, &outcome.calibration, &outcome.verdict);
        serde_json::to_string(&parts).expect("JSON")
    };
    let steps: Vec<usize> = whole.simulated.rungs.iter().map(|rung| rung.t).collect();
    assert_eq!((whole.partial, steps), (false, vec![5, 20, 100]), "the ladder goes on, and so does a resumed run");
    let folder = folder("resume");
    let mut patience = 0;
    let resumed = loop {
        let mut journal = Journal::open(&folder, &Identity::of(&["toy"])).expect("a journal");
        let outcome = bread(&mut Toy { patience: Some(patience), ..Toy::new(21) }, &plan, &mut journal);
        let outcome = outcome.expect("interruptions are no errors");
        if !outcome.partial {
            break outcome;
        }
        assert_eq!(outcome.verdict.level, Level::Partial);
        patience += 1;
        assert!(patience < 40, "it never ends");
    };
    assert_eq!(text(&resumed), text(&whole));
    assert!(patience > 2, "interrupted {patience} times");
    let _ = std::fs::remove_dir_all(&folder);
}

/// Each unit is sent as text, in reverse order, to an experiment that has done nothing before.
struct Elsewhere {
    here: Toy,
    seed: u64,
    fixed: Option<f64>,
    units: usize,
}

impl Executor<Toy> for Elsewhere {
    fn experiment(&mut self) -> &mut Toy {
        &mut self.here
    }

    fn execute(&mut self, units: &[UnitOf<'_, Toy>], keep: &mut Keep<'_>) -> Result<(), Halt<Infallible>> {
        for unit in units.iter().rev() {
            let text = serde_json::to_string(unit).expect("JSON");
            let unit: UnitOf<'_, Toy> = serde_json::from_str(&text).expect("a unit");
            let mut there = Toy { fixed: self.fixed, ..Toy::new(self.seed) };
            InProcess::fitted(&mut there).execute(&[unit], keep)?;
            self.units += 1;
        }
        Ok(())
    }

    fn fix(&mut self, hyperparameters: &f64) {
        self.here.fix(hyperparameters);
        self.fixed = Some(*hyperparameters);
    }
}

/// Units say all that is needed to do them, wherever and in whichever order.
#[test]
fn units_may_be_done_elsewhere() {
    let ladder = Ladder::exactly(vec![5, 3000]);
    let plan =
        bread::Plan { chains: 40, ladder, tolerance: 0.0, start_steps: 20, replicates: 2, acceptable: 1.0, ..fitted() };
    let mut elsewhere = Elsewhere { here: Toy::new(21), seed: 21, fixed: None, units: 0 };
    let found = bread_with(&mut elsewhere, &plan, &mut Journal::in_memory()).expect("findings");
    let own = bread(&mut Toy::new(21), &plan, &mut Journal::in_memory()).expect("findings");
    assert!(elsewhere.units > 10, "{} units", elsewhere.units);
    assert_eq!((found.real, found.simulated, found.calibration), (own.real, own.simulated, own.calibration));
    assert_eq!((found.start_check, found.verdict), (own.start_check, own.verdict));
    for part in ["fit", "pilot", "starts", "ladder", "replicates"] {
        assert!(found.timing.parts.contains_key(part), "{part}");
    }
}

/// Rungs are added only while the bound is above what is acceptable, and those below are the same with and without
/// them.
#[test]
fn a_ladder_goes_on_until_the_bound_is_acceptable() {
    let rungs = |further: &[usize], acceptable: f64| {
        let ladder = Ladder { steps: vec![5, 20], further: further.to_vec() };
        let plan = bdmc::Plan { ladder, tolerance: 0.0, datasets: 2, rank_checks: 0, acceptable, ..plan(&[]) };
        run(&mut Toy::new(3), &plan).datasets
    };
    let short = rungs(&[], 0.0);
    let bound = 0.5 * short.iter().map(|dataset| dataset.rungs[1].jeffreys_bound).sum::<f64>();
    assert!(bound > 0.0, "{bound}");
    assert_eq!(rungs(&[60, 200], bound), short);
    assert_eq!(rungs(&[60, 200], bound / 100.0), short, "it is not within reach");
    let long = rungs(&[60, 200], 0.9 * bound);
    assert!(long.iter().zip(&short).all(|(long, short)| long.rungs[..2] == short.rungs[..]));
    assert!(long.iter().all(|dataset| dataset.rungs[2].t == 60));
}

/// The comparison with real data does not depend on the ladder, however long it is.
#[test]
fn the_rank_does_not_depend_on_the_ladder() {
    let calibration = |steps: &[usize]| {
        let ladder = Ladder::exactly(steps.to_vec());
        let plan = bread::Plan {
            chains: 60,
            ladder,
            tolerance: 0.0,
            start_steps: 10,
            replicates: 9,
            acceptable: 1.0,
            ..fitted()
        };
        bread(&mut Toy::new(33), &plan, &mut Journal::in_memory()).expect("a result").calibration.expect("a rank")
    };
    let standard = calibration(&[10, 30, 100, 300]);
    assert_eq!((&standard.steps[..], standard.chains, standard.replicates.len()), (&[10, 30, 100][..], 50, 9));
    assert_eq!(calibration(&[10]), standard);
    assert_eq!(calibration(&[200, 2000]), standard);
}

/// A bound that new datasets do not confirm sends the ladder on, and what is reported is the last confirmation.
#[test]
fn the_ladder_goes_on_where_new_datasets_do_not_confirm_it() {
    let simulation = Simulation::Prior;
    let plan = bread::Plan { simulation, start_steps: 0, tolerance: 0.5, ..fitted() };
    let ended_at = |unconfirmed_below: usize| {
        let toy = &mut Toy { unconfirmed_below: Some(unconfirmed_below), ..Toy::new(4) };
        let found = bread(toy, &plan, &mut Journal::in_memory()).expect("a result");
        let confirmed = found.confirmation.expect("a confirmation").rung;
        assert_eq!(found.simulated.rungs.last().map(|rung| rung.t), Some(confirmed.t));
        (confirmed.t, confirmed.jeffreys_upper < plan.acceptable)
    };
    assert_eq!(ended_at(0), (10, true));
    assert_eq!(ended_at(300), (300, true));
    assert_eq!(ended_at(1_000_000), (3000, false), "the end of the ladder");
}

#[test]
fn real_data_that_behave_otherwise_are_a_mismatch() {
    let plan = bread::Plan {
        chains: 50,
        ladder: Ladder::exactly(vec![10, 30, 100]),
        tolerance: 0.0,
        start_steps: 100,
        replicates: 39,
        acceptable: f64::INFINITY,
        ..fitted()
    };
    let fine =
        bread(&mut Toy { observations: 30, ..Toy::new(31) }, &plan, &mut Journal::in_memory()).expect("a result");
    assert_ne!(fine.verdict.level, Level::Mismatch, "{:?}", fine.calibration);
    assert!(fine.start_check.is_some_and(|check| check.agree));
    // data that are simulated with e³ times the scale are harder to anneal
    let toy = &mut Toy { observations: 30, fit_offset: 3.0, ..Toy::new(31) };
    let odd = bread(toy, &plan, &mut Journal::in_memory()).expect("a result");
    assert_eq!(odd.verdict.level, Level::Mismatch, "{:?}", odd.calibration.map(|c| (c.discrepancy, c.rank)));
    // Where annealing does not get near on simulated data, that is what there is to say.
    let toy = &mut Toy { observations: 30, fit_offset: 3.0, ..Toy::new(31) };
    let far = bread(toy, &bread::Plan { acceptable: 1.0, ..plan }, &mut Journal::in_memory()).expect("a result");
    assert!(far.calibration.is_some_and(|c| c.rank == 1));
    assert_eq!(far.verdict.level, Level::Poor);
}

#[test]
fn the_better_way_wins() {
    let way = |name: &str, moves: usize| Way {
        entry: Entry { name: name.to_owned(), exact_start: true, ..Entry::default() },
        experiment: Toy { moves, observations: 40, ..Toy::new(41) },
    };
    let plan = compare::Plan { chains: 100, steps: vec![10, 30], tolerance: 0.0 };
    let mut ways = [way("lazy", 1), way("diligent", 30)];
    let outcome = compare(&mut ways, &plan, &mut Journal::in_memory()).expect("a result");
    assert!(!outcome.violation && !outcome.partial);
    assert!(outcome.verdict.sentence.contains("diligent is best"), "{}", outcome.verdict.sentence);
    assert_eq!(outcome.timing.rungs.len(), 4);
}
