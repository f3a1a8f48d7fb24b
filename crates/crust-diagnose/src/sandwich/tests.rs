//! Exact checks on a space of three states, and on works whose distribution is known.

use super::*;
use crust_math::random::{Purpose, Stream, StreamKey};

/// Log weights with their probabilities.
type Law = Vec<(f64, f64)>;

const PRIOR: [f64; 3] = [0.5, 0.3, 0.2];
const LIKELIHOOD: [f64; 3] = [0.2, 1.5, 3.0];

fn f(t: usize, x: usize) -> f64 {
    PRIOR[x] * LIKELIHOOD[x].powf([0.0, 0.4, 1.0][t])
}

/// Metropolis with a proposal that is uniform over the other two states.
fn transition(t: usize, from: usize, to: usize) -> f64 {
    let leave = |to: usize| 0.5 * (f(t, to) / f(t, from)).min(1.0);
    if from == to { 1.0 - (0..3).filter(|&x| x != from).map(leave).sum::<f64>() } else { leave(to) }
}

/// All paths of the forward chain: Eqs. 1 and 17.
fn forward_law() -> Law {
    let mut law = Vec::new();
    for (x1, prior) in PRIOR.iter().enumerate() {
        for x2 in 0..3 {
            let log_w = (f(1, x1) / f(0, x1)).ln() + (f(2, x2) / f(1, x2)).ln();
            law.push((log_w, prior * transition(1, x1, x2)));
        }
    }
    law
}

/// All paths of the reverse chain from an exact sample, with −log w: Eq. 24.
fn reverse_law() -> Law {
    let z: f64 = (0..3).map(|x| f(2, x)).sum();
    let mut law = Vec::new();
    for start in 0..3 {
        for x2 in 0..3 {
            for x1 in 0..3 {
                let log_w = (f(1, x2) / f(2, x2)).ln() + (f(0, x1) / f(1, x1)).ln();
                law.push((-log_w, f(2, start) / z * transition(2, start, x2) * transition(1, x2, x1)));
            }
        }
    }
    law
}

fn expectation(law: &Law, value: impl Fn(f64) -> f64) -> f64 {
    law.iter().map(|&(v, p)| p * value(v)).sum()
}

/// The law of the estimates of two chains at once.
fn pairs(law: &Law) -> Vec<(Vec<f64>, f64)> {
    let two = |&(a, p): &(f64, f64)| law.iter().map(move |&(b, q)| (vec![a, b], p * q)).collect::<Vec<_>>();
    law.iter().flat_map(two).collect()
}

fn close(a: f64, b: f64) {
    assert!((a - b).abs() < 1e-12 * (1.0 + a.abs()), "{a} and {b}");
}

#[test]
fn weights_are_unbiased_and_bounds_are_bounds() {
    let z: f64 = (0..3).map(|x| f(2, x)).sum();
    close(expectation(&forward_law(), f64::exp), z);
    close(expectation(&reverse_law(), |r| (-r).exp()), 1.0 / z);
    // two chains: the mean of weights is unbiased, its logarithm below (above) log Z
    let lower: f64 = pairs(&forward_law()).iter().map(|(w, p)| p * lower_bound(w)).sum();
    let upper: f64 = pairs(&reverse_law()).iter().map(|(r, p)| p * upper_bound(r)).sum();
    close(pairs(&forward_law()).iter().map(|(w, p)| p * lower_bound(w).exp()).sum(), z);
    close(pairs(&reverse_law()).iter().map(|(r, p)| p * (-upper_bound(r)).exp()).sum(), 1.0 / z);
    assert!(lower < z.ln() && z.ln() < upper);
    // two chains are tighter than one
    assert!(lower > expectation(&forward_law(), |w| w) && upper < expectation(&reverse_law(), |r| r));
}

#[test]
fn the_mean_gap_of_single_chains_is_above_the_jeffreys_divergence() {
    // the final state of the forward chain, x3, against the posterior
    let z: f64 = (0..3).map(|x| f(2, x)).sum();
    let mut q = [0.0; 3];
    for (x1, prior) in PRIOR.iter().enumerate() {
        for x2 in 0..3 {
            for (x3, q) in q.iter_mut().enumerate() {
                *q += prior * transition(1, x1, x2) * transition(2, x2, x3);
            }
        }
    }
    let jeffreys: f64 = (0..3).map(|x| (q[x] - f(2, x) / z) * (q[x] * z / f(2, x)).ln()).sum();
    let mut b = 0.0;
    for (w, p) in forward_law() {
        for (r, q) in reverse_law() {
            b += p * q * jeffreys_bound(&[w], &[r]).value;
        }
    }
    assert!(b > jeffreys && jeffreys > 0.0, "B = {b}, J = {jeffreys}");
    let kl: f64 = (0..3).map(|x| q[x] * (q[x] * z / f(2, x)).ln()).sum();
    let bound = expectation(&forward_law(), |w| kl_forward_bound(&[w], z.ln()).value);
    assert!(bound > kl && bound < b);
    let kl: f64 = (0..3).map(|x| f(2, x) / z * (f(2, x) / z / q[x]).ln()).sum();
    let bound = expectation(&reverse_law(), |r| kl_reverse_bound(&[r], z.ln()).value);
    assert!(bound > kl && bound < b);
}

