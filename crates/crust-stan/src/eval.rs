//! An interpreter for code that depends on data only: sizes, bounds, `transformed data`.
//!
//! It never guesses. A random draw, a function that it does not have, a variable that is not in the data give
//! [`Value::Unavailable`], which passes through everything computed from it; so whoever asks for a size gets the right
//! number, an error of the program with its place, or the reason why the number cannot be known yet.

mod analysis;
mod constraints;
mod declared;
mod expressions;
mod library;
mod operators;
mod places;
mod statements;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use crate::ast::BlockKind;
use crate::diagnostics::Diagnostic;
use crate::span::Span;
use crate::typed::{Expr, FunctionId, Origin, Program, SizedType, VariableId};
use crate::value::{Shape, Unavailable, Value};

pub use constraints::{Step, Violation, place};

/// The result of running a piece of the program: an error is one of the program, with its place in it.
pub type Outcome<T> = Result<T, Box<Diagnostic>>;

/// What is known now, or the reason why it is not.
pub type Known<T> = Result<T, Arc<Unavailable>>;

/// How far the interpreter goes before it takes the program for endless.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Statements, iterations and operations.
    pub steps: u64,
    /// Numbers in one container.
    pub numbers: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { steps: 1_000_000_000, numbers: 1 << 28 }
    }
}

/// Stacks to ask the system for, the largest first; pages that are not touched cost nothing.
const STACKS: [usize; 3] = [512 << 20, 64 << 20, 8 << 20];
/// What is left alone at the end of a stack: room for library functions and messages.
const RESERVE: usize = 256 << 10;
/// What a thread that nobody prepared is trusted to have left.
const UNPREPARED: usize = 1 << 20;

thread_local! {
    /// The address below which the stack of this thread must not grow; 0 where it is not set yet.
    static FLOOR: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

/// Roughly where the stack stands now.
#[inline]
fn stack_address() -> usize {
    let marker = 0_u8;
    std::ptr::from_ref(&marker).addr()
}

/// Runs `work` on a deep stack, so that programs may recurse deeply.
pub fn on_deep_stack<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    // The work is handed over through a slot: a thread that cannot be started must not take it away.
    let work = std::sync::Mutex::new(Some(work));
    let take = || work.lock().ok().and_then(|mut slot| slot.take());
    for size in STACKS {
        let result = std::thread::scope(|scope| {
            let thread = std::thread::Builder::new().name("interpreter".into()).stack_size(size);
            let run = || {
                FLOOR.set(stack_address().saturating_sub(size - RESERVE));
                take().map(|work| work())
            };
            let handle = thread.spawn_scoped(scope, run).ok()?;
            handle.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        });
        if let Some(result) = result {
            return result;
        }
    }
    match take() {
        Some(work) => work(),
        None => unreachable!("a thread that took the work has returned its result"),
    }
}

/// The state of a run: the value of every variable that has one.
///
/// Inside [`on_deep_stack`] programs may recurse thousands of times, elsewhere only as far as a usual stack reaches;
/// beyond that they are stopped with an error.
pub struct Interpreter<'a> {
    program: &'a Program,
    limits: Limits,
    steps: u64,
    /// The address below which the stack must not grow.
    floor: usize,
    frame: Vec<Option<Value>>,
    functions: Vec<FunctionState>,
}

/// What is remembered about a function of the program.
#[derive(Clone, Default)]
struct FunctionState {
    /// How many calls are under way.
    active: u32,
    /// Its arguments and local variables; empty until its first call.
    variables: Arc<[VariableId]>,
}

impl<'a> Interpreter<'a> {
    pub fn new(program: &'a Program, limits: Limits) -> Self {
        Self {
            program,
            limits,
            steps: 0,
            floor: 0,
            frame: vec![None; program.variables.len()],
            functions: vec![FunctionState::default(); program.functions.len()],
        }
    }

    /// Goes on from the values of another run.
    #[must_use]
    pub fn with_values(mut self, values: &[Option<Value>]) -> Self {
        for (slot, value) in self.frame.iter_mut().zip(values) {
            slot.clone_from(value);
        }
        self
    }

    /// The value of every variable, by [`VariableId`].
    pub fn into_values(self) -> Vec<Option<Value>> {
        self.frame
    }

    pub fn set(&mut self, variable: VariableId, value: Value) {
        self.frame[variable.0 as usize] = Some(value);
    }

    pub fn get(&self, variable: VariableId) -> Option<&Value> {
        self.frame[variable.0 as usize].as_ref()
    }

    /// The value of an expression.
    pub fn expression(&mut self, expr: &Expr) -> Outcome<Value> {
        self.enter();
        self.eval(expr)
    }

