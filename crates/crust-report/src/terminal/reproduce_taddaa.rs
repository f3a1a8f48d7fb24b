//! Tables of the TADDAA paper's experiments.

use crate::number::fixed;
use crust_diagnose::result::{TaddaaRun, TaddaaTable, TaddaaTarget};
use crust_diagnose::taddaa::MOST_CORRELATION;
use std::fmt::Write;

/// What the experiment is about.
pub fn taddaa_heading(experiment: &str, seed: u64) -> String {
    let what = match experiment {
        "taddaa-gaussian" => "GAUSSIAN: correlations 0.7, variances 10, 1, 1, … (TADDAA, section 4.1).",
        "taddaa-funnel" => "FUNNEL: x[1] ~ normal, the variance of all others is exp(x[1]) (TADDAA, section 4.2).",
        "taddaa-candy" => {
            "CANDY: is it chocolate? Logistic regression, coefficients ~ normal(0, 1) (TADDAA, section 4.3)."
        }
        "taddaa-cancer" => {
            "CANCER: which leukemia? Logistic regression on genes, horseshoe prior (TADDAA, section 4.4)."
        }
        "taddaa-bnn" => "BNN: is it chocolate? A network with two layers of five units (TADDAA, section 4.5).",
        _ => "BANANA: x[1] ~ normal(0, 10), x[2] ~ normal(−0.03 (x[1]² − 100), 1). The TADDAA paper has none.",
    };
    format!(
        "{what} Seed {seed}.\nA mean-field fit, its true errors, and by how much it is wrong at least, as chains of \
         several kinds with T iterations say.\nThe bounds of a column hold at once in 95 % of runs, if errors shrink \
         along the chains; above ρ² = {MOST_CORRELATION} chains have hardly\nmoved, and a bound of 0 means nothing."
    )
}

/// A distribution: a line for each functional, with a column for each kind of chains.
pub fn taddaa_target(target: &TaddaaTarget) -> String {
    let k_hat = target.k_hat.map_or_else(String::new, |k| format!(", k-hat {k:.2}"));
    let mut text = format!("\nd = {}: a fit by {} gradients{k_hat}", target.dimension, target.fit_gradients);
    if !target.converged {
        text.push_str(", which did not converge");
    }
    let truth_width = if target.reference.is_some() { 16 } else { 9 };
    let names = target.functionals.iter().map(|f| f.name.len()).fold(19, usize::max);
    let mut line = |left: &str, [truth, approximation, error]: [&str; 3], cells: &dyn Fn(&TaddaaRun) -> String| {
        // Writing to a text cannot fail.
        let _ = write!(text, "\n{left:<names$} {truth:>truth_width$} {approximation:>9} {error:>9}");
        for run in &target.runs {
            let _ = write!(text, " {:>8}", cells(run));
        }
    };
    line("", ["", "", ""], &|run| run.kernel.clone());
    line("", ["", "", "T"], &|run| run.iterations.to_string());
    line("", ["truth", "fit", "error; ρ²"], &|run| fixed(run.rho2_max, 2));
    for (number, functional) in target.functionals.iter().enumerate() {
        let mut truth = fixed(functional.truth, 3);
        if target.reference.is_some() {
            let _ = write!(truth, " ± {}", fixed(functional.truth_se, 3));
        }
        let (approximation, error) = (fixed(functional.approximation, 3), fixed(functional.error, 3));
        let bound = |run: &TaddaaRun| {
            run.bounds.get(number).map_or_else(String::new, |bound| fixed(bound.simultaneous_lower_bound, 3))
        };
        line(&functional.name, [&truth, &approximation, &error], &bound);
    }
    if let Some(reference) = &target.reference {
        let _ = write!(
            text,
            "\nThe truth is that of NUTS: {} chains of {} draws, R-hat {}, ESS {}, {} divergences.",
            reference.chains,
            reference.draws,
            fixed(reference.r_hat, 3),
            fixed(reference.ess, 0),
            reference.divergences
        );
    }
    text
}

/// Whether bounds hold.
pub fn taddaa_agreement(table: &TaddaaTable) -> String {
    let (mut all, mut above) = (0, 0);
    for target in &table.targets {
        for run in &target.runs {
            for (bound, functional) in run.bounds.iter().zip(&target.functionals) {
                all += 1;
                // Truths that are estimated may be off by two standard errors.
                let most = functional.error + 2.0 * functional.truth_se;
                above += usize::from(bound.simultaneous_lower_bound > most);
            }
        }
    }
    let chains = table.targets.first().and_then(|t| t.runs.first()).map_or(0, |run| run.chains);
    let ended = if table.partial { " Ended early: there should have been more." } else { "" };
    format!("\n{chains} chains of each kind. {above} of {all} bounds are above the true error.{ended}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crust_diagnose::result::{TaddaaBound, TaddaaFunctional};

    #[test]
    fn bounds_above_the_error_are_counted() {
        let functional = |error: f64, truth_se: f64| TaddaaFunctional { error, truth_se, ..Default::default() };
        let bound = |b: f64| TaddaaBound { simultaneous_lower_bound: b, ..Default::default() };
        let run = TaddaaRun { chains: 387, bounds: [0.5, 0.5, 0.5].map(bound).to_vec(), ..Default::default() };
        let functionals = vec![functional(0.6, 0.0), functional(0.4, 0.0), functional(0.4, 0.06)];
        let target = TaddaaTarget { functionals, runs: vec![run], ..Default::default() };
        assert_eq!(taddaa_target(&target).lines().count(), 8);
        let table = TaddaaTable { targets: vec![target], ..Default::default() };
        assert_eq!(taddaa_agreement(&table), "\n387 chains of each kind. 1 of 3 bounds are above the true error.");
    }
}
