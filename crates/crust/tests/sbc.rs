//! `crust sbc` as a user runs it.

mod common;

use common::{Folder, crust, json, number, text};
use serde_json::Value;

const LINE: &str = "
data { int N; vector[N] x; }
transformed data { vector[N] z = x + 5; }
parameters { real a; real b; }
model { a ~ normal(0, 1); b ~ normal(0, 1); y ~ normal(a + b * z, 1); }
";

fn program() -> String {
    LINE.replace("vector[N] x; }", "vector[N] x; vector[N] y; }")
}

const SIZES: &str = r#"{"N": 8, "x": [-1, -0.5, 0, 0.3, 0.4, 1, 1.2, -0.7]}"#;

fn adjusted(result: &Value) -> f64 {
    let quantities = result["quantities"].as_array().expect("quantities");
    quantities.iter().map(|q| number(&q["adjusted_p_value"])).fold(1.0, f64::min)
}

/// NUTS is right on a regression; a normal distribution without correlations is too narrow, and is told to be.
#[test]
fn nuts_is_calibrated_and_mean_field_is_not() {
    let folder = Folder::new("sbc");
    let (model, data) = (folder.file("line.stan", &program()), folder.file("sizes.json", SIZES));
    let right = crust(&["sbc", &model, &data, "--datasets", "60", "--json", "-"]);
    assert_eq!(right.status.code(), Some(0), "{}", text(&right));
    let right = json(&right);
    assert!(adjusted(&right) > 0.01, "{right}");
    assert_eq!(right["verdict"]["level"], "good");
    let names: Vec<&str> =
        right["quantities"].as_array().expect("list").iter().filter_map(|q| q["name"].as_str()).collect();
    assert_eq!(names, ["a", "b", "log likelihood", "log density"]);
    let out = folder.path("out");
    let wrong = crust(&["sbc", &model, &data, "--datasets", "60", "--method", "meanfield", "--out", &out]);
    assert_eq!(wrong.status.code(), Some(1), "{}", text(&wrong));
    assert!(text(&wrong).contains("too close together"), "{}", text(&wrong));
    let page = std::fs::read_to_string(folder.path("out/report.html")).expect("report");
    assert!(page.contains("share below z, minus z") && page.contains("too close together"));
    assert!(adjusted(&folder.json("out/result.json")) < 0.01);
}

/// A flat prior: parameters come from a fit to the real data, and the posterior is that of both datasets. Places of a
/// normal distribution without correlations show its mistake there as well.
#[test]
fn flat_priors_are_judged_beside_the_real_data() {
    let folder = Folder::new("conditional");
    let flat = program().replace("a ~ normal(0, 1); b ~ normal(0, 1);", "");
    let model = folder.file("flat.stan", &flat);
    let real = SIZES.replace("\"N\"", "\"y\": [3.1, 2.8, 4.9, 4.1, 5.6, 6.3, 5.2, 4.4], \"N\"");
    let data = folder.file("real.json", &real);
    let right = crust(&["sbc", &model, &data, "--simulate", "conditional", "--datasets", "60", "--json", "-"]);
    assert_eq!(right.status.code(), Some(0), "{}", text(&right));
    let right = json(&right);
    assert_eq!((&right["verdict"]["level"], &right["simulate"]), (&"good".into(), &"conditional".into()));
    assert!(number(&right["fit"]["r_hat"]) < 1.05 && number(&right["fit"]["ess"]) > 100.0, "{}", right["fit"]);
    let options = ["--simulate", "conditional", "--datasets", "60", "--method", "meanfield"];
    let wrong = crust(&[&["sbc", &model, &data], &options[..]].concat());
    assert_eq!(wrong.status.code(), Some(1), "{}", text(&wrong));
    assert!(text(&wrong).contains("too close together"), "{}", text(&wrong));
}

/// Simulators that do not draw from the likelihood never get as far as a number; the right one is calibrated.
#[test]
fn wrong_simulators_are_found() {
    let program = |noise: &str| {
        format!(
            "data {{ int N; vector[N] x; vector[N] y; }} parameters {{ real a; real b; real<lower=0> s; }}
             model {{ a ~ normal(0, 1); b ~ normal(0, 1); s ~ gamma(4, 4); y ~ normal(a + b * x, s); }}
             generated quantities {{ vector[N] y_sim; for (n in 1:N) y_sim[n] = {noise}; }}"
        )
    };
    let folder = Folder::new("simulators");
    let data = folder.file("sizes.json", &SIZES.replace("\"x\"", "\"y\": [0, 1, 0, 2, 1, 3, 2, 1], \"x\""));
    let run = |name: &str, noise: &str| {
        let model = folder.file(name, &program(noise));
        crust(&["sbc", &model, &data, "--datasets", "60"])
    };
    let right = run("right.stan", "normal_rng(a + b * x[n], s)");
    assert_eq!(right.status.code(), Some(0), "{}", text(&right));
    for (name, noise) in [
        ("wide.stan", "normal_rng(a + b * x[n], 2 * s)"),
        ("narrow.stan", "normal_rng(a + b * x[n], 0.5 * s)"),
        ("moved.stan", "normal_rng(a + 1 + b * x[n], s)"),
        ("tails.stan", "student_t_rng(2, a + b * x[n], s)"),
        ("steep.stan", "normal_rng(a + 3 * b * x[n], s)"),
    ] {
        let wrong = run(name, noise);
        assert_eq!(wrong.status.code(), Some(2), "{name}: {}", text(&wrong));
        assert!(text(&wrong).contains("does not draw from the likelihood"), "{name}: {}", text(&wrong));
        assert!(!text(&wrong).contains("--simulate conditional"), "{name}: {}", text(&wrong));
    }
}

/// Results depend on the seed alone.
#[test]
fn places_do_not_depend_on_threads() {
    let folder = Folder::new("threads");
    let (model, data) = (folder.file("line.stan", &program()), folder.file("sizes.json", SIZES));
    let run = |threads: &str| {
        json(&crust(&["sbc", &model, &data, "--datasets", "6", "--threads", threads, "--seed", "3", "--json", "-"]))
    };
    let (one, three) = (run("1"), run("3"));
    assert_eq!(one, three);
    assert!(one["verdict"]["sentence"].as_str().is_some_and(|s| s.contains("no test")), "{one}");
}

#[test]
fn what_cannot_be_simulated_is_refused() {
    let folder = Folder::new("refused");
    let flat = folder.file("flat.stan", "data { real y; } parameters { real m; } model { y ~ normal(m, 1); }");
    let output = crust(&["sbc", &flat]);
    assert_eq!(output.status.code(), Some(2), "{}", text(&output));
    assert!(
        text(&output).contains("improper") && text(&output).contains("--simulate conditional"),
        "{}",
        text(&output)
    );
    let output = crust(&["sbc", &flat, "--datasets", "0"]);
    assert_eq!(output.status.code(), Some(2), "{}", text(&output));
}
