//! From constrained values back to unconstrained numbers: what initial values need.

use std::collections::BTreeMap;
use std::iter::repeat_n;
use std::sync::Arc;

use crust_math::functions::{Cell, Shape};
use crust_math::transforms::{Bound, Bounds, Transform, TransformError};

use crate::code::{Constraint, Item, Node, Quantity};
use crate::evaluator::Evaluator;
use crate::machine::{Machine, Run, Value, Variable, View};
use crate::model::{EngineError, Model, PLAIN, with_room};
use crate::names::Layout;

/// The name and the sizes of a parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParameterShape {
    pub name: String,
    /// Empty for a number; `None` if there are tuples in it.
    pub sizes: Option<Vec<usize>>,
}

/// Why constrained values have no unconstrained counterpart.
#[derive(Clone, Debug, thiserror::Error)]
pub enum UnconstrainError {
    #[error("the value of `{name}` is {error}")]
    Constraint { name: String, error: TransformError },
    #[error("the value of `{name}` lies on the edge of its constraint, where there is no density; choose one inside")]
    Edge { name: String },
    #[error("the value of `{name}` is {value}, which is no finite number")]
    NotFinite { name: String, value: f64 },
    #[error("the constraint of `{name}` depends on parameters that have no value: give these too")]
    UnknownBounds { name: String },
    #[error("`{name}` is a tuple, and values of tuples cannot be given; leave it out")]
    Tuple { name: String },
    #[error(transparent)]
    Engine(#[from] EngineError),
}

impl Model {
    /// The parameters in the order of their declarations.
    pub fn parameter_shapes(&self) -> Vec<ParameterShape> {
        let sizes = |layout: &Layout| match layout.parts.as_slice() {
            [part] if part.path.is_empty() => Some((0..part.shape.rank()).map(|d| part.shape.size(d)).collect()),
            _ => None,
        };
        self.parameters.iter().map(|p| ParameterShape { name: p.name.clone(), sizes: sizes(p) }).collect()
    }
}

/// Values of parameters by name. The numbers of a container are in the order of nested arrays: the last index runs
/// fastest.
pub type Values = BTreeMap<String, Vec<f64>>;

impl Evaluator {
    /// The unconstrained numbers of constrained values; `None` for those of parameters without a value. Each value must
    /// have as many numbers as its parameter.
    pub fn unconstrain(&mut self, values: &Values) -> Result<Vec<Option<f64>>, UnconstrainError> {
        let model = Arc::clone(self.model());
        with_room(&mut self.machine, |machine| {
            machine.clear(1, PLAIN);
            let mut free = Vec::with_capacity(model.dimension());
            for (parameter, layout) in model.code.parameters.iter().zip(&model.parameters) {
                match unconstrain(machine, parameter, layout, values.get(&layout.name).map(Vec::as_slice))? {
                    Ok(numbers) => free.extend(numbers),
                    Err(error) => return Ok(Err(error)),
                }
            }
            Ok(Ok(free))
        })?
    }
}

/// One parameter. Its variable gets the value too: bounds of later parameters may depend on it.
fn unconstrain(
    machine: &mut Machine,
    parameter: &Quantity,
    layout: &Layout,
    given: Option<&[f64]>,
) -> Run<Result<Vec<Option<f64>>, UnconstrainError>> {
    let name = || layout.name.clone();
    let variable = parameter.slot as usize;
    let (Item::Cell { constraint, .. }, [part]) = (&parameter.declared.item, layout.parts.as_slice()) else {
        machine.globals[variable] = Variable::of(Value::Unset);
        let missing = vec![None; layout.free_size];
        return Ok(if given.is_some() { Err(UnconstrainError::Tuple { name: name() }) } else { Ok(missing) });
    };
    let shape = part.shape;
    let numbers = match given {
        Some(given) => in_machine_order(shape, given),
        None => vec![f64::NAN; shape.len()],
    };
    let sides = sides(machine, constraint)?;
    let block = machine.uniform(&numbers)?;
    machine.globals[variable] = Variable::of(Value::Numbers(View { shape, block }));
    if given.is_none() {
        return Ok(Ok(repeat_n(None, layout.free_size).collect()));
    }
    if sides.iter().flatten().flatten().any(|x| x.is_nan()) {
        return Ok(Err(UnconstrainError::UnknownBounds { name: name() }));
    }
    if let Some(&value) = numbers.iter().find(|x| !x.is_finite()) {
        return Ok(Err(UnconstrainError::NotFinite { name: name(), value }));
    }
    let free = match free_numbers(constraint, shape, &numbers, &sides) {
        Ok(free) => free,
        Err(error) => return Ok(Err(UnconstrainError::Constraint { name: name(), error })),
    };
    if free.iter().any(|x| !x.is_finite()) {
        return Ok(Err(UnconstrainError::Edge { name: name() }));
    }
    Ok(Ok(free.into_iter().map(Some).collect()))
}

/// Special types are transformed cell by cell, others all at once.
fn free_numbers(
    constraint: &Constraint,
    shape: Shape,
    numbers: &[f64],
    sides: &[Option<Vec<f64>>; 2],
) -> Result<Vec<f64>, TransformError> {
    let transform = match constraint {
        Constraint::Special(_) => constraint.transform(shape.rows(), shape.columns()),
        _ => constraint.transform(shape.len(), 1),
    };
    let (n, m) = (transform.constrained_size(), transform.free_size());
    let cells = if let Constraint::Special(_) = constraint { shape.cells() } else { 1 };
    let mut free = vec![0.0; cells * m];
    let mut scratch = vec![0.0; transform.scratch_len(1)];
    for cell in 0..cells {
        let value = &numbers[cell * n..(cell + 1) * n];
        transform.unconstrain(1, value, bounds(transform, sides), &mut free[cell * m..(cell + 1) * m], &mut scratch)?;
    }
    Ok(free)
}

fn bounds<'a>(transform: Transform, sides: &'a [Option<Vec<f64>>; 2]) -> Bounds<'a> {
    let [first, second] = sides.each_ref().map(|side| {
        side.as_deref().map(|numbers: &'a [f64]| match numbers {
            [number] => Bound::Scalar(*number),
            numbers => Bound::Elements(numbers),
        })
    });
    match transform {
        Transform::OffsetMultiplier { .. } => Bounds::offset_multiplier(first, second),
        _ => Bounds { first: first.unwrap_or(Bounds::NONE.first), second: second.unwrap_or(Bounds::NONE.second) },
    }
}

