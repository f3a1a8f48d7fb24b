//! Draws from the joint distribution that a program states: parameters from the prior, outcomes given parameters.

mod by_density;
mod careful;
mod complaints;
mod forward;
mod guard;
mod invert;
mod linked;
mod mixtures;
mod noted;
mod program;
mod score;
mod scored;
mod solve;
mod statements;
mod values;

use std::sync::Arc;
use std::time::Instant;

use crust_math::random::{Purpose, Stream, StreamKey};
use crust_stan::ast::{BlockKind, SpecialType};
use crust_stan::data::Data;
use crust_stan::deep::on_deep_stack;
use crust_stan::diagnostics::Diagnostic;
use crust_stan::joint::{Joint, Source, special_type};
use crust_stan::typed::{Program, VariableId};

use crate::evaluator::{Evaluator, Include};
use crate::machine::Rejection;
use crate::model::{EngineError, Model};
use crate::unconstrain::{ParameterShape, UnconstrainError, Values};
use by_density::Likelihood;
pub use forward::{Flat, Forward, Order, within};
pub(crate) use guard::may_refuse;
use linked::Group;
pub(crate) use linked::Integral;
use program::{Drawing, Phase};
pub(crate) use score::{Mode, Place, Score, cell as cell_density, log_mass, number as number_density, place};
pub(crate) use scored::{ScoredDraw, Scorer};

/// Nobody has chosen the values of draws: what to do is something else than for values that were given.
fn no_value(error: &UnconstrainError) -> String {
    match error {
        UnconstrainError::Edge { name } | UnconstrainError::NotFinite { name, .. } => format!(
            "that of `{name}` rounds to the edge of its constraint, since its prior is so wide; narrow the prior (for \
             example `{name} ~ normal(0, 1)` in place of a Cauchy distribution), or fit it to the data with \
             `bread --hyper {name}`"
        ),
        other => other.to_string(),
    }
}

/// Why nothing can be drawn.
#[derive(Clone, Debug, thiserror::Error)]
pub enum SimulateError {
    #[error(transparent)]
    Engine(#[from] EngineError),
    #[error("a draw failed: {}", .0.message)]
    Rejected(Rejection),
    #[error("a draw from the prior is no value of its parameter: {}", no_value(.0))]
    Unconstrain(#[from] UnconstrainError),
    /// An element that no statement draws, or that waits for itself.
    #[error("{}", .0.message)]
    Reading(Box<Diagnostic>),
    #[error("the simulator does not fit the program: {0}")]
    Simulator(String),
    #[error("`{name}` is not in the data, but its given values decide which of them are drawn: give it in the data")]
    MaskMissing { name: String },
    #[error(
        "what was drawn for `{name}` is beyond its declaration: {message}; leave the constraint out of the declaration, or \
         write a distribution that keeps to it (`T[ , ]` for bounds)"
    )]
    Outside { name: String, message: String },
    #[error(
        "`{name}` is not in the data, but its likelihood is written by hand: give values to begin with, or {}",
        remedy()
    )]
    GivenMissing { name: String },
    #[error("parameters cannot be drawn, since only the likelihood was read: give values for all of them")]
    LikelihoodAlone,
    #[error("{name} cannot be drawn from the values of the likelihood: {why}; {}", remedy())]
    NoDensity { name: String, why: String },
    #[error(
        "the likelihood as a function of an element of the outcome does not come to an end, as that of a censored \
         observation does not; {}",
        remedy()
    )]
    Endless,
    #[error(
        "drawing data from the values of the likelihood takes longer than there is time for it; declare the bounds of \
         integers, if they have any, or {}",
        remedy()
    )]
    Slow,
    #[error(
        "the declared constraints of `{names}` hold for none of {MOST_ATTEMPTS} draws of the distributions that the program \
         states: state one that keeps to them (`T[ , ]` for bounds)"
    )]
    CutAway { names: String },
    #[error("the program refuses all of {MOST_ATTEMPTS} draws from its own prior: {}", .0.message)]
    Refused(Rejection),
    #[error("there is no parameter `{name}`")]
    UnknownParameter { name: String },
    #[error("the value for `{name}` has {given} numbers, but the parameter has {wanted}")]
    WrongSize { name: String, given: usize, wanted: usize },
}

