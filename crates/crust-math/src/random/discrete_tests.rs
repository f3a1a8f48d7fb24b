use super::super::check::{Probabilities, Sample, normal_cdf, stream};
use super::*;

const N: usize = 60_000;

/// Tests draws by χ² against probabilities that come from the ratios of neighbours alone, and by their moments.
fn test(name: &str, expected: &Probabilities, seed: u64, mut draw: impl FnMut(&mut Stream) -> Draw<i64>) {
    let mut stream = stream(seed);
    let draws: Vec<i64> = (0..N).map(|_| draw(&mut stream).unwrap()).collect();
    expected.describe(name, &draws);
    let (mean, variance) = expected.mean_and_variance();
    // Of rarer events there are too few for a normal limit.
    if variance > 1e-2 {
        Sample(draws.into_iter().map(float).collect()).has_moments(name, mean, variance);
    }
}

#[test]
fn poisson_draws_in_all_regimes() {
    for rate in [1e-3, 0.7, 4.0, 9.999, 10.0, 11.3, 37.0, 500.0, 1e4, 1e6, 1e9] {
        let mode = integer(rate);
        let reach = integer(8.0 * f64::sqrt(rate)) + 25;
        let expected = Probabilities::from_ratios((mode - reach).max(0), mode, mode + reach, |k| rate / float(k + 1));
        test(&format!("poisson({rate})"), &expected, 1, |s| s.poisson(rate));
    }
    assert_eq!(stream(2).poisson(0.0), Ok(0));
}

#[test]
fn poisson_draws_with_the_largest_rate() {
    let rate = LARGEST_RATE;
    let sample = Sample::draw(N, &mut stream(3), |s| (float(s.poisson(rate).unwrap()) - rate) / rate.sqrt());
    sample.follows("poisson(1e15)", normal_cdf);
    sample.has_moments("poisson(1e15)", 0.0, 1.0);
}

#[test]
fn binomial_draws_in_all_regimes() {
    let cases = [
        (1, 0.4),
        (7, 0.5),
        (20, 0.05),
        (20, 0.97),
        (20, 0.5),
        (21, 0.5),
        (100, 0.0999),
        (100, 0.1001),
        (400, 0.8),
        (1000, 1e-6),
        (100_000, 0.3),
        (1_000_000_000, 0.5),
        (1_000_000_000, 3e-8),
        (1_000_000_000, 1.0 - 3e-8),
        (1_000_000_000, 2e-6),
        (1_000_000_000_000_000_000, 1e-17),
    ];
    for (n, p) in cases {
        let mode = integer((float(n) + 1.0) * p).min(n);
        let reach = integer(8.0 * (float(n) * p * (1.0 - p)).sqrt()) + 25;
        let odds = p / (1.0 - p);
        let ratio = |k| odds * float(n - k) / float(k + 1);
        let expected = Probabilities::from_ratios((mode - reach).max(0), mode, (mode + reach).min(n), ratio);
        test(&format!("binomial({n}, {p})"), &expected, 4, |s| s.binomial(n, p));
    }
    let mut stream = stream(5);
    assert_eq!(stream.binomial(0, 0.3), Ok(0));
    assert_eq!(stream.binomial(9, 0.0), Ok(0));
    assert_eq!(stream.binomial(9, 1.0), Ok(9));
    assert!((0..=i64::MAX).contains(&stream.binomial(i64::MAX, 0.7).unwrap()));
}

/// P(k + 1) / P(k) = (k + shape) / (k + 1) / (1 + inverse scale)
fn neg_binomial(shape: f64, inverse_scale: f64) -> Probabilities {
    let last = integer(8.0 * (shape / inverse_scale / inverse_scale * (1.0 + inverse_scale)).sqrt())
        + integer((shape + 35.0) / inverse_scale.ln_1p());
    let mode = integer((shape - 1.0).max(0.0) / inverse_scale);
    Probabilities::from_ratios(0, mode, last.max(mode), |k| (float(k) + shape) / float(k + 1) / (1.0 + inverse_scale))
}