/// Lower and upper bound, or offset and multiplier.
fn sides(machine: &mut Machine, constraint: &Constraint) -> Run<[Option<Vec<f64>>; 2]> {
    let mut side = |node: Option<&Node>| -> Run<Option<Vec<f64>>> {
        let Some(node) = node else { return Ok(None) };
        let view = machine.numbers(node)?;
        Ok(Some(machine.arena.of(view.block, machine.width).to_vec()))
    };
    Ok(match constraint {
        Constraint::None | Constraint::Special(_) => [None, None],
        Constraint::Lower(lower) => [side(Some(lower))?, None],
        Constraint::Upper(upper) => [None, side(Some(upper))?],
        Constraint::LowerUpper(lower, upper) => [side(Some(lower))?, side(Some(upper))?],
        Constraint::OffsetMultiplier(offset, multiplier) => [side(offset.as_ref())?, side(multiplier.as_ref())?],
    })
}

/// The machine keeps matrices column by column; nested arrays have them row by row.
fn in_machine_order(shape: Shape, nested: &[f64]) -> Vec<f64> {
    if shape.cell() != Cell::Matrix {
        return nested.to_vec();
    }
    let (rows, columns) = (shape.rows(), shape.columns());
    let cell = |matrix: &[f64]| -> Vec<f64> {
        (0..columns).flat_map(|c| (0..rows).map(move |r| r * columns + c)).map(|at| matrix[at]).collect()
    };
    nested.chunks(shape.cell_len().max(1)).flat_map(cell).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::read_data;
    use crate::evaluator::Include;
    use crust_math::random::{Purpose, StreamKey};
    use crust_stan::data::Options;
    use crust_stan::front_end::read;
    use crust_stan::source::IncludeFiles;

    const PROGRAM: &str = "parameters { real a; real<lower=a> b; array[2] vector<lower=-1, upper=b>[3] c;
        vector<offset=a, multiplier=2>[2] d; array[2] simplex[3] e; cov_matrix[3] f; array[2] matrix[2, 3] g;
        cholesky_factor_corr[3] h; ordered[3] k; }";

    fn evaluator() -> Evaluator {
        let loader = IncludeFiles { folders: Vec::new() };
        let reading = read("m.stan", None, PROGRAM, &loader);
        let data = read_data(&reading.typed, &reading.source, "{}", &Options::default()).expect("no data");
        Arc::new(Model::bind(&reading.typed, &data, 1).expect("a model")).evaluator()
    }

    /// Values of all parameters at a point, in the order of nested arrays.
    fn values(evaluator: &mut Evaluator, point: &[f64]) -> Values {
        let include = Include { transformed: false, generated: false };
        let key = StreamKey::new(1, Purpose::TEST);
        let found = evaluator.quantities(point, key, include).expect("quantities").numbers;
        let mut values = Values::new();
        let mut at = 0;
        for shape in evaluator.model().parameter_shapes() {
            let sizes = shape.sizes.expect("no tuples");
            let n: usize = sizes.iter().product();
            let mut nested = vec![0.0; n];
            for (i, &x) in found[at..at + n].iter().enumerate() {
                // the output's first index runs fastest, that of nested arrays slowest
                let (mut rest, mut position) = (i, 0);
                for (d, size) in sizes.iter().enumerate() {
                    position += rest % size * sizes[d + 1..].iter().product::<usize>();
                    rest /= size;
                }
                nested[position] = x;
            }
            at += n;
            values.insert(shape.name, nested);
        }
        values
    }

    #[test]
    fn unconstraining_undoes_constraining() {
        let mut evaluator = evaluator();
        let mut stream = StreamKey::new(4, Purpose::TEST).stream();
        for _ in 0..5 {
            let point: Vec<f64> = (0..evaluator.model().dimension()).map(|_| 2.0 * stream.uniform() - 1.0).collect();
            let values = values(&mut evaluator, &point);
            let back = evaluator.unconstrain(&values).expect("values inside");
            for (x, y) in point.iter().zip(back) {
                assert!(y.is_some_and(|y| (x - y).abs() < 1e-9), "{x} {y:?}");
            }
        }
    }

    #[test]
    fn missing_values_stay_open() {
        let mut evaluator = evaluator();
        let given = |name: &str, x: Vec<f64>| Values::from([(name.to_owned(), x)]);
        let found = evaluator.unconstrain(&given("a", vec![0.5])).expect("a value");
        assert_eq!((found[0], found[1..].iter().flatten().count()), (Some(0.5), 0));
        let mut error = |name, x| evaluator.unconstrain(&given(name, x)).expect_err("no value");
        assert!(matches!(error("b", vec![0.5]), UnconstrainError::UnknownBounds { .. }));
        assert!(matches!(error("k", vec![1.0, 0.0, 2.0]), UnconstrainError::Constraint { .. }));
    }
}