#[test]
fn the_violation_tests_keep_their_level_exactly() {
    // E[e^(L − U)] = 1 and P(−δ) = e^−δ P(δ), summed over all paths of two chains each
    let (forward, reverse) = (pairs(&forward_law()), pairs(&reverse_law()));
    let mut mean = 0.0;
    for (w, p) in &forward {
        for (r, q) in &reverse {
            mean += p * q * (lower_bound(w) - upper_bound(r)).exp();
        }
    }
    close(mean, 1.0);
    // so given |δ| the sign has the mean tanh(|δ|/2)
    let mut sign = 0.0;
    for (w, p) in forward_law() {
        for (r, q) in reverse_law() {
            let gap: f64 = r - w;
            if gap.abs() > 1e-9 {
                sign += p * q * (gap.signum() - (0.5 * gap.abs()).tanh());
            }
        }
    }
    close(1.0 + sign, 1.0);
}

/// Works of which the identity holds: forward log w ~ N(log Z − s²/2, s²), reverse ~ N(log Z + s²/2, s²).
fn normal_works(log_z: f64, s: f64, forward: usize, reverse: usize, stream: &mut Stream) -> (Vec<f64>, Vec<f64>) {
    let mut draw = |sign: f64, n: usize| -> Vec<f64> {
        (0..n).map(|_| log_z + sign * 0.5 * s * s + s * stream.standard_normal()).collect()
    };
    (draw(-1.0, forward), draw(1.0, reverse))
}

fn stream(step: u64) -> Stream {
    StreamKey::new(7, Purpose::TEST).step(step).stream()
}

#[test]
fn bennett_is_right_and_knows_its_error() {
    // 400 z-scores each: the mean square is 1 ± 0.07 (standard error), so 4.2 of these are a false alarm of 3e-5
    for (s, forward, reverse) in [(0.5, 100, 100), (1.5, 100, 100), (1.5, 50, 200), (2.5, 400, 400)] {
        let mut stream = stream(forward as u64);
        let (mut square, mut total) = (0.0, 0.0);
        for _ in 0..400 {
            let (w, r) = normal_works(-123.0, s, forward, reverse, &mut stream);
            let estimate = bennett(&w, &r);
            let z = (estimate.log_z + 123.0) / estimate.se;
            square += z * z / 400.0;
            total += z / 400.0;
        }
        assert!((square - 1.0).abs() < 0.3, "mean square {square} for s = {s}, {forward} and {reverse} chains");
        assert!(total.abs() < 0.21, "mean {total} for s = {s}, {forward} and {reverse} chains");
    }
}

#[test]
fn bennett_of_extreme_cases() {
    let exact = bennett(&[2.0, 2.0], &[2.0, 2.0, 2.0]);
    assert!((exact.log_z - 2.0).abs() < 1e-9 && exact.se < 1e-6 && exact.overlap > 0.999);
    // no overlap: no estimate
    let apart = bennett(&[-2000.0, -1990.0], &[10.0, 20.0]);
    assert!(apart.log_z.is_nan() && apart.se.is_infinite() && apart.overlap < 1e-100);
    // chains of weight 0 pull down by as much as they should: half of the chains, so log 2
    let zeros = bennett(&[1.0, f64::NEG_INFINITY], &[1.0 - 2.0_f64.ln()]);
    assert!(zeros.log_z < 1.0 && zeros.log_z.is_finite());
    assert!(bennett(&[f64::NEG_INFINITY], &[f64::INFINITY]).log_z.is_nan());
    assert!(bennett(&[], &[1.0]).log_z.is_nan());
}

#[test]
fn log_mean_exp_is_stable() {
    close(log_mean_exp(&[1000.0, 1000.0]), 1000.0);
    close(log_mean_exp(&[-1e4, -1e4 + 2.0_f64.ln()]), -1e4 + 1.5_f64.ln());
    close(log_mean_exp(&[f64::NEG_INFINITY, 0.0]), 0.5_f64.ln());
    assert!(log_mean_exp(&[f64::NEG_INFINITY; 2]) == f64::NEG_INFINITY && log_mean_exp(&[]) == f64::NEG_INFINITY);
    close(upper_bound(&[3.0, 5.0]), -f64::midpoint((-3.0_f64).exp(), (-5.0_f64).exp()).ln());
    assert!(upper_bound(&[f64::INFINITY; 2]) == f64::INFINITY);
}

