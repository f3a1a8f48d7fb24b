//! Parts that the reports of several commands share.

use super::page::{concat, unordered};
use super::{Page, Table, tables};
use crate::figures;
use crate::number::{self, count, fixed, nats, seconds, with_error};
use crate::svg::text::escape;
use crate::view::{View, last, real_lower_bound};
use crust_diagnose::result::{Bread, Check, Compare, Fit, KernelAt, Reading, Run, Rung, Simulation, Stated, Timing};

/// A number that is worth large figures, with what it is.
pub(super) struct Tile {
    name: String,
    value: String,
    note: String,
}

pub(super) fn tiles(numbers: &[Tile]) -> String {
    let tile = |t: &Tile| {
        let Tile { name, value, note } = t;
        format!(
            "<div class=\"tile\"><span>{}</span><b>{}</b><span>{}</span></div>\n",
            escape(name),
            escape(value),
            escape(note)
        )
    };
    let all = concat(numbers.iter().map(tile));
    if all.is_empty() { all } else { format!("<div class=\"tiles\">\n{all}</div>\n") }
}

fn tile(name: impl Into<String>, value: impl Into<String>, note: impl Into<String>) -> Tile {
    Tile { name: name.into(), value: value.into(), note: note.into() }
}

/// The bound and the sandwich at the largest T.
pub(super) fn sandwich_tiles(rungs: &[Rung], violation: bool) -> Vec<Tile> {
    let Some(rung) = last(rungs) else { return vec![] };
    let cross = rung.log_ml_lower > rung.log_ml_upper && !violation;
    let bound = bound_tile(rung);
    if figures::is_relative(rung) {
        return vec![bound];
    }
    vec![
        bound,
        tile(
            "log-ML of the simulated data",
            number::range(rung.log_ml_lower, rung.log_ml_upper),
            format!(
                "stochastic lower and upper bound{}",
                if cross { "; they have met, and cross by chance" } else { "" }
            ),
        ),
        tile("log-ML, both directions", with_error(rung.log_ml_bar, rung.log_ml_bar_se), "Bennett's estimate"),
    ]
}

fn bound_tile(rung: &Rung) -> Tile {
    tile(
        format!("Jeffreys bound at T = {}", rung.t),
        format!("{} nats", with_error(rung.jeffreys_bound.max(0.0), rung.jeffreys_se)),
        "bounds the divergence from the posterior, in expectation",
    )
}

pub(super) fn bread_tiles(bread: &Bread) -> Vec<Tile> {
    let mut tiles = sandwich_tiles(&bread.simulated.rungs, bread.violation);
    tiles.truncate(2);
    if let (Some(first), Some(confirmed)) = (tiles.first_mut(), &bread.confirmation) {
        *first = bound_tile(&confirmed.rung);
    }
    if let Some(bound) = real_lower_bound(bread) {
        tiles.push(tile(
            "log-ML of the real data",
            format!("≥ {}", nats(bound)),
            "stochastic lower bound; there is no upper one",
        ));
    }
    if let Some(p) = &bread.predictive {
        tiles.push(tile(
            "Real data among replicates",
            format!("p = {}", fixed(p.p_value, 3)),
            p.alarm
                .clone()
                .unwrap_or_else(|| format!("{} statistics of {} datasets", p.statistics.len(), p.replicates)),
        ));
    } else if let Some(c) = &bread.calibration {
        tiles.push(tile(
            "Real data among replicates",
            format!("rank {} of {}", c.rank, c.replicates.len() + 1),
            format!("1 is the most unusual; p = {}", fixed(c.p_value, 3)),
        ));
    }
    tiles
}

pub(super) fn compare_tiles(compare: &Compare) -> Vec<Tile> {
    let of = |e: &crust_diagnose::result::Entry| {
        let rung = last(&e.rungs)?;
        Some(tile(
            &e.name[..],
            format!("{} nats", with_error(rung.jeffreys_bound, rung.jeffreys_se)),
            format!("Jeffreys bound at T = {}", rung.t),
        ))
    };
    compare.entries.iter().filter_map(of).collect()
}

