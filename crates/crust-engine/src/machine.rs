//! The machine: runs the code of a program for all lanes at once, and backwards for the gradient.
//!
//! Values are computed forward and every differentiable operation leaves an entry on the tape; the reverse pass takes
//! the entries from the last to the first and adds up adjoints. A statement that only adds to the log density is run
//! forward and backward at once, because the adjoint of the log density is known from the start: its memory is free
//! again right away.

mod assign;
mod data_only;
mod declare;
mod density;
mod driver;
mod elementwise;
mod expressions;
mod flat;
mod forward;
mod higher_order;
mod index;
mod items;
mod loops;
mod parameters;
mod random;
mod regions;
mod rejections;
mod solvers;
mod statements;
mod structure;
mod symbolic;
mod tape;
mod value;

use std::sync::{Arc, Mutex};

use crust_math::functions::Shape;
use crust_math::random::Stream;
use crust_stan::diagnostics::Diagnostic;
use crust_stan::span::Span;

use crate::code::{Code, Factor, Kind, Node, Slot};
use crate::flat::GROUP;
use crate::memory::{Aligned, Arena, Block, Flags, Full, Width};
pub(crate) use data_only::Steps;
pub use driver::{CHUNK, Rows, Summed};
pub use elementwise::{MOST, RowKernel};
pub(crate) use regions::DirectList;
pub use rejections::{Rejection, Rejections};
use tape::Tape;
pub use value::{Value, View};

/// Why a run ends early.
#[derive(Debug)]
pub enum Stop {
    /// The arena is too small.
    Full,
    /// Lanes take different ways: [`Machine::split`] says which.
    LanesPart,
    /// Iterations of a tile take different ways: [`Machine::split`] says which.
    TileParts,
    /// Something in a tile cannot be done for several iterations at once.
    TileUnfit,
    /// Something cannot be done for several lanes at once.
    LanesUnfit,
    /// Flat loops do not go through for some lanes: [`Machine::split`] says for which they do.
    FlatFails,
    /// Something was learned that makes the beginning of the run wrong: it must be begun again.
    Again,
    /// No lane is left that has not been rejected.
    AllRejected,
    /// A mistake in the program.
    Fatal(Box<Diagnostic>),
}

impl From<Full> for Stop {
    fn from(Full: Full) -> Self {
        Self::Full
    }
}

pub type Run<T> = Result<T, Stop>;

pub(crate) fn fatal<T>(code: &'static str, message: impl Into<String>, span: Span) -> Run<T> {
    Err(Stop::Fatal(Box::new(Diagnostic::error(code, message, span))))
}

/// What is wanted of an evaluation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// Drop constant terms of `~` and `_lupdf`.
    pub propto: bool,
    /// Add the log Jacobian of the parameter transforms.
    pub jacobian: bool,
    pub gradient: bool,
}

/// Where the parts of the log density are added up, and the adjoint of each.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Totals {
    pub prior: Block,
    pub likelihood: Block,
    pub prior_seed: Block,
    pub likelihood_seed: Block,
}

impl Totals {
    /// A sum, and its adjoint: 0 for the prior, 1 for the likelihood.
    #[inline]
    pub fn part(&self, part: usize) -> (Block, Block) {
        if part == 0 { (self.prior, self.prior_seed) } else { (self.likelihood, self.likelihood_seed) }
    }
}

