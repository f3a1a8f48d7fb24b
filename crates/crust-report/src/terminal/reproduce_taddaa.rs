//! Tables of the TADDAA paper's experiments.

use crate::number::fixed;
use crust_diagnose::result::{TaddaaRun, TaddaaTable, TaddaaTarget};
use std::fmt::Write;

/// Beyond these squared correlations of starts and ends, chains have hardly moved.
use crust_diagnose::taddaa::MOST_CORRELATION;

const LEFT: usize = 36;
const COLUMN: usize = 19;

/// What the experiment is about.
pub fn taddaa_heading(experiment: &str, seed: u64) -> String {
    let what = match experiment {
        "taddaa-gaussian" => "GAUSSIAN: correlations 0.7, variances 10, 1, 1, … (TADDAA, section 4.1).",
        "taddaa-funnel" => "FUNNEL: x[1] ~ normal, the variance of all others is exp(x[1]) (TADDAA, section 4.2).",
        _ => "BANANA: x[1] ~ normal(0, 10), x[2] ~ normal(−0.03 (x[1]² − 100), 1). The TADDAA paper has none.",
    };
    format!(
        "{what} Seed {seed}.\nA mean-field fit, its true errors, and by how much it is wrong at least as chains of \
         several kinds say: bounds hold for all functionals of a line at once, in 95 % of runs. T is the number of \
         iterations; above ρ² = {MOST_CORRELATION} chains have hardly moved, and a bound of 0 means nothing."
    )
}

/// A distribution: truth, approximation and error, then a line of bounds for each kind of chains.
pub fn taddaa_target(target: &TaddaaTarget) -> String {
    let k_hat = target.k_hat.map_or_else(String::new, |k| format!(", k-hat {k:.2}"));
    let left = format!("d = {}, {} gradients{k_hat}", target.dimension, target.fit_gradients);
    let mut text = String::from("\n");
    let mut line = |left: &str, cells: Vec<String>| {
        // Writing to a text cannot fail.
        let _ = write!(text, "{left:<LEFT$}");
        for cell in cells {
            let _ = write!(text, " {cell:>COLUMN$}");
        }
        text.push('\n');
    };
    let functionals = &target.functionals;
    line(&left, functionals.iter().map(|f| f.name.clone()).collect());
    let truth = |truth: f64, se: f64| {
        if se > 0.0 { format!("{} ± {}", fixed(truth, 3), fixed(se, 3)) } else { fixed(truth, 3) }
    };
    line("truth", functionals.iter().map(|f| truth(f.truth, f.truth_se)).collect());
    line("approximation", functionals.iter().map(|f| fixed(f.approximation, 3)).collect());
    line("error", functionals.iter().map(|f| fixed(f.error, 3)).collect());
    for run in &target.runs {
        line(&words(run), run.bounds.iter().map(|b| fixed(b.simultaneous_lower_bound, 3)).collect());
    }
    if let Some(reference) = &target.reference {
        let (chains, draws) = (reference.chains, reference.draws);
        let _ = writeln!(
            text,
            "The truth is that of NUTS: {chains} chains of {draws} draws, R-hat {}, ESS {}, {} divergences.",
            fixed(reference.r_hat, 3),
            fixed(reference.ess, 0),
            reference.divergences
        );
    }
    if !target.converged {
        text.push_str("The fit did not converge.\n");
    }
    text.pop();
    text
}

fn words(run: &TaddaaRun) -> String {
    format!("≥ {}, T = {}, ρ² {}", run.kernel, run.iterations, fixed(run.rho2_max, 2))
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
    format!("\n{chains} chains each. {above} of {all} bounds are above the true error.{ended}")
}