    /// The shape that a declaration asks for.
    pub fn shape(&mut self, declared: &SizedType) -> Outcome<Known<Shape>> {
        self.enter();
        self.declared_shape(declared)
    }

    /// Where `value` breaks the constraints of its declaration. A constraint that is not known is not checked.
    pub fn violations(&mut self, declared: &SizedType, name: &str, value: &Value) -> Outcome<Vec<Violation>> {
        self.enter();
        constraints::violations(self, declared, name, value)
    }

    /// Runs the `transformed data` block and checks the constraints of its variables.
    pub fn transformed_data(&mut self) -> Outcome<()> {
        let program = self.program;
        let statements = program.block(BlockKind::TransformedData);
        self.run(statements)?;
        for id in program.declared_in(BlockKind::TransformedData) {
            let variable = program.variable(id);
            let (Some(declared), Some(value)) = (&variable.declared, self.get(id).cloned()) else { continue };
            if let Some(violation) = self.violations(declared, &variable.name, &value)?.first() {
                let message = format!("{} at the end of transformed data", violation.message());
                return Err(Box::new(
                    Diagnostic::error("constraint-violated", message, variable.span)
                        .label(violation.requirement.clone()),
                ));
            }
        }
        Ok(())
    }

    /// Counts `steps` steps.
    #[inline]
    fn spend(&mut self, steps: u64, span: Span) -> Outcome<()> {
        self.steps = self.steps.saturating_add(steps);
        if self.steps <= self.limits.steps { Ok(()) } else { Err(self.too_long(span)) }
    }

    #[cold]
    fn too_long(&self, span: Span) -> Box<Diagnostic> {
        let message = format!("this part of the program is not done after {} steps", self.limits.steps);
        Box::new(
            Diagnostic::error("too-many-steps", message, span)
                .label("the program was here")
                .help("check that the loops here come to an end"),
        )
    }

    /// Runs `work` one level deeper, if the stack has room for that.
    #[inline]
    fn deeper<T>(&mut self, span: Span, work: impl FnOnce(&mut Self) -> Outcome<T>) -> Outcome<T> {
        if stack_address() < self.floor { Err(too_deep(span)) } else { work(self) }
    }

    /// Looks how far the stack of this thread reaches: at every entrance, for the state may have come from another one.
    fn enter(&mut self) {
        if FLOOR.get() == 0 {
            FLOOR.set(stack_address().saturating_sub(UNPREPARED));
        }
        self.floor = FLOOR.get();
    }

    /// The value of a variable, or why it has none.
    fn variable(&self, id: VariableId, span: Span) -> Value {
        match &self.frame[id.0 as usize] {
            Some(value) => value.clone(),
            None => self.no_value(id, span),
        }
    }

    #[cold]
    fn no_value(&self, id: VariableId, span: Span) -> Value {
        let variable = self.program.variable(id);
        let name = &variable.name;
        let reason = match variable.origin {
            Origin::Block(BlockKind::Data) => format!("`{name}` is not in the data"),
            Origin::Block(BlockKind::Parameters) => format!("`{name}` is a parameter"),
            Origin::Block(kind) => format!("`{name}` belongs to {}", kind.name()),
            _ => format!("`{name}` has no value here"),
        };
        Value::unavailable(reason, Some(span), None)
    }

    fn function_variables(&mut self, id: FunctionId) -> Arc<[VariableId]> {
        let function = self.program.function(id);
        let state = &mut self.functions[id.0 as usize];
        if state.variables.is_empty() && !(function.arguments.is_empty() && function.body.is_empty()) {
            let mut variables = function.arguments.clone();
            analysis::declared(&function.body, &mut variables);
            state.variables = variables.into();
        }
        state.variables.clone()
    }
}

#[cold]
fn too_deep(span: Span) -> Box<Diagnostic> {
    Box::new(
        Diagnostic::error("too-deep", "functions call each other without end", span)
            .label("the nesting was given up here")
            .help("check that the recursion comes to an end"),
    )
}

/// Why an operation has no result.
#[derive(Debug)]
enum Failure {
    Error {
        code: &'static str,
        message: String,
    },
    /// The interpreter lacks something: the result is unknown.
    Lacking(String),
}

fn fail<T>(code: &'static str, message: impl Into<String>) -> Result<T, Failure> {
    Err(Failure::Error { code, message: message.into() })
}

/// The result of an operation as a value, or as an error at its place.
fn settle(result: Result<Value, Failure>, span: Span) -> Outcome<Value> {
    match result {
        Ok(value) => Ok(value),
        Err(Failure::Lacking(reason)) => Ok(Value::unavailable(reason, Some(span), None)),
        Err(Failure::Error { code, message }) => Err(Box::new(Diagnostic::error(code, message, span))),
    }
}
