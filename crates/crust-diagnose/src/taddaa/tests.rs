use super::functional::{Functional, Kind};
use super::intervals::Known;
use super::*;
use crust_math::random::{Purpose, StreamKey};

fn normals(n: usize, seed: u64) -> Vec<f64> {
    let mut x = vec![0.0; n];
    StreamKey::new(seed, Purpose::TEST).stream().fill_normal(&mut x);
    x
}

fn item(kind: Kind, end: &[f64], before: f64) -> Item<'_> {
    let before = Known::exactly(before);
    Item { functional: Functional::new(kind, "x"), end, states: 1, other: None, before, efficiency: 1.0 }
}

const KINDS: [Kind; 6] =
    [Kind::Mean, Kind::LogVariance, Kind::Deviation, Kind::Quantile(0.05), Kind::Quantile(0.5), Kind::Quantile(0.95)];

/// Of the standard normal distribution.
fn truth(kind: Kind) -> f64 {
    match kind {
        Kind::Mean | Kind::LogVariance | Kind::Covariance => 0.0,
        Kind::Deviation => 1.0,
        Kind::Quantile(p) => crust_math::special::inv_Phi(p),
        Kind::Probability => 0.5,
    }
}

#[test]
fn intervals_cover_as_often_as_they_say() {
    // 2,000 samples of 386: binomial errors of the coverage are below 0.005, and five of them below 0.025.
    let runs = 2000;
    let mut missed = [0; KINDS.len() + 2];
    for seed in 0..runs {
        let x = normals(386, seed);
        let y: Vec<f64> = normals(386, 1_000_000 + seed).iter().zip(&x).map(|(z, x)| 0.6 * x + 0.8 * z).collect();
        let mut items: Vec<Item<'_>> = KINDS.iter().map(|&kind| item(kind, &x, truth(kind))).collect();
        items.push(Item { other: Some(&y), ..item(Kind::Covariance, &x, 0.6) });
        let event: Vec<f64> = x.iter().map(|x| f64::from(u8::from(*x > 0.0))).collect();
        items.push(item(Kind::Probability, &event, 0.5));
        for (missed, item) in missed.iter_mut().zip(&items) {
            *missed += u32::from(item.interval(0.05).least_distance() > 0.0);
        }
    }
    for (kind, missed) in missed.iter().enumerate() {
        let share = f64::from(*missed) / 2000.0;
        assert!((0.02..0.075).contains(&share), "{kind}: {share}");
    }
}

/// States of chains that forget a part of where they were: xₜ₊₁ = r xₜ + √(1 − r²) z, chain after chain.
fn autoregressive(chains: usize, states: usize, r: f64, seed: u64) -> Vec<f64> {
    let mut x = normals(chains * states, seed);
    for chain in x.chunks_exact_mut(states) {
        (1..states).for_each(|t| chain[t] = r * chain[t - 1] + (1.0 - r * r).sqrt() * chain[t]);
    }
    x
}

#[test]
fn intervals_from_several_states_of_a_chain_cover_as_often_as_they_say() {
    // Also far out, where simultaneous bounds are: of 1,000 samples 2 are expected to be missed at 0.002, and more than
    // 10 have a probability of 10⁻⁵ (for each of 18). At 0.05 four binomial errors are 0.028.
    for (r, seed) in [(0.0, 0), (0.6, 1), (0.95, 2)] {
        let mut missed = [[0; 2]; KINDS.len()];
        for run in 0..1000 {
            let x = autoregressive(100, 10, r, 1_000_000 * seed + run);
            for (missed, &kind) in missed.iter_mut().zip(&KINDS) {
                let item = Item { states: 10, ..item(kind, &x, truth(kind)) };
                let summary = item.summary();
                for (missed, alpha) in missed.iter_mut().zip([0.05, 0.002]) {
                    *missed += u32::from(summary.interval(alpha).least_distance() > 0.0);
                }
            }
        }
        for (kind, [plain, far]) in KINDS.iter().zip(missed) {
            assert!((20..78).contains(&plain), "{kind:?}, {r}: {plain} of 1000 at 0.05");
            assert!(far <= 10, "{kind:?}, {r}: {far} of 1000 at 0.002");
        }
    }
    let (one, ten) = (normals(100, 9), autoregressive(100, 10, 0.0, 9));
    for kind in [Kind::Mean, Kind::LogVariance, Kind::Quantile(0.5)] {
        let width = |item: Item<'_>| {
            let i = item.interval(0.05);
            i.high - i.low
        };
        let ratio = width(item(kind, &one, 0.0)) / width(Item { states: 10, ..item(kind, &ten, 0.0) });
        assert!((2.3..4.2).contains(&ratio), "{kind:?}: ten states are √10 times as sharp as one, not {ratio}");
    }
}

