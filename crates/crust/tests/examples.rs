//! The programs under `examples/`: they fit their data, and the paper's own programs mean the same as ours.
#![allow(clippy::cast_precision_loss, reason = "a few numbers of rows")]

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Our program, the paper's, their data, the number of unconstrained parameters, and how far their densities may be
/// apart.
const PAIRS: [(&str, &str, &str, usize, f64); 4] = [
    ("nhefs/linear_regression", "paper/linear_regression", "nhefs/nhefs", 8, 1e-8),
    ("pima/logistic_regression", "paper/logistic_regression", "pima/pima", 10, 1e-8),
    ("google/ar1", "paper/ar1", "google/google", 3, 1e-6),
    // the paper takes 3.14159 for pi: 272·log(π/3.14159) = 0.000230
    ("faithful/mixture", "paper/mixture", "faithful/faithful", 7, 2.4e-4),
];

fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples")
}

fn crust(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_crust")).args(arguments).current_dir(examples()).output().expect("crust runs")
}

fn read(data: &str) -> Value {
    let text = std::fs::read_to_string(examples().join(format!("{data}.json"))).expect("the data are there");
    serde_json::from_str(&text).expect("the data are JSON")
}

fn numbers(list: &Value) -> Vec<f64> {
    list.as_array().expect("a list").iter().map(|v| v.as_f64().expect("a number")).collect()
}

fn log_densities(program: &str, data: &str, points: &str) -> Vec<f64> {
    let (program, data) = (format!("{program}.stan"), format!("{data}.json"));
    let output = crust(&["density", &program, &data, "--at", points, "--json", "-"]);
    let result: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|e| panic!("{program}: {e}: {}", String::from_utf8_lossy(&output.stderr)));
    let points = result["points"].as_array().expect("points");
    points.iter().map(|p| p["log_density"].as_f64().expect("a density")).collect()
}

#[test]
fn every_program_fits_its_data() {
    let sizes = ["factorization/collapsed", "factorization/uncollapsed", "movielens/matrix_factorization"];
    let known = ["taddaa/gaussian", "taddaa/funnel", "taddaa/banana"];
    let measured = ["taddaa/candy", "taddaa/cancer", "taddaa/bnn"];
    for program in sizes.into_iter().chain(known).chain(measured).chain(["paper/matrix_factorization"]) {
        let output = crust(&["check", &format!("{program}.stan")]);
        assert!(output.status.success(), "{program}: {}", String::from_utf8_lossy(&output.stderr));
    }
    for (ours, papers, data, ..) in PAIRS {
        for program in [ours, papers] {
            let output = crust(&["check", &format!("{program}.stan"), &format!("{data}.json")]);
            assert!(output.status.success(), "{program}: {}", String::from_utf8_lossy(&output.stderr));
        }
    }
}

#[test]
fn the_papers_programs_mean_the_same() {
    for (ours, papers, data, dimension, apart) in PAIRS {
        let point = |shift: f64| (0..dimension).map(|i| 0.3 * (i as f64 + shift).sin()).collect::<Vec<f64>>();
        let text = serde_json::to_string(&[point(1.0), point(2.5), point(4.0)]).expect("numbers");
        let file = std::env::temp_dir().join(format!("crust-examples-{dimension}-{}.json", std::process::id()));
        std::fs::write(&file, text).expect("a temporary file");
        let points = file.display().to_string();
        let (one, other) = (log_densities(ours, data, &points), log_densities(papers, data, &points));
        std::fs::remove_file(&file).expect("the file was there");
        assert_eq!(one.len(), 3);
        for (a, b) in one.iter().zip(&other) {
            assert!((a - b).abs() <= apart.max(1e-13 * a.abs()), "{ours}: {a} and {b}");
        }
    }
}

#[test]
fn data_have_the_sizes_and_scales_that_their_readme_says() {
    let rows = [("nhefs/nhefs", 1566, 5), ("pima/pima", 768, 8)];
    for (data, n, k) in rows {
        let data = read(data);
        let x: Vec<Vec<f64>> = data["x"].as_array().expect("rows").iter().map(numbers).collect();
        assert_eq!((x.len(), data["N"].as_u64(), data["K"].as_u64()), (n, Some(n as u64), Some(k as u64)));
        assert_eq!(numbers(&data["y"]).len(), n);
        (0..k).for_each(|j| check_standardised(&x.iter().map(|row| row[j]).collect::<Vec<_>>()));
    }
    check_standardised(&numbers(&read("nhefs/nhefs")["y"]));
    let diabetic: f64 = numbers(&read("pima/pima")["y"]).iter().sum();
    assert!((diabetic - 268.0).abs() < 0.5, "268 of 768 women");
    let faithful: Vec<Vec<f64>> =
        read("faithful/faithful")["y"].as_array().expect("rows").iter().map(numbers).collect();
    assert_eq!(faithful.len(), 272);
    (0..2).for_each(|j| check_standardised(&faithful.iter().map(|row| row[j]).collect::<Vec<_>>()));
    let prices = numbers(&read("google/google")["y"]);
    assert_eq!((prices.len(), prices[0].to_bits()), (105, 196.03f64.to_bits()));
}

fn check_standardised(column: &[f64]) {
    let n = column.len() as f64;
    let mean = column.iter().sum::<f64>() / n;
    let variance = column.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (n - 1.0);
    // six decimals are kept
    assert!(mean.abs() < 1e-6 && (variance - 1.0).abs() < 1e-5, "{mean} {variance}");
}