#[allow(clippy::struct_excessive_bools, reason = "they are independent states")]
pub struct Machine {
    pub(crate) code: Own<Code>,
    pub(crate) arena: Arena,
    tape: Tape,
    pub(crate) width: Width,
    pub(crate) wanted: Wanted,
    /// Whether operations leave entries on the tape.
    recording: bool,
    pub(crate) globals: Vec<Variable>,
    /// Slots of the functions that are running.
    locals: Vec<Variable>,
    frame: usize,
    /// Which arguments of the running function count as depending on parameters.
    varies: u64,
    /// Whether constant terms are dropped here.
    propto: bool,
    /// Parts of tuples, those of data first.
    tuples: Vec<Value>,
    pub(crate) constant_tuples: usize,
    pub(crate) literals: Vec<View>,
    pub(crate) hoisted: Vec<Option<Value>>,
    pub(crate) totals: Option<Totals>,
    /// For each lane.
    pub(crate) rejected: Rejections,
    /// Of those parameters that are numbers, not tuples. Sizes are data: they are computed once.
    parameter_shapes: Vec<Option<Shape>>,
    /// Which lanes, or which iterations of the tile, take the branch.
    pub(crate) split: Vec<bool>,
    /// Whether iterations of the tile that is running decided by what depends on parameters.
    pub(crate) fickle: bool,
    /// Whether lanes had to be looked at one by one: a decision depended on parameters, or an equation was solved.
    pub(crate) apart: bool,
    /// Whether a kernel refused items of the list that was run last.
    pub(crate) refused: bool,
    /// Whether the lanes that did not fail have their results.
    pub(crate) stored: bool,
    /// How many numbers of one lane were computed by functions that take the lanes one after the other, in this
    /// evaluation.
    pub(crate) lane_work: usize,
    /// What is known about each loop.
    loops: Vec<loops::Experience>,
    /// The axes that the storage of each declared variable turned out to need.
    learned: Vec<Flags>,
    /// Where the memory of the current tile begins.
    tile_base: usize,
    /// Whether the current tile may be given up and begun again: then nothing is added to the log density before its
    /// end.
    transaction: bool,
    pending: Vec<(Block, Factor)>,
    /// The branches that the current tile took.
    path: Vec<bool>,
    tile_numbers: Vec<f64>,
    /// One per lane, for generated quantities.
    pub(crate) streams: Vec<Stream>,
    /// The log density of what the forward sampler does, where that is asked for.
    pub(crate) score: Option<Box<crate::simulate::Score>>,
    pub(crate) messages: Vec<String>,
    /// Room for chunks of items; taken out while it is in use.
    chunks: Option<Box<driver::Scratch>>,
    scratch: Vec<f64>,
    /// The same for rows of eight lanes.
    row_scratch: Aligned,
    /// What is known of functions that solvers call.
    known_functions: Vec<solvers::Known>,
    /// Parameters in the order in which they were computed.
    constrained: Vec<parameters::Constrained>,
    /// Where the stack stood when the evaluation began.
    stack: usize,
    /// Index lists that are not in use.
    picks: Vec<Vec<u32>>,
    /// Evaluates functions of the program for solvers.
    nested: Option<Box<Machine>>,
    /// Whether loops may be run flat.
    pub(crate) flat_on: bool,
    /// What is known about loops as flat ones, to all machines with the same program and data.
    shared_loops: Arc<Mutex<Vec<flat::Compiled>>>,
    /// Flat loops that assigned, in the order in which they ran.
    past: Vec<flat::Past>,
    flat_room: Option<Box<crate::flat::Room>>,
    /// How many blocks were made that differ by lane but have no adjoint.
    blind: usize,
    /// Whether the tape is to have notes for a list of operations.
    tracing: bool,
    /// Set where numbers are symbols: the machine is not run, but makes a list of operations.
    tracer: Option<Box<symbolic::Tracer>>,
    /// Whether regions may be run as lists.
    pub(crate) lists_on: bool,
    /// What is run as lists, for each set of terms that was asked for.
    plans: Vec<regions::Planned>,
    /// Which lanes have a derivative, as far as lists have found out on the way back.
    late: Vec<bool>,
    /// The plans of all machines with the same program and data.
    shared_plans: regions::Shared,
    /// Rounds of loops and calls that are left, where code that depends on data only runs: nothing is gone back over,
    /// and what looks endless is stopped.
    pub(crate) steps: Option<Steps>,
}

/// Something that machines share, with a counter for this machine alone: one that all threads count with, several times
/// in each evaluation, would cost them more than the evaluation of a small model.
pub(crate) type Own<T> = Arc<Arc<T>>;

pub(crate) fn own<T>(shared: &Arc<T>) -> Own<T> {
    Arc::new(Arc::clone(shared))
}

/// How much of the stack nested functions may take: half of what a thread has at least.
const DEEPEST: usize = 1 << 20;

/// Roughly where the stack stands now.
#[inline]
fn stack_address() -> usize {
    let marker = 0_u8;
    std::ptr::from_ref(&marker).addr()
}

