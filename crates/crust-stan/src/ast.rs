//! The syntax tree: what the program says, before anybody asks whether it makes sense.
//!
//! Retired syntax never reaches the tree: the parser and [`crate::migrate`] turn it into today's forms and warn.
//! Comparing trees ignores spans (see [`Span`]).

use crate::span::Span;
use crate::types::Type;

/// A whole program: its blocks in their only legal order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Program {
    pub functions: Option<FunctionsBlock>,
    pub data: Option<Block>,
    pub transformed_data: Option<Block>,
    pub parameters: Option<Block>,
    pub transformed_parameters: Option<Block>,
    pub model: Option<Block>,
    pub generated_quantities: Option<Block>,
}

/// The blocks that hold statements, in the order in which they stand in a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum BlockKind {
    Data,
    TransformedData,
    Parameters,
    TransformedParameters,
    Model,
    GeneratedQuantities,
}

impl BlockKind {
    pub const ALL: [Self; 6] = [
        Self::Data,
        Self::TransformedData,
        Self::Parameters,
        Self::TransformedParameters,
        Self::Model,
        Self::GeneratedQuantities,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Self::Data => "data",
            Self::TransformedData => "transformed data",
            Self::Parameters => "parameters",
            Self::TransformedParameters => "transformed parameters",
            Self::Model => "model",
            Self::GeneratedQuantities => "generated quantities",
        }
    }
}

impl Program {
    pub fn block(&self, kind: BlockKind) -> Option<&Block> {
        match kind {
            BlockKind::Data => self.data.as_ref(),
            BlockKind::TransformedData => self.transformed_data.as_ref(),
            BlockKind::Parameters => self.parameters.as_ref(),
            BlockKind::TransformedParameters => self.transformed_parameters.as_ref(),
            BlockKind::Model => self.model.as_ref(),
            BlockKind::GeneratedQuantities => self.generated_quantities.as_ref(),
        }
    }

    pub fn block_mut(&mut self, kind: BlockKind) -> &mut Option<Block> {
        match kind {
            BlockKind::Data => &mut self.data,
            BlockKind::TransformedData => &mut self.transformed_data,
            BlockKind::Parameters => &mut self.parameters,
            BlockKind::TransformedParameters => &mut self.transformed_parameters,
            BlockKind::Model => &mut self.model,
            BlockKind::GeneratedQuantities => &mut self.generated_quantities,
        }
    }
}

/// A block of statements; `span` runs from the block's first word to its closing brace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    pub statements: Vec<Stmt>,
    pub span: Span,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionsBlock {
    pub functions: Vec<Function>,
    pub span: Span,
}

