//! Which statement it is: the program with one statement at a time, against what the reading makes of it.

use super::compare::{Pair, span};
use super::points::Points;
use super::program::{Target, reduced, statements};
use super::{DataSet, Difference, Misreading, Part, ProveError, Prover};
use crate::simulate::{Score, SimulateError, may_refuse};

/// How many draws are looked at where a program may refuse some.
const DRAWS: u32 = 400;

/// What one side says about a statement: the change of its log density between two points.
type Change = f64;

impl Prover<'_> {
    /// The statement whose density changes most differently between the two points, with the two changes.
    pub(super) fn blame(
        &mut self,
        part: Part,
        pair: &Pair,
        points: &Points,
        sets: &[DataSet],
    ) -> Result<Misreading, ProveError> {
        let ends = [&pair.typical, &pair.other];
        let scores = ends.map(|o| self.score(part, &points.all[o.at.0], sets.get(o.at.1)));
        let whole = |o: &super::Observation, x: f64| if o.reading.is_finite() { x } else { o.reading };
        let mut worst: Option<(f64, Difference)> = None;
        let at = self.describe(&points.all[pair.other.at.0]);
        for place in statements(self.program) {
            let program = reduced(self.program, &|p| p == place);
            let mut values = [0.0; 2];
            for (value, o) in values.iter_mut().zip(ends) {
                let Some(set) = sets.get(o.at.1) else { continue };
                let point = std::slice::from_ref(&points.all[o.at.0]);
                let mut target = Target::new(&program, &set.data)?;
                *value = target.evaluate(point, part)?.first().map_or(f64::NAN, |v| v.log_density);
            }
            let of = |score: &Result<Score, SimulateError>| {
                score.as_ref().map_or(f64::NAN, |s| s.statements.get(&place).map_or(0.0, |s| s.density + s.jacobian))
            };
            let own = scores.each_ref().map(of);
            let (program, reading): (Change, Change) = (values[1] - values[0], own[1] - own[0]);
            let gap = (program - reading).abs();
            let gap = if gap.is_nan() { f64::INFINITY } else { gap };
            if worst.as_ref().is_none_or(|(most, _)| gap > *most) {
                let found = Difference { part, span: Some(span(place)), program, reading, at: at.clone() };
                worst = Some((gap, found));
            }
        }
        let total = Difference {
            part,
            span: None,
            program: pair.other.program - pair.typical.program,
            reading: whole(&pair.other, pair.other.reading - pair.typical.reading),
            at,
        };
        let found = worst.filter(|(gap, _)| *gap > 1e-9).map_or(total, |(_, found)| found);
        Ok(Misreading::Density(Box::new(found)))
    }

    fn score(&mut self, part: Part, point: &[f64], set: Option<&DataSet>) -> Result<Score, SimulateError> {
        match (part, set) {
            (Part::Likelihood, Some(set)) => self.simulator.score_data(&mut self.scorer, point, &set.data),
            _ => self.simulator.score_parameters(&mut self.scorer, point),
        }
    }

    /// A few parameters with their values.
    pub(super) fn describe(&mut self, point: &[f64]) -> String {
        const MOST: usize = 4;
        let Ok(values) = self.simulator.parameters(point) else { return String::new() };
        let shapes = self.simulator.parameter_shapes();
        let mut parts = Vec::new();
        for shape in shapes.iter().take(MOST) {
            let numbers = values.get(&shape.name).map(Vec::as_slice).unwrap_or_default();
            match numbers {
                [] => {}
                [x] => parts.push(format!("{} = {x:.4}", shape.name)),
                [x, ..] => parts.push(format!("{} = ({x:.4}, …)", shape.name)),
            }
        }
        if shapes.len() > MOST {
            parts.push("…".to_owned());
        }
        parts.join(", ")
    }

    /// Draws that the program refuses, by constraints of transformed parameters or by `reject`, are cut off from its
    /// prior, and made again; nobody knows how much is left. Where it refuses them for what outcomes are, that does not
    /// help.
    pub(super) fn check_cuts(&mut self, sets: &[DataSet]) -> Result<(), ProveError> {
        let Some(set) = sets.first().filter(|_| may_refuse(self.program)) else { return Ok(()) };
        let program = reduced(self.program, &|_| false);
        let mut target = Target::new(&program, &set.data)?;
        let mut draws = Vec::new();
        for i in 0..DRAWS {
            self.cut |= self.simulator.is_refused(&mut self.key(7).dataset(i).stream());
            if let Ok(point) = self.simulator.draw_parameters(None, self.key(3).dataset(i)) {
                draws.push(point);
            }
        }
        let values = target.evaluate(&draws, Part::Prior)?;
        let refusals: Vec<_> = values.iter().filter_map(|v| v.rejection.as_ref()).collect();
        match refusals.first() {
            None => Ok(()),
            Some(first) => {
                let (span, reason) = (first.span, first.message.clone());
                Err(Misreading::Cut { span, refused: refusals.len(), draws: draws.len(), reason }.into())
            }
        }
    }
}
