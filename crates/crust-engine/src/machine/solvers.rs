//! Numerical solvers, item by item: each lane of each iteration takes its own steps.
//!
//! A solver hands back the derivatives of its result by all inputs along with the result. They are kept, and the way
//! back is a product with them: x̄ += (∂y/∂x)ᵀ ȳ.

mod callback;
mod integral;
mod lanes;
mod ode;
mod roots;
mod trace;
mod tracing;

use crust_math::functions::Shape;
use crust_math::solvers::SolverError;
use crust_stan::span::Span;
use smallvec::SmallVec;

use super::items::{Items, gather, positions};
use super::tape::Entry;
use super::value::{Value, View};
use super::{Machine, Rejection, Run, Stop, fatal};
use crate::code::HigherOrder;
use crate::memory::{Arena, Block, Flags, Width};
use crate::solver::{Problem, Solver};
pub use callback::Known;
use callback::{Callback, Input, Passed, Plan};
use crust_math::solvers::ode::Solution;

/// What is to be solved for one item.
#[derive(Clone)]
struct Item {
    /// The numbers that say what is solved: state, time, output times; limits; guess.
    leading: SmallVec<[Vec<f64>; 3]>,
    /// By which of them derivatives are wanted.
    wanted: SmallVec<[bool; 3]>,
    tolerances: SmallVec<[Vec<f64>; 3]>,
    /// How many of the numbers that are passed on derivatives are wanted by.
    parameters: usize,
    /// Whether the arguments come in the interface with `theta, x_r, x_i`.
    old: bool,
}

/// A solution: its numbers, and the derivatives of each by all elements of an input one after the other.
#[derive(Default)]
struct Solved {
    values: Vec<f64>,
    by_leading: SmallVec<[Vec<f64>; 3]>,
    by_parameters: Vec<f64>,
}

/// The arguments of a call in their places.
struct Arguments {
    leading: SmallVec<[View; 3]>,
    tolerances: SmallVec<[View; 12]>,
    passed: Vec<Passed>,
    /// All numbers that are passed on, tuples taken apart.
    leaves: Vec<View>,
}

impl Arguments {
    fn flags(&self) -> Flags {
        let all = self.leading.iter().chain(&self.tolerances).chain(&self.leaves);
        all.fold(Flags::UNIFORM, |flags, v| flags.with(v.block.flags)).axes()
    }
}

/// Where the results go. Derivatives are kept of those inputs that have an adjoint.
struct Results {
    y: View,
    by_leading: SmallVec<[Option<Block>; 3]>,
    by_leaves: Vec<Option<Block>>,
}

impl Machine {
    pub(super) fn solve(&mut self, call: &HigherOrder, solver: Solver, values: &[Value], span: Span) -> Run<View> {
        self.apart = true;
        let arguments = self.solver_arguments(solver, values, span)?;
        let first = arguments.leading[0];
        // The function is given the state or the unknowns; of an integral it is the place and its distance to a limit.
        let (unknowns, shape) = match solver.problem {
            Problem::Ode(_) | Problem::AdjointOde => {
                (first.shape, first.shape.in_array(arguments.leading[2].shape.len()))
            }
            Problem::Integral => (Shape::SCALAR, Shape::SCALAR),
            Problem::Newton | Problem::Powell => (first.shape, first.shape),
        };
        let number = Input { shape: Shape::SCALAR, differentiated: false };
        let unknown = Input { shape: unknowns, differentiated: true };
        let leading: &[Input] = match solver.problem {
            Problem::Ode(_) | Problem::AdjointOde => &[number, unknown],
            Problem::Integral => &[number, number],
            Problem::Newton | Problem::Powell => &[unknown],
        };
        let results = self.room_for_results(&arguments, shape)?;
        let nested = self.nested.take();
        let mut nested = nested.unwrap_or_else(|| Box::new(Self::new(&self.code)));
        let outputs = unknowns.len();
        let plan = Plan { function: call.function, span, outputs, leading, passed: &arguments.passed };
        let outcome = match Callback::new(&mut nested, &plan) {
            Ok(mut callback) => {
                let outcome = self.solve_items(&mut callback, solver, &arguments, &results, span);
                callback.finish();
                outcome
            }
            Err(stop) => Err(stop),
        };
        self.messages.append(&mut nested.messages);
        self.nested = Some(nested);
        outcome?;
        let inputs = arguments.leading.iter().chain(&arguments.leaves);
        for (input, partials) in inputs.zip(results.by_leading.iter().chain(&results.by_leaves)) {
            if let Some(partials) = *partials {
                self.tape.push(Entry::Jacobian { x: input.block, y: results.y.block, partials });
            }
        }
        Ok(results.y)
    }

