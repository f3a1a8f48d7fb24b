//! Outcomes drawn from the values of the likelihood: by hand, and against what statements are read as.

use crust_engine::{Misreading, Proof, ProveError, ProveOptions, SimulateError, Simulator, prove};
use crust_stan::joint::{ByDensity, Joint, ReadOptions};
use crust_stan::value::Value;

use super::{data_of, key, parse};

fn sums_to_one(proof: &Proof) {
    let (points, log) = proof.normaliser.expect("a normaliser");
    assert!(points >= 3 && log.abs() < 1e-7, "{points} {log}");
}

pub fn numeric(text: &str, json: &str, by_density: ByDensity) -> Result<(Simulator, Proof), ProveError> {
    let reading = parse(text);
    let options = ReadOptions { likelihood_only: true, by_density, ..ReadOptions::default() };
    let joint = Joint::read(&reading.typed, &options).unwrap_or_else(|problems| {
        let messages: Vec<&str> = problems.iter().map(|p| p.message.as_str()).collect();
        panic!("not readable: {messages:?}\n{text}")
    });
    let data = data_of(&reading, &joint, json);
    let simulator = Simulator::new(&reading.typed, &joint, &data, None)?;
    let proof = prove(&reading.typed, &simulator, &ProveOptions::default())?;
    Ok((simulator, proof))
}

const BY_HAND: &str = "data { int N; vector[N] y; } parameters { real m; real<lower=0> s; }
    model { for (n in 1:N) target += -0.5 * square((y[n] - m) / s) - log(s); }";

const FOUR: &str = r#"{"N": 4, "y": [1, 2.5, -1, 3]}"#;

/// A normal density by hand without its constant: the normaliser is (2π)^(N/2), and draws are normal.
#[test]
fn normal_by_hand() {
    let (mut simulator, proof) = numeric(BY_HAND, FOUR, ByDensity::WhereNeeded).expect("proven");
    let (points, log) = proof.normaliser.expect("a normaliser");
    assert!(points >= 4);
    assert!((log - 2.0 * (2.0 * std::f64::consts::PI).ln()).abs() < 1e-7, "{log}");
    let reading = parse(BY_HAND);
    let point = [5.0, 2.0_f64.ln()];
    let mut all = Vec::new();
    for i in 0..400 {
        let data = simulator.draw_data(&point, key(i)).expect("data");
        all.extend(data.by_name(&reading.typed, "y").and_then(Value::to_reals).expect("numbers"));
    }
    // Kolmogorov's distance of 1,600 numbers is above 1.63 / √1600 = 0.041 with probability 0.01.
    let far = distance(&mut all, |x| normal_cdf((x - 5.0) / 2.0));
    assert!(far < 0.041, "{far}");
}