/// A pass draws at least one element, so a program with so many is not going to end.
const MOST_PASSES: usize = 1_000_000;

/// Draws of all parameters before their declarations are said to leave nothing.
const MOST_ATTEMPTS: u32 = 10_000;

const GENERATED: Include = Include { transformed: false, generated: true };

/// Draws parameters and data sets. Every draw depends on its key alone.
#[derive(Clone)]
pub struct Simulator {
    joint: Arc<Joint>,
    data: Data,
    /// What draws parameters; nothing where the likelihood alone was read.
    parameters: Option<Phases>,
    outcomes: Option<Phases>,
    /// Parameters that are drawn at once, in groups.
    linked: Vec<Group>,
    /// What refuses some of the draws: constraints of transformed parameters, and `reject`.
    guard: Option<Arc<Model>>,
    /// Draws from the prior by other means, as points of the model.
    prior_draws: Option<Arc<Vec<Vec<f64>>>>,
    /// Knows how to unconstrain parameters.
    skeleton: Arc<Model>,
    /// Who draws the outcomes that the likelihood does not.
    supplied: Option<Supplied>,
    /// What draws outcomes from the values of the likelihood.
    by_density: Option<Likelihood>,
}

/// What helps where an outcome cannot be drawn.
fn remedy() -> &'static str {
    "supply the simulator: in `generated quantities` draw the outcome into a variable with `_sim` behind its name, or \
     give another program with `--simulator`"
}

/// A drawing program, bound to data.
#[derive(Clone)]
struct Phases {
    model: Arc<Model>,
    drawn: Vec<VariableId>,
    /// How many numbers each drawn variable has.
    sizes: Vec<usize>,
}

/// A program whose generated quantities are outcomes.
#[derive(Clone)]
enum Supplied {
    /// The program itself.
    Own(Arc<Model>),
    Other(Arc<Model>),
}

impl Simulator {
    /// `data` holds sizes and covariates; outcomes may be missing from it. `simulator` is a program whose generated
    /// quantities are outcomes by name.
    pub fn new(
        program: &Program,
        joint: &Joint,
        data: &Data,
        simulator: Option<&Program>,
    ) -> Result<Self, SimulateError> {
        Self::new_until(program, joint, data, simulator, None)
    }

    /// The same with a time after which outcomes that are drawn from the values of the likelihood are given up
    /// ([`SimulateError::Slow`]), now and in all draws until [`Simulator::take_time`].
    pub fn new_until(
        program: &Program,
        joint: &Joint,
        data: &Data,
        simulator: Option<&Program>,
        until: Option<Instant>,
    ) -> Result<Self, SimulateError> {
        let seed = 1;
        let skeleton = Arc::new(Model::bind(&program::skeleton(joint), data, seed)?);
        let parameters = if joint.likelihood_only {
            None
        } else {
            Some(Phases::bind(on_deep_stack(|| program::write(joint, Phase::Parameters)), data)?)
        };
        let linked = on_deep_stack(|| Group::all(joint, &skeleton, data))?;
        let guard = if !joint.likelihood_only && may_refuse(&joint.program) {
            Some(Arc::new(Model::bind(&on_deep_stack(|| guard::program(joint)), data, seed)?))
        } else {
            None
        };
        let by_likelihood = joint.outcomes.iter().any(|(_, source)| *source == Source::Likelihood);
        let outcomes = if by_likelihood {
            let drawing = on_deep_stack(|| program::write(joint, Phase::Outcomes));
            if let Some(id) = drawing.masks.iter().find(|id| data.missing.contains(id)) {
                return Err(SimulateError::MaskMissing { name: joint.program.variable(*id).name.clone() });
            }
            Some(Phases::bind(drawing, data)?)
        } else {
            None
        };
        let supplied = Self::supplied(program, joint, data, simulator)?;
        let mut own = joint.clone();
        let by_density = if joint.outcomes.iter().any(|(_, source)| *source == Source::Density) {
            let name = joint.outcome_names().into_iter().collect::<Vec<_>>().join(", ");
            let why = "the target is used in ways that cannot be followed".to_owned();
            Some(Likelihood::choose(&mut own, data, until)?.ok_or(SimulateError::NoDensity { name, why })?)
        } else {
            None
        };
        let (joint, data) = (Arc::new(own), data.clone());
        Ok(Self { joint, data, parameters, outcomes, linked, guard, prior_draws: None, skeleton, supplied, by_density })
    }

