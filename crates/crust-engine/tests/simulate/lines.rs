//! Parameters with bounds that several statements weigh, or a function of them: drawn along a line where each number is
//! weighed by itself, and refused otherwise.

use crate::case;
use crate::linked::{DRAWS, check_moments, draws, proof};

/// ∫ xᵏ f(x) dx over a range, by Simpson's rule.
fn moment(f: impl Fn(f64) -> f64, [from, to]: [f64; 2], power: i32) -> f64 {
    let n = 200_000;
    let h = (to - from) / f64::from(n);
    let at = |i: i32| {
        let x = from + h * f64::from(i);
        x.powi(power) * f(x)
    };
    let inner: f64 = (1..n).map(|i| if i % 2 == 0 { 2.0 } else { 4.0 } * at(i)).sum();
    h / 3.0 * (at(0) + inner + at(n))
}

/// The integral that the proof finds, and the moments of draws, are those of an unnormalised density.
fn check(text: &str, name: &str, f: impl Fn(f64) -> f64, range: [f64; 2]) {
    let [whole, first, second] = [0, 1, 2].map(|k| moment(&f, range, k));
    let (code, integral) = proof(text, "{}");
    assert_eq!(code, "", "{text}");
    assert!((integral.expect("a constant") - whole.ln()).abs() < 1e-6, "{text}: {integral:?} for {}", whole.ln());
    let mean = first / whole;
    check_moments(&draws(&mut case(text, "{}"), name, DRAWS), &[mean], &[vec![second / whole - mean * mean]]);
}

fn normal(x: f64, mean: f64, sd: f64) -> f64 {
    (-0.5 * ((x - mean) / sd).powi(2)).exp() / (sd * (2.0 * std::f64::consts::PI).sqrt())
}

#[test]
fn a_function_with_its_jacobian() {
    let lognormal = |x: f64| if x > 0.0 { normal(x.ln(), 0.3, 0.5) / x } else { 0.0 };
    let spellings = [
        "parameters { real<lower=0> s; } model { log(s) ~ normal(0.3, 0.5); target += -log(s); }",
        "parameters { real<lower=0> s; } transformed parameters { real l = log(s); }
         model { l ~ normal(0.3, 0.5); target += -l; }",
        "parameters { real<lower=0> s; } model { target += normal_lpdf(log(s) | 0.3, 0.5) - log(s); }",
        "functions { real own_lpdf(real x, real m) { return normal_lpdf(log(x) | m, 0.5) - log(x); } }
         parameters { real<lower=0> s; } model { s ~ own(0.3); }",
    ];
    for text in spellings {
        check(text, "s", lognormal, [0.0, 40.0]);
    }
    // what is left out stays left out: this is not lognormal
    let text = "parameters { real<lower=0> s; } model { log(s) ~ normal(0.3, 0.5); }";
    check(text, "s", |x| x * lognormal(x), [0.0, 80.0]);
}

#[test]
fn several_statements_for_one_number() {
    let gamma = |x: f64| x * (-x).exp();
    let text = "parameters { real<lower=0> s; } model { s ~ gamma(2, 1); s ~ student_t(5, 1, 2); }";
    let student = |x: f64| 0.379_606_689_822_494_4 / 2.0 * (1.0 + ((x - 1.0) / 2.0).powi(2) / 5.0).powi(-3);
    check(text, "s", |x| gamma(x) * student(x), [0.0, 60.0]);
    let text = "parameters { real<lower=0> s; } model { s ~ gamma(2, 1); target += -square(s); }";
    check(text, "s", |x| gamma(x) * (-x * x).exp(), [0.0, 12.0]);
    // without bounds, and not normal
    let text = "parameters { real m; } model { m ~ logistic(4, 1); m ~ normal(-2, 3); }";
    let logistic = |x: f64| (-(x - 4.0)).exp() / (1.0 + (-(x - 4.0)).exp()).powi(2);
    check(text, "m", |x| logistic(x) * normal(x, -2.0, 3.0), [-40.0, 40.0]);
}

/// Both bounds, an upper one, and an offset with a multiplier have Jacobians of their own.
#[test]
fn every_kind_of_bounds() {
    check("parameters { real<lower=1, upper=3> p; } model { target += 2 * log(p); }", "p", |x| x * x, [1.0, 3.0]);
    let text = "parameters { real<upper=-1> p; } model { p ~ normal(0, 2); target += 0.5 * p; }";
    check(text, "p", |x| normal(x, 0.0, 2.0) * (0.5 * x).exp(), [-40.0, -1.0]);
    let text = "parameters { real<offset=2, multiplier=5> p; } model { p ~ normal(0, 2); target += -0.1 * p^4; }";
    check(text, "p", |x| normal(x, 0.0, 2.0) * (-0.1 * x.powi(4)).exp(), [-8.0, 8.0]);
}

/// Elements that are weighed each by itself, among other parameters, with a peak far from where the search begins.
#[test]
fn elements() {
    let text = "parameters { real m; vector<lower=0>[2] s; simplex[3] w; }
        model { m ~ normal(0, 1); w ~ dirichlet([1, 2, 3]'); log(s) ~ normal([7, -4]', 0.1); target += -sum(log(s)); }";
    assert!(proof(text, "{}").1.expect("a constant").abs() < 1e-6);
    let logs = draws(&mut case(text, "{}"), "s", DRAWS).iter().map(|s| vec![s[0].ln(), s[1].ln()]).collect::<Vec<_>>();
    check_moments(&logs, &[7.0, -4.0], &[vec![0.01, 0.0], vec![0.0, 0.01]]);
    // given a scale, with the integral of the terms known whatever it is
    let text = "parameters { real<lower=0> t; vector<lower=0>[2] s; }
        model { t ~ gamma(4, 4); log(s) ~ normal(1, t); target += -sum(log(s)); }";
    let (code, integral) = proof(text, "{}");
    assert!(code.is_empty() && integral.expect("a constant").abs() < 1e-6, "{code} {integral:?}");
    let all = draws(&mut case(text, "{}"), "s", DRAWS);
    // E[t²] = 4·5/16
    let logs: Vec<Vec<f64>> = all.iter().map(|s| vec![f64::midpoint(s[0].ln(), s[1].ln())]).collect();
    let mean = logs.iter().map(|l| l[0]).sum::<f64>() / f64::from(DRAWS);
    assert!((mean - 1.0).abs() < 5.0 * (1.25 / 2.0 / f64::from(DRAWS)).sqrt(), "{mean}");
}

#[test]
fn what_cannot_be_drawn_is_refused() {
    let cases = [
        ("parameters { real<lower=0> s; } model { target += -log(s); }", "term-without-variate"),
        ("parameters { real<lower=0> s; } model { log(s) ~ cauchy(0, 1); }", "not-invertible"),
        (
            "parameters { vector<lower=0>[2] a; } model { a ~ exponential(1); target += -a[1] * a[2]; }",
            "term-without-variate",
        ),
        ("parameters { vector<lower=0>[3] a; } model { sum(a) ~ normal(0, 1); }", "not-invertible"),
        (
            "parameters { real<lower=0> t; real<lower=0> s; }
             model { t ~ gamma(3, 1); s ~ exponential(t); s ~ lognormal(0, 1); }",
            "prior-weighs-others",
        ),
        (
            "parameters { real<lower=0> t; real<lower=0> s; }
             model { t ~ gamma(3, 1); log(s) ~ normal(0, t); }",
            "prior-weighs-others",
        ),
    ];
    for (text, wanted) in cases {
        assert_eq!(proof(text, "{}").0, wanted, "{text}");
    }
}
