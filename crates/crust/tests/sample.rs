//! `crust sample` as a user runs it.
//!
//! Statistical tests compare with exact posteriors: a deviation beyond 4 Monte Carlo standard errors has a probability
//! of 6·10⁻⁵, and seeds are fixed.

mod common;

use common::{Folder, crust, json, row, stderr};
use crust_diagnose::draws::{Draws, read_files};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Runs with exit code 2, and returns what it says.
fn complaint(arguments: &[&str]) -> String {
    let output = crust(arguments);
    assert_eq!(output.status.code(), Some(2), "{}{}", stdout(&output), stderr(&output));
    assert!(stdout(&output).is_empty());
    stderr(&output)
}

#[track_caller]
fn assert_posterior(report: &Value, name: &str, mean: f64, sd: f64) {
    let row = row(report, name);
    let number = |key: &str| row[key].as_f64().expect(key);
    let in_errors = |found: &str, exact: f64, error: &str| (number(found) - exact) / number(error);
    let (z_mean, z_sd) = (in_errors("mean", mean, "mcse_mean"), in_errors("sd", sd, "mcse_sd"));
    assert!(z_mean.abs() < 4.0 && z_sd.abs() < 4.0, "{name}: {z_mean} and {z_sd} standard errors off: {row}");
    // HMC of length 2π comes back to where it started on a normal posterior, so that its effective sample size is low
    assert!(number("ess_bulk") > 200.0 && number("r_hat") < 1.01, "{row}");
}

fn chains(folder: &str, count: usize) -> Draws {
    let paths: Vec<PathBuf> = (1..=count).map(|c| Path::new(folder).join(format!("chain-{c}.csv"))).collect();
    read_files(&paths).expect("readable files").0
}

/// What a file says apart from its name, the number of chains and the times.
fn content(folder: &str, chain: usize) -> String {
    let text = std::fs::read_to_string(format!("{folder}/chain-{chain}.csv")).expect("a chain's file");
    let changes = |line: &&str| line.contains("seconds (") || line.contains("file = ") || line.contains("num_chains");
    text.lines().filter(|line| !changes(line)).collect::<Vec<_>>().join("\n")
}

const NORMAL: &str = "data { int N; vector[N] y; } parameters { real mu; }
model { mu ~ normal(0, 2); y ~ normal(mu, 1); }
generated quantities { real ahead = normal_rng(mu, 1); }";
const NORMAL_DATA: &str = r#"{"N": 4, "y": [1.0, 2.5, 0.5, 2.0]}"#;

#[test]
fn the_normal_model_has_its_known_posterior() {
    let folder = Folder::new("sample-normal");
    let (model, data) = (folder.file("m.stan", NORMAL), folder.file("d.json", NORMAL_DATA));
    let report = json(&crust(&["sample", &model, &data, "--seed", "3", "--json", "-"]));
    // precision 1/4 + 4, and the sum of the data is 6
    let (mean, variance) = (6.0 / 4.25, 1.0 / 4.25_f64);
    assert_posterior(&report, "mu", mean, variance.sqrt());
    assert_posterior(&report, "ahead", mean, (variance + 1.0).sqrt());
    assert_eq!((&report["chains"], &report["draws"], &report["divergences"]), (&4.into(), &1000.into(), &0.into()));
    assert!(report["warnings"].as_array().is_some_and(Vec::is_empty), "{}", report["warnings"]);
    assert!(report["seconds"]["warmup"].as_f64() > Some(0.0) && report["seconds"]["sampling"].as_f64() > Some(0.0));
}

const BINOMIAL: &str = "data { int n; int y; } parameters { real<lower=0, upper=1> theta; }
transformed parameters { real odds = theta / (1 - theta); } model { theta ~ beta(2, 3); y ~ binomial(n, theta); }";

