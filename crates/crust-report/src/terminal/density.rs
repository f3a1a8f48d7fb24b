//! Tables of densities, and of how long they take.

use crust_diagnose::result::{Bench, Density};
use std::fmt::Write;

/// A table for people: one row for each point.
pub fn density(report: &Density) -> String {
    let mut text = String::new();
    let _ = writeln!(text, "{:>6}  {:>22}  {:>14}", "point", "log density", "|gradient|");
    for (i, point) in report.points.iter().enumerate() {
        let norm = point.gradient.iter().flatten().map(|d| d * d).sum::<f64>().sqrt();
        let _ = match (&point.log_density, &point.reason) {
            (Some(value), _) => writeln!(text, "{:>6}  {value:>22.12}  {norm:>14.6}", i + 1),
            (None, reason) => writeln!(text, "{:>6}  rejected: {}", i + 1, reason.as_deref().unwrap_or("no reason")),
        };
    }
    text.trim_end().to_owned()
}

/// Time per gradient, a row for each batch width.
pub fn bench(report: &Bench) -> String {
    let mut lines = vec![
        format!("compiled and bound in {:.2} ms; {} unconstrained parameters", report.compile_ms, report.dimension),
        format!("{:>6}  {:>24}  {:>10}", "lanes", "µs per gradient per chain", "memory"),
    ];
    lines.extend(report.rows.iter().map(|row| {
        #[allow(clippy::cast_precision_loss, reason = "few digits are shown")]
        let kibibytes = row.memory as f64 / 1024.0;
        format!("{:>6}  {:>24.3}  {kibibytes:>6.0} KiB", row.lanes, row.us_per_gradient)
    }));
    lines.extend(report.ir.as_ref().map(|ir| format!("\n{}", ir.trim_end())));
    lines.join("\n")
}
