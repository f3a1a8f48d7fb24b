//! The typed program: names resolved, overloads chosen, every expression with its type. What the engine compiles.
//!
//! It is produced by [`crate::check`] from a syntax tree without errors. It says nothing that was not in the program:
//! no promotion is inserted (an `int` argument of a `real` function stays an `int` expression), no density is expanded.

use crate::ast::{BaseType, BinaryOp, BlockKind, MessageKind, SpecialType, UnaryOp};
use crate::span::Span;
use crate::types::{FunctionType, Type};

/// Index into [`Program::variables`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct VariableId(pub u32);

/// Index into [`Program::functions`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FunctionId(pub u32);

#[derive(Clone, Debug, Default)]
pub struct Program {
    /// Definitions; forward declarations have been matched with them.
    pub functions: Vec<Function>,
    /// Every variable of the program: of blocks, local ones, arguments, loop variables.
    pub variables: Vec<Variable>,
    /// In the order of [`BlockKind::ALL`]; `None` where the program has no such block.
    pub blocks: [Option<Block>; 6],
    /// Whether censored observations, `target += weibull_lccdf(y | …)`, count as prior: they weigh parameters, and are
    /// no density that data could be drawn from. Given that they are censored as they are, they stay as they are.
    pub censored_weigh: bool,
}

impl Program {
    pub fn block(&self, kind: BlockKind) -> &[Stmt] {
        self.blocks[kind as usize].as_ref().map_or(&[], |b| &b.statements)
    }

    pub fn variable(&self, id: VariableId) -> &Variable {
        &self.variables[id.0 as usize]
    }

    pub fn function(&self, id: FunctionId) -> &Function {
        &self.functions[id.0 as usize]
    }

    /// The variables declared at the top level of a block, in order.
    pub fn declared_in(&self, kind: BlockKind) -> impl Iterator<Item = VariableId> {
        self.block(kind).iter().filter_map(|s| match s.kind {
            StmtKind::Declare { variable, .. } => Some(variable),
            _ => None,
        })
    }
}

#[derive(Clone, Debug)]
pub struct Block {
    pub statements: Vec<Stmt>,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub struct Variable {
    pub name: String,
    pub ty: Type,
    /// Sizes and constraint; `None` for arguments and loop variables.
    pub declared: Option<SizedType>,
    pub origin: Origin,
    /// Whether its value can depend on parameters.
    pub level: Level,
    /// The name in its declaration.
    pub span: Span,
}

/// Where a variable comes from, which decides who may assign to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Declared at the top level of a block.
    Block(BlockKind),
    /// Declared inside a statement block, a function or the model block.
    Local,
    Argument,
    Loop,
}

/// Whether a value may depend on parameters, and so needs derivatives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    Data,
    Parameter,
}

#[derive(Clone, Debug)]
pub struct SizedType {
    pub kind: SizedKind,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub enum SizedKind {
    Plain { base: BaseType, constraint: Constraint, sizes: Vec<Expr> },
    Special { special: SpecialType, sizes: Vec<Expr> },
    Array { sizes: Vec<Expr>, element: Box<SizedType> },
    Tuple(Vec<SizedType>),
}

impl SizedType {
    pub fn ty(&self) -> Type {
        match &self.kind {
            SizedKind::Plain { base, .. } => base.ty(),
            SizedKind::Special { special, .. } => special.ty(),
            SizedKind::Array { sizes, element } => element.ty().in_array(sizes.len()),
            SizedKind::Tuple(parts) => Type::Tuple(parts.iter().map(Self::ty).collect()),
        }
    }

