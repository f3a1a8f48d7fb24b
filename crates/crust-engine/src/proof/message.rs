//! What is wrong with a reading, in words.

use crust_stan::diagnostics::Diagnostic;
use crust_stan::span::Span;

use super::{Difference, Misreading, Normalisers, Part, Weighs};

pub fn densities(d: &Difference) -> String {
    let what = if d.span.is_some() { "this statement" } else { d.part.name() };
    format!(
        "{what} is not read as the program states it: from a typical point to one where {} the log density changes by {:.4} in \
         the program, and by {:.4} in the reading",
        d.at, d.program, d.reading
    )
}

pub fn normaliser(n: &Normalisers) -> String {
    let names: Vec<String> = n.outcomes.iter().map(|name| format!("`{name}`")).collect();
    format!(
        "the likelihood is no density of {}: added up over all its values it is e^{:.4} where {}, but e^{:.4} where {}",
        names.join(", "),
        n.log[0],
        n.at[0],
        n.log[1],
        n.at[1]
    )
}

pub fn weighs(w: &Weighs) -> String {
    format!(
        "the terms of {} also weigh other parameters: over all values of {} they integrate to e^{:.4} where {}, but to e^{:.4} \
         where {}",
        w.names, w.names, w.log[0], w.at[0], w.log[1], w.at[1]
    )
}

pub fn wealth(wealth: f64) -> String {
    format!(
        "ratios of likelihoods, which are 1 on average if it does, grew to {wealth:.1e}; by chance that happens at most once in \
         {wealth:.0e} runs"
    )
}

pub fn diagnostic(misreading: &Misreading) -> Diagnostic {
    let error = |code, span: Span| Diagnostic::error(code, misreading.to_string(), span);
    match misreading {
        Misreading::Density(d) => {
            let error = error("misreading", d.span.unwrap_or_default());
            let error = if d.reading.is_finite() {
                error.note("the two may differ by a constant only: what is drawn does not have the density that the program states")
            } else {
                error.note("the reading never draws such values, but the program gives them a density")
            };
            match d.part {
                Part::Prior => error
                    .help("state the distribution of the parameter itself, with its bounds in the declaration")
                    .help(
                        "if a function of a parameter is on the left, what is added to the target beside it must be its log Jacobian: \
                         −log(x) for `log(x) ~ …`",
                    ),
                Part::Likelihood => error.help(
                    "if the outcome has bounds in its declaration, leave them out or write `T[ , ]` in the statement; otherwise \
                     supply the simulator (`--simulator`, or a generated quantity with `_sim` behind the outcome's name)",
                ),
            }
        }
        Misreading::Draws { span, .. } => error("misread-draws", *span)
            .note("a value that is computed back must be the one that was drawn")
            .help("state the distribution of the variable itself"),
        Misreading::Normaliser { span } => error("misreading", *span)
            .note("Stan does not divide by that probability, so that the density also weighs the parameters it depends on")
            .help("write a distribution that needs no such condition, or `T[ , ]`"),
        Misreading::Cut { span, .. } => error("prior-is-cut", *span)
            .note("what is refused has no density, so that the prior is not the one that the statements name")
            .help("say it with bounds in the declaration of a parameter, or with `T[ , ]`"),
        Misreading::Weighs(w) => error("prior-weighs-others", w.span)
            .note(
                "so that their prior is not the one that their own statements name: a log determinant is missing, or there are \
                 more terms than numbers that are free, as where all elements of a vector that sums to zero have a density",
            )
            .help("let the scale stand outside: `b = s * z`, with terms of `z` that no other parameter is in"),
        Misreading::NotNormalised(n) => error("not-a-density", n.span.unwrap_or_default())
            .note("p(y | θ) must add up to one over all data, whatever the parameters are; otherwise it also weighs parameters")
            .note("a term may be missing or doubled, a normaliser left out, or an outcome taken for a covariate")
            .help(
                "if that is meant, supply the simulator (`--simulator`, or a generated quantity with `_sim` behind the outcome's \
                 name)",
            ),
        Misreading::Supplied { span, .. } => error("wrong-simulator", span.unwrap_or_default())
            .note("likelihood ratios are all that a posterior depends on")
            .help("let the simulator draw from just the density that the model block states"),
    }
}
