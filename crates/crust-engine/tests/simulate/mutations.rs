//! Planted mistakes of the reader: a program is read as if another one stood there. The proof finds all of them.

use crust_engine::{Misreading, ProveError, ProveOptions, Simulator, prove};
use crust_stan::joint::{Joint, ReadOptions};

use crate::{data_of, parse};

const DECLARED: &str = "data { int N; vector[N] y; vector[N] x; array[N] int k; array[N] int g; }
    parameters { real a; real b; real<lower=0> s; real<lower=0> t; vector[3] z; simplex[2] w; ordered[2] c; }";

const JSON: &str = r#"{"N": 6, "x": [0.5, -1, 2, 0.1, 0.7, -0.4], "g": [1, 2, 3, 1, 2, 3], "y": [0.1, 0.4, 1.5, 0.3, 2, 1],
    "k": [1, 2, 1, 4, 1, 2]}"#;

/// The statements that a mistake may replace, each named by its first letter.
const STATEMENTS: [&str; 9] = [
    "a ~ normal(0, 1);",
    "b ~ normal(1, 2);",
    "s ~ lognormal(0, 0.5);",
    "t ~ gamma(3, 2);",
    "z ~ normal(0, t);",
    "w ~ dirichlet([2, 3]');",
    "c ~ normal(0, 3);",
    "y ~ normal(a + b * x, s);",
    "k ~ poisson(t);",
];

/// The program with this statement in the place of the one with the same letter.
fn program(letter: char, statement: &str) -> String {
    let list: Vec<&str> = STATEMENTS.iter().map(|own| if own.starts_with(letter) { statement } else { own }).collect();
    format!("{DECLARED} model {{ {} }}", list.join(" "))
}

/// What stands in the program (nothing for the usual statement), and what it is taken for.
const MISTAKES: &[(char, &str, &str)] = &[
    // another scale, location or family
    ('a', "", "a ~ normal(0, 1.01);"),
    ('a', "", "a ~ normal(0.01, 1);"),
    ('a', "", "a ~ student_t(100, 0, 1);"),
    ('a', "", "a ~ logistic(0, 0.55);"),
    ('b', "", "b ~ normal(1, 4);"),
    ('b', "", "b ~ normal(1, sqrt(2));"),
    ('s', "", "s ~ lognormal(0, 0.25);"),
    ('s', "", "s ~ gamma(4, 4);"),
    ('s', "", "s ~ normal(0, 1);"),
    ('t', "", "t ~ gamma(2, 3);"),
    ('t', "", "t ~ gamma(3, 1 / 2.0);"),
    ('t', "", "t ~ inv_gamma(3, 2);"),
    ('w', "", "w ~ dirichlet([3, 2]');"),
    ('w', "", ""),
    ('c', "", "c ~ normal(0, 1);"),
    ('c', "", "c ~ normal([0, 1]', 3);"),
    // truncation that is not there, or that is left out
    ('a', "", "a ~ normal(0, 1) T[-3, ];"),
    ('a', "", "a ~ normal(0, 1) T[ , 2];"),
    ('a', "a ~ normal(0, 1) T[-1, ];", "a ~ normal(0, 1);"),
    ('s', "", "s ~ lognormal(0, 0.5) T[0.2, ];"),
    ('b', "b ~ normal(a, 2) T[0, ];", "b ~ normal(a, 2);"),
    ('y', "for (n in 1:N) y[n] ~ normal(a, s) T[-20, ];", "y ~ normal(a, 2 * s);"),
    ('y', "for (n in 1:N) y[n] ~ normal(a, s) T[-1, ];", "for (n in 1:N) y[n] ~ normal(a, s) T[-2, ];"),
    ('k', "", "for (n in 1:N) k[n] ~ poisson(t) T[1, ];"),
    // dependence on something else
    ('b', "", "b ~ normal(a, 2);"),
    ('z', "", "z ~ normal(0, s);"),
    ('z', "", "z ~ normal(a, t);"),
    ('z', "", "z ~ normal(0, t^2);"),
    ('z', "", "z ~ normal(0, 1 / t);"),
    ('z', "", "z[1:2] ~ normal(0, t); z[3] ~ normal(0, s);"),
    ('z', "", "z[1] ~ normal(0, t); for (i in 2:3) z[i] ~ normal(z[i - 1], t);"),
    (
        'z',
        "z ~ multi_normal(rep_vector(a, 3), diag_matrix([1, 4, 9]'));",
        "z ~ multi_normal(rep_vector(a, 3), diag_matrix([1, 2, 3]'));",
    ),
    ('c', "c ~ normal(0, 3);", "c ~ normal(0, t);"),
    // the likelihood
    ('y', "", "y ~ normal(a + b * x, s^2);"),
    ('y', "", "y ~ normal(a + b * x, t);"),
    ('y', "", "y ~ normal(a - b * x, s);"),
    ('y', "", "y ~ normal(b + a * x, s);"),
    ('y', "", "y ~ normal(a + x, s);"),
    ('y', "", "y ~ student_t(50, a + b * x, s);"),
    ('y', "", "y ~ normal(a + b * reverse(x), s);"),
    ('y', "", "y[2:N] ~ normal(a + b * x[2:N], s);"),
    ('y', "", "y[1] ~ normal(0, 1); y[2:N] ~ normal(a + b * x[2:N], s);"),
    ('k', "", "k ~ poisson(s);"),
    ('k', "", "k ~ poisson(t + 0.01);"),
    ('k', "", "k ~ neg_binomial_2(t, 500);"),
    ('k', "", "k[1:5] ~ poisson(t); k[6] ~ poisson(2 * t);"),
    // indices and lags
    ('y', "for (n in 1:N) y[n] ~ normal(z[g[n]], s);", "for (n in 1:N) y[n] ~ normal(z[4 - g[n]], s);"),
    ('y', "for (n in 1:N) y[n] ~ normal(z[g[n]], s);", "y ~ normal(z[1], s);"),
    (
        'y',
        "y[1] ~ normal(0, 1); y[2:N] ~ normal(a + b * y[1:N - 1], s);",
        "y[1] ~ normal(0, 1); y[2:N] ~ normal(a + b * x[1:N - 1], s);",
    ),
    (
        'y',
        "y[1:2] ~ normal(0, 1); y[3:N] ~ normal(a + b * y[2:N - 1], s);",
        "y[1:2] ~ normal(0, 1); y[3:N] ~ normal(a + b * y[1:N - 2], s);",
    ),
    // mixtures
    (
        'y',
        "for (n in 1:N) target += log_mix(w[1], normal_lpdf(y[n] | c[1], s), normal_lpdf(y[n] | c[2], s));",
        "for (n in 1:N) target += log_mix(w[2], normal_lpdf(y[n] | c[1], s), normal_lpdf(y[n] | c[2], s));",
    ),
    (
        'y',
        "for (n in 1:N) target += log_mix(w[1], normal_lpdf(y[n] | c[1], s), normal_lpdf(y[n] | c[2], s));",
        "for (n in 1:N) target += log_mix(w[1], normal_lpdf(y[n] | c[1], s), normal_lpdf(y[n] | c[2], t));",
    ),
    (
        'y',
        "for (n in 1:N) target += log_mix(w[1], normal_lpdf(y[n] | c[1], s), normal_lpdf(y[n] | c[2], s));",
        "y ~ normal(c[1], s);",
    ),
    // Jacobians
    ('y', "(y - a) / s ~ normal(0, 1);", "y ~ normal(a, s);"),
    ('y', "exp(y - a) ~ gamma(2, 2);", "exp(y) ~ gamma(2, 2 * exp(-a));"),
    ('y', "s * y ~ normal(a, 1);", "y ~ normal(a / s, 1 / s);"),
    // statements that are not seen
    ('a', "a ~ normal(0, 1); a ~ normal(1, 1);", "a ~ normal(0, 1);"),
    ('b', "b ~ normal(1, 2); target += -square(b);", "b ~ normal(1, 2);"),
    ('y', "y ~ normal(a + b * x, s); target += -N * log(s);", "y ~ normal(a + b * x, s);"),
];

