//! Outcomes that a sum over components couples, and outcomes of several numbers at a time.

use crust_engine::{Misreading, ProveError, SimulateError, Simulator};
use crust_stan::joint::ByDensity;
use crust_stan::value::Value;

use super::by_density::{distance, normal_cdf, numeric};
use super::{key, parse};

/// Draws of an outcome at a point.
fn draws(simulator: &mut Simulator, (text, names): (&str, &[&str]), point: &[f64], number: u32) -> Vec<Vec<f64>> {
    let reading = parse(text);
    let one = |i: u32| {
        let data = simulator.draw_data(point, key(i)).expect("data");
        let of = |name: &&str| data.by_name(&reading.typed, name).and_then(Value::to_reals).expect("numbers");
        names.iter().flat_map(of).collect()
    };
    (0..number).map(one).collect()
}

fn log_normaliser(text: &str, json: &str) -> f64 {
    let (_, proof) = numeric(text, json, ByDensity::Always).unwrap_or_else(|e| panic!("{e}\n{text}"));
    proof.normaliser.expect("a normaliser").1
}

fn is_no_density(text: &str, json: &str) {
    let found = numeric(text, json, ByDensity::Always);
    assert!(matches!(found, Err(ProveError::Misreading(Misreading::NotNormalised(_)))), "{:?}\n{text}", found.err());
}

fn is_refused(text: &str, json: &str) {
    match numeric(text, json, ByDensity::Always) {
        Err(ProveError::Simulate(SimulateError::NoDensity { .. })) => {}
        other => panic!("{:?}\n{text}", other.err()),
    }
}

const CHANGE_POINT: &str = "data { int T; array[T] int<lower=0> D; } parameters { real<lower=0> e; real<lower=0> l; }
    transformed parameters { vector[T] lp = rep_vector(-log(T), T);
        for (s in 1:T) for (t in 1:T) lp[s] += poisson_lpmf(D[t] | t < s ? e : l); }
    model { target += log_sum_exp(lp); }";

const COUNTS: &str = r#"{"T": 3, "D": [4, 1, 2]}"#;

fn poisson(k: f64, rate: f64) -> f64 {
    let log_factorial: f64 = (1..=64).map(f64::from).take_while(|i| *i <= k).map(f64::ln).sum();
    (k * rate.ln() - rate - log_factorial).exp()
}

/// A change point that is summed out: the joint distribution of the first and the last count, against the sum over
/// change points.
#[test]
fn change_point() {
    assert!(log_normaliser(CHANGE_POINT, COUNTS).abs() < 1e-9);
    let (mut simulator, _) = numeric(CHANGE_POINT, COUNTS, ByDensity::WhereNeeded).expect("proven");
    let (e, l) = (3.0_f64, 0.7_f64);
    let all = draws(&mut simulator, (CHANGE_POINT, &["D"]), &[e.ln(), l.ln()], 3000);
    let (mut chi, mut cells) = (0.0, 0);
    for (first, last) in (0..7).flat_map(|a| (0..4).map(move |b| (f64::from(a), f64::from(b)))) {
        // before s, counts have the rate e
        let given = |s: u32| poisson(first, if s > 1 { e } else { l }) * poisson(last, if s > 3 { e } else { l });
        let expected = 3000.0 * (1..=3).map(given).sum::<f64>() / 3.0;
        if expected < 5.0 {
            continue;
        }
        let close = |y: &&Vec<f64>| (y[0] - first).abs() < 0.5 && (y[2] - last).abs() < 0.5;
        #[allow(clippy::cast_precision_loss, reason = "few draws")]
        let seen = all.iter().filter(close).count() as f64;
        chi += (seen - expected).powi(2) / expected;
        cells += 1;
    }
    // the 99.9 % quantile of χ² with 26 degrees of freedom
    assert!(cells == 27 && chi < 54.1, "{chi} in {cells} cells");
}

