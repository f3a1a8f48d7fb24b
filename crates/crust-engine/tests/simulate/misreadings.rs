//! Programs that are easily misread: each is drawn rightly, which the proof shows, or refused.

use crust_engine::{ProveError, ProveOptions, SimulateError, Simulator, prove};
use crust_stan::joint::{Joint, ReadOptions};

use crate::{Case, case, data_of, key, parse};

/// `right`, or the code of the refusal.
fn verdict(text: &str, json: &str) -> &'static str {
    let reading = parse(text);
    let joint = match Joint::read(&reading.typed, &ReadOptions::default()) {
        Ok(joint) => joint,
        Err(problems) => return problems[0].code,
    };
    let data = data_of(&reading, &joint, json);
    let simulator = Simulator::new(&reading.typed, &joint, &data, None).expect("a simulator");
    let mut points = Vec::new();
    // Points from elsewhere, as a short run of NUTS would give them.
    let dimension = simulator.clone().draw_parameters(None, key(0)).map_or(0, |p| p.len());
    for x in [-1.5, -0.1, 0.3, 2.0] {
        points.push(vec![x; dimension]);
    }
    match prove(&reading.typed, &simulator, &ProveOptions { points: &points, ..ProveOptions::default() }) {
        Ok(proof) => {
            assert!(proof.prior > 20, "{proof:?} {text}");
            "right"
        }
        Err(ProveError::Simulate(SimulateError::Reading(problem))) => problem.code,
        Err(ProveError::Misreading(error)) => {
            let diagnostic = error.diagnostic();
            assert!(!diagnostic.help.is_empty(), "{text}");
            diagnostic.code
        }
        Err(other) => panic!("{other} {text}"),
    }
}

