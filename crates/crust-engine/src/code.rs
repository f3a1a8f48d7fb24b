//! The program as the machine runs it: names are slots, functions of the library are pointers, what depends on data
//! only is set apart to be computed once.

mod visit;

use std::collections::HashSet;

use crust_math::functions::elementwise::{Binary, Ternary, Unary};
use crust_math::functions::{Cell, VectorFunction};
use crust_math::transforms::Transform;
use crust_stan::ast::{MessageKind, SpecialType};
use crust_stan::span::Span;

use crate::density::Density;
use crate::kernels::arithmetic::Arithmetic;
use crate::random::Generator;
use crate::solver::Solver;
use crate::structure::Structure;

/// A program, ready to be bound to data.
#[derive(Clone, Debug, Default)]
pub struct Code {
    pub functions: Vec<Function>,
    /// How many slots the variables outside of functions take. The last one counts the elements of vectors that are
    /// gone through one by one.
    pub globals: usize,
    pub parameters: Vec<Quantity>,
    pub transformed_parameters: Vec<Quantity>,
    pub generated_quantities: Vec<Quantity>,
    pub transform: Vec<Stmt>,
    pub model: Vec<Stmt>,
    pub generate: Vec<Stmt>,
    /// Variables that depend on parameters, be it only by the way that control took.
    pub by_parameters: HashSet<Slot>,
    /// Variables that loops assign to.
    pub in_loops: HashSet<Slot>,
    /// Numbers that stand in the program.
    pub literals: Vec<f64>,
    /// How many expressions depend on data only.
    pub hoisted: usize,
    /// How many loops there are.
    pub loops: usize,
    /// How many declarations there are.
    pub declares: usize,
    /// Whether this is a program of the forward sampler, in which NaN stands for what is not drawn yet.
    pub forward: bool,
    /// Whether values are computed from `target()`. Then the adjoint of a term is not known before the reverse pass
    /// comes by, so that nothing is run forward and backward at once.
    pub reads_target: bool,
}

/// A variable of a block that is part of the output.
#[derive(Clone, Debug)]
pub struct Quantity {
    pub name: String,
    pub slot: u32,
    pub declared: Declared,
}

/// A declared type with its sizes and constraints.
#[derive(Clone, Debug)]
pub struct Declared {
    /// Sizes of the array dimensions.
    pub arrays: Vec<Node>,
    pub item: Item,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub enum Item {
    Cell { cell: Cell, sizes: Vec<Node>, constraint: Constraint },
    Tuple(Vec<Declared>),
}

#[derive(Clone, Debug)]
pub enum Constraint {
    None,
    Lower(Node),
    Upper(Node),
    LowerUpper(Node, Node),
    OffsetMultiplier(Option<Node>, Option<Node>),
    Special(SpecialType),
}

impl Constraint {
    /// The transform for a cell of `rows × columns` numbers.
    pub fn transform(&self, rows: usize, columns: usize) -> Transform {
        let (size, cols) = (rows * columns, columns);
        match self {
            Self::None => Transform::Identity { size },
            Self::Lower(_) => Transform::Lower { size },
            Self::Upper(_) => Transform::Upper { size },
            Self::LowerUpper(..) => Transform::LowerUpper { size },
            Self::OffsetMultiplier(..) => Transform::OffsetMultiplier { size },
            Self::Special(special) => match special {
                SpecialType::Simplex => Transform::Simplex { size },
                SpecialType::UnitVector => Transform::UnitVector { size },
                SpecialType::Ordered => Transform::Ordered { size },
                SpecialType::PositiveOrdered => Transform::PositiveOrdered { size },
                SpecialType::SumToZeroVector => Transform::SumToZeroVector { size },
                SpecialType::SumToZeroMatrix => Transform::SumToZeroMatrix { rows, cols },
                SpecialType::CovMatrix => Transform::CovMatrix { size: rows },
                SpecialType::CorrMatrix => Transform::CorrMatrix { size: rows },
                SpecialType::CholeskyFactorCov => Transform::CholeskyFactorCov { rows, cols },
                SpecialType::CholeskyFactorCorr => Transform::CholeskyFactorCorr { size: rows },
                SpecialType::ColumnStochasticMatrix => Transform::ColumnStochasticMatrix { rows, cols },
                SpecialType::RowStochasticMatrix => Transform::RowStochasticMatrix { rows, cols },
            },
        }
    }
}

#[derive(Clone, Debug)]
pub struct Function {
    /// Slots for arguments and local variables.
    pub slots: usize,
    pub body: Vec<Stmt>,
}

/// Where a variable is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Slot {
    Global(u32),
    /// Relative to the frame of the function that runs.
    Local(u32),
}

