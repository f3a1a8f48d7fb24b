//! `crust evidence` as a user runs it, against evidence that is known.

mod common;

use common::{Folder, crust, json as report, number, text};
use serde_json::{Value, json};
use std::f64::consts::{LN_2, TAU};

fn evidence(model: &str, data: &str, options: &[&str]) -> Value {
    report(&crust(&[&["evidence", model, data, "--json", "-"], options].concat()))
}

/// Every method is within 5 of its standard errors of the truth (false alarms: 6 in 10⁷ each), which are as small as
/// they should be.
#[track_caller]
fn check_against(result: &Value, truth: f64, most_se: f64) {
    for method in result["methods"].as_array().expect("methods") {
        let (log_ml, se) = (number(&method["log_ml"]), number(&method["se"]));
        assert!(se < most_se, "{method}");
        assert!((log_ml - truth).abs() < 5.0 * se + 1e-9, "truth {truth}: {method}");
    }
}

const LOOPS: &str = "
data { int N; int K; matrix[N, K] x; vector[N] y; }
parameters { vector[K] beta; }
model {
  for (k in 1:K) beta[k] ~ normal(0, 1);
  for (n in 1:N) {
    real mu = 0;
    for (k in 1:K) mu += x[n, k] * beta[k];
    y[n] ~ normal(mu, 1);
  }
}
";
const VECTORISED: &str = "
data { int N; int K; matrix[N, K] x; vector[N] y; }
parameters { vector[K] beta; }
model { beta ~ normal(0, 1); y ~ normal(x * beta, 1); }
";

/// Covariates, outcomes and log N(y; 0, X Xᵀ + I).
fn regression(n: u32, k: u32) -> (Value, f64) {
    let x: Vec<Vec<f64>> =
        (0..n).map(|i| (0..k).map(|j| (f64::from((i + 1) * (j + 2)) * 0.7).sin()).collect()).collect();
    let y: Vec<f64> = (0..n).map(|i| 1.5 * (f64::from(i) * 1.9).cos() + x[i as usize][0]).collect();
    let size = k as usize;
    let entry = |i: usize, j: usize| f64::from(u8::from(i == j)) + x.iter().map(|row| row[i] * row[j]).sum::<f64>();
    let mut a: Vec<Vec<f64>> = (0..size).map(|i| (0..size).map(|j| entry(i, j)).collect()).collect();
    let mut b: Vec<f64> = (0..size).map(|i| x.iter().zip(&y).map(|(row, y)| row[i] * y).sum()).collect();
    let (mut log_det, mut form) = (0.0, 0.0);
    for p in 0..size {
        let (pivot, pivot_b) = (a[p].clone(), b[p]);
        log_det += pivot[p].ln();
        form += pivot_b * pivot_b / pivot[p];
        for (row, b) in a.iter_mut().zip(&mut b).skip(p + 1) {
            let factor = row[p] / pivot[p];
            row.iter_mut().zip(&pivot).for_each(|(x, above)| *x -= factor * above);
            *b -= factor * pivot_b;
        }
    }
    let yy: f64 = y.iter().map(|y| y * y).sum();
    (json!({"N": n, "K": k, "x": x, "y": y}), -0.5 * (f64::from(n) * TAU.ln() + log_det + yy - form))
}

#[test]
fn the_evidence_of_a_regression_is_found_by_default() {
    let folder = Folder::new("regression");
    let (data, truth) = regression(200, 10);
    let data = folder.file("data.json", &data.to_string());
    for (name, program, seeds) in [("loops.stan", LOOPS, &["1"][..]), ("vectorised.stan", VECTORISED, &["2", "3"])] {
        let model = folder.file(name, program);
        for seed in seeds {
            let result = evidence(&model, &data, &["--seed", seed]);
            // the third starts at the prior, and only looks for what the others may have missed
            check_against(&result, truth, 0.3);
            let methods = result["methods"].as_array().expect("methods");
            let kinds: Vec<(&str, &str)> =
                methods.iter().map(|m| (m["name"].as_str().unwrap_or(""), m["kind"].as_str().unwrap_or(""))).collect();
            assert_eq!(
                kinds,
                [("bridge", "estimate"), ("importance", "stochastic_lower_bound"), ("smc", "stochastic_lower_bound")]
            );
            for m in &methods[..2] {
                assert!(number(&m["se"]) < 0.006 && (number(&m["log_ml"]) - truth).abs() < 0.02, "{m}");
            }
            assert_eq!(result["warnings"], json!([]));
        }
    }
}

