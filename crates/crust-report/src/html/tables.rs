//! Tables of the report.

use super::Table;
use crate::number::{count, fixed, nats, percent, quartiles, with_error};
use crust_diagnose::result::{Compare, Fit, ForwardRung, MeanRung, Predictive, PredictiveStatistic, Rung};

fn head(names: &[&str]) -> Vec<String> {
    names.iter().map(|n| (*n).to_owned()).collect()
}

/// Both directions, a row for each T.
pub(super) fn rungs(rungs: &[Rung], caption: &str) -> Table {
    let row = |r: &Rung| {
        vec![
            count(r.t as u64),
            nats(r.log_ml_lower),
            nats(r.log_ml_upper),
            with_error(r.log_ml_bar, r.log_ml_bar_se),
            with_error(r.jeffreys_bound, r.jeffreys_se),
            match r.jeffreys_quartiles[..] {
                [low, _, high] => format!("{} to {}", nats(low), nats(high)),
                _ => crate::number::NOTHING.to_owned(),
            },
            with_error(r.kl_forward_bound, r.kl_forward_se),
            with_error(r.kl_reverse_bound, r.kl_reverse_se),
            format!("{} / {}", percent(r.accept_forward), percent(r.accept_reverse)),
            count(r.evaluations),
            count(r.divergences),
            count(r.rejected),
        ]
    };
    Table {
        caption: format!("{caption}. In nats; ± is one standard error."),
        head: head(&[
            "T",
            "log-ML, lower bound",
            "log-ML, upper bound",
            "log-ML, Bennett",
            "Jeffreys bound",
            "middle half of B̂",
            "bound on KL(q‖p)",
            "bound on KL(p‖q)",
            "accepted, forward / reverse",
            "evaluations",
            "divergent steps",
            "chains of weight 0",
        ]),
        rows: rungs.iter().map(row).collect(),
        words: 0,
    }
}

/// The forward direction only.
pub(super) fn forward_rungs(rungs: &[ForwardRung], caption: &str) -> Table {
    let row = |r: &ForwardRung| {
        let [low, middle, high] = quartiles(&r.forward).unwrap_or([f64::NAN; 3]);
        vec![
            count(r.t as u64),
            nats(r.log_ml_lower),
            nats(low),
            nats(middle),
            nats(high),
            percent(r.accept_forward),
            count(r.evaluations),
            count(r.divergences),
            count(r.rejected),
        ]
    };
    Table {
        caption: format!("{caption}. In nats; quartiles are those of log w over single chains."),
        head: head(&[
            "T",
            "log-ML, lower bound",
            "first quartile",
            "median",
            "third quartile",
            "accepted",
            "evaluations",
            "divergent steps",
            "chains of weight 0",
        ]),
        rows: rungs.iter().map(row).collect(),
        words: 0,
    }
}

/// Means over datasets.
pub(super) fn means(means: &[MeanRung]) -> Table {
    let row = |m: &MeanRung| {
        vec![
            count(m.t as u64),
            count(m.datasets as u64),
            with_error(m.jeffreys_bound, m.jeffreys_se),
            nats(m.kl_forward_bound),
            nats(m.kl_reverse_bound),
        ]
    };
    Table {
        caption: "Means over datasets, in nats; ± is one standard error, between datasets.".to_owned(),
        head: head(&["T", "datasets", "Jeffreys bound", "bound on KL(q‖p)", "bound on KL(p‖q)"]),
        rows: means.iter().map(row).collect(),
        words: 0,
    }
}

pub(super) fn hyperparameters(fit: &Fit) -> Table {
    Table {
        caption: "Hyperparameters from which data were simulated.".to_owned(),
        head: head(&["hyperparameter", "value"]),
        rows: fit.hyperparameters.iter().map(|h| vec![h.name.clone(), significant(h.value)]).collect(),
        words: 1,
    }
}

/// The real data among replicates.
pub(super) fn predictive(found: &Predictive) -> Table {
    let row = |s: &PredictiveStatistic| {
        let numbers = [s.real, s.least, s.median, s.largest].map(significant);
        std::iter::once(s.name.clone()).chain(numbers).chain([fixed(s.deviation, 1)]).collect()
    };
    Table {
        caption: format!(
            "The real data among {} datasets that were drawn from the fitted model: p = {} for all statistics together.",
            found.replicates,
            fixed(found.p_value, 3)
        ),
        head: head(&["statistic", "real data", "least replicate", "median", "largest replicate", "deviation"]),
        rows: found.statistics.iter().map(row).collect(),
        words: 1,
    }
}

/// Four digits that count.
fn significant(value: f64) -> String {
    match value.abs() {
        size if size >= 1e5 || (size < 1e-3 && size > 0.0) => crate::number::scientific(value),
        size if size >= 1000.0 => fixed(value, 0),
        size if size >= 100.0 => fixed(value, 1),
        size if size >= 10.0 => fixed(value, 2),
        size if size >= 1.0 => fixed(value, 3),
        _ => fixed(value, 4),
    }
}

/// What was compared.
pub(super) fn entries(compare: &Compare) -> Table {
    let row = |e: &crust_diagnose::result::Entry| {
        let last = crate::view::last(&e.rungs);
        vec![
            e.name.clone(),
            e.kernel.clone(),
            e.schedule.clone(),
            if e.exact_start { "exact" } else { "approximate" }.to_owned(),
            count(e.dimension as u64),
            last.map_or_else(String::new, |r| count(r.t as u64)),
            last.map_or_else(String::new, |r| with_error(r.jeffreys_bound, r.jeffreys_se)),
        ]
    };
    Table {
        caption: "Jeffreys bound in nats at the largest T; ± is one standard error.".to_owned(),
        head: head(&["", "transitions", "schedule", "start of reverse chains", "dimension", "T", "Jeffreys bound"]),
        rows: compare.entries.iter().map(row).collect(),
        words: 4,
    }
}
