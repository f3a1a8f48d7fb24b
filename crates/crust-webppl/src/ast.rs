//! The tree of a program.

use std::rc::Rc;

pub type Name = Rc<str>;

#[derive(Debug)]
pub struct Expr {
    pub kind: ExprKind,
    /// Byte offset of the first token; of the operator for binary operators.
    pub at: u32,
}

#[derive(Debug)]
pub enum ExprKind {
    Number(f64),
    Text(Name),
    Bool(bool),
    Null,
    Regex {
        pattern: Name,
        flags: Name,
    },
    Name(Name),
    Array(Vec<Expr>),
    Object(Vec<(Name, Expr)>),
    Function(Rc<Function>),
    Unary(Unary, Box<Expr>),
    Binary(Binary, Box<Expr>, Box<Expr>),
    And(Box<Expr>, Box<Expr>),
    Or(Box<Expr>, Box<Expr>),
    Conditional(Box<[Expr; 3]>),
    Call(Box<Expr>, Vec<Expr>),
    Member(Box<Expr>, Name),
    Index(Box<Expr>, Box<Expr>),
    /// `globalStore[key] = value`
    SetStore(Box<Expr>, Box<Expr>),
}

#[derive(Debug)]
pub struct Function {
    pub name: Option<Name>,
    pub params: Vec<Name>,
    pub body: Vec<Statement>,
    pub at: u32,
}

#[derive(Debug)]
pub enum Statement {
    Empty,
    Expr(Expr),
    Var(Name, Expr),
    /// Several declarations of one `var`.
    Group(Vec<Statement>),
    Return(Option<Expr>),
    If(Expr, Box<Statement>, Option<Box<Statement>>),
    Block(Vec<Statement>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unary {
    Not,
    Negate,
    Plus,
    BitNot,
    TypeOf,
    Void,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Binary {
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
    Power,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    Equal,
    NotEqual,
    Identical,
    NotIdentical,
    BitAnd,
    BitOr,
    BitXor,
    ShiftLeft,
    ShiftRight,
    ShiftRightZero,
    In,
    InstanceOf,
}