#[test]
fn all_methods_agree_and_do_not_depend_on_threads() {
    let folder = Folder::new("methods");
    let (data, truth) = regression(20, 2);
    let (model, data) = (folder.file("model.stan", VECTORISED), folder.file("data.json", &data.to_string()));
    let names = "bridge,importance,smc,ais,stepping-stone,thermodynamic,nested,likelihood-weighting";
    let result = evidence(&model, &data, &["--methods", names, "--threads", "1"]);
    assert_eq!(result["methods"].as_array().map(Vec::len), Some(8));
    check_against(&result, truth, 0.3);
    assert_eq!(result, evidence(&model, &data, &["--methods", names, "--threads", "3", "--lanes", "8"]));
    // the harmonic mean comes with its warning, and nobody is told to mistrust others because of it
    let out = folder.path("out");
    let output = crust(&["evidence", &model, &data, "--methods", "harmonic-mean,bridge", "--out", &out]);
    let shown = text(&output);
    assert!(shown.contains("do not use this number") || shown.contains("do\nnot use this number"), "{shown}");
    assert!(shown.contains("estimate without a guarantee") && !shown.contains("apart"), "{shown}");
    let kept = folder.json("out/result.json");
    assert_eq!(kept["methods"][1]["name"], "harmonic-mean");
    assert!(std::path::Path::new(&folder.path("out/timing.json")).exists());
}

/// Φ, by the trapezoidal rule.
fn normal_cdf(x: f64) -> f64 {
    let (steps, low) = (20_000, -12.0);
    let width = (x - low) / f64::from(steps);
    let density = |i: i32| (-0.5 * (low + f64::from(i) * width).powi(2)).exp() / TAU.sqrt();
    (1..steps).map(density).sum::<f64>() * width + 0.5 * width * (density(0) + density(steps))
}

fn log_normal(x: f64, variance: f64) -> f64 {
    -0.5 * (TAU * variance).ln() - 0.5 * x * x / variance
}

/// Priors that Stan leaves unnormalised, each with a likelihood for which the integral is known.
#[test]
fn bounds_and_orders_are_divided_by() {
    let folder = Folder::new("bounds");
    let model = folder.file(
        "model.stan",
        "
data { real y1; real y2; array[3] int y3; real y4; real y5; vector[2] y6; }
parameters {
  real<lower=0> half;
  real<lower=0, upper=4> flat;
  simplex[3] share;
  ordered[2] cuts;
  real<lower=0> rate;
  vector<lower=-1>[2] low;
}
model {
  half ~ normal(0, 1);
  cuts ~ normal(0, 1);
  rate ~ exponential(2);
  low ~ normal(0, 1);
  y1 ~ normal(half, 1);
  y2 ~ normal(flat, 1);
  y3 ~ multinomial(share);
  y4 ~ normal(cuts[1] + cuts[2], 1);
  y5 ~ exponential(rate);
  y6 ~ normal(low, 1);
}
",
    );
    let (y1, y2, y4, y5, y6) = (0.8, 1.0, 0.3, 1.5, [0.4, -0.2]);
    let data = folder
        .file("data.json", &json!({"y1": y1, "y2": y2, "y3": [2, 1, 3], "y4": y4, "y5": y5, "y6": y6}).to_string());
    // N(x; 0, 1) N(y; x, 1) = N(y; 0, 2) N(x; y/2, ½), which is cut off at a bound
    let beyond = |y: f64, bound: f64| log_normal(y, 2.0) + normal_cdf((0.5 * y - bound) / 0.5_f64.sqrt()).ln();
    let truth = beyond(y1, 0.0)
        + LN_2
        + ((normal_cdf(4.0 - y2) - normal_cdf(-y2)) / 4.0).ln()
        // counts with a flat prior of their shares: all 2/((n + 1)(n + 2)) are as probable
        + (2.0_f64 / (7.0 * 8.0)).ln()
        + log_normal(y4, 3.0)
        // ∫ 2 e^(−2r) r e^(−r y) dr
        + (2.0 / (2.0_f64 + y5).powi(2)).ln()
        + y6.iter().map(|y| beyond(*y, -1.0) - normal_cdf(1.0).ln()).sum::<f64>();
    let result =
        evidence(&model, &data, &["--methods", "bridge,importance,likelihood-weighting", "--tolerance", "0.01"]);
    check_against(&result, truth, 0.05);
    // ½, 4, 1/Γ(3), 1/2!, nothing and Φ(1)²
    let integral = (0.5_f64 * 4.0 / 2.0 / 2.0).ln() + 2.0 * normal_cdf(1.0).ln();
    let found = number(&result["methods"][0]["details"]["log_prior_normaliser"]);
    assert!((found - integral).abs() < 1e-7, "{found} for {integral}");
}

