//! `crust bdmc`, `crust bread` and `crust compare` as a user runs them.

mod common;

use common::{Folder, crust, number, numbers, text};
use serde_json::{Value, json};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

const REGRESSION: &str = "
data { int N; int K; matrix[N, K] x; vector[N] y; }
parameters { vector[K] beta; }
model { beta ~ normal(0, 1); y ~ normal(x * beta, 1); }
";

/// Predictors that are no random numbers, so that the test is the same everywhere.
fn design(n: u32, k: u32) -> Vec<Vec<f64>> {
    let row = |i: u32| (0..k).map(|j| (f64::from((i + 1) * (j + 2)) * 0.7).sin()).collect();
    (0..n).map(row).collect()
}

/// log N(y; 0, X Xᵀ + I) = −½ (n log 2π + log det A + yᵀy − bᵀ A⁻¹ b) with A = I + `XᵀX` and b = Xᵀy: conjugacy.
fn log_marginal_likelihood(x: &[Vec<f64>], y: &[f64]) -> f64 {
    let k = x[0].len();
    let mut a: Vec<Vec<f64>> = (0..k)
        .map(|i| {
            (0..k).map(|j| f64::from(u8::from(i == j)) + x.iter().map(|row| row[i] * row[j]).sum::<f64>()).collect()
        })
        .collect();
    let mut b: Vec<f64> = (0..k).map(|i| x.iter().zip(y).map(|(row, y)| row[i] * y).sum()).collect();
    // Gaussian elimination: the determinant is the product of pivots, and bᵀA⁻¹b the sum of squares over them
    let (mut log_det, mut form) = (0.0, 0.0);
    for p in 0..k {
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
    let n = f64::from(u32::try_from(y.len()).expect("few"));
    -0.5 * (n * std::f64::consts::TAU.ln() + log_det + yy - form)
}

#[test]
fn the_analytic_marginal_likelihood_is_in_the_sandwich() {
    let folder = Folder::new("conjugate");
    let x = design(200, 10);
    let model = folder.file("regression.stan", REGRESSION);
    let data = folder.file("data.json", &json!({"N": 200, "K": 10, "x": x}).to_string());
    let out = folder.path("out");
    let options = ["--steps", "10,1000", "--tolerance", "0", "--rank-checks", "5", "--out", &out, "-q"];
    let output = crust(&[&["bdmc", &model, &data, "--path", "prior"], &options[..]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    let y = numbers(&folder.json("out/simulated-1.json")["y"]);
    let truth = log_marginal_likelihood(&x, &y);
    let result = folder.json("out/result.json");
    let rungs = result["rungs"].as_array().expect("rungs");
    assert_eq!(rungs.len(), 2);
    for rung in rungs {
        let of = |name: &str| number(&rung[name]);
        // means over 100 chains are noisy: their standard error is 0.05 nats at T = 1000, and much more at T = 10
        let noise = if rung["T"] == json!(10) { 1.0 } else { 0.2 };
        assert!(of("log_ml_lower") < truth + noise, "lower {} truth {truth}", of("log_ml_lower"));
        assert!(of("log_ml_upper") > truth - noise, "upper {} truth {truth}", of("log_ml_upper"));
        // both one-sided bounds, with the truth in place of the other bound, are divergences of paths: not negative
        let (w, r) = (numbers(&rung["forward"]), numbers(&rung["reverse"]));
        let mean = |v: &[f64]| v.iter().sum::<f64>() / f64::from(u32::try_from(v.len()).expect("few"));
        // Means of 100 chains, and 3 of their standard errors.
        let error = |v: &[f64]| (v.iter().map(|x| (x - mean(v)).powi(2)).sum::<f64>() / 9900.0).sqrt();
        assert!(mean(&w) < truth + 3.0 * error(&w) && truth - 3.0 * error(&r) < mean(&r));
        let exact = (truth - mean(&w)) + (mean(&r) - truth);
        assert!((of("jeffreys_bound") - exact).abs() < 1e-9);
    }
    let last = &rungs[1];
    // With 100 chains the standard error is 0.04 nats. Four and a half of them: a false alarm in 150,000 seeds.
    let (error, se) = (number(&last["log_ml_bar"]) - truth, number(&last["log_ml_bar_se"]));
    assert!(error.abs() < 4.5 * se && se < 0.06, "{error} ± {se}");
    assert!(number(&last["jeffreys_bound"]) < number(&rungs[0]["jeffreys_bound"]));
    assert_eq!(result["violation"], json!(false));
    let parameters = folder.json("out/simulated-1.parameters.json");
    assert_eq!(parameters["beta"].as_array().map(Vec::len), Some(10));
    let rows = folder.read("out/weights.csv").lines().count();
    assert_eq!(rows, 1 + 2 * 2 * 100);
}

/// The Bennett estimate of a conjugate regression is within 0.02 nats of the truth at T = 1000: chains are added until
/// that is more than three standard errors (a false alarm in 1,000 seeds).
#[test]
fn the_bennett_estimate_is_as_good_as_wished() {
    let folder = Folder::new("bennett");
    let x = design(200, 10);
    let model = folder.file("regression.stan", REGRESSION);
    let data = folder.file("data.json", &json!({"N": 200, "K": 10, "x": x}).to_string());
    let out = folder.path("out");
    let options = ["--steps", "1000", "--bennett-error", "0.006", "--rank-checks", "0", "--out", &out, "-q"];
    let output = crust(&[&["bdmc", &model, &data], &options[..]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    let truth = log_marginal_likelihood(&x, &numbers(&folder.json("out/simulated-1.json")["y"]));
    let rung = &folder.json("out/result.json")["rungs"][0];
    assert!(number(&rung["log_ml_bar_se"]) <= 0.006);
    assert!((number(&rung["log_ml_bar"]) - truth).abs() < 0.02, "{} {truth}", rung["log_ml_bar"]);
}

/// Adding observations one at a time ends at the same marginal likelihood, in fewer or in more steps than there are
/// observations, and a run that goes on in the middle gives the same numbers. Bennett's estimate within five standard
/// errors: false alarms below 10⁻⁶.
#[test]
fn observations_can_be_added_one_at_a_time() {
    let folder = Folder::new("one-at-a-time");
    let x = design(40, 3);
    let model = folder.file("regression.stan", REGRESSION);
    let data = folder.file("data.json", &json!({"N": 40, "K": 3, "x": x}).to_string());
    let out = folder.path("out");
    let options =
        ["--steps", "30,200", "--chains", "40", "--tolerance", "0", "--rank-checks", "2", "--out", &out, "-q"];
    let run = |path: &str, more: &[&str]| {
        let output = crust(&[&["bdmc", &model, &data, "--path", path], &options[..], more].concat());
        assert_eq!(output.status.code(), Some(0), "{}", text(&output));
        folder.read("out/result.json")
    };
    let result = run("data:N", &["--threads", "2"]);
    let truth = log_marginal_likelihood(&x, &numbers(&folder.json("out/simulated-1.json")["y"]));
    for rung in folder.json("out/result.json")["rungs"].as_array().expect("rungs") {
        let (bar, se) = (number(&rung["log_ml_bar"]), number(&rung["log_ml_bar_se"]));
        assert!((bar - truth).abs() < 5.0 * se && se < 1.0, "{bar} ± {se}, not {truth}");
    }
    let journal = folder.read("out/journal.jsonl");
    let some: Vec<&str> = journal.lines().take(5).collect();
    folder.file("out/journal.jsonl", &(some.join("\n") + "\n"));
    assert_eq!(run("data:N", &["--threads", "1", "--lanes", "7"]), result);
    for (path, says) in [
        ("data:M", "has no `M`"),
        ("data:x", "not an integer"),
        ("data:K", "unconstrained parameters"),
        ("fast", "`reference`"),
    ] {
        let output = crust(&["bdmc", &model, &data, "--path", path, "-q"]);
        assert_eq!(output.status.code(), Some(2), "{}", text(&output));
        assert!(text(&output).contains(says), "{}", text(&output));
    }
}

const LOGISTIC: &str = "
data { int N; int K; matrix[N, K] x; array[N] int<lower=0, upper=1> y; }
parameters { real<lower=0> scale; real alpha; vector[K] beta; }
model {
  scale ~ exponential(1);
  alpha ~ normal(0, 2);
  beta ~ normal(0, scale);
  for (n in 1:N) y[n] ~ bernoulli_logit(alpha + x[n] * beta);
}
";

struct Problem {
    folder: Folder,
    model: String,
    data: String,
}

fn logistic(name: &str) -> Problem {
    let folder = Folder::new(name);
    let x = design(10, 2);
    let y: Vec<u8> = x.iter().map(|row| u8::from(row[0] + 0.5 * row[1] > 0.1)).collect();
    let model = folder.file("logistic.stan", LOGISTIC);
    let data = folder.file("data.json", &json!({"N": 10, "K": 2, "x": x, "y": y}).to_string());
    Problem { folder, model, data }
}

const SMALL: [&str; 10] =
    ["--chains", "12", "--steps", "5,20,60", "--tolerance", "0", "--start-steps", "20", "--replicates", "3"];

impl Problem {
    fn arguments<'a>(&'a self, out: &'a str, more: &[&'a str]) -> Vec<&'a str> {
        let mut all = vec!["bread", &self.model, &self.data, "--out", out, "-q"];
        all.extend(SMALL);
        all.extend(more);
        all
    }

    /// Runs to the end and returns `result.json`.
    fn run(&self, out: &str, more: &[&str]) -> String {
        let path = self.folder.path(out);
        let output = crust(&self.arguments(&path, more));
        assert_eq!(output.status.code(), Some(0), "{}", text(&output));
        self.folder.read(&format!("{out}/result.json"))
    }

    fn start(&self, out: &str) -> Child {
        let path = self.folder.path(out);
        let mut command = Command::new(env!("CARGO_BIN_EXE_crust"));
        command.args(self.arguments(&path, &[])).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts")
    }

    /// Waits until the journal of a run has some units.
    fn wait_for_units(&self, child: &mut Child, out: &str, units: usize) {
        let path = std::path::PathBuf::from(self.folder.path(out)).join("journal.jsonl");
        while std::fs::read_to_string(&path).map_or(0, |text| text.lines().count()) <= units {
            assert!(child.try_wait().expect("a state").is_none(), "it ended before {units} units were done");
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

#[test]
fn results_are_the_same_for_all_threads_and_lanes() {
    let problem = logistic("same");
    let reference = problem.run("reference", &["--threads", "1", "--lanes", "64"]);
    for (threads, lanes) in [("2", "64"), ("1", "7"), ("2", "1")] {
        let other = problem.run(&format!("out-{threads}-{lanes}"), &["--threads", threads, "--lanes", lanes]);
        assert!(other == reference, "{threads} threads, {lanes} lanes");
    }
    let result: Value = serde_json::from_str(&reference).expect("JSON");
    assert_eq!(result["command"], json!("bread"));
    assert_eq!(result["reading"]["hyperparameters"], json!(["scale"]));
    assert_eq!(result["fit"]["hyperparameters"][0]["name"], json!("scale"));
    assert_eq!(result["real"]["rungs"].as_array().map(Vec::len), Some(3));
    assert_eq!(result["calibration"]["replicates"].as_array().map(Vec::len), Some(3));
    assert_eq!(result["start_check"]["fewer_steps"], json!(2));
    assert!(result["verdict"]["sentence"].as_str().is_some_and(|s| s.contains("nats")));
    assert!(problem.folder.json("reference/timing.json")["parts"]["fit"].is_number());
}

#[test]
fn a_killed_run_goes_on_and_ends_the_same() {
    let problem = logistic("killed");
    let reference = problem.run("whole", &[]);
    for units in [2, 6] {
        let mut child = problem.start("killed");
        problem.wait_for_units(&mut child, "killed", units);
        child.kill().expect("killed");
        let _ = child.wait();
    }
    assert!(problem.run("killed", &["--threads", "1"]) == reference);
    // all done: the same again, and another run is refused
    assert!(problem.run("killed", &[]) == reference);
    let path = problem.folder.path("killed");
    let output = crust(&problem.arguments(&path, &["--seed", "2"]));
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output).contains("belongs to another run"), "{}", text(&output));
}

#[cfg(unix)]
#[test]
fn ctrl_c_ends_at_once_with_a_partial_result() {
    let problem = logistic("interrupted");
    let mut child = problem.start("out");
    problem.wait_for_units(&mut child, "out", 4);
    Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill runs");
    let status = child.wait().expect("it ends");
    assert_eq!(status.code(), Some(130));
    let result = problem.folder.json("out/result.json");
    assert_eq!((&result["partial"], &result["verdict"]["level"]), (&json!(true), &json!("partial")));
    let whole: Value = serde_json::from_str(&problem.run("out", &[])).expect("JSON");
    assert_eq!(whole["partial"], json!(false));
}

#[test]
fn a_simulator_with_a_wrong_scale_is_caught() {
    let folder = Folder::new("planted");
    let model = folder.file("regression.stan", REGRESSION);
    let x = design(30, 3);
    let data = folder.file("data.json", &json!({"N": 30, "K": 3, "x": x}).to_string());
    let simulator = |scale: &str| {
        let head =
            "data { int N; int K; matrix[N, K] x; } parameters { vector[K] beta; } model { beta ~ normal(0, 1); }";
        format!("{head} generated quantities {{ vector[N] y = to_vector(normal_rng(x * beta, {scale})); }}")
    };
    let good = folder.file("good.stan", &simulator("1"));
    let bad = folder.file("bad.stan", &simulator("2"));
    let run = |simulator: &str| crust(&["bdmc", &model, &data, "--steps", "5,20", "--simulator", simulator, "--json"]);
    let output = run(&good);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    // before anything is annealed
    let output = run(&bad);
    assert_eq!(output.status.code(), Some(2), "{}", text(&output));
    assert!(text(&output).contains("wrong-simulator"), "{}", text(&output));
}

#[test]
fn representations_kernels_and_gates() {
    let folder = Folder::new("compare");
    let head = "data { int N; vector[N] y; }";
    let centred = format!(
        "{head} parameters {{ real mu; vector[N] theta; }} model {{ mu ~ normal(0, 1); theta ~ normal(mu, 1); y ~ normal(theta, 1); }}"
    );
    let collapsed = format!("{head} parameters {{ real mu; }} model {{ mu ~ normal(0, 1); y ~ normal(mu, sqrt(2)); }}");
    let centred = folder.file("centred.stan", &centred);
    let collapsed = folder.file("collapsed.stan", &collapsed);
    let data = folder.file("data.json", "{\"N\": 10}");
    let out = folder.path("out");
    let steps = ["--steps", "5,20", "--chains", "40", "--data", &data];
    let output = crust(&[&["compare", &collapsed, &centred, "--out", &out, "-q"], &steps[..]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    let result = folder.json("out/result.json");
    assert_eq!(result["shared"], json!(["mu"]));
    let bound = |entry: usize| number(&result["entries"][entry]["rungs"][1]["jeffreys_bound"]);
    assert!(bound(0) < bound(1), "collapsed {} centred {}", bound(0), bound(1));
    // the same model: both sandwiches hold the same number
    let of = |entry: usize, name: &str| number(&result["entries"][entry]["rungs"][1][name]);
    assert!(of(0, "log_ml_lower") < of(1, "log_ml_upper") + 1.0 && of(1, "log_ml_lower") < of(0, "log_ml_upper") + 1.0);
    let arguments =
        [&["compare", &collapsed, "--kernel", "hmc,nuts,rwm", "--schedule", "linear", "--json"], &steps[..]];
    let output = crust(&arguments.concat());
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    let result: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let names: Vec<&str> =
        result["entries"].as_array().expect("entries").iter().filter_map(|e| e["name"].as_str()).collect();
    assert_eq!(names, ["hmc", "nuts", "rwm"]);
    // a gate that cannot be met
    let gate = ["--path", "prior", "--steps", "2", "--max-divergence", "0.0001", "-q"];
    let output = crust(&[&["bdmc", &collapsed, &data], &gate[..]].concat());
    assert_eq!(output.status.code(), Some(1), "{}", text(&output));
    let output = crust(&[&["compare", &collapsed], &steps[..]].concat());
    assert!(output.status.code() == Some(2) && text(&output).contains("only one way"));
}

/// A regression whose priors are flat, with data that are no random numbers.
fn flat(name: &str) -> Problem {
    let folder = Folder::new(name);
    let program = "data { int N; vector[N] x; vector[N] y; } parameters { real a; real b; real<lower=0> sigma; }
        model { y ~ normal(a + b * x, sigma); }";
    let x: Vec<f64> = (0..30).map(|i| (f64::from(i) * 0.7).sin()).collect();
    let noise = |i: u32| (f64::from(i * i) * 1.3).sin() + (f64::from(i) * 2.9).cos();
    let y: Vec<f64> = x.iter().zip(0..).map(|(x, i)| 1.0 + 2.0 * x + noise(i)).collect();
    let model = folder.file("flat.stan", program);
    let data = folder.file("data.json", &json!({"N": 30, "x": x, "y": y}).to_string());
    Problem { folder, model, data }
}

/// Flat priors have no marginal likelihood, and data are simulated from draws of the fit. `--draws` takes those of
/// another run for the fit.
#[test]
fn flat_priors_end_with_a_verdict_and_without_a_marginal_likelihood() {
    let Problem { folder, model, data } = flat("flat");
    let options = ["--json", "-q", "--chains", "40", "--replicates", "19", "--steps", "10,30,100"];
    let run = |more: &[&str]| -> Value {
        let output = crust(&[&["bread", &model, &data], &options[..], more].concat());
        assert_eq!(output.status.code(), Some(0), "{}", text(&output));
        serde_json::from_slice(&output.stdout).expect("JSON")
    };
    let result = run(&[]);
    assert_eq!(result["simulation"]["kind"], json!("conditional"));
    assert!(result["simulation"]["why"].as_str().is_some_and(|why| why.contains("cannot be drawn")));
    assert_eq!(result["verdict"]["level"], json!("good"), "{}", result["verdict"]["sentence"]);
    for rung in result["simulated"]["rungs"].as_array().expect("rungs") {
        assert_eq!(
            (&rung["log_ml_lower"], &rung["log_ml_upper"], &rung["log_ml_bar"]),
            (&Value::Null, &Value::Null, &Value::Null)
        );
    }
    assert_eq!(result["real"]["rungs"][0]["log_ml_lower"], Value::Null);
    assert_eq!(result["real"]["heuristic"]["log_ml_bar"], Value::Null);
    assert!(number(&result["real"]["heuristic"]["jeffreys_upper"]) < 1.0);
    assert_eq!(result["confirmation"]["datasets"], json!(10));
    assert_eq!((&result["start_check"], &result["fit"]["given"]), (&Value::Null, &json!(false)));
    assert_eq!(result["predictive"]["replicates"], json!(19));
    let draws = folder.path("draws");
    let output = crust(&["sample", &model, &data, "--out", &draws, "--draws", "300", "-q"]);
    assert!(output.status.success(), "{}", text(&output));
    let chains: Vec<String> = (1..=4).map(|k| format!("{draws}/chain-{k}.csv")).collect();
    let given = run(&["--draws", &chains.join(",")]);
    assert_eq!((&given["fit"]["given"], &given["fit"]["draws"]), (&json!(true), &json!(300)));
    assert_eq!(given["verdict"]["level"], json!("good"), "{}", given["verdict"]["sentence"]);
    // one of four chains elsewhere
    let csv = std::fs::read_to_string(&chains[0]).expect("draws");
    let header = csv.lines().find(|line| line.starts_with("lp__")).expect("a header");
    let column = header.split(',').position(|name| name == "a").expect("a");
    let moved = csv.lines().map(|line| {
        let mut cells: Vec<String> = line.split(',').map(str::to_owned).collect();
        if let Some(cell) = cells.get_mut(column)
            && let Ok(value) = cell.parse::<f64>()
        {
            *cell = (value + 3.0).to_string();
        }
        cells.join(",")
    });
    let moved = folder.file("moved.csv", &(moved.collect::<Vec<_>>().join("\n") + "\n"));
    let bad = run(&["--draws", &format!("{moved},{},{},{}", chains[1], chains[2], chains[3])]);
    assert_eq!(bad["verdict"]["level"], json!("poor"));
    assert!(bad["verdict"]["sentence"].as_str().is_some_and(|s| s.contains("your draws cannot be trusted")));
}

/// Chains of the fit may all be in one mode, or in both; neither is good. In the second program all of Stan's starts lead
/// to the mode at −40, and there is no prior to start from: the one at 44 is found by starts on the scale of the fit.
#[test]
fn two_modes_are_never_good() {
    let folder = Folder::new("modes");
    let program =
        "data { int N; vector[N] y; } parameters { real mu; } model { mu ~ normal(0, 20); y ~ cauchy(mu, 1); }";
    let cauchy = folder.file("cauchy.stan", program);
    let program = "data { int N; vector[N] y; } parameters { real m; } model { y ~ normal(abs(m - 2.2), 0.1); }";
    let mirror = folder.file("mirror.stan", program);
    let noise = |i: u32| f64::from(i * 7 % 11) * 0.2 - 1.0;
    let y: Vec<f64> = (0..20).map(|i| if i < 11 { -15.0 } else { 15.0 } + noise(i)).collect();
    let apart = folder.file("apart.json", &json!({"N": 20, "y": y}).to_string());
    let y: Vec<f64> = (0..20).map(|i| 42.0 + 0.1 * noise(i)).collect();
    let far = folder.file("far.json", &json!({"N": 20, "y": y}).to_string());
    for (model, data, seeds) in [(cauchy, apart, 6), (mirror, far, 3)] {
        for seed in 1..=seeds {
            let seed = seed.to_string();
            let output = crust(&["bread", &model, &data, "--json", "-q", "--steps", "10,30", "--seed", &seed]);
            assert_eq!(output.status.code(), Some(0), "{}", text(&output));
            let result: Value = serde_json::from_slice(&output.stdout).expect("JSON");
            assert_ne!(result["verdict"]["level"], json!("good"), "seed {seed}: {}", result["verdict"]["sentence"]);
        }
    }
}

/// Counts with more zeros than the model has, and noise with heavier tails.
#[test]
fn misfit_is_found_and_named() {
    let folder = Folder::new("misfit");
    let program = "data { int N; array[N] int y; } parameters { real<lower=0> rate; } model { rate ~ gamma(2, 0.5); y ~ poisson(rate); }";
    let model = folder.file("counts.stan", program);
    let y: Vec<u32> = (0..60).map(|i| if i % 3 == 0 { 0 } else { 3 + i * 7 % 5 }).collect();
    let data = folder.file("data.json", &json!({"N": 60, "y": y}).to_string());
    let output = crust(&["bread", &model, &data, "--json", "-q", "--steps", "10"]);
    let result: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(result["verdict"]["level"], json!("mismatch"), "{}", result["verdict"]["sentence"]);
    assert_eq!(result["predictive"]["alarm"], json!("y: share of zeros"));
    assert!(number(&result["predictive"]["p_value"]) <= 0.05);
}

/// A density without data, and a program whose generated quantities the engine lacks something for: neither keeps the
/// posterior from being judged.
#[test]
fn neither_data_nor_generated_quantities_are_needed() {
    let folder = Folder::new("alone");
    let plain = folder.file("plain.stan", "parameters { vector[2] x; } model { x ~ normal(0, [1, 2]'); }");
    let odd = "functions { real unused(real x) { complex z = x; return get_real(z); } }
        parameters { vector[2] x; } model { x ~ normal(0, 1); }
        generated quantities { complex z = to_complex(x[1], x[2]); real r = unused(x[1]); }";
    let odd = folder.file("odd.stan", odd);
    for (model, warned) in [(&plain, false), (&odd, true)] {
        let output = crust(&["bread", model, "--json", "-", "--budget", "20s"]);
        assert_eq!(output.status.code(), Some(0), "{}", text(&output));
        let result: Value = serde_json::from_slice(&output.stdout).expect("JSON alone");
        assert_eq!(result["simulation"]["kind"], "nothing");
        assert_eq!(result["verdict"]["level"], "good", "{}", result["verdict"]);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(said.contains("generated quantities are left out"), warned, "{said}");
    }
}
