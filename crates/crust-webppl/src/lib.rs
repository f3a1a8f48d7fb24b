//! The WebPPL language: programs that draw random numbers and condition on data, and inference about them.
//!
//! ```
//! use crust_webppl::{Options, Program, run};
//!
//! let program = Program::compile("coin.wppl", "
//!   var model = function() { var a = flip(0.5); var b = flip(0.5); condition(a || b); return a; };
//!   Infer({method: 'enumerate', model})")?;
//! let outcome = run(&program, &Options::default())?;
//! assert!(outcome.json.starts_with(r#"{"distribution":"Marginal","support":[false,true],"probs":[0.33333333"#));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

// counts and sizes become JavaScript's numbers everywhere, which are doubles
#![allow(clippy::cast_precision_loss)]
// functions of one table have one signature, whether they can fail or not
#![allow(clippy::unnecessary_wraps)]
// JavaScript compares doubles exactly, and so does this
#![allow(clippy::float_cmp)]
// arms stand in the order of what they are about
#![allow(clippy::match_same_arms)]
// both sides of a choice read alike
#![allow(clippy::single_match_else)]

mod algebra;
mod ast;
mod code;
mod coerce;
mod compile;
mod distributions;
mod error;
mod format;
mod infer;
mod json;
mod lexer;
mod library;
mod machine;
mod object;
mod output;
mod parser;
mod record;
mod regex;
#[cfg(test)]
mod script;
pub mod simulator;
mod tape;
mod tensor;
mod value;
mod world;

use std::collections::HashMap;
use std::path::PathBuf;

use crust_math::random::{Purpose, StreamKey};

pub use error::{Errors, Failure, Mistake, Place, RunError};
pub use world::Limits;

use error::{Run, fail};
use machine::{Effect, State};
use value::Value;
use world::World;

/// A program whose text has no mistakes.
#[derive(Clone, Debug)]
pub struct Program {
    name: String,
    text: String,
    /// Global variables with their values as JSON: the user's data. Variables of the program hide them.
    given: Vec<(String, String)>,
}

/// How a program is run.
#[derive(Clone, Debug, Default)]
pub struct Options {
    pub seed: u64,
    /// The folder that `json.read` and `csv.read` may read from.
    pub folder: Option<PathBuf>,
    /// Files outside of it, by the names that the program uses.
    pub data: HashMap<String, PathBuf>,
    pub limits: Limits,
}

/// What a run gave.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// The value of the last expression, as JSON.
    pub json: String,
    /// The value as the `webppl` command prints it; nothing for `undefined`.
    pub display: Option<String>,
    /// Lines that the program printed.
    pub printed: Vec<String>,
    pub warnings: Vec<String>,
}

/// The stack of the thread that runs a program: for values that are nested deeply, and inference inside of inference.
const STACK: usize = 1 << 30;

impl Program {
    /// Checks the text of a program.
    pub fn compile(name: &str, text: &str) -> Result<Self, Errors> {
        Self::compile_with(name, text, Vec::new())
    }

    /// The same for a program that may use global variables, each with a value in JSON.
    pub fn compile_with(name: &str, text: &str, given: Vec<(String, String)>) -> Result<Self, Errors> {
        let program = Self { name: name.to_owned(), text: text.to_owned(), given };
        let mistakes = on_large_stack(|| program.mistakes());
        let place = |m: Mistake| {
            let place = Place::of(name, text, m.at);
            (m, place)
        };
        match mistakes {
            mistakes if mistakes.is_empty() => Ok(program),
            mistakes => Err(Errors { errors: mistakes.into_iter().map(place).collect() }),
        }
    }

    fn mistakes(&self) -> Vec<Mistake> {
        let body = match parser::parse(&self.text) {
            Ok(body) => body,
            Err(mistake) => return vec![mistake],
        };
        match World::new(StreamKey::new(0, PURPOSE).stream(), Limits::default()) {
            Ok(mut world) => {
                for (name, _) in &self.given {
                    world.names.define(&name.as_str().into());
                }
                compile::compile(&body, &mut world.names).err().unwrap_or_default()
            }
            Err(error) => vec![Mistake::new(0, error.to_string())],
        }
    }

    /// The same program with other data.
    #[must_use]
    pub fn with(&self, given: Vec<(String, String)>) -> Self {
        Self { given, ..self.clone() }
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    /// Compiles the program in a world, where its data are defined first.
    fn load(&self, world: &mut World) -> Run<std::rc::Rc<code::Closure>> {
        let define =
            |(name, json): &(String, String)| Ok((world.names.define(&name.as_str().into()), json::parse(json)?));
        let values = self.given.iter().map(define).collect::<Run<Vec<_>>>()?;
        let main = world.compile_unit(&self.name, &self.text)?;
        values.into_iter().for_each(|(slot, value)| world.globals[slot as usize] = value);
        Ok(main)
    }
}

const OUTSIDE: &str = "factor, condition and observe are allowed only inside of inference: put them into a model";

const PURPOSE: Purpose = Purpose::FORWARD;

/// Runs a program.
pub fn run(program: &Program, options: &Options) -> Result<Outcome, RunError> {
    on_large_stack(|| execute(program, options))
}

/// Runs something on a thread that has room for values that are nested deeply.
pub fn on_large_stack<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, work);
        match thread.map(std::thread::ScopedJoinHandle::join) {
            Ok(Ok(result)) => result,
            Ok(Err(panic)) => std::panic::resume_unwind(panic),
            Err(error) => panic!("no thread can be started: {error}"),
        }
    })
}

fn execute(program: &Program, options: &Options) -> Run<Outcome> {
    let mut world = World::new(StreamKey::new(options.seed, PURPOSE).stream(), options.limits)?;
    world.folder.clone_from(&options.folder);
    world.data.clone_from(&options.data);
    let main = program.load(&mut world)?;
    let store = std::rc::Rc::default();
    let mut state = State::call(&mut world, &Value::Closure(main), Vec::new(), infer::ROOT, store)?;
    let value = loop {
        match state.run(&mut world)? {
            Effect::Sample { dist, .. } => {
                let value = dist.sample(&mut world.stream)?;
                state.resume(value);
            }
            Effect::Factor { .. } => {
                return fail(OUTSIDE);
            }
            Effect::Done(value) => break state.result(value),
            _ => state.resume(Value::Undefined),
        }
    };
    let value = value.deep_primal();
    let display = (!value.is_undefined()).then(|| format::inspect(&value));
    Ok(Outcome { json: output::json(&value)?, display, printed: world.printed, warnings: world.warnings })
}
