//! Calls of a function of the program from inside a solver, for one item, by a machine of its own.
//!
//! All derivatives come from one run forward and one back: the machine has a lane for each output, all lanes hold the
//! same numbers, and the adjoint of output i is 1 in lane i. The adjoint of an input in lane i is then the derivative
//! of output i by it, and what lies in memory is the Jacobian, column by column. Most functions are short formulas,
//! which a list of operations computes with much less ado: there is one for each way through the function's branches.

mod known;

use crust_math::functions::Shape;
use crust_math::solvers::SolverError;
use crust_math::solvers::ode::Tangents;
use crust_stan::span::Span;
use smallvec::SmallVec;

pub use known::Known;

use super::trace::{Seeds, Trace};
use super::tracing::trace;
use crate::machine::value::{Value, View};
use crate::machine::{Machine, Mark, Run, Stop, Wanted, fatal};
use crate::memory::{Block, Flags, Width, budget};

const WITH_GRADIENT: Wanted = Wanted { propto: false, jacobian: false, gradient: true };

/// Room to begin with.
const FIRST_ROOM: usize = 1 << 12;

/// An argument of the function.
#[derive(Clone, Copy)]
pub struct Input {
    pub shape: Shape,
    /// Whether derivatives by it are wanted.
    pub differentiated: bool,
}

/// Where the machine keeps an argument.
#[derive(Clone, Copy)]
struct Kept {
    /// One number for each element.
    plain: Block,
    /// As many as there are lanes, with adjoints; none where it does not matter what depends on it.
    lifted: Option<Block>,
    /// Whether derivatives by it are wanted.
    differentiated: bool,
}

/// The function as lists of operations, if it can be that.
#[derive(Debug)]
enum Shortcut {
    /// After so many runs of the machine.
    Untried(u32),
    /// One for each way through the function's branches that was met, the last one first.
    Found(Vec<Trace>),
    Unfit,
}

/// The most ways through the function's branches.
const MOST_WAYS: usize = 8;

/// The numbers of the inputs, in lists of operations, by which derivatives are wanted.
#[derive(Default)]
struct Differentiated {
    leading: SmallVec<[usize; 8]>,
    passed: SmallVec<[usize; 8]>,
}

/// A run of the machine learns which variables depend on inputs; the next one leaves a clean tape.
const RUNS_BEFORE_TRACE: u32 = 1;

/// A function of the program, called again and again: the first inputs change from call to call, the others seldom.
pub struct Callback<'m> {
    machine: &'m mut Machine,
    function: u32,
    span: Span,
    outputs: usize,
    leading: usize,
    inputs: SmallVec<[Kept; 8]>,
    /// The arguments of the function without and with lanes.
    plain: SmallVec<[Value; 8]>,
    lifted: SmallVec<[Value; 8]>,
    mark: Mark,
    shortcut: Shortcut,
    /// The shapes of all inputs, and the numbers of those that are part of the lists.
    shapes: SmallVec<[(Shape, bool); 8]>,
    fixed: Vec<Option<Vec<f64>>>,
    differentiated: Differentiated,
    /// The machine's count of blind blocks when the function began.
    blind: usize,
    /// Why the function could not be evaluated.
    pub failure: Option<Stop>,
}

/// The machine holds the reason.
#[derive(Debug, thiserror::Error)]
#[error("the function failed")]
struct Failed;

fn failed() -> SolverError {
    SolverError::Callback(Box::new(Failed))
}

/// The function and its arguments.
pub struct Plan<'p> {
    pub function: u32,
    pub span: Span,
    /// How many numbers the function returns.
    pub outputs: usize,
    /// Inputs that are numbers by themselves.
    pub leading: &'p [Input],
    /// What is passed on, with tuples as trees.
    pub passed: &'p [Passed],
}

/// A value that is passed on to the function.
pub enum Passed {
    Leaf(Input),
    Tuple(Vec<Passed>),
}

