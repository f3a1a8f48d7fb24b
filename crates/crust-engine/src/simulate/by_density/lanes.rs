//! The terms of many outcomes in one run of the program: each outcome is a lane.

use std::sync::Arc;

use crust_math::random::{Purpose, StreamKey};

use super::super::noted::{Noted, TermSums};
use super::super::score::{Mode, Score};
use crate::evaluator::{Evaluator, WIDEST, repeat_last};
use crate::flat::GROUP;
use crate::machine::Stop;
use crate::model::grow;

/// Lanes are fewer where an outcome has more numbers than this.
const LARGE: usize = 1 << 13;

/// How often a run is begun again before it is given up.
const MOST_RESTARTS: usize = 1000;

/// A run of some outcomes at the same parameters.
pub struct Together<'a> {
    pub evaluator: &'a mut Evaluator,
    /// The parameters.
    pub point: &'a [f64],
    pub outcomes: &'a [Vec<f64>],
    /// Iterations of loops deeper than this are one term.
    pub finest: Option<u32>,
    /// Those of the last run.
    pub keys: &'a mut Arc<Vec<u64>>,
}

impl Together<'_> {
    /// The terms of each outcome; nothing where the program refuses it.
    pub fn terms(&mut self) -> Vec<Option<TermSums>> {
        let mut found = vec![None; self.outcomes.len()];
        let size = self.outcomes.first().map_or(0, Vec::len) + self.point.len();
        let widest = if size > LARGE { GROUP } else { WIDEST };
        let all: Vec<usize> = (0..self.outcomes.len()).collect();
        for chosen in all.chunks(widest) {
            self.part(chosen, &mut found);
        }
        found
    }

    /// Runs some of the outcomes, which are taken apart where the program goes different ways for them.
    fn part(&mut self, chosen: &[usize], found: &mut [Option<TermSums>]) {
        self.evaluator.machine.flat_on = true;
        for _ in 0..MOST_RESTARTS {
            let stop = match self.run(chosen) {
                Ok(sums) => {
                    let model = Arc::clone(self.evaluator.model());
                    let machine = &mut self.evaluator.machine;
                    if machine.settle_loops() || machine.make_plan(&model.code) {
                        continue;
                    }
                    for ((at, sums), lane) in chosen.iter().zip(sums).zip(0..) {
                        if machine.rejected.take(lane).is_none() {
                            found[*at] = Some(sums);
                        }
                    }
                    return;
                }
                Err(stop) => stop,
            };
            let machine = &mut self.evaluator.machine;
            match stop {
                Stop::Full => {
                    if grow(machine).is_err() {
                        return;
                    }
                }
                Stop::Again => machine.unsettle_loops(),
                Stop::FlatFails => {
                    machine.unsettle_loops();
                    machine.flat_on = false;
                }
                Stop::AllRejected => {
                    machine.unsettle_loops();
                    return;
                }
                Stop::LanesPart => {
                    machine.unsettle_loops();
                    let split = machine.split.clone();
                    for way in [true, false] {
                        let some: Vec<usize> =
                            chosen.iter().zip(&split).filter(|(_, s)| **s == way).map(|(at, _)| *at).collect();
                        if !some.is_empty() {
                            self.part(&some, found);
                        }
                    }
                    return;
                }
                // An index that is out of range, or a size that does not fit, refuses the outcome like everything else.
                Stop::Fatal(_) | Stop::LanesUnfit | Stop::TileParts | Stop::TileUnfit => {
                    machine.unsettle_loops();
                    if chosen.len() > 1 {
                        chosen.iter().for_each(|at| self.part(&[*at], found));
                    }
                    return;
                }
            }
        }
    }

    /// Groups of lanes are always full, so that an outcome's terms do not depend on the others.
    fn run(&mut self, chosen: &[usize]) -> Result<Vec<TermSums>, Stop> {
        let model = Arc::clone(self.evaluator.model());
        let (code, machine) = (&model.code, &mut self.evaluator.machine);
        let width = chosen.len().next_multiple_of(GROUP);
        let mut score = Score::new(Mode::Terms);
        score.terms = Noted::new(width, self.finest);
        machine.score = Some(Box::new(score));
        machine.streams.clear();
        machine.streams.resize(width, StreamKey::new(0, Purpose::GENERATED).stream());
        let mut points = vec![0.0; (self.point.len() + self.outcomes.first().map_or(0, Vec::len)) * width];
        let (own, drawn) = points.split_at_mut(self.point.len() * width);
        own.chunks_exact_mut(width).zip(self.point).for_each(|(row, x)| row.fill(*x));
        let mut numbers = vec![0.0; chosen.len()];
        for (e, row) in drawn.chunks_exact_mut(width).enumerate() {
            numbers.iter_mut().zip(chosen).for_each(|(to, at)| *to = self.outcomes[*at][e]);
            repeat_last(row, &numbers);
        }
        machine.clear(width, crate::model::PLAIN);
        let free = machine.free_block(&points, width, 0..width)?;
        machine.constrain_parameters(code, free)?;
        machine.statements(&code.transform)?;
        machine.statements(&code.generate)?;
        let score = machine.score.take();
        Ok(score.map(|score| score.terms.sums(chosen.len(), self.keys)).unwrap_or_default())
    }
}