    fn solver_arguments(&self, solver: Solver, values: &[Value], span: Span) -> Run<Arguments> {
        let Some((leading, tolerances, passed)) = solver.split(values) else {
            return fatal("internal", "the solver lacks arguments", span);
        };
        let view = |value: &Value| match value {
            Value::Numbers(view) => Ok(*view),
            _ => fatal("internal", "numbers are expected here", span),
        };
        let mut leaves = Vec::new();
        Ok(Arguments {
            leading: leading.iter().map(view).collect::<Run<_>>()?,
            tolerances: tolerances.iter().map(view).collect::<Run<_>>()?,
            passed: passed.iter().map(|v| self.pass(*v, &mut leaves, span)).collect::<Run<_>>()?,
            leaves,
        })
    }

    /// The form of a value that is passed on; its numbers go to `leaves`.
    fn pass(&self, value: Value, leaves: &mut Vec<View>, span: Span) -> Run<Passed> {
        match value {
            Value::Numbers(view) => {
                leaves.push(view);
                Ok(Passed::Leaf(Input { shape: view.shape, differentiated: self.recording && view.block.gradient() }))
            }
            Value::Tuple { first, parts } => {
                let parts = first..first + parts;
                let parts: Run<_> = parts.map(|p| self.pass(self.tuple_part(p), leaves, span)).collect();
                Ok(Passed::Tuple(parts?))
            }
            Value::Unset => fatal("no-value", "an argument of the solver has no value", span),
        }
    }

    fn room_for_results(&mut self, arguments: &Arguments, shape: Shape) -> Run<Results> {
        let flags = arguments.flags();
        let block = self.allocate(shape.len(), flags)?;
        let mut partials = |view: &View| {
            if !(self.recording && view.block.gradient()) {
                return Ok(None);
            }
            self.allocate(shape.len() * view.block.count(), flags.without(Flags::GRADIENT)).map(Some)
        };
        Ok(Results {
            y: View { shape, block },
            by_leading: arguments.leading.iter().map(&mut partials).collect::<Run<_>>()?,
            by_leaves: arguments.leaves.iter().map(&mut partials).collect::<Run<_>>()?,
        })
    }

    fn solve_items(
        &mut self,
        callback: &mut Callback,
        solver: Solver,
        arguments: &Arguments,
        results: &Results,
        span: Span,
    ) -> Run<()> {
        let width = self.width;
        let wanted = |blocks: &[Option<Block>]| blocks.iter().map(Option::is_some).collect();
        let leaves = || arguments.leaves.iter().zip(&results.by_leaves);
        let mut item = Item {
            leading: arguments.leading.iter().map(|v| vec![0.0; v.block.count()]).collect(),
            wanted: wanted(&results.by_leading),
            tolerances: arguments.tolerances.iter().map(|v| vec![0.0; v.block.count()]).collect(),
            parameters: leaves().filter(|(_, b)| b.is_some()).map(|(v, _)| v.block.count()).sum(),
            old: solver.tolerances_last,
        };
        let mut solved = Solved::default();
        let mut numbers = Vec::new();
        let mut together = Vec::new();
        for (k, at) in Items::of(results.y.block.flags, width).each().enumerate() {
            if let Some(solution) = together.get_mut(k).and_then(Option::take) {
                clear(&item, &mut solved);
                ode::record(&solution, &item, &mut solved);
                self.store_solution(&solved, item.parameters, arguments, results, at);
                continue;
            }
            let values = self.arena.values();
            let fixed = arguments.leading.iter().chain(&arguments.tolerances);
            for (view, to) in fixed.zip(item.leading.iter_mut().chain(&mut item.tolerances)) {
                gather(values, view.block, width, at, to);
            }
            for (leaf, view) in arguments.leaves.iter().enumerate() {
                if k == 0 || !view.block.uniform() {
                    numbers.resize(view.block.count(), 0.0);
                    gather(values, view.block, width, at, &mut numbers);
                    callback.set(leaf, &numbers);
                }
            }
            if k == 0 && matches!(solver.problem, Problem::Ode(_) | Problem::AdjointOde) {
                together = self.solve_together(solver.problem, callback, &item, arguments, results);
                if let Some(solution) = together.first_mut().and_then(Option::take) {
                    clear(&item, &mut solved);
                    ode::record(&solution, &item, &mut solved);
                    self.store_solution(&solved, item.parameters, arguments, results, at);
                    continue;
                }
            }
            match solve_item(solver.problem, callback, &item, &mut solved) {
                Ok(()) => {
                    callback.settle();
                    self.store_solution(&solved, item.parameters, arguments, results, at);
                }
                Err(error) => {
                    let rejection = self.trouble(callback, &error, span)?;
                    solved.values.resize(results.y.block.count(), 0.0);
                    solved.values.fill(f64::NAN);
                    self.store_solution(&solved, item.parameters, arguments, results, at);
                    self.reject_item(at.1, results.y.block, &rejection)?;
                }
            }
        }
        Ok(())
    }