    /// From now on, draws take as long as they take.
    pub fn take_time(&mut self) {
        if let Some(likelihood) = &mut self.by_density {
            likelihood.take_time();
        }
    }

    fn supplied(
        program: &Program,
        joint: &Joint,
        data: &Data,
        simulator: Option<&Program>,
    ) -> Result<Option<Supplied>, SimulateError> {
        let complete = values::completed(data);
        if let Some(other) = simulator {
            let theirs = values::data_for(other, program, &complete)?;
            let model = Arc::new(Model::bind(other, &theirs, 1)?);
            return Ok(Some(Supplied::Other(model)));
        }
        let own = joint.outcomes.iter().any(|(_, source)| matches!(source, Source::Generated(_)));
        if own {
            return Ok(Some(Supplied::Own(Arc::new(Model::bind(program, &complete, 1)?))));
        }
        Ok(None)
    }

    /// Draws all parameters from the prior, those in `fixed` aside, as a point of the model.
    pub fn draw_parameters(&mut self, fixed: Option<&Values>, key: StreamKey) -> Result<Vec<f64>, SimulateError> {
        let layouts = &self.skeleton.parameters;
        for (name, numbers) in fixed.into_iter().flatten() {
            let Some(layout) = layouts.iter().find(|l| l.name == *name) else {
                return Err(SimulateError::UnknownParameter { name: name.clone() });
            };
            if layout.len() != numbers.len() {
                let (name, given, wanted) = (name.clone(), numbers.len(), layout.len());
                return Err(SimulateError::WrongSize { name, given, wanted });
            }
        }
        if let Some(draws) = &self.prior_draws {
            // Given some of them, the others have another distribution.
            let fixed = fixed.is_some_and(|fixed| !fixed.is_empty());
            return if fixed { Err(SimulateError::LikelihoodAlone) } else { Ok(guard::pick(draws, key)) };
        }
        let mut state = Vec::new();
        for layout in layouts {
            match fixed.and_then(|f| f.get(&layout.name)) {
                Some(given) => state.extend(values::machine_order(layout, given)),
                None => state.extend(std::iter::repeat_n(f64::NAN, layout.len())),
            }
        }
        self.until_inside(key, |stream| self.attempt(state.clone(), stream))
    }

    /// Draws again until all declarations hold, where some of them are not those of what is drawn. Each attempt has a
    /// stream of its own: one that ends early does not say how far it got, and what is used again would not be
    /// independent of what was rejected.
    fn until_inside<T>(
        &self,
        key: StreamKey,
        mut attempt: impl FnMut(&mut Stream) -> Result<T, SimulateError>,
    ) -> Result<T, SimulateError> {
        let first = attempt(&mut key.stream());
        if !self.is_outside(&first) {
            return first;
        }
        let mut seeds = key.stream();
        let mut again = || attempt(&mut StreamKey::new(seeds.next_u64(), Purpose::GENERATED).stream());
        let names = self.joint.cut_together.iter().map(|id| self.joint.program.variable(*id).name.as_str());
        let none = || Err(SimulateError::CutAway { names: names.collect::<Vec<_>>().join("`, `") });
        let last = if self.is_cut() { None } else { Some(first) };
        (1..MOST_ATTEMPTS).map(|_| again()).find(|found| !self.is_outside(found)).or(last).unwrap_or_else(none)
    }

    /// Whether an attempt ends outside of what declarations and the program allow.
    fn is_outside<T>(&self, found: &Result<T, SimulateError>) -> bool {
        match found {
            Err(SimulateError::Refused(_)) => true,
            Err(SimulateError::Rejected(_) | SimulateError::Unconstrain(_)) => self.is_cut(),
            _ => false,
        }
    }

    /// Whether declarations cut distributions that are drawn whole, so that nobody knows how much is left of them.
    pub(crate) fn is_cut(&self) -> bool {
        !self.joint.cut_together.is_empty()
    }