#[test]
fn negative_binomial_draws() {
    for (shape, inverse_scale) in [(0.01, 0.1), (0.5, 0.01), (1.0, 1.0), (3.0, 2.0), (100.0, 0.01), (50.0, 40.0)] {
        let expected = neg_binomial(shape, inverse_scale);
        test("neg_binomial", &expected, 6, |s| s.neg_binomial(shape, inverse_scale));
    }
    for (mean, precision) in [(5.0, 1e6), (10.0, 0.5), (0.2, 3.0), (1e4, 8.0)] {
        let expected = neg_binomial(precision, precision / mean);
        test("neg_binomial_2", &expected, 7, |s| s.neg_binomial_2(mean, precision));
    }
}

#[test]
fn beta_binomial_draws() {
    for (n, a, b) in [(1, 0.3, 2.0), (10, 0.5, 0.5), (50, 5.0, 1.0), (1000, 1e4, 2e4), (300, 0.05, 0.1)] {
        let expected = Probabilities::from_ratios(0, n / 2, n, |k| {
            float(n - k) / float(k + 1) * (float(k) + a) / (float(n - k) - 1.0 + b)
        });
        test("beta_binomial", &expected, 8, |s| s.beta_binomial(n, a, b));
    }
}

#[test]
fn hypergeometric_draws_in_all_regimes() {
    let cases = [
        (1, 3, 4),
        (5, 10, 10),
        (10, 10, 1),
        (50, 60, 40),
        (500, 3, 1000),
        (900, 700, 300),
        (100, 1_000_000, 5_000_000),
        (1_000_000, 1_000_000_000, 2_000_000_000),
    ];
    for (draws, marked, unmarked) in cases {
        let (n, a, b) = (float(draws), float(marked), float(unmarked));
        let (first, last) = ((draws - unmarked).max(0), draws.min(marked));
        let mode = integer((n + 1.0) * (a + 1.0) / (a + b + 2.0)).clamp(first, last);
        let reach = integer(8.0 * (n * a / (a + b)).sqrt()) + 25;
        let expected = Probabilities::from_ratios((mode - reach).max(first), mode, (mode + reach).min(last), |k| {
            let k = float(k);
            (a - k) / (k + 1.0) * (n - k) / (b - n + k + 1.0)
        });
        test(&format!("hypergeometric({n}, {a}, {b})"), &expected, 9, |s| s.hypergeometric(draws, marked, unmarked));
    }
    let mut stream = stream(10);
    assert_eq!(stream.hypergeometric(0, 4, 5), Ok(0));
    assert_eq!(stream.hypergeometric(9, 4, 5), Ok(4));
    assert_eq!(stream.hypergeometric(3, 0, 5), Ok(0));
    assert_eq!(stream.hypergeometric(0, 0, 0), Ok(0));
}

/// No parameter may make a sampler loop for ever.
#[test]
fn impossible_parameters_are_errors() {
    let mut s = stream(11);
    for bad in [f64::NAN, -1.0, f64::INFINITY] {
        assert!(s.poisson(bad).is_err());
        assert!(s.binomial(3, bad).is_err());
        assert!(s.neg_binomial(bad, 1.0).is_err() && s.neg_binomial(1.0, bad).is_err());
        assert!(s.neg_binomial_2(bad, 1.0).is_err() && s.neg_binomial_2(1.0, bad).is_err());
        assert!(s.beta_binomial(3, bad, 1.0).is_err() && s.beta_binomial(3, 1.0, bad).is_err());
    }
    assert!(s.binomial(-1, 0.5).is_err());
    assert!(s.neg_binomial(1.0, 1e-30).is_err());
    assert!(s.hypergeometric(-1, 2, 2).is_err());
    assert!(s.hypergeometric(5, 2, 2).is_err());
    assert!(s.hypergeometric(1, -2, 4).is_err());
}
