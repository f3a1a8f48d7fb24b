//! How long parts of a run took, from the times of their units in the journal.

use crate::checkpoint::Journal;
use crate::result::RungTime;
use crate::units::{Annealed, Part, UnitName};

/// A part by its name, with the seconds of its units.
pub(crate) fn part_seconds(journal: &Journal, name: &str, wanted: impl Fn(&UnitName) -> bool) -> (String, f64) {
    (name.to_owned(), journal.seconds(wanted))
}

/// Both directions of one rung, of an entry of a comparison and a dataset.
pub(crate) fn rung_time(journal: &Journal, name: String, of: (Option<u32>, u32), t: usize) -> RungTime {
    let seconds = |wanted: Annealed| {
        journal.seconds(|unit| {
            let here = matches!(unit.part, Part::Anneal { t: at, chains, .. } if at == t && chains == wanted);
            here && (unit.way, unit.dataset) == of
        })
    };
    RungTime { name, t, forward_seconds: seconds(Annealed::Forward), reverse_seconds: seconds(Annealed::Reverse) }
}