fn check(list: &[(&str, &str, &str)]) {
    let wrong: Vec<String> = list
        .iter()
        .map(|(text, json, wanted)| (text, verdict(text, json), wanted))
        .filter(|(_, found, wanted)| found != *wanted)
        .map(|(text, found, wanted)| format!("{found} instead of {wanted}: {text}"))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The mean of `a` over draws.
fn mean(text: &str, json: &str) -> f64 {
    mean_in(&mut case(text, json), "a", |a| a)
}

/// The mean of a function of a parameter, without data.
fn mean_of(text: &str, name: &str, function: impl Fn(f64) -> f64) -> f64 {
    mean_in(&mut case(text, "{}"), name, function)
}

fn mean_in(case: &mut Case, name: &str, function: impl Fn(f64) -> f64) -> f64 {
    const DRAWS: u32 = 4000;
    let mut sum = 0.0;
    for i in 0..DRAWS {
        let point = case.simulator.draw_parameters(None, key(i)).expect("parameters");
        sum += function(case.simulator.parameters(&point).expect("values")[name][0]);
    }
    sum / f64::from(DRAWS)
}

/// Means in closed form. With 4,000 draws and deviations of at most 1 (30 for the degrees of freedom) the allowance is
/// about five standard errors: a false alarm in 2 of a million runs each.
#[test]
fn bounds_are_those_of_the_parameter() {
    let list: &[(&str, f64, f64)] = &[
        ("parameters { real<lower=5> a; } model { a - 5 ~ exponential(1); }", 6.0, 1.0),
        ("parameters { real<lower=1> a; } model { a - 1 ~ exponential(1 / 29.0); }", 30.0, 29.0),
        ("parameters { real<lower=0> a; } model { a - 2 ~ normal(0, 1); }", 2.055_247_9, 1.0),
        ("parameters { real<lower=0, upper=1> a; } model { 2 * a ~ normal(1, 1); }", 0.5, 0.3),
        (
            "parameters { real<lower=0> a; } transformed parameters { real b = 3 - a; } model { b ~ normal(0, 1); }",
            3.004_437_8,
            1.0,
        ),
        ("parameters { vector<lower=5>[3] a; } model { for (i in 1:3) a[i] - 5 ~ exponential(1); }", 6.0, 1.0),
        ("parameters { vector<lower=5>[3] a; } model { a - 5 ~ exponential(1); }", 6.0, 1.0),
        ("parameters { real<upper=0> a; } model { -a ~ exponential(2); }", -0.5, 0.5),
        ("parameters { real<upper=2> a; } model { 2 - a ~ gamma(2, 1); }", 0.0, 1.5),
        ("parameters { real<lower=0> a; } model { -3 * a ~ normal(0, 1); }", 0.265_961_5, 0.3),
        ("data { real c; } parameters { real<lower=0> a; } model { a / c ~ normal(0, 1); }", 1.595_769_1, 1.3),
        ("parameters { real m; real<lower=m> a; } model { m ~ normal(0, 1); a - m ~ exponential(1); }", 1.0, 1.5),
        ("data { vector[2] b; } parameters { vector<lower=b>[2] a; } model { a - b ~ exponential(1); }", 4.0, 1.0),
        ("parameters { matrix<lower=1>[2, 2] a; } model { to_vector(a) - 1 ~ exponential(1); }", 2.0, 1.0),
        ("parameters { vector<lower=0>[2] a; } model { 2 - a' ~ normal(0, 1); }", 2.055_247_9, 1.0),
    ];
    let json = r#"{"c": -2, "b": [3, 4]}"#;
    for (text, wanted, deviation) in list {
        assert_eq!(verdict(text, json), "right", "{text}");
        let found = mean(text, json);
        assert!((found - wanted).abs() < 5.0 * deviation / 4000.0_f64.sqrt(), "{found} {wanted} {text}");
    }
}

/// A prior of a function of a parameter is read where its Jacobian is written down beside it, and nowhere else.
#[test]
fn priors_of_functions_with_their_jacobian() {
    let positive = "parameters { real<lower=0> a; } model";
    let defined = "parameters { real u; } transformed parameters { real<lower=0> a = exp(u);";
    let vector =
        "parameters { real m; real<lower=0> t; vector<lower=0>[3] a; } model { m ~ normal(0, 1); t ~ gamma(4, 4);";
    let list: Vec<(String, &str)> = [
        (positive, "{ log(a) ~ normal(0, 1); target += -log(a); }", "right"),
        (positive, "{ target += normal_lpdf(log(a) | 0, 1) - log(a); }", "right"),
        (positive, "{ inv(a) ~ gamma(3, 2); target += -2 * log(a); }", "right"),
        (positive, "{ sqrt(a) ~ gamma(3, 2); target += -log(2 * sqrt(a)); }", "right"),
        (positive, "{ sqrt(a) ~ normal(0, 2); target += -0.5 * log(a); }", "right"),
        (positive, "{ log(a / 3) - 1 ~ student_t(5, 0, 1); target += -log(a); }", "right"),
        (
            "parameters { real<lower=0, upper=1> a; } model",
            "{ logit(a) ~ normal(0, 1.5); target += -log(a) - log1m(a); }",
            "right",
        ),
        (
            "parameters { real u; } transformed parameters { real a = inv_logit(u); } model",
            "{ a ~ beta(2, 3); target += log(a) + log1m(a); }",
            "right",
        ),
        (defined, "} model { a ~ gamma(3, 2); target += u; }", "right"),
        (defined, "jacobian += u; } model { a ~ gamma(3, 2); }", "right"),
        (vector, "log(a) ~ normal(m, t); target += -sum(log(a)); }", "right"),
        (vector, "for (k in 1:3) { log(a[k]) ~ normal(m, t); target += -log(a[k]); } }", "right"),
        // no Jacobian, another one, one of a part, one twice
        (positive, "{ sqrt(a) ~ normal(0, 2); }", "not-invertible"),
        (positive, "{ log(a) ~ normal(0, 1); target += log(a); }", "misreading"),
        (positive, "{ log(a) ~ normal(0, 1); target += -a; }", "misreading"),
        (positive, "{ inv(a) ~ gamma(3, 2); target += -log(a); }", "misreading"),
        (defined, "jacobian += u; } model { a ~ gamma(3, 2); target += u; }", "misreading"),
        (vector, "log(a) ~ normal(m, t); target += -sum(log(a[1:2])); }", "misreading"),
        (vector, "log(a) ~ normal(m, t); target += -log(a[1]) - t; }", "term-without-variate"),
    ]
    .into_iter()
    .map(|(before, after, wanted)| (format!("{before} {after}"), wanted))
    .collect();
    check(&list.iter().map(|(text, wanted)| (text.as_str(), "{}", *wanted)).collect::<Vec<_>>());
    let means = [
        ("parameters { real<lower=0> a; } model { log(a) ~ normal(0, 0.5); target += -log(a); }", 1.133_148_5, 0.7),
        ("parameters { real<lower=0> a; } model { sqrt(a) ~ normal(0, 1); target += -0.5 * log(a); }", 1.0, 1.5),
        (
            "parameters { real u; } transformed parameters { real a = inv_logit(u); }
             model { a ~ beta(2, 3); target += log(a) + log1m(a); }",
            0.4,
            0.2,
        ),
    ];
    for (text, wanted, deviation) in means {
        // Transformed parameters are no values of the simulator.
        let found =
            if text.contains("real u") { mean_of(text, "u", |u| 1.0 / (1.0 + (-u).exp())) } else { mean(text, "{}") };
        assert!((found - wanted).abs() < 5.0 * deviation / 4000.0_f64.sqrt(), "{found} {wanted} {text}");
    }
}

/// A density that is a product of distributions, restricted to where all declarations hold, weighs the parameters that
/// decide how much is left: means of the joint normal distribution given that it is, in closed form.
#[test]
fn declarations_that_depend_on_other_parameters() {
    let list: &[(&str, f64, f64)] = &[
        // b ~ normal(0, √2) above 0, and E[a | b] = b/2
        ("parameters { real a; real<lower=0> b; } model { a ~ normal(0, 1); b ~ normal(a, 1); }", 0.564_189_6, 1.0),
        (
            "parameters { real m; real<lower=0> a; } model { m ~ normal(0, 1); a ~ normal(m, 1); }",
            std::f64::consts::FRAC_2_SQRT_PI,
            0.9,
        ),
        // d = a[2] − a[1] ~ normal(1, √2) above 0, and E[a[1] | d] = (1 − d)/2
        ("parameters { ordered[2] a; } model { a[1] ~ normal(0, 1); a[2] ~ normal(1, 1); }", -0.288_975, 1.0),
        // what cannot be drawn given a rejected value is no obstacle: as the first two, with a scale below 0 on the way
        (
            "parameters { real a; real<lower=0> b; vector[2] z; } model { a ~ normal(0, 1); b ~ normal(a, 1); z ~ normal(0, b); }",
            0.564_189_6,
            1.0,
        ),
        // a and b are uniform on the triangle below the diagonal
        (
            "parameters { real<lower=0, upper=1> b; real<lower=0, upper=b> a; } model { b ~ uniform(0, 1); a ~ uniform(0, 1); }",
            1.0 / 3.0,
            0.3,
        ),
    ];
    for (text, wanted, deviation) in list {
        assert_eq!(verdict(text, "{}"), "right", "{text}");
        let found = mean(text, "{}");
        assert!((found - wanted).abs() < 5.0 * deviation / 4000.0_f64.sqrt(), "{found} {wanted} {text}");
    }
    let far = "parameters { real a; real<lower=100> b; } model { a ~ normal(0, 1); b ~ normal(a, 1); }";
    let found = case(far, "{}").simulator.draw_parameters(None, key(1));
    assert!(matches!(found, Err(SimulateError::CutAway { .. })), "{found:?}");
}

#[test]
fn bounds_and_types() {
    check(&[
        (
            "parameters { real<lower=0> s; real<lower=0> a; } transformed parameters { real z = a - s; }
          model { s ~ exponential(1); z ~ normal(0, 1); }",
            "{}",
            "right",
        ),
        ("parameters { real m; real<lower=0> a; } model { m ~ normal(0, 1); a - m ~ normal(0, 1); }", "{}", "right"),
        (
            "parameters { real m; real<lower=5> a; } model { m ~ normal(0, 1); a - 5 ~ normal(m, 1) T[0, ]; }",
            "{}",
            "right",
        ),
        (
            "parameters { real<lower=0> s; real<lower=0> a; } model { s ~ gamma(2, 2); a - 1 ~ normal(0, s); }",
            "{}",
            "right",
        ),
        (
            "parameters { real<lower=0> s; real<lower=1> a; } model { s ~ gamma(2, 2); a - 1 ~ normal(0, s); }",
            "{}",
            "right",
        ),
        ("parameters { ordered[3] a; } model { a - 1 ~ normal(0, 1); }", "{}", "right"),
        ("parameters { ordered[3] a; } model { a ~ normal([0, 1, 2]', 1); }", "{}", "right"),
        ("parameters { positive_ordered[2] a; } model { a ~ exponential(1); }", "{}", "right"),
        ("parameters { simplex[3] a; } model { a ~ dirichlet([1, 2, 3]'); }", "{}", "right"),
        (
            "parameters { corr_matrix[3] a; cholesky_factor_corr[2] b; } model { a ~ lkj_corr(2); b ~ lkj_corr_cholesky(3); }",
            "{}",
            "right",
        ),
    ]);
}

#[test]
fn truncation_by_hand() {
    let bounded =
        |rest: &str| format!("parameters {{ real m; vector<lower=0>[3] a; }} model {{ m ~ normal(0, 1); {rest} }}");
    let list = [
        (bounded("target += normal_lpdf(a | m, 1) - normal_lccdf(0 | m, 1);"), "term-without-variate"),
        (bounded("target += normal_lpdf(a | m, 1) - 5 * normal_lccdf(0 | m, 1);"), "term-without-variate"),
        (bounded("target += normal_lpdf(a | m, 1) - 3 * normal_lccdf(0 | m, 1);"), "right"),
        (bounded("target += normal_lpdf(a | m, 1) - num_elements(a) * normal_lccdf(0 | m, 1);"), "right"),
        (bounded("target += normal_lpdf(a | m, 1) - normal_lccdf(rep_vector(0, 3) | m, 1);"), "term-without-variate"),
        (bounded("for (i in 1:3) target += normal_lpdf(a[i] | m, 1) - normal_lccdf(0 | m, 1);"), "right"),
        (
            bounded("for (i in 1:3) target += normal_lpdf(a[i] | m, 1) - 2 * normal_lccdf(0 | m, 1);"),
            "term-without-variate",
        ),
        (bounded("target += normal_lpdf(a | m, 1) - 3 * normal_lccdf(1 | m, 1);"), "term-without-variate"),
        (bounded("target += normal_lpdf(a | m, 1) + 3 * normal_lccdf(0 | m, 1);"), "term-without-variate"),
    ];
    for (text, wanted) in list {
        check(&[(&text, "{}", wanted)]);
    }
    check(&[
        (
            "parameters { real m; real<upper=2> a; } model { m ~ normal(0, 1); target += normal_lpdf(a | m, 1) - normal_lcdf(2 | m, 1); }",
            "{}",
            "right",
        ),
        (
            "parameters { real m; real<lower=0, upper=2> a; } model { m ~ normal(0, 1);
          target += normal_lpdf(a | m, 1) - log_diff_exp(normal_lcdf(2 | m, 1), normal_lcdf(0 | m, 1)); }",
            "{}",
            "right",
        ),
        (
            "parameters { real m; real<lower=0, upper=2> a; } model { m ~ normal(0, 1);
          target += normal_lpdf(a | m, 1) - normal_lcdf(2 | m, 1); }",
            "{}",
            "right",
        ),
        (
            "parameters { real m; real a; } model { m ~ normal(0, 1); target += normal_lpdf(a | m, 1) - normal_lccdf(0 | m, 1); }",
            "{}",
            "term-without-variate",
        ),
        (
            "data { vector[3] y; } parameters { real m; } model { m ~ normal(0, 1); target += normal_lpdf(y | m, 1) - 3 * normal_lccdf(0 | m, 1); }",
            "{}",
            "right",
        ),
        (
            "data { vector[3] y; } parameters { real m; } model { m ~ normal(0, 1); target += normal_lpdf(y | m, 1) - normal_lccdf(0 | m, 1); }",
            "{}",
            "term-without-variate",
        ),
        (
            "data { array[4] int y; } parameters { real<lower=0> l; } model { l ~ gamma(2, 2);
          for (n in 1:4) target += poisson_lpmf(y[n] | l) - poisson_lccdf(0 | l); }",
            "{}",
            "right",
        ),
    ]);
    let mut case = case(
        "data { array[4] int y; } parameters { real<lower=0> l; } model { l ~ gamma(2, 2);
         for (n in 1:4) target += poisson_lpmf(y[n] | l) - poisson_lccdf(0 | l); }",
        "{}",
    );
    for i in 0..50 {
        let (_, data) = case.draw(i);
        assert!(case.numbers(&data, "y").iter().all(|y| *y >= 1.0));
    }
}

