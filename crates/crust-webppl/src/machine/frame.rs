//! Frames: calls that have not returned yet.

use std::cell::RefCell;
use std::rc::Rc;

use super::{Effect, Loop};
use crate::code::Closure;
use crate::value::{Text, Value, Wrapped};
use crate::world::World;

#[derive(Clone)]
pub struct Frame {
    pub parent: Option<Rc<Frame>>,
    pub body: Body,
    /// The path of call sites that led here, as a hash.
    pub addr: u64,
    pub depth: u32,
    pub pc: u32,
    /// Locals, then operands.
    pub stack: Vec<Value>,
}

#[derive(Clone)]
pub enum Body {
    Code(Rc<Closure>),
    Loop(Box<Loop>),
    /// Keeps what is returned in the store under this key.
    Mem(Text),
    /// Keeps what is returned in a cache under this key.
    Cache(Rc<Wrapped>, Text),
    /// The end of an execution.
    Root,
    /// An execution that begins with an effect.
    First(Rc<RefCell<Option<Effect>>>),
}

/// The address of a call: the caller's address and the site.
#[inline]
pub fn mix(addr: u64, site: u64) -> u64 {
    // two rounds of multiplication and shifting; order matters, so that paths do not commute
    let x = (addr.rotate_left(23) ^ site.wrapping_mul(0x9E37_79B9_7F4A_7C15)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let x = (x ^ (x >> 29)).wrapping_mul(0x94D0_49BB_1331_11EB);
    x ^ (x >> 32)
}

impl Frame {
    pub fn native(parent: Option<Rc<Self>>, body: Body, addr: u64) -> Self {
        let depth = parent.as_ref().map_or(0, |p| p.depth + 1);
        Self { parent, body, addr, depth, pc: 0, stack: Vec::new() }
    }

    /// A frame for a call of a closure; takes the arguments from the stack, from `start` on.
    #[inline]
    pub fn enter(
        world: &mut World,
        callee: &Rc<Closure>,
        args: &mut Vec<Value>,
        start: usize,
        addr: u64,
        depth: u32,
    ) -> Self {
        let proto = &callee.proto;
        let mut stack = world.spare.pop().unwrap_or_default();
        let all = proto.arguments.map(|slot| (slot, Value::array(args[start..].to_vec())));
        stack.extend(args.drain(start..).take(proto.params as usize));
        stack.resize(proto.locals as usize, Value::Undefined);
        if let Some((slot, all)) = all {
            stack[slot as usize] = all;
        }
        for cell in &proto.cells {
            stack[*cell as usize] = Value::Cell(Rc::new(RefCell::new(Value::Undefined)));
        }
        Self { parent: None, body: Body::Code(callee.clone()), addr, depth, pc: 0, stack }
    }
}

impl Drop for Frame {
    /// A long chain of frames is taken apart in a loop: dropping it by recursion would run out of stack.
    fn drop(&mut self) {
        let mut parent = self.parent.take();
        while let Some(frame) = parent {
            match Rc::try_unwrap(frame) {
                Ok(mut frame) => parent = frame.parent.take(),
                Err(_) => break,
            }
        }
    }
}
