//! What an execution shares with all others of the same run: random numbers, globals, output, parameters, limits.

use std::collections::HashMap;
use std::path::PathBuf;
use std::rc::Rc;

use crust_math::random::Stream;

use crate::code::Closure;
use crate::compile::{self, Globals};
use crate::distributions::Dist;
use crate::error::{Failure, Place, Run, RunError, fail};
use crate::infer::params::Params;
use crate::machine::frame::Frame;
use crate::machine::{Effect, State};
use crate::object::Object;
use crate::parser;
use crate::tape::Tape;
use crate::value::Value;

/// What a run may use.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Nested calls.
    pub depth: u32,
    /// Calls in all; `None` is no limit.
    pub steps: Option<u64>,
}

impl Default for Limits {
    fn default() -> Self {
        Self { depth: 4_000_000, steps: None }
    }
}

/// What the inference that is running asks of library functions.
#[derive(Clone, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a question of its own")]
pub struct Context {
    /// Guides are run.
    pub guide_required: bool,
    /// `mapData` reports what it does.
    pub map_hooks: bool,
    /// Observations are reported without their score.
    pub observe_hook: bool,
    /// What is computed is written down: nothing may be kept beyond the run.
    pub recording: bool,
    /// Parameters carry derivatives, on this tape.
    pub tape: Option<Rc<Tape>>,
}

pub struct World {
    pub stream: Stream,
    pub globals: Vec<Value>,
    pub names: Globals,
    /// Name and text of each source that was compiled; the library's are not shown.
    pub units: Vec<Option<(String, String)>>,
    /// What the program printed.
    pub printed: Vec<String>,
    pub warnings: Vec<String>,
    pub params: Params,
    pub context: Context,
    pub limits: Limits,
    pub steps: u64,
    /// Inference inside of inference.
    pub nesting: u32,
    /// Stacks of frames that have returned.
    pub spare: Vec<Vec<Value>>,
    /// The folder of the program, for reading data.
    pub folder: Option<PathBuf>,
    /// Files that the user named.
    pub data: HashMap<String, PathBuf>,
    /// Something happened in a recorded run that a recording cannot stand for.
    pub spoiled: bool,
    /// How often something was done that is neither part of a state nor seen from the others: values changed in
    /// place, globals set, the clock read.
    pub touched: u64,
    /// What particles of an earlier inference did.
    pub kept: Option<crate::infer::memo::Kept>,
    /// How many ids `_.uniqueId` has given.
    pub ids: u64,
    pub empty_store: Rc<Object>,
    /// What `Infer` is given at the top of a program whose model is wanted.
    pub wanted: Option<Wanted>,
    /// Random decisions one after the other, in place of random ones: for tests that sum over all of them.
    #[cfg(test)]
    pub script: Option<crate::script::Script>,
}

/// A moment of a world: random numbers used, lines printed, ids given, things touched.
#[derive(PartialEq)]
pub struct Marks {
    pub stream: Stream,
    pub printed: usize,
    ids: u64,
    touched: u64,
}

/// The model that a program is run for.
pub struct Wanted {
    /// The variable that holds it; any model if there is none.
    pub slot: Option<u32>,
    pub found: Option<crate::infer::Model>,
}

const MAX_NESTING: u32 = 5_000;

impl World {
    pub fn new(stream: Stream, limits: Limits) -> Run<Self> {
        let mut world = Self {
            stream,
            globals: Vec::new(),
            names: Globals::default(),
            units: Vec::new(),
            printed: Vec::new(),
            warnings: Vec::new(),
            params: Params::default(),
            context: Context::default(),
            limits,
            steps: 0,
            nesting: 0,
            spare: Vec::new(),
            folder: None,
            data: HashMap::new(),
            spoiled: false,
            touched: 0,
            kept: None,
            ids: 0,
            empty_store: Rc::default(),
            wanted: None,
            #[cfg(test)]
            script: None,
        };
        crate::library::install(&mut world)?;
        Ok(world)
    }

    /// Draws from a distribution.
    #[inline]
    pub fn draw(&mut self, dist: &Dist) -> Run<Value> {
        #[cfg(test)]
        if let Some(script) = &mut self.script {
            return script.draw(dist);
        }
        dist.sample(&mut self.stream)
    }

