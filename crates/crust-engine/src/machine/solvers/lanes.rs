//! Differential equations of many lanes at once: the list of operations of the function, on rows of eight lanes.

#![allow(clippy::inline_always, reason = "only what is inlined is compiled for the instruction set of its caller")]
#![allow(clippy::needless_range_loop, reason = "loops over lanes, by index, become vector instructions")]

use crust_math::functions::Row;
use crust_math::lanes::{Kernel, dispatch};
use crust_math::solvers::ode::LaneSystem;

use super::trace::{Operation, Trace};
use crate::kernels::arithmetic::Arithmetic;
use crate::kernels::fma;

/// The most directions.
const MOST: usize = 64;

/// The function, for eight problems with their own parameters.
pub struct LaneRates<'t> {
    operations: &'t [Operation],
    outputs: &'t [u32],
    states: usize,
    by_initial_state: usize,
    parameters: usize,
    /// The number of the first parameter among the inputs; parameters of all problems, one after the other.
    first_parameter: usize,
    all_parameters: &'t [f64],
    numbers: Vec<Row>,
    /// For each number a row for each direction.
    tangents: Vec<Row>,
    /// In which directions each number moves.
    masks: Vec<u64>,
}

impl<'t> LaneRates<'t> {
    /// None if the list does not hold everywhere, or has too many directions.
    pub fn new(
        trace: &'t Trace,
        [states, by_initial_state]: [usize; 2],
        (first_parameter, parameters): (usize, usize),
        all_parameters: &'t [f64],
    ) -> Option<Self> {
        let (operations, directions) = (trace.operations(), by_initial_state + parameters);
        if directions > MOST || operations.iter().any(|o| matches!(o, Operation::Guard(..))) {
            return None;
        }
        let numbers: Vec<Row> = trace.numbers().iter().map(|&x| [x; 8]).collect();
        let mut masks = vec![0_u64; numbers.len()];
        let mut tangents = vec![[0.0; 8]; numbers.len() * directions];
        // The first number is the time.
        masks[1..=states].fill(if directions == MOST { u64::MAX } else { (1 << directions) - 1 });
        for k in 0..parameters {
            let (number, direction) = (first_parameter + k, by_initial_state + k);
            masks[number] = 1 << direction;
            tangents[number * directions + direction] = [1.0; 8];
        }
        let first = numbers.len() - operations.len();
        for (k, operation) in operations.iter().enumerate() {
            masks[first + k] = operation.operands().iter().fold(0, |mask, &x| mask | masks[x as usize]);
        }
        let outputs = trace.outputs();
        Some(Self {
            operations,
            outputs,
            states,
            by_initial_state,
            parameters,
            first_parameter,
            all_parameters,
            numbers,
            tangents,
            masks,
        })
    }
}

impl LaneSystem for LaneRates<'_> {
    fn states(&self) -> usize {
        self.states
    }

    fn directions(&self) -> [usize; 2] {
        [self.by_initial_state, self.parameters]
    }

    fn load(&mut self, slot: usize, problem: usize) {
        let own = &self.all_parameters[problem * self.parameters..][..self.parameters];
        for (number, x) in self.numbers[self.first_parameter..].iter_mut().zip(own) {
            number[slot] = *x;
        }
    }

    fn rates(&mut self, t: &Row, y: &[Row], rates: &mut [Row]) {
        dispatch(Forward { system: self, t, y, rates });
    }
}

struct Forward<'a, 't> {
    system: &'a mut LaneRates<'t>,
    t: &'a Row,
    y: &'a [Row],
    rates: &'a mut [Row],
}

