//! `crust reproduce` as a user runs it.

mod common;

use common::{Folder, crust};

fn json(arguments: &[&str]) -> serde_json::Value {
    common::json(&crust(arguments))
}

#[test]
fn barrier_has_the_papers_digits_and_chains_agree() {
    let result = json(&["reproduce", "barrier", "--largest", "1000", "--json", "--threads", "2"]);
    let rows = result["rows"].as_array().expect("rows");
    let number = |row: &serde_json::Value, name: &str| row[name].as_f64().expect("a number");
    let at = |t: u64| rows.iter().find(|row| row["T"] == t).expect("a row");
    assert_eq!(format!("{:.2}", number(at(100), "J")), "1.65");
    assert_eq!(format!("{:.3}", number(at(1000), "J")), "1.085");
    assert_eq!(format!("{:.3}", number(at(1000), "B")), "1.184");
    for row in rows {
        // Five rows with a fixed seed; by chance one would be off in one of 74 seeds.
        let off = (number(row, "B_hat") - number(row, "B")).abs() / number(row, "B_hat_se");
        assert!(off < 3.0, "{row}");
        assert!(number(row, "B") > number(row, "J"), "{row}");
    }
    assert_eq!(result, json(&["reproduce", "barrier", "--largest", "1000", "--json", "--threads", "1"]));
}

#[test]
fn the_table_says_what_it_shows() {
    let output = crust(&["reproduce", "easy-random", "--largest", "30", "--seed", "7"]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        output.status.success() && text.contains("seed 7") && text.contains("another draw has other numbers"),
        "{text}"
    );
    assert!(text.contains("standard errors, at T ="), "{text}");
    let other = json(&["reproduce", "easy-random", "--largest", "30", "--seed", "8", "--json"]);
    assert_eq!(other["seed"], 8);
    assert_eq!(other["rows"].as_array().map(Vec::len), Some(2));
}

#[test]
fn table1_has_all_cells_and_does_not_depend_on_threads() {
    // Short chains: what the entries are worth is in docs/testbed.md, here only their form counts.
    let short = ["reproduce", "table1", "--largest", "150", "--chains", "2", "--datasets", "2", "--json"];
    let mut result = json(&[&short[..], &["--threads", "2"]].concat());
    let rows = result["rows"].as_array().expect("rows");
    assert_eq!(rows.iter().map(|row| row["data"].as_str()).collect::<Vec<_>>().len(), 3);
    for row in rows {
        for cell in row["cells"].as_array().expect("cells") {
            let bounds: Vec<f64> = cell["log_ml_lower"]
                .as_array()
                .expect("numbers")
                .iter()
                .filter_map(serde_json::Value::as_f64)
                .collect();
            assert_eq!(bounds.len(), 2, "{cell}");
            assert!(bounds.iter().all(|b| (-6000.0..-1000.0).contains(b)), "{cell}");
            assert!(cell["model"] != row["data"] || cell["behind"] == 0.0, "{cell}");
        }
    }
    let mut other = json(&[&short[..], &["--threads", "1"]].concat());
    (result["seconds"], other["seconds"]) = (0.into(), 0.into());
    assert_eq!(result, other);
}

#[test]
fn table1_goes_on_where_it_was_ended() {
    let folder = Folder::new("table1");
    let (out, other) = (folder.path("table"), folder.path("testbed"));
    let short = ["reproduce", "table1", "--largest", "40", "--chains", "2", "--json", "--datasets"];
    let with = |datasets: &str, more: &[&str]| {
        let mut result = json(&[&short[..], &[datasets], more].concat());
        result["seconds"] = 0.into();
        result
    };
    with("1", &["--out", &out]);
    assert_eq!(with("2", &["--out", &out]), with("2", &[]));
    let text = |arguments: &[&str]| {
        let output = crust(arguments);
        assert_eq!(output.status.code(), Some(2), "{}", common::stderr(&output));
        common::stderr(&output)
    };
    assert!(text(&["reproduce", "table1", "--largest", "50", "--out", &out]).contains("belongs to another run"));
    // Nor does another command overwrite what is there.
    let testbed = ["testbed", "--quick", "--models", "clustering", "--estimators", "lw", "--out"];
    assert!(text(&[&testbed[..], &[&out]].concat()).contains("belongs to another run"));
    for _ in 0..2 {
        assert!(crust(&[&testbed[..], &[&other]].concat()).status.success(), "the same run may be done again");
    }
    let evidence = ["evidence", "examples/pima/logistic_regression.stan", "examples/pima/pima.json", "--out", &other];
    assert!(text(&evidence).contains("choose another folder"));
}