/// How many numbers an operation in a tile works on: enough to forget the cost of getting there, few enough for the
/// cache.
const TILE_ITEMS: usize = 2048;

impl Machine {
    pub fn new(code: &Arc<Code>) -> Self {
        let (globals, loops, hoisted, declares) = (code.globals, code.loops, code.hoisted, code.declares);
        let mut arena = Arena::default();
        let literals = code.literals.iter().map(|&x| View::scalar(arena.constant(1, std::iter::once(x)))).collect();
        Self {
            code: own(code),
            arena,
            tape: Tape::default(),
            width: Width { tile: 1, lanes: 1 },
            wanted: Wanted { propto: false, jacobian: true, gradient: false },
            recording: false,
            globals: vec![Variable::UNSET; globals],
            locals: Vec::new(),
            frame: 0,
            varies: 0,
            propto: false,
            tuples: Vec::new(),
            constant_tuples: 0,
            literals,
            hoisted: vec![None; hoisted],
            totals: None,
            rejected: Rejections::one(),
            parameter_shapes: Vec::new(),
            split: Vec::new(),
            fickle: false,
            apart: false,
            refused: false,
            stored: false,
            lane_work: 0,
            loops: vec![loops::Experience::default(); loops],
            learned: vec![Flags::UNIFORM; declares],
            tile_base: 0,
            transaction: false,
            pending: Vec::new(),
            path: Vec::new(),
            tile_numbers: Vec::new(),
            streams: Vec::new(),
            score: None,
            messages: Vec::new(),
            chunks: None,
            scratch: Vec::new(),
            row_scratch: Aligned::default(),
            known_functions: Vec::new(),
            constrained: Vec::new(),
            stack: stack_address(),
            picks: Vec::new(),
            nested: None,
            flat_on: true,
            shared_loops: Arc::new(Mutex::new(vec![flat::Compiled::default(); loops])),
            past: Vec::new(),
            flat_room: None,
            blind: 0,
            tracing: false,
            tracer: None,
            lists_on: true,
            plans: Vec::new(),
            late: Vec::new(),
            shared_plans: regions::Shared::default(),
            steps: None,
        }
    }

    /// Forgets everything but constants.
    pub(crate) fn clear(&mut self, lanes: usize, wanted: Wanted) {
        self.width = Width { tile: 1, lanes };
        self.wanted = wanted;
        self.recording = wanted.gradient;
        self.propto = wanted.propto;
        self.varies = 0;
        self.lane_work = 0;
        self.arena.clear();
        self.tape.clear();
        self.past.clear();
        self.late.clear();
        self.constrained.clear();
        self.locals.clear();
        self.tuples.truncate(self.constant_tuples);
        self.frame = 0;
        self.stack = stack_address();
        self.rejected.reset(lanes);
        self.totals = None;
        self.transaction = false;
        self.pending.clear();
        self.tile_base = 0;
    }

    /// How many iterations a tile may have. Sums depend on it in their last digits: it is the same for any number of
    /// groups of eight lanes.
    fn tile_size(&self) -> usize {
        (TILE_ITEMS / self.width.lanes.min(GROUP)).max(1)
    }

    #[inline]
    pub(crate) fn allocate(&mut self, n: usize, flags: Flags) -> Run<Block> {
        let flags = if self.recording { flags } else { flags.without(Flags::GRADIENT) };
        self.blind += usize::from(flags.has(Flags::LANES) && !flags.has(Flags::GRADIENT));
        Ok(self.arena.allocate(n, flags, self.width)?)
    }

    /// A block of the given numbers that is the same for all items.
    pub(crate) fn uniform(&mut self, numbers: &[f64]) -> Run<Block> {
        let block = self.allocate(numbers.len(), Flags::UNIFORM)?;
        self.arena.of_mut(block, self.width).copy_from_slice(numbers);
        Ok(block)
    }

    pub(crate) fn number(&mut self, x: f64) -> Run<View> {
        Ok(View::scalar(self.uniform(&[x])?))
    }

    #[inline]
    fn variable(&self, slot: Slot) -> Variable {
        match slot {
            Slot::Global(i) => self.globals[i as usize],
            Slot::Local(i) => self.locals[self.frame + i as usize],
        }
    }

