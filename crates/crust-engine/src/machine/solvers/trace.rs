//! A function of the program as a list of operations on single numbers, for solvers that call it thousands of times.
//!
//! Derivatives go forward along with the values, in several directions at once: with y = f(a, b), ẏ = ∂f/∂a ȧ + ∂f/∂b
//! ḃ. Where the directions of inputs are unit vectors, those of outputs are the rows of the Jacobian; where they are
//! the sensitivities of a state, those of its rate are what a differential equation for sensitivities needs.

#![allow(clippy::inline_always, reason = "only what is inlined is compiled for the instruction set of its caller")]

use crust_math::functions::elementwise::{Binary, Unary};
use crust_math::lanes::scalar;
use crust_math::lanes::{Kernel, dispatch};

use crate::code::Comparison;
use crate::flat::rows::copy;
use crate::kernels::arithmetic::Arithmetic;
use crate::kernels::fma;

/// An operation on numbers that were computed before; its result is the next number.
#[derive(Clone, Copy)]
pub enum Operation {
    Unary(&'static Unary, u32),
    /// One that is computed in place: a call for one number costs more than the number.
    Elementary(Elementary, &'static Unary, u32),
    Binary(&'static Binary, u32, u32),
    Negate(u32),
    Arithmetic(Arithmetic, u32, u32),
    /// A comparison that must come out as it did when the list was made. Its result is not used.
    Guard(Comparison, u32, u32, bool),
}

/// Functions that are computed in place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Elementary {
    Exp,
    Log,
    Sqrt,
    Square,
}

impl Elementary {
    fn of(function: &Unary) -> Option<Self> {
        Some(match function.name {
            "exp" => Self::Exp,
            "log" => Self::Log,
            "sqrt" => Self::Sqrt,
            "square" => Self::Square,
            _ => return None,
        })
    }

    /// The value and the derivative, with the bits of the library's functions. To be inlined where there is a fused
    /// multiply-add.
    #[inline(always)]
    pub fn linearised(self, x: f64) -> [f64; 2] {
        match self {
            Self::Exp => {
                let y = scalar::exp(x);
                [y, y]
            }
            Self::Log => [scalar::log(x), 1.0 / x],
            Self::Sqrt => {
                let y = scalar::sqrt(x);
                [y, if y == 0.0 { 0.0 } else { 0.5 / y }]
            }
            Self::Square => [scalar::square(x), 2.0 * x],
        }
    }
}

impl Operation {
    /// A function of one number.
    pub fn unary(function: &'static Unary, x: u32) -> Self {
        Elementary::of(function).map_or(Self::Unary(function, x), |known| Self::Elementary(known, function, x))
    }

    /// Whether it looks at one number only.
    #[inline(always)]
    pub fn of_one(self) -> bool {
        matches!(self, Self::Unary(..) | Self::Elementary(..) | Self::Negate(_))
    }

    /// The numbers that it looks at.
    #[inline(always)]
    pub fn operands(self) -> [u32; 2] {
        match self {
            Self::Unary(_, x) | Self::Elementary(_, _, x) | Self::Negate(x) => [x, x],
            Self::Binary(_, a, b) | Self::Arithmetic(_, a, b) | Self::Guard(_, a, b, _) => [a, b],
        }
    }
}

/// A value, and the derivatives by two operands.
type Linearised = (f64, [f64; 2]);

const LINE: usize = 8;

/// Directions of a number.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Line([f64; LINE]);

impl Line {
    #[inline(always)]
    fn times(self, by: f64) -> Self {
        let mut line = self;
        for l in 0..LINE {
            line.0[l] = by * self.0[l];
        }
        line
    }

    #[inline(always)]
    fn combined(self, by: [f64; 2], other: Self) -> Self {
        let mut line = self;
        for l in 0..LINE {
            line.0[l] = fma(by[0], self.0[l], by[1] * other.0[l]);
        }
        line
    }
}

/// Which operands of an operation have directions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pull {
    Nothing,
    First,
    Second,
    Both,
}

/// What the directions of inputs are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seeds {
    Nothing,
    /// Unit vectors.
    Unit,
    /// Those of some change from call to call; those of parameters are unit vectors, the first of which has this
    /// number.
    Changing(usize),
}

/// The function: first come the inputs, then constants, then results in their order.
pub struct Trace {
    numbers: Vec<f64>,
    operations: Vec<Operation>,
    outputs: Vec<u32>,
    /// For each operation, which operands depend on inputs by which derivatives are wanted.
    pulls: Vec<Pull>,
    /// For each number, so many `lines`; 0 for those that are not active.
    tangents: Vec<Line>,
    lines: usize,
    seeds: Seeds,
    /// So many operations, the first ones, do not look at inputs that change from call to call.
    steady: usize,
    /// Whether those have to be done again.
    stale: bool,
}

