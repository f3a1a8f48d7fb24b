//! What cannot be read or drawn is refused, with a code that says why.

use crate::{case, data_of, key, obstacles, parse};
use crust_engine::{SimulateError, Simulator, Values};
use crust_stan::joint::{Joint, ReadOptions};

/// Each program has one mistake (the second column), and none where it is empty.
const READINGS: &[(&str, &str)] = &[
    ("parameters { real a; } model { }", "improper-prior"),
    ("parameters { real<lower=0> a; } model { }", "improper-prior"),
    ("parameters { real<lower=0> a; } model { a ~ normal(0, 1); a ~ normal(1, 1); }", "two-priors"),
    ("parameters { vector<lower=0>[2] a; } model { a ~ normal(0, 1); a[1] ~ normal(1, 1); }", "two-priors"),
    // normal together, as far as can be seen without running them
    ("parameters { vector[2] a; } model { a ~ normal(0, 1); a[1] ~ normal(1, 1); }", ""),
    ("parameters { real a; real b; } model { a ~ normal(b, 1); b ~ normal(a, 1); }", "cyclic-program"),
    ("parameters { real a; } model { a ~ normal(a, 1); }", "cyclic-program"),
    ("parameters { real<lower=0> a; } model { log(a) ~ normal(0, 1); }", "not-invertible"),
    ("parameters { vector<lower=0>[3] a; } model { sum(a) ~ normal(0, 1); }", "not-invertible"),
    ("parameters { real<lower=0> a; real m; } model { m ~ normal(0, 1); a ~ normal(m, 1); }", ""),
    ("parameters { real<lower=0> a; real m; } model { m ~ normal(0, 1); a ~ normal(m, 1) T[0, ]; }", ""),
    ("parameters { real<lower=0> s; real<lower=0> a; } model { s ~ gamma(2, 2); a ~ cauchy(0, s); }", ""),
    ("parameters { real<lower=0> s; real<lower=1> a; } model { s ~ gamma(2, 2); a ~ cauchy(0, s); }", ""),
    ("parameters { real<lower=0> s; real<lower=0, upper=s> a; } model { s ~ gamma(2, 2); }", "bound-normaliser"),
    ("parameters { simplex[3] t; } model { t ~ beta(2, 2); }", "constraint-not-readable"),
    ("parameters { vector<lower=0>[2] t; } model { t ~ multi_normal([0, 0]', identity_matrix(2)); }", "constraint-not-readable"),
    ("parameters { ordered[2] c; } model { c[1] ~ normal(0, 1); c[2] ~ normal(1, 1); }", ""),
    ("parameters { real<lower=0> a; } model { a ~ normal(0, 1); target += -square(a); }", "term-without-variate"),
    ("parameters { real a; } model { a ~ normal(0, 1); 0 ~ normal(a, 1); }", "literal-variate"),
    ("data { real y; } parameters { real a; } model { a ~ normal(0, 1); target += -square(y - a); }", "term-without-variate"),
    ("data { real y; } parameters { real a; } model { a ~ normal(mean([y, 2]), 1); y ~ normal(a, 1); }", "prior-depends-on-outcome"),
    ("data { int N; vector[N] y; } parameters { real<lower=max(y)> a; } model { a ~ pareto(1, 2); y ~ uniform(0, a); }", "declaration-depends-on-outcome"),
    ("data { int N; array[N] int<lower=1> y; } transformed data { int m = max(y); } parameters { simplex[m] p; } model { y ~ categorical(p); }", "declaration-depends-on-outcome"),
    (
        "functions { real d_lpdf(real y, real a) { if (y > a) return -y; return y; } } data { real y; } parameters { real a; }
         model { a ~ normal(0, 1); y ~ d(a); }",
        "own-density",
    ),
    (
        "functions { real d_lpdf(real y, real a) { if (y > a) return -y; return y; } real d_rng(real a) { return normal_rng(a, 1); } }
         data { real y; } parameters { real a; } model { a ~ normal(0, 1); y ~ d(a); }",
        "",
    ),
    (
        "functions { real d_lpdf(real y, real a) { return normal_lpdf(y | a, 2); } } data { real y; } parameters { real a; }
         model { a ~ normal(0, 1); y ~ d(a); }",
        "",
    ),
    (
        "functions { void f_lp(real a) { if (a > 0) return; a ~ normal(0, 1); } } parameters { real a; } model { f_lp(a); }",
        "lp-function",
    ),
    ("data { int N; vector[N] y; real s; } transformed data { vector[N] z = (y - mean(y)) / s; } parameters { real a; }
      model { a ~ normal(0, 1); z ~ normal(a, 1); }", "not-invertible"),
    ("data { vector[2] y; } parameters { real a; } model { real l = normal_lpdf(a | 0, 1) + normal_lpdf(y | a, 1); target += l; }", "mixed-terms"),
    ("parameters { real a; real b; } model { b ~ normal(0, 1); if (b > 0) a ~ normal(0, 1); else a ~ normal(1, 1); }",
     "parametric-branch parametric-branch"),
    // what leaves a loop, and where it ends, decides for all that stands in it
    ("parameters { real a; vector[2] b; } model { a ~ normal(0, 1); for (i in 1:2) { if (a > 0) continue; b[i] ~ normal(0, 1); } }",
     "parametric-branch"),
    ("parameters { real a; vector[2] b; } model { a ~ normal(0, 1); for (i in 1:2) { b[i] ~ normal(0, 1); if (a > 0) break; } }",
     "parametric-branch"),
    ("parameters { real a; vector[2] b; } model { a ~ normal(0, 1); for (i in 1:(a > 0 ? 2 : 1)) b[i] ~ normal(0, 1); }",
     "parametric-branch"),
    ("data { int N; array[N] int y; } transformed data { int k = 0; for (n in 1:N) { if (y[n] == 0) continue; k += 1; } }
      parameters { vector[k] b; real<lower=0, upper=1> t; } model { b ~ normal(0, 1); t ~ beta(1, 1); y ~ bernoulli(t); }",
     "declaration-depends-on-outcome"),
    ("data { int N; array[N] int y; } transformed data { int k = 0; for (n in 1:N) { for (i in 1:y[n]) k += 1; } }
      parameters { vector[k] b; real<lower=0, upper=1> t; } model { b ~ normal(0, 1); t ~ beta(1, 1); y ~ bernoulli(t); }",
     "declaration-depends-on-outcome"),
    ("data { int N; array[N] int y; } transformed data { int k = 0; for (n in 1:N) { for (i in 1:2) if (y[n] > 0) break; k += 1; } }
      parameters { vector[k] b; real<lower=0, upper=1> t; } model { b ~ normal(0, 1); t ~ beta(1, 1); y ~ bernoulli(t); }",
     ""),
];

#[test]
fn every_obstacle_has_its_code() {
    for (text, wanted) in READINGS {
        let found: Vec<&str> =
            obstacles(text).into_iter().filter(|c| *c != "improper-prior" || *wanted == "improper-prior").collect();
        assert_eq!(found.join(" "), *wanted, "{text}");
    }
}

#[test]
fn obstacles_name_the_statement_and_the_remedy() {
    let text =
        "parameters { real<lower=0> a; real b; } model { a ~ normal(0, 1);\n a ~ normal(1, 1); b ~ normal(a, 1); }";
    let reading = parse(text);
    let problems = Joint::read(&reading.typed, &ReadOptions::default()).expect_err("two priors");
    let problem = &problems[0];
    assert_eq!(reading.source.slice(problem.span).trim_end_matches(';'), "a ~ normal(1, 1)");
    assert_eq!(reading.source.slice(problem.related[0].0).trim_end_matches(';'), "a ~ normal(0, 1)");
    assert!(!problem.help.is_empty() && !problem.notes.is_empty());
}

/// The statement that is suggested for a parameter without a prior gives it one.
#[test]
fn suggested_priors_are_read() {
    let declarations = [
        "real a",
        "real<lower=0> a",
        "vector[3] a",
        "matrix[2, 3] a",
        "cov_matrix[3] a",
        "cholesky_factor_cov[3] a",
        "ordered[3] a",
        "array[3] real a",
        "array[2, 3] real<upper=1> a",
        "array[2] vector[3] a",
        "array[2, 2] vector[3] a",
        "array[2] matrix[2, 2] a",
        "array[2] cov_matrix[2] a",
        "array[2] ordered[2] a",
    ];
    for declaration in declarations {
        let reading = parse(&format!("parameters {{ {declaration}; }} model {{ }}"));
        let problems = Joint::read(&reading.typed, &ReadOptions::default()).expect_err("improper");
        let help = &problems[0].help[0];
        let statement = help.split('`').nth(1).expect("a statement");
        let found = obstacles(&format!("parameters {{ {declaration}; }} model {{ {statement} }}"));
        assert!(found.is_empty(), "{declaration}: {statement} {found:?}");
    }
}

/// Programs whose mistake shows only with the data: which elements are drawn, and in which order.
#[test]
fn elements_are_drawn_exactly_once() {
    let complaint = |text: &str| {
        let mut case = case(text, "{}");
        match case.simulator.draw_parameters(None, key(0)) {
            Err(SimulateError::Reading(problem)) => (problem.code, problem.message),
            other => panic!("{other:?}"),
        }
    };
    let (code, message) = complaint("parameters { vector[3] a; } model { for (i in 1:2) a[i] ~ normal(0, 1); }");
    assert_eq!((code, message.contains("`a[3]`")), ("improper-prior", true), "{message}");
    let (code, message) =
        complaint("parameters { vector[3] a; } model { for (i in 1:3) a[i] ~ normal(0, 1); a[2] ~ normal(0, 1); }");
    assert_eq!((code, message.contains("`a[2]`")), ("two-priors", true), "{message}");
    let (code, message) =
        complaint("parameters { vector[2] a; } model { a[1] ~ normal(a[2], 1); a[2] ~ normal(a[1], 1); }");
    assert_eq!((code, message.contains("`a[1]`")), ("cyclic-program", true), "{message}");
}

#[test]
fn a_mask_that_simulation_would_change_is_refused() {
    let text = "data { vector[3] y; } parameters { real a; } model { a ~ normal(-9, 0.1); for (n in 1:3) if (y[n] > 0) y[n] ~ normal(a, 1); }";
    let mut case = case(text, r#"{"y": [1, -1, 2]}"#);
    let point = case.simulator.draw_parameters(None, key(0)).expect("parameters");
    match case.simulator.draw_data(&point, key(0)) {
        Err(SimulateError::Reading(problem)) => assert_eq!(problem.code, "mask-changed"),
        other => panic!("{other:?}"),
    }
    // Without given data there is nothing that a mask could look at.
    let reading = parse(text);
    let joint = Joint::read(&reading.typed, &ReadOptions::default()).expect("readable");
    let data = data_of(&reading, &joint, "{}");
    assert!(matches!(
        Simulator::new(&reading.typed, &joint, &data, None),
        Err(SimulateError::MaskMissing { name }) if name == "y"
    ));
}

#[test]
fn weights_of_a_mixture_must_add_up_to_one() {
    let text = "data { real y; } parameters { real a; } model { a ~ normal(0, 1);
        target += log_sum_exp(log(0.5) + normal_lpdf(y | a, 1), log(0.6) + normal_lpdf(y | -a, 1)); }";
    let mut case = case(text, "{}");
    let point = case.simulator.draw_parameters(None, key(0)).expect("parameters");
    match case.simulator.draw_data(&point, key(0)) {
        Err(SimulateError::Rejected(rejection)) => {
            assert!(rejection.message.contains("weights"), "{}", rejection.message);
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn fixed_values_must_fit() {
    let mut case = case("parameters { vector[2] a; } model { a ~ normal(0, 1); }", "{}");
    let fix = |name: &str, x: Vec<f64>| Values::from([(name.to_owned(), x)]);
    let mut draw = |values: &Values| case.simulator.draw_parameters(Some(values), key(0));
    assert_eq!(draw(&fix("a", vec![1.0, 2.0])).expect("a point"), [1.0, 2.0]);
    assert!(matches!(draw(&fix("b", vec![1.0])), Err(SimulateError::UnknownParameter { .. })));
    assert!(matches!(draw(&fix("a", vec![1.0])), Err(SimulateError::WrongSize { given: 1, wanted: 2, .. })));
}

/// Programs that are written by other programs have long sums.
#[test]
fn long_sums_are_read() {
    let sum = vec!["a"; 3000].join(" + ");
    let text =
        format!("data {{ real y; }} parameters {{ real a; }} model {{ a ~ normal(0, 1); y ~ normal({sum}, 1); }}");
    assert_eq!(obstacles(&text).len(), 0);
    let text = format!("parameters {{ real<lower=0> a; }} model {{ a ~ normal(0, 1); target += {sum}; }}");
    assert_eq!(obstacles(&text), ["term-without-variate"]);
}