#[test]
fn repeated_indices() {
    let json = r#"{"ix": [1, 2, 2], "once": [3, 1, 2], "N": 3}"#;
    check(&[
        (
            "data { array[3] int ix; } parameters { vector[3] a; } model { a[ix] ~ normal(0, 1); a[3] ~ normal(0, 1); }",
            json,
            "two-priors",
        ),
        (
            "data { array[3] int ix; } parameters { vector[2] a; } model { for (i in 1:3) a[ix[i]] ~ normal(0, 1); }",
            json,
            "two-priors",
        ),
        (
            "data { array[3] int once; } parameters { vector[3] a; } model { a[once] ~ normal([1, 2, 3]', 1); }",
            json,
            "right",
        ),
        ("parameters { vector[4] a; } model { a[1:3] ~ normal(0, 1); a[3:4] ~ normal(0, 1); }", json, "two-priors"),
        ("parameters { vector[4] a; } model { a[1:2] ~ normal(0, 1); a[3:4] ~ normal(0, 2); }", json, "right"),
        (
            "data { array[3] int ix; vector[2] y; } parameters { real a; } model { a ~ normal(0, 1); y[ix] ~ normal(a, 1); }",
            json,
            "two-priors",
        ),
        (
            "data { array[3] int ix; } parameters { matrix[2, 2] a; } model { a[ix, 1] ~ normal(0, 1); a[:, 2] ~ normal(0, 1); }",
            json,
            "two-priors",
        ),
    ]);
}

