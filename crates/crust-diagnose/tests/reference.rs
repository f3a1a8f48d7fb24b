//! Agreement with the R packages posterior and loo, and with `ArviZ`, to 1e-8.

use crust_diagnose::convergence as c;
use crust_diagnose::psis::psis;
use serde_json::Value;

const TOLERANCE: f64 = 1e-8;

fn number(value: &Value) -> f64 {
    match value {
        Value::Null => f64::NAN,
        Value::String(text) if text == "Infinity" => f64::INFINITY,
        other => other.as_f64().expect("a number"),
    }
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().expect("a list").iter().map(number).collect()
}

fn agree(ours: f64, theirs: f64) -> bool {
    ours.to_bits() == theirs.to_bits()
        || (ours.is_nan() && theirs.is_nan())
        || (ours - theirs).abs() <= TOLERANCE * theirs.abs().max(1.0)
}

fn statistic(name: &str, chains: &[Vec<f64>]) -> f64 {
    let all: Vec<f64> = chains.concat();
    let probability = |prefix: &str| name.strip_prefix(prefix)?.parse().ok();
    if let Some(p) = probability("ess_quantile_") {
        return c::ess_quantile(chains, p);
    }
    if let Some(p) = probability("mcse_quantile_") {
        return c::mcse_quantile(chains, p);
    }
    match name {
        "rhat" => c::rhat(chains),
        "rhat_split" => c::rhat_split(chains),
        "rhat_identity" => c::rhat_identity(chains),
        "rhat_z_scale" => c::rhat_z_scale(chains),
        "rhat_folded" => c::rhat_folded(chains),
        "ess_bulk" => c::ess_bulk(chains),
        "ess_tail" => c::ess_tail(chains),
        "ess_mean" => c::ess_mean(chains),
        "ess_sd" => c::ess_sd(chains),
        "ess_median" => c::ess_median(chains),
        "ess_mad" => c::ess_mad(chains),
        "mcse_mean" => c::mcse_mean(chains),
        "mcse_sd" => c::mcse_sd(chains),
        "mcse_median" => c::mcse_median(chains),
        "mean" => c::mean(&all),
        "sd_ddof1" => c::sd(&all),
        other => panic!("the reference has {other}, which this test does not know"),
    }
}

#[test]
fn convergence_diagnostics() {
    let golden: Value = serde_json::from_str(include_str!("golden/mcmc.json")).expect("JSON");
    let mut checked = 0;
    let mut failures = Vec::new();
    for (case, content) in golden["cases"].as_object().expect("cases") {
        let chains: Vec<Vec<f64>> = content["draws"].as_array().expect("chains").iter().map(numbers).collect();
        for (name, theirs) in content["expected"].as_object().expect("statistics") {
            let (ours, theirs) = (statistic(name, &chains), number(theirs));
            checked += 1;
            if !agree(ours, theirs) {
                failures.push(format!("{case} {name}: {ours} and not {theirs}"));
            }
        }
    }
    assert!(failures.is_empty(), "{} of {checked}:\n{}", failures.len(), failures.join("\n"));
    assert!(checked > 300, "only {checked} numbers were compared");
}

#[test]
fn pareto_smoothing() {
    let golden: Value = serde_json::from_str(include_str!("golden/psis.json")).expect("JSON");
    let mut failures = Vec::new();
    for (case, content) in golden["cases"].as_object().expect("cases") {
        let log_weights = numbers(&content["log_weights"]);
        for (r_eff, theirs) in content["loo"].as_object().expect("efficiencies") {
            let ours = psis(&log_weights, r_eff.parse().expect("a number")).expect("weights");
            let mut sorted = ours.log_weights.clone();
            sorted.sort_by(f64::total_cmp);
            let tail = numbers(&theirs["smoothed_log_weights_sorted_tail20"]);
            let mut compare = |what: &str, ours: f64, theirs: f64| {
                if !agree(ours, theirs) {
                    failures.push(format!("{case} r_eff {r_eff} {what}: {ours} and not {theirs}"));
                }
            };
            compare("khat", ours.khat, number(&theirs["khat"]));
            compare("n_eff", ours.ess, number(&theirs["n_eff"]));
            for (a, b) in sorted.iter().rev().zip(tail.iter().rev()) {
                compare("weight", *a, *b);
            }
            assert_eq!(Some(ours.tail_length as u64), theirs["tail_len"].as_u64(), "{case} {r_eff}");
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
