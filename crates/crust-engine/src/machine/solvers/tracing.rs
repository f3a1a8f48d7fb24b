//! Turns what a run of a function left on the tape into a list of operations.
//!
//! The tape has all that depends on inputs, as long as no integer depends on them and the machine knows every
//! operation's derivative in closed form. Where numbers that depend on inputs were compared, the list says how that
//! came out: it holds wherever it comes out the same.

use std::collections::{HashMap, HashSet};

use super::trace::{Operation, Trace};
use crate::code::Comparison;
use crate::kernels::arithmetic::Arithmetic;
use crate::machine::tape::Entry;
use crate::machine::{Machine, Mark};
use crate::memory::{Block, Flags, Width};

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
    /// Places of truth values that depend on inputs, but are the same wherever the guards hold.
    decided: HashSet<usize>,
    /// Blocks that differ by lane without an adjoint, and are accounted for.
    blind: usize,
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
        if block.lanes() && !block.gradient() && !self.decided.contains(&place) {
            return None;
        }
        self.read.insert(place);
        Some(self.constant(self.machine.arena.values()[place]))
    }

    fn constant(&mut self, value: f64) -> Number {
        self.constants.push(value);
        Number::Constant(crate::memory::cast(self.constants.len() - 1))
    }

    /// Accounts for a block, if it differs by lane without an adjoint.
    fn see(&mut self, block: Block) {
        self.blind += usize::from(block.flags.has(Flags::LANES) && !block.flags.has(Flags::GRADIENT));
    }

    /// The list holds only where two numbers compare as they did.
    fn guard(&mut self, comparison: Comparison, operands: [Number; 2], outcome: bool) -> Option<()> {
        self.operate(Operation::Guard(comparison, 0, 0, outcome), operands).map(|_| ())
    }

    /// The only number of a block.
    fn scalar(&mut self, block: Block) -> Option<Number> {
        if block.n == 1 { self.number(block, 0) } else { None }
    }

    /// A truth value follows from what is decided.
    fn decided_by_now(&mut self, y: Block) -> Option<()> {
        self.see(y);
        self.decided.insert(self.place(y, 0));
        (y.n == 1).then_some(())
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
                this.operate(Operation::unary(function, 0), [x, x])
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
            Entry::Binary { function, a, b, y } => self.each(y, |this, e| {
                let operands = [this.number(a, e)?, this.number(b, e)?];
                this.operate(Operation::Binary(function, 0, 0), operands)
            }),
            // The derivatives of a function of two numbers, which is on the list already.
            Entry::Partial { partial, y, .. } if self.known.contains_key(&self.place(y, 0)) => {
                self.see(partial);
                Some(())
            }
            Entry::Compare { comparison, a, b, outcome, y } => {
                let operands = [self.scalar(a)?, self.scalar(b)?];
                self.guard(comparison, operands, outcome)?;
                self.decided_by_now(y)
            }
            Entry::Logical { operands, truths, y } => {
                for (x, truth) in operands.into_iter().zip(truths) {
                    if x.lanes() && !self.decided.contains(&self.place(x, 0)) {
                        let operands = [self.scalar(x)?, self.constant(0.0)];
                        self.guard(Comparison::NotEqual, operands, truth)?;
                    }
                }
                self.decided_by_now(y)
            }
            Entry::Spread { x, y } => self.each(y, |this, e| this.number(x, e)),
            Entry::Gather { x, index, y } => {
                let picks = self.machine.tape.picks(index).to_vec();
                self.each(y, |this, e| this.number(x, *picks.get(e)? as usize))
            }
            Entry::Assign { x, index, v, saved } => {
                saved.iter().for_each(|block| self.see(*block));
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

/// Makes the list from what the function that just ran left on the tape since `mark`. `inputs` come with whether
/// derivatives by them are wanted, and `changing` of their numbers, the first ones, change from call to call; `blind`
/// says how many blocks the function made that differ by lane but have no adjoint. None where the list would not say it
/// all.
pub fn trace(
    machine: &Machine,
    mark: Mark,
    blind: usize,
    (inputs, changing): (&[(Block, bool)], usize),
    output: Block,
) -> Option<Trace> {
    let mut tracing = Tracing {
        machine,
        width: machine.width,
        known: HashMap::new(),
        constants: Vec::new(),
        read: HashSet::new(),
        decided: HashSet::new(),
        blind: 0,
        operations: Vec::new(),
    };
    let mut differentiated = Vec::new();
    for &(block, wanted) in inputs {
        for e in 0..block.count() {
            tracing.define(block, e, Number::Input(crate::memory::cast(differentiated.len())))?;
            differentiated.push(wanted);
        }
    }
    for entry in machine.tape.since(mark.tape) {
        tracing.entry(entry)?;
    }
    // Something was rounded, or else made into an integer.
    if blind != tracing.blind {
        return None;
    }
    let outputs: Option<Vec<Number>> = (0..output.count()).map(|e| tracing.number(output, e)).collect();
    Some(assemble(&differentiated, changing, outputs?, tracing))
}

/// What looks at numbers that change from call to call comes last: where each operation goes, and how many others there
/// are.
fn steady_first(operations: &[(Operation, [Number; 2])], changing: usize) -> (Vec<u32>, usize) {
    let mut changes = Vec::with_capacity(operations.len());
    for (_, operands) in operations {
        changes.push(operands.iter().any(|number| match *number {
            Number::Input(i) => (i as usize) < changing,
            Number::Constant(_) => false,
            Number::Result(i) => changes[i as usize],
        }));
    }
    let steady = changes.iter().filter(|changes| !**changes).count();
    let (mut next, mut next_changing) = (0, steady);
    let place = |changes: bool| {
        let counter = if changes { &mut next_changing } else { &mut next };
        *counter += 1;
        crate::memory::cast(*counter - 1)
    };
    (changes.into_iter().map(place).collect(), steady)
}

fn assemble(differentiated: &[bool], changing: usize, outputs: Vec<Number>, tracing: Tracing) -> Trace {
    let Tracing { constants, operations, .. } = tracing;
    let (places, steady) = steady_first(&operations, changing);
    let first_constant = crate::memory::cast(differentiated.len());
    let first_result = crate::memory::cast(differentiated.len() + constants.len());
    let slot = |number: Number| match number {
        Number::Input(i) => i,
        Number::Constant(i) => first_constant + i,
        Number::Result(i) => first_result + places[i as usize],
    };
    let mut numbers = vec![0.0; differentiated.len()];
    numbers.extend(constants);
    let mut ordered: Vec<_> = operations.into_iter().zip(&places).collect();
    ordered.sort_by_key(|(_, place)| **place);
    let operations = ordered.into_iter().map(|((operation, [a, b]), _)| match operation {
        Operation::Unary(function, _) | Operation::Elementary(_, function, _) => Operation::unary(function, slot(a)),
        Operation::Binary(function, ..) => Operation::Binary(function, slot(a), slot(b)),
        Operation::Negate(_) => Operation::Negate(slot(a)),
        Operation::Arithmetic(operator, ..) => Operation::Arithmetic(operator, slot(a), slot(b)),
        Operation::Guard(comparison, _, _, outcome) => Operation::Guard(comparison, slot(a), slot(b), outcome),
    });
    Trace::new(numbers, differentiated, (operations.collect(), steady), outputs.into_iter().map(slot).collect())
}
