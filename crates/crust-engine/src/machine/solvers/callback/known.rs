//! What is remembered of functions that solvers call, from one evaluation to the next.

use crust_math::functions::Shape;
use crust_stan::span::Span;
use smallvec::SmallVec;

use super::{Callback, Passed, Plan, Shortcut};
use crate::machine::solvers::trace::Trace;

/// What was found out about a function at a place of the program, for the next time.
#[derive(Debug)]
pub struct Known {
    pub(super) function: u32,
    pub(super) span: Span,
    pub(super) inputs: SmallVec<[(Shape, bool); 8]>,
    /// Numbers of inputs that are part of the lists.
    pub(super) fixed: Vec<Option<Vec<f64>>>,
    pub(super) shortcut: Shortcut,
}

/// Functions that are remembered.
const MOST_KNOWN: usize = 16;

impl Callback<'_> {
    /// The list of operations that was used last, and the number of the first of the inputs that are passed on.
    pub fn list_of_operations(&self) -> Option<(&Trace, usize)> {
        let Shortcut::Found(traces) = &self.shortcut else { return None };
        let first = self.differentiated.passed.first().copied().unwrap_or(self.first_number(self.leading));
        let neighbours = self.differentiated.passed.iter().zip(first..).all(|(&number, expected)| number == expected);
        traces.first().filter(|_| neighbours).map(|trace| (trace, first))
    }

    /// Remembers what was found out.
    pub fn finish(self) {
        let Self { machine, function, span, shapes: inputs, fixed, shortcut, .. } = self;
        if !matches!(shortcut, Shortcut::Untried(_)) {
            machine.known_functions.truncate(MOST_KNOWN - 1);
            machine.known_functions.push(Known { function, span, inputs, fixed, shortcut });
        }
    }
}

impl Plan<'_> {
    /// The shape of each input, tuples taken apart, and whether it is differentiated.
    pub(super) fn shapes(&self) -> SmallVec<[(Shape, bool); 8]> {
        fn leaves(passed: &Passed, all: &mut SmallVec<[(Shape, bool); 8]>) {
            match passed {
                Passed::Leaf(input) => all.push((input.shape, input.differentiated)),
                Passed::Tuple(parts) => parts.iter().for_each(|part| leaves(part, all)),
            }
        }
        let mut all = self.leading.iter().map(|input| (input.shape, input.differentiated)).collect();
        self.passed.iter().for_each(|passed| leaves(passed, &mut all));
        all
    }
}