fn proven(letter: char, stated: &str, taken_for: &str) -> Result<(), ProveError> {
    let usual = STATEMENTS.iter().find(|s| s.starts_with(letter)).expect("a letter");
    let stated = if stated.is_empty() { usual } else { stated };
    let (own, misread) = (parse(&program(letter, stated)), parse(&program(letter, taken_for)));
    let joint = Joint::read(&misread.typed, &ReadOptions::default()).expect("readable");
    let data = data_of(&misread, &joint, JSON);
    let simulator = Simulator::new(&misread.typed, &joint, &data, None).expect("a simulator");
    prove(&own.typed, &simulator, &ProveOptions { seed: 3, ..ProveOptions::default() }).map(|_| ())
}

#[test]
fn planted_mistakes_are_found() {
    assert!(MISTAKES.len() >= 50, "{}", MISTAKES.len());
    let missed: Vec<String> = MISTAKES
        .iter()
        .filter(|(letter, stated, taken_for)| {
            !matches!(proven(*letter, stated, taken_for), Err(ProveError::Misreading(_)))
        })
        .map(|(_, stated, taken_for)| format!("{stated} taken for {taken_for}"))
        .collect();
    assert!(missed.is_empty(), "{}", missed.join("\n"));
}

#[test]
fn without_a_mistake_nothing_is_found() {
    for (letter, stated, _) in MISTAKES {
        let usual = STATEMENTS.iter().find(|s| s.starts_with(*letter)).expect("a letter");
        let stated = if stated.is_empty() { usual } else { stated };
        if Joint::read(&parse(&program(*letter, stated)).typed, &ReadOptions::default()).is_ok() {
            let found = proven(*letter, stated, stated);
            assert!(found.is_ok(), "{found:?} {stated}");
        }
    }
}

/// Mistakes of the same length leave all statements in their places, so that the proof can name them.
#[test]
fn the_statement_is_named() {
    for (letter, taken_for) in [
        ('a', "a ~ normal(0, 2);"),
        ('z', "z ~ normal(0, s);"),
        ('y', "y ~ normal(a + b * x, t);"),
        ('k', "k ~ poisson(s);"),
    ] {
        let own = parse(&program(letter, STATEMENTS.iter().find(|s| s.starts_with(letter)).expect("a letter")));
        match proven(letter, "", taken_for) {
            Err(ProveError::Misreading(Misreading::Density(found))) => {
                let span = found.span.expect("a statement");
                assert!(own.source.slice(span).starts_with(letter), "{}", own.source.slice(span));
                assert!((found.program - found.reading).abs() > 1e-6, "{found:?}");
            }
            other => panic!("{other:?}"),
        }
    }
}