    #[inline]
    fn slot_mut(&mut self, slot: Slot) -> &mut Variable {
        match slot {
            Slot::Global(i) => &mut self.globals[i as usize],
            Slot::Local(i) => &mut self.locals[self.frame + i as usize],
        }
    }

    /// Rejects a lane.
    pub(crate) fn reject(&mut self, lane: usize, message: impl FnOnce() -> String, span: Span) -> Run<()> {
        self.rejected.add(lane, || Rejection { message: message(), span });
        if self.rejected.iter().all(Option::is_some) { Err(Stop::AllRejected) } else { Ok(()) }
    }

    /// The one number of a uniform scalar; asks for the tile or the batch to be taken apart where it is not uniform.
    #[allow(clippy::float_cmp, reason = "the same number in all items")]
    pub(crate) fn uniform_number(&mut self, view: View) -> Run<f64> {
        if self.is_symbolic(view) {
            return Err(Stop::LanesUnfit);
        }
        let block = view.block;
        if block.tile() && self.width.tile > 1 {
            let first = self.arena.first(block);
            let same = self.arena.of(block, self.width).iter().all(|&x| x == first);
            return if same { Ok(first) } else { Err(Stop::TileUnfit) };
        }
        if block.lanes() && self.width.lanes > 1 {
            let first = self.arena.first(block);
            let same = self.arena.of(block, self.width).iter().all(|&x| x == first);
            return if same { Ok(first) } else { Err(Stop::LanesUnfit) };
        }
        Ok(self.arena.first(block))
    }

    /// Puts a program in the place of one with the same variables, loops and data.
    pub(crate) fn set_code(&mut self, code: &Arc<Code>) {
        self.code = own(code);
    }

    /// What a condition is that depends on data only, if that is known.
    pub(crate) fn truth(&self, condition: &Node) -> Option<bool> {
        let Kind::Hoisted(index, _) = condition.kind else { return None };
        match self.hoisted[index as usize]? {
            Value::Numbers(view) => Some(self.arena.first(view.block) != 0.0),
            Value::Tuple { .. } | Value::Unset => None,
        }
    }

    /// A machine with the same program and data, and room for as many numbers beyond them.
    pub(crate) fn duplicate(&self, room: usize) -> Self {
        let mut copy = Self::new(&self.code);
        copy.arena = self.arena.with_constants(room);
        copy.globals.clone_from(&self.globals);
        copy.tuples = self.tuples[..self.constant_tuples].to_vec();
        copy.constant_tuples = self.constant_tuples;
        copy.literals.clone_from(&self.literals);
        copy.hoisted.clone_from(&self.hoisted);
        copy.shared_loops = Arc::clone(&self.shared_loops);
        copy.shared_plans = Arc::clone(&self.shared_plans);
        copy
    }

    pub(crate) fn tuple_count(&self) -> usize {
        self.tuples.len()
    }

    pub(crate) fn tuple_part(&self, at: u32) -> Value {
        self.tuples[at as usize]
    }

    /// Goes back over everything that is on the tape.
    pub(crate) fn reverse_all(&mut self) {
        self.reverse(tape::Mark::START);
    }

    /// Everything above a place in memory can be given back.
    fn mark(&self) -> Mark {
        Mark { tape: self.tape.mark(), top: self.arena.top(), tuples: self.tuples.len() }
    }

    fn release(&mut self, mark: Mark) {
        self.tape.release(mark.tape);
        self.arena.release(mark.top);
        self.tuples.truncate(mark.tuples);
    }
}

/// A variable at run time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Variable {
    pub value: Value,
    /// Which declaration it comes from.
    pub declared: u32,
    /// Whether anybody has looked at its numbers since it was declared.
    pub read: bool,
}

impl Variable {
    const UNSET: Self = Self { value: Value::Unset, declared: u32::MAX, read: true };

    pub fn of(value: Value) -> Self {
        Self { value, declared: u32::MAX, read: true }
    }
}

#[derive(Clone, Copy)]
struct Mark {
    tape: tape::Mark,
    top: usize,
    tuples: usize,
}
