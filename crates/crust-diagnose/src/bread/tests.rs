//! The calibrated comparison: exchangeable curves have uniform ranks, a different one is found.

use super::*;
use crate::result::{Level, PredictiveStatistic};
use crust_math::random::{Purpose, Stream, StreamKey};

/// A curve that approaches its end as 100/T, with noise and an arbitrary level.
fn random_curve(factor: f64, stream: &mut Stream) -> Curve {
    let level = 1000.0 * stream.standard_normal();
    let scale = 100.0 * (0.3 * stream.standard_normal()).exp() * factor;
    let mut at = |t: f64| -> Vec<f64> {
        (0..50).map(|_| level - scale / t - (scale / t).sqrt() * stream.standard_normal()).collect()
    };
    let weights = [at(10.0), at(30.0), at(100.0)];
    curve(&weights.iter().map(Vec::as_slice).collect::<Vec<_>>())
}

#[test]
fn curves_are_shifted_to_the_median_at_the_largest_t() {
    let curve = curve(&[&[1.0, 2.0, 3.0], &[5.0, 6.0, 7.0]]);
    assert_eq!(curve.0, [[-4.5, -4.0, -3.5], [-0.5, 0.0, 0.5]]);
    assert_eq!(super::curve(&[&[f64::NEG_INFINITY; 3]]).0, [[f64::NEG_INFINITY; 3]]);
}

#[test]
fn ranks_are_uniform_for_exchangeable_curves() {
    // 1,000 comparisons with 19 replicates: the number of p ≤ 0.05 is binomial(1000, 0.05), and 50 ± 36 is 5.2 sd
    let mut stream = StreamKey::new(3, Purpose::TEST).stream();
    let (mut small, mut below_half) = (0_u32, 0_u32);
    for _ in 0..1000 {
        let mut curves: Vec<Curve> = (0..20).map(|_| random_curve(1.0, &mut stream)).collect();
        let real = curves.pop().expect("twenty curves");
        let calibration = calibrate(&[10, 30, 100], 50, &real, &curves);
        small += u32::from(calibration.p_value <= 0.05);
        below_half += u32::from(calibration.p_value <= 0.5);
    }
    assert!(small.abs_diff(50) < 36, "{small} of 1000");
    // binomial(1000, 1/2): 5 sd are 79
    assert!(below_half.abs_diff(500) < 79, "{below_half} of 1000");
}

#[test]
fn a_slower_curve_is_found() {
    let mut stream = StreamKey::new(4, Purpose::TEST).stream();
    let replicates: Vec<Curve> = (0..39).map(|_| random_curve(1.0, &mut stream)).collect();
    let calibration = calibrate(&[10, 30, 100], 50, &random_curve(5.0, &mut stream), &replicates);
    assert_eq!((calibration.rank, calibration.p_value), (1, 1.0 / 40.0));
    let broken = Curve(vec![[f64::NEG_INFINITY; 3], [-5.0, -4.0, -3.0], [-1.0, 0.0, 1.0]]);
    assert_eq!(calibrate(&[10, 30, 100], 50, &broken, &replicates).rank, 1);
}

#[test]
fn few_steps_are_found_to_matter() {
    let work = |r: f64| Work { log_weight: -r, accept: 1.0, evaluations: 1, divergences: 0, rejected: false };
    let rungs = [Rung { t: 100, reverse: vec![1.0, 1.2, 0.8, 1.0], ..Rung::default() }];
    let check = |r: [f64; 4]| start_check(&rungs, 1000, 100, &r.map(work)).expect("a rung of T = 100");
    let same = check([1.1, 0.9, 1.0, 1.2]);
    assert!(same.agree && same.fewer_steps == 100);
    let different = check([3.0, 3.2, 2.9, 3.1]);
    assert!(!different.agree && (different.difference - 2.05).abs() < 1e-12, "{}", different.difference);
}