    /// Parameters as their statements draw them, which need not be what they are declared as.
    fn attempt(&self, state: Vec<f64>, stream: &mut Stream) -> Result<Vec<f64>, SimulateError> {
        let drawn = match &self.parameters {
            Some(parameters) => self.run_parameters(parameters, state, stream, None)?,
            None if count_missing(&state) > 0 => return Err(SimulateError::LikelihoodAlone),
            None => state,
        };
        let point = self.free(&drawn, stream)?;
        self.check_guard(&point)?;
        Ok(point)
    }

    /// Passes until all parameters are there, with groups that are drawn at once in between.
    fn run_parameters(
        &self,
        parameters: &Phases,
        state: Vec<f64>,
        stream: &mut Stream,
        score: Option<&mut Score>,
    ) -> Result<Vec<f64>, SimulateError> {
        parameters
            .run(&self.joint, state, stream, score, &|state, stream, score| self.draw_linked(state, stream, score))
    }

    /// The unconstrained point of drawn parameters.
    fn free(&self, drawn: &[f64], stream: &mut Stream) -> Result<Vec<f64>, SimulateError> {
        let layouts = &self.skeleton.parameters;
        let mut constrained = Values::new();
        let mut rest = drawn;
        for layout in layouts {
            let own = rest.split_off(..layout.len()).unwrap_or_default();
            constrained.insert(layout.name.clone(), values::nested_order(layout, own));
        }
        let free = self.skeleton.evaluator().unconstrain(&constrained)?;
        let mut free: Vec<f64> = free.into_iter().map(|x| x.unwrap_or(f64::NAN)).collect();
        self.lengthen(&mut free, stream);
        Ok(free)
    }

    /// A unit vector is the direction of a point whose length Stan gives a standard normal density: the length is
    /// drawn, too.
    fn lengthen(&self, free: &mut [f64], stream: &mut Stream) {
        let mut rest = free;
        for layout in &self.skeleton.parameters {
            let own = rest.split_off_mut(..layout.free_size).unwrap_or_default();
            let id = self.joint.program.declared_in(BlockKind::Parameters);
            let mut special = id.filter(|id| self.joint.program.variable(*id).name == layout.name);
            let unit =
                special.next().and_then(|id| special_type(&self.joint.program, id)) == Some(SpecialType::UnitVector);
            let Some(part) = layout.parts.first().filter(|_| unit) else { continue };
            for cell in own.chunks_mut(part.shape.cell_len().max(1)) {
                let length = cell.iter().map(|_| stream.standard_normal().powi(2)).sum::<f64>().sqrt();
                cell.iter_mut().for_each(|x| *x *= length);
            }
        }
    }

    /// Draws the outcomes given parameters: a complete data set. This is all that a reading of the likelihood alone
    /// does ([`crust_stan::joint::ReadOptions::likelihood_only`]).
    pub fn draw_data(&mut self, point: &[f64], key: StreamKey) -> Result<Data, SimulateError> {
        self.draw_data_scored(point, key, None)
    }

    fn draw_data_scored(
        &mut self,
        point: &[f64],
        key: StreamKey,
        score: Option<&mut Score>,
    ) -> Result<Data, SimulateError> {
        let mut stream = key.stream();
        let mut data = self.data.clone();
        if let Some(outcomes) = &self.outcomes {
            let given = outcomes.numbers_of(&self.data);
            let drawn = outcomes.run_outcomes(&self.joint, point, &given, &mut stream, score)?;
            let mut rest = drawn.as_slice();
            for (id, size) in outcomes.drawn.iter().zip(&outcomes.sizes) {
                let own = rest.split_off(..*size).unwrap_or_default();
                values::set(&self.joint.program, &mut data, *id, own)?;
            }
        }
        if let Some(likelihood) = &self.by_density {
            let drawn = likelihood.draw(point, &mut stream)?;
            let mut rest = drawn.as_slice();
            for (id, size) in likelihood.drawn.iter().zip(&likelihood.sizes) {
                let own = rest.split_off(..*size).unwrap_or_default();
                values::set(&self.joint.program, &mut data, *id, own)?;
            }
        }
        self.draw_supplied(point, &mut data, &mut stream)?;
        Ok(data)
    }

