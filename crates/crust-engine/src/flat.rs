//! Flat loops: loops whose iterations are all known from data, as straight-line programs over a table of iterations.
//!
//! The nest of loops and data-only branches around a statement is unrolled into a list of iterations once, when the
//! loop is first met. What an iteration takes from data becomes a *column* of numbers, what it takes from parameters a
//! *gather* with a list of positions, and what it does with them a list of *steps* on *registers*. A register holds a
//! number for each item of a tile, an item being an iteration in one of eight lanes, or an iteration of the only lane.
//! All registers of a tile stay in the first-level cache, and a step costs little more than its arithmetic. Steps that
//! add to the log density run forward and backward tile by tile.
//!
//! Loops that do not fit are run by the machine, which also says what is wrong where a point has no density: whatever
//! is not finite here is computed again there.

#![allow(clippy::inline_always, reason = "only what is inlined is compiled for the instruction set of its caller")]
#![allow(
    clippy::needless_range_loop,
    reason = "the compiler makes vector instructions of loops over arrays of lanes, by index"
)]

pub(crate) mod rows;
mod run;
pub(crate) mod steps;

use std::sync::OnceLock;

use crust_math::functions::Shape;
use crust_math::functions::elementwise::{Binary, Ternary, Unary};

use crate::code::{Factor, Node, Slot};
use crate::density::Scalar;
use crate::kernels::arithmetic::Arithmetic;
use crate::machine::RowKernel;

pub use run::{Call, MOST_KEPT, Room, run};

/// Numbers in a register.
pub const TILE: usize = 128;

/// Lanes that run together.
pub const GROUP: usize = 8;

/// A register. Results have higher numbers than what they are computed from.
pub type Register = u16;

/// A compiled loop.
#[derive(Debug, Default)]
pub struct Flat {
    pub strips: Vec<Strip>,
    /// What the machine computes before the loop: parameter-dependent values that are the same in all iterations.
    pub operands: Vec<Operand>,
    /// Variables outside of the loop that are defined by an expression and used nowhere else: their elements are
    /// computed in the loop, and nobody else needs to.
    pub inlined: Vec<Slot>,
    /// The variables whose elements the loop assigns.
    pub stored: Vec<Stored>,
    /// Whether this is no loop, but a list of terms of the log density.
    pub terms: bool,
    /// Which of those terms do not fit.
    pub left: Vec<usize>,
    /// Whether one of these has loops in it: a list is better for all of them then.
    pub hard: bool,
    /// The strips as a lane alone takes them, once that was asked for.
    pub single: OnceLock<Vec<Strip>>,
}

/// Something that the machine computes before a loop, and the shape that positions in it are for.
#[derive(Debug)]
pub struct Operand {
    pub node: Node,
    pub shape: Shape,
}

impl Flat {
    /// Whether a container that is computed element by element is needed as a whole too.
    pub fn looks_at_inlined(&self) -> bool {
        self.inlined.iter().any(|slot| self.operands.iter().any(|operand| operand.node.reads(*slot)))
    }
}

/// A variable whose elements a loop assigns. It is an operand as well: recurrences look at elements that they have
/// assigned before.
#[derive(Debug)]
pub struct Stored {
    pub slot: Slot,
    pub operand: usize,
    /// All elements that are assigned.
    pub elements: Vec<u32>,
}

/// Statements of a loop with the same iterations.
#[derive(Clone, Debug, Default)]
pub struct Strip {
    pub iterations: usize,
    /// Whether iterations need what earlier ones have assigned. They then run one after the other, and on the way back
    /// from the last one to the first.
    pub recurrent: bool,
    pub registers: usize,
    /// The operands that elements are gathered from.
    pub sources: Vec<usize>,
    /// Registers that are the same in all iterations.
    pub uniforms: Vec<(Register, Uniform)>,
    /// Those of them whose adjoints are put together in a register before they are summed.
    pub folded: Vec<Register>,
    pub steps: Vec<Step>,
}