/// A sum of counts stays the same where one grows and another shrinks: it looks at all of them nevertheless.
#[test]
fn changes_that_cancel() {
    let text = "data { int K; array[K] int y; } parameters { simplex[K] p; }
        model { for (k in 1:K) target += y[k] * log(p[k]) - lgamma(y[k] + 1.0); target += lgamma(sum(y) + 1.0); }";
    for (size, counts) in [(2, "[1, 2]"), (3, "[1, 2, 3]"), (4, "[1, 2, 3, 1]"), (5, "[2, 0, 1, 4, 0]")] {
        let refused = numeric(text, &format!(r#"{{"K": {size}, "y": {counts}}}"#), ByDensity::WhereNeeded).err();
        assert!(matches!(refused, Some(ProveError::Simulate(SimulateError::NoDensity { .. }))), "{refused:?}");
    }
}

/// The mean of all observations says nothing of the mean of the first ones: the program with fewer of them is another
/// one, and what it integrates to depends on what was drawn before, though not on m.
#[test]
fn programs_of_fewer_observations_may_be_others() {
    let text = "data { int n; vector[n] y; } parameters { real m; } model { m ~ normal(0, 1); mean(y) ~ normal(m, 1 / sqrt(n)); }";
    let refused = numeric(text, r#"{"n": 3, "y": [0, 2, 1]}"#, ByDensity::WhereNeeded).err();
    assert!(matches!(refused, Some(ProveError::Simulate(SimulateError::NoDensity { .. }))), "{refused:?}");
}

/// Over who plays whom probabilities add up to ½ K² a game: that is no game, but a pair of players.
#[test]
fn indices_are_no_outcomes() {
    let games = "data { int N; int K; array[N] int<lower=1, upper=K> w; array[N] int<lower=1, upper=K> l; } parameters { vector[K] a; }
        model { for (n in 1:N) target += log_inv_logit(a[w[n]] - a[l[n]]); }";
    let json = r#"{"N": 3, "K": 3, "w": [1, 2, 1], "l": [2, 3, 3]}"#;
    let refused = numeric(games, json, ByDensity::WhereNeeded).err().map(|error| error.to_string());
    assert!(refused.as_ref().is_some_and(|why| why.contains("not 1")), "{refused:?}");
    // Categories add up to 1.
    let words = "data { int N; int K; array[N] int<lower=1, upper=K> w; } parameters { simplex[K] a; }
        model { for (n in 1:N) target += log(a[w[n]]); }";
    let (_, proof) = numeric(words, r#"{"N": 3, "K": 3, "w": [1, 2, 1]}"#, ByDensity::WhereNeeded).expect("proven");
    sums_to_one(&proof);
}

/// How often a sequence stays does not change with the middle one of 1, 0, 0; it is drawn all the same.
#[test]
fn elements_that_the_data_do_not_feel() {
    let text = "data { int T; array[T] int<lower=0, upper=1> y; } parameters { real<lower=0, upper=1> p; }
        model { int stays = 0; p ~ beta(2, 2); for (t in 2:T) if (y[t] == y[t - 1]) stays += 1;
            target += -log(2) + stays * log(p) + (T - 1 - stays) * log1m(p); }";
    for counts in ["[1, 0, 0]", "[1, 1, 1]", "[0, 1, 0]"] {
        let data = format!(r#"{{"T": 3, "y": {counts}}}"#);
        let (mut simulator, proof) = numeric(text, &data, ByDensity::WhereNeeded).expect("proven");
        sums_to_one(&proof);
        let reading = parse(text);
        let mut ones = [0.0; 3];
        for i in 0..400 {
            let data = simulator.draw_data(&[0.3], key(i)).expect("data");
            let y = data.by_name(&reading.typed, "y").and_then(Value::to_reals).expect("numbers");
            ones.iter_mut().zip(y).for_each(|(sum, y)| *sum += y);
        }
        // Each is 1 half of the time: ten in standard deviation.
        assert!(ones.iter().all(|n: &f64| (n - 200.0).abs() < 45.0), "{counts}: {ones:?}");
    }
}

/// There is a time after which it is given up; what is understood needs none.
#[test]
fn the_time_is_limited() {
    let over = std::time::Instant::now();
    let later = over + std::time::Duration::from_hours(1);
    let attempt = |by_density: ByDensity, text: &str, until| {
        let reading = parse(text);
        let options = ReadOptions { likelihood_only: true, by_density, ..ReadOptions::default() };
        let joint = Joint::read(&reading.typed, &options).expect("a reading");
        let data = data_of(&reading, &joint, FOUR);
        Simulator::new_until(&reading.typed, &joint, &data, None, Some(until))
    };
    assert!(matches!(attempt(ByDensity::WhereNeeded, BY_HAND, over), Err(SimulateError::Slow)));
    assert!(attempt(ByDensity::WhereNeeded, BY_HAND, later).is_ok());
    let stated =
        BY_HAND.replace("for (n in 1:N) target += -0.5 * square((y[n] - m) / s) - log(s);", "y ~ normal(m, s);");
    let mut simulator = attempt(ByDensity::Never, &stated, over).expect("statements are read");
    assert!(simulator.draw_data(&[0.0, 0.0], key(1)).is_ok());
}

/// A missing term is found by the normaliser.
#[test]
fn a_missing_term_is_found() {
    let missing = BY_HAND.replace(" - log(s)", "");
    match numeric(&missing, FOUR, ByDensity::WhereNeeded) {
        Err(ProveError::Misreading(Misreading::NotNormalised(found))) => {
            assert_eq!(found.outcomes, ["y"]);
            assert!(found.log[1] - found.log[0] > 1.0, "{found:?}");
        }
        other => panic!("{:?}", other.err()),
    }
    // a Poisson density without its normaliser
    let poisson = "data { int N; array[N] int<lower=0> y; } parameters { real a; }
        model { for (n in 1:N) target += y[n] * a - lgamma(y[n] + 1); }";
    let found = numeric(poisson, r#"{"N": 2, "y": [1, 3]}"#, ByDensity::WhereNeeded);
    assert!(matches!(found, Err(ProveError::Misreading(Misreading::NotNormalised(_)))), "{:?}", found.err());
    let right = poisson.replace("lgamma(y[n] + 1)", "lgamma(y[n] + 1) - exp(a)");
    let (_, proof) = numeric(&right, r#"{"N": 2, "y": [1, 3]}"#, ByDensity::WhereNeeded).expect("proven");
    assert!(proof.normaliser.expect("a normaliser").1.abs() < 1e-9);
}

/// Zeros that are a mass of their own beside a density.
#[test]
fn atoms() {
    let text = "data { int N; vector<lower=0>[N] y; } parameters { real<lower=0, upper=1> p; real<lower=0> s; }
        model { for (n in 1:N) { if (y[n] == 0) target += log(p); else target += log1m(p) - y[n] / s - log(s); } }";
    let (mut simulator, proof) =
        numeric(text, r#"{"N": 5, "y": [0, 1.5, 0, 0.2, 3]}"#, ByDensity::WhereNeeded).expect("proven");
    assert!(proof.normaliser.expect("a normaliser").1.abs() < 1e-6, "{proof:?}");
    let reading = parse(text);
    let mut all = Vec::new();
    for i in 0..300 {
        let data = simulator.draw_data(&[0.0, 2.0_f64.ln()], key(i)).expect("data");
        all.extend(data.by_name(&reading.typed, "y").and_then(Value::to_reals).expect("numbers"));
    }
    let zeros = all.iter().filter(|x| **x == 0.0).count();
    #[allow(clippy::cast_precision_loss, reason = "few numbers")]
    let zeros = zeros as f64;
    // 1,500 numbers, half of them zero: a standard deviation of 19
    assert!((zeros - 750.0).abs() < 80.0, "{zeros}");
    all.retain(|x| *x > 0.0);
    let far = distance(&mut all, |x| 1.0 - (-x / 2.0).exp());
    assert!(far < 0.065, "{far}");
}

/// Zeros that are more than a count, far from the others: a walk from a value that is given does not come to the other
/// part, whichever it is.
#[test]
fn counts_behind_a_valley() {
    let text = "functions { real zip_lpmf(int y, real w, real lam) {
            if (y == 0) return log(w + (1 - w) * exp(-lam)); return log1m(w) + poisson_lpmf(y | lam); } }
        data { int N; real w; array[N] int<lower=0> y; } parameters { real<lower=0> lam; }
        model { lam ~ gamma(100, 0.5); for (n in 1:N) target += zip_lpmf(y[n] | w, lam); }";
    for given in ["0, 0, 0, 0, 0", "200, 190, 215, 204, 180", "0, 200, 0, 190, 0"] {
        let json = format!(r#"{{"N": 5, "w": 0.4, "y": [{given}]}}"#);
        let (mut simulator, proof) = numeric(text, &json, ByDensity::Always).expect("proven");
        let (points, log) = proof.normaliser.expect("a normaliser");
        assert!(points >= 3 && log.abs() < 1e-6, "{given}: {log}");
        let reading = parse(text);
        let mut all = Vec::new();
        for i in 0..300 {
            let data = simulator.draw_data(&[200.0_f64.ln()], key(i)).expect("data");
            all.extend(data.by_name(&reading.typed, "y").and_then(Value::to_reals).expect("numbers"));
        }
        let zeros = all.iter().filter(|x| **x == 0.0).count();
        all.retain(|x| *x > 0.0);
        #[allow(clippy::cast_precision_loss, reason = "few numbers")]
        let (zeros, mean) = (zeros as f64, all.iter().sum::<f64>() / all.len() as f64);
        // 1,500 numbers, 0.4 of them zero: a standard deviation of 19; the mean of 900 others has one of 0.47.
        assert!((zeros - 600.0).abs() < 76.0, "{given}: {zeros}");
        assert!((mean - 200.0).abs() < 2.0, "{given}: {mean}");
    }
}

/// The first-order autoregression by the forward algorithm of its errors: each element given those before it.
#[test]
fn chains() {
    let text = "data { int T; array[T] real y; } parameters { real m; real<lower=-1, upper=1> r; real<lower=0> s; }
        model { vector[T] e; e[1] = y[1] - m; for (t in 2:T) e[t] = y[t] - m - r * (y[t - 1] - m); e ~ normal(0, s); }";
    let (mut simulator, proof) =
        numeric(text, r#"{"T": 3, "y": [0.1, 0.7, -0.3]}"#, ByDensity::Always).expect("proven");
    assert!(proof.normaliser.expect("a normaliser").1.abs() < 1e-6, "{proof:?}");
    let reading = parse(text);
    // r = 0.8
    let point = [1.0, (0.9_f64 / 0.1).ln(), 0.0];
    let (mut first, mut last) = (Vec::new(), Vec::new());
    for i in 0..500 {
        let data = simulator.draw_data(&point, key(i)).expect("data");
        let y = data.by_name(&reading.typed, "y").and_then(Value::to_reals).expect("numbers");
        first.push(y[0]);
        last.push(y[2]);
    }
    let sd = (1.0_f64 + 0.64 + 0.4096).sqrt();
    // 1.63 / √500
    assert!(distance(&mut first, |x| normal_cdf(x - 1.0)) < 0.073);
    assert!(distance(&mut last, |x| normal_cdf((x - 1.0) / sd)) < 0.073);
}

/// Kolmogorov's distance from a distribution.
#[allow(clippy::cast_precision_loss, reason = "few numbers")]
pub fn distance(all: &mut [f64], cdf: impl Fn(f64) -> f64) -> f64 {
    all.sort_by(f64::total_cmp);
    let n = all.len() as f64;
    let gap = |(i, x): (usize, &f64)| {
        let (f, i) = (cdf(*x), i as f64);
        (f - i / n).abs().max((f - (i + 1.0) / n).abs())
    };
    all.iter().enumerate().map(gap).fold(0.0, f64::max)
}

pub fn normal_cdf(x: f64) -> f64 {
    // Simpson's rule is more than enough here.
    let (n, low) = (400, -9.0_f64);
    let h = (x - low) / f64::from(n);
    let density = |t: f64| (-0.5 * t * t).exp() / (2.0 * std::f64::consts::PI).sqrt();
    (0..n)
        .map(|i| {
            let a = low + h * f64::from(i);
            h / 6.0 * (density(a) + 4.0 * density(a + 0.5 * h) + density(a + h))
        })
        .sum()
}

/// Distributions that statements are read as: a name, its arguments, and which data it has.
const DISTRIBUTIONS: [(&str, char); 40] = [
    ("normal(a, s)", 'r'),
    ("student_t(4, a, s)", 'r'),
    ("cauchy(a, s)", 'r'),
    ("double_exponential(a, s)", 'r'),
    ("logistic(a, s)", 'r'),
    ("gumbel(a, s)", 'r'),
    ("skew_normal(a, s, 3 * p)", 'r'),
    ("exp_mod_normal(a, s, s + 0.5)", 'r'),
    ("normal(a, s) T[0, ]", '+'),
    ("lognormal(a, s)", '+'),
    ("gamma(s + 0.5, 1 + p)", '+'),
    ("inv_gamma(s + 1, s)", '+'),
    ("weibull(s + 0.8, 1 + p)", '+'),
    ("exponential(s)", '+'),
    ("chi_square(s + 2)", '+'),
    ("inv_chi_square(s + 2)", '+'),
    ("scaled_inv_chi_square(s + 2, s)", '+'),
    ("rayleigh(s)", '+'),
    ("frechet(s + 1, s)", '+'),
    ("loglogistic(s, 1.5 + p)", '+'),
    ("beta(s + 0.5, p + 0.5)", '1'),
    ("beta_proportion(p, s + 2)", '1'),
    ("uniform(0, 5 + s)", '+'),
    ("pareto(0.1, s + 0.5)", '+'),
    ("bernoulli(p)", 'b'),
    ("bernoulli_logit(a)", 'b'),
    ("binomial(10, p)", 'c'),
    ("binomial_logit(10, a)", 'c'),
    ("beta_binomial(10, s, s + 1)", 'c'),
    ("poisson(3 * s)", 'c'),
    ("poisson_log(a)", 'c'),
    ("poisson(3 * s) T[1, ]", 'c'),
    ("neg_binomial(s + 1, s)", 'c'),
    ("neg_binomial_2(3 * s, s + 0.5)", 'c'),
    ("neg_binomial_2_log(a, s + 0.5)", 'c'),
    ("categorical(softmax([a, p, s]'))", 'k'),
    ("categorical_logit([a, p, s]')", 'k'),
    ("ordered_logistic(a, [p, p + s]')", 'k'),
    ("ordered_probit(a, [p, p + s]')", 'k'),
    ("neg_binomial_2(s, 1) T[ , 30]", 'c'),
];

/// By the values of the density and as the statement is read, outcomes have the same distribution: both are proven to
/// be proportional to the program's likelihood, and the values of the density add up to one.
#[test]
fn numeric_is_symbolic() {
    for (distribution, kind) in DISTRIBUTIONS {
        let (ty, y) = match kind {
            'r' => ("array[N] real", "[0.4, -1.3, 2.2]"),
            '+' => ("array[N] real<lower=0>", "[0.4, 1.3, 2.2]"),
            '1' => ("array[N] real<lower=0, upper=1>", "[0.4, 0.1, 0.7]"),
            'b' => ("array[N] int<lower=0, upper=1>", "[0, 1, 1]"),
            'k' => ("array[N] int<lower=1, upper=3>", "[2, 1, 3]"),
            _ => ("array[N] int", "[2, 1, 3]"),
        };
        let text = format!(
            "data {{ int N; {ty} y; }} parameters {{ real a; real<lower=0> s; real<lower=0, upper=1> p; }}
             model {{ for (n in 1:N) y[n] ~ {distribution}; }}"
        );
        let json = format!(r#"{{"N": 3, "y": {y}}}"#);
        let symbolic = numeric(&text, &json, ByDensity::Never);
        assert!(symbolic.is_ok(), "{distribution}: {:?}", symbolic.err());
        let (_, proof) = numeric(&text, &json, ByDensity::Always).unwrap_or_else(|e| panic!("{distribution}: {e}"));
        let (points, log) = proof.normaliser.expect("a normaliser");
        assert!(points >= 3 && log.abs() < 1e-5, "{distribution}: {points} points, {log}");
        assert!(proof.likelihood > 10, "{distribution}");
    }
}

/// A density of sums: it adds up to 1 over sums, not over the outcomes that have them, and sums are drawn by it.
#[test]
fn sums_of_outcomes() {
    let text = "data { int M; int T; array[M, T] int<lower=0, upper=1> y; } parameters { real<lower=0, upper=1> p; }
        model { for (i in 1:M) target += binomial_lpmf(sum(y[i]) | T, p); }";
    let json = r#"{"M": 4, "T": 3, "y": [[1, 0, 1], [0, 1, 0], [1, 1, 1], [0, 0, 0]]}"#;
    let (mut simulator, proof) = numeric(text, json, ByDensity::Always).expect("proven");
    assert!(proof.normaliser.expect("a normaliser").1.abs() < 1e-9, "{proof:?}");
    let reading = parse(text);
    let (p, mut counts) = (0.3_f64, [0.0; 4]);
    for i in 0..500 {
        let data = simulator.draw_data(&[(p / (1.0 - p)).ln()], key(i)).expect("data");
        let y = data.by_name(&reading.typed, "y").and_then(Value::to_reals).expect("numbers");
        for row in y.chunks(3) {
            counts[row.iter().map(|x| usize::from(*x > 0.0)).sum::<usize>()] += 1.0;
        }
    }
    let expected = [0.343, 0.441, 0.189, 0.027].map(|p: f64| 2000.0 * p);
    let chi: f64 = counts.iter().zip(expected).map(|(n, e)| (n - e) * (n - e) / e).sum();
    // the 99.9 % quantile of χ² with 3 degrees of freedom
    assert!(chi < 16.3, "{counts:?}");
}
