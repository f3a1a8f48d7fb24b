//! Compiled programs: operations on a stack, with names resolved to slots.

use std::rc::Rc;

use crate::ast::{Binary, Name, Unary};
use crate::distributions::Family;
use crate::value::{Text, Value};

#[derive(Clone, Copy, Debug)]
pub enum Op {
    Const(u32),
    Undefined,
    Local(u32),
    SetLocal(u32),
    /// A local that is read before its definition, so it may be a cell or not.
    LooseLocal(u32),
    CellLocal(u32),
    SetCell(u32),
    Captured(u32),
    CapturedCell(u32),
    /// The function that is running.
    Myself,
    Global(u32),
    SetGlobal(u32),
    Store,
    SetStore,
    Pop,
    Jump(u32),
    JumpIfFalse(u32),
    /// `&&`: jumps with the value if it is falsy, drops it otherwise.
    JumpIfFalseKeep(u32),
    /// `||`
    JumpIfTrueKeep(u32),
    Array(u32),
    /// An object with the keys at this place in the table of shapes.
    Object(u32),
    Closure(u32),
    /// A distribution of one or two numbers, from its parameters in order.
    Dist(Family),
    Unary(Unary),
    Binary(Binary),
    /// The member whose name is a constant.
    Member(u32),
    Index,
    Call {
        args: u16,
        tail: bool,
        site: u32,
    },
    /// `object.name(args)`
    Method {
        name: u32,
        args: u16,
        site: u32,
    },
    Return,
}

/// Where a closure takes the value of a variable from.
#[derive(Clone, Copy, Debug)]
pub enum Source {
    Local(u32),
    Captured(u32),
    Myself,
}

/// A compiled function.
pub struct Proto {
    pub name: Option<Name>,
    pub ops: Vec<Op>,
    /// The source offset of each operation.
    pub at: Vec<u32>,
    /// Which source the offsets are in.
    pub unit: u32,
    pub consts: Vec<Value>,
    pub shapes: Vec<Vec<Text>>,
    pub protos: Vec<Rc<Proto>>,
    pub captures: Vec<Source>,
    pub params: u32,
    pub locals: u32,
    /// Slots of variables that functions capture before they are defined.
    pub cells: Vec<u32>,
    /// The slot for `arguments`.
    pub arguments: Option<u32>,
    /// Which operations compute the value of which variable: from, to, name.
    pub variables: Vec<(u32, u32, Name)>,
}

pub struct Closure {
    pub proto: Rc<Proto>,
    pub captured: Box<[Value]>,
}