impl Strip {
    /// Whether it has nothing but sums of products with their log densities.
    pub fn is_products(&self) -> bool {
        !self.recurrent && self.steps.iter().all(|step| matches!(step, Step::AddNormalProducts { .. }))
    }

    /// How many numbers it computes for one lane, several at a time: a recurrence takes as long for one lane as for
    /// eight.
    pub fn work(&self) -> usize {
        if self.recurrent {
            return 0;
        }
        let numbers = |step: &Step| match step {
            Step::RowDot { inner, .. } => *inner,
            Step::PairDot { lists, .. } | Step::AddNormalProducts { lists, .. } => lists.inner,
            _ => 1,
        };
        self.iterations * self.steps.iter().map(numbers).sum::<usize>()
    }
}

/// Where a register that is the same in all iterations comes from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Uniform {
    Constant(f64),
    /// An element of an operand. Its adjoint is added up in the register beside and given back at the end.
    Operand {
        operand: usize,
        element: usize,
    },
    /// The reciprocal of another uniform register.
    Inverse(Register),
    /// That times the adjoint of the log density, or of its part.
    Weight(Register, Factor),
    /// Sums over iterations begin at 0.
    Sum,
}

/// What becomes of the adjoint of an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Into {
    /// It has none.
    Nothing,
    /// This is the first contribution on the way back.
    Set,
    Add,
    /// It is the same in all iterations, and this is the only contribution: it goes straight into the sum.
    Sum,
}

/// An argument of a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Argument {
    pub register: Register,
    pub into: Into,
}

/// Positions of elements, one for each iteration.
#[derive(Clone, Debug, PartialEq)]
pub struct Positions {
    operand: usize,
    elements: Vec<u32>,
    /// The last element that is looked at.
    last: u32,
    /// For each iteration, the next one with another position.
    changes: Vec<u32>,
}

impl Positions {
    /// So many elements from each position on are looked at, so far apart.
    pub fn new(operand: usize, elements: Vec<u32>, (count, stride): (usize, u32)) -> Self {
        let reach = u32::try_from(count.saturating_sub(1)).unwrap_or(u32::MAX).saturating_mul(stride);
        let last = elements.iter().max().map_or(0, |first| first.saturating_add(reach));
        let mut changes: Vec<u32> = (1..).take(elements.len()).collect();
        for i in (1..elements.len()).rev() {
            if elements[i - 1] == elements[i] {
                changes[i - 1] = changes[i];
            }
        }
        Self { operand, elements, last, changes }
    }

    pub fn operand(&self) -> usize {
        self.operand
    }

    pub fn elements(&self) -> &[u32] {
        &self.elements
    }
}

/// One operation on all items of a tile. `out` is its result.
#[derive(Clone, Debug)]
pub enum Step {
    Column {
        numbers: Vec<f64>,
        out: Register,
    },
    Gather {
        from: Positions,
        out: Register,
    },
    Arithmetic {
        operator: Arithmetic,
        a: Argument,
        b: Argument,
        out: Register,
    },
    Affine(Affine),
    /// `Σ (a − b)²`
    SquaredDistance {
        pairs: Vec<[Argument; 2]>,
        out: Register,
    },
    Unary {
        function: &'static Unary,
        x: Argument,
        out: Register,
    },
    /// The row of a data matrix (`inner` numbers for each iteration) times a vector that depends on parameters, plus a
    /// number.
    RowDot {
        rows: Vec<f64>,
        inner: usize,
        operand: usize,
        plus: Argument,
        out: Register,
    },
    /// The sum of products of elements.
    PairDot {
        lists: Lists,
        out: Register,
    },
    /// Derivatives are in the registers from `weights` on.
    LogSumExp {
        xs: Vec<Argument>,
        weights: Register,
        out: Register,
    },
    /// A log density as a value; its derivatives are in the registers from `partials` on.
    Density {
        density: Density,
        partials: Register,
        out: Register,
    },
    /// Adds a value to the log density.
    Add {
        x: Argument,
        factor: Factor,
    },
    /// Adds a log density.
    AddDensity {
        density: Density,
        factor: Factor,
    },
    /// Adds normal log densities with a scale that is the same in all iterations.
    AddNormal(Normal),
    /// The same for outcomes from data, with a sum of products as location: forward and backward at once.
    AddNormalProducts {
        lists: Lists,
        normal: Normal,
    },
    /// Adds Bernoulli log densities of outcomes from data, with log odds.
    AddLogOdds(LogOdds),
    /// Assigns to elements of a variable.
    Store {
        x: Argument,
        operand: usize,
        elements: Vec<u32>,
    },
}