/// A chain without density makes the bound infinite; the sentence says why, what is left, and what to do.
#[test]
fn chains_without_density_are_told() {
    let rung = Rung {
        t: 30,
        jeffreys_bound: f64::INFINITY,
        jeffreys_upper: f64::INFINITY,
        jeffreys_quartiles: vec![-0.25, 0.1, 0.5],
        rejected: 3,
        forward: vec![0.0; 5],
        reverse: vec![0.0; 5],
        ..Rung::default()
    };
    let findings = Findings { simulated: Dataset { number: 1, rungs: vec![rung] }, ..Findings::default() };
    let verdict = verdict::verdict(&findings, &plan());
    assert_eq!(verdict.level, Level::Poor);
    for words in ["no finite bound", "3 of 10 chains", "−0.25 to 0.50 nats", "`bernoulli_logit`"] {
        assert!(verdict.sentence.contains(words), "{words}: {}", verdict.sentence);
    }
}

fn plan() -> Plan {
    let ladder = Ladder::exactly(vec![30]);
    let simulation = Simulation::Fitted;
    Plan {
        simulation,
        chains: 5,
        ladder,
        tolerance: 0.1,
        start_steps: 10,
        replicates: 0,
        incomparable: None,
        acceptable: 1.0,
        budget: None,
    }
}

/// A run about which there is nothing to object.
fn fine() -> Findings {
    let rung = Rung {
        t: 30,
        jeffreys_bound: 0.1,
        jeffreys_se: 0.02,
        jeffreys_upper: 0.14,
        jeffreys_quartiles: vec![0.0, 0.1, 0.2],
        ..Rung::default()
    };
    let fit =
        Fit { chains: 4, draws: 1000, worst_r_hat: 1.002, least_ess: 1500.0, least_e_bfmi: 0.9, ..Fit::default() };
    let real = ForwardRung { t: 30, forward: vec![-10.2, -10.1, -9.9], log_ml_lower: -10.05, ..ForwardRung::default() };
    Findings {
        fit: Some(fit),
        simulated: Dataset { number: 1, rungs: vec![rung] },
        real: RealData { rungs: vec![real], heuristic: None },
        ..Findings::default()
    }
}

/// Each thing that stands against a good verdict does so alone, and is named.
#[test]
fn whatever_is_bad_is_named() {
    let judged = |findings: &Findings| verdict::verdict(findings, &plan());
    let good = judged(&fine());
    assert_eq!(good.level, Level::Good, "{}", good.sentence);
    assert!(good.sentence.contains("within 0.14 nats (95 % limit; estimate 0.10 ± 0.02)"), "{}", good.sentence);
    let with_fit = |change: fn(&mut Fit)| {
        let mut findings = fine();
        findings.fit.iter_mut().for_each(change);
        findings
    };
    let with_rung = |change: fn(&mut Rung)| {
        let mut findings = fine();
        findings.simulated.rungs.iter_mut().for_each(change);
        findings
    };
    let mut scattered = fine();
    scattered.real.rungs[0].forward = vec![-10.0, -16.0, -9.0];
    let cases = vec![
        (with_fit(|fit| fit.stuck = 1), "1 of its 5 chains"),
        (with_fit(|fit| fit.worst_r_hat = 1.41), "R-hat"),
        (with_fit(|fit| fit.worst_r_hat = f64::NAN), "R-hat"),
        (with_fit(|fit| fit.least_ess = 9.0), "effective sample size"),
        (with_fit(|fit| fit.divergences = 89), "89 of 4000 transitions"),
        (with_fit(|fit| fit.least_e_bfmi = 0.1), "E-BFMI"),
        (with_fit(|fit| (fit.scouts, fit.scouts_elsewhere) = (16, 3)), "3 of 16 further chains"),
        (
            with_fit(|fit| (fit.missed_share, fit.missed_name) = (0.352, "the log prior".to_owned())),
            "about 35 % of the posterior",
        ),
        (with_fit(|fit| fit.wrong = "the mean of b is off.".to_owned()), "short chains"),
        // small on average, but not surely
        (with_rung(|rung| (rung.jeffreys_bound, rung.jeffreys_upper) = (0.22, 1.1)), "the bound is not small"),
        (with_rung(|rung| (rung.jeffreys_upper, rung.deciding) = (f64::INFINITY, 1)), "`--path reference`"),
        (scattered, "scatter"),
    ];
    for (findings, words) in cases {
        let verdict = judged(&findings);
        assert_eq!(verdict.level, Level::Poor, "{words}: {}", verdict.sentence);
        assert!(verdict.sentence.contains(words), "{words}: {}", verdict.sentence);
    }
    // a bound by chance below 0 is told as 0
    let negative = judged(&with_rung(|rung| (rung.jeffreys_bound, rung.jeffreys_upper) = (-0.036, 0.02)));
    assert!(negative.sentence.contains("estimate 0.000") && !negative.sentence.contains('−'), "{}", negative.sentence);
}

