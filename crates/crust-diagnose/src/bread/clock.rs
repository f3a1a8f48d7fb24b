//! The time that a run may take, by the times of its units in the journal: a run that is resumed decides as it would
//! have without a break. What lies between units (data that are drawn and bound) is known to the clock on the wall alone,
//! which therefore counts where it says more.

use crate::checkpoint::Journal;
use crate::units::{Part, UnitName};
use std::time::Instant;

/// How much time there is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clock {
    /// Of the whole run, in seconds; none without a budget.
    pub(super) budget: Option<f64>,
    /// What went by before the first unit.
    pub(super) before: f64,
    /// When this process came to the first unit.
    pub(super) began: Instant,
    /// What it takes to simulate a dataset and to bind it.
    pub(super) dataset: f64,
}

impl Clock {
    /// Seconds that are left; infinitely many without a budget.
    pub(super) fn left(self, journal: &Journal) -> f64 {
        let spent = journal.seconds(|_| true).max(self.began.elapsed().as_secs_f64());
        self.budget.map_or(f64::INFINITY, |budget| budget - self.before - spent)
    }

    /// Whether something that takes so long can still be done.
    pub(super) fn allows(self, journal: &Journal, seconds: f64) -> bool {
        seconds <= self.left(journal)
    }
}

/// How long the chains of some datasets took at T.
pub(super) fn seconds_at(journal: &Journal, t: usize, wanted: impl Fn(u32) -> bool) -> f64 {
    let here = |name: &UnitName| matches!(name.part, Part::Anneal { t: at, .. } if at == t) && wanted(name.dataset);
    journal.seconds(here)
}
