//! Everything that a program computes from one draw.

use crust_math::random::{Stream, StreamKey};

use super::{Evaluator, MOST_RESTARTS, internal};
use crate::machine::{Rejection, Stop, Value};
use crate::model::{EngineError, Model, grow};
use crate::names::Layout;

/// What a draw says about every quantity of the output.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Quantities {
    /// Parameters, transformed parameters, generated quantities, in the order of [`Model::output_names`].
    pub numbers: Vec<f64>,
    /// Why the program rejected the draw; its numbers are NaN.
    pub rejection: Option<Rejection>,
}

/// Which quantities are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Include {
    pub transformed: bool,
    pub generated: bool,
}

impl Model {
    fn included(&self, include: Include) -> impl Iterator<Item = &Layout> {
        let transformed = self.transformed.iter().filter(move |_| include.transformed);
        let generated = self.generated.iter().filter(move |_| include.generated);
        self.parameters.iter().chain(transformed).chain(generated)
    }

    /// The names of the numbers in the output, as they stand in the program: `theta[1,2]`.
    pub fn output_names(&self, include: Include) -> Vec<String> {
        self.included(include).flat_map(Layout::names).collect()
    }
}

impl Evaluator {
    /// Constrained parameters, transformed parameters and generated quantities for one unconstrained point. Random
    /// draws come from the stream of `key`.
    pub fn quantities(&mut self, point: &[f64], key: StreamKey, include: Include) -> Result<Quantities, EngineError> {
        self.quantities_from(point, &mut key.stream(), include)
    }

    /// The same with draws from a stream, which goes on behind them.
    pub(crate) fn quantities_from(
        &mut self,
        point: &[f64],
        stream: &mut Stream,
        include: Include,
    ) -> Result<Quantities, EngineError> {
        assert_eq!(point.len(), self.model.dimension(), "a number for each dimension");
        let printed = self.machine.messages.len();
        self.machine.flat_on = self.flat;
        let mut again = 0;
        loop {
            self.machine.messages.truncate(printed);
            self.machine.streams.clear();
            self.machine.streams.push(Stream::clone(stream));
            if let Some(score) = &mut self.machine.score {
                score.clear();
            }
            match self.run_quantities(point, include) {
                Ok(numbers) => {
                    if self.machine.settle_loops() || self.machine.make_plan(&self.model.code) {
                        continue;
                    }
                    if let Some(end) = self.machine.streams.pop() {
                        *stream = end;
                    }
                    return Ok(Quantities { numbers, rejection: None });
                }
                Err(Stop::AllRejected) => {
                    self.machine.unsettle_loops();
                    let n = self.model.included(include).map(Layout::len).sum();
                    let rejection = self.machine.rejected.take(0);
                    return Ok(Quantities { numbers: vec![f64::NAN; n], rejection });
                }
                Err(Stop::Full) => grow(&mut self.machine)?,
                Err(Stop::Again) => {
                    again += 1;
                    if again > MOST_RESTARTS {
                        return Err(internal("an evaluation was begun again and again"));
                    }
                    self.machine.unsettle_loops();
                }
                Err(Stop::FlatFails) => {
                    self.machine.unsettle_loops();
                    self.machine.flat_on = false;
                }
                Err(Stop::Fatal(diagnostic)) => return Err(EngineError::one(*diagnostic)),
                Err(Stop::TileParts | Stop::TileUnfit | Stop::LanesPart | Stop::LanesUnfit) => {
                    return Err(internal("one lane alone was taken apart"));
                }
            }
        }
    }

    fn run_quantities(&mut self, point: &[f64], include: Include) -> Result<Vec<f64>, Stop> {
        let Self { model, machine, .. } = self;
        let code = &model.code;
        machine.clear(1, crate::model::PLAIN);
        let free = machine.free_block(point, 1, 0..1)?;
        machine.constrain_parameters(code, free)?;
        if include.transformed || include.generated {
            machine.statements(&code.transform)?;
            for quantity in &code.transformed_parameters {
                let value = machine.globals[quantity.slot as usize].value;
                machine.check_constraint(&quantity.declared, value)?;
            }
        }
        if include.generated {
            machine.statements(&code.generate)?;
            for quantity in &code.generated_quantities {
                let value = machine.globals[quantity.slot as usize].value;
                machine.check_constraint(&quantity.declared, value)?;
            }
        }
        let mut numbers = Vec::new();
        for layout in model.included(include) {
            for part in &layout.parts {
                let mut value = machine.globals[layout.slot as usize].value;
                for &p in &part.path {
                    if let Value::Tuple { first, .. } = value {
                        value = machine.tuple_part(first + crate::memory::cast(p));
                    }
                }
                let Value::Numbers(view) = value else { continue };
                let values = machine.arena.of(view.block, machine.width);
                part.each_in_output_order(|_, at| numbers.push(values[at]));
            }
        }
        Ok(numbers)
    }
}