#[test]
fn log_variances_of_heavy_tails_are_not_trusted_too_much() {
    // Products of two normals have kurtosis 9 and variance 1; χ² intervals with N − 1 degrees miss the variance four
    // times too often.
    let runs = 1000;
    let missed = (0..runs).filter(|&seed| {
        let (a, b) = (normals(386, seed), normals(386, 7_000_000 + seed));
        let x: Vec<f64> = a.iter().zip(&b).map(|(a, b)| a * b).collect();
        item(Kind::LogVariance, &x, 0.0).interval(0.05).least_distance() > 0.0
    });
    assert!(missed.count() < 120);
}

#[test]
fn quantile_intervals_at_the_ends_are_infinite_not_wrong() {
    let x: Vec<f64> = (1..=20).map(f64::from).collect();
    let low = item(Kind::Quantile(0.01), &x, 5.0).interval(0.05);
    assert_eq!(
        (low.low, low.least_distance()),
        (f64::NEG_INFINITY, 3.0),
        "Q ≤ x₍₂₎ = 2 with 98 % probability, and 5 is 3 above"
    );
    let high = item(Kind::Quantile(0.99), &x, 5.0).interval(0.05);
    assert_eq!((high.low, high.high), (14.0, f64::INFINITY), "x₍₁₉₎ = 19, as P(X ≤ 18) is below 0.025");
}

#[test]
fn simultaneous_bounds_cry_wolf_in_five_percent_of_runs_and_are_no_wider_than_needed() {
    // 60 functionals of 12 independent quantities, and each quantity five times over.
    let runs = 100;
    let mut alarms = [0_u32; 2];
    for seed in 0..runs {
        let quantities: Vec<Vec<f64>> = (0..12).map(|k| normals(386, 1000 * seed + k)).collect();
        let kinds = [Kind::Mean, Kind::LogVariance, Kind::Quantile(0.05), Kind::Quantile(0.5), Kind::Quantile(0.95)];
        let items: Vec<Item<'_>> =
            quantities.iter().flat_map(|x| kinds.map(|kind| item(kind, x, truth(kind)))).collect();
        let settings = Settings { iterations: 1, tolerances: Tolerances::default(), seed };
        let found = judge(&items, &[0.0], &settings);
        alarms[0] += u32::from(found.functionals.iter().any(|f| f.simultaneous_lower_bound > 0.0));
        alarms[1] += u32::from(found.functionals.iter().any(|f| f.lower_bound > 0.0));
        assert!(found.simultaneous_level >= 0.05 / 60.0);
    }
    // 5 expected, with a standard error of 2.2; without correction nearly all.
    assert!(alarms[0] < 14, "{alarms:?}");
    assert!(alarms[1] > 70, "{alarms:?}");
    let x = normals(386, 5);
    let same: Vec<Item<'_>> = (0..50).map(|_| item(Kind::Mean, &x, 0.0)).collect();
    let level = judge(&same, &[0.0], &Settings { iterations: 1, tolerances: Tolerances::default(), seed: 1 })
        .simultaneous_level;
    assert!((level - 0.05).abs() < 0.015, "one functional fifty times is one functional: {level}");
}