impl<'m> Callback<'m> {
    pub fn new(machine: &'m mut Machine, plan: &Plan) -> Run<Self> {
        loop {
            match Self::lay_out(machine, plan) {
                Ok((inputs, plain, lifted)) => {
                    let mark = machine.mark();
                    let Plan { function, span, outputs, .. } = *plan;
                    let leading = plan.leading.len();
                    let (blind, failure) = (0, None);
                    let shapes = plan.shapes();
                    let same = |k: &Known| (k.function, k.span) == (function, span) && k.inputs == shapes;
                    let (shortcut, fixed) = match machine.known_functions.iter().position(same) {
                        Some(at) => {
                            let known = machine.known_functions.swap_remove(at);
                            (known.shortcut, known.fixed)
                        }
                        None => (Shortcut::Untried(0), vec![None; inputs.len()]),
                    };
                    let mut callback = Self {
                        machine,
                        function,
                        span,
                        outputs,
                        leading,
                        inputs,
                        plain,
                        lifted,
                        mark,
                        shortcut,
                        shapes,
                        fixed,
                        differentiated: Differentiated::default(),
                        blind,
                        failure,
                    };
                    callback.differentiated = callback.find_differentiated();
                    return Ok(callback);
                }
                Err(Stop::Full) => enlarge(machine, plan.span)?,
                Err(other) => return Err(other),
            }
        }
    }

    /// Room for all inputs.
    #[allow(clippy::type_complexity, reason = "inputs, and the two lists of arguments")]
    fn lay_out(
        machine: &mut Machine,
        plan: &Plan,
    ) -> Run<(SmallVec<[Kept; 8]>, SmallVec<[Value; 8]>, SmallVec<[Value; 8]>)> {
        machine.clear(plan.outputs, WITH_GRADIENT);
        let mut inputs = SmallVec::new();
        let (mut plain, mut lifted) = (SmallVec::new(), SmallVec::new());
        for input in plan.leading {
            let [a, b] = keep(machine, *input, true, &mut inputs)?;
            plain.push(a);
            lifted.push(b);
        }
        for passed in plan.passed {
            let [a, b] = keep_passed(machine, passed, &mut inputs)?;
            plain.push(a);
            lifted.push(b);
        }
        Ok((inputs, plain, lifted))
    }

    /// Sets an input among those that are passed on, tuples taken apart.
    pub fn set(&mut self, passed: usize, numbers: &[f64]) {
        let Kept { plain, lifted, .. } = self.inputs[self.leading + passed];
        let first = self.first_number(self.leading + passed);
        if let Shortcut::Found(traces) = &mut self.shortcut {
            if lifted.is_some() {
                traces.iter_mut().for_each(|trace| trace.set(first, numbers));
            } else if self.fixed[self.leading + passed].as_deref() != Some(numbers) {
                // What does not depend on parameters is part of the lists.
                self.shortcut = Shortcut::Untried(RUNS_BEFORE_TRACE);
            }
        }
        if lifted.is_none() {
            let fixed = self.fixed[self.leading + passed].get_or_insert_default();
            fixed.clear();
            fixed.extend_from_slice(numbers);
        }
        self.write(plain, numbers);
        if let Some(lifted) = lifted {
            self.write(lifted, numbers);
        }
    }

    fn find_differentiated(&self) -> Differentiated {
        let mut all = Differentiated::default();
        for (input, kept) in self.inputs.iter().enumerate().filter(|(_, kept)| kept.differentiated) {
            let own = (self.first_number(input)..).take(kept.plain.count());
            if input < self.leading { all.leading.extend(own) } else { all.passed.extend(own) }
        }
        all
    }

    /// The number of an input's first element in lists of operations.
    fn first_number(&self, input: usize) -> usize {
        let before = self.inputs[..input].iter().filter(|kept| kept.lifted.is_some());
        before.map(|kept| kept.plain.count()).sum()
    }

    fn write(&mut self, block: Block, numbers: &[f64]) {
        let width = Width { tile: 1, lanes: self.outputs };
        let row = block.item_len(width);
        let values = self.machine.arena.of_mut(block, width);
        for (to, &x) in values.chunks_exact_mut(row).zip(numbers) {
            to.fill(x);
        }
    }