    /// The values of parameters at a point, in the order of nested arrays.
    pub fn parameters(&mut self, point: &[f64]) -> Result<Values, SimulateError> {
        let include = Include { transformed: false, generated: false };
        let mut evaluator = self.skeleton.evaluator();
        let key = StreamKey::new(0, Purpose::GENERATED);
        let found = evaluator.quantities(point, key, include)?;
        Ok(values::named(&self.skeleton.parameters, &found.numbers))
    }

    /// The values of parameters at a point as Stan JSON, which `crust sample --init` and `crust simulate --fix` read.
    pub fn parameters_json(&mut self, point: &[f64]) -> Result<String, SimulateError> {
        let named = self.parameters(point)?;
        let mut lines = Vec::new();
        for shape in self.parameter_shapes() {
            let Some(sizes) = &shape.sizes else { continue };
            let numbers = named.get(&shape.name).map(Vec::as_slice).unwrap_or_default();
            lines.push(format!("  \"{}\": {}", shape.name, values::nested_json(sizes, numbers)));
        }
        Ok(format!("{{\n{}\n}}\n", lines.join(",\n")))
    }

    /// Names and sizes of the parameters.
    pub fn parameter_shapes(&self) -> Vec<ParameterShape> {
        self.skeleton.parameter_shapes()
    }

    fn draw_supplied(&mut self, point: &[f64], data: &mut Data, stream: &mut Stream) -> Result<(), SimulateError> {
        let (model, theirs) = match &self.supplied {
            None => return Ok(()),
            Some(Supplied::Own(model)) => (Arc::clone(model), false),
            Some(Supplied::Other(model)) => (Arc::clone(model), true),
        };
        let mut evaluator = model.evaluator();
        let point = if theirs {
            let ours = self.parameters(point)?;
            let free = evaluator.unconstrain(&ours)?;
            free.into_iter()
                .collect::<Option<Vec<f64>>>()
                .ok_or_else(|| SimulateError::Simulator("it has a parameter that the program has not".to_owned()))?
        } else {
            point.to_vec()
        };
        let found = evaluator.quantities_from(&point, stream, GENERATED)?;
        if let Some(rejection) = found.rejection {
            return Err(SimulateError::Rejected(rejection));
        }
        let skip: usize = model.parameters.iter().map(crate::names::Layout::len).sum();
        let generated = values::machine_values(&model.generated, &found.numbers[skip..]);
        for (id, source) in &self.joint.outcomes {
            let name = match source {
                Source::Likelihood | Source::Density => continue,
                Source::Generated(sim) => self.joint.program.variable(*sim).name.clone(),
                Source::Simulator => self.joint.program.variable(*id).name.clone(),
            };
            let Some(numbers) = generated.get(&name) else {
                return Err(SimulateError::Simulator(format!("it has no generated quantity `{name}`")));
            };
            values::set(&self.joint.program, data, *id, numbers)?;
        }
        Ok(())
    }
}

/// Draws some of what is missing in a state.
type More<'a> = dyn Fn(&mut [f64], &mut Stream, Option<&mut Score>) -> Result<bool, SimulateError> + 'a;

impl Phases {
    fn bind(drawing: Drawing, data: &Data) -> Result<Self, SimulateError> {
        let model = Arc::new(Model::bind(&drawing.program, data, 1)?);
        let sizes = model.generated.iter().step_by(2).map(crate::names::Layout::len).collect();
        Ok(Self { model, drawn: drawing.drawn, sizes })
    }

    /// The point of a pass: what comes before, then for each variable its state, the given values, and the numbers of
    /// elements.
    #[allow(clippy::cast_precision_loss, reason = "sizes fit in 32 bits")]
    fn point(&self, before: &[f64], state: &[f64], given: Option<&[f64]>) -> Vec<f64> {
        let mut all = before.to_vec();
        let (mut state, mut given) = (state, given);
        for size in &self.sizes {
            all.extend(state.split_off(..*size).unwrap_or_default());
            if let Some(given) = &mut given {
                all.extend(given.split_off(..*size).unwrap_or_default());
            }
            all.extend((0..*size).map(|i| i as f64));
        }
        all
    }