/// A definition, or (without a body) a forward declaration, of a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    /// `None` for `void`.
    pub returns: Option<Type>,
    pub name: Ident,
    pub arguments: Vec<Argument>,
    pub body: Option<Block>,
    /// The whole definition.
    pub span: Span,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Argument {
    pub data_only: bool,
    pub ty: Type,
    pub name: Ident,
    pub span: Span,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ident {
    pub name: String,
    pub span: Span,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stmt {
    pub kind: StmtKind,
    pub span: Span,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StmtKind {
    /// `real<lower=0> a, b = 2;`
    Declare(Declaration),
    /// `x[1] += 2;` The target is a variable with indices and tuple parts, or a tuple of such: `(a, b[1]) = f();`
    Assign {
        target: Expr,
        op: AssignOp,
        value: Expr,
    },
    /// A call of a function that returns nothing.
    Call(Call),
    /// `target += e;`
    TargetPlus(Expr),
    /// `jacobian += e;`
    JacobianPlus(Expr),
    Tilde(Tilde),
    /// A chain `if … else if … else …`, flat however long it is.
    If {
        branches: Vec<Branch>,
        otherwise: Option<Box<Stmt>>,
    },
    For {
        variable: Ident,
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
    /// A lone `;`.
    Skip,
    /// What the parser could not read; it has said so already.
    Error,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Branch {
    pub condition: Expr,
    pub body: Stmt,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LoopOver {
    /// `for (i in lower:upper)`
    Range { lower: Expr, upper: Expr },
    /// `for (x in container)`
    Each(Expr),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MessageKind {
    Print,
    Reject,
    FatalError,
}

impl MessageKind {
    pub fn word(self) -> &'static str {
        match self {
            Self::Print => "print",
            Self::Reject => "reject",
            Self::FatalError => "fatal_error",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MessagePart {
    /// The text between the quotation marks.
    Text(String),
    Value(Expr),
}

/// `variate ~ distribution(arguments) T[lower, upper];`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tilde {
    pub variate: Expr,
    pub distribution: Ident,
    pub arguments: Vec<Expr>,
    pub truncation: Option<Truncation>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Truncation {
    pub lower: Option<Expr>,
    pub upper: Option<Expr>,
    pub span: Span,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AssignOp {
    Set,
    /// `+=` and its like, with the operator.
    Compound(BinaryOp),
}

impl AssignOp {
    /// The operator as it stands in the program.
    pub fn symbol(self) -> String {
        match self {
            Self::Set => "=".into(),
            Self::Compound(op) => format!("{}=", op.symbol()),
        }
    }
}

/// One type and the variables declared with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Declaration {
    pub ty: DeclaredType,
    pub declarators: Vec<Declarator>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Declarator {
    pub name: Ident,
    pub initial: Option<Expr>,
}

/// A type with sizes and constraints, as in a declaration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeclaredType {
    pub kind: DeclaredKind,
    pub span: Span,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeclaredKind {
    /// A type that takes bounds or offset and multiplier: `int`, `real`, `complex` (no sizes), the vectors (one), the
    /// matrices (two). The parser lets a constraint stand on every one of them; the checker knows which may have it.
    Plain {
        base: BaseType,
        constraint: Constraint,
        sizes: Vec<Expr>,
    },
    /// A type whose name is its constraint.
    Special {
        special: SpecialType,
        sizes: Vec<Expr>,
    },
    Array {
        sizes: Vec<Expr>,
        element: Box<DeclaredType>,
    },
    Tuple(Vec<DeclaredType>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BaseType {
    Int,
    Real,
    Complex,
    Vector,
    RowVector,
    Matrix,
    ComplexVector,
    ComplexRowVector,
    ComplexMatrix,
}

impl BaseType {
    pub fn ty(self) -> Type {
        match self {
            Self::Int => Type::Int,
            Self::Real => Type::Real,
            Self::Complex => Type::Complex,
            Self::Vector => Type::Vector,
            Self::RowVector => Type::RowVector,
            Self::Matrix => Type::Matrix,
            Self::ComplexVector => Type::ComplexVector,
            Self::ComplexRowVector => Type::ComplexRowVector,
            Self::ComplexMatrix => Type::ComplexMatrix,
        }
    }

    /// How many sizes a declaration gives.
    pub fn size_count(self) -> usize {
        match self {
            Self::Int | Self::Real | Self::Complex => 0,
            Self::Vector | Self::RowVector | Self::ComplexVector | Self::ComplexRowVector => 1,
            Self::Matrix | Self::ComplexMatrix => 2,
        }
    }
}

/// `<lower=…, upper=…>` or `<offset=…, multiplier=…>`; all `None` where the declaration has none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Constraint {
    pub lower: Option<Expr>,
    pub upper: Option<Expr>,
    pub offset: Option<Expr>,
    pub multiplier: Option<Expr>,
    pub span: Span,
}

impl Constraint {
    pub fn is_none(&self) -> bool {
        self.lower.is_none() && self.upper.is_none() && self.offset.is_none() && self.multiplier.is_none()
    }

    /// The expressions with their words.
    pub fn parts(&self) -> impl Iterator<Item = (&'static str, &Expr)> {
        let all = [
            ("lower", &self.lower),
            ("upper", &self.upper),
            ("offset", &self.offset),
            ("multiplier", &self.multiplier),
        ];
        all.into_iter().filter_map(|(word, e)| e.as_ref().map(|e| (word, e)))
    }
}

/// Types whose name is their constraint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SpecialType {
    Simplex,
    UnitVector,
    Ordered,
    PositiveOrdered,
    SumToZeroVector,
    SumToZeroMatrix,
    CovMatrix,
    CorrMatrix,
    CholeskyFactorCov,
    CholeskyFactorCorr,
    ColumnStochasticMatrix,
    RowStochasticMatrix,
}

impl SpecialType {
    pub const ALL: [Self; 12] = [
        Self::Simplex,
        Self::UnitVector,
        Self::Ordered,
        Self::PositiveOrdered,
        Self::SumToZeroVector,
        Self::SumToZeroMatrix,
        Self::CovMatrix,
        Self::CorrMatrix,
        Self::CholeskyFactorCov,
        Self::CholeskyFactorCorr,
        Self::ColumnStochasticMatrix,
        Self::RowStochasticMatrix,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Self::Simplex => "simplex",
            Self::UnitVector => "unit_vector",
            Self::Ordered => "ordered",
            Self::PositiveOrdered => "positive_ordered",
            Self::SumToZeroVector => "sum_to_zero_vector",
            Self::SumToZeroMatrix => "sum_to_zero_matrix",
            Self::CovMatrix => "cov_matrix",
            Self::CorrMatrix => "corr_matrix",
            Self::CholeskyFactorCov => "cholesky_factor_cov",
            Self::CholeskyFactorCorr => "cholesky_factor_corr",
            Self::ColumnStochasticMatrix => "column_stochastic_matrix",
            Self::RowStochasticMatrix => "row_stochastic_matrix",
        }
    }

    /// `vector` or `matrix`: what a value of the type is in expressions.
    pub fn ty(self) -> Type {
        match self {
            Self::Simplex | Self::UnitVector | Self::Ordered | Self::PositiveOrdered | Self::SumToZeroVector => {
                Type::Vector
            }
            _ => Type::Matrix,
        }
    }

    /// The numbers of sizes that a declaration may give.
    pub fn size_counts(self) -> &'static [usize] {
        match self {
            Self::SumToZeroMatrix | Self::ColumnStochasticMatrix | Self::RowStochasticMatrix => &[2],
            Self::CholeskyFactorCov => &[1, 2],
            _ => &[1],
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expr {
    pub kind: ExprKind,
    pub span: Span,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExprKind {
    /// Numbers keep their spelling (`1_000`, `.5`, `1e-3`), so that printing gives them back.
    Int(String),
    Real(String),
    /// The spelling without the final `i`.
    Imaginary(String),
    Variable(String),
    Call(Call),
    /// `target()`
    Target,
    Index {
        base: Box<Expr>,
        indices: Vec<Index>,
    },
    /// `t.2`; counts from one.
    TuplePart {
        base: Box<Expr>,
        part: u32,
    },
    Unary {
        op: UnaryOp,
        operand: Box<Expr>,
    },
    /// `a'`
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
    /// `{a, b}`
    Array(Vec<Expr>),
    /// `[a, b]`: a row vector, or a matrix where the elements are row vectors.
    RowVector(Vec<Expr>),
    /// `(a, b)`
    Tuple(Vec<Expr>),
    Paren(Box<Expr>),
    /// What the parser could not read; it has said so already.
    Error,
}

/// `f(a, b)`, or with `bar` `f(a | b)`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    pub function: Ident,
    pub arguments: Vec<Expr>,
    pub bar: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Index {
    /// `[]`, `[:]`
    All(Span),
    /// `[i]` or `[array of int]`
    One(Expr),
    /// `[a:]`
    From(Expr),
    /// `[:b]`
    UpTo(Expr),
    /// `[a:b]`
    Between(Expr, Expr),
}

impl Index {
    pub fn span(&self) -> Span {
        match self {
            Self::All(span) => *span,
            Self::One(e) | Self::From(e) | Self::UpTo(e) => e.span,
            Self::Between(a, b) => a.span.to(b.span),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UnaryOp {
    Plus,
    Minus,
    Not,
}

impl UnaryOp {
    pub fn symbol(self) -> &'static str {
        match self {
            Self::Plus => "+",
            Self::Minus => "-",
            Self::Not => "!",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BinaryOp {
    Or,
    And,
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    Add,
    Subtract,
    Multiply,
    Divide,
    IntDivide,
    Modulo,
    LeftDivide,
    EltMultiply,
    EltDivide,
    Power,
    EltPower,
}

impl BinaryOp {
    pub fn symbol(self) -> &'static str {
        match self {
            Self::Or => "||",
            Self::And => "&&",
            Self::Equal => "==",
            Self::NotEqual => "!=",
            Self::Less => "<",
            Self::LessEqual => "<=",
            Self::Greater => ">",
            Self::GreaterEqual => ">=",
            Self::Add => "+",
            Self::Subtract => "-",
            Self::Multiply => "*",
            Self::Divide => "/",
            Self::IntDivide => "%/%",
            Self::Modulo => "%",
            Self::LeftDivide => "\\",
            Self::EltMultiply => ".*",
            Self::EltDivide => "./",
            Self::Power => "^",
            Self::EltPower => ".^",
        }
    }

    /// How tightly the operator binds: larger is tighter. The ternary operator is 0, prefix operators
    /// [`PREFIX_PRECEDENCE`], postfix ones tighter than all.
    pub fn precedence(self) -> u8 {
        match self {
            Self::Or => 1,
            Self::And => 2,
            Self::Equal | Self::NotEqual => 3,
            Self::Less | Self::LessEqual | Self::Greater | Self::GreaterEqual => 4,
            Self::Add | Self::Subtract => 5,
            Self::Multiply | Self::Divide | Self::Modulo | Self::EltMultiply | Self::EltDivide => 6,
            Self::IntDivide => 7,
            Self::LeftDivide => 8,
            Self::Power | Self::EltPower => 10,
        }
    }

    /// `a ^ b ^ c` is `a ^ (b ^ c)`; everything else groups to the left.
    pub fn groups_right(self) -> bool {
        matches!(self, Self::Power | Self::EltPower)
    }
}

/// `-a ^ b` is `-(a ^ b)`, `-a * b` is `(-a) * b`.
pub const PREFIX_PRECEDENCE: u8 = 9;