    /// All sizes in it.
    pub fn sizes(&self) -> Vec<&Expr> {
        match &self.kind {
            SizedKind::Plain { sizes, .. } | SizedKind::Special { sizes, .. } => sizes.iter().collect(),
            SizedKind::Array { sizes, element } => sizes.iter().chain(element.sizes()).collect(),
            SizedKind::Tuple(parts) => parts.iter().flat_map(Self::sizes).collect(),
        }
    }
}

#[derive(Clone, Debug, Default)]
pub struct Constraint {
    pub lower: Option<Expr>,
    pub upper: Option<Expr>,
    pub offset: Option<Expr>,
    pub multiplier: Option<Expr>,
}

impl Constraint {
    pub fn is_none(&self) -> bool {
        self.lower.is_none() && self.upper.is_none() && self.offset.is_none() && self.multiplier.is_none()
    }
}

#[derive(Clone, Debug)]
pub struct Function {
    pub name: String,
    pub ty: FunctionType,
    pub arguments: Vec<VariableId>,
    pub body: Vec<Stmt>,
    /// The whole definition.
    pub span: Span,
}

#[derive(Clone, Debug)]
pub struct Stmt {
    pub kind: StmtKind,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub enum StmtKind {
    Declare {
        variable: VariableId,
        initial: Option<Expr>,
    },
    /// `op` is `None` for `=`, the operator of a compound assignment otherwise.
    Assign {
        target: Place,
        op: Option<BinaryOp>,
        value: Expr,
    },
    Call(Call),
    TargetPlus(Expr),
    JacobianPlus(Expr),
    Tilde(Box<Tilde>),
    If {
        branches: Vec<(Expr, Stmt)>,
        otherwise: Option<Box<Stmt>>,
    },
    For {
        variable: VariableId,
        over: LoopOver,
        body: Box<Stmt>,
    },
    While {
        condition: Expr,
        body: Box<Stmt>,
    },
    Break,
    Continue,
    Return(Option<Expr>),
    Block(Vec<Stmt>),
    Profile {
        name: String,
        body: Vec<Stmt>,
    },
    Message {
        kind: MessageKind,
        parts: Vec<MessagePart>,
    },
    Skip,
}

/// `variate ~ density(arguments) T[lower, upper]`; `density` is the function `…_lpdf` or `…_lpmf`.
#[derive(Clone, Debug)]
pub struct Tilde {
    pub variate: Expr,
    pub density: Callee,
    pub arguments: Vec<Expr>,
    pub truncation: Option<Truncation>,
}

#[derive(Clone, Debug)]
pub struct Truncation {
    pub lower: Option<Expr>,
    pub upper: Option<Expr>,
}

#[derive(Clone, Debug)]
pub enum LoopOver {
    Range { lower: Expr, upper: Expr },
    Each(Expr),
}

#[derive(Clone, Debug)]
pub enum MessagePart {
    Text(String),
    Value(Expr),
}

/// What stands on the left of an assignment.
#[derive(Clone, Debug)]
pub enum Place {
    Variable { variable: VariableId, path: Vec<Access>, ty: Type, span: Span },
    Tuple(Vec<Place>),
}

/// One step from a variable to a part of it.
#[derive(Clone, Debug)]
pub enum Access {
    Index(Vec<Index>),
    /// Counts from one.
    Part(u32),
}

#[derive(Clone, Debug, PartialEq)]
pub struct Expr {
    pub kind: ExprKind,
    pub ty: Type,
    pub level: Level,
    pub span: Span,
}

#[derive(Clone, Debug, PartialEq)]
pub enum ExprKind {
    Int(i64),
    Real(f64),
    Imaginary(f64),
    Variable(VariableId),
    Call(Call),
    /// A function as an argument of a higher-order function; `unnormalised` where it is named as `_lupdf` or `_lupmf`.
    FunctionName {
        callee: Callee,
        unnormalised: bool,
    },
    Target,
    Index {
        base: Box<Expr>,
        indices: Vec<Index>,
    },
    /// Counts from one.
    TuplePart {
        base: Box<Expr>,
        part: u32,
    },
    Unary {
        op: UnaryOp,
        operand: Box<Expr>,
    },
    Transpose(Box<Expr>),
    Binary {
        op: BinaryOp,
        left: Box<Expr>,
        right: Box<Expr>,
    },
    Ternary {
        condition: Box<Expr>,
        yes: Box<Expr>,
        no: Box<Expr>,
    },
    Array(Vec<Expr>),
    /// A row vector, or a matrix where the type says so.
    RowVector(Vec<Expr>),
    Tuple(Vec<Expr>),
    /// An expression with a mistake in it, which has been reported.
    Error,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Index {
    All,
    /// An `int`, or an array of `int` for a multiple index.
    One(Expr),
    From(Expr),
    UpTo(Expr),
    Between(Expr, Expr),
}

impl Index {
    /// The expressions in it.
    pub fn parts(&self) -> impl Iterator<Item = &Expr> {
        let (first, second) = match self {
            Self::All => (None, None),
            Self::One(e) | Self::From(e) | Self::UpTo(e) => (Some(e), None),
            Self::Between(a, b) => (Some(a), Some(b)),
        };
        first.into_iter().chain(second)
    }

    /// Whether the index keeps its dimension.
    pub fn is_multiple(&self) -> bool {
        !matches!(self, Self::One(e) if matches!(e.ty, Type::Int | Type::Unknown))
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    pub callee: Callee,
    pub arguments: Vec<Expr>,
    /// Called as `_lupdf` or `_lupmf`: constant terms may be dropped. The callee is the `_lpdf` or `_lpmf`.
    pub unnormalised: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Callee {
    /// A function of Stan's library, by name.
    Library(String),
    User(FunctionId),
}
