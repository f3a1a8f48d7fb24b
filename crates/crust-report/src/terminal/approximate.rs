//! What the terminal shows of an approximation, and of what is wrong with it.

use super::{cut, wrap};
use crust_diagnose::result::{Approximate, Taddaa};
use crust_diagnose::wasserstein::ErrorBounds;
use std::fmt::Write;

/// Rows of a table on the terminal.
const MOST: usize = 20;

/// How the fit ended, how good it is, and its means and standard deviations. No line of prose is wider than `width`.
pub fn approximate(result: &Approximate, width: usize) -> String {
    let mut lines = wrap(&format!("{}: {}", result.method, result.convergence), width);
    let k_hat = result.k_hat.map_or_else(|| "none".to_owned(), |k| format!("{k:.2}"));
    let degrees = result.degrees.map_or_else(String::new, |nu| format!(", {nu} degrees of freedom"));
    let facts = format!(
        "ELBO {:.3} ± {:.3} nats, k-hat {k_hat}{degrees}, {} iterations, {} evaluations, {:.2} s",
        result.elbo, result.elbo_se, result.iterations, result.gradients, result.seconds
    );
    lines.extend(wrap(&facts, width));
    if result.bounds.kl_at_least > 0.01 {
        let least = result.bounds.kl_at_least;
        lines.push(format!("KL(q‖p) is at least {least:.2} nats, by the importance-weighted bound"));
    }
    lines.extend(reliability(result).iter().flat_map(|words| wrap(words, width)));
    lines.push(format!("{:24}{:>14}{:>14}", "unconstrained", "mean", "sd"));
    let rows = result.names.iter().zip(&result.mean).zip(&result.sd);
    lines.extend(rows.take(MOST).map(|((name, mean), sd)| format!("{:24}{mean:>14.5}{sd:>14.5}", cut(name, 24))));
    more(&mut lines, result.names.len());
    lines.join("\n")
}

/// How wrong the approximation can be, and whether its importance weights say so at all.
pub(crate) fn reliability(result: &Approximate) -> Vec<String> {
    let mut words = result.notes.clone();
    words.extend(result.errors.iter().map(|errors| errors_in_words(errors, result)));
    if result.k_hat.is_none_or(|k| k > 0.7) {
        words.push(
            "The importance weights are too heavy-tailed for averages with them: do not rely on this approximation before \
             `crust taddaa` has judged it."
                .to_owned(),
        );
    }
    words
}

/// The largest errors that there can be, in standard deviations of the approximation.
fn errors_in_words(errors: &ErrorBounds, result: &Approximate) -> String {
    let relative = |bound: f64, sd: f64| bound / sd;
    let means = errors.mean_at_most.iter().zip(&result.sd).map(|(e, sd)| relative(*e, *sd)).fold(0.0, f64::max);
    let sds = errors.sd_at_most.iter().zip(&result.sd).map(|(e, sd)| e.map(|e| relative(e, *sd)));
    let sds = sds.collect::<Option<Vec<f64>>>().map(|all| all.into_iter().fold(0.0, f64::max));
    let sds = sds.map_or_else(String::new, |sds| format!(", sds by at most {sds:.2}"));
    format!(
        "Unconstrained means are wrong by at most {means:.2} standard deviations{sds}, if the tail of the importance \
         weights is no heavier than it looks"
    )
}

/// The verdict, and the errors it rests on, worst first.
pub fn taddaa(result: &Taddaa, width: usize) -> String {
    let found = &result.found;
    let mut lines = wrap(&found.verdict.sentence, width);
    lines.extend(result.notes.iter().flat_map(|note| wrap(note, width)));
    if result.partial {
        lines.push("The chains were ended early.".to_owned());
    }
    let mut facts = format!(
        "{} chains of {} iterations ({}), squared correlation of ends with starts at most {:.3}",
        found.chains, found.iterations, result.kernel, found.rho2_max
    );
    if let Some(k_hat) = result.k_hat {
        let _ = write!(facts, ", k-hat {k_hat:.2}");
    }
    lines.extend(wrap(&facts, width));
    if let Some(bounds) = &result.bounds {
        lines.push(format!("KL(q‖p) is at least {:.2} nats", bounds.kl_at_least));
        lines.extend(wrap(&crate::divergence::bounds_in_words(bounds), width));
    }
    let mut worst: Vec<_> = found.functionals.iter().filter(|f| f.simultaneous_lower_bound > 0.0).collect();
    worst.sort_by(|a, b| b.relative.total_cmp(&a.relative));
    if !worst.is_empty() {
        let heading = ["approximation", "improved", "for all at once", "for this alone"];
        let [a, b, c, d] = heading;
        lines.push(format!("{:28}{a:>14}{b:>14}{c:>16}{d:>16}", "wrong by at least"));
    }
    lines.extend(worst.iter().take(MOST).map(|f| {
        let (name, all, alone) = (cut(&f.name, 28), f.simultaneous_lower_bound, f.lower_bound);
        format!("{name:28}{:>14.5}{:>14.5}{all:>16.5}{alone:>16.5}", f.approximation, f.improved)
    }));
    more(&mut lines, worst.len());
    lines.join("\n")
}

/// Says how many rows are not shown.
fn more(lines: &mut Vec<String>, rows: usize) {
    if rows > MOST {
        lines.push(format!("… and {} more; `--json` has all", rows - MOST));
    }
}