/// Where simulated data come from.
pub(super) fn simulation(kind: Simulation) -> &'static str {
    match kind {
        Simulation::Conditional => {
            "Data were simulated with parameters that are draws of the fit to the real data. Given the real and the simulated data together, these are \
             draws from the posterior if the fit is right, and so both bounds can be computed. Weights are relative: the marginal likelihood of both \
             datasets is no number to look at."
        }
        Simulation::Fitted => {
            "Data were simulated from the hyperparameters that fit the real data. For these, a draw from the posterior is known, and so both bounds can be computed."
        }
        Simulation::Nothing => {
            "No data could be simulated. Reverse chains on the real data begin with draws of the fit, which stand for exact draws of the posterior: \
             what is computed is a subjective divergence, and a bound only if the fit is right. Weights are relative."
        }
        Simulation::Prior => {
            "Data were simulated with parameters drawn from the prior. These are draws from the posterior of such data, and so both bounds can be computed."
        }
    }
}

/// Weights at the largest T, and at one on the way there.
pub(super) fn weights(page: &mut Page, rungs: &[Rung]) {
    let middle = rungs.len().checked_sub(3).and_then(|n| rungs.get(n));
    page.figures([middle.and_then(figures::weights), rungs.last().and_then(figures::weights)]);
}

pub(super) fn kernels(page: &mut Page, kernels: &[KernelAt]) {
    let both = [figures::acceptance(kernels), figures::step_sizes(kernels)];
    if both.iter().any(Option::is_some) {
        page.section("Transitions");
        page.figures(both);
    }
}

pub(super) fn fit(page: &mut Page, fit: &Fit) {
    page.section("The fit to the real data");
    page.paragraph(&format!(
        "NUTS, {} chains of {} draws. The largest R-hat is {} ({}), the smallest effective sample size {} ({}), with {} divergent transitions.",
        fit.chains,
        fit.draws,
        fixed(fit.worst_r_hat, 3),
        fit.worst_r_hat_name,
        fixed(fit.least_ess, 0),
        fit.least_ess_name,
        fit.divergences
    ));
    page.list(&fit.warnings);
    page.table(&tables::hyperparameters(fit));
}

/// How the program was understood.
pub(super) fn reading(page: &mut Page, reading: &Reading) {
    if reading.parameters.is_empty() && reading.outcomes.is_empty() {
        return;
    }
    page.section("How the model was understood");
    let list = |items: &[Stated]| unordered(&items.iter().map(|s| s.words.clone()).collect::<Vec<_>>(), "code");
    page.add("<div class=\"sides\">\n");
    for (name, items) in
        [("Parameters and their priors", &reading.parameters), ("Outcomes and their likelihood", &reading.outcomes)]
    {
        page.add(&format!("<div><h3>{name}</h3>{}</div>\n", list(items)));
    }
    page.add("</div>\n");
    if !reading.order.is_empty() {
        page.paragraph(&format!("Simulation draws in this order: {}.", reading.order.join(", ")));
    }
    if !reading.hyperparameters.is_empty() {
        page.paragraph(&format!("Hyperparameters: {}.", reading.hyperparameters.join(", ")));
    }
    page.list(&reading.notes);
}

/// Tests of the implementation.
pub(super) fn checks(page: &mut Page, checks: &[Check]) {
    if checks.is_empty() {
        return;
    }
    page.section("Checks of the implementation");
    let row = |c: &Check| {
        vec![
            c.name.clone(),
            c.sentence.clone(),
            if c.failed { "failed" } else { "passed" }.to_owned(),
            format!("{}{}", if c.rigorous { "≤ " } else { "≈ " }, p_value(c.p_value)),
            p_value(c.level),
        ]
    };
    let head = ["check", "what it says", "", "p", "fails below"].map(str::to_owned).to_vec();
    let caption = "≤ marks a proven bound on the probability, ≈ an approximation for many chains.".to_owned();
    page.table(&Table { caption, head, rows: checks.iter().map(row).collect(), words: 3 });
}