#[test]
fn transforms_of_outcomes() {
    let with = |y: &str, rest: &str| {
        format!(
            "data {{ int N; {y} vector[N] x; }} parameters {{ real m; real<lower=0> s; }} model {{ m ~ normal(0, 1); s ~ gamma(4, 4); {rest} }}"
        )
    };
    let json = r#"{"N": 4, "x": [1, -1, 2, 0.5]}"#;
    let (plain, positive) = ("vector[N] y;", "vector<lower=0>[N] y;");
    for (y, rest, wanted) in [
        (plain, "(y - m * x) / s ~ normal(0, 1);", "not-invertible"),
        (plain, "log(y + s) ~ normal(0, 1);", "not-invertible"),
        (plain, "exp(y - m) ~ gamma(2, 2);", "not-invertible"),
        (plain, "s * y ~ normal(m, 1);", "not-invertible"),
        (plain, "for (n in 1:N) (y[n] - m) / s ~ normal(0, 1);", "not-invertible"),
        (positive, "sqrt(y) ~ normal(m, 1);", "not-invertible"),
        (plain, "exp(y) ~ normal(m, s);", "not-invertible"),
        (positive, "log(y) ~ normal(m, s);", "right"),
        (positive, "log(y) ~ normal(m, s); target += -sum(log(y));", "right"),
        (plain, "(y - 1) / 2 ~ normal(m, s);", "right"),
        (plain, "y - m * x ~ normal(0, s);", "right"),
        (plain, "exp(y) ~ gamma(2, s);", "right"),
        (positive, "sqrt(y) ~ gamma(2, s);", "right"),
        (positive, "inv(y) ~ gamma(2, s);", "right"),
        ("vector<lower=0, upper=1>[N] y;", "logit(y) ~ normal(m, s);", "right"),
        ("array[N] int y;", "y ~ normal(m, s);", "integer-outcome"),
        ("array[N] int y;", "to_vector(y) ~ normal(m, s);", "integer-outcome"),
        ("array[N] int y;", "for (n in 1:N) y[n] ~ normal(m, s);", "integer-outcome"),
        ("array[N] int y;", "for (n in 1:N) 2 * y[n] ~ poisson(s);", "integer-outcome"),
        ("array[N] int y;", "for (n in 1:N) y[n] - 1 ~ poisson(s);", "right"),
        (positive, "y ~ normal(m, 1);", "misreading"),
        (positive, "for (n in 1:N) y[n] ~ normal(m * x[n], s);", "misreading"),
        (positive, "for (n in 1:N) y[n] ~ normal(m, 1) T[0, ];", "right"),
        (positive, "y ~ normal(0, s);", "right"),
        (positive, "y ~ lognormal(m, s);", "right"),
        ("vector<lower=-100, upper=100>[N] y;", "y ~ normal(m, 1);", "right"),
        ("array[N] int<lower=0, upper=1> y;", "y ~ bernoulli_logit(m * x);", "right"),
        ("array[N] int<lower=1> y;", "y ~ poisson(s);", "misreading"),
        ("array[N] int<lower=0> y;", "y ~ poisson_log(m + log(s));", "right"),
        ("array[N] int<lower=1, upper=2> y;", "y ~ categorical_logit([m, s]');", "right"),
        ("array[N] int<lower=1, upper=3> y;", "y ~ ordered_logistic(m * x, [0, 1 + s]');", "right"),
    ] {
        let text = with(y, rest);
        check(&[(&text, json, wanted)]);
    }
}