    /// One pass: the state behind it, and how often each element is drawn.
    fn pass(
        &self,
        evaluator: &mut Evaluator,
        point: &[f64],
        stream: &mut Stream,
    ) -> Result<(Vec<f64>, Vec<f64>), SimulateError> {
        let found = evaluator.quantities_from(point, stream, GENERATED)?;
        if let Some(rejection) = found.rejection {
            return Err(SimulateError::Rejected(rejection));
        }
        let skip: usize = self.model.parameters.iter().map(crate::names::Layout::len).sum();
        let (mut state, mut counts) = (Vec::new(), Vec::new());
        let mut rest = &found.numbers[skip..];
        for (i, layout) in self.model.generated.iter().enumerate() {
            let own = rest.split_off(..layout.len()).unwrap_or_default();
            let list = if i % 2 == 0 { &mut state } else { &mut counts };
            list.extend(values::from_output(layout, own));
        }
        Ok((state, counts))
    }

    /// Passes until nothing is missing. `more` draws what no statement draws, and says whether it did.
    fn run(
        &self,
        joint: &Joint,
        state: Vec<f64>,
        stream: &mut Stream,
        mut score: Option<&mut Score>,
        more: &More<'_>,
    ) -> Result<Vec<f64>, SimulateError> {
        let mut evaluator = self.model.evaluator();
        evaluator.machine.score = score.is_some().then(|| Box::new(Score::new(Mode::Drawing)));
        let mut state = state;
        // There may be no statement that draws anything.
        while more(&mut state, stream, score.as_deref_mut())? {}
        for _ in 0..MOST_PASSES {
            let missing = count_missing(&state);
            let (next, counts) = self.pass(&mut evaluator, &self.point(&[], &state, None), stream)?;
            evaluator.hand_over(&mut score);
            state = next;
            let left = count_missing(&state);
            if left == 0 && missing == 0 {
                self.check_counts(joint, &counts)?;
                return Ok(state);
            }
            if left == missing && !more(&mut state, stream, score.as_deref_mut())? {
                return Err(self.stuck(joint, &state, &counts));
            }
        }
        Err(self.stuck(joint, &state, &vec![1.0; state.len()]))
    }

    /// The same for outcomes: elements that the program draws are drawn anew, others stay as given. At the end the
    /// conditions that decide what is drawn must come out as before on the simulated data.
    fn run_outcomes(
        &self,
        joint: &Joint,
        parameters: &[f64],
        given: &[f64],
        stream: &mut Stream,
        mut score: Option<&mut Score>,
    ) -> Result<Vec<f64>, SimulateError> {
        let mut evaluator = self.model.evaluator();
        let point = |state: &[f64], given: &[f64]| self.point(parameters, state, Some(given));
        let (_, planned) = self.pass(&mut evaluator, &point(given, given), &mut stream.clone())?;
        let drawn = |n: &f64| *n > 0.0;
        let mut state: Vec<f64> =
            given.iter().zip(&planned).map(|(x, n)| if drawn(n) { f64::NAN } else { *x }).collect();
        if let Some(at) = state.iter().zip(&planned).position(|(x, n)| x.is_nan() && !drawn(n)) {
            return Err(self.never_drawn(joint, at));
        }
        evaluator.machine.score = score.is_some().then(|| Box::new(Score::new(Mode::Drawing)));
        for _ in 0..MOST_PASSES {
            let missing = count_missing(&state);
            let (next, counts) = self.pass(&mut evaluator, &point(&state, given), stream)?;
            evaluator.hand_over(&mut score);
            state = next;
            let left = count_missing(&state);
            if missing == 0 {
                self.check_counts(joint, &counts)?;
                break;
            }
            if left == missing {
                return Err(self.stuck(joint, &state, &counts));
            }
        }
        evaluator.machine.score = None;
        let (_, counts) = self.pass(&mut evaluator, &point(&state, &state), &mut stream.clone())?;
        if let Some(at) = counts.iter().zip(&planned).position(|(a, b)| drawn(a) != drawn(b)) {
            return Err(self.other_mask(joint, at, state[at]));
        }
        Ok(state)
    }
}

fn count_missing(state: &[f64]) -> usize {
    state.iter().filter(|x| x.is_nan()).count()
}