impl Kernel for Forward<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { system, t, y, rates } = self;
        let directions = system.by_initial_state + system.parameters;
        let LaneRates { operations, outputs, numbers, tangents, masks, .. } = system;
        numbers[0] = *t;
        for (i, own) in y.chunks_exact(1 + directions).enumerate() {
            numbers[1 + i] = own[0];
            tangents[(1 + i) * directions..][..directions].copy_from_slice(&own[1..]);
        }
        let first = numbers.len() - operations.len();
        for (k, operation) in operations.iter().enumerate() {
            let to = first + k;
            let (value, by) = linearised(*operation, numbers);
            numbers[to] = value;
            if masks[to] == 0 {
                continue;
            }
            let [a, b] = operation.operands().map(|x| x as usize);
            let (left, right) = (masks[a], if operation.of_one() { 0 } else { masks[b] });
            let (known, rest) = tangents.split_at_mut(to * directions);
            for d in 0..directions {
                let (has_a, has_b) = (left >> d & 1 == 1, right >> d & 1 == 1);
                rest[d] = match (has_a, has_b) {
                    (true, true) => both(by, known[a * directions + d], known[b * directions + d]),
                    (true, false) => times(by[0], known[a * directions + d]),
                    (false, true) => times(by[1], known[b * directions + d]),
                    (false, false) => [0.0; 8],
                };
            }
        }
        for (own, &output) in rates.chunks_exact_mut(1 + directions).zip(*outputs) {
            own[0] = numbers[output as usize];
            own[1..].copy_from_slice(&tangents[output as usize * directions..][..directions]);
        }
    }
}

#[inline(always)]
fn times(by: Row, x: Row) -> Row {
    let mut y = by;
    for l in 0..8 {
        y[l] = by[l] * x[l];
    }
    y
}

#[inline(always)]
fn both(by: [Row; 2], a: Row, b: Row) -> Row {
    let mut y = a;
    for l in 0..8 {
        y[l] = fma(by[0][l], a[l], by[1][l] * b[l]);
    }
    y
}

/// Values, and derivatives by two operands; NaN outside of the domain.
#[inline(always)]
fn linearised(operation: Operation, numbers: &[Row]) -> (Row, [Row; 2]) {
    let at = |x: u32| numbers[x as usize];
    let (ones, zeros) = ([1.0; 8], [0.0; 8]);
    match operation {
        Operation::Unary(function, x) => {
            let (x, mut y, mut slope) = (at(x), zeros, zeros);
            (function.value)(&x, &mut y);
            (function.reverse)(&x, &y, &ones, &mut slope);
            (y, [slope, zeros])
        }
        Operation::Elementary(function, _, x) => {
            let (x, mut y, mut slope) = (at(x), zeros, zeros);
            for l in 0..8 {
                [y[l], slope[l]] = function.linearised(x[l]);
            }
            (y, [slope, zeros])
        }
        Operation::Binary(function, a, b) => {
            let (a, b) = (at(a), at(b));
            let (mut y, mut by) = (zeros, [zeros; 2]);
            for l in 0..8 {
                let point = (function.at)(a[l], b[l]).map(|point| (point.value, point.d[0], point.d[1]));
                (y[l], by[0][l], by[1][l]) = point.unwrap_or((f64::NAN, f64::NAN, f64::NAN));
            }
            (y, by)
        }
        Operation::Negate(x) => {
            let x = at(x);
            let mut y = x;
            for l in 0..8 {
                y[l] = -x[l];
            }
            (y, [[-1.0; 8], zeros])
        }
        Operation::Arithmetic(operator, a, b) => {
            let (a, b) = (at(a), at(b));
            let mut y = a;
            match operator {
                Arithmetic::Add => {
                    for l in 0..8 {
                        y[l] = a[l] + b[l];
                    }
                    (y, [ones, ones])
                }
                Arithmetic::Subtract => {
                    for l in 0..8 {
                        y[l] = a[l] - b[l];
                    }
                    (y, [ones, [-1.0; 8]])
                }
                Arithmetic::Multiply => {
                    for l in 0..8 {
                        y[l] = a[l] * b[l];
                    }
                    (y, [b, a])
                }
                Arithmetic::Divide => {
                    let (mut inverse, mut slope) = (a, a);
                    for l in 0..8 {
                        y[l] = a[l] / b[l];
                        inverse[l] = 1.0 / b[l];
                        slope[l] = -y[l] * inverse[l];
                    }
                    (y, [inverse, slope])
                }
            }
        }
        // Lists with guards are not run here.
        Operation::Guard(..) => (zeros, [zeros; 2]),
    }
}