/// Whether a term of a function that adds to the target is prior or likelihood depends on what it is called with.
#[test]
fn terms_of_functions() {
    let json = r#"{"N": 3, "y": [0.1, 1, -1]}"#;
    let with = |functions: &str, model: &str| {
        format!(
            "functions {{ {functions} }} data {{ int N; vector[N] y; }} parameters {{ real a; real b; }} model {{ {model} }}"
        )
    };
    for functions in [
        "void priors_lp(real u, real v) { u ~ normal(0, 1); target += student_t_lpdf(v | 3, u, 2); }",
        "void priors_lp(real u, real v) { target += normal_lpdf(u | 0, 1) + student_t_lpdf(v | 3, u, 2); }",
        "void half_lp(vector z, real m) { target += normal_lpdf(z | m, 1); }
         void priors_lp(real u, real v) { half_lp([u]', 0); half_lp([v]', u); }",
    ] {
        check(&[(&with(functions, "priors_lp(a, b); y ~ normal(a + b, 1);"), json, "right")]);
    }
    let both = "void term_lp(vector z, real m) { target += normal_lpdf(z | m, 1); }";
    check(&[(&with(both, "term_lp([a, b]', 0); term_lp(y, a + b);"), json, "right")]);
}

const FORWARD: &str = "data { int T; vector[T] y; } parameters { array[2] simplex[2] G; ordered[2] mu; }";

