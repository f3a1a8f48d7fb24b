//! What can be told about lists: their text, and the memory that they take.

use std::fmt::Write;

use crate::machine::Machine;

impl Machine {
    /// All lists, with the statements that they stand for.
    pub(crate) fn lists_as_text(&self) -> String {
        let mut text = String::new();
        for planned in &self.plans {
            let (propto, jacobian) = planned.key;
            let constants = if propto { "without" } else { "with" };
            let jacobians = if jacobian { "with" } else { "without" };
            let _ = writeln!(text, "# {constants} constants, {jacobians} Jacobians");
            if let Some(region) = &planned.plan.direct {
                let _ = write!(text, "list of the whole program, of unconstrained numbers\n{}", region.list);
                continue;
            }
            for (range, region) in &planned.plan.regions {
                if let Some(region) = region {
                    let (first, last) = (range.start + 1, range.end);
                    let _ = write!(text, "list of the statements {first} to {last}\n{}", region.list);
                }
            }
        }
        text
    }

    /// How many numbers of a lane lists keep until the way back: those of which others look at results.
    pub(crate) fn kept_by_lists(&self) -> usize {
        let plans = self.plans.iter().filter(|planned| planned.plan.direct.is_none());
        let regions = plans.map(|planned| planned.plan.regions.iter().filter_map(|(_, region)| region.as_deref()));
        let kept = |region: &super::Region| if region.outputs.is_empty() { 0 } else { region.list.kept() };
        regions.map(|regions| regions.map(kept).sum()).max().unwrap_or(0)
    }

    /// How many numbers there is room for: constants, values and adjoints, and those of lists.
    pub(crate) fn memory(&self) -> usize {
        let rooms = self.plans.iter().flat_map(|planned| planned.rooms.iter().flatten());
        self.arena.len() + self.arena.capacity() + rooms.map(|room| room.numbers.len()).sum::<usize>()
    }
}