fn p_value(p: f64) -> String {
    if p < 0.001 && p > 0.0 { number::scientific(p) } else { fixed(p, 3) }
}

/// How it was done, and how to say so.
pub(super) fn method(page: &mut Page, view: &View<'_>, timing: Option<&Timing>) {
    page.section("Method");
    page.paragraph(
        "Forward chains begin with a draw from the first distribution of a path (the prior, or a reference that was fitted to draws) and move through T distributions to the posterior; their weights \
         are unbiased estimates of the marginal likelihood, so their logarithms are stochastic lower bounds (annealed importance sampling). Reverse chains begin \
         with a draw from the posterior, which is known for simulated data, and go the other way: stochastic upper bounds. The expected difference of \
         the two, chain by chain, bounds the Jeffreys divergence between the forward chains' last states and the posterior.",
    );
    if view.command == "bread" {
        page.paragraph(
            "For real data no draw from the posterior is known. So the model is fitted to them, data are simulated from the fit, and the bound is computed with \
             the simulated data. Conditional simulation takes parameters from draws of the fit: given the real and the simulated data, they are exact draws of \
             the posterior if the fit is right. The path then begins at a distribution that was fitted to draws, in place of the prior. Real and simulated \
             data are compared.",
        );
    }
    page.list(&references(view));
    page.table(&settings(view.run, timing));
}

fn references(view: &View<'_>) -> Vec<String> {
    let mut all = vec![
        "Grosse, R. B., Ancha, S., Roy, D. M. (2016). Measuring the reliability of MCMC inference with bidirectional Monte Carlo. NIPS 29. (The Jeffreys bound and the protocol for real data.)",
        "Grosse, R. B., Ghahramani, Z., Adams, R. P. (2015). Sandwiching the marginal likelihood using bidirectional Monte Carlo. arXiv:1511.02543. (Both bounds on log-ML.)",
        "Neal, R. M. (2001). Annealed importance sampling. Statistics and Computing 11, 125–139.",
        "Bennett, C. H. (1976). Efficient estimation of free energy differences from Monte Carlo data. Journal of Computational Physics 22, 245–268.",
        "Crooks, G. E. (1999). Entropy production fluctuation theorem and the nonequilibrium work relation for free energy differences. Physical Review E 60, 2721–2726.",
    ];
    if view.command == "bread" {
        all.push("Hoffman, M. D., Gelman, A. (2014). The No-U-turn sampler. Journal of Machine Learning Research 15, 1593–1623. (The fit.)");
    }
    all.into_iter().map(str::to_owned).collect()
}

fn settings(run: &Run, timing: Option<&Timing>) -> Table {
    let steps = run.steps.iter().map(|t| count(*t as u64)).collect::<Vec<_>>().join(", ");
    let mut rows = vec![
        ("crust", run.version.clone()),
        ("seed", run.seed.to_string()),
        ("chains in each direction", run.chains.to_string()),
        ("ladder of T", steps),
        ("enough once the sandwich is tighter than", format!("{} nats", nats(run.tolerance))),
        ("schedule", run.schedule.clone()),
        ("transitions", run.kernel.clone()),
        ("unconstrained parameters", run.dimension.to_string()),
    ];
    rows.extend(run.options.iter().map(|(name, value)| (&name[..], value.clone())));
    let mut rows: Vec<Vec<String>> = rows.into_iter().map(|(name, value)| vec![name.to_owned(), value]).collect();
    if let Some(timing) = timing {
        let annealing: f64 = timing.rungs.iter().map(|r| r.forward_seconds + r.reverse_seconds).sum();
        rows.extend(timing.parts.iter().map(|(part, time)| vec![format!("time: {part}"), seconds(*time)]));
        rows.push(vec!["time: annealing".to_owned(), seconds(annealing)]);
    }
    Table { caption: "Settings.".to_owned(), head: vec![], rows, words: 2 }
}