#[test]
fn hidden_states_by_hand() {
    let json = r#"{"T": 5, "y": [0.1, 1, -1, 0.3, 0.2], "N": 2}"#;
    let hmm = |body: &str| format!("{FORWARD} model {{ mu ~ normal(0, 2); {body} }}");
    for body in [
        "matrix[T, 2] g; array[2] real acc; for (k in 1:2) g[1, k] = normal_lpdf(y[1] | mu[k], 1) + log(0.5);
         for (t in 2:T) for (k in 1:2) { for (j in 1:2) acc[j] = g[t - 1, j] + log(G[j, k]) + normal_lpdf(y[t] | mu[k], 1);
         g[t, k] = log_sum_exp(acc); } target += log_sum_exp(g[T]);",
        "array[T] vector[2] g; for (k in 1:2) g[1][k] = normal_lpdf(y[1] | mu[k], 1) + log(0.5);
         for (t in 2:T) for (k in 1:2) { vector[2] acc; for (j in 1:2) acc[j] = g[t - 1][j] + log(G[j, k]) + normal_lpdf(y[t] | mu[k], 1);
         g[t][k] = log_sum_exp(acc); } target += log_sum_exp(g[T]);",
        "vector[2] g; for (k in 1:2) g[k] = normal_lpdf(y[1] | mu[k], 1) + log(0.5);
         for (t in 2:T) { vector[2] h; for (k in 1:2) h[k] = log_sum_exp(g + log(to_vector({G[1, k], G[2, k]}))) + normal_lpdf(y[t] | mu[k], 1);
         g = h; } target += log_sum_exp(g);",
        "vector[2] g = rep_vector(log(0.5), 2); for (t in 1:T) { vector[2] h; for (k in 1:2) h[k] = log_sum_exp(g + log(to_vector({G[1, k], G[2, k]})))
         + normal_lpdf(y[t] | mu[k], 1); g = h; } target += log_sum_exp(g);",
    ] {
        let found = verdict(&hmm(body), json);
        assert!(matches!(found, "term-without-variate" | "misreading" | "cyclic-program" | "mixed-terms"), "{found} {body}");
    }
    let mixture = "data { int N; vector[N] y; } parameters { simplex[2] w; ordered[2] mu; } model { mu ~ normal(0, 2);
        for (n in 1:N) { vector[2] g; for (k in 1:2) g[k] = log(w[k]) + normal_lpdf(y[n] | mu[k], 1); target += log_sum_exp(g); } }";
    let pooled = "data { int N; vector[N] y; } parameters { simplex[2] w; ordered[2] mu; } model { mu ~ normal(0, 2);
        { vector[2] g = log(w); for (k in 1:2) for (n in 1:N) g[k] += normal_lpdf(y[n] | mu[k], 1); target += log_sum_exp(g); } }";
    check(&[(mixture, json.replace("[0.1, 1, -1, 0.3, 0.2]", "[0.1, 1]").as_str(), "right")]);
    let found = verdict(pooled, r#"{"N": 2}"#);
    assert!(found == "right" || found == "term-without-variate", "{found}");
}

