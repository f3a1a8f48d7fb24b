//! Outcomes that are cut off at a limit, that do not come to an end, or that are conditional on others.

use crust_engine::{Proof, ProveError, SimulateError, Simulator};
use crust_stan::joint::ByDensity;
use crust_stan::value::Value;

use super::by_density::{distance, normal_cdf, numeric};
use super::{case, key, parse};

/// Outcomes drawn at a point, one after the other.
fn draws(text: &str, simulator: &mut Simulator, point: &[f64], number: u32) -> Vec<Vec<f64>> {
    let reading = parse(text);
    let one = |i: u32| {
        let data = simulator.draw_data(point, key(i)).expect("data");
        data.by_name(&reading.typed, "y").and_then(Value::to_reals).expect("numbers")
    };
    (0..number).map(one).collect()
}

fn sums_to_one(proof: &Proof) {
    let (points, log) = proof.normaliser.expect("a normaliser");
    assert!(points >= 3 && log.abs() < 1e-7, "{points} {log}");
}

fn logit(p: f64) -> f64 {
    (p / (1.0 - p)).ln()
}

/// What is below a limit is only known to be there. All of it has the probability of the value that the data have.
#[test]
fn cut_off_at_a_limit() {
    let text = "data { int N; vector[N] y; real L; } parameters { real m; real<lower=0> s; }
        model { for (n in 1:N) { if (y[n] > L) target += normal_lpdf(y[n] | m, s);
            else target += normal_lcdf(L | m, s); } }";
    let json = r#"{"N": 6, "y": [0.5, 1.5, 0.5, 0.7, 3, 0.5], "L": 0.5}"#;
    let (mut simulator, proof) = numeric(text, json, ByDensity::WhereNeeded).expect("proven");
    let (_, log) = proof.normaliser.expect("a normaliser");
    assert!(log.abs() < 1e-5, "{log}");
    let mut all = draws(text, &mut simulator, &[1.0, 0.0], 1000).concat();
    #[allow(clippy::cast_precision_loss, reason = "few numbers")]
    let cut = all.iter().filter(|y| y.total_cmp(&0.5).is_eq()).count() as f64;
    assert!(all.iter().all(|y| *y >= 0.5));
    // 6,000 numbers of which Φ(−½) are cut off: a standard deviation of 36
    let share = normal_cdf(-0.5);
    assert!((cut - 6000.0 * share).abs() < 144.0, "{cut}");
    all.retain(|y| *y > 0.5);
    let far = distance(&mut all, |x| (normal_cdf(x - 1.0) - share) / (1.0 - share));
    // 1.63 / √4149
    assert!(far < 0.026, "{far}");
}

