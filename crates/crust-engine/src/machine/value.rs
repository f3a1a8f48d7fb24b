//! Values at run time.

use crust_math::functions::Shape;

use crate::memory::Block;

/// The value of an expression or variable.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value {
    /// A variable that has not been declared yet.
    Unset,
    Numbers(View),
    /// Parts in the machine's list of tuple parts.
    Tuple {
        first: u32,
        parts: u32,
    },
}

/// Numbers with their shape.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct View {
    pub shape: Shape,
    pub block: Block,
}

impl View {
    pub fn scalar(block: Block) -> Self {
        Self { shape: Shape::SCALAR, block }
    }
}