/// The same by sums that go on, and with other spellings of the sum over components.
#[test]
fn change_points_in_other_words() {
    let linear = "data { int T; array[T] int<lower=0> D; } parameters { real<lower=0> e; real<lower=0> l; }
        model { vector[T + 1] a = rep_vector(0, T + 1); vector[T + 1] b = rep_vector(0, T + 1);
            for (t in 1:T) { a[t + 1] = a[t] + poisson_lpmf(D[t] | e); b[t + 1] = b[t] + poisson_lpmf(D[t] | l); }
            target += log_sum_exp(rep_vector(-log(T) + b[T + 1], T) + head(a, T) - head(b, T)); }";
    let two = "data { int T; array[T] int<lower=0> D; } parameters { real<lower=0> e; real<lower=0> l; }
        model { matrix[T, T] lp = rep_matrix(negative_infinity(), T, T);
            for (i in 1:T) for (j in i:T) { lp[i, j] = -log(T * (T + 1) / 2.0);
                for (t in 1:T) lp[i, j] += poisson_lpmf(D[t] | t < i || t > j ? e : l); }
            target += log_sum_exp(lp); }";
    let either = "data { int T; array[T] int<lower=0> D; } parameters { real<lower=0> e; real<lower=0> l; }
        model { target += log_mix(inv_logit(e - l), poisson_lpmf(D | e), poisson_lpmf(D | l)); }";
    for text in [linear, two, either] {
        let log = log_normaliser(text, COUNTS);
        assert!(log.abs() < 1e-9, "{log}\n{text}");
    }
}

/// A term that is missing, from all components or from one, and weights that do not add up to one.
#[test]
fn wrong_components_are_found() {
    let by_hand = CHANGE_POINT.replace(
        "poisson_lpmf(D[t] | t < s ? e : l)",
        "D[t] * log(t < s ? e : l) - (t < s ? e : l) - lgamma(D[t] + 1)",
    );
    assert!(log_normaliser(&by_hand, COUNTS).abs() < 1e-9);
    is_no_density(&by_hand.replace(" - (t < s ? e : l)", ""), COUNTS);
    is_no_density(&by_hand.replace(" - (t < s ? e : l)", " - (s == 2 && t == 3 ? 0 : t < s ? e : l)"), COUNTS);
    // a weight that is a parameter, once
    is_no_density(&by_hand.replace("for (s in 1:T)", "lp[1] += log(e); for (s in 1:T)"), COUNTS);
    // a constant factor is no harm
    let log = log_normaliser(&by_hand.replace("-log(T)", "0.0"), COUNTS);
    assert!((log - 3.0_f64.ln()).abs() < 1e-9, "{log}");
}

const ROWS: &str = "data { int N; int D; array[N] vector[D] y; } parameters { real<lower=0, upper=1> p; vector[2] m; }
    model { for (n in 1:N) { vector[2] lp;
        lp[1] = log(p) - 0.5 * dot_self(y[n] - m); lp[2] = log1m(p) - 0.5 * dot_self(y[n] + m);
        target += log_sum_exp(lp); } }";

/// Clusters of points: along the line through both centres the density is that of two normal ones.
#[test]
fn clusters() {
    let json = r#"{"N": 3, "D": 2, "y": [[1.0, 2.0], [-1.2, 0.3], [0.5, -0.5]]}"#;
    let log = log_normaliser(ROWS, json);
    assert!((log - 3.0 * (2.0 * std::f64::consts::PI).ln()).abs() < 1e-5, "{log}");
    let (mut simulator, _) = numeric(ROWS, json, ByDensity::WhereNeeded).expect("proven");
    let p = 0.3_f64;
    let all = draws(&mut simulator, (ROWS, &["y"]), &[(p / (1.0 - p)).ln(), 1.2, 1.6], 400);
    let flat: Vec<f64> = all.into_iter().flatten().collect();
    let along = |sign: f64| flat.chunks(2).map(|y| 0.6 * y[0] + sign * 0.8 * y[1]).collect::<Vec<f64>>();
    let cdf = |x: f64, to: f64| p * normal_cdf(x - to) + (1.0 - p) * normal_cdf(x + to);
    // 1.63 / √1200; the centres are at 2 along (0.6, 0.8), and at 0.72 − 1.28 along (0.6, −0.8)
    assert!(distance(&mut along(1.0), |x| cdf(x, 2.0)) < 0.047);
    assert!(distance(&mut along(-1.0), |x| cdf(x, -0.56)) < 0.047);
    is_no_density(&ROWS.replace("0.5 * dot_self(y[n] + m)", "0.5 * p * dot_self(y[n] + m)"), json);
}

