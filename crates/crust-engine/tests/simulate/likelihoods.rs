//! Readings of the likelihood alone: parameters are given, priors may be anything.

use crust_engine::{Misreading, ProveError, ProveOptions, SimulateError, Simulator, prove};
use crust_stan::joint::{ByDensity, Joint, ReadOptions};

use super::{data_of, key, parse};

const ALONE: fn() -> ReadOptions = || ReadOptions { likelihood_only: true, ..ReadOptions::default() };

/// A simulator of outcomes given parameters, proven at some points.
fn alone(text: &str, json: &str, points: &[Vec<f64>]) -> Result<Simulator, ProveError> {
    let reading = parse(text);
    let joint = Joint::read(&reading.typed, &ALONE()).unwrap_or_else(|problems| {
        let messages: Vec<&str> = problems.iter().map(|p| p.message.as_str()).collect();
        panic!("not readable: {messages:?}\n{text}")
    });
    let data = data_of(&reading, &joint, json);
    let simulator = Simulator::new(&reading.typed, &joint, &data, None)?;
    let proof = prove(&reading.typed, &simulator, &ProveOptions { points, ..ProveOptions::default() })?;
    assert!(proof.likelihood > 10, "{proof:?}");
    assert_eq!(proof.prior, 0);
    Ok(simulator)
}

const FLAT: &str = "data { int N; vector[N] x; vector[N] y; }
    parameters { real a; real b; real<lower=0> s; }
    model { y ~ normal(a + b * x, s); }";

/// Flat priors: outcomes are drawn given parameters, parameters are not drawn.
#[test]
fn flat_priors() {
    let json = r#"{"N": 4, "x": [1, 2, 3, 4], "y": [1.1, 2.3, 2.9, 4.2]}"#;
    let mut simulator = alone(FLAT, json, &[vec![0.1, 1.0, -1.0]]).expect("proven");
    let point = [10.0, 2.0, 0.5_f64.ln()];
    let (mut sum, mut squares, n) = (0.0, 0.0, 4000_u32);
    let reading = parse(FLAT);
    for i in 0..n {
        let data = simulator.draw_data(&point, key(i)).expect("data");
        let y = data.by_name(&reading.typed, "y").and_then(crust_stan::value::Value::to_reals).expect("numbers");
        sum += y[3];
        squares += (y[3] - 18.0).powi(2);
    }
    let (mean, variance) = (sum / f64::from(n), squares / f64::from(n));
    // Standard errors: 0.5 / √n = 0.008 and 0.25 √(2/n) = 0.0056.
    assert!((mean - 18.0).abs() < 0.04, "{mean}");
    assert!((variance - 0.25).abs() < 0.03, "{variance}");
    let refused = simulator.draw_parameters(None, key(0));
    assert!(matches!(refused, Err(SimulateError::LikelihoodAlone)), "{refused:?}");
}

/// Priors that nothing can be drawn from, or that look at the outcome.
#[test]
fn unreadable_priors() {
    let programs = [
        "data { int N; array[N] int y; } parameters { real a; vector[3] u; }
            model { target += -fabs(a) * dot_self(u); sum(u) ~ normal(0, 0.01); y ~ poisson_log(a + u[1]); }",
        "data { int N; array[N] int y; } parameters { real a; real b; }
            model { a ~ normal(mean(y), 1); b ~ normal(a, 1); a ~ normal(b, 1); y ~ poisson_log(a + b); }",
        "data { int N; array[N] int y; } parameters { ordered[2] c; real b; }
            model { c[1] ~ normal(0, 1); c[2] ~ normal(b, 2); if (b > 3) reject(\"far\"); for (n in 1:N) y[n] ~ ordered_logistic(b, c); }",
    ];
    for text in programs {
        let found = alone(text, r#"{"N": 5, "y": [1, 2, 3, 2, 1]}"#, &[]);
        assert!(found.is_ok(), "{:?}\n{text}", found.err());
    }
}

/// What is wrong with a likelihood is found all the same: integers whose truncation leaves out one value too many.
#[test]
fn likelihoods_are_proven() {
    let text = "functions { real low_lpmf(array[] int y, real r) { return poisson_lpmf(y | r) - size(y) * poisson_lccdf(1 | r); }
            array[] int low_rng(real r) { array[4] int y = {0, 0, 0, 0};
                for (i in 1:4) while (y[i] < 1) y[i] = poisson_rng(r); return y; } }
        data { int N; array[N] int y; } parameters { real<lower=0> r; } model { y ~ low(r); }";
    let found = alone(text, r#"{"N": 4, "y": [2, 2, 3, 5]}"#, &[vec![0.5]]);
    assert!(matches!(found, Err(ProveError::Misreading(Misreading::Supplied { .. }))), "{:?}", found.err());
    let right = text.replace("lccdf(1", "lccdf(0");
    let found = alone(&right, r#"{"N": 4, "y": [2, 2, 3, 5]}"#, &[vec![0.5]]);
    assert!(found.is_ok(), "{:?}", found.err());
}

/// Nobody declared how many categories there are, and four answers of a person share a latent class. All combinations can be
/// gone through, since the program refuses an index beyond the last category; the proof adds their probabilities up.
#[test]
fn bounds_that_nobody_declared_are_found() {
    let text = "data { int N; int T; array[N, T] int y; }
        parameters { real<lower=0, upper=1> w; array[2] simplex[3] p; }
        model {
          for (n in 1:N) {
            vector[2] lp = [log(w), log1m(w)]';
            for (t in 1:T) for (k in 1:2) lp[k] += log(p[k][y[n, t]]);
            target += log_sum_exp(lp);
          }
        }";
    let reading = parse(text);
    let options = ReadOptions { by_density: ByDensity::WhereNeeded, ..ALONE() };
    let joint = Joint::read(&reading.typed, &options).expect("readable");
    // the fourth category is in nobody's answers, since there is none; the third is, or it would not be looked for
    let json = r#"{"N": 3, "T": 4, "y": [[1, 2, 1, 1], [3, 3, 2, 3], [1, 1, 2, 2]]}"#;
    let data = data_of(&reading, &joint, json);
    let mut simulator = Simulator::new(&reading.typed, &joint, &data, None).expect("drawn by values");
    let proof = prove(&reading.typed, &simulator, &ProveOptions::default()).expect("proven");
    assert!(proof.log_likelihood_integral.is_some_and(|log| log.abs() < 1e-9), "{proof:?}");
    let mut seen = [0; 3];
    for i in 0..100 {
        let drawn = simulator.draw_data(&[0.4; 5], key(i)).expect("data");
        let y = drawn.by_name(&reading.typed, "y").and_then(crust_stan::value::Value::to_reals).expect("numbers");
        for answer in y {
            let category = (1..=3).position(|k| (answer - f64::from(k)).abs() < 0.5).expect("one of three");
            seen[category] += 1;
        }
    }
    assert!(seen.iter().all(|&count| count > 100), "{seen:?}");
}
