//! `crust testbed` as a user runs it.

mod common;

use common::crust;
use std::fs;
use std::path::PathBuf;

fn folder(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&folder);
    folder
}

/// Every estimator on every model; no bound may be on the wrong side.
#[test]
fn a_quick_run_covers_everything() {
    let out = folder("testbed-quick");
    let output = crust(&["testbed", "--quick", "--out", out.to_str().expect("a path"), "--json"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let result: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON and nothing else");
    assert_eq!(
        fs::read_to_string(out.join("result.json")).expect("a result").trim().as_bytes(),
        output.stdout.trim_ascii()
    );
    let models = result["models"].as_array().expect("models");
    assert_eq!(models.len(), 3);
    for model in models {
        let truth = model["truth"]["log_ml"].as_f64().expect("a number");
        let number = |row: &serde_json::Value, name: &str| row[name].as_f64().expect("a number");
        assert!(number(&model["truth"], "upper") - number(&model["truth"], "lower") < 1.0, "{}", model["truth"]);
        let rows = model["rows"].as_array().expect("rows");
        let mut names: Vec<&str> = rows.iter().filter_map(|row| row["estimator"].as_str()).collect();
        names.dedup();
        // Nested sampling with more particles would take too long on low rank.
        assert_eq!(names.len(), 17 + usize::from(model["model"] != "low-rank"), "{names:?}");
        for row in rows {
            // Eqs. 25 and 30: beyond 14 nats in one of 5 trials with probability below 5e-6; some 100 rows: 5e-4.
            for estimate in row["estimates"].as_array().expect("estimates").iter().filter_map(serde_json::Value::as_f64)
            {
                match row["kind"].as_str().expect("a kind") {
                    "stochastic-lower-bound" => assert!(estimate < truth + 14.0, "{row}"),
                    "stochastic-upper-bound" => assert!(estimate > truth - 14.0, "{row}"),
                    "lower-bound" => assert!(estimate < truth + 1.0, "{row}"),
                    kind => assert_eq!(kind, "no-guarantee"),
                }
            }
        }
        // On data as small as these, a few hundred distributions are accurate.
        let best = rows.iter().find(|row| row["estimator"] == "AIS" && row["knob"]["value"] == 300).expect("a row");
        assert!(number(best, "rmse") < 5.0, "{best}");
    }
    for file in ["figure-2.svg", "figure-3.svg", "figure-4.svg", "figure-5.svg", "beyond-binary.svg", "timing.json"] {
        assert!(out.join(file).exists(), "{file}");
    }
    let report = fs::read_to_string(out.join("report.html")).expect("a report");
    assert!(report.contains("Low rank") && report.contains("stochastic upper bound") && !report.contains("NaN"));
}

#[test]
fn the_same_seed_gives_the_same_numbers_with_any_number_of_threads() {
    let run = |threads: &str| {
        let words = ["testbed", "--quick", "--models", "low-rank", "--estimators", "ais,ns", "--trials", "3", "--json"];
        let output = crust(&[&words[..], &["--threads", threads]].concat());
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        output.stdout
    };
    assert_eq!(run("1"), run("3"));
}

#[test]
fn the_terminal_says_what_kind_of_number_it_shows() {
    let output = crust(&["testbed", "--quick", "--models", "clustering", "--estimators", "ais,reverse-ais,vb-sym"]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    for words in
        ["Clustering, 15 cases", "stochastic lower bound", "stochastic upper bound", "no guarantee", "under 10 nats in"]
    {
        assert!(text.contains(words), "{words}: {text}");
    }
}

#[test]
fn bad_input_is_refused() {
    for (arguments, expected) in [
        (
            &["testbed", "--models", "clusters"][..],
            "there is no model `clusters`; there are clustering, low-rank, binary",
        ),
        (&["testbed", "--estimators", "ais,foo"], "there is no estimator `foo`"),
        (&["testbed", "--trials", "1"], "trials"),
        (&["testbed", "--quick", "--json", "/nowhere/at/all.json"], "cannot write"),
        (&["testbed", "--quick", "--out", "/dev/null/x"], "cannot use the folder"),
    ] {
        let output = crust(arguments);
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {text}");
        assert!(text.contains(expected), "{arguments:?}: {text}");
    }
}
