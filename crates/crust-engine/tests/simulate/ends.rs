//! Outcomes whose likelihood does not come to an end.

use crust_engine::{ProveError, SimulateError};
use crust_stan::joint::ByDensity;

use super::by_density::numeric;

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
