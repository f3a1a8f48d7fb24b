//! `crust simulate`, and the reading in `crust check`, as a user runs them.

mod common;

use common::crust;
use std::path::{Path, PathBuf};
use std::process::Command;

fn folder(test: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("crust-simulate-{test}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a temporary folder");
    folder
}

fn file(folder: &Path, name: &str, text: &str) -> String {
    let path = folder.join(name);
    std::fs::write(&path, text).expect("a temporary file");
    path.display().to_string()
}

fn json(text: &[u8]) -> serde_json::Value {
    serde_json::from_slice(text).unwrap_or_else(|e| panic!("{e}: {}", String::from_utf8_lossy(text)))
}

const MODEL: &str = "data { int N; vector[N] x; vector[N] y; } parameters { real a; real<lower=0> s; matrix[1, 2] b; }
model { a ~ normal(0, 1); s ~ cauchy(0, 1); to_vector(b) ~ normal(a, 1); y ~ normal(a * x, s); }";

#[test]
fn simulated_data_can_be_fed_back() {
    let folder = folder("back");
    let (model, data) = (file(&folder, "m.stan", MODEL), file(&folder, "d.json", r#"{"N": 3, "x": [1, 2, 3]}"#));
    let out = folder.join("out").display().to_string();
    let run = crust(&["simulate", &model, &data, "-n", "2", "--seed", "4", "--out", &out]);
    assert_eq!(run.status.code(), Some(0), "{}", String::from_utf8_lossy(&run.stderr));
    let simulated = format!("{out}/simulated-2.json");
    let values = json(&std::fs::read(&simulated).expect("a file"));
    assert_eq!(values["y"].as_array().map(Vec::len), Some(3));
    assert_eq!(crust(&["check", &model, &simulated]).status.code(), Some(0));
    // Its parameters can be fixed, and are then the parameters of the new data.
    let parameters = format!("{out}/simulated-2.parameters.json");
    let again = crust(&["simulate", &model, &simulated, "--fix", &parameters, "--json"]);
    assert_eq!(again.status.code(), Some(0), "{}", String::from_utf8_lossy(&again.stderr));
    let again = json(&again.stdout);
    let first = json(&std::fs::read(&parameters).expect("a file"));
    assert_eq!(again["datasets"][0]["parameters"]["a"], first["a"]);
    assert_eq!(again["datasets"][0]["parameters"]["b"], first["b"]);
    assert_ne!(again["datasets"][0]["data"]["y"], values["y"]);
    // The same seed, the same data; one dataset alone is plain data.
    let plain = |seed: &str| crust(&["simulate", &model, &data, "--seed", seed]).stdout;
    assert_eq!(plain("7"), plain("7"));
    assert_ne!(plain("7"), plain("8"));
    assert_eq!(json(&plain("7"))["N"], 3);
}

#[test]
fn a_hyperparameter_must_be_a_parameter() {
    let folder = folder("hyper");
    let (model, data) = (folder.join("m.stan"), folder.join("d.json"));
    std::fs::write(&model, MODEL).expect("it is written");
    std::fs::write(&data, r#"{"N": 3, "x": [1, 2, 3]}"#).expect("it is written");
    let words = ["simulate", &model.to_string_lossy(), &data.to_string_lossy(), "--hyper", "scale"];
    let output = Command::new(env!("CARGO_BIN_EXE_crust")).args(words).output().expect("crust runs");
    assert_eq!(output.status.code(), Some(2));
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(text.contains("unknown-hyperparameter") && text.contains("scale"), "{text}");
}

#[test]
fn bad_input_has_its_message_and_exit_code_2() {
    let folder = folder("bad");
    let good = r#"{"N": 3, "x": [1, 2, 3]}"#;
    let table = [
        (MODEL.replace("a ~ normal(0, 1);", ""), good, "improper-prior"),
        (MODEL.replace("a ~ normal(0, 1);", "a ~ normal(0, 1); a ~ cauchy(0, 1);"), good, "two-priors"),
        (
            MODEL.replace("a ~ normal(0, 1);", "a ~ normal(s, 1);").replace("s ~ cauchy(0, 1)", "s ~ gamma(exp(a), 1)"),
            good,
            "cyclic-program",
        ),
        (MODEL.replace("y ~ normal(a * x, s);", "target += -sum(square(y - a * x)) / s;"), good, "written by hand"),
        (MODEL.replace("s ~ cauchy(0, 1)", "log(s) ~ normal(0, 1)"), good, "not-invertible"),
        (MODEL.replace("s ~ cauchy(0, 1)", "s ~ normal(a - 100, 1)"), good, "hold for none of"),
        (MODEL.replace("s ~ cauchy(0, 1)", "s ~ inv_gamma(1e-6, 1e-6)"), good, "edge|draw-failed"),
        (MODEL.to_owned(), r#"{"N": 3}"#, "data-missing"),
        (MODEL.to_owned(), r#"{"N": 3, "x": [1, 2]}"#, "data-size|data-shape|x"),
        (MODEL.to_owned(), r#"{"N": 3, "x": [1, 2, "NaN"]}"#, "not a number"),
        (MODEL.to_owned(), r#"{"N": 0, "x": []}"#, "no values"),
    ];
    for (text, data, wanted) in &table {
        let (model, data) = (file(&folder, "m.stan", text), file(&folder, "d.json", data));
        let run = crust(&["simulate", &model, &data]);
        let said = String::from_utf8_lossy(&run.stderr).into_owned();
        assert_eq!(run.status.code(), Some(2), "{wanted}: {said}");
        assert!(wanted.split('|').any(|word| said.contains(word)), "{wanted}: {said}");
        assert!(!said.contains("panicked"), "{said}");
    }
    let run = crust(&["simulate", "no-such.stan"]);
    assert_eq!(run.status.code(), Some(2));
    let (model, data) = (file(&folder, "m.stan", MODEL), file(&folder, "d.json", good));
    let run = crust(&["simulate", &model, &data, "--hyper", "sigma"]);
    assert_eq!(run.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&run.stderr).contains("no parameter `sigma`"));
}

#[test]
fn check_prints_the_reading() {
    let folder = folder("check");
    let model = file(&folder, "m.stan", MODEL);
    let said = String::from_utf8_lossy(&crust(&["check", &model]).stdout).into_owned();
    for line in
        ["s ~ cauchy(0, 1) (half-cauchy: truncated by its bound at 0)", "y ~ normal(a * x, s)", "hyperparameters: a, s"]
    {
        assert!(said.contains(line), "{line}: {said}");
    }
    let report = json(&crust(&["check", "--json", &model]).stdout);
    assert_eq!(report["joint"]["readable"], true);
    assert_eq!(report["joint"]["order"], serde_json::json!(["a", "s", "b", "y"]));
    let model = file(&folder, "n.stan", &MODEL.replace("a ~ normal(0, 1);", ""));
    let run = crust(&["check", "--json", &model]);
    assert_eq!(run.status.code(), Some(0), "a program that cannot be simulated is valid all the same");
    let report = json(&run.stdout);
    assert_eq!(report["joint"]["readable"], false);
    assert_eq!(report["joint"]["obstacles"][0]["code"], "improper-prior");
}

/// The programs of the BREAD paper, as printed and as examples.
#[test]
fn the_papers_programs_are_read() {
    let examples = [
        "paper/ar1.stan",
        "paper/linear_regression.stan",
        "paper/logistic_regression.stan",
        "paper/matrix_factorization.stan",
        "paper/mixture.stan",
        "pima/logistic_regression.stan",
        "nhefs/linear_regression.stan",
        "movielens/matrix_factorization.stan",
    ];
    for example in examples {
        let report = json(&crust(&["check", "--json", &format!("examples/{example}")]).stdout);
        assert_eq!(report["joint"]["readable"], true, "{example}: {}", report["joint"]);
    }
}

/// A gamma density with one more factor is another gamma density, Γ(3, 1), with mean 3 and deviation √3. Nothing reads it;
/// it is sampled. The mean of 300 draws is within five standard errors, with a false alarm in 6·10⁻⁷ of all runs.
#[test]
fn priors_that_can_only_be_sampled_are_approximate() {
    let folder = folder("sampled");
    let text = "data { int N; vector[N] y; } parameters { real<lower=0> s; }
        model { s ~ gamma(2, 1); target += log(s); y ~ normal(0, s); }";
    let (model, data) = (file(&folder, "m.stan", text), file(&folder, "d.json", r#"{"N": 3, "y": [1, -2, 3]}"#));
    let run = crust(&["simulate", &model, &data, "-n", "300", "--json"]);
    let said = String::from_utf8_lossy(&run.stderr).into_owned();
    assert_eq!(run.status.code(), Some(0), "{said}");
    assert!(said.contains("by NUTS, approximately"), "{said}");
    let all = json(&run.stdout);
    let values: Vec<f64> = all["datasets"]
        .as_array()
        .expect("datasets")
        .iter()
        .map(|d| d["parameters"]["s"].as_f64().expect("s"))
        .collect();
    let mean = values.iter().sum::<f64>() / 300.0;
    assert!((mean - 3.0).abs() < 5.0 * 0.1, "{mean}");
    // Bounds that rest on such draws say so; marginal likelihoods are not computed from them.
    let run = crust(&["bdmc", &model, &data, "--steps", "30", "--chains", "20", "--json", "-"]);
    let sentence = json(&run.stdout)["verdict"]["sentence"].as_str().expect("a verdict").to_owned();
    assert!(sentence.contains("approximate"), "{sentence}");
    assert_eq!(crust(&["evidence", &model, &data]).status.code(), Some(2));
    // Without an integral there is nothing to sample: 1/s up to 1 has none at 0.
    let improper = text.replace("target += log(s);", "target += -2 * log(s);");
    let model = file(&folder, "i.stan", &improper);
    let run = crust(&["simulate", &model, &data]);
    let said = String::from_utf8_lossy(&run.stderr).into_owned();
    assert_eq!(run.status.code(), Some(2), "{said}");
    assert!(said.contains("do not settle") && said.contains("term-without-variate"), "{said}");
}
