//! Tables of the papers' experiments.

use crust_diagnose::result::{RealDataTable, Table1, ToyRow};
use std::fmt::Write;

/// A difference between B̂ and B, in standard errors, that one of nine rows shows by chance in one of 2000 runs.
const SURPRISING: f64 = 4.0;
/// The models of Table 1, in its order.
const MODELS: [&str; 3] = ["clustering", "low rank", "binary"];

/// (B̂ − B) in standard errors.
fn surprise(row: &ToyRow) -> f64 {
    (row.estimate - row.bound) / row.standard_error
}

/// What a toy experiment shows, and the head of its table.
pub fn toy_heading(experiment: &str, seed: u64) -> String {
    let what = match experiment {
        "barrier" => "BARRIER: four modes behind a deep barrier. The paper has J = 1.65 at T = 100, and J = 1.085, \
                                B = 1.184 at T = 1000."
            .to_string(),
        "easy-random" => format!(
            "EASY RANDOM: log f ~ normal(0, 2) in every cell, seed {seed}. The paper's own draw has J = 0.13 at T = \
             100, and \
             J = 0.00518, B = 0.0705 at T = 1000; another draw has other numbers."
        ),
        _ => format!(
            "HARD RANDOM: log f ~ normal(0, 10) in every cell, seed {seed}. The paper's own draw has J = 4.73 at T = \
             100, and \
             J = 1.840, B = 2.309 at T = 1000; another draw has other numbers."
        ),
    };
    format!(
        "{what}\nAnnealing on a 7 x 7 grid through T distributions, in nats. J and B are exact: J is the Jeffreys \
         divergence of \
         the samples,\nB the bound on it that chains in both directions estimate; B-hat is such an estimate.\n\n\
         {:>8}  {:>12}  {:>12}  {:>12}  {:>10}  {:>7}",
        "T", "J", "B", "B-hat", "std. error", "chains"
    )
}

/// A row of that table.
pub fn toy_row(row: &ToyRow) -> String {
    format!(
        "{:>8}  {:>12}  {:>12}  {:>12}  {:>10}  {:>7}",
        row.distributions,
        digits(row.jeffreys),
        digits(row.bound),
        digits(row.estimate),
        digits(row.standard_error),
        row.chains
    )
}

/// Four digits that count, also of small numbers.
fn digits(x: f64) -> String {
    if x.abs() >= 1e-3 || x == 0.0 {
        let decimals = match x.abs() {
            a if a >= 1.0 => 3,
            a if a >= 0.1 => 4,
            a if a >= 0.01 => 5,
            _ => 6,
        };
        format!("{x:.decimals$}")
    } else {
        format!("{x:.3e}")
    }
}

/// Whether chains agree with what is known exactly.
pub fn toy_agreement(rows: &[ToyRow]) -> String {
    let worst = rows.iter().max_by(|a, b| surprise(a).abs().total_cmp(&surprise(b).abs()));
    worst.map_or_else(String::new, |row| {
        let (t, off) = (row.distributions, surprise(row));
        let verdict =
            if off.abs() < SURPRISING { "the chains agree with the exact B" } else { "this should not happen" };
        format!("\nThe largest difference between B-hat and B is {off:+.1} standard errors, at T = {t}: {verdict}.")
    })
}

/// What came of one dataset of each model, in a line.
pub fn table1_dataset(dataset: u32, wanted: u32, bounds: &[[f64; 3]; 3]) -> String {
    let margin = |data: usize| {
        let bounds = &bounds[data];
        let others = (0..3).filter(|model| *model != data);
        let ahead = others.map(|model| bounds[data] - bounds[model]).fold(f64::INFINITY, f64::min);
        let verdict = if ahead > 0.0 { "wins" } else { "loses" };
        format!("{} {verdict} by {:.1} nats", MODELS[data], ahead.abs())
    };
    format!("dataset {} of {wanted}: on its own data {}", dataset + 1, [0, 1, 2].map(margin).join(", "))
}

/// The whole table.
pub fn table1(result: &Table1) -> String {
    let Table1 { distributions, chains, datasets, seconds, rows, partial, .. } = result;
    if rows.is_empty() {
        return "Ended before the first dataset of each model was finished. With --out, the same command goes on."
            .to_owned();
    }
    let plural = if *datasets == 1 { "" } else { "s" };
    let mut text = format!(
        "\nTable 1 of BDMC: rows are the models that made the data (N = 50, D = 25; {datasets} dataset{plural} each), \
         columns the models \
         that see them,\nwith priors on all hyperparameters. Entries are the mean over datasets of a stochastic lower \
         bound on \
         the log marginal likelihood\n(annealing through {distributions} distributions, {chains} chains), in nats; in \
         brackets: by \
         how much the model that made the data is ahead.\n\n{:<12}",
        ""
    );
    // Writing to a text cannot fail.
    for name in MODELS {
        let _ = write!(text, "{name:>12} {:15}", "");
    }
    for row in rows {
        let _ = write!(text, "\n{:<12}", row.data);
        for cell in &row.cells {
            let behind = match cell.behind_se {
                _ if cell.model == row.data => String::new(),
                Some(se) => format!("({:.1} ± {se:.1})", cell.behind),
                None => format!("({:.1})", cell.behind),
            };
            let _ = write!(text, "{:>12.1} {behind:<15}", cell.mean);
        }
    }
    let wins = rows.iter().filter(|row| row.cells.iter().all(|c| c.model == row.data || c.behind > 0.0)).count();
    let _ = write!(text, "\n\nThe model that made the data wins {wins} of 3 rows. {seconds:.0} seconds.");
    if *partial {
        text.push_str(" Ended early: there should have been more datasets. With --out, the same command goes on.");
    }
    text
}

/// A row for each model, S and T, and what was left out.
pub fn real_data(result: &RealDataTable) -> String {
    let heads = ["model", "S", "T", "at least", "at most", "Jeffreys bound", "p"];
    let line = |[model, s, t, low, high, bound, p]: [&str; 7]| {
        format!("{model:<22} {s:>6} {t:>6} {low:>12} {high:>12} {bound:>18} {p:>7}")
    };
    let mut lines = vec![line(heads)];
    for row in &result.rows {
        let p = row.p_value.map(|p| format!("{p:.3}")).unwrap_or_default();
        let bound = format!("{:.2} ± {:.2}", row.jeffreys_bound, row.jeffreys_se);
        let (low, high) = (format!("{:.2}", row.log_ml_lower), format!("{:.2}", row.log_ml_upper));
        let (s, t) = (row.start_steps.to_string(), row.distributions.to_string());
        lines.push(line([&row.model, &s, &t, &low, &high, &bound, &p]));
    }
    for model in &result.missing {
        lines.push(format!(
            "{model} was left out: its data may not be passed on. `examples/movielens/fetch.py` gets them; then \
             `--movielens ratings.json`."
        ));
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_four_digits() {
        let shown = [12.34567, 1.0846, 0.70514, 0.0705, 0.00518, 1.2345e-5, 0.0].map(digits);
        assert_eq!(shown, ["12.346", "1.085", "0.7051", "0.07050", "0.005180", "1.234e-5", "0.000000"]);
    }
}
