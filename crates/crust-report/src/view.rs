//! What all kinds of results have in common, and in which words it is said.

use crust_diagnose::result::{Bread, Check, Level, Results, Run, Rung, Verdict};

/// A look at results of any kind.
pub(crate) struct View<'a> {
    pub command: &'static str,
    pub run: &'a Run,
    pub verdict: &'a Verdict,
    pub checks: &'a [Check],
    pub violation: bool,
    pub partial: bool,
}

impl<'a> View<'a> {
    /// Of the protocols that end with a verdict; other commands have none.
    pub fn of(results: &'a Results) -> Option<Self> {
        Some(match results {
            Results::Bdmc(r) => Self {
                command: "bdmc",
                run: &r.run,
                verdict: &r.verdict,
                checks: &r.checks,
                violation: r.violation,
                partial: r.partial,
            },
            Results::Bread(r) => Self {
                command: "bread",
                run: &r.run,
                verdict: &r.verdict,
                checks: &r.checks,
                violation: r.violation,
                partial: r.partial,
            },
            Results::Compare(r) => Self {
                command: "compare",
                run: &r.run,
                verdict: &r.verdict,
                checks: &r.checks,
                violation: r.violation,
                partial: r.partial,
            },
            _ => return None,
        })
    }

    /// The level to show: a violation is never hidden behind another one.
    pub fn level(&self) -> Level {
        if self.violation { Level::Violation } else { self.verdict.level }
    }

    /// The level in a word. The best of several ways need not be a good one.
    pub fn word(&self) -> &'static str {
        match self.level() {
            Level::Good if self.command == "compare" => "Compared",
            Level::Good => "Good",
            Level::Poor => "Poor",
            Level::Violation => "Violation",
            Level::Mismatch => "Mismatch",
            Level::Partial => "Incomplete",
        }
    }
}

/// A sign for the level: shapes differ, so that nobody needs the colour.
pub(crate) fn level_sign(level: Level) -> char {
    match level {
        Level::Good => '●',
        Level::Poor => '▲',
        Level::Violation => '✖',
        Level::Mismatch => '◆',
        Level::Partial => '○',
    }
}

/// The rung with the largest T.
pub(crate) fn last(rungs: &[Rung]) -> Option<&Rung> {
    rungs.iter().max_by_key(|r| r.t)
}

/// The lower bound on the log-ML of the real data at the largest T. The best one of all T would be a worse bound: the
/// more there are, the likelier one of them is too high by chance.
pub(crate) fn real_lower_bound(bread: &Bread) -> Option<f64> {
    bread.real.rungs.iter().max_by_key(|r| r.t).map(|r| r.log_ml_lower).filter(|v| v.is_finite())
}

/// Words as a sentence begins.
pub(crate) fn capitalised(words: &str) -> String {
    let mut letters = words.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}