#[test]
fn verdicts_say_what_is_wrong_and_by_how_much() {
    let x: Vec<f64> = normals(2000, 3).iter().map(|x| 2.0 * x + 1.0).collect();
    let settings = Settings { iterations: 10, tolerances: Tolerances::default(), seed: 1 };
    let found = judge(&[item(Kind::LogVariance, &x, 0.0), item(Kind::Mean, &x, 1.0)], &[0.01], &settings);
    assert_eq!(found.verdict.level, Level::Bad);
    // The standard deviation is 1 instead of 2: half, less the margin.
    assert_eq!(found.verdict.sentence, "the standard deviation of x is too small by at least 49 %");
    assert!(found.functionals[0].simultaneous_lower_bound < 4.0_f64.ln());
    let good = judge(&[item(Kind::Mean, &x, 1.0)], &[0.01], &settings);
    assert_eq!((good.verdict.level, good.functionals[0].lower_bound), (Level::Good, 0.0));
    // An error of 0.04 standard deviations is certain, but nobody would mind.
    let small = judge(&[item(Kind::Mean, &[&x[..]; 10].concat(), 1.08)], &[0.01], &settings);
    assert!(small.functionals[0].simultaneous_lower_bound > 0.0 && small.verdict.level == Level::Good, "{small:?}");
    assert!(small.verdict.sentence.contains("the mean of x is too high by at least 0.0"), "{}", small.verdict.sentence);
    let stuck = judge(&[item(Kind::Mean, &x, 1.0)], &[0.01, 0.5], &settings);
    assert_eq!(stuck.verdict.level, Level::Unknown);
    // A mean that moves by a standard deviation between two states, and one of 16 chains.
    let way: Vec<f64> = x.iter().flat_map(|x| [*x, *x + 2.0]).collect();
    let before = Known { value: 2.0, standard_error: 1.0 };
    let moving = Item { states: 2, before, ..item(Kind::Mean, &way, 0.0) };
    let moving = judge(&[moving], &[0.01], &settings);
    assert_eq!((moving.verdict.level, moving.still_moving), (Level::Unknown, true));
    let blind = judge(&[item(Kind::Mean, &x[..16], 1.0)], &[0.01], &settings);
    assert!(blind.verdict.level == Level::Unknown && blind.margin_max > 0.5 && !blind.still_moving, "{blind:?}");
    let json = serde_json::to_value(&found).unwrap();
    assert_eq!(json["functionals"][0]["name"], "log_variance(x)");
    assert_eq!(json["verdict"]["level"], "bad");
    assert!(json["functionals"][0]["interval"][1].is_number());
}

#[test]
fn correlations_are_squared() {
    let x = normals(5000, 1);
    let y: Vec<f64> = normals(5000, 2).iter().zip(&x).map(|(z, x)| -0.5 * x + 0.75_f64.sqrt() * z).collect();
    assert!((squared_correlation(&x, &y) - 0.25).abs() < 0.04);
    assert!(squared_correlation(&x, &vec![1.0; 5000]) >= 1.0, "nothing can be told");
}

#[test]
fn what_draws_of_the_approximation_say_has_their_error() {
    let x = normals(10_000, 8);
    let mean = Known::of_draws(&Functional::new(Kind::Mean, "x"), &x, None, 1.0);
    assert!((mean.standard_error - 0.01).abs() < 5e-4 && mean.value.abs() < 0.05);
    let fewer = Known::of_draws(&Functional::new(Kind::Mean, "x"), &x, None, 0.25);
    // A quarter of the draws, and Student's quantile for as many.
    let ratio = 2.0 * student_quantile(2499.0, 0.975) / student_quantile(9999.0, 0.975);
    assert!((fewer.standard_error / mean.standard_error / ratio - 1.0).abs() < 1e-12);
    // A quantile has the standard error √(p(1 − p)/n)/f(q).
    let median = Known::of_draws(&Functional::new(Kind::Quantile(0.5), "x"), &x, None, 1.0);
    assert!((median.standard_error / 0.012_533 - 1.0).abs() < 0.25, "{median:?}");
    let unsure = Item { before: Known { value: 0.0, standard_error: 1.0 }, ..item(Kind::Mean, &x, 0.0) };
    assert!((unsure.interval(0.05).high - 1.96).abs() < 0.06);
}

#[test]
fn draws_of_a_markov_chain_count_as_many_as_they_are_worth() {
    // Autoregressive chains with r = 0.9: for means (1 − r)/(1 + r) = 0.053, for squares (1 − r²)/(1 + r²) = 0.105.
    let x = autoregressive(4, 5000, 0.9, 4);
    for (kind, worth) in [(Kind::Mean, 0.0526), (Kind::LogVariance, 0.105)] {
        let found = efficiency(&item(kind, &x, 0.0), &[5000; 4]);
        assert!((found / worth - 1.0).abs() < 0.2, "{kind:?}: {found}");
    }
    assert!(efficiency(&item(Kind::Mean, &normals(2000, 5), 0.0), &[500; 4]) > 0.8);
    // Chains that are each at another place know no more than their number.
    let apart: Vec<f64> = normals(2000, 6).iter().enumerate().map(|(i, z)| count(i / 500) + 0.1 * z).collect();
    assert!(efficiency(&item(Kind::Mean, &apart, 0.0), &[500; 4]) < 0.01);
    // Coverage with the efficiency taken into account; without it half of the intervals would miss.
    let missed = (0..400).filter(|&seed| {
        let x = autoregressive(4, 500, 0.8, 100 + seed);
        let item = item(Kind::Mean, &x, 0.0);
        let efficiency = efficiency(&item, &[500; 4]);
        Item { efficiency, ..item }.interval(0.05).least_distance() > 0.0
    });
    // 20 expected; some more since the efficiency is estimated.
    assert!((5..40).contains(&missed.count()));
}