    /// The function's value.
    pub fn value(&mut self, leading: &[&[f64]], out: &mut [f64]) -> Result<(), SolverError> {
        if self.along_list(leading, |trace, _| trace.value(out))? {
            return Ok(());
        }
        for (i, numbers) in leading.iter().enumerate() {
            self.write(self.inputs[i].plain, numbers);
        }
        let view = self.run(false)?;
        let machine = &mut *self.machine;
        out.copy_from_slice(machine.arena.of(view.block, machine.width));
        machine.release(self.mark);
        Ok(())
    }

    /// The function's value, and the directions in which its outputs go: those of the leading inputs that are
    /// differentiated are given, those of what is passed on are unit vectors. Says `false` if there is no list of
    /// operations.
    pub fn tangents(
        &mut self,
        leading: &[&[f64]],
        tangents: Tangents,
        out: &mut [f64],
        rates: &mut [f64],
    ) -> Result<bool, SolverError> {
        let Tangents { rows, width, first_parameter } = tangents;
        self.along_list(leading, |trace, differentiated| {
            if trace.directions(Seeds::Changing(first_parameter), width) {
                let passed = differentiated.passed.iter().zip(first_parameter..);
                passed.for_each(|(&number, direction)| trace.seed_unit(number, direction));
            }
            for (&number, row) in differentiated.leading.iter().zip(rows.chunks_exact(width)) {
                trace.seed(number, row);
            }
            if !trace.differentiate(out) {
                return false;
            }
            rates.chunks_exact_mut(width).enumerate().for_each(|(output, row)| trace.copy_row(output, row));
            true
        })
    }

    /// The function's value and its derivatives, column by column: by the leading inputs that are differentiated, and
    /// by those that are passed on. A slice that is too short gets the first of them.
    pub fn jacobian(
        &mut self,
        leading: &[&[f64]],
        out: &mut [f64],
        by_leading: &mut [f64],
        by_passed: &mut [f64],
    ) -> Result<(), SolverError> {
        let n = self.outputs;
        let found = self.along_list(leading, |trace, Differentiated { leading, passed }| {
            if trace.directions(Seeds::Unit, leading.len() + passed.len()) {
                let all = leading.iter().chain(passed).enumerate();
                all.for_each(|(direction, &number)| trace.seed_unit(number, direction));
            }
            if !trace.differentiate(out) {
                return false;
            }
            for (columns, first) in [(&mut *by_leading, 0), (&mut *by_passed, leading.len())] {
                for (column, direction) in columns.chunks_exact_mut(n).zip(first..) {
                    column.iter_mut().enumerate().for_each(|(output, to)| *to = trace.slope(output, direction));
                }
            }
            true
        })?;
        if found {
            return Ok(());
        }
        let view = self.run_lifted(leading)?;
        let machine = &mut *self.machine;
        let row = view.block.item_len(machine.width);
        for (to, from) in out.iter_mut().zip(machine.arena.of(view.block, machine.width).chunks_exact(row)) {
            *to = from[0];
        }
        if view.block.gradient() {
            let adjoint = machine.arena.adjoint_mut(view.block, machine.width);
            for d in adjoint.iter_mut().step_by(n + 1) {
                *d += 1.0;
            }
            machine.reverse(self.mark.tape);
        }
        machine.release(self.mark);
        let mut jacobian = Vec::new();
        for block in self.inputs.iter().filter_map(|kept| kept.lifted) {
            jacobian.extend_from_slice(self.machine.arena.adjoint(block, self.machine.width));
        }
        copy_columns(&jacobian, self.outputs, &self.inputs, 0..self.leading, by_leading);
        copy_columns(&jacobian, self.outputs, &self.inputs, self.leading..self.inputs.len(), by_passed);
        Ok(())
    }

    /// Runs the function with a lane for each output; adjoints of inputs are 0 then.
    fn run_lifted(&mut self, leading: &[&[f64]]) -> Result<View, SolverError> {
        for (i, numbers) in leading.iter().enumerate() {
            let Kept { plain, lifted, .. } = self.inputs[i];
            self.write(lifted.unwrap_or(plain), numbers);
        }
        self.machine.width.lanes = self.outputs;
        for kept in &self.inputs {
            if let Some(block) = kept.lifted {
                self.machine.arena.adjoint_mut(block, self.machine.width).fill(0.0);
            }
        }
        self.run(true)
    }

