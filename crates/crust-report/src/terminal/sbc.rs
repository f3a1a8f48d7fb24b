//! What the terminal shows of `sbc`: the verdict, and the least uniform quantities.

use super::wrap;
use crate::sbc::in_order;
use crust_diagnose::result::{Level, Sbc};
use std::fmt::Write;

/// Rows of the table.
const ROWS: usize = 8;

/// The verdict and a short table. No line of prose is wider than `width`.
pub fn sbc(result: &Sbc, width: usize) -> String {
    let word = match result.verdict.level {
        Level::Good => "✓ good",
        Level::Partial => "○ no test",
        _ => "✗ poor",
    };
    let ended = if result.partial { " (The run was ended early.)" } else { "" };
    let mut out = wrap(&format!("{word}: {}{ended}", result.verdict.sentence), width).join("\n") + "\n\n";
    let worst = in_order(result);
    let longest = worst.iter().take(ROWS).map(|q| q.name.chars().count()).max().unwrap_or(0).max(8);
    let _ = writeln!(out, "{:<longest$}  {:>7}  {:>9}  places", "", "p", "p (Holm)");
    for quantity in worst.iter().take(ROWS) {
        let fault = quantity.fault.as_deref().unwrap_or("uniform");
        let (name, p, adjusted) = (&quantity.name, quantity.p_value, quantity.adjusted_p_value);
        let _ = writeln!(out, "{name:<longest$}  {p:>7.4}  {adjusted:>9.4}  {fault}");
    }
    if worst.len() > ROWS {
        let _ = writeln!(out, "… and {} more", worst.len() - ROWS);
    }
    let troubles = &result.troubles;
    if troubles.r_hat + troubles.divergences + troubles.failed > 0 {
        let words = format!(
            "Of {} datasets, chains did not meet on {}, diverged on {}, and nothing could be sampled on {}.",
            result.datasets, troubles.r_hat, troubles.divergences, troubles.failed
        );
        out += &(wrap(&words, width).join("\n") + "\n");
    }
    out
}
