//! What the terminal shows of results: a protocol as a story of at most fifteen lines with a small plot of characters.

mod approximate;
mod check;
mod density;
mod evidence;
mod reproduce;
mod reproduce_taddaa;
mod sample;
mod sbc;

pub(crate) use approximate::reliability;
pub use approximate::{approximate, taddaa};
pub use check::check;
pub use density::{bench, density};
pub use evidence::evidence;
pub use reproduce::{real_data, table1, table1_dataset, toy_agreement, toy_heading, toy_row};
pub use reproduce_taddaa::{taddaa_agreement, taddaa_heading, taddaa_target};
pub use sample::sample;
pub use sbc::sbc;

use crate::figures::{best_log_ml, is_relative};
use crate::number::{as_f64, fixed, nats, quartiles, range, with_error};
use crate::svg::{Kind, Scale};
use crate::view::{View, last, level_sign, real_lower_bound};
use crust_diagnose::result::{Bread, Compare, Entry, Level, Results, Rung};

/// No story is longer than this.
pub const LINES: usize = 15;
const RUNGS: usize = 6;

/// The verdict, the sandwich rung by rung, and what else one must know, for the protocols that end with a verdict. No
/// line is wider than `width` (at least 30).
pub fn story(results: &Results, width: usize, colour: bool) -> Option<String> {
    let width = width.max(30);
    let view = View::of(results)?;
    let mut lines = verdict(&view, width, colour);
    let (plot, mut facts) = match results {
        Results::Bdmc(bdmc) => (ladder(&bdmc.rungs, width, view.violation), sandwich_facts(&bdmc.rungs)),
        Results::Bread(bread) => (ladder(&bread.simulated.rungs, width, view.violation), bread_facts(bread)),
        Results::Compare(compare) => (entries(compare, width), vec![]),
        _ => return None,
    };
    if view.violation {
        // numbers that contradict each other are no facts
        facts = view.checks.iter().filter(|c| c.failed).map(|c| c.sentence.clone()).collect();
    }
    // a long verdict on a narrow terminal costs rungs of the plot, never words of the verdict
    let room = LINES.saturating_sub(lines.len()).max(1);
    let kept = facts.len().min(room.saturating_sub(plot.len().min(4)));
    let rows = plot.len().min(room - kept);
    if rows > 1 {
        lines.push(plot[0].clone());
        lines.extend_from_slice(&plot[plot.len() - (rows - 1)..]);
    }
    lines.extend(facts.into_iter().take(kept).map(|f| cut(&f, width)));
    Some(lines.join("\n"))
}

fn verdict(view: &View, width: usize, colour: bool) -> Vec<String> {
    let level = view.level();
    let word = format!("{} {}: ", level_sign(level), view.word());
    let partial = if view.partial && level != Level::Partial { " (The run was ended early.)" } else { "" };
    let mut lines = wrap(&format!("{word}{}{partial}", view.verdict.sentence), width);
    if colour && let Some(first) = lines.first_mut() {
        let end = word.trim_end().len();
        *first = format!("\u{1b}[1;{}m{}\u{1b}[0m{}", level_colour(level), &first[..end], &first[end..]);
    }
    lines
}

fn level_colour(level: Level) -> u8 {
    match level {
        Level::Good => 34,
        Level::Poor => 33,
        Level::Violation => 31,
        Level::Mismatch => 35,
        Level::Partial => 37,
    }
}

/// A line for each T: the sandwich drawn around log-ML, and the bound. The first line is the heading.
fn ladder(rungs: &[Rung], width: usize, violation: bool) -> Vec<String> {
    let shown = &rungs[rungs.len().saturating_sub(RUNGS)..];
    let Some(centre) = best_log_ml(shown) else { return vec![] };
    let bounds: Vec<String> = shown.iter().map(|r| with_error(r.jeffreys_bound, r.jeffreys_se)).collect();
    let heading = "Jeffreys bound";
    let right = bounds.iter().map(|b| length(b)).fold(length(heading), usize::max);
    let left = shown.iter().map(|r| r.t.to_string().len()).fold(1, usize::max);
    let plot_width = width.saturating_sub(left + right + 4);
    let values = shown.iter().map(medians).flat_map(|(lower, upper)| [lower - centre, upper - centre]);
    let scale = Scale::over(Kind::Signed { unit: 0.1 }, values);
    let about = match shown.last() {
        Some(rung) if is_relative(rung) => "chains around their common middle, log scale".to_owned(),
        _ => format!("chains around log-ML {}, log scale", nats(centre)),
    };
    let about = cut(&about, plot_width);
    let mut lines = vec![format!("{:>left$}  {about:<plot_width$}  {heading:>right$}", "T")];
    for (rung, bound) in shown.iter().zip(bounds) {
        let row = whisker(&scale, rung, centre, plot_width, violation);
        lines.push(format!("{:>left$}  {row}  {bound:>right$}", rung.t));
    }
    lines
}