impl Trace {
    /// `numbers` are inputs and constants, `differentiated` says by which of the inputs derivatives are wanted,
    /// `steady` how many operations do not look at what changes from call to call.
    pub fn new(
        mut numbers: Vec<f64>,
        differentiated: &[bool],
        (operations, steady): (Vec<Operation>, usize),
        outputs: Vec<u32>,
    ) -> Self {
        let mut active = differentiated.to_vec();
        active.resize(numbers.len(), false);
        let mut pulls = Vec::with_capacity(operations.len());
        for operation in &operations {
            let [a, b] = operation.operands().map(|x| active[x as usize]);
            let pull = match (a, b && !operation.of_one()) {
                _ if matches!(operation, Operation::Guard(..)) => Pull::Nothing,
                (false, false) => Pull::Nothing,
                (true, false) => Pull::First,
                (false, true) => Pull::Second,
                (true, true) => Pull::Both,
            };
            pulls.push(pull);
            active.push(pull != Pull::Nothing);
        }
        numbers.resize(active.len(), 0.0);
        Self {
            numbers,
            operations,
            outputs,
            pulls,
            tangents: Vec::new(),
            lines: 0,
            seeds: Seeds::Nothing,
            steady,
            stale: true,
        }
    }

    pub fn operations(&self) -> &[Operation] {
        &self.operations
    }

    /// So many operations, the first ones, do not look at inputs that change from call to call.
    pub fn steady(&self) -> usize {
        self.steady
    }

    pub fn outputs(&self) -> &[u32] {
        &self.outputs
    }

    /// Inputs, constants, and room for results.
    pub fn numbers(&self) -> &[f64] {
        &self.numbers
    }

    /// Sets inputs that seldom change, from the one with this number on.
    pub fn set(&mut self, from: usize, values: &[f64]) {
        self.stale = true;
        self.feed(from, values);
    }

    /// Sets inputs that change from call to call.
    #[inline]
    pub fn feed(&mut self, from: usize, values: &[f64]) {
        copy(values, &mut self.numbers[from..from + values.len()]);
    }

    /// Makes room for a number of directions, all 0. Says whether they must be set: they are kept as long as the same
    /// is asked for.
    pub fn directions(&mut self, seeds: Seeds, count: usize) -> bool {
        let lines = count.div_ceil(LINE);
        if (self.seeds, self.lines) == (seeds, lines) {
            return false;
        }
        (self.seeds, self.lines, self.stale) = (seeds, lines, true);
        self.tangents.clear();
        self.tangents.resize(self.numbers.len() * lines, Line([0.0; LINE]));
        true
    }

    /// The input with this number goes in the direction with this number.
    pub fn seed_unit(&mut self, input: usize, direction: usize) {
        self.tangents[input * self.lines + direction / LINE].0[direction % LINE] = 1.0;
    }

    /// All directions of an input.
    pub fn seed(&mut self, input: usize, row: &[f64]) {
        let own = &mut self.tangents[input * self.lines..][..self.lines];
        // One line is the rule, and of a loop the compiler would make a call.
        if let ([line], [row]) = (&mut *own, row.as_chunks::<LINE>().0) {
            line.0 = *row;
            return;
        }
        for (line, row) in own.iter_mut().zip(row.as_chunks::<LINE>().0) {
            line.0 = *row;
        }
    }

    /// Computes the outputs; `false` where the list does not hold.
    pub fn value(&mut self, out: &mut [f64]) -> bool {
        let first = self.numbers.len() - self.operations.len();
        for (k, operation) in self.operations.iter().enumerate() {
            let Some(value) = operation.value(&self.numbers) else { return false };
            self.numbers[first + k] = value;
        }
        self.copy_outputs(out);
        true
    }

    /// Computes the outputs and their directions; `false` where the list does not hold.
    pub fn differentiate(&mut self, out: &mut [f64]) -> bool {
        let holds = dispatch(Forward(self));
        self.stale = !holds;
        self.copy_outputs(out);
        holds
    }

    fn copy_outputs(&self, out: &mut [f64]) {
        for (to, output) in out.iter_mut().zip(&self.outputs) {
            *to = self.numbers[*output as usize];
        }
    }

    /// One direction of an output.
    pub fn slope(&self, output: usize, direction: usize) -> f64 {
        self.tangents[self.outputs[output] as usize * self.lines + direction / LINE].0[direction % LINE]
    }

    /// All directions of an output.
    pub fn copy_row(&self, output: usize, row: &mut [f64]) {
        let own = &self.tangents[self.outputs[output] as usize * self.lines..][..self.lines];
        if let ([to], [line]) = (row.as_chunks_mut::<LINE>().0, own) {
            *to = line.0;
            return;
        }
        for (to, line) in row.as_chunks_mut::<LINE>().0.iter_mut().zip(own) {
            *to = line.0;
        }
    }
}