    /// Does something along the list of operations that holds at these inputs; `attempt` says `false` where a list does
    /// not hold. A new list is made if none of them does. Says `false` if there cannot be one.
    fn along_list(
        &mut self,
        leading: &[&[f64]],
        mut attempt: impl FnMut(&mut Trace, &Differentiated) -> bool,
    ) -> Result<bool, SolverError> {
        loop {
            match &mut self.shortcut {
                Shortcut::Unfit => return Ok(false),
                Shortcut::Untried(_) => {}
                Shortcut::Found(traces) => {
                    let holds = |trace: &mut Trace| {
                        feed(trace, leading);
                        attempt(trace, &self.differentiated)
                    };
                    if let Some(which) = traces.iter_mut().position(holds) {
                        // Lists are long structures, and the first one is the rule.
                        if which > 0 {
                            traces.swap(0, which);
                        }
                        return Ok(true);
                    }
                    if traces.len() == MOST_WAYS {
                        self.shortcut = Shortcut::Unfit;
                        return Ok(false);
                    }
                }
            }
            self.look_for_list(leading)?;
        }
    }

    /// Runs the function once; makes a list of operations of that, if the machine knows the function.
    fn look_for_list(&mut self, leading: &[&[f64]]) -> Result<(), SolverError> {
        let printed = self.machine.messages.len();
        self.machine.tracing = true;
        let view = self.run_lifted(leading);
        self.machine.tracing = false;
        let view = view?;
        if self.machine.messages.len() > printed {
            self.shortcut = Shortcut::Unfit;
        } else if let Shortcut::Untried(runs) = &mut self.shortcut
            && *runs < RUNS_BEFORE_TRACE
        {
            *runs += 1;
        } else {
            let list = self.list(view.block);
            let traces = std::mem::replace(&mut self.shortcut, Shortcut::Unfit);
            let mut traces = if let Shortcut::Found(traces) = traces { traces } else { Vec::new() };
            if let Some(list) = list {
                traces.insert(0, list);
                self.shortcut = Shortcut::Found(traces);
            }
        }
        self.machine.release(self.mark);
        Ok(())
    }

    /// What the function just did, as a list of operations.
    fn list(&self, output: Block) -> Option<Trace> {
        let lifted = |kept: &Kept| kept.lifted.map(|block| (block, kept.differentiated));
        let blocks: SmallVec<[(Block, bool); 8]> = self.inputs.iter().filter_map(lifted).collect();
        let changing = self.first_number(self.leading);
        let mut trace = trace(self.machine, self.mark, self.machine.blind - self.blind, (&blocks, changing), output)?;
        for (input, kept) in self.inputs.iter().enumerate().filter(|(_, kept)| kept.lifted.is_some()) {
            trace.set(self.first_number(input), self.machine.arena.of(kept.plain, self.machine.width));
        }
        Some(trace)
    }

    /// Runs the function, with more memory as long as there is too little.
    fn run(&mut self, lifted: bool) -> Result<View, SolverError> {
        loop {
            let stop = match self.attempt(lifted) {
                Ok(view) => return Ok(view),
                Err(stop) => stop,
            };
            self.machine.restart(self.mark);
            let outcome = match stop {
                Stop::Full => enlarge(self.machine, self.span),
                Stop::Again => Ok(()),
                Stop::LanesPart | Stop::TileParts | Stop::TileUnfit | Stop::LanesUnfit => {
                    fatal("internal", "a function with the same arguments in all lanes was taken apart", self.span)
                }
                other => Err(other),
            };
            if let Err(stop) = outcome {
                self.failure = Some(stop);
                return Err(failed());
            }
        }
    }

