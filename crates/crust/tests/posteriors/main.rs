//! `crust sample` on programs whose posterior means and standard deviations are known without sampling: by formula, by
//! enumeration or by quadrature. Nothing of crust takes part in computing what is expected.
//!
//! A mean or standard deviation fails when it is more than 5 of its own Monte Carlo standard errors off: 6·10⁻⁷ for
//! each of about 260 checks, 1.5·10⁻⁴ for all. Seeds are fixed. The standard errors must be small enough for the check
//! to mean something.
#![allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, reason = "small numbers of data")]

mod algebra;
#[path = "../common/mod.rs"]
mod common;
mod conjugate;
mod enumerated;
mod families;
mod integrated;
mod quadrature;

use common::{Folder, crust, json, row};
use serde_json::Value;

/// The most standard errors that a mean or standard deviation may be off.
const MOST_ERRORS: f64 = 5.0;
/// The most divergent transitions of the eight schools among 8000.
const MOST_DIVERGENCES: u64 = 4;
/// The largest standard error, in posterior standard deviations.
const LARGEST_ERROR: f64 = 0.05;
const LARGEST_R_HAT: f64 = 1.02;

/// What is known about the posterior of a variable.
pub struct Truth {
    name: String,
    mean: f64,
    sd: f64,
}

impl Truth {
    pub fn new(name: &str, mean: f64, sd: f64) -> Self {
        Self { name: name.to_owned(), mean, sd }
    }

    /// What is wrong with the row of the summary for this variable.
    fn complaints(&self, row: &Value) -> Option<String> {
        let number = |key: &str| row[key].as_f64().unwrap_or(f64::NAN);
        let z_mean = (number("mean") - self.mean) / number("mcse_mean");
        let z_sd = (number("sd") - self.sd) / number("mcse_sd");
        let precise = number("mcse_mean").max(number("mcse_sd")) < LARGEST_ERROR * self.sd;
        let near = z_mean.abs() < MOST_ERRORS && z_sd.abs() < MOST_ERRORS;
        let (name, mean, sd) = (&self.name, self.mean, self.sd);
        let text =
            || format!("{name} is {mean} ± {sd}; mean off by {z_mean:.1}, sd by {z_sd:.1} standard errors: {row}");
        (!(near && precise && number("r_hat") < LARGEST_R_HAT)).then(text)
    }
}

/// Samples as a user would and returns what disagrees with the truths.
fn disagreements(name: &str, program: &str, data: &Value, truths: &[Truth]) -> Vec<String> {
    let folder = Folder::new(&format!("posteriors-{name}"));
    let (model, data) = (folder.file("program.stan", program), folder.file("data.json", &data.to_string()));
    // Gaps that may be 0 are sharp: with Stan's steps every second seed has a divergence, with shorter ones none of 30.
    let delta = if name == "order_statistics" { "0.95" } else { "0.8" };
    let run = ["sample", &model, &data, "--draws", "2000", "--delta", delta, "--threads", "1", "--json", "-"];
    let report = json(&crust(&run));
    let mut found: Vec<String> =
        truths.iter().filter_map(|truth| truth.complaints(row(&report, &truth.name))).collect();
    // these posteriors are easy: a sampler that warns about one of them has a problem of its own; only the eight
    // schools with their half-Cauchy scale have a stray divergence now and then, as in Stan
    let few = report["divergences"].as_u64().is_some_and(|divergences| divergences <= MOST_DIVERGENCES);
    let counts = |warning: &&Value| !(name == "eight_schools" && few && warning["kind"] == "divergences");
    found.extend(report["warnings"].as_array().expect("warnings").iter().filter(counts).map(Value::to_string));
    found
}

#[track_caller]
pub fn assert_posterior(name: &str, program: &str, data: &Value, truths: &[Truth]) {
    let found = disagreements(name, program, data, truths);
    assert!(found.is_empty(), "{name}:\n{}", found.join("\n"));
}

/// Asserts the posterior of a program in `programs/`.
#[macro_export]
macro_rules! posterior {
    ($name:literal, $data:expr, $truths:expr) => {
        $crate::assert_posterior($name, include_str!(concat!("programs/", $name, ".stan")), &$data, &$truths)
    };
}

#[test]
fn a_scale_that_is_wrong_by_a_tenth_is_found() {
    let program = "parameters { real x; } model { x ~ normal(1, 1.1); }";
    let found =
        disagreements("wrong-scale", program, &Value::Object(serde_json::Map::new()), &[Truth::new("x", 1.0, 1.0)]);
    assert_eq!(found.len(), 1, "{found:?}");
}

#[test]
fn a_mean_that_is_wrong_by_a_fifth_of_the_scale_is_found() {
    let program = "parameters { real x; } model { x ~ normal(1.2, 1); }";
    let found =
        disagreements("wrong-mean", program, &Value::Object(serde_json::Map::new()), &[Truth::new("x", 1.0, 1.0)]);
    assert_eq!(found.len(), 1, "{found:?}");
}
