//! The density of the reading: of draws while they are made, and of values from elsewhere.

use crust_math::random::StreamKey;
use crust_stan::data::Data;
use crust_stan::joint::{Joint, Source};
use crust_stan::typed::VariableId;
use crust_stan::value::Value;

use super::by_density::Normaliser;
use super::score::{Mode, Score, Sums};
use super::{GENERATED, Phases, SimulateError, Simulator, values};
use crate::evaluator::Evaluator;

impl Evaluator {
    /// Adds what the last pass has scored.
    pub(super) fn hand_over(&self, to: &mut Option<&mut Score>) {
        if let (Some(to), Some(from)) = (to, &self.machine.score) {
            to.merge(from);
        }
    }
}

impl Phases {
    /// The numbers of what is drawn in data; NaN where there are none.
    pub(super) fn numbers_of(&self, data: &Data) -> Vec<f64> {
        let mut all = Vec::new();
        for (id, size) in self.drawn.iter().zip(&self.sizes) {
            match data.get(*id).and_then(Value::to_reals) {
                Some(numbers) => all.extend(numbers),
                None => all.extend(std::iter::repeat_n(f64::NAN, *size)),
            }
        }
        all
    }

    /// The score of a pass in which everything is given.
    fn score(&self, evaluator: &mut Option<Evaluator>, point: &[f64]) -> Result<Score, SimulateError> {
        let evaluator = evaluator.get_or_insert_with(|| self.model.evaluator());
        evaluator.machine.score = Some(Box::new(Score::new(Mode::Given)));
        let mut stream = StreamKey::new(0, crust_math::random::Purpose::GENERATED).stream();
        let found = evaluator.quantities_from(point, &mut stream, GENERATED)?;
        if let Some(rejection) = found.rejection {
            return Err(SimulateError::Rejected(rejection));
        }
        Ok(evaluator.machine.score.take().map_or_else(|| Score::new(Mode::Given), |score| *score))
    }
}

/// What scores given values; made when it is needed.
#[derive(Default)]
pub struct Scorer {
    parameters: Option<Evaluator>,
    outcomes: Option<Evaluator>,
}

/// A draw of the parameters with its density.
pub struct ScoredDraw {
    /// Unconstrained.
    pub point: Vec<f64>,
    /// As the draws were made.
    pub drawn: Score,
    /// The same numbers, given.
    pub given: Score,
}

impl Simulator {
    pub(crate) fn joint(&self) -> &Joint {
        &self.joint
    }

    /// What is drawn given parameters, and by what. Where no density names the outcome, this is known only here.
    pub fn outcomes(&self) -> &[(VariableId, Source)] {
        &self.joint.outcomes
    }

    pub(crate) fn data(&self) -> &Data {
        &self.data
    }

    /// The number of unconstrained parameters.
    pub(crate) fn dimension(&self) -> usize {
        self.skeleton.dimension()
    }

    /// Whether outcomes come from a simulator that was supplied, whose density is not known.
    pub fn is_supplied(&self) -> bool {
        self.joint.outcomes.iter().any(|(_, source)| !matches!(source, Source::Likelihood | Source::Density))
    }

    /// The logarithm of what the likelihood adds up to over all values of the outcome, where that is drawn from the
    /// values of the likelihood.
    pub(crate) fn log_normaliser(&self, point: &[f64]) -> Option<Result<Normaliser, SimulateError>> {
        self.by_density.as_ref().map(|likelihood| likelihood.log_normaliser(point))
    }

    /// Why outcomes may be drawn wrongly from the values of a likelihood that is a density all the same.
    pub(crate) fn doubt(&self) -> Option<&'static str> {
        self.by_density.as_ref().and_then(super::Likelihood::doubt)
    }

    /// Whether all that is drawn from the values of the likelihood are integers.
    pub(crate) fn draws_integers(&self) -> bool {
        self.by_density.as_ref().is_some_and(super::Likelihood::has_integers_only)
    }

    /// How many numbers are drawn for a data set.
    pub(crate) fn outcome_size(&self) -> usize {
        let size = |id| self.data.get(id).and_then(Value::shape).and_then(|shape| shape.numbers()).unwrap_or(0);
        self.joint.outcomes.iter().map(|(id, _)| size(*id)).sum()
    }

    /// Whether all outcomes are in the data.
    pub(crate) fn is_complete(&self) -> bool {
        self.joint.outcomes.iter().all(|(id, _)| !self.data.missing.contains(id))
    }

    /// A draw from the prior, and its density under the reading.
    pub(crate) fn scored_parameters(&self, own: &mut Scorer, key: StreamKey) -> Result<ScoredDraw, SimulateError> {
        let parameters = self.parameters.as_ref().ok_or(SimulateError::LikelihoodAlone)?;
        self.until_inside(key, |stream| {
            let mut drawn = Score::new(Mode::Drawing);
            let state = vec![f64::NAN; parameters.sizes.iter().sum()];
            let state = self.run_parameters(parameters, state, stream, Some(&mut drawn))?;
            let mut given = parameters.score(&mut own.parameters, &parameters.point(&[], &state, None))?;
            let point = self.free(&state, stream)?;
            self.check_guard(&point)?;
            self.score_linked(&point, &mut given);
            Ok(ScoredDraw { point, drawn, given })
        })
    }

    /// The density of a point under the prior of the reading, on the constrained scale.
    pub(crate) fn score_parameters(&mut self, own: &mut Scorer, point: &[f64]) -> Result<Score, SimulateError> {
        let named = self.parameters(point)?;
        let mut state = Vec::new();
        for layout in &self.skeleton.parameters {
            let numbers = named.get(&layout.name).map(Vec::as_slice).unwrap_or_default();
            state.extend(values::machine_order(layout, numbers));
        }
        let parameters = self.parameters.as_ref().ok_or(SimulateError::LikelihoodAlone)?;
        let mut score = parameters.score(&mut own.parameters, &parameters.point(&[], &state, None))?;
        self.score_linked(point, &mut score);
        Ok(score)
    }

    /// Outcomes given parameters, and the density of the draws as they were made.
    pub(crate) fn scored_data(&mut self, point: &[f64], key: StreamKey) -> Result<(Data, Score), SimulateError> {
        let mut drawn = Score::new(Mode::Drawing);
        let data = self.draw_data_scored(point, key, Some(&mut drawn))?;
        Ok((data, drawn))
    }

    /// The density of data given parameters under the likelihood of the reading.
    pub(crate) fn score_data(&self, own: &mut Scorer, point: &[f64], data: &Data) -> Result<Score, SimulateError> {
        if let Some(likelihood) = &self.by_density {
            let numbers: Vec<f64> =
                likelihood.drawn.iter().filter_map(|id| data.get(*id)?.to_reals()).flatten().collect();
            let (density, magnitude) = likelihood.log_density(point, &numbers);
            let mut score = Score::new(Mode::Given);
            let sums = Sums { density, magnitude, ..Sums::default() };
            score.statements.insert((0, 0), sums);
            // Draws come from a table, and have no density of their own to compare with.
            score.mixtures.insert((0, 0));
            return Ok(score);
        }
        let Some(phases) = &self.outcomes else { return Ok(Score::new(Mode::Given)) };
        let (state, mut given) = (phases.numbers_of(data), phases.numbers_of(&self.data));
        for (given, own) in given.iter_mut().zip(&state).filter(|(given, _)| given.is_nan()) {
            *given = *own;
        }
        phases.score(&mut own.outcomes, &phases.point(point, &state, Some(&given)))
    }
}
