//! `crust density` and `crust bench` as a user runs them.

mod common;

use common::crust;
use std::process::Output;

/// Writes files for one test into a folder of its own.
fn files(test: &str, list: &[(&str, &str)]) -> Vec<String> {
    let folder = std::env::temp_dir().join(format!("crust-density-{test}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a temporary folder");
    let write = |(name, text): &(&str, &str)| {
        let path = folder.join(name);
        std::fs::write(&path, text).expect("a temporary file");
        path.display().to_string()
    };
    list.iter().map(write).collect()
}

fn json(output: &Output) -> serde_json::Value {
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|e| panic!("{e}: {}", String::from_utf8_lossy(&output.stderr)))
}

const MODEL: &str = "data { int<lower=0> N; vector[N] y; }
parameters { real mu; real<lower=0> sigma; }
model {
  if (mu > 10) reject(\"mu is too large: \", mu);
  mu ~ normal(0, 2);
  y ~ normal(mu, sigma);
}";

/// The log density of the model, written down by hand.
fn by_hand(mu: f64, log_sigma: f64, y: &[f64]) -> f64 {
    let normal = |x: f64, m: f64, s: f64| {
        let z = (x - m) / s;
        -0.5 * z * z - s.ln() - 0.5 * (2.0 * std::f64::consts::PI).ln()
    };
    let sigma = log_sigma.exp();
    log_sigma + normal(mu, 0.0, 2.0) + y.iter().map(|&y| normal(y, mu, sigma)).sum::<f64>()
}

#[test]
fn densities_gradients_and_rejections() {
    let paths = files(
        "values",
        &[
            ("m.stan", MODEL),
            ("d.json", r#"{"N": 3, "y": [0.5, -1, 2]}"#),
            ("p.json", "[[0.3, -0.2], [11, 0], [-1, 1.5]]"),
        ],
    );
    let output = crust(&["density", &paths[0], &paths[1], "--at", &paths[2], "--json"]);
    assert_eq!(output.status.code(), Some(0));
    let found = json(&output);
    assert_eq!(found["names"], serde_json::json!(["mu", "sigma"]));
    let y = [0.5, -1.0, 2.0];
    for (i, point) in [(0, [0.3, -0.2]), (2, [-1.0, 1.5])] {
        let expected = by_hand(point[0], point[1], &y);
        let value = found["points"][i]["log_density"].as_f64().expect("a number");
        assert!((value - expected).abs() < 1e-12, "{value} is not {expected}");
        for (d, h) in [(0, [1e-5, 0.0]), (1, [0.0, 1e-5])] {
            let at = |s: f64| by_hand(point[0] + s * h[0], point[1] + s * h[1], &y);
            let slope = (at(1.0) - at(-1.0)) / 2e-5;
            let ours = found["points"][i]["gradient"][d].as_f64().expect("a number");
            assert!((ours - slope).abs() < 1e-6, "{ours} is not {slope}");
        }
    }
    assert!(found["points"][1]["log_density"].is_null());
    let reason = found["points"][1]["reason"].as_str().expect("a reason");
    assert!(reason.contains("mu is too large: 11") && reason.contains("line 4"), "{reason}");
}

#[test]
fn constants_and_jacobian_can_be_left_out() {
    let paths =
        files("terms", &[("m.stan", MODEL), ("d.json", r#"{"N": 3, "y": [0.5, -1, 2]}"#), ("p.json", "[[0.3, -0.2]]")]);
    let value = |options: &[&str]| {
        let mut all = vec!["density", &paths[0], &paths[1], "--at", &paths[2], "--json"];
        all.extend(options);
        json(&crust(&all))["points"][0]["log_density"].as_f64().expect("a number")
    };
    let full = value(&[]);
    assert!((full - value(&["--no-jacobian"]) + 0.2).abs() < 1e-12);
    // The prior loses log 2 and √2π, each observation √2π.
    let constants = 4.0 * 0.5 * (2.0 * std::f64::consts::PI).ln() + 2.0_f64.ln();
    assert!((value(&["--propto"]) - full - constants).abs() < 1e-12);
}

#[test]
fn mistakes_have_exit_code_two_and_a_place() {
    let index = "data { int N; } parameters { vector[N] a; } model { target += a[N + 1]; }";
    let paths = files(
        "mistakes",
        &[("m.stan", index), ("d.json", r#"{"N": 2}"#), ("p.json", "[[0, 0]]"), ("short.json", "[[0]]")],
    );
    let output = crust(&["density", &paths[0], &paths[1], "--at", &paths[2]]);
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2));
    assert!(text.contains("index 3 is out of range") && text.contains("m.stan:1:"), "{text}");
    let output = crust(&["density", &paths[0], &paths[1], "--at", &paths[3]]);
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2));
    assert!(text.contains("1 numbers") && text.contains("2 unconstrained"), "{text}");
}

#[test]
fn what_the_engine_lacks_is_named_before_anything_runs() {
    let program = "parameters { real a; } model { complex z = to_complex(a, 1); target += -abs(z); }";
    let paths = files("lacks", &[("m.stan", program), ("p.json", "[[0]]")]);
    let output = crust(&["check", &paths[0]]);
    assert_eq!(output.status.code(), Some(0));
    assert!(String::from_utf8_lossy(&output.stderr).contains("no complex numbers"));
    let output = crust(&["density", &paths[0], "--at", &paths[1]]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("no complex numbers"));
}

#[test]
fn bench_measures() {
    let paths = files("bench", &[("m.stan", MODEL), ("d.json", r#"{"N": 3, "y": [0.5, -1, 2]}"#)]);
    let output = crust(&["bench", &paths[0], &paths[1], "--lanes", "1,8", "--seconds", "0.01", "--json", "-"]);
    let found = json(&output);
    assert_eq!(found["rows"].as_array().map(Vec::len), Some(2));
    assert!(found["rows"][1]["memory"].as_u64().is_some_and(|bytes| bytes > 0));
    assert!(found["rows"][1]["us_per_gradient"].as_f64().is_some_and(|t| t > 0.0 && t < 1e4));
    assert!(found["compile_ms"].as_f64().is_some_and(|t| t > 0.0));
    assert_eq!(crust(&["bench", &paths[0], &paths[1], "--lanes", "0"]).status.code(), Some(2));
}

#[test]
fn nothing_is_measured_or_run_where_there_is_nothing() {
    let paths = files(
        "nothing",
        &[
            ("m.stan", MODEL),
            ("nan.json", r#"{"N": 3, "y": [0.5, "NaN", 2]}"#),
            ("empty.stan", ""),
            ("none.json", "[]"),
            ("d.json", r#"{"N": 1, "y": [0]}"#),
        ],
    );
    let refused = |arguments: &[&str], message: &str| {
        let output = crust(arguments);
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {text}");
        assert!(text.contains(message), "{arguments:?}: {text}");
    };
    refused(&["bench", &paths[0], &paths[1], "--seconds", "0.01"], "rejects every point");
    refused(&["bench", &paths[0], &paths[4], "--seconds", "NaN"], "above 0");
    refused(&["bench", &paths[2]], "is empty");
    refused(&["sample", &paths[2]], "is empty");
    refused(&["density", &paths[0], &paths[4], "--at", &paths[3]], "holds no points");
    refused(&["sample", &paths[0], &paths[4], "--json", "/nonexistent/x.json"], "cannot write");
}
