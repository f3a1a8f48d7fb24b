//! A function of the program as a list of operations on single numbers, for solvers that call it thousands of times.
//!
//! What a run of the function left on the tape is all that depends on its inputs, as long as no branch and no integer depends on
//! them and the machine knows every operation's derivative in closed form. Then going through the list again with other inputs gives what
//! the machine would give, without finding out again what is to be done.

use std::collections::{HashMap, HashSet};

use crust_math::functions::elementwise::Unary;

use crate::kernels::arithmetic::Arithmetic;
use crate::machine::tape::Entry;
use crate::machine::{Machine, Mark};
use crate::memory::{Block, Flags, Width};

/// An operation on numbers that were computed before; its result is the next number.
#[derive(Clone, Copy)]
enum Operation {
    Unary(&'static Unary, u32),
    Negate(u32),
    Arithmetic(Arithmetic, u32, u32),
}

/// The function: first come the inputs, then constants, then results in their order.
pub struct Trace {
    inputs: usize,
    numbers: Vec<f64>,
    operations: Vec<Operation>,
    outputs: Vec<u32>,
    /// For each number one adjoint per output.
    adjoints: Vec<f64>,
}

/// Longer lists are left to the machine, whose operations on whole blocks are then better.
const LONGEST: usize = 2000;

/// A number while the list is being made.
#[derive(Clone, Copy)]
enum Number {
    Input(u32),
    Constant(u32),
    Result(u32),
}

struct Tracing<'m> {
    machine: &'m Machine,
    width: Width,
    /// The number that is at a place in memory, where it is not a constant.
    known: HashMap<usize, Number>,
    constants: Vec<f64>,
    /// Places that were taken for constants: they must not change afterwards.
    read: HashSet<usize>,
    operations: Vec<(Operation, [Number; 2])>,
}

impl Tracing<'_> {
    fn place(&self, block: Block, element: usize) -> usize {
        block.start() + if block.n == 1 { 0 } else { element * block.item_len(self.width) }
    }

    /// The number at an element; `None` where it may depend on inputs in a way that is not on the tape.
    fn number(&mut self, block: Block, element: usize) -> Option<Number> {
        let place = self.place(block, element);
        if let Some(number) = self.known.get(&place) {
            return Some(*number);
        }
        if block.lanes() && !block.gradient() {
            return None;
        }
        self.read.insert(place);
        self.constants.push(self.machine.arena.values()[place]);
        Some(Number::Constant(crate::memory::cast(self.constants.len() - 1)))
    }

    fn define(&mut self, block: Block, element: usize, number: Number) -> Option<()> {
        let place = self.place(block, element);
        if self.read.contains(&place) {
            return None;
        }
        self.known.insert(place, number);
        Some(())
    }

    fn operate(&mut self, operation: Operation, operands: [Number; 2]) -> Option<Number> {
        if self.operations.len() == LONGEST {
            return None;
        }
        self.operations.push((operation, operands));
        Some(Number::Result(crate::memory::cast(self.operations.len() - 1)))
    }

    fn arithmetic(&mut self, operator: Arithmetic, a: Number, b: Number) -> Option<Number> {
        self.operate(Operation::Arithmetic(operator, 0, 0), [a, b])
    }

    /// Adds what an entry of the tape did to the list.
    fn entry(&mut self, entry: &Entry) -> Option<()> {
        match *entry {
            Entry::Unary { function, x, y } => self.each(y, |this, e| {
                let x = this.number(x, e)?;
                this.operate(Operation::Unary(function, 0), [x, x])
            }),
            Entry::Negate { x, y } => self.each(y, |this, e| {
                let x = this.number(x, e)?;
                this.operate(Operation::Negate(0), [x, x])
            }),
            Entry::Arithmetic { operator, a, b, y } => self.each(y, |this, e| {
                let (a, b) = (this.number(a, e)?, this.number(b, e)?);
                this.arithmetic(operator, a, b)
            }),
            Entry::Sum { x, y } => {
                let mut sum = self.number(x, 0)?;
                for e in 1..x.count() {
                    let next = self.number(x, e)?;
                    sum = self.arithmetic(Arithmetic::Add, sum, next)?;
                }
                self.define(y, 0, sum)
            }
            Entry::Product { rows, inner, a, b, y, .. } => {
                let (rows, inner) = (rows as usize, inner as usize);
                self.each(y, |this, e| {
                    let (i, j) = (e % rows, e / rows);
                    let mut sum = None;
                    for k in 0..inner {
                        let (a, b) = (this.number(a, i + k * rows)?, this.number(b, k + j * inner)?);
                        let term = this.arithmetic(Arithmetic::Multiply, a, b)?;
                        sum = Some(match sum {
                            None => term,
                            Some(sum) => this.arithmetic(Arithmetic::Add, sum, term)?,
                        });
                    }
                    sum
                })
            }
            Entry::Spread { x, y } => self.each(y, |this, e| this.number(x, e)),
            Entry::Gather { x, index, y } => {
                let picks = self.machine.tape.picks(index).to_vec();
                self.each(y, |this, e| this.number(x, *picks.get(e)? as usize))
            }
            Entry::Assign { x, index, v, .. } => {
                let picks = self.machine.tape.picks(index).to_vec();
                for (e, pick) in picks.into_iter().enumerate() {
                    if x.lanes() {
                        let number = self.number(v, e)?;
                        self.define(x, pick as usize, number)?;
                    } else if self.read.contains(&self.place(x, pick as usize)) {
                        return None;
                    }
                }
                Some(())
            }
            _ => None,
        }
    }

    fn each(&mut self, y: Block, mut f: impl FnMut(&mut Self, usize) -> Option<Number>) -> Option<()> {
        for e in 0..y.count() {
            let number = f(self, e)?;
            self.define(y, e, number)?;
        }
        Some(())
    }
}