/// A prior of an image of a parameter integrates to 1 over the image: of twice a parameter to ½ over the parameter itself.
#[test]
fn images_of_parameters_have_their_jacobian() {
    let folder = Folder::new("images");
    let data = folder.file("data.json", r#"{"y": 0.7}"#);
    // y is the sum of two standard normal numbers.
    let truth = -0.5 * (2.0 * TAU).ln() - 0.49 / 4.0;
    for (name, program) in [
        ("twice.stan", "data { real y; } parameters { real mu; } model { 2 * mu ~ normal(0, 2); y ~ normal(mu, 1); }"),
        (
            "logit.stan",
            "data { real y; } parameters { real<lower=0, upper=1> p; } transformed parameters { real mu = logit(p); }
             model { mu ~ normal(0, 1); target += -log(p) - log1m(p); y ~ normal(mu, 1); }",
        ),
    ] {
        let model = folder.file(name, program);
        check_against(&evidence(&model, &data, &["--methods", "bridge,importance,likelihood-weighting"]), truth, 0.05);
    }
}

/// Where the prior's integral is not known, methods that need it say so, and the default is without them.
#[test]
fn a_normaliser_that_is_not_known_is_not_guessed() {
    let folder = Folder::new("unknown");
    let model = folder.file(
        "model.stan",
        "data { real y; } parameters { real mu; real<lower=0> s; }
         model { mu ~ normal(0, 1); s ~ normal(mu, 1); y ~ normal(mu, 1 + s); }",
    );
    let data = folder.file("data.json", r#"{"y": 0.7}"#);
    let output = crust(&["evidence", &model, &data, "--methods", "bridge"]);
    assert_eq!(output.status.code(), Some(2), "{}", text(&output));
    assert!(
        text(&output).contains("what the prior integrates to") && text(&output).contains("--methods smc"),
        "{}",
        text(&output)
    );
    let result = evidence(&model, &data, &[]);
    assert_eq!(result["methods"].as_array().map(Vec::len), Some(2));
    // log ∫∫ 2 N(m; 0, 1) N(s; m, 1) N(0.7; m, (1 + s)²) over s > 0, which has half of the prior (dblquad of SciPy)
    check_against(&result, -1.660_881_127_8, 0.1);
}

/// Two clusters and eight points: the evidence is a sum over 2⁸ assignments, in which centres are integrated out.
#[test]
fn assignments_that_are_summed_out_are_enumerated() {
    let folder = Folder::new("clusters");
    let y: Vec<[f64; 2]> = (0..8)
        .map(|i| {
            let (side, i) = (if i % 2 == 0 { 2.0 } else { -2.0 }, f64::from(i));
            [side + (1.7 * i).sin(), side + (2.3 * i).cos()]
        })
        .collect();
    let (tau, sigma): (f64, f64) = (2.0, 0.7);
    let log_cluster = |points: &[f64]| {
        let n = f64::from(u32::try_from(points.len()).expect("few"));
        let (sum, squares): (f64, f64) = (points.iter().sum(), points.iter().map(|y| y * y).sum());
        let precision = tau.powi(-2) + n / sigma.powi(2);
        -0.5 * n * (TAU * sigma * sigma).ln() - 0.5 * squares / sigma.powi(2) - 0.5 * (tau * tau * precision).ln()
            + 0.5 * (sum / sigma.powi(2)).powi(2) / precision
    };
    let log_joint = |assignment: u32| -> f64 {
        let of =
            |k: u32, d: usize| -> Vec<f64> { (0..8).filter(|i| assignment >> i & 1 == k).map(|i| y[i][d]).collect() };
        -8.0 * LN_2 + (0..2).flat_map(|k| (0..2).map(move |d| (k, d))).map(|(k, d)| log_cluster(&of(k, d))).sum::<f64>()
    };
    let logs: Vec<f64> = (0..256).map(log_joint).collect();
    let top = logs.iter().copied().fold(f64::MIN, f64::max);
    let truth = top + logs.iter().map(|l| (l - top).exp()).sum::<f64>().ln();
    let data = json!({"N": 8, "D": 2, "K": 2, "sigma_theta": tau, "sigma_n": sigma, "y": y}).to_string();
    let data = folder.file("data.json", &data);
    let methods = ["--methods", "smc,ais,stepping-stone,nested"];
    check_against(&evidence("examples/clustering/clustering.stan", &data, &methods), truth, 0.35);
    check_against(&evidence("examples/clustering/plain.stan", &data, &["--methods", "ais"]), truth, 0.35);
}

/// Both programs of the example state the same density.
#[test]
fn the_clustering_programs_are_the_same_model() {
    let folder = Folder::new("same");
    let centre = |k: u32, d: u32| (f64::from(3 * k + 7 * d) * 0.9).sin();
    // theta[k][d] and, by columns, theta[d, k]: both lie with the coordinates of a centre next to each other
    let point: Vec<f64> = (0..10).flat_map(|k| (0..25).map(move |d| centre(k, d))).collect();
    let at = folder.file("at.json", &json!([point]).to_string());
    let data = "examples/clustering/clustering.json";
    let of = |program: &str| {
        let output =
            crust(&["density", &format!("examples/clustering/{program}.stan"), data, "--at", &at, "--json", "-"]);
        let result: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|e| panic!("{e}: {}", text(&output)));
        number(&result["points"][0]["log_density"])
    };
    let (a, b) = (of("clustering"), of("plain"));
    assert!((a - b).abs() < 1e-8 * a.abs(), "{a} and {b}");
}

#[test]
fn modes_that_chains_do_not_meet_are_told() {
    let folder = Folder::new("modes");
    let model = folder.file(
        "model.stan",
        "data { real y; } parameters { real mu; } model { mu ~ normal(0, 3); y ~ normal(abs(mu), 0.1); }",
    );
    let data = folder.file("data.json", r#"{"y": 4}"#);
    let result = evidence(&model, &data, &[]);
    let bridge = &result["methods"][0];
    assert!(number(&bridge["details"]["r_hat"]) > 1.3, "{bridge}");
    assert!(bridge["warnings"][0].as_str().is_some_and(|w| w.contains("several modes")), "{bridge}");
    // and a method that looks for modes is asked, too: N(4; 0, 9.01) twice, as |mu| folds the prior
    let truth = log_normal(4.0, 9.01) + LN_2;
    for (method, name) in result["methods"].as_array().expect("methods")[2..].iter().zip(["smc", "ais"]) {
        assert_eq!(method["name"], name);
        assert!((number(&method["log_ml"]) - truth).abs() < 5.0 * number(&method["se"]) + 0.05, "{method} for {truth}");
    }
}

#[test]
fn bad_input_is_explained() {
    let folder = Folder::new("bad");
    let fine = folder.file("fine.stan", VECTORISED);
    let data = folder.file("data.json", &regression(5, 1).0.to_string());
    let none = folder.file("none.stan", "data { real y; } model { y ~ normal(0, 1); }");
    let y = folder.file("y.json", r#"{"y": 1.0}"#);
    let flat = folder.file("flat.stan", "data { real y; } parameters { real mu; } model { y ~ normal(mu, 1); }");
    let far = "data { real y; } parameters { real<lower=0> mu; } model { mu ~ normal(0, 1); -y ~ exponential(mu); }";
    let far = folder.file("far.stan", far);
    let missing = folder.file("missing.json", r#"{"y": "nan"}"#);
    let one = folder
        .file("one.stan", "data { real y; } parameters { real mu; } model { mu ~ normal(0, 1); y ~ normal(mu, 1); }");
    let cases: [(&[&str], &str); 8] = [
        (&[&fine, &data, "--tolerance", "0"], "must be a number above 0"),
        (&[&fine, &data, "--effort", "1e9"], "--effort"),
        (&[&fine, &data, "--methods", "guess"], "likelihood-weighting"),
        (&[&fine, "nowhere.json"], "nowhere.json"),
        (&[&none, &y], "no parameters"),
        (&[&flat, &y], "improper"),
        (&[&one, &missing], "not a number"),
        (&[&far, &y, "--methods", "likelihood-weighting"], "check the priors"),
    ];
    for (arguments, said) in cases {
        let output = crust(&[&["evidence"], arguments].concat());
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {}", text(&output));
        assert!(text(&output).contains(said), "{arguments:?}: {}", text(&output));
        assert!(!text(&output).contains("panicked"), "{}", text(&output));
    }
}

/// A likelihood that integrates to c > 0 for all parameters adds log c, one whose integral depends on them has no p(y),
/// and bounds that stand for data take a share of the prior that the user has to know.
#[test]
fn what_the_number_is_about_is_told() {
    let folder = Folder::new("meaning");
    let warnings = |name: &str, program: &str, data: &str| {
        let (model, data) = (folder.file(&format!("{name}.stan"), program), folder.file(&format!("{name}.json"), data));
        evidence(&model, &data, &[])["warnings"].to_string()
    };
    let y = r#"{"N": 3, "y": [0.3, -0.4, 1.1]}"#;
    let program = |likelihood: &str| {
        format!("data {{ int N; vector[N] y; }} parameters {{ real mu; }} model {{ mu ~ std_normal(); {likelihood} }}")
    };
    // ∫ exp(−(y − μ)²/2) dy = √2π for each of three
    let told = warnings("constant", &program("target += -0.5 * dot_self(y - mu);"), y);
    assert!(told.contains("integrates to e^2.757"), "{told}");
    // √N(y; μ, 1) integrates to (8π)^¼
    let told = warnings("tempered", &program("target += 0.5 * normal_lpdf(y | mu, 1);"), y);
    assert!(told.contains("integrates to e^2.418"), "{told}");
    let told = warnings("none", &program("target += -0.5 * dot_self(y - mu) * exp(mu);"), y);
    assert!(told.contains("no density of the outcomes"), "{told}");
    let told = warnings("right", &program("target += normal_lpdf(y | mu, 1);"), y);
    assert!(!told.contains("integrates"), "{told}");
    // Observations that stand in the program: N(1.3; 0, 2) √2π.
    let written = "parameters { real mu; } model { mu ~ std_normal(); target += -0.5 * square(1.3 - mu); }";
    let told = warnings("written", written, "{}");
    assert!(told.contains("nothing for the likelihood") && told.contains("integrates to e^-0.7691"), "{told}");
    // What is only known to be longer is a part of what was seen.
    let times = "data { int N; vector[N] t; array[N] int over; } parameters { real<lower=0> r; }
        model { r ~ exponential(1); for (n in 1:N) { if (over[n]) target += exponential_lccdf(t[n] | r);
            else t[n] ~ exponential(r); } }";
    let told = warnings("times", times, r#"{"N": 3, "t": [0.3, 0.4, 1.1], "over": [0, 1, 0]}"#);
    assert!(!told.contains("no density"), "{told}");

    // P(z > 0.5 | mu) over mu ~ N(0, 1): z ~ N(0, 2)
    let censored = "data { real y; real<lower=y> U; } parameters { real mu; real<lower=U> z; }
        model { mu ~ std_normal(); y ~ normal(mu, 1); z ~ normal(mu, 1); }";
    let told = warnings("censored", censored, r#"{"y": 0.2, "U": 0.5}"#);
    let share = 1.0 - normal_cdf(0.5 / 2.0_f64.sqrt());
    let (_, found) = told.split_once("add the logarithm of that, ").expect("the share is told");
    let found: f64 = found.split(' ').next().and_then(|x| x.parse().ok()).expect("a number");
    // 4,000 draws: five standard errors
    assert!((found - share.ln()).abs() < 0.1, "{told}, truth {}", share.ln());
}

/// A constant of the likelihood counts wherever it stands, one that normalises the prior does not: y ~ N(0, √2) and, with
/// half of the prior, P(μ > 0 | y) of twice that.
#[test]
fn constants_in_statements_of_their_own() {
    let folder = Folder::new("constants");
    let data = folder.file("data.json", r#"{"n": 1, "y": [0.7]}"#);
    let program = |bounds: &str, statements: &str| {
        format!("data {{ int n; vector[n] y; }} parameters {{ real{bounds} mu; }} model {{ {statements} }}")
    };
    let whole = log_normal(0.7, 2.0);
    let half = whole + (2.0 * normal_cdf(0.35 * 2.0_f64.sqrt())).ln();
    for (name, bounds, statements, truth) in [
        ("n", "", "mu ~ std_normal(); target += -0.5 * n * log(2 * pi()); target += -0.5 * dot_self(y - mu);", whole),
        ("two", "", "mu ~ std_normal(); y ~ normal(mu, 1); target += 5;", whole + 5.0),
        ("loop", "", "mu ~ std_normal(); for (i in 1:n) { y[i] ~ normal(mu, 1); target += -0.25; }", whole - 0.25),
        ("half", "<lower=0>", "mu ~ std_normal(); target += log(2); y ~ normal(mu, 1);", half),
        (
            "cut",
            "<lower=0>",
            "target += normal_lpdf(mu | 0, 1); target += -normal_lccdf(0 | 0, 1); y ~ normal(mu, 1);",
            half,
        ),
        ("hand", "", "target += -0.5 * square(mu) - 0.5 * log(2 * pi()); y ~ normal(mu, 1);", whole),
        ("apart", "", "target += -0.5 * square(mu); target += -0.5 * log(2 * pi()); y ~ normal(mu, 1);", whole),
        ("jacobian", "", "2 * mu ~ normal(0, 2); target += log(2); y ~ normal(mu, 1);", whole),
    ] {
        let model = folder.file(&format!("{name}.stan"), &program(bounds, statements));
        check_against(&evidence(&model, &data, &["--methods", "bridge,smc"]), truth, 0.1);
    }
}

/// A sequence with three of ten successes by hand, and a normal likelihood in two statements: ∫ p³ (1 − p)⁷ dp = 3! 7! / 11!.
#[test]
fn counts_that_stand_alone() {
    let folder = Folder::new("counts");
    let program = "data { int n; int k; } parameters { real<lower=0, upper=1> p; }
        model { target += k * log(p) + (n - k) * log1m(p); }";
    let (model, data) = (folder.file("counts.stan", program), folder.file("counts.json", r#"{"n": 10, "k": 3}"#));
    check_against(&evidence(&model, &data, &["--methods", "bridge,smc"]), -(1320.0_f64.ln()), 0.05);
    let program = |statements: &str| {
        format!(
            "data {{ int n; vector[n] y; }} parameters {{ real m; real<lower=0> s; }}
            model {{ m ~ std_normal(); s ~ gamma(3, 3); {statements} }}"
        )
    };
    let data = folder.file("normal.json", r#"{"n": 3, "y": [0.4, 1.3, -0.2]}"#);
    let stated = folder.file("stated.stan", &program("y ~ normal(m, s);"));
    let apart = folder.file("apart.stan", &program("target += -n * log(s); target += -0.5 * dot_self((y - m) / s);"));
    let [stated, apart] = [stated, apart].map(|model| {
        let found = evidence(&model, &data, &["--methods", "bridge"]);
        number(&found["methods"][0]["log_ml"])
    });
    assert!((apart - stated - 1.5 * TAU.ln()).abs() < 0.05, "{apart} {stated}");
}

/// ∫ N(0; 0, s) e^−s ds is infinite at s = 0, and only the smallest number of the computer ends it.
#[test]
fn an_infinite_integral_is_refused() {
    let folder = Folder::new("infinite");
    let program = "data { real y; } parameters { real<lower=0> s; } model { s ~ exponential(1); y ~ normal(0, s); }";
    let model = folder.file("model.stan", program);
    let refused = crust(&["evidence", &model, &folder.file("zero.json", r#"{"y": 0}"#)]);
    assert_eq!(refused.status.code(), Some(2), "{}", text(&refused));
    assert!(text(&refused).contains("the posterior of `s` goes on to where numbers end"), "{}", text(&refused));
    let fine = evidence(&model, &folder.file("small.json", r#"{"y": 1e-3}"#), &[]);
    assert!(fine["methods"].as_array().is_some_and(|methods| methods.len() >= 3), "{fine}");
}

/// What is only needed for the likelihood may have any size: over a uniform p every count of ten has probability 1/11.
#[test]
fn local_variables_as_long_as_an_outcome() {
    let folder = Folder::new("as-long");
    let program = "data { int m; } parameters { real<lower=0, upper=1> p; }
        model { vector[m + 1] parts; for (k in 0:m) parts[k + 1] = binomial_lpmf(m | 10, p) - log(m + 1.0);
            target += log_sum_exp(parts); }";
    let (model, data) = (folder.file("model.stan", program), folder.file("data.json", r#"{"m": 3}"#));
    check_against(&evidence(&model, &data, &["--methods", "bridge,smc"]), -(11.0_f64.ln()), 0.05);
}

/// A spike and a slab: half of the prior is a needle that no chain stays in. Draws of the prior know better, and are
/// shown where they contradict the bridge: log p(y) = log ½(N(y; 0, 1 + 10⁻⁸) + N(y; 0, 401)).
#[test]
fn a_needle_that_chains_leave_is_told() {
    let folder = Folder::new("needle");
    let model = folder.file(
        "model.stan",
        "data { real y; } parameters { real b; }
         model { target += log_mix(0.5, normal_lpdf(b | 0, 1e-4), normal_lpdf(b | 0, 20)); y ~ normal(b, 1); }",
    );
    let y = 2.6_f64;
    let truth = (0.5 * (log_normal(y, 1.0).exp() + log_normal(y, 401.0).exp())).ln();
    let result = evidence(&model, &folder.file("data.json", &format!("{{\"y\": {y}}}")), &[]);
    let of = |name: &str| {
        let methods = result["methods"].as_array().expect("methods");
        methods.iter().find(|m| m["name"] == name).map(|m| (number(&m["log_ml"]), number(&m["se"])))
    };
    let (bridge, _) = of("bridge").expect("a bridge");
    if (bridge - truth).abs() > 0.15 {
        let (seen, se) = of("likelihood-weighting").expect("what the prior shows");
        assert!((seen - truth).abs() < 5.0 * se, "{seen} ± {se}, truth {truth}");
        assert!(result["warnings"].to_string().contains("missed a part of the posterior"), "{}", result["warnings"]);
    }
}

/// A likelihood by hand with its normaliser beside it, and a mixture as the prior of a bounded parameter.
#[test]
fn other_spellings_are_read() {
    let folder = Folder::new("spellings");
    let y = [0.3, -1.2, 2.0, 0.7, -0.4, 1.1, -2.2, 0.1];
    let squares: f64 = y.iter().map(|y| y * y).sum();
    // ∫ Gamma(τ | 2, 3) τ⁴ exp(−τ Σy²/2) dτ, without the (2π)⁻⁴ that the program leaves out
    let by_hand = 2.0 * 3.0_f64.ln() + 120.0_f64.ln() - 6.0 * (3.0 + 0.5 * squares).ln();
    // beta-binomial probabilities of 1 of 3, half of each
    let mixture = (0.5 * (15_300.0 + 900.0) / 148_824.0_f64).ln();
    let cases = [
        (
            "data { int N; vector[N] y; } parameters { real<lower=0> tau; }
             model { tau ~ gamma(2, 3); target += 0.5 * N * log(tau) - 0.5 * tau * dot_self(y); }",
            json!({"N": 8, "y": y}),
            by_hand,
        ),
        (
            "data { int N; vector[N] y; } parameters { real<lower=0> tau; }
             model { tau ~ gamma(2, 3); for (n in 1:N) target += 0.5 * log(tau) - 0.5 * tau * square(y[n]); }",
            json!({"N": 8, "y": y}),
            by_hand,
        ),
        (
            "data { int N; int y; } parameters { real<lower=0, upper=1> theta; real<lower=0, upper=1> w; }
             model { target += log_mix(w, beta_lpdf(theta | 50, 2), beta_lpdf(theta | 2, 50)); y ~ binomial(N, theta); }",
            json!({"N": 3, "y": 1}),
            mixture,
        ),
    ];
    for (program, data, truth) in cases {
        let model = folder.file("model.stan", program);
        let data = folder.file("data.json", &data.to_string());
        check_against(&evidence(&model, &data, &["--seed", "3"]), truth, 0.3);
    }
}

/// Half of all draws of Gamma(0.001, 0.001) are below what a number can hold. What begins with the posterior needs none.
#[test]
fn priors_wider_than_numbers_leave_what_begins_with_the_posterior() {
    let folder = Folder::new("edges");
    let model = folder.file(
        "model.stan",
        "data { array[3] int y; } parameters { vector<lower=0>[3] theta; }
         model { theta ~ gamma(0.001, 0.001); y ~ poisson(theta); }",
    );
    let data = folder.file("data.json", r#"{"y": [3, 1, 2]}"#);
    // negative binomial: Γ(a + y)/(Γ(a) y!) (b/(b + 1))ᵃ (1/(b + 1))ʸ
    let a = 0.001_f64;
    let rising = |y: u32| (0..y).map(|k| ((a + f64::from(k)) / f64::from(k + 1)).ln()).sum::<f64>();
    let log_p = |y: u32| rising(y) + a * (a / (a + 1.0)).ln() - f64::from(y) * a.ln_1p();
    let truth = log_p(3) + log_p(1) + log_p(2);
    let result = evidence(&model, &data, &["--seed", "5"]);
    let methods = result["methods"].as_array().expect("methods");
    let names: Vec<&str> = methods.iter().filter_map(|m| m["name"].as_str()).collect();
    assert_eq!(names, ["bridge", "importance"]);
    check_against(&result, truth, 0.1);
    assert!(result["warnings"].to_string().contains("round to the edges"), "{}", result["warnings"]);
    let smc = crust(&["evidence", &model, &data, "--methods", "smc"]);
    assert_eq!(smc.status.code(), Some(2));
    assert!(text(&smc).contains("rounds to the edge"), "{}", text(&smc));
}

/// 95 % of the posterior are in a spike that all chains lose, and five other parameters are so well known that draws of the
/// prior are worth nothing: chains from other starts say that bridge sampling has missed a part.
#[test]
fn a_spike_that_nothing_else_sees_is_told() {
    let folder = Folder::new("spike-group");
    let model = folder.file(
        "model.stan",
        "data { vector[10] y; vector[5] z; } parameters { vector[10] b; vector[5] a; }
         model {
           target += log_mix(0.5, normal_lpdf(b | 0, 1), normal_lpdf(b | 0, 0.01));
           a ~ normal(0, 100);
           y ~ normal(b, 1);
           z ~ normal(a, 0.01);
         }",
    );
    let y = [0.5, -0.4, 0.3, 0.6, -0.5, 0.1, -0.2, 0.4, -0.6, 0.2];
    let z = [31.0, -150.0, 77.0, 4.0, -60.0];
    let data = folder.file("data.json", &json!({"y": y, "z": z}).to_string());
    let of_group = |variance: f64| y.iter().map(|y| log_normal(*y, variance)).sum::<f64>() + 0.5_f64.ln();
    let (slab, spike) = (of_group(2.0), of_group(1.0001));
    let truth = slab.max(spike)
        + (-(slab - spike).abs()).exp().ln_1p()
        + z.iter().map(|z| log_normal(*z, 1e4 + 1e-4)).sum::<f64>();
    for seed in ["1", "2"] {
        let result = evidence(&model, &data, &["--methods", "bridge", "--seed", seed]);
        let found = number(&result["methods"][0]["log_ml"]);
        let told = result["warnings"].to_string().contains("other starts");
        assert!(told || (found - truth).abs() < 0.1, "seed {seed}: {found} for {truth}: {result}");
    }
}