/// `├────●──┤` from the median of the forward chains to that of the reverse ones, with Bennett's estimate. Medians may
/// be the wrong way round by chance: crosses mark a violation.
fn whisker(scale: &Scale, rung: &Rung, centre: f64, width: usize, violation: bool) -> String {
    let mut row = vec![' '; width];
    if width < 8 {
        return row.into_iter().collect();
    }
    let at = |value: f64| column(scale, value - centre, width);
    let (lower, upper) = medians(rung);
    if let (Some(low), Some(high)) = (at(lower), at(upper)) {
        let wrong = violation && lower > upper;
        row[low.min(high)..=low.max(high)].fill('─');
        row[low.min(high)] = if wrong { '✖' } else { '├' };
        row[low.max(high)] = if wrong { '✖' } else { '┤' };
        if low == high {
            row[low] = '│';
        }
        if lower == f64::NEG_INFINITY {
            row[low] = '◂';
        }
        if upper == f64::INFINITY {
            row[high] = '▸';
        }
    }
    if let Some(estimate) = at(rung.log_ml_bar) {
        row[estimate] = '●';
    }
    row.into_iter().collect()
}

/// Of what single chains say of log-ML, in both directions.
fn medians(rung: &Rung) -> (f64, f64) {
    let median = |chains: &[f64]| quartiles(chains).map_or(f64::NAN, |q| q[1]);
    (median(&rung.forward), median(&rung.reverse))
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a column of the terminal")]
fn column(scale: &Scale, value: f64, width: usize) -> Option<usize> {
    scale.place(value).map(|p| (p.at * as_f64(width - 1)).round() as usize)
}

fn sandwich_facts(rungs: &[Rung]) -> Vec<String> {
    let Some(rung) = last(rungs) else { return vec!["No rung is complete.".to_owned()] };
    if is_relative(rung) {
        return vec![];
    }
    let crossed = rung.log_ml_lower > rung.log_ml_upper;
    let bounds = range(rung.log_ml_lower, rung.log_ml_upper);
    let estimate = with_error(rung.log_ml_bar, rung.log_ml_bar_se);
    let crossed = if crossed { " (crossed)" } else { "" };
    vec![format!("simulated log-ML: {bounds}{crossed}; Bennett {estimate}")]
}

fn bread_facts(bread: &Bread) -> Vec<String> {
    let simulation = &bread.simulation;
    let mut facts = sandwich_facts(&bread.simulated.rungs);
    if !simulation.why.is_empty() {
        facts.push(format!("simulated: {}, since {}", simulation.kind.name(), simulation.why));
    }
    let mut real = vec![];
    if let Some(bound) = real_lower_bound(bread) {
        real.push(format!("log-ML at least {}", nats(bound)));
    }
    if let Some(rung) = bread.real.heuristic.as_ref().filter(|rung| rung.jeffreys_upper.is_finite()) {
        real.push(format!("divergence about {} nats at most (heuristic)", nats(rung.jeffreys_upper)));
    }
    if let Some(p) = &bread.predictive {
        let alarm = p.alarm.as_ref().map_or_else(String::new, |alarm| format!(", {alarm}"));
        real.push(format!("p = {} among {} replicates{alarm}", fixed(p.p_value, 3), p.replicates));
    } else if let Some(c) = &bread.calibration {
        let of = c.replicates.len() + 1;
        real.push(format!("rank {} of {of} among replicates (p = {})", c.rank, fixed(c.p_value, 3)));
    }
    if !real.is_empty() {
        facts.push(format!("real data: {}", real.join("; ")));
    }
    if let Some(f) = &bread.fit {
        let (r_hat, ess) = (fixed(f.worst_r_hat, 3), fixed(f.least_ess, 0));
        facts.push(format!(
            "fit: R-hat at most {r_hat} ({}), ESS at least {ess} ({})",
            f.worst_r_hat_name, f.least_ess_name
        ));
    }
    facts
}

/// A line for each entry: its bounds from the first T to the last, and the last one.
fn entries(compare: &Compare, width: usize) -> Vec<String> {
    let all = compare.entries.iter().flat_map(|e| e.rungs.iter().map(|r| r.jeffreys_bound));
    let scale = Scale::over(Kind::Log, all);
    let heading = "Jeffreys bound";
    let bound = |e: &Entry| last(&e.rungs).map_or_else(String::new, |r| with_error(r.jeffreys_bound, r.jeffreys_se));
    let right = compare.entries.iter().map(|e| length(&bound(e))).fold(length(heading), usize::max);
    let middle = compare.entries.iter().map(|e| e.rungs.len()).fold(4, usize::max);
    let room = width.saturating_sub(right + middle + 4).max(1);
    let left = compare.entries.iter().map(|e| length(&e.name)).fold(1, usize::max).min(room);
    let mut lines = vec![cut(&format!("{:left$}  {:middle$}  {heading:>right$}", "", "by T"), width)];
    for entry in &compare.entries {
        let bars: String = entry.rungs.iter().map(|r| bar(&scale, r.jeffreys_bound)).collect();
        lines.push(cut(&format!("{:left$}  {bars:middle$}  {:>right$}", cut(&entry.name, left), bound(entry)), width));
    }
    lines
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "one of eight heights")]
fn bar(scale: &Scale, value: f64) -> char {
    const HEIGHTS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    scale.place(value).map_or(' ', |p| HEIGHTS[((p.at * 8.0) as usize).min(7)])
}

fn length(text: &str) -> usize {
    text.chars().count()
}

fn cut(text: &str, width: usize) -> String {
    if length(text) <= width {
        return text.to_owned();
    }
    text.chars().take(width.saturating_sub(1)).chain(['…']).collect()
}

pub(crate) fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if length(line) + 1 + length(word) <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(cut(word, width)),
        }
    }
    lines
}