#[test]
fn constraints_of_transformed_parameters() {
    check(&[
        (
            "parameters { real a; } transformed parameters { real<lower=0> b = a - 1; } model { a ~ normal(0, 1); }",
            "{}",
            "right",
        ),
        (
            "parameters { real a; } transformed parameters { real<lower=-2> b = a; } model { a ~ normal(0, 1); }",
            "{}",
            "right",
        ),
        (
            "parameters { real a; } transformed parameters { real<lower=0> b = square(a); } model { a ~ normal(0, 1); }",
            "{}",
            "right",
        ),
        (
            "parameters { vector[2] a; } transformed parameters { simplex[2] p = softmax(a); } model { a ~ normal(0, 1); }",
            "{}",
            "right",
        ),
        (
            "parameters { vector[2] a; } transformed parameters { ordered[2] p = a; } model { a ~ normal(0, 1); }",
            "{}",
            "right",
        ),
        ("parameters { real a; } model { a ~ normal(0, 1); if (a > 1) reject(\"too large\"); }", "{}", "right"),
    ]);
}

const INFLATED: &str =
    "data { int N; array[N] int<lower=0> y; } parameters { real<lower=0, upper=1> p; real<lower=0> l; }
    model { p ~ beta(2, 2); l ~ gamma(4, 2); for (n in 1:N) { if (y[n] == 0)
      target += log_sum_exp(bernoulli_lpmf(1 | p), bernoulli_lpmf(0 | p) + poisson_lpmf(y[n] | l));
      else target += bernoulli_lpmf(0 | p) + poisson_lpmf(y[n] | l); } }
    generated quantities { array[N] int y_sim; for (n in 1:N) y_sim[n] = ";

#[test]
fn supplied_simulators() {
    let json = r#"{"N": 8}"#;
    let own = |draw: &str| format!("{INFLATED} {draw}; }}");
    check(&[
        (&own("bernoulli_rng(p) ? 0 : poisson_rng(l)"), json, "right"),
        (&own("bernoulli_rng(p) ? poisson_rng(l) : 0"), json, "wrong-simulator"),
        (&own("poisson_rng(l)"), json, "wrong-simulator"),
        (&own("bernoulli_rng(p) ? 0 : poisson_rng(2 * l)"), json, "wrong-simulator"),
    ]);
    let rng = |scale: &str| {
        format!(
            "functions {{ real d_lpdf(real y, real a, real s) {{ if (s > 0) return normal_lpdf(y | a, s); return 0; }}
             real d_rng(real a, real s) {{ return normal_rng(a, {scale}); }} }} data {{ int N; vector[N] y; }} parameters {{ real a; real<lower=0> s; }}
             model {{ a ~ normal(0, 1); s ~ lognormal(0, 0.5); for (n in 1:N) y[n] ~ d(a, s); }}"
        )
    };
    check(&[
        (&rng("s"), json, "right"),
        (&rng("s^2"), json, "wrong-simulator"),
        (&rng("2 * s"), json, "wrong-simulator"),
    ]);
    let prior = |draw: &str| {
        format!(
            "functions {{ real d_lpdf(real y, real a) {{ if (a > 0) return normal_lpdf(y | 0, a); return 0; }}
             real d_rng(real a) {{ return {draw}; }} }} parameters {{ real b; }} model {{ b ~ d(1.5); }}"
        )
    };
    check(&[
        (&prior("normal_rng(0, a)"), "{}", "right"),
        (&prior("normal_rng(1, a)"), "{}", "wrong-simulator"),
        (&prior("normal_rng(0, 3 * a)"), "{}", "wrong-simulator"),
    ]);
}