    /// One of `n`, all with the same probability.
    #[inline]
    pub fn index_below(&mut self, n: usize) -> usize {
        #[cfg(test)]
        if let Some(script) = &mut self.script {
            return script.index_below(n);
        }
        self.stream.index_below(n)
    }

    /// True with the probability min(1, exp log α).
    #[inline]
    pub fn accepts(&mut self, log_ratio: f64) -> bool {
        #[cfg(test)]
        if let Some(script) = &mut self.script {
            return script.accepts(log_ratio);
        }
        log_ratio >= 0.0 || self.stream.uniform().ln() < log_ratio
    }

    /// Counts a call.
    #[inline]
    pub fn tick(&mut self) -> Run<()> {
        self.skip(1)
    }

    /// Counts calls that need not be made again.
    #[inline]
    pub fn skip(&mut self, calls: u64) -> Run<()> {
        self.steps += calls;
        match self.limits.steps {
            Some(limit) if self.steps > limit => Err(Failure::Steps(limit).into()),
            _ => Ok(()),
        }
    }

    /// What tells whether the program did anything but compute.
    pub fn marks(&self) -> Marks {
        let printed = self.printed.len();
        Marks { stream: self.stream.clone(), printed, ids: self.ids, touched: self.touched }
    }

    /// Keeps the stack of a frame that is no longer needed.
    #[inline]
    pub fn recycle(&mut self, frame: &mut Rc<Frame>) {
        if let Some(frame) = Rc::get_mut(frame).filter(|_| self.spare.len() < 256) {
            let mut stack = std::mem::take(&mut frame.stack);
            stack.clear();
            self.spare.push(stack);
        }
    }

    pub fn warn(&mut self, message: &str) {
        if !self.warnings.iter().any(|w| w == message) {
            self.warnings.push(message.to_owned());
        }
    }

    /// Compiles a source; it becomes a function without parameters.
    pub fn compile_unit(&mut self, name: &str, text: &str) -> Run<Rc<Closure>> {
        let wrong = |at: u32, message: String| {
            let mut error = RunError::new(message);
            error.place = Some(Place::of(name, text, at));
            error
        };
        let body = parser::parse(text).map_err(|m| wrong(m.at, m.message))?;
        let proto = compile::compile(&body, &mut self.names).map_err(|mistakes| match mistakes.into_iter().next() {
            Some(m) => wrong(m.at, m.message),
            None => RunError::new("the program cannot be compiled"),
        })?;
        self.units.push(Some((name.to_owned(), text.to_owned())));
        self.globals.resize(self.names.count as usize, Value::Undefined);
        Ok(Rc::new(Closure { proto, captured: Box::new([]) }))
    }

    /// Calls a function that must not sample or factor, and returns its value.
    pub fn call_sync(&mut self, function: &Value, args: Vec<Value>, what: &str) -> Run<Value> {
        let mut store = self.empty_store.clone();
        self.call_sync_in(function, args, what, 0, &mut store)
    }

    /// Like [`World::call_sync`], at an address and with a store that it may change.
    pub fn call_sync_in(
        &mut self,
        function: &Value,
        args: Vec<Value>,
        what: &str,
        addr: u64,
        store: &mut Rc<Object>,
    ) -> Run<Value> {
        self.nest()?;
        let mut state = State::call(self, function, args, addr, store.clone())?;
        let effect = state.run(self)?;
        self.nesting -= 1;
        match effect {
            Effect::Done(value) => {
                let value = state.result(value);
                *store = state.store;
                Ok(value)
            }
            Effect::Sample { .. } => fail(format!("sample is not allowed in {what}")),
            _ => fail(format!("factor is not allowed in {what}")),
        }
    }

    /// Notes that inference begins inside of a run.
    pub fn nest(&mut self) -> Run<()> {
        self.nesting += 1;
        if self.nesting > MAX_NESTING {
            return fail(format!("inference is nested more than {MAX_NESTING} times: does the recursion ever end?"));
        }
        Ok(())
    }
}
