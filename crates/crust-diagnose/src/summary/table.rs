//! The summary as text: an aligned table and wrapped warnings.

use super::{Row, Summary};

/// How wide and how long the text may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TableOptions {
    /// Columns of text. Below 120, statistics that say least are left out.
    pub width: usize,
    /// Rows of the table; further quantities are only counted.
    pub rows: usize,
}

impl Default for TableOptions {
    fn default() -> Self {
        Self { width: 100, rows: 30 }
    }
}

/// Columns that a narrow table leaves out, in this order.
const DISPENSABLE: [&str; 4] = ["mcse_sd", "mad", "median", "mcse_mean"];
/// Between two columns.
const GAP: usize = 2;
/// Names are cut to this part of the width.
const NAME_SHARE: usize = 3;

struct Column {
    header: String,
    cells: Vec<String>,
}

impl Column {
    fn width(&self) -> usize {
        self.cells.iter().chain([&self.header]).map(|cell| cell.chars().count()).max().unwrap_or(0)
    }

    fn shorten(&mut self, width: usize) {
        self.cells.iter_mut().for_each(|cell| *cell = shortened(cell, width));
    }
}

pub(super) fn render(summary: &Summary, options: &TableOptions) -> String {
    let shown = &summary.rows[..summary.rows.len().min(options.rows)];
    let mut text = String::new();
    if !shown.is_empty() {
        let mut columns = columns(summary, shown);
        columns[0].shorten(options.width / NAME_SHARE);
        for dispensable in DISPENSABLE {
            if total_width(&columns) > options.width {
                columns.retain(|column| column.header != dispensable);
            }
        }
        let excess = total_width(&columns).saturating_sub(options.width);
        let names = columns[0].width().saturating_sub(excess);
        columns[0].shorten(names);
        push_table(&mut text, &columns);
    }
    let hidden = summary.rows.len() - shown.len();
    if hidden > 0 {
        let noun = if hidden == 1 { "quantity" } else { "quantities" };
        text.extend(["… and ", &hidden.to_string(), " more ", noun, "\n"]);
    }
    for warning in &summary.warnings {
        text.push('\n');
        push_wrapped(&mut text, "Warning: ", &warning.finding, options.width);
        push_wrapped(&mut text, "  ", &warning.advice, options.width);
    }
    text
}

fn total_width(columns: &[Column]) -> usize {
    columns.iter().map(|column| column.width() + GAP).sum::<usize>().saturating_sub(GAP)
}

fn columns(summary: &Summary, rows: &[Row]) -> Vec<Column> {
    let column = |header: &str, cell: &dyn Fn(&Row) -> String| Column {
        header: header.to_owned(),
        cells: rows.iter().map(cell).collect(),
    };
    let mut columns = vec![
        column("", &|row| row.name.clone()),
        column("mean", &|row| number(row, row.mean)),
        column("mcse_mean", &|row| number(row, row.mcse_mean)),
        column("sd", &|row| number(row, row.sd)),
        column("mcse_sd", &|row| number(row, row.mcse_sd)),
        column("median", &|row| number(row, row.median)),
        column("mad", &|row| number(row, row.mad)),
    ];
    for name in &summary.quantiles {
        columns.push(column(name, &|row| row.quantiles.get(name).map_or_else(String::new, |x| number(row, x.0))));
    }
    columns.extend([
        column("ess_bulk", &|row| rounded(row.ess_bulk, 0)),
        column("ess_tail", &|row| rounded(row.ess_tail, 0)),
        column("r_hat", &|row| rounded(row.r_hat, 3)),
    ]);
    columns
}

fn shortened(name: &str, width: usize) -> String {
    let width = width.max(8);
    if name.chars().count() <= width {
        return name.to_owned();
    }
    // the end of a name tells elements of a container apart
    let (head, tail) = (width / 2, width - width / 2 - 1);
    let letters: Vec<char> = name.chars().collect();
    letters[..head].iter().chain(&['…']).chain(&letters[letters.len() - tail..]).collect()
}

/// A value with the digits that the Monte Carlo error of the mean supports: down to the second of its own.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to a few digits")]
fn number(row: &Row, value: f64) -> String {
    const MOST_DECIMALS: f64 = 7.0;
    const PLAIN_BELOW: f64 = 1e7;
    // one notation for a row, so that its numbers can be compared
    let values = row.quantiles.values().map(|x| x.0).chain([row.mean, row.median, row.sd]);
    let is_plain = values.filter(|x| x.is_finite()).all(|x| x.abs() < PLAIN_BELOW);
    if value.is_finite() && row.mcse_mean > 0.0 && is_plain {
        let decimals = 1.0 - row.mcse_mean.log10().floor();
        if decimals <= MOST_DECIMALS {
            return rounded(value, decimals.max(0.0) as usize);
        }
    }
    // a constant, or a scale far from 1
    let magnitude = value.abs();
    if value.is_finite() && magnitude != 0.0 && !(is_plain && magnitude >= 1e-4) {
        return format!("{value:.3e}");
    }
    let text = rounded(value, 4);
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

fn rounded(value: f64, decimals: usize) -> String {
    if value.is_nan() {
        // nothing to say, rather than something wrong
        return "–".to_owned();
    }
    let text = format!("{value:.decimals$}");
    let is_zero = text.trim_start_matches('-').bytes().all(|b| b == b'0' || b == b'.');
    if is_zero { text.trim_start_matches('-').to_owned() } else { text }
}

fn push_table(text: &mut String, columns: &[Column]) {
    let widths: Vec<usize> = columns.iter().map(Column::width).collect();
    let rows = columns.first().map_or(0, |column| column.cells.len());
    let mut push_line = |cell: &dyn Fn(&Column) -> String| {
        // names stand to the left, numbers to the right
        let aligned = |(index, (column, &width)): (usize, (&Column, &usize))| match (index, cell(column)) {
            (0, name) => format!("{name:<width$}"),
            (_, number) => format!("{number:>width$}"),
        };
        let line = columns.iter().zip(&widths).enumerate().map(aligned).collect::<Vec<_>>().join(&" ".repeat(GAP));
        text.push_str(line.trim_end());
        text.push('\n');
    };
    push_line(&|column| column.header.clone());
    for row in 0..rows {
        push_line(&|column| column.cells[row].clone());
    }
}

/// Breaks lines at spaces; lines after the first are indented by two.
fn push_wrapped(text: &mut String, start: &str, words: &str, width: usize) {
    let mut line = start.to_owned();
    let mut is_empty = true;
    for word in words.split(' ') {
        if !is_empty && line.chars().count() + 1 + word.chars().count() > width {
            text.push_str(&line);
            text.push('\n');
            "  ".clone_into(&mut line);
            is_empty = true;
        }
        if !is_empty {
            line.push(' ');
        }
        line.push_str(word);
        is_empty = false;
    }
    text.push_str(&line);
    text.push('\n');
}
