//! `crust simulate`: parameters from the prior, and data given parameters.

use crate::error::{Error, ValuesError};
use crate::generative::{Generation, Generative, Outcomes};
use crate::problem::{Problem, Source};
use crate::session::Session;
use crate::values::read_values;
use crust_diagnose::result::{Json, SimulatedData};
use crust_engine::{SimulateError, UnconstrainError, Values};
use crust_math::random::{Purpose, StreamKey};
use crust_stan::data::write_json;

/// Options of `simulate`.
#[derive(Clone, Debug, Default)]
pub struct SimulateOptions {
    pub generation: Generation,
    /// A JSON object with values of parameters that are not drawn.
    pub fix: Option<Source>,
}

/// Draws datasets one after the other: there may be more than fit in memory.
pub struct Simulations<'a> {
    loaded: Generative<'a>,
    /// With the name of their file.
    fixed: Option<(String, Values)>,
    seed: u64,
    next: u32,
}

/// Reads a problem to simulate data with its sizes and covariates.
pub fn simulate<'a>(
    problem: &'a Problem,
    options: &SimulateOptions,
    session: &Session<'_>,
) -> Result<Simulations<'a>, Error> {
    let generation = Generation { sample_prior: options.fix.is_none(), ..options.generation.clone() };
    let loaded = Generative::read(problem, &generation, Outcomes::Simulated, session)?;
    let fixed = match &options.fix {
        None => None,
        Some(source) => {
            let json = source.read("read the fixed values")?;
            let shapes = loaded.simulator.parameter_shapes();
            let values = read_values("fixed value", source.name(), &json, &shapes, session)?;
            Some((source.name().to_owned(), values))
        }
    };
    Ok(Simulations { loaded, fixed, seed: session.seed, next: 0 })
}

impl Simulations<'_> {
    /// Parameters that the priors of others depend on.
    pub fn hyperparameters(&self) -> &[String] {
        &self.loaded.hyperparameters
    }

    /// The next dataset with the parameters behind it.
    pub fn draw(&mut self) -> Result<SimulatedData, Error> {
        let number = self.next;
        self.next += 1;
        let program = self.loaded.program().clone();
        self.draw_number(number).map_err(|error| match (error, &self.fixed) {
            // The user's own value, not a draw.
            (SimulateError::Unconstrain(error), Some((file, values))) if about(&error, values) => {
                ValuesError::Fixed { file: file.clone(), error }.into()
            }
            (error, _) => program.simulate(error),
        })
    }

    fn draw_number(&mut self, number: u32) -> Result<SimulatedData, SimulateError> {
        let key = StreamKey::new(self.seed, Purpose::PRIOR).dataset(number);
        let simulator = &mut self.loaded.simulator;
        let point = simulator.draw_parameters(self.fixed.as_ref().map(|(_, values)| values), key)?;
        let data = simulator.draw_data(&point, key.purpose(Purpose::DATA))?;
        let parameters = simulator.parameters_json(&point)?;
        Ok(SimulatedData { parameters: Json(parameters), data: Json(write_json(self.loaded.typed(), &data)) })
    }
}

/// Whether an error is about one of these values.
fn about(error: &UnconstrainError, values: &Values) -> bool {
    match error {
        UnconstrainError::Constraint { name, .. }
        | UnconstrainError::Edge { name }
        | UnconstrainError::NotFinite { name, .. }
        | UnconstrainError::UnknownBounds { name }
        | UnconstrainError::Tuple { name } => values.contains_key(name),
        UnconstrainError::Engine(_) => false,
    }
}
