//! `crust approximate` and `crust taddaa` as a user runs them.

mod common;

use common::{Folder, crust, json, number, numbers, stderr};

/// Variances 1 and 4, correlation 0.9.
const NORMAL: &str = "parameters { vector[2] x; }
model { x ~ multi_normal([1, -2]', [[1, 1.8], [1.8, 4]]); }";

#[test]
fn an_approximation_is_written_and_read_back() {
    let folder = Folder::new("taddaa-fine");
    let (model, fit, out) = (folder.file("m.stan", NORMAL), folder.path("fit.json"), folder.path("out"));
    let output = crust(&["approximate", &model, "--json", &fit, "--out", &out, "--draws", "50"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(String::from_utf8_lossy(&output.stdout).contains("fullrank: converged"));
    let found = folder.json("fit.json");
    assert_eq!(found["command"], "approximate");
    assert_eq!((&found["method"], &found["converged"]), (&"fullrank".into(), &true.into()));
    assert_eq!(found["names"], serde_json::json!(["x[1]", "x[2]"]));
    assert!((number(&found["covariance"][0][1]) - 1.8).abs() < 0.01, "{found}");
    // The normalised density integrates to 1, and the family has it: what is left is where the optimiser stops.
    assert!(number(&found["elbo"]).abs() < 1e-3 && number(&found["elbo_se"]) < 1e-3, "{found}");
    assert!(number(&found["gradients"]) > 0.0 && number(&found["seconds"]) > 0.0);
    assert!(folder.read("out/report.html").contains("Bounds on log Z"));
    let table = folder.read("out/draws.csv");
    let lines: Vec<&str> = table.lines().filter(|line| !line.starts_with('#')).collect();
    assert_eq!((lines[0], lines.len()), ("lp__,log_p__,log_g__,x.1,x.2", 52), "the mean, and 50 draws");

    let output = crust(&["taddaa", &model, "--approximation", &fit, "--json"]);
    let found = json(&output);
    assert_eq!((&found["command"], &found["verdict"]["level"]), (&"taddaa".into(), &"good".into()), "{found}");
    assert_eq!(found["functionals"].as_array().map(Vec::len), Some(10));
    let names: Vec<&str> = (0..3).filter_map(|i| found["functionals"][i]["name"].as_str()).collect();
    assert_eq!(names, ["mean(x[1])", "log_variance(x[1])", "quantile(x[1], 0.05)"]);
    assert_eq!(numbers(&found["functionals"][0]["interval"]).len(), 2);
    assert!(number(&found["rho2_max"]) < 0.1 && number(&found["k_hat"]) < 0.7);
    assert!(number(&found["bounds"]["kl_at_least"]) < 0.05, "{found}");

    // Mean and covariance suffice; and what was written is read as draws.
    let two = serde_json::json!({"mean": [1, -2], "covariance": [[1, 1.8], [1.8, 4]]});
    let two = folder.file("two.json", &two.to_string());
    assert_eq!(json(&crust(&["taddaa", &model, "--approximation", &two, "--json"]))["verdict"]["level"], "good");
    for draws in ["out/draws.csv", "out/draws.zarr"] {
        let found = json(&crust(&["taddaa", &model, "--draws", &folder.path(draws), "--json"]));
        assert_eq!(found["chains"], 50, "{draws}: {found}");
        assert!(found["bounds"].is_null());
    }
}

/// Results of another command, or about another program, are not written over.
#[test]
fn no_results_are_lost() {
    let folder = Folder::new("taddaa-lost");
    let (model, other) = (
        folder.file("m.stan", NORMAL),
        folder.file("other.stan", "parameters { real x; } model { x ~ normal(0, 1); }"),
    );
    let refused = |arguments: &[&str]| {
        let output = crust(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(stderr(&output).contains("would be lost"), "{}", stderr(&output));
    };
    let (fit, draws) = (folder.path("fit"), folder.path("draws"));
    for _ in 0..2 {
        let output = crust(&["approximate", &model, "--out", &fit, "-q"]);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    }
    assert!(folder.read("fit/report.html").contains("of m.stan"));
    refused(&["approximate", &other, "--out", &fit]);
    refused(&["taddaa", &model, "--out", &fit]);
    refused(&["sample", &model, "--out", &fit]);
    let output = crust(&["sample", &model, "--out", &draws, "-q", "--chains", "1", "--warmup", "50", "--draws", "20"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    refused(&["approximate", &model, "--out", &draws]);
    let foreign = folder.path("mine");
    std::fs::create_dir(&foreign).expect("a folder");
    folder.file("mine/result.json", "{}");
    let output = crust(&["approximate", &model, "--out", &foreign]);
    assert!(output.status.code() == Some(2) && stderr(&output).contains("not written by crust"));
}

#[test]
fn a_bad_verdict_exits_with_1_and_bad_input_with_2() {
    let folder = Folder::new("taddaa-bad");
    let model = folder.file("m.stan", NORMAL);
    let output = crust(&["taddaa", &model, "--method", "meanfield", "--json", &folder.path("bad.json")]);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    let found = folder.json("bad.json");
    assert_eq!(found["verdict"]["level"], "bad");
    assert!(number(&found["functionals"][1]["simultaneous_lower_bound"]) > 0.5, "{found}");
    assert!(found["k_hat"].is_number(), "{found}");
    let out = folder.path("out");
    assert_eq!(crust(&["taddaa", &model, "--method", "meanfield", "--out", &out]).status.code(), Some(1));
    let (kept, page) = (folder.json("out/result.json"), std::fs::read_to_string(folder.path("out/report.html")));
    assert_eq!(kept["functionals"], found["functionals"], "looking at the way changes nothing");
    let way = &kept["drift"][0];
    let (first, last) = (number(&way["values"][0]), number(&way["values"].as_array().expect("values")[16]));
    assert!((last - first).abs() > 0.5, "{way}");
    assert!(page.is_ok_and(|page| page.contains("iteration") && page.contains("All functionals, worst first")));

    let short = folder.file("short.json", r#"{"mean": [0], "sd": [1]}"#);
    let csv = folder.file("draws.csv", "x.1\n1\n2\n");
    let nan = folder.file("nan.csv", "x.1,x.2\n1,2\n2,nan\n");
    let sum = folder
        .file("sum.stan", "parameters { real a; real b; real c; } model { a + c ~ normal(0, 1); b ~ normal(0, 1); }");
    let flat = "coordinate 1 is that of `a`, coordinate 3 is that of `c`";
    let refused = [
        (vec!["taddaa", &model, "--approximation", &short], "1 coordinates, but the program has 2"),
        (vec!["taddaa", &model, "--draws", &csv], "no column for x[2]"),
        (vec!["taddaa", &model, "--draws", &nan], "nan.csv: x[2] is NaN"),
        (vec!["approximate", &sum, "--method", "meanfield"], flat),
        (vec!["approximate", &sum, "--method", "pathfinder"], flat),
        (vec!["taddaa", &model, "--functional", "median(x[1])"], "is no functional"),
        (vec!["taddaa", &model, "--functional", "mean(z)"], "the program has no quantity z"),
        (vec!["taddaa", &model, "--tolerance-mean", "0"], "must be a number above 0"),
        (vec!["approximate", &model, "--init=-1"], "--init"),
    ];
    for (arguments, words) in refused {
        let output = crust(&arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {}", stderr(&output));
        assert!(stderr(&output).contains(words), "{arguments:?}: {}", stderr(&output));
    }
}