/// How many blocks of a kind that only assignments leave behind here: saved numbers, different by lane but without adjoint.
fn expected_blind(entries: &[Entry]) -> usize {
    let saved =
        |entry: &&Entry| matches!(entry, Entry::Assign { saved: Some(block), .. } if block.flags.has(Flags::LANES));
    entries.iter().filter(saved).count()
}

impl Trace {
    /// Makes the list from what the function that just ran left on the tape since `mark`. `blind` says how many blocks it made that
    /// differ by lane but have no adjoint. None where the list would not say it all.
    pub fn new(machine: &Machine, mark: Mark, blind: usize, inputs: &[Block], output: Block) -> Option<Self> {
        let entries = machine.tape.since(mark.tape);
        // Something was compared or rounded.
        if blind != expected_blind(entries) {
            return None;
        }
        let mut tracing = Tracing {
            machine,
            width: machine.width,
            known: HashMap::new(),
            constants: Vec::new(),
            read: HashSet::new(),
            operations: Vec::new(),
        };
        let mut count = 0;
        for &block in inputs {
            for e in 0..block.count() {
                tracing.define(block, e, Number::Input(count))?;
                count += 1;
            }
        }
        for entry in entries {
            tracing.entry(entry)?;
        }
        let outputs: Option<Vec<Number>> = (0..output.count()).map(|e| tracing.number(output, e)).collect();
        Some(Self::assemble(count as usize, outputs?, tracing))
    }

    fn assemble(inputs: usize, outputs: Vec<Number>, tracing: Tracing) -> Self {
        let Tracing { constants, operations, .. } = tracing;
        let first_constant = crate::memory::cast(inputs);
        let first_result = crate::memory::cast(inputs + constants.len());
        let slot = |number: Number| match number {
            Number::Input(i) => i,
            Number::Constant(i) => first_constant + i,
            Number::Result(i) => first_result + i,
        };
        let mut numbers = vec![0.0; inputs];
        numbers.extend(constants);
        numbers.resize(numbers.len() + operations.len(), 0.0);
        let operations = operations.into_iter().map(|(operation, [a, b])| match operation {
            Operation::Unary(function, _) => Operation::Unary(function, slot(a)),
            Operation::Negate(_) => Operation::Negate(slot(a)),
            Operation::Arithmetic(operator, ..) => Operation::Arithmetic(operator, slot(a), slot(b)),
        });
        let operations = operations.collect();
        let adjoints = vec![0.0; numbers.len() * outputs.len()];
        Self { inputs, numbers, operations, outputs: outputs.into_iter().map(slot).collect(), adjoints }
    }

    /// Sets inputs from the one with this number on.
    pub fn set(&mut self, from: usize, values: &[f64]) {
        self.numbers[from..from + values.len()].copy_from_slice(values);
    }

    pub fn value(&mut self, out: &mut [f64]) {
        let first = self.numbers.len() - self.operations.len();
        for (k, operation) in self.operations.iter().enumerate() {
            let (known, rest) = self.numbers.split_at_mut(first + k);
            match *operation {
                Operation::Unary(function, x) => (function.value)(&known[x as usize..=x as usize], &mut rest[..1]),
                Operation::Negate(x) => rest[0] = -known[x as usize],
                Operation::Arithmetic(operator, a, b) => {
                    let (a, b) = (known[a as usize], known[b as usize]);
                    rest[0] = match operator {
                        Arithmetic::Add => a + b,
                        Arithmetic::Subtract => a - b,
                        Arithmetic::Multiply => a * b,
                        Arithmetic::Divide => a / b,
                    };
                }
            }
        }
        for (to, output) in out.iter_mut().zip(&self.outputs) {
            *to = self.numbers[*output as usize];
        }
    }

    /// The derivatives of all outputs by the inputs, column by column, at the inputs of the last [`Trace::value`].
    pub fn jacobian(&mut self) -> &[f64] {
        let n = self.outputs.len();
        self.adjoints.fill(0.0);
        for (i, output) in self.outputs.iter().enumerate() {
            self.adjoints[*output as usize * n + i] += 1.0;
        }
        let first = self.numbers.len() - self.operations.len();
        for (k, operation) in self.operations.iter().enumerate().rev() {
            let y = self.numbers[first + k];
            let (low, high) = self.adjoints.split_at_mut((first + k) * n);
            let adjoint = &high[..n];
            let mut pull = |operand: u32, partial: f64| {
                let at = operand as usize * n;
                for (to, d) in low[at..at + n].iter_mut().zip(adjoint) {
                    *to += d * partial;
                }
            };
            let value = |operand: u32| self.numbers[operand as usize];
            match *operation {
                Operation::Unary(function, x) => {
                    let mut partial = [0.0];
                    (function.reverse)(&[value(x)], &[y], &[1.0], &mut partial);
                    pull(x, partial[0]);
                }
                Operation::Negate(x) => pull(x, -1.0),
                Operation::Arithmetic(Arithmetic::Add, a, b) => {
                    pull(a, 1.0);
                    pull(b, 1.0);
                }
                Operation::Arithmetic(Arithmetic::Subtract, a, b) => {
                    pull(a, 1.0);
                    pull(b, -1.0);
                }
                Operation::Arithmetic(Arithmetic::Multiply, a, b) => {
                    pull(a, value(b));
                    pull(b, value(a));
                }
                Operation::Arithmetic(Arithmetic::Divide, a, b) => {
                    pull(a, 1.0 / value(b));
                    pull(b, -y / value(b));
                }
            }
        }
        &self.adjoints[..self.inputs * n]
    }
}