#[test]
fn every_method_and_metric_finds_the_beta_posterior() {
    let folder = Folder::new("sample-beta");
    let (model, data) = (folder.file("m.stan", BINOMIAL), folder.file("d.json", r#"{"n": 10, "y": 7}"#));
    let (a, b) = (9.0_f64, 6.0);
    let (mean, sd) = (a / (a + b), (a * b / ((a + b) * (a + b) * (a + b + 1.0))).sqrt());
    // with few draws it is chance whether chains of HMC, which come back to where they started, agree
    let (few, many) = ("1000", "20000");
    let ways = [("--method", "nuts", few), ("--method", "hmc", many), ("--metric", "dense", few)];
    for (option, value, draws) in ways.into_iter().chain([("--metric", "unit", few)]) {
        let arguments = ["sample", &model, &data, option, value, "--draws", draws, "--seed", "5", "--json", "-"];
        let report = json(&crust(&arguments));
        assert_posterior(&report, "theta", mean, sd);
    }
}

#[test]
fn lp_is_the_density_without_constants_and_files_read_back() {
    let folder = Folder::new("sample-files");
    let (model, data) = (folder.file("m.stan", BINOMIAL), folder.file("d.json", r#"{"n": 10, "y": 7}"#));
    let out = folder.path("out");
    let output = crust(&["sample", &model, &data, "--chains", "2", "--draws", "50", "--warmup", "200", "--out", &out]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let draws = chains(&out, 2);
    let columns = ["lp__", "accept_stat__", "stepsize__", "treedepth__", "n_leapfrog__", "divergent__", "energy__"];
    assert_eq!(draws.sampler_names, columns);
    assert_eq!(draws.names, ["theta", "odds"]);
    assert_eq!(draws.lengths(), (50, 50));
    let (lp, theta, odds) = (draws.sampler("lp__"), draws.named("theta"), draws.named("odds"));
    let flat = |columns: Option<Vec<&[f64]>>| columns.expect("a column").concat();
    for ((lp, theta), odds) in flat(lp).iter().zip(flat(theta)).zip(flat(odds)) {
        // powers 8 and 5 of the density, and θ(1 − θ) of the Jacobian
        let exact = 9.0 * theta.ln() + 6.0 * (1.0 - theta).ln();
        assert!((lp - exact).abs() < 1e-10 * exact.abs(), "{lp} but {exact}");
        assert!((odds - theta / (1.0 - theta)).abs() < 1e-12 * odds);
    }
    let text = content(&out, 1);
    assert!(text.contains("# Adaptation terminated\n# Step size = ") && text.contains("num_warmup = 200"), "{text}");
    assert!(Path::new(&out).join("draws.zarr/.zmetadata").is_file());
    // a second run writes over the first, but fewer chains would leave files behind
    assert_eq!(crust(&["sample", &model, &data, "--chains", "2", "--out", &out, "-q"]).status.code(), Some(0));
    let text = complaint(&["sample", &model, &data, "--chains", "1", "--out", &out]);
    assert!(text.contains("chain-2.csv from an earlier run"), "{text}");
}

/// A loop, a branch on a parameter, matrices and random numbers after sampling.
const VARIED: &str = "data { int N; vector[N] x; array[N] int y; }
parameters { real a; real b; real<lower=0> s; matrix[2, 2] m; array[3] vector[2] v; }
model {
  a ~ normal(0, s); b ~ student_t(4, 0, 1); s ~ exponential(1); to_vector(m) ~ std_normal();
  for (i in 1:3) v[i] ~ normal(m[1, 2], 1);
  for (n in 1:N) y[n] ~ bernoulli_logit(a + b * x[n]);
  if (a > 0.1) target += -a; else target += -0.1;
}
generated quantities { array[2] int z; for (i in 1:2) z[i] = poisson_rng(exp(a)); }";
const VARIED_DATA: &str =
    r#"{"N": 11, "x": [0.3,-1.2,0.8,1.9,-0.4,0.1,2.2,-0.7,0.5,-1.8,1.1], "y": [1,0,1,1,0,0,1,0,0,0,1]}"#;

#[test]
fn draws_depend_on_the_seed_only() {
    let folder = Folder::new("sample-seed");
    let (model, data) = (folder.file("m.stan", VARIED), folder.file("d.json", VARIED_DATA));
    let run = |out: &str, chains: &str, threads: &str, lanes: &str, seed: &str| {
        let out = folder.path(out);
        let mut arguments = vec!["sample", &model, &data, "--warmup", "150", "--draws", "40", "-q", "--out", &out];
        arguments.extend(["--chains", chains, "--threads", threads, "--lanes", lanes, "--seed", seed]);
        let output = crust(&arguments);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        out.clone()
    };
    let one = run("one", "4", "1", "1", "9");
    for (out, chains, threads, lanes) in
        [("two", "4", "2", "1"), ("three", "4", "1", "3"), ("all", "4", "2", "64"), ("more", "10", "2", "7")]
    {
        let other = run(out, chains, threads, lanes, "9");
        (1..=4).for_each(|chain| assert_eq!(content(&one, chain), content(&other, chain), "{out}"));
    }
    assert_ne!(content(&one, 2), content(&one, 3));
    assert_ne!(content(&one, 2), content(&run("other", "4", "1", "1", "10"), 2));
    let names = chains(&one, 4).names;
    assert_eq!(names[3..9], ["m.1.1", "m.2.1", "m.1.2", "m.2.2", "v.1.1", "v.2.1"]);
    assert_eq!(names[12..], ["v.3.2", "z.1", "z.2"]);
}

/// Branches in a loop that depend on parameters, on data and on both: what a thread learns of the loop from one chain
/// must not change the digits of another.
const FICKLE: &str = "
data { int N; vector[N] x; }
parameters { real a; real<lower=0> s; }
model {
  a ~ normal(0, 1);
  s ~ gamma(2, 2);
  target += -N * log(s);
  for (n in 1:N) {
    if (x[n] > a) target += -0.5 * square((x[n] - a) / s);
    else if (x[n] > 0.3) target += -2 * square((x[n] - a) / s);
    else target += -square((x[n] - a) / (s * (n < N / 2 ? 1 : 2)));
  }
}";

#[test]
fn branches_that_depend_on_parameters_do_not_make_chains_depend_on_each_other() {
    let folder = Folder::new("sample-fickle");
    let x: Vec<String> = (0..300).map(|i| format!("{:.3}", f64::from(i * 37 % 301) / 75.0 - 2.0)).collect();
    let data = format!(r#"{{"N": 300, "x": [{}]}}"#, x.join(","));
    let (model, data) = (folder.file("m.stan", FICKLE), folder.file("d.json", &data));
    let run = |chains: &str, threads: &str, lanes: &str| {
        let out = folder.path(&format!("{chains}-{threads}-{lanes}"));
        let mut arguments = vec!["sample", &model, &data, "--warmup", "30", "--draws", "20", "-q", "--out", &out];
        arguments.extend(["--chains", chains, "--threads", threads, "--lanes", lanes]);
        let output = crust(&arguments);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        out.clone()
    };
    for (chains, others) in [("3", [("2", "1"), ("1", "64")]), ("9", [("2", "1"), ("1", "5")])] {
        let reference = run(chains, "3", "64");
        for (threads, lanes) in others {
            let other = run(chains, threads, lanes);
            (1..=3)
                .for_each(|chain| assert_eq!(content(&reference, chain), content(&other, chain), "{threads} {lanes}"));
        }
    }
}

/// Programs of several kinds: loops over many observations and few, functions of matrices, recurrences, equations.
const KINDS: [&str; 6] = [
    "parameters { real a; vector[5] b; real<lower=0> s; }
     model { for (n in 1:N) k[n] ~ bernoulli_logit(a + x[n] * b); a ~ normal(0, 1); b ~ normal(0, s); s ~ exponential(1); }",
    "parameters { real a; vector[6] u; real<lower=0> s; }
     model { a ~ normal(0, 1); u ~ normal(a, s); s ~ exponential(1); for (n in 1:N) y[n] ~ student_t(4, u[n % 6 + 1], s); }",
    "parameters { real mu; real<lower=0> tau; vector[4] z; } model { mu ~ normal(0, 2); tau ~ cauchy(0, 1); z ~ normal(mu, tau); }",
    "parameters { real<lower=0> r; vector[7] f; }
     model { matrix[7, 7] c = add_diag(gp_exp_quad_cov(to_array_1d(y[1:7]), 1, r), 0.1);
             f ~ multi_normal_cholesky(rep_vector(0, 7), cholesky_decompose(c)); r ~ gamma(4, 4); }",
    "parameters { real<lower=-1, upper=1> p; real<lower=0> s; }
     model { real e = 0; for (n in 2:N) { e = y[n] - p * y[n - 1] - 0.3 * e; e ~ normal(0, s); } s ~ exponential(1); }",
    "parameters { matrix[5, 2] w; vector[2] v; } model { matrix[N, 2] h = tanh(x * w);
             to_vector(w) ~ normal(0, 1); v ~ normal(0, 1); y ~ normal(h * v, 1); }",
];

#[test]
fn a_chain_does_not_depend_on_how_many_there_are() {
    let folder = Folder::new("sample-number");
    let number = |i: u32| format!("{:.2}", f64::from(i * 37 % 101) / 40.0 - 1.2);
    let list = |of: &dyn Fn(u32) -> String, n: u32| format!("[{}]", (0..n).map(of).collect::<Vec<_>>().join(","));
    let rows = list(&|i| list(&|j| number(i * 5 + j), 5), 90);
    let (y, k) = (list(&number, 90), list(&|i| (i * 5 % 3 % 2).to_string(), 90));
    let data = folder.file("d.json", &format!(r#"{{"N": 90, "y": {y}, "k": {k}, "x": {rows}}}"#));
    let head = "data { int N; vector[N] y; matrix[N, 5] x; array[N] int<lower=0, upper=1> k; }";
    for (kind, program) in KINDS.iter().enumerate() {
        let model = folder.file(&format!("{kind}.stan"), &format!("{head}\n{program}"));
        let run = |chains: usize, threads: &str| {
            let out = folder.path(&format!("{kind}-{chains}-{threads}"));
            let chains = chains.to_string();
            let mut arguments = vec!["sample", &model, &data, "--warmup", "60", "--draws", "20", "-q", "--out", &out];
            arguments.extend(["--chains", &chains, "--threads", threads]);
            let output = crust(&arguments);
            assert_eq!(output.status.code(), Some(0), "{program}: {}", stderr(&output));
            out.clone()
        };
        let reference = run(16, "2");
        for (chains, threads) in [(1, "1"), (2, "1"), (4, "2"), (4, "1"), (8, "1")] {
            let other = run(chains, threads);
            for chain in 1..=chains {
                assert_eq!(content(&reference, chain), content(&other, chain), "{program}: {chain} of {chains}");
            }
        }
    }
}

#[test]
fn a_funnel_is_not_trusted() {
    let folder = Folder::new("sample-funnel");
    let text = "parameters { real v; vector[9] x; } model { v ~ normal(0, 3); x ~ normal(0, exp(v / 2)); }";
    let model = folder.file("funnel.stan", text);
    let output = crust(&["sample", &model, "--seed", "2"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let text = stdout(&output);
    assert!(text.starts_with("Do not trust these draws yet: divergent transitions"), "{text}");
    assert!(text.contains("after warm-up diverged") && text.contains("non-centred"), "{text}");
    assert!(stderr(&output).is_empty(), "no progress bar in a pipe");
}

#[test]
fn thinning_and_warm_up_draws() {
    let folder = Folder::new("sample-thin");
    let (model, data) = (folder.file("m.stan", NORMAL), folder.file("d.json", NORMAL_DATA));
    let out = folder.path("out");
    let mut arguments = vec!["sample", &model, &data, "--out", &out, "--json", "-", "--chains", "1"];
    arguments.extend(["--warmup", "40", "--draws", "25", "--thin", "10", "--save-warmup"]);
    let report = json(&crust(&arguments));
    let draws = chains(&out, 1);
    assert_eq!((draws.chains[0].warmup.len(), draws.chains[0].sampling.len()), (4, 3));
    let kinds: Vec<&str> =
        report["warnings"].as_array().expect("warnings").iter().filter_map(|w| w["kind"].as_str()).collect();
    assert!(kinds.contains(&"one_chain") && kinds.contains(&"too_few_draws"), "{kinds:?}");
}

#[test]
fn a_program_without_parameters_only_generates() {
    let folder = Folder::new("sample-fixed");
    let model = folder.file("m.stan", "generated quantities { real x = normal_rng(3, 2); }");
    let report = json(&crust(&["sample", &model, "--json", "-"]));
    assert_posterior(&report, "x", 3.0, 2.0);
}

#[test]
fn initial_values_are_read_or_refused() {
    let folder = Folder::new("sample-init");
    let program = "parameters { real a; real<lower=a> b; simplex[3] p; matrix[2, 3] m; }
        model { a ~ normal(0, 1); b ~ normal(0, 1); to_vector(m) ~ normal(0, 1); }";
    let model = folder.file("m.stan", program);
    let good = r#"{"a": 1, "b": 1.5, "p": [0.2, 0.3, 0.5], "m": [[1, 2, 3], [4, 5, 6]], "extra": 1}"#;
    let init = folder.file("good.json", good);
    let output = crust(&["sample", &model, "--init", &init, "--warmup", "20", "--draws", "20"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(stderr(&output).contains("extra"), "{}", stderr(&output));
    let bad = [
        (r#"{"a": 1, "b": 0.5}"#, "`b`", "must be at least 1"),
        (r#"{"a": 1, "b": 1}"#, "`b`", "edge"),
        (r#"{"b": 1}"#, "`b`", "depends on parameters that have no value"),
        (r#"{"p": [0.2, 0.3, 0.6]}"#, "`p`", "simplex"),
        (r#"{"p": [0.2, 0.8]}"#, "`p`", "array of 2 where 3 belong"),
        (r#"{"a": "x"}"#, "`a`", "must be a number"),
        (r#"{"c": 1}"#, "bad.json", "no initial value for any"),
        ("[1]", "bad.json", "must be a JSON object"),
        ("{", "bad.json", "not JSON"),
    ];
    for (init, name, problem) in bad {
        let init = folder.file("bad.json", init);
        let text = complaint(&["sample", &model, "--init", &init]);
        assert!(text.contains(name) && text.contains(problem), "{text}");
    }
    assert!(complaint(&["sample", &model, "--init", "nowhere.json"]).contains("cannot read the initial values"));
    assert!(complaint(&["sample", &model, "--init=-1"]).contains("must be finite and not negative"));
    assert!(complaint(&["sample", &model, "--delta", "1.5"]).contains("between 0 and 1"));
}

#[test]
fn impossible_starts_say_why() {
    let folder = Folder::new("sample-start");
    let program =
        "parameters { real x; }\nmodel {\n  if (x < 100) reject(\"x is too small: \", x);\n  x ~ normal(0, 1);\n}";
    let model = folder.file("m.stan", program);
    let text = complaint(&["sample", &model]);
    assert!(text.contains("100 random points") && text.contains("x is too small") && text.contains("line 3"), "{text}");
    assert!(text.contains("--init"), "{text}");
    let model = folder.file("n.stan", "parameters { real x; } model { target += negative_infinity(); }");
    assert!(complaint(&["sample", &model]).contains("the log density is -inf"));
    let data = folder.file("d.json", r#"{"N": 4, "y": [1.0, 2.5]}"#);
    let model = folder.file("o.stan", NORMAL);
    assert!(complaint(&["sample", &model, &data]).contains("`y`"));
}

#[cfg(unix)]
#[test]
fn ctrl_c_keeps_what_was_drawn() {
    let folder = Folder::new("sample-interrupt");
    let (model, data) = (folder.file("m.stan", NORMAL), folder.file("d.json", NORMAL_DATA));
    let out = folder.path("out");
    let arguments = ["sample", &model, &data, "--out", &out, "--draws", "10000000", "--warmup", "100", "--json", "-"];
    let child = Command::new(env!("CARGO_BIN_EXE_crust")).args(arguments).stdout(std::process::Stdio::piped()).spawn();
    let mut child = child.expect("crust runs");
    let size = || std::fs::metadata(format!("{out}/chain-4.csv")).map_or(0, |file| file.len());
    while size() < 50_000 {
        assert!(child.try_wait().expect("a state").is_none(), "it ended before it was interrupted");
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    let signal = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(signal.expect("kill runs").success());
    let report = json(&child.wait_with_output().expect("an end"));
    assert_eq!(report["interrupted"], true);
    let draws = chains(&out, 4);
    assert!(draws.lengths().0 > 0);
    assert_eq!(report["draws"], draws.lengths().0);
    assert!(content(&out, 4).lines().last().is_some_and(|line| line.starts_with('#')));
}

#[test]
fn draws_of_another_program_are_not_written_over() {
    let folder = Folder::new("sample-other");
    let (model, data) = (folder.file("m.stan", NORMAL), folder.file("d.json", NORMAL_DATA));
    let other = folder.file("other.stan", NORMAL);
    let out = folder.path("out");
    let arguments = |model: &str| ["sample", model, &data, "--out", &out, "--draws", "20", "-q"].map(str::to_owned);
    let run = |model: &str| crust(&arguments(model).each_ref().map(String::as_str));
    assert_eq!(run(&model).status.code(), Some(0));
    assert_eq!(run(&model).status.code(), Some(0), "the same program again");
    let before = content(&out, 1);
    let output = run(&other);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("draws of another program (m_model)"), "{}", stderr(&output));
    assert_eq!(content(&out, 1), before);
}

/// What cannot be said is an error, also if it is all on standard output.
#[cfg(target_os = "linux")]
#[test]
fn a_full_device_is_an_error() {
    let folder = Folder::new("sample-full");
    let (model, data) = (folder.file("m.stan", NORMAL), folder.file("d.json", NORMAL_DATA));
    for more in [&["check"][..], &["sample", "--draws", "20"], &["sample", "--draws", "20", "--json", "-"]] {
        let full = std::fs::File::options().write(true).open("/dev/full").expect("Linux has it");
        let (command, options) = more.split_first().expect("a command");
        let arguments = [&[command, model.as_str(), data.as_str()], options].concat();
        let output =
            Command::new(env!("CARGO_BIN_EXE_crust")).args(arguments).stdout(full).output().expect("crust runs");
        assert_eq!(output.status.code(), Some(2), "{more:?}");
        assert!(stderr(&output).contains("cannot write to standard output"), "{}", stderr(&output));
    }
}

/// Programs that ask for more than there is are told so.
#[test]
fn containers_that_are_too_large_are_refused() {
    let folder = Folder::new("sample-large");
    let empty = folder.file("d.json", "{}");
    for text in [
        "transformed data { matrix[100000, 100000] m = rep_matrix(0, 100000, 100000); } parameters { real a; }
         model { a ~ normal(0, 1); }",
        "parameters { real a; } model { a ~ normal(sum(rep_matrix(a, 30000, 30000)), 1); }",
        "parameters { real a; } model { array[90000] vector[90000] v; a ~ normal(0, 1); }",
    ] {
        let model = folder.file("m.stan", text);
        let complaint = complaint(&["sample", &model, &empty, "--draws", "20"]);
        assert!(complaint.contains("too large") || complaint.contains("GiB"), "{complaint}");
    }
}