#[test]
fn gaps_are_reverse_minus_forward() {
    let estimate = jeffreys_bound(&[-3.0, -1.0], &[2.0, 4.0]);
    close(estimate.value, 5.0);
    close(estimate.se, 2.0_f64.sqrt());
    let all = |found: [f64; 3], expected: [f64; 3]| found.iter().zip(expected).for_each(|(a, b)| close(*a, b));
    all(jeffreys_quartiles(&[0.0, 2.0], &[10.0, 12.0]), [9.5, 10.0, 10.5]);
    let never = f64::NEG_INFINITY;
    assert!(jeffreys_bound(&[never, 0.0], &[1.0]).value > f64::MAX);
    assert!(jeffreys_quartiles(&[never, 0.0], &[1.0])[2] > f64::MAX);
    all(quartiles(&[5.0, 1.0, 3.0, 2.0, 4.0]), [2.0, 3.0, 4.0]);
    all(quartiles(&[1.0, 2.0]), [1.25, 1.5, 1.75]);
    assert!(quartiles(&[never; 3]).iter().all(|q| *q < f64::MIN));
}

#[test]
fn markov_check_sees_what_cannot_happen() {
    let check = |gaps: &[f64]| {
        let rungs = gaps.iter().map(|&gap| (vec![gap], vec![0.0])).collect::<Vec<_>>();
        let datasets: Vec<Vec<Exchange<'_>>> =
            rungs.iter().map(|(w, r)| vec![Exchange { forward: w, reverse: r }]).collect();
        markov_check(&datasets)
    };
    assert!(check(&[20.0]) < LEVEL && check(&[10.0]) > LEVEL, "one dataset");
    assert!(check(&[10.0]) < 1e-3);
    assert!(check(&[1.5; 40]) < LEVEL, "many datasets that are off by a little");
    assert!(check(&[-5.0; 10].map(|g| g)) > 0.5 && check(&[]) >= 1.0);
    assert!(check(&[-50.0, 20.0, -50.0]) < 1e-4, "good datasets do not hide a bad one");
    assert!(check(&[f64::NEG_INFINITY]) > 0.5);
}

#[test]
fn exchange_check_sees_wrong_signs_and_keeps_its_level() {
    assert!(exchange_check(&[-4.0; 6]) < 1e-6);
    assert!(exchange_check(&[4.0; 50]) >= 1.0 && exchange_check(&[0.0; 50]) >= 0.5);
    // 2,000 repetitions with 20 datasets: the number of p ≤ 0.05 is at most binomial(2000, 0.05); 155 is 5.6 sd above
    // its mean
    let mut stream = stream(5);
    let mut small = 0;
    for _ in 0..2000 {
        let gaps: Vec<f64> = (0..20).map(|_| 1.0 + 2.0_f64.sqrt() * stream.standard_normal()).collect();
        small += usize::from(exchange_check(&gaps) <= 0.05);
    }
    assert!(small < 155, "{small} of 2000");
}

#[test]
fn the_slope_of_the_fluctuation_identity() {
    let mut stream = stream(9);
    let mut small = 0;
    for _ in 0..1000 {
        let (w, r) = normal_works(3.0, 1.2, 100, 100, &mut stream);
        let p = fluctuation_slope(Exchange { forward: &w, reverse: &r }).expect("they overlap");
        small += usize::from(p < 0.05);
    }
    // binomial(1000, 0.05): 50 ± 7, and the test is approximate
    assert!((20..85).contains(&small), "{small} of 1000");
    // weights that forget part of the path: reverse and forward with a variance that does not fit their distance
    let (mut w, mut r) = normal_works(0.0, 1.2, 400, 400, &mut stream);
    w.iter_mut().for_each(|w| *w *= 2.0);
    r.iter_mut().for_each(|r| *r *= 2.0);
    assert!(fluctuation_slope(Exchange { forward: &w, reverse: &r }).is_some_and(|p| p < SLOPE_LEVEL));
    assert_eq!(fluctuation_slope(Exchange { forward: &[-100.0; 9], reverse: &[100.0; 9] }), None);
    assert_eq!(fluctuation_slope(Exchange { forward: &[1.0; 99], reverse: &[1.0; 99] }), None);
}

#[test]
fn ranks_and_their_combination() {
    let others: Vec<f64> = (0..99).map(f64::from).collect();
    let check = |found: [f64; 2], expected: [f64; 2]| found.iter().zip(expected).for_each(|(a, b)| close(*a, b));
    check(rank_p_values(1000.0, &others), [0.01, 1.0]);
    check(rank_p_values(-1.0, &others), [1.0, 0.01]);
    check(rank_p_values(49.0, &others), [0.51, 0.51]);
    check(rank_p_values(5.0, &[5.0; 9]), [1.0, 1.0]);
    // Fisher's formula against the closed forms for one and two values
    close(fisher_combination(&[0.03]), 0.03);
    let product: f64 = 0.03 * 0.2;
    close(fisher_combination(&[0.03, 0.2]), product * (1.0 - product.ln()));
    assert!(fisher_combination(&[0.02; 10]) < LEVEL);
}