impl Operation {
    #[inline(always)]
    fn value(self, numbers: &[f64]) -> Option<f64> {
        let at = |x: u32| numbers[x as usize];
        Some(match self {
            Self::Unary(function, x) | Self::Elementary(_, function, x) => {
                let mut y = [0.0];
                (function.value)(&[at(x)], &mut y);
                y[0]
            }
            Self::Binary(function, a, b) => (function.at)(at(a), at(b)).ok()?.value,
            Self::Negate(x) => -at(x),
            Self::Arithmetic(Arithmetic::Add, a, b) => at(a) + at(b),
            Self::Arithmetic(Arithmetic::Subtract, a, b) => at(a) - at(b),
            Self::Arithmetic(Arithmetic::Multiply, a, b) => at(a) * at(b),
            Self::Arithmetic(Arithmetic::Divide, a, b) => at(a) / at(b),
            Self::Guard(comparison, a, b, outcome) => {
                return (comparison.holds(at(a), at(b)) == outcome).then_some(0.0);
            }
        })
    }

    #[inline(always)]
    fn linearised(self, numbers: &[f64]) -> Option<Linearised> {
        let at = |x: u32| numbers[x as usize];
        Some(match self {
            Self::Unary(function, x) => {
                let (mut y, mut slope) = ([0.0], [0.0]);
                (function.value)(&[at(x)], &mut y);
                (function.reverse)(&[at(x)], &y, &[1.0], &mut slope);
                (y[0], [slope[0], 0.0])
            }
            Self::Elementary(function, _, x) => {
                let [y, slope] = function.linearised(at(x));
                (y, [slope, 0.0])
            }
            Self::Binary(function, a, b) => {
                let point = (function.at)(at(a), at(b)).ok()?;
                (point.value, point.d)
            }
            Self::Negate(x) => (-at(x), [-1.0, 0.0]),
            Self::Arithmetic(Arithmetic::Add, a, b) => (at(a) + at(b), [1.0, 1.0]),
            Self::Arithmetic(Arithmetic::Subtract, a, b) => (at(a) - at(b), [1.0, -1.0]),
            Self::Arithmetic(Arithmetic::Multiply, a, b) => (at(a) * at(b), [at(b), at(a)]),
            Self::Arithmetic(Arithmetic::Divide, a, b) => {
                let (y, inverse) = (at(a) / at(b), 1.0 / at(b));
                (y, [inverse, -y * inverse])
            }
            Self::Guard(..) => (self.value(numbers)?, [0.0; 2]),
        })
    }
}

struct Forward<'a>(&'a mut Trace);

impl Kernel for Forward<'_> {
    type Output = bool;

    #[inline(always)]
    fn run(self) -> bool {
        // Eight directions or fewer are the rule: then there is no arithmetic of places.
        if self.0.lines == 1 { self.0.forward::<true>() } else { self.0.forward::<false>() }
    }
}

impl Trace {
    /// Values and directions of all results; `ONE` says that directions are a single line.
    #[inline(always)]
    fn forward<const ONE: bool>(&mut self) -> bool {
        let Self { numbers, operations, pulls, tangents, lines, steady, stale, .. } = self;
        let done = if *stale { 0 } else { *steady };
        let (first, lines) = (numbers.len() - operations.len() + done, if ONE { 1 } else { *lines });
        for (k, (operation, pull)) in operations[done..].iter().zip(&pulls[done..]).enumerate() {
            let Some((value, by)) = operation.linearised(numbers) else { return false };
            numbers[first + k] = value;
            if *pull == Pull::Nothing {
                continue;
            }
            let [a, b] = operation.operands().map(|x| x as usize);
            let (known, rest) = tangents.split_at_mut((first + k) * lines);
            if ONE {
                rest[0] = match pull {
                    Pull::Both => known[a].combined(by, known[b]),
                    Pull::Second => known[b].times(by[1]),
                    _ => known[a].times(by[0]),
                };
                continue;
            }
            let row = |x: usize| &known[x * lines..][..lines];
            let own = rest[..lines].iter_mut();
            if *pull == Pull::Both {
                for ((own, a), b) in own.zip(row(a)).zip(row(b)) {
                    *own = a.combined(by, *b);
                }
            } else {
                let (row, by) = if *pull == Pull::First { (row(a), by[0]) } else { (row(b), by[1]) };
                for (own, x) in own.zip(row) {
                    *own = x.times(by);
                }
            }
        }
        true
    }
}

impl std::fmt::Debug for Trace {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "a list of {} operations", self.operations.len())
    }
}