/// A rank among few cannot be extreme: it is no test.
#[test]
fn few_replicates_are_no_test() {
    let with = |replicates: usize| {
        let replicates = vec![1.0; replicates];
        let calibration = Calibration { replicates, rank: 3, p_value: 0.3, ..Calibration::default() };
        let findings = Findings { calibration: Some(calibration), ..fine() };
        verdict::verdict(&findings, &plan()).sentence
    };
    assert!(with(18).contains("cannot be told from 18 replicates"), "{}", with(18));
    assert!(with(19).contains("are like 19 simulated ones"), "{}", with(19));
}

/// How annealing goes on the real data counts where it gets near on simulated ones; what the data look like always does.
#[test]
fn alarms_by_annealing_count_where_it_works() {
    let level = |name: &str, upper: f64| {
        let statistics = vec![PredictiveStatistic { name: name.to_owned(), ..PredictiveStatistic::default() }];
        let test = Predictive { alarm: Some(name.to_owned()), statistics, is_test: true, ..Predictive::default() };
        let mut findings = Findings { predictive: Some(test), ..fine() };
        findings.simulated.rungs[0].jeffreys_upper = upper;
        verdict::verdict(&findings, &plan()).level
    };
    let (by_annealing, by_data) = ("annealing: spread at T = 30", "y: share of zeros");
    assert_eq!([level(by_annealing, 0.5), level(by_data, 0.5)], [Level::Mismatch; 2]);
    assert_eq!([level(by_annealing, 5.0), level(by_data, 5.0)], [Level::Poor, Level::Mismatch]);
}

/// The words of a verdict that rests on draws of the fit alone, and of one that rests on simulated data.
#[test]
fn what_stands_for_exact_draws_is_told() {
    let told = |simulation: Simulation| {
        let verdict = verdict::verdict(&fine(), &Plan { simulation, start_steps: 0, ..plan() });
        assert_eq!(verdict.level, Level::Good);
        (verdict.sentence, verdict.rests_on.concat(), verdict.does_not_cover.concat())
    };
    let (sentence, rests_on, not) = told(Simulation::Nothing);
    assert!(sentence.contains("annealing on the real data ends"), "{sentence}");
    assert!(sentence.contains("if draws of the fit are draws of the posterior"), "{sentence}");
    assert!(rests_on.contains("subjective divergence") && !rests_on.contains("simulated"), "{rests_on}");
    assert!(not.contains("compared with nothing"), "{not}");
    let (sentence, rests_on, _) = told(Simulation::Conditional);
    assert!(!sentence.contains("if draws") && rests_on.contains("one simulated dataset"), "{sentence} {rests_on}");
}

/// That nothing was found where hardly anybody looked says nothing.
#[test]
fn few_chains_from_other_starts_are_told() {
    let not_covered = |scouts: usize| {
        let mut findings = fine();
        findings.fit.as_mut().expect("a fit").scouts = scouts;
        verdict::verdict(&findings, &plan()).does_not_cover.concat()
    };
    assert!(not_covered(0).contains("no chain from other starts"), "{}", not_covered(0));
    assert!(not_covered(3).contains("only 3 chains from other starts"), "{}", not_covered(3));
    assert!(!not_covered(40).contains("other starts"), "{}", not_covered(40));
    let sentence = |scouts: usize| {
        let mut findings = fine();
        findings.fit.as_mut().expect("a fit").scouts = scouts;
        verdict::verdict(&findings, &plan()).sentence
    };
    assert!(sentence(3).contains("only 3 chains from other starts"), "{}", sentence(3));
    assert!(!sentence(40).contains("other starts"), "{}", sentence(40));
}