#[derive(Clone, Debug)]
pub struct Node {
    pub kind: Kind,
    pub span: Span,
    /// Whether Stan takes it for a parameter-dependent value: decides which terms `propto` drops.
    pub varies: Varies,
}

/// Whether a value counts as depending on parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Varies {
    No,
    Yes,
    /// Inside a function: if one of these arguments of the call does (bit `i` for argument `i`).
    WithArguments(u64),
}

#[derive(Clone, Debug)]
pub enum Kind {
    Literal(u32),
    /// A number that takes the place of a loop variable.
    Number(f64),
    Variable {
        slot: Slot,
        mutable: bool,
    },
    /// Depends on data only: computed once. The number says where it is kept.
    Hoisted(u32, Box<Node>),
    Index {
        base: Box<Node>,
        indices: Vec<Index>,
    },
    /// Counts from 0.
    Part {
        base: Box<Node>,
        part: usize,
    },
    Negate(Box<Node>),
    Not(Box<Node>),
    /// An integer, which must fit Stan's `int`.
    Whole(Box<Node>),
    Arithmetic(Arithmetic, Box<[Node; 2]>),
    Compare(Comparison, Box<[Node; 2]>),
    IntDivide(Box<[Node; 2]>),
    Modulo(Box<[Node; 2]>),
    And(Box<[Node; 2]>),
    Or(Box<[Node; 2]>),
    /// Of matrices and vectors; a row vector times a vector is a number.
    Product(Box<[Node; 2]>),
    /// A product plus a number: `x * beta + alpha`.
    Affine(Box<[Node; 3]>),
    Transpose(Box<Node>),
    Ternary(Box<[Node; 3]>),
    Array(Vec<Node>),
    RowVector(Vec<Node>),
    /// Of row vectors.
    Matrix(Vec<Node>),
    Tuple(Vec<Node>),
    Unary(&'static Unary, Box<Node>),
    Binary(&'static Binary, Box<[Node; 2]>),
    TernaryFunction(&'static Ternary, Box<[Node; 3]>),
    Structure(Structure, Vec<Node>),
    Vector(VectorCall, Vec<Node>),
    /// Several vector functions of the same arguments, as a tuple.
    VectorTuple(Vec<VectorCall>, Vec<Node>),
    Sum(Box<Node>),
    LogSumExp(Box<Node>),
    DotSelf(Box<Node>),
    Mean(Box<Node>),
    Density(DensityCall),
    User {
        function: u32,
        arguments: Vec<Node>,
        propto: bool,
    },
    Random(Generator, Vec<Node>),
    HigherOrder(Box<HigherOrder>),
    /// The log density so far.
    Target,
}

/// A vector function; wrapped for its `Debug`.
#[derive(Clone, Copy)]
pub struct VectorCall(pub &'static dyn VectorFunction);

impl std::fmt::Debug for VectorCall {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.0.name())
    }
}

#[derive(Clone, Debug)]
pub struct DensityCall {
    pub density: Density,
    /// Called as `_lupdf`, or by `~`: constant terms may be dropped.
    pub propto: bool,
    pub arguments: Vec<Node>,
}

/// A function that calls a function of the program.
#[derive(Clone, Debug)]
pub struct HigherOrder {
    pub kind: HigherOrderKind,
    pub function: u32,
    pub propto: bool,
    pub arguments: Vec<Node>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HigherOrderKind {
    ReduceSum,
    MapRect,
    Solve(Solver),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
}

impl Comparison {
    #[allow(clippy::float_cmp, reason = "the program asks for it")]
    #[inline]
    pub fn holds(self, a: f64, b: f64) -> bool {
        match self {
            Self::Equal => a == b,
            Self::NotEqual => a != b,
            Self::Less => a < b,
            Self::LessEqual => a <= b,
            Self::Greater => a > b,
            Self::GreaterEqual => a >= b,
        }
    }
}

#[derive(Clone, Debug)]
pub enum Index {
    All,
    Single(Node),
    Several(Node),
    From(Node),
    UpTo(Node),
    Between(Node, Node),
}

#[derive(Clone, Debug)]
pub struct Stmt {
    pub kind: StmtKind,
    pub span: Span,
    /// Whether all it does is to add to the log density.
    pub pure: bool,
}

#[derive(Clone, Debug)]
pub enum StmtKind {
    Declare {
        slot: Slot,
        declared: Declared,
        initial: Option<Node>,
        mutable: bool,
        id: u32,
    },
    Assign {
        slot: Slot,
        path: Vec<Step>,
        value: Node,
        mutable: bool,
    },
    AssignTuple {
        places: Vec<(Slot, Vec<Step>, bool)>,
        value: Node,
    },
    /// Adds to the log density.
    Target {
        value: Node,
        factor: Factor,
    },
    /// Adds to the log Jacobian, if it is asked for.
    Jacobian(Node),
    Truncate(Box<Truncation>),
    Call(Node),
    If {
        branches: Vec<(Node, Vec<Stmt>)>,
        otherwise: Vec<Stmt>,
    },
    For(Box<For>),
    While {
        condition: Node,
        body: Vec<Stmt>,
    },
    Break,
    Continue,
    Return(Option<Node>),
    Block(Vec<Stmt>),
    /// Statements that only add to the log density: compiled together where they fit. The number is that of a loop.
    Terms {
        body: Vec<Stmt>,
        id: u32,
        /// As of loops: containers that only one of the terms looks at.
        inlinable: Vec<(Slot, Node)>,
        filled: Vec<Filled>,
    },
    /// Declares or assigns a variable that only one loop looks at, or one term: not needed if that computes its
    /// elements itself.
    Inlinable {
        stmt: Box<Stmt>,
        slot: Slot,
        id: u32,
    },
    Message {
        kind: MessageKind,
        parts: Vec<Message>,
    },
}

/// What truncation adds: the variate must be inside, and the probability to be inside is divided by.
#[derive(Clone, Debug)]
pub struct Truncation {
    pub variate: Node,
    pub lower: Option<Node>,
    pub upper: Option<Node>,
    pub factor: Factor,
    /// `-log P(lower ≤ x ≤ upper)` for one variate.
    pub normaliser: Node,
}

/// Which part of the joint density a term belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Factor {
    Prior,
    Likelihood,
    /// Inside a function: likelihood if the variate does not depend on parameters.
    ByVariate,
}

#[derive(Clone, Debug)]
pub enum Step {
    Index(Vec<Index>),
    /// Counts from 0.
    Part(usize),
}

#[derive(Clone, Debug)]
pub struct For {
    pub slot: Slot,
    pub over: Over,
    pub body: Vec<Stmt>,
    /// Whether its iterations may run side by side.
    pub parallel: bool,
    /// Whether a loop inside of it may run its iterations side by side.
    pub parallel_inside: bool,
    /// Containers that only this loop looks at, element by element, with the expressions that they stand for.
    pub inlinable: Vec<(Slot, Node)>,
    /// Arrays that a loop before has filled and only this loop looks at.
    pub filled: Vec<Filled>,
    pub id: u32,
}

/// An array whose elements a nest of loops assigns: `for (n in 1:N) for (k in 1:K) z[n, k] = value;`.
#[derive(Clone, Debug)]
pub struct Filled {
    pub slot: Slot,
    /// The loop variables in the order of the indices, with their ranges.
    pub loops: Vec<(Slot, Node, Node)>,
    pub value: Node,
}

#[derive(Clone, Debug)]
pub enum Over {
    Range(Node, Node),
    Each(Node),
}

#[derive(Clone, Debug)]
pub enum Message {
    Text(String),
    Value(Node),
}
