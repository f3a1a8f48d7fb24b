//! Programs with the values that WebPPL 0.9.15 gives for them (`golden.json`, written by `generate.js`).
//!
//! The first line of a program says how it is compared: `exact` (numbers to 1e-7, because WebPPL's log gamma has ten
//! digits), or by statistics of sampled results within a tolerance. Seeds are fixed; each tolerance is at least four
//! standard errors of our and of WebPPL's estimate together, so that a new seed would fail in less than 1 of 1000 runs.

use crust_webppl::{Options, Program, run};
use serde_json::{Value, json};
use std::path::Path;

fn folder() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests")
}

/// The value of a program as JSON.
fn value_of(name: &str, text: &str) -> Result<Value, String> {
    let program = Program::compile(name, text).map_err(|e| e.to_string())?;
    let outcome = run(&program, &Options { seed: 1, ..Options::default() }).map_err(|e| e.to_string())?;
    serde_json::from_str(&outcome.json).map_err(|e| e.to_string())
}

/// Keys to probabilities.
fn histogram(dist: &Value) -> Value {
    let (Some(support), Some(probs)) = (dist["support"].as_array(), dist["probs"].as_array()) else { return json!({}) };
    Value::Object(support.iter().map(ToString::to_string).zip(probs.iter().cloned()).collect())
}

fn moments(dist: &Value) -> Value {
    let numbers = |key: &str| -> Vec<f64> {
        dist[key].as_array().map(|a| a.iter().filter_map(Value::as_f64).collect()).unwrap_or_default()
    };
    let (xs, ps) = (numbers("support"), numbers("probs"));
    let mean: f64 = xs.iter().zip(&ps).map(|(x, p)| x * p).sum();
    let variance: f64 = xs.iter().zip(&ps).map(|(x, p)| p * (x - mean).powi(2)).sum();
    json!({"mean": mean, "std": variance.sqrt()})
}

/// Distributions are compared as histograms, numbers to a tolerance.
fn same(ours: &Value, real: &Value, tolerance: f64) -> bool {
    match (ours, real) {
        (Value::Number(a), Value::Number(b)) => {
            let (a, b) = (a.as_f64().unwrap_or(f64::NAN), b.as_f64().unwrap_or(f64::NAN));
            (a - b).abs() <= tolerance * b.abs().max(1.0)
        }
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b, tolerance)),
        (Value::Object(a), Value::Object(b)) if b.contains_key("distribution") => {
            a.get("distribution") == b.get("distribution")
                && (!b.contains_key("support") || same(&histogram(ours), &histogram(real), tolerance))
        }
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && b.iter().all(|(k, v)| a.get(k).is_some_and(|w| same(w, v, tolerance)))
        }
        (a, b) => a == b,
    }
}

/// What is wrong with a program's result.
fn complaint(name: &str, text: &str, real: &Value) -> Option<String> {
    let head: Vec<&str> = text.lines().next().unwrap_or("").trim_start_matches("// compare: ").split(' ').collect();
    let ours = match value_of(name, text) {
        Ok(value) => value,
        Err(error) => return Some(format!("{name}: {error}")),
    };
    let tolerance: f64 = head.get(1).and_then(|t| t.parse().ok()).unwrap_or(1e-7);
    let (summary, good) = match head[0] {
        "hist" | "mean" => {
            let summary = if head[0] == "hist" { histogram(&ours) } else { moments(&ours) };
            let near = |(k, v): (&String, &Value)| {
                let x = summary[k].as_f64().unwrap_or(0.0);
                (x - v.as_f64().unwrap_or(f64::NAN)).abs() <= tolerance
            };
            let good = real.as_object().is_some_and(|o| o.iter().all(near));
            (summary, good)
        }
        _ => (ours.clone(), same(&ours, real, tolerance)),
    };
    (!good).then(|| format!("{name}:\n  ours {summary}\n  real {real}"))
}

#[test]
fn programs_give_what_webppl_gives() {
    let golden = std::fs::read_to_string(folder().join("golden.json")).expect("golden.json");
    let golden: Value = serde_json::from_str(&golden).expect("golden.json is JSON");
    let mut files: Vec<_> = std::fs::read_dir(folder().join("programs")).expect("programs").flatten().collect();
    files.sort_by_key(std::fs::DirEntry::path);
    assert!(files.len() >= 120);
    let mut complaints = Vec::new();
    for file in files {
        let path = file.path();
        let name = path.file_stem().and_then(|s| s.to_str()).unwrap_or_default().to_owned();
        let text = std::fs::read_to_string(&path).expect("a program");
        complaints.extend(complaint(&name, &text, &golden[&name]));
    }
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}