/// Errors, bounds and their count in the table; numbers that do not depend on threads. What they are worth is tested in
/// the library.
#[test]
fn taddaa_shows_errors_and_bounds() {
    let output = crust(&["reproduce", "taddaa-banana", "--seed", "3"]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success() && text.contains("Seed 3") && text.contains("of 28 bounds"), "{text}");
    let result = json(&["reproduce", "taddaa-banana", "--seed", "3", "--json", "--threads", "1"]);
    assert_eq!(result["targets"][0]["runs"].as_array().map(Vec::len), Some(7));
    let error = result["targets"][0]["functionals"][2]["error"].as_f64().expect("a number");
    assert!(text.contains(&format!("{error:.3}")), "{error}: {text}");
    assert_eq!(result, json(&["reproduce", "taddaa-banana", "--seed", "3", "--json", "--threads", "2"]));
}

#[test]
fn bad_input_is_refused() {
    for (arguments, expected) in [
        (&["reproduce", "bariier"][..], "barrier"),
        (&["reproduce"], "EXPERIMENT"),
        (&["reproduce", "barrier", "--largest", "3"], "the smallest number of distributions is 10"),
        (&["reproduce", "barrier", "--json", "/nowhere/at/all.json"], "cannot write"),
        (&["reproduce", "barrier", "--threads", "0"], "threads"),
        (&["reproduce", "taddaa-candy"], "--data candy.csv"),
        (&["reproduce", "taddaa-candy", "--data", "README.md"], "no column `chocolate`"),
        (&["reproduce", "taddaa-cancer"], "tools/fetch_leukemia.sh"),
        (&["reproduce", "taddaa-cancer", "--data", "README.md"], "no column `ALL`"),
        (&["reproduce", "taddaa-cancer", "--data", "nowhere.csv"], "nowhere.csv"),
        (&["reproduce", "taddaa-banana", "--data", "candy.csv"], "is for `taddaa-candy`"),
        (&["reproduce", "table1", "--largest", "1"], "at least 2 distributions"),
        (&["reproduce", "table1", "--datasets", "0"], "datasets"),
        (&["reproduce", "table1", "--models", "autoregression"], "are for `bread-real`"),
    ] {
        let output = crust(arguments);
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {text}");
        assert!(text.contains(expected), "{arguments:?}: {text}");
    }
}

/// Short chains on real data: bounds for every S, and the same command again has nothing left to do. Data that may not
/// be passed on are asked for.
#[test]
fn real_data_run_and_are_found_again() {
    let folder = std::env::temp_dir().join(format!("crust-reproduce-{}", std::process::id()));
    let out = folder.to_string_lossy().into_owned();
    let models = "autoregression,matrix-factorization";
    let arguments =
        ["reproduce", "bread-real", "--models", models, "--largest", "10", "--chains", "4", "--out", &out, "-q"];
    let result = json(&[&arguments[..], &["--json"]].concat());
    let rows = result["rows"].as_array().expect("rows");
    let starts: Vec<_> = rows.iter().filter_map(|row| row["S"].as_u64()).collect();
    assert_eq!(starts, [1000, 10, 100, 10_000]);
    assert_eq!(result["missing"], serde_json::json!(["matrix-factorization"]));
    for row in rows {
        assert_eq!(row["T"], 10);
        assert!(row["jeffreys_bound"].as_f64().is_some_and(f64::is_finite), "{row}");
    }
    assert!(folder.join("autoregression/S-10/report.html").exists());
    assert_eq!(result, json(&[&arguments[..], &["--json"]].concat()));
    std::fs::remove_dir_all(&folder).expect("it was there");
    let output = crust(&["reproduce", "bread-real", "--models", "regression"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        String::from_utf8_lossy(&output.stderr).contains("there is no model `regression`; there are linear-regression")
    );
}
