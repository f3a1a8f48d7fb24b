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
    /// So many operations, the first ones, look at parameters only.
    steady: usize,
    /// Whether those have to be done again.
    stale: bool,
    outputs: &'t [u32],
    states: usize,
    by_initial_state: usize,
    parameters: usize,
    /// How many directions there are before those of the parameters.
    before_parameters: usize,
    /// The number of the first parameter among the inputs; parameters of all problems, one after the other.
    first_parameter: usize,
    all_parameters: &'t [f64],
    numbers: Vec<Row>,
    /// For each number a row for each direction.
    tangents: Vec<Row>,
    /// In which directions each number moves.
    masks: Vec<u64>,
}

fn low_bits(count: usize) -> u64 {
    if count >= MOST { u64::MAX } else { (1 << count) - 1 }
}

impl<'t> LaneRates<'t> {
    /// None if the list does not hold everywhere, or has too many directions. The state moves in the directions that it
    /// is given with, or (`unit`) each of its elements in a direction of its own, for Jacobians.
    pub fn new(
        trace: &'t Trace,
        [states, by_initial_state]: [usize; 2],
        (first_parameter, parameters): (usize, usize),
        all_parameters: &'t [f64],
        unit: bool,
    ) -> Option<Self> {
        let operations = trace.operations();
        let before_parameters = if unit { states } else { by_initial_state };
        let directions = before_parameters + parameters;
        if directions > MOST || operations.iter().any(|o| matches!(o, Operation::Guard(..))) {
            return None;
        }
        let numbers: Vec<Row> = trace.numbers().iter().map(|&x| [x; 8]).collect();
        let mut masks = vec![0_u64; numbers.len()];
        let mut tangents = vec![[0.0; 8]; numbers.len() * directions];
        // The first number is the time.
        masks[1..=states].fill(low_bits(directions));
        let own = if unit { 0..states } else { 0..0 };
        let moving = own.map(|i| (1 + i, i));
        for (number, direction) in moving.chain((0..parameters).map(|k| (first_parameter + k, before_parameters + k))) {
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
            steady: trace.steady(),
            stale: true,
            outputs,
            states,
            by_initial_state,
            parameters,
            before_parameters,
            first_parameter,
            all_parameters,
            numbers,
            tangents,
            masks,
        })
    }

    fn width(&self) -> usize {
        self.before_parameters + self.parameters
    }

    /// What looks at parameters only.
    fn refresh(&mut self) {
        if std::mem::take(&mut self.stale) {
            let steady = self.steady;
            dispatch(Forward { system: self, from: 0, to: steady, wanted: u64::MAX });
        }
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
        self.stale = true;
    }

    fn rates(&mut self, t: &Row, y: &[Row], rates: &mut [Row]) {
        self.refresh();
        let (width, steady, all) = (self.width(), self.steady, self.operations.len());
        self.numbers[0] = *t;
        for (i, own) in y.chunks_exact(1 + width).enumerate() {
            self.numbers[1 + i] = own[0];
            self.tangents[(1 + i) * width..][..width].copy_from_slice(&own[1..]);
        }
        dispatch(Forward { system: self, from: steady, to: all, wanted: u64::MAX });
        for (own, &output) in rates.chunks_exact_mut(1 + width).zip(self.outputs) {
            own[0] = self.numbers[output as usize];
            own[1..].copy_from_slice(&self.tangents[output as usize * width..][..width]);
        }
    }

    fn values(&mut self, t: &Row, y: &[Row], rates: &mut [Row]) {
        self.refresh();
        self.numbers[0] = *t;
        self.numbers[1..=y.len()].copy_from_slice(y);
        let first = self.numbers.len() - self.operations.len() + self.steady;
        dispatch(Values { operations: &self.operations[self.steady..], numbers: &mut self.numbers, first });
        for (own, &output) in rates.iter_mut().zip(self.outputs) {
            *own = self.numbers[output as usize];
        }
    }

    fn jacobian(&mut self, t: &Row, y: &[Row], rates: &mut [Row], by_state: &mut [Row], by_parameter: &mut [Row]) {
        self.refresh();
        let (n, width, steady, all) = (self.states, self.width(), self.steady, self.operations.len());
        self.numbers[0] = *t;
        self.numbers[1..=y.len()].copy_from_slice(y);
        let wanted = if by_parameter.is_empty() { low_bits(n) } else { u64::MAX };
        dispatch(Forward { system: self, from: steady, to: all, wanted });
        for (i, &output) in self.outputs.iter().enumerate() {
            rates[i] = self.numbers[output as usize];
            let own = &self.tangents[output as usize * width..][..width];
            let columns = by_state.chunks_exact_mut(n).chain(by_parameter.chunks_exact_mut(n));
            columns.zip(own).for_each(|(column, slope)| column[i] = *slope);
        }
    }
}

/// Operations of a range, with their derivatives in the directions that are wanted.
struct Forward<'a, 't> {
    system: &'a mut LaneRates<'t>,
    from: usize,
    to: usize,
    wanted: u64,
}

impl Kernel for Forward<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { system, from, to, wanted } = self;
        let width = system.width();
        let LaneRates { operations, numbers, tangents, masks, .. } = system;
        let first = numbers.len() - operations.len();
        for (k, operation) in operations.iter().enumerate().take(to).skip(from) {
            let to = first + k;
            let (value, by) = linearised(*operation, numbers);
            numbers[to] = value;
            let [a, b] = operation.operands().map(|x| x as usize);
            let (left, right) = (masks[a], if operation.of_one() { 0 } else { masks[b] });
            let (known, rest) = tangents.split_at_mut(to * width);
            // All other directions are 0 and stay so.
            let mut moving = masks[to] & wanted;
            while moving != 0 {
                let d = moving.trailing_zeros() as usize;
                moving &= moving - 1;
                rest[d] = match (left >> d & 1 == 1, right >> d & 1 == 1) {
                    (true, true) => both(by, known[a * width + d], known[b * width + d]),
                    (true, false) => times(by[0], known[a * width + d]),
                    _ => times(by[1], known[b * width + d]),
                };
            }
        }
    }
}

/// Operations without derivatives.
struct Values<'a> {
    operations: &'a [Operation],
    numbers: &'a mut [Row],
    /// The number of the first result.
    first: usize,
}

impl Kernel for Values<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        for (k, operation) in self.operations.iter().enumerate() {
            self.numbers[self.first + k] = value(*operation, self.numbers);
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

/// Values alone; NaN outside of the domain.
#[inline(always)]
fn value(operation: Operation, numbers: &[Row]) -> Row {
    let at = |x: u32| numbers[x as usize];
    match operation {
        Operation::Unary(function, x) => {
            let (x, mut y) = (at(x), [0.0; 8]);
            (function.value)(&x, &mut y);
            y
        }
        Operation::Arithmetic(operator, a, b) => {
            let (a, b) = (at(a), at(b));
            let mut y = a;
            match operator {
                Arithmetic::Add => (0..8).for_each(|l| y[l] = a[l] + b[l]),
                Arithmetic::Subtract => (0..8).for_each(|l| y[l] = a[l] - b[l]),
                Arithmetic::Multiply => (0..8).for_each(|l| y[l] = a[l] * b[l]),
                Arithmetic::Divide => (0..8).for_each(|l| y[l] = a[l] / b[l]),
            }
            y
        }
        // What they compute besides is left out by the compiler.
        other => linearised(other, numbers).0,
    }
}