/// Components in which elements depend on each other are no sums over elements: nothing is drawn.
#[test]
fn coupled_components_are_refused() {
    // N + M cannot be cut either
    let text = "data { int N; int M; vector[N + M] y; } parameters { real<lower=0, upper=1> p; real m; }
        model { target += log_mix(p, normal_lpdf(y[1] | m, 1) + student_t_lpdf(y[2:N + M] | 3, y[1:N + M - 1], 1),
            normal_lpdf(y | m, 2)); }";
    is_refused(text, r#"{"N": 3, "M": 0, "y": [0.4, 1.0, -0.2]}"#);
}

const TWO: &str = "data { int T; array[T] real u; vector[T] v; }
    parameters { real<lower=0, upper=1> a; real<lower=0, upper=1> b; real m; real r; }
    model { vector[2] g; vector[2] h; array[2] real sign = {1, -1};
        for (k in 1:2) g[k] = log(0.5) + normal_lpdf(u[1] | sign[k] * m, 1) + normal_lpdf(v[1] | sign[k] * r, 1);
        for (t in 2:T) {
            h[1] = log_sum_exp(g[1] + log(a), g[2] + log1m(b)); h[2] = log_sum_exp(g[1] + log1m(a), g[2] + log(b));
            for (k in 1:2) g[k] = h[k] + normal_lpdf(u[t] | sign[k] * m, 1) + normal_lpdf(v[t] | sign[k] * r, 1); }
        target += log_sum_exp(g); }";

/// A hidden Markov model with two numbers at each time. States are ±1 with equal probability, and stay with
/// probability 0.8: uₜ has the mean 0 and the variance 1 + m², the covariance with vₜ is mr, with vₜ₊₁ 0.6 mr, and with
/// uₜ₊₂ 0.36 m².
#[test]
fn two_numbers_at_a_time() {
    let json = r#"{"T": 3, "u": [0.4, 1.0, -0.2], "v": [1.4, 0.3, -0.9]}"#;
    assert!(log_normaliser(TWO, json).abs() < 1e-5);
    let (mut simulator, _) = numeric(TWO, json, ByDensity::WhereNeeded).expect("proven");
    let (m, r, stay) = (1.5, -2.0, (0.8_f64 / 0.2).ln());
    let number = 1500;
    let all = draws(&mut simulator, (TWO, &["u", "v"]), &[stay, stay, m, r], number);
    let mean = |f: &dyn Fn(&Vec<f64>) -> f64| all.iter().map(f).sum::<f64>() / f64::from(number);
    let (same, next, after) = (mean(&|y| y[1] * y[4]), mean(&|y| y[0] * y[4]), mean(&|y| y[0] * y[2]));
    let square = mean(&|y| y[2] * y[2]);
    // standard deviations of products: √(E u²v² − (mr)²) is below 6, so that 0.6 is four standard errors
    assert!((same - m * r).abs() < 0.4 && (next - 0.6 * m * r).abs() < 0.5, "{same} {next}");
    assert!((after - 0.36 * m * m).abs() < 0.4 && (square - 1.0 - m * m).abs() < 0.45, "{after} {square}");
    // what a shorter series says is then something else
    is_refused(
        &TWO.replace("+ normal_lpdf(v[t] | sign[k] * r, 1)", "- 0.5 * square(v[t] - sign[k] * r) * exp(r)"),
        json,
    );
}

/// Rows of two correlated numbers within components, against their distribution by hand.
#[test]
fn normal_rows() {
    let text = "data { int N; array[N] vector[2] y; } parameters { real<lower=0, upper=1> p; real m; real<lower=0> s; }
        model { matrix[2, 2] S = [[s ^ 2, 0.8 * s], [0.8 * s, 1]]; for (n in 1:N) target += log_mix(p,
            multi_normal_lpdf(y[n] | rep_vector(m, 2), S), multi_normal_lpdf(y[n] | rep_vector(-m, 2), S)); }";
    let json = r#"{"N": 3, "y": [[1.0, 2.0], [-1.2, 0.3], [0.5, -0.5]]}"#;
    assert!(log_normaliser(text, json).abs() < 1e-5);
    let (mut simulator, _) = numeric(text, json, ByDensity::Always).expect("proven");
    let (p, m, s) = (0.3_f64, 1.5, 2.0_f64);
    let all = draws(&mut simulator, (text, &["y"]), &[(p / (1.0 - p)).ln(), m, s.ln()], 700);
    let flat: Vec<f64> = all.into_iter().flatten().collect();
    let cdf = |x: f64| p * normal_cdf((x - m) / s) + (1.0 - p) * normal_cdf((x + m) / s);
    // 1.63 / √2100
    assert!(distance(&mut flat.iter().step_by(2).copied().collect::<Vec<_>>(), cdf) < 0.036);
    // E y₁y₂ = 0.8 s + m², with a standard error of 0.15 at most
    let product = flat.chunks(2).map(|y| y[0] * y[1]).sum::<f64>() / 2100.0;
    assert!((product - 1.6 - m * m).abs() < 0.6, "{product}");
    // without the determinant
    let wrong = text
        .replace("multi_normal_lpdf(y[n] | rep_vector(m, 2), S)", "-0.5 * quad_form_sym(inverse_spd(S), y[n] - m)")
        .replace("multi_normal_lpdf(y[n] | rep_vector(-m, 2), S)", "-0.5 * quad_form_sym(inverse_spd(S), y[n] + m)");
    is_no_density(&wrong, json);
}

/// Large counts beside zeros: between them lies a valley in which there is next to nothing.
#[test]
fn counts_behind_a_valley() {
    let text = "data { int N; array[N] int<lower=0> y; } parameters { real<lower=0, upper=1> p; real a; }
        model { for (n in 1:N) { if (y[n] == 0) target += log(p);
            else target += log1m(p) + poisson_log_lpmf(y[n] | 4 + a) - log1m_exp(-exp(4 + a)); } }";
    let log = log_normaliser(text, r#"{"N": 3, "y": [0, 3, 700]}"#);
    assert!(log.abs() < 1e-7, "{log}");
}

/// Rows of integers, whose combinations are gone through.
#[test]
fn rows_of_integers() {
    let text = "data { int T; int D; array[T, D] int<lower=0, upper=1> y; }
        parameters { array[2] simplex[2] A; vector<lower=0, upper=1>[2] p; }
        model { vector[2] g = [log(0.5), log(0.5)]'; vector[2] h;
            for (t in 1:T) {
                for (k in 1:2) h[k] = log_sum_exp(g[1] + log(A[1, k]), g[2] + log(A[2, k])) + bernoulli_lpmf(y[t] | p[k]);
                g = h; }
            target += log_sum_exp(g); }";
    let rows: Vec<String> = (0..7).map(|i| format!("[{}, {}]", i % 2, (i / 2) % 2)).collect();
    let json = format!(r#"{{"T": 7, "D": 2, "y": [{}]}}"#, rows.join(", "));
    assert!(log_normaliser(text, &json).abs() < 1e-9);
    is_no_density(&text.replace("bernoulli_lpmf(y[t] | p[k])", "sum(y[t]) * log(p[k])"), &json);
}

/// Zeros that are counted, and other values that are put into a vector of their own, before anything is stated about
/// them: the share of zeros and the mean, against those of the distribution; and a count that is left out.
#[test]
fn zeros_that_are_counted() {
    let text = "data { int N; array[N] int<lower=0> y; }
        transformed data { int zeros = 0; int others = 0; for (n in 1:N) zeros += y[n] == 0; array[N - zeros] int up;
            for (n in 1:N) { if (y[n] == 0) continue; others += 1; up[others] = y[n]; } }
        parameters { real<lower=0, upper=1> p; real<lower=0> l; }
        model { target += zeros * log_sum_exp(log(p), log1m(p) + poisson_lpmf(0 | l)); target += others * log1m(p);
            target += poisson_lpmf(up | l); }";
    let json = r#"{"N": 6, "y": [0, 2, 0, 1, 4, 0]}"#;
    assert!(log_normaliser(text, json).abs() < 1e-9);
    let (mut simulator, _) = numeric(text, json, ByDensity::WhereNeeded).expect("proven");
    let (p, l, number) = (0.3_f64, 2.0_f64, 200_u32);
    let all = draws(&mut simulator, (text, &["y"]), &[(p / (1.0 - p)).ln(), l.ln()], number);
    let mean = |f: fn(f64) -> f64| all.iter().flatten().map(|x| f(*x)).sum::<f64>() / (6.0 * f64::from(number));
    let (zeros, mean) = (mean(|x| f64::from(x < 0.5)), mean(|x| x));
    // 1,200 numbers: standard errors of 0.014 and 0.046
    assert!(
        (zeros - p - (1.0 - p) * (-l).exp()).abs() < 0.056 && (mean - (1.0 - p) * l).abs() < 0.18,
        "{zeros} {mean}"
    );
    let found = numeric(&text.replace("target += others * log1m(p);", ""), json, ByDensity::WhereNeeded);
    assert!(found.is_err());
}