    fn attempt(&mut self, lifted: bool) -> Run<View> {
        let machine = &mut *self.machine;
        let lanes = if lifted { self.outputs } else { 1 };
        machine.width = Width { tile: 1, lanes };
        machine.recording = lifted;
        machine.rejected.reset(lanes);
        self.blind = machine.blind;
        let arguments = if lifted { &self.lifted } else { &self.plain };
        let value = machine.call_with(self.function, arguments, if lifted { u64::MAX } else { 0 }, false, self.span)?;
        if machine.rejected.any() {
            return Err(Stop::AllRejected);
        }
        let Some(Value::Numbers(view)) = value else {
            return fatal("internal", "the function returns no numbers", self.span);
        };
        if view.block.count() != self.outputs {
            let message =
                format!("the function must return {} numbers, but returns {}", self.outputs, view.block.count());
            return fatal("size-mismatch", message, self.span);
        }
        Ok(view)
    }

    /// Called after a solver is done: what was learned about the function's loops is used from now on.
    pub fn settle(&mut self) {
        self.machine.settle_loops();
    }

    /// Why the function rejected its arguments.
    pub fn take_rejection(&mut self) -> Option<super::Rejection> {
        let rejected = self.machine.rejected.iter().flatten().next().cloned();
        self.machine.rejected.reset(self.machine.rejected.len());
        rejected
    }
}

/// Copies those columns of a Jacobian by all lifted inputs that are wanted of a range of inputs.
fn copy_columns(jacobian: &[f64], rows: usize, inputs: &[Kept], range: std::ops::Range<usize>, mut out: &mut [f64]) {
    let mut from = 0;
    for (i, kept) in inputs.iter().enumerate().filter(|(_, kept)| kept.lifted.is_some()) {
        let n = kept.plain.count() * rows;
        if range.contains(&i) && kept.differentiated {
            let Some((now, later)) = out.split_at_mut_checked(n) else { return };
            now.copy_from_slice(&jacobian[from..from + n]);
            out = later;
        }
        from += n;
    }
}

/// Sets the inputs that change from call to call.
fn feed(trace: &mut Trace, leading: &[&[f64]]) {
    let mut from = 0;
    for numbers in leading {
        trace.feed(from, numbers);
        from += numbers.len();
    }
}

fn keep(machine: &mut Machine, input: Input, lift: bool, inputs: &mut SmallVec<[Kept; 8]>) -> Run<[Value; 2]> {
    let n = input.shape.len();
    let plain = machine.allocate(n, Flags::UNIFORM)?;
    let lifted = if lift { Some(machine.allocate(n, Flags::LANES.with(Flags::GRADIENT))?) } else { None };
    inputs.push(Kept { plain, lifted, differentiated: input.differentiated });
    // The function must not write to its arguments.
    let shared = |block: Block| {
        let block = Block { flags: block.flags.with(Flags::SHARED), ..block };
        Value::Numbers(View { shape: input.shape, block })
    };
    Ok([shared(plain), shared(lifted.unwrap_or(plain))])
}

fn keep_passed(machine: &mut Machine, passed: &Passed, inputs: &mut SmallVec<[Kept; 8]>) -> Run<[Value; 2]> {
    match passed {
        Passed::Leaf(input) => keep(machine, *input, input.differentiated, inputs),
        Passed::Tuple(parts) => {
            let (mut plain, mut lifted) = (Vec::new(), Vec::new());
            for part in parts {
                let [a, b] = keep_passed(machine, part, inputs)?;
                plain.push(a);
                lifted.push(b);
            }
            Ok([machine.push_tuple(&plain), machine.push_tuple(&lifted)])
        }
    }
}

/// Gives the machine more memory; what is there stays.
fn enlarge(machine: &mut Machine, span: Span) -> Run<()> {
    let room = machine.arena.highest().max(FIRST_ROOM).next_power_of_two().max(2 * machine.arena.capacity());
    if let Err(error) = budget::check(room) {
        return fatal("too-large", error.to_string(), span);
    }
    machine.arena.reserve(room);
    Ok(())
}

impl Machine {
    /// Forgets a run that ended early; what lies below the mark stays.
    fn restart(&mut self, mark: Mark) {
        self.release(mark);
        self.width.tile = 1;
        self.tile_base = 0;
        self.transaction = false;
        self.pending.clear();
        self.frame = 0;
        self.locals.clear();
        self.unsettle_loops();
    }
}
