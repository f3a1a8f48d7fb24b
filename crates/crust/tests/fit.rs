//! `crust bread` about fits that look right and are not.

mod common;

use common::{Folder, crust, text};
use serde_json::{Value, json};

fn verdict(arguments: &[&str]) -> (String, String) {
    let output = crust(&[&["bread"], arguments, &["--json", "-", "-q", "--steps", "10,30"]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    let result: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let word = |name: &str| result["verdict"][name].as_str().unwrap_or_default().to_owned();
    (word("level"), word("sentence"))
}

/// A needle in a hill: NUTS leaves the needle at once, whatever it starts from, and the weighted prior has a third of the
/// posterior there. With the likelihood far from the needle the same program is right.
#[test]
fn a_needle_that_all_chains_leave_is_no_good_verdict() {
    let folder = Folder::new("spike");
    let model = folder.file(
        "model.stan",
        "data { real y; } parameters { real b; }
         model { target += log_mix(0.5, normal_lpdf(b | 0, 1e-4), normal_lpdf(b | 0, 20)); y ~ normal(b, 1); }",
    );
    let near = folder.file("near.json", r#"{"y": 2.6}"#);
    for seed in ["1", "2"] {
        let (level, sentence) = verdict(&[&model, &near, "--seed", seed]);
        assert_ne!(level, "good", "seed {seed}: {sentence}");
        let reasons = ["draws of the prior", "R-hat", "by the log density"];
        assert!(reasons.iter().any(|reason| sentence.contains(reason)), "seed {seed}: {sentence}");
    }
    let far = folder.file("far.json", r#"{"y": 9.5}"#);
    let (level, sentence) = verdict(&[&model, &far]);
    assert_eq!(level, "good", "{sentence}");
}

/// Half of the posterior is in a spike of twenty dimensions, in the middle of what all chains see: no coordinate shows it,
/// only how high the density is there.
#[test]
fn a_spike_in_the_middle_of_a_slab_is_seen() {
    let folder = Folder::new("needle");
    let model = folder.file(
        "model.stan",
        "parameters { vector[20] x; } model { target += log_mix(0.5, normal_lpdf(x | 0, 1), normal_lpdf(x | 0, 0.01)); }",
    );
    let (level, sentence) = verdict(&[&model]);
    assert_eq!(level, "poor", "{sentence}");
    assert!(sentence.contains("by the log density"), "{sentence}");
}

/// Age, income and year as they are: the posterior is a ridge along which chains with a diagonal metric do not move at all.
/// It has one mode, since it is log-concave.
#[test]
fn predictors_on_their_own_scales_are_no_trouble() {
    let folder = Folder::new("unscaled");
    let model = folder.file(
        "model.stan",
        "data { int N; matrix[N, 3] X; array[N] int<lower=0, upper=1> vote; }
         parameters { real alpha; vector[3] beta; }
         model { vote ~ bernoulli_logit(alpha + X * beta); }",
    );
    let n = 240_u32;
    let row = |i: u32| [20 + i * 37 % 60, 15_000 + i * 7919 % 120_000, 1950 + i * 53 % 50].map(f64::from);
    let rows: Vec<[f64; 3]> = (0..n).map(row).collect();
    let logit = |x: &[f64; 3]| 0.03 * (x[0] - 50.0) - 0.00001 * (x[1] - 70_000.0) + 0.02 * (x[2] - 1975.0);
    let votes: Vec<u8> =
        rows.iter().zip(0..n).map(|(x, i)| u8::from(logit(x) > f64::from(i * 29 % 41) / 10.0 - 2.0)).collect();
    let data = folder.file("data.json", &json!({"N": n, "X": rows, "vote": votes}).to_string());
    for seed in ["1", "3"] {
        let (level, sentence) = verdict(&[&model, &data, "--seed", seed, "--replicates", "0"]);
        assert_eq!(level, "good", "seed {seed}: {sentence}");
    }
}

/// y ~ N(m, 1) with a flat m and 25 data: the posterior is N(ȳ, 1/25). Draws of it are good, moved or narrow ones are not.
#[test]
fn draws_that_are_given_are_judged_themselves() {
    let folder = Folder::new("given");
    let model =
        folder.file("model.stan", "data { int N; vector[N] y; } parameters { real m; } model { y ~ normal(m, 1); }");
    let y: Vec<f64> = (0..25).map(|i| f64::from(i * 7 % 25) / 6.0 - 2.0).collect();
    let mean = y.iter().sum::<f64>() / 25.0;
    let data = folder.file("data.json", &json!({"N": 25, "y": y}).to_string());
    // normal draws by Box and Muller from a generator of the minimal standard
    let mut state = 1_u64;
    let mut uniform = move || {
        state = state * 48_271 % 0x7fff_ffff;
        f64::from(u32::try_from(state).expect("31 bits")) / f64::from(0x7fff_ffff_u32)
    };
    let mut normal = move || (-2.0 * uniform().ln()).sqrt() * (std::f64::consts::TAU * uniform()).cos();
    for (name, shift, scale, good) in
        [("right", 0.0, 1.0, true), ("moved", 1.0, 1.0, false), ("narrow", 0.0, 0.5, false)]
    {
        let files: Vec<String> = (0..4)
            .map(|chain| {
                let numbers = (0..500).map(|_| (mean + 0.2 * (shift + scale * normal())).to_string());
                let rows: Vec<String> = std::iter::once("m".to_owned()).chain(numbers).collect();
                folder.file(&format!("{name}-{chain}.csv"), &rows.join("\n"))
            })
            .collect();
        let (level, sentence) = verdict(&[&model, &data, "--draws", &files.join(",")]);
        assert_eq!(level == "good", good, "{name}: {sentence}");
        assert!(good || sentence.contains("short chains that start at its draws"), "{name}: {sentence}");
    }
}

/// A fit needs more draws than two: the message says how many.
#[test]
fn too_few_draws_are_told() {
    let folder = Folder::new("few");
    let model = folder.file("model.stan", "data { real y; } parameters { real m; } model { y ~ normal(m, 1); }");
    let data = folder.file("data.json", r#"{"y": 0.3}"#);
    let draws = folder.file("draws.csv", "m\n0.1\n0.2\n");
    let output = crust(&["bread", &model, &data, "--draws", &draws]);
    assert_eq!(output.status.code(), Some(2), "{}", text(&output));
    assert!(text(&output).contains("there are 2 draws, but at least 50 are needed"), "{}", text(&output));
}
