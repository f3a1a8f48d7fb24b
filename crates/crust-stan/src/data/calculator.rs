//! What reading data asks of whoever computes: the front end knows what a declaration says, not what its sizes are.

use std::sync::Arc;

use super::declared;
use crate::diagnostics::Diagnostic;
use crate::typed::{Expr, SizedType, VariableId};
use crate::value::{Shape, Unavailable, Value};

/// The result of running a piece of the program: an error is one of the program, with its place in it.
pub type Outcome<T> = Result<T, Box<Diagnostic>>;

/// What is known now, or the reason why it is not.
pub type Known<T> = Result<T, Arc<Unavailable>>;

/// How far code that depends on data only is run before it is taken for endless.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Rounds of loops and calls of functions.
    pub steps: u64,
    /// Numbers in one container.
    pub numbers: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { steps: 100_000_000, numbers: 1 << 28 }
    }
}

/// Computes what depends on data only: sizes and bounds of declarations.
pub trait Calculator {
    fn limits(&self) -> Limits;

    /// Gives a variable its value, which later expressions may look at.
    fn set(&mut self, variable: VariableId, value: Value);

    /// The value of an expression; [`Value::Unavailable`] where it depends on what is not known.
    fn expression(&mut self, expr: &Expr) -> Outcome<Value>;

    /// Where `value` breaks the constraints of its declaration. A constraint that is not known is not checked.
    fn violations(&mut self, declared: &SizedType, name: &str, value: &Value) -> Outcome<Vec<Violation>>;

    /// The shape that a declaration asks for.
    fn shape(&mut self, declared: &SizedType) -> Outcome<Known<Shape>> {
        declared::shape(self, declared)
    }
}

/// A value that breaks the constraint of its declaration.
#[derive(Clone, Debug, PartialEq)]
pub struct Violation {
    pub name: String,
    /// Where below the variable: indices and tuple parts.
    pub path: Vec<Step>,
    /// Follows the name of the place: `is -1`.
    pub found: String,
    /// `must be at least 0`
    pub requirement: String,
    /// How many other elements break it, too.
    pub more: usize,
}

/// One step from a variable to a part of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Counts from zero.
    Index(usize),
    /// Counts from one.
    Part(u32),
}

impl Violation {
    /// The place as in the program: `y[3, 2]`.
    pub fn place(&self) -> String {
        place(&self.name, &self.path)
    }

    /// The whole sentence.
    pub fn message(&self) -> String {
        let more = match self.more {
            0 => String::new(),
            1 => " (1 other breaks this, too)".into(),
            n => format!(" ({n} others break this, too)"),
        };
        format!("`{}` {}, but {}{more}", self.place(), self.found, self.requirement)
    }
}

/// A place below a variable as in the program.
pub fn place(name: &str, path: &[Step]) -> String {
    let mut text = name.to_owned();
    let mut open = false;
    for step in path {
        let piece = match (step, open) {
            (Step::Index(i), false) => format!("[{}", i + 1),
            (Step::Index(i), true) => format!(", {}", i + 1),
            (Step::Part(k), open) => format!("{}.{k}", if open { "]" } else { "" }),
        };
        text.push_str(&piece);
        open = matches!(step, Step::Index(_));
    }
    if open {
        text.push(']');
    }
    text
}