    /// Solves for many lanes at once, where that can be done. `first` is what is to be solved for the first of them.
    fn solve_together(
        &self,
        problem: Problem,
        callback: &Callback,
        first: &Item,
        arguments: &Arguments,
        results: &Results,
    ) -> Vec<Option<Solution>> {
        let width = self.width;
        let items = Items::of(results.y.block.flags, width);
        let passed = || arguments.leaves.iter().zip(&results.by_leaves);
        if items.tile * items.lanes < 2 || passed().any(|(view, by)| by.is_none() && !view.block.uniform()) {
            return Vec::new();
        }
        let values = self.arena.values();
        let (mut all, mut parameters) = (Vec::new(), Vec::new());
        for at in items.each() {
            let mut item = first.clone();
            let fixed = arguments.leading.iter().chain(&arguments.tolerances);
            for (view, to) in fixed.zip(item.leading.iter_mut().chain(&mut item.tolerances)) {
                gather(values, view.block, width, at, to);
            }
            all.push(item);
            for (view, _) in passed().filter(|(_, by)| by.is_some()) {
                parameters.extend(positions(view.block, width, at).map(|at| values[at]));
            }
        }
        let method = if let Problem::Ode(method) = problem { Some(method) } else { None };
        ode::solve_lanes(method, callback, &all, &parameters).unwrap_or_default()
    }

    /// What a failure of a solver means: a point outside of the support, or a mistake in the program.
    #[allow(clippy::unused_self, reason = "it is the outer machine that goes on")]
    fn trouble(&self, callback: &mut Callback, error: &SolverError, span: Span) -> Run<Rejection> {
        match callback.failure.take() {
            None => Ok(Rejection { message: error.to_string(), span }),
            Some(Stop::AllRejected) => Ok(callback
                .take_rejection()
                .unwrap_or_else(|| Rejection { message: "the function rejected its arguments".to_owned(), span })),
            Some(stop) => Err(stop),
        }
    }

    fn reject_item(&mut self, lane: usize, y: Block, rejection: &Rejection) -> Run<()> {
        let lanes = if y.lanes() { lane..lane + 1 } else { 0..self.width.lanes };
        for lane in lanes {
            self.reject(lane, || rejection.message.clone(), rejection.span)?;
        }
        Ok(())
    }

    /// Puts what is known of a solution into the numbers of its item.
    fn store_solution(
        &mut self,
        solved: &Solved,
        parameters: usize,
        arguments: &Arguments,
        results: &Results,
        at: (usize, usize),
    ) {
        let width = self.width;
        let values = self.arena.values_mut();
        let mut write = |block: Block, numbers: &mut dyn Iterator<Item = f64>| {
            for (to, x) in positions(block, width, at).zip(numbers) {
                values[to] = x;
            }
        };
        write(results.y.block, &mut solved.values.iter().copied());
        for (block, numbers) in results.by_leading.iter().zip(&solved.by_leading) {
            if let Some(block) = *block {
                write(block, &mut numbers.iter().copied());
            }
        }
        let mut first = 0;
        for (view, block) in arguments.leaves.iter().zip(&results.by_leaves) {
            if let Some(block) = *block {
                let n = view.block.count();
                let rows = solved.by_parameters.chunks_exact(parameters.max(1));
                write(block, &mut rows.flat_map(|row| row[first..first + n].iter().copied()));
                first += n;
            }
        }
    }
}

fn clear(item: &Item, solved: &mut Solved) {
    solved.values.clear();
    solved.by_parameters.clear();
    solved.by_leading.resize(item.leading.len(), Vec::new());
    solved.by_leading.iter_mut().for_each(Vec::clear);
}

fn solve_item(problem: Problem, callback: &mut Callback, item: &Item, solved: &mut Solved) -> Result<(), SolverError> {
    clear(item, solved);
    match problem {
        Problem::Ode(method) => ode::solve(Some(method), callback, item, solved),
        Problem::AdjointOde => ode::solve(None, callback, item, solved),
        Problem::Integral => integral::solve(callback, item, solved),
        Problem::Newton => roots::solve(roots::Method::Newton, callback, item, solved),
        Problem::Powell => roots::solve(roots::Method::Powell, callback, item, solved),
    }
}

/// A number of steps; 0 is refused by every solver.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the conversion saturates, and NaN becomes 0"
)]
fn steps(x: f64) -> u64 {
    x as u64
}

/// x̄ += (∂y/∂x)ᵀ ȳ, where `partials` holds the derivatives of each element of y by all elements of x one after the
/// other.
pub(super) fn pull_jacobian(arena: &mut Arena, width: Width, x: Block, y: Block, partials: Block) {
    let (values, mut adjoints) = arena.both();
    let base = adjoints.base();
    let adjoints = adjoints.all();
    let items = Items::of(y.flags, width);
    let strides = [x, y, partials].map(|b| b.strides(width));
    for (i, j) in (0..y.count()).flat_map(|i| (0..x.count()).map(move |j| (i, j))) {
        let elements = [j, i, i * x.count() + j];
        for t in 0..items.tile {
            let start = |k: usize, b: Block| b.start() + elements[k] * strides[k][0] + t * strides[k][1];
            let [to, from, partial] = [start(0, x) - base, start(1, y) - base, start(2, partials)];
            for l in 0..items.lanes {
                adjoints[to + l * strides[0][2]] +=
                    adjoints[from + l * strides[1][2]] * values[partial + l * strides[2][2]];
            }
        }
    }
}