impl Step {
    /// The operands whose elements it looks at, and whose adjoints it adds to.
    pub fn adds_to(&self) -> [Option<usize>; 2] {
        match self {
            Self::Gather { from, .. } => [Some(from.operand), None],
            Self::RowDot { operand, .. } => [Some(*operand), None],
            Self::PairDot { lists, .. } | Self::AddNormalProducts { lists, .. } => {
                [Some(lists.a.operand), Some(lists.b.operand)]
            }
            _ => [None, None],
        }
    }

    /// Whether it adds to the log density.
    pub fn adds(&self) -> bool {
        matches!(
            self,
            Self::Add { .. }
                | Self::AddDensity { .. }
                | Self::AddNormal(_)
                | Self::AddNormalProducts { .. }
                | Self::AddLogOdds(_)
        )
    }
}

/// Two lists of `inner` elements each, `strides` apart. The first list changes less often than the second.
#[derive(Clone, Debug)]
pub struct Lists {
    pub a: Positions,
    pub b: Positions,
    pub strides: [u32; 2],
    pub inner: usize,
}

/// `plus + factor · x / divisor`; the divisor is the same in all iterations.
#[derive(Clone, Debug)]
pub struct Affine {
    pub x: Argument,
    pub factor: f64,
    pub divisor: Option<Divisor>,
    pub plus: Option<Argument>,
    pub out: Register,
}

#[derive(Clone, Copy, Debug)]
pub struct Divisor {
    pub by: Argument,
    /// Its reciprocal.
    pub inverse: Register,
}

/// `−log(1 + exp(∓x))`
#[derive(Clone, Debug)]
pub struct LogOdds {
    /// 1 or −1 in each iteration.
    pub signs: Vec<f64>,
    pub x: Argument,
    /// Whether the program does not state log odds: see [`Function::LogOdds`].
    pub detour: bool,
    pub factor: Factor,
}

/// A function of scalars with its partial derivatives.
#[derive(Clone, Copy, Debug)]
pub enum Function {
    Density(Scalar),
    /// `bernoulli_logit`, in the place of `bernoulli` with a probability that is not given by its log odds.
    LogOdds(Scalar),
    Binary(&'static Binary, Option<RowKernel>),
    Ternary(&'static Ternary),
}

/// Mostly a log density.
#[derive(Clone, Debug)]
pub struct Density {
    pub function: Function,
    pub arguments: Vec<Argument>,
    /// Whether constant terms may be dropped.
    pub propto: bool,
    /// Which arguments count as depending on parameters.
    pub varying: u32,
}

/// `Σ z²` is collected in `squares`, where `z = (y − μ)/σ`.
#[derive(Clone, Debug)]
pub struct Normal {
    pub y: Argument,
    /// What `y` is in each iteration, if it is data.
    pub column: Option<Vec<f64>>,
    pub mu: Argument,
    pub sigma: Register,
    pub inverse: Register,
    pub weight: Register,
    pub squares: Register,
    /// How many log densities are added up: more than there are iterations if their squares were put together.
    pub count: usize,
    pub factor: Factor,
    pub propto: bool,
    pub varying: u32,
}