/// Far out in the upper tail of a distribution that ends: P(Y > y | Y > ½) = (2 (1 − y))⁵⁰.
#[test]
fn the_last_part_of_a_tail_that_ends() {
    let text = "data { real<lower=0> y; } parameters { real q; } model { q ~ normal(0, 1); y ~ beta(1, 50) T[0.5, ]; }";
    let mut case = case(text, r#"{"y": 0.6}"#);
    let mut all = draws(text, &mut case.simulator, &[0.3], 1000).concat();
    assert!(all.iter().all(|y| (0.5..=1.0).contains(y)), "{all:?}");
    let far = distance(&mut all, |y| 1.0 - (2.0 * (1.0 - y)).powi(50));
    // 1.63 / √1000
    assert!(far < 0.052, "{far}");
}

/// A censored observation has no density: as a function of when it was censored, the likelihood does not end.
#[test]
fn censored_by_an_indicator_is_refused() {
    let text = "data { int N; vector[N] y; array[N] int d; } parameters { real m; real<lower=0> s; }
        model { for (n in 1:N) { if (d[n] == 0) y[n] ~ normal(m, s); else target += normal_lcdf(y[n] | m, s); } }";
    let json = r#"{"N": 4, "y": [0.5, 1.5, 0.2, 0.7], "d": [0, 1, 0, 1]}"#;
    match numeric(text, json, ByDensity::Always) {
        Err(ProveError::Simulate(SimulateError::Endless)) => {}
        other => panic!("{:?}", other.map(|(_, proof)| proof)),
    }
}

/// Heavy tails do come to an end: all but those of which a part is beyond every number that is looked at.
#[test]
fn heavy_tails() {
    let text = "data { int N; vector[N] y; } parameters { real m; real<lower=0> s; }
        model { for (n in 1:N) target += -log1p(square((y[n] - m) / s)) - log(s); }";
    let (_, proof) = numeric(text, r#"{"N": 3, "y": [0.5, -3, 40]}"#, ByDensity::WhereNeeded).expect("proven");
    let log = proof.normaliser.expect("a normaliser").1;
    assert!((log - 3.0 * std::f64::consts::PI.ln()).abs() < 1e-5, "{log}");
}

/// Captures after the first one: what is before it stays.
#[test]
fn captures_after_the_first() {
    let text = "functions { int first(array[] int y) { for (k in 1:size(y)) if (y[k]) return k; return 0; }
            int last(array[] int y) { int l = 0; for (k in 1:size(y)) if (y[k]) l = k; return l; } }
        data { int I; int T; array[I, T] int<lower=0, upper=1> y; }
        transformed data { array[I] int f; array[I] int l; for (i in 1:I) { f[i] = first(y[i]); l[i] = last(y[i]); } }
        parameters { real<lower=0, upper=1> phi; real<lower=0, upper=1> p; }
        transformed parameters { vector[T] chi; chi[T] = 1;
            for (k in 1:(T - 1)) { int t = T - k; chi[t] = 1 - phi + phi * (1 - p) * chi[t + 1]; } }
        model { for (i in 1:I) if (f[i] > 0) {
            for (t in (f[i] + 1):l[i]) { 1 ~ bernoulli(phi); y[i, t] ~ bernoulli(p); }
            1 ~ bernoulli(chi[l[i]]); } }";
    let json = r#"{"I": 3, "T": 4, "y": [[1, 0, 1, 0], [0, 1, 0, 0], [0, 0, 1, 1]]}"#;
    let (mut simulator, proof) = numeric(text, json, ByDensity::WhereNeeded).expect("proven");
    sums_to_one(&proof);
    let (phi, p) = (0.8, 0.6);
    let all = draws(text, &mut simulator, &[logit(phi), logit(p)], 500);
    for y in &all {
        assert_eq!([&y[..1], &y[4..6], &y[8..11]].concat(), [1.0, 0.0, 1.0, 0.0, 0.0, 1.0]);
    }
    // seen at the next time: φ p, each time
    #[allow(clippy::cast_precision_loss, reason = "few numbers")]
    let seen = all.iter().map(|y| usize::from(y[1] > 0.0) + usize::from(y[11] > 0.0)).sum::<usize>() as f64;
    // a standard deviation of 16
    assert!((seen - 1000.0 * phi * p).abs() < 64.0, "{seen}");
}

/// Densities that are infinite at a bound: much of what there is lies closer to it than any rule of quadrature looks.
#[test]
fn infinite_at_a_bound() {
    let text = "data { int N; vector<lower=0>[N] y; } parameters { real<lower=0> a; }
        model { for (n in 1:N) target += (a - 1) * log(y[n]) - y[n] - lgamma(a); }";
    let json = r#"{"N": 4, "y": [0.5, 1e-5, 0.02, 1.7]}"#;
    let (mut simulator, proof) = numeric(text, json, ByDensity::Always).expect("proven");
    sums_to_one(&proof);
    // Gamma(a) with a = 0.05: F(x) is xᵃ / Γ(a + 1) for small x, so that F(10⁻¹²) = 0.258.
    let all = draws(text, &mut simulator, &[0.05_f64.ln()], 500).concat();
    assert!(all.iter().all(|y| *y > 0.0));
    #[allow(clippy::cast_precision_loss, reason = "few numbers")]
    let small = all.iter().filter(|y| **y < 1e-12).count() as f64;
    let share = 1e-12_f64.powf(0.05) / 0.973_504_265_562_775_6;
    // 2,000 numbers: a standard deviation of 20
    assert!((small - 2000.0 * share).abs() < 80.0, "{small} {share}");
}

/// Zeros and ones with probabilities of their own, and a beta density that may be infinite beside them.
#[test]
fn zeros_and_ones_beside_a_beta_density() {
    let text = "data { int N; vector<lower=0, upper=1>[N] y; }
        parameters { real<lower=0, upper=1> p; real<lower=0, upper=1> q; real<lower=0> a; real<lower=0> b; }
        model { for (n in 1:N) { if (y[n] == 0) target += log(p) + log1m(q);
            else if (y[n] == 1) target += log(p) + log(q);
            else target += log1m(p) + beta_lpdf(y[n] | a, b); } }";
    for json in [
        r#"{"N": 6, "y": [0, 0.3, 0, 1, 0.9, 1]}"#,
        // neither zeros nor ones, which the program still gives probabilities
        r#"{"N": 3, "y": [0.2, 0.3, 0.9]}"#,
    ] {
        let (mut simulator, proof) = numeric(text, json, ByDensity::WhereNeeded).expect("proven");
        sums_to_one(&proof);
        let all = draws(text, &mut simulator, &[0.0, logit(0.25), 0.5_f64.ln(), 0.0], 600).concat();
        #[allow(clippy::cast_precision_loss, reason = "few numbers")]
        let share = |what: &dyn Fn(f64) -> bool| all.iter().filter(|y| what(**y)).count() as f64 / all.len() as f64;
        // at least 1,800 numbers: standard deviations below 0.012
        assert!((share(&|y| y <= 0.0) - 0.375).abs() < 0.046);
        assert!((share(&|y| y >= 1.0) - 0.125).abs() < 0.032);
        let mut between: Vec<f64> = all.iter().copied().filter(|y| *y > 0.0 && *y < 1.0).collect();
        // Beta(½, 1) has the distribution function √x; 1.63 / √900
        assert!(distance(&mut between, f64::sqrt) < 0.056);
    }
}

/// Zeros at the bound of an outcome, beside densities that vanish there or go on, with a share that parameters or data
/// state: a hurdle, a limit of detection with a declared bound, and shares of zeros as data.
#[test]
fn zeros_at_a_bound() {
    let program = |data: &str, parameters: &str, model: &str| {
        format!(
            "data {{ int N; vector<lower=0>[N] y; {data} }} parameters {{ {parameters} }}
             model {{ for (n in 1:N) {{ {model} }} }}"
        )
    };
    let cases = [
        // a hurdle before a lognormal density, which is 0 at 0
        (
            program(
                "",
                "real<lower=0, upper=1> h; real m; real<lower=0> s;",
                "if (y[n] == 0) target += bernoulli_lpmf(1 | h);
                 else target += bernoulli_lpmf(0 | h) + lognormal_lpdf(y[n] | m, s);",
            ),
            vec![logit(0.4), 0.0, 0.0],
            0.4,
        ),
        // tobit, with the bound that its data have
        (
            program(
                "",
                "real m; real<lower=0> s;",
                "if (y[n] > 0) y[n] ~ normal(m, s); else target += normal_lcdf(0 | m, s);",
            ),
            vec![0.5, 0.0],
            normal_cdf(-0.5),
        ),
        // a share of zeros that no parameter has a part in
        (
            program(
                "real p;",
                "real<lower=0> a;",
                "if (y[n] == 0) target += log(p); else target += log1m(p) + exponential_lpdf(y[n] | a);",
            ),
            vec![0.0],
            0.3,
        ),
    ];
    for (text, point, share) in cases {
        for y in ["[0, 1.3, 0, 0.2, 2.1]", "[0.7, 1.3, 0, 0.2, 2.1]"] {
            let json = format!(r#"{{"N": 5, "p": 0.3, "y": {y}}}"#);
            let (mut simulator, proof) = numeric(&text, &json, ByDensity::WhereNeeded).expect("proven");
            let (_, log) = proof.normaliser.expect("a normaliser");
            assert!(log.abs() < 1e-5, "{text}: {log}");
            let all = draws(&text, &mut simulator, &point, 800).concat();
            #[allow(clippy::cast_precision_loss, reason = "few numbers")]
            let zeros = all.iter().filter(|y| **y == 0.0).count() as f64 / 4000.0;
            // four standard deviations of at most 0.0079
            assert!((zeros - share).abs() < 0.032, "{text}, {y}: {zeros}");
        }
    }
}
