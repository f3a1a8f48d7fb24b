//! The tape: what was done, so that it can be gone through backwards.

use crust_math::functions::elementwise::{Binary, Unary};

use super::items::ItemsEntry;
use super::value::View;
use super::{Machine, solvers};
use crate::code::{Comparison, Factor};
use crate::kernels::arithmetic::{self, Arithmetic};
use crate::kernels::product::{self, Sizes};
use crate::kernels::{gather, reduce};
use crate::memory::{Block, Flags};

/// A list of numbers on the side.
#[derive(Clone, Copy, Debug)]
pub struct List {
    first: u32,
    len: u32,
}

/// An operation that was done. `y` is its result.
#[derive(Clone, Copy, Debug)]
pub enum Entry {
    Unary {
        function: &'static Unary,
        x: Block,
        y: Block,
    },
    Negate {
        x: Block,
        y: Block,
    },
    Arithmetic {
        operator: Arithmetic,
        a: Block,
        b: Block,
        y: Block,
    },
    Product {
        rows: u32,
        inner: u32,
        columns: u32,
        a: Block,
        b: Block,
        y: Block,
    },
    Sum {
        x: Block,
        y: Block,
    },
    /// `y` is `x`, broadcast.
    Spread {
        x: Block,
        y: Block,
    },
    /// `x̄ += ȳ·p`, where `p` is a saved derivative.
    Partial {
        x: Block,
        partial: Block,
        y: Block,
    },
    /// `x̄ += Jᵀ·ȳ`, where `J` are saved derivatives: of each element of `y` by all of `x`.
    Jacobian {
        x: Block,
        y: Block,
        partials: Block,
    },
    Gather {
        x: Block,
        index: List,
        y: Block,
    },
    GatherVarying {
        x: Block,
        index: Block,
        y: Block,
    },
    /// `v` was assigned to elements of `x`; the old values are in `saved`.
    Assign {
        x: Block,
        index: List,
        v: Block,
        saved: Option<Block>,
    },
    AssignVarying {
        x: Block,
        index: Block,
        v: Block,
        saved: Option<Block>,
    },
    Items(ItemsEntry),
    /// `x` was added to the log density, whose adjoint is known only now.
    Add {
        x: Block,
        factor: Factor,
    },
    /// `y` is the log density so far.
    TargetSoFar {
        y: Block,
    },
    /// A parameter was computed from its unconstrained numbers.
    Constrain(u32),
    /// A flat loop assigned to a variable.
    Flat(u32),
    /// A region that was run as a list computed variables.
    Region(u32),
    /// From here on backwards, tiles have this many iterations.
    Tile(u32),
    /// Notes for a list of operations: a function whose derivatives are on the tape as well, how a comparison came out,
    /// and that something was concluded from numbers that were true or not.
    Binary {
        function: &'static Binary,
        a: Block,
        b: Block,
        y: Block,
    },
    Compare {
        comparison: Comparison,
        a: Block,
        b: Block,
        outcome: bool,
        y: Block,
    },
    Logical {
        operands: [Block; 2],
        truths: [bool; 2],
        y: Block,
    },
}

#[derive(Debug, Default)]
pub struct Tape {
    entries: Vec<Entry>,
    indices: Vec<u32>,
    operands: Vec<View>,
}

#[derive(Clone, Copy, Debug)]
pub struct Mark {
    entries: usize,
    indices: usize,
    operands: usize,
}

impl Mark {
    pub const START: Self = Self { entries: 0, indices: 0, operands: 0 };
}

impl Tape {
    pub fn clear(&mut self) {
        self.entries.clear();
        self.indices.clear();
        self.operands.clear();
    }

    pub fn mark(&self) -> Mark {
        Mark { entries: self.entries.len(), indices: self.indices.len(), operands: self.operands.len() }
    }

    pub fn release(&mut self, mark: Mark) {
        self.entries.truncate(mark.entries);
        self.indices.truncate(mark.indices);
        self.operands.truncate(mark.operands);
    }

    /// What was done since `mark`.
    pub fn since(&self, mark: Mark) -> &[Entry] {
        &self.entries[mark.entries..]
    }

    pub fn picks(&self, list: List) -> &[u32] {
        &self.indices[list.first as usize..(list.first + list.len) as usize]
    }

    #[inline]
    pub fn push(&mut self, entry: Entry) {
        self.entries.push(entry);
    }

    pub fn list(&mut self, numbers: &[u32]) -> List {
        let list = List { first: crate::memory::cast(self.indices.len()), len: crate::memory::cast(numbers.len()) };
        self.indices.extend_from_slice(numbers);
        list
    }

    /// Keeps the arguments of a vector function; says where.
    pub fn operands(&mut self, views: &[View]) -> (u32, u32) {
        let first = crate::memory::cast(self.operands.len());
        self.operands.extend_from_slice(views);
        (first, crate::memory::cast(views.len()))
    }

    pub fn operand_list(&self, first: u32, count: u32) -> &[View] {
        &self.operands[first as usize..(first + count) as usize]
    }

    pub fn drop_operands(&mut self, first: u32) {
        self.operands.truncate(first as usize);
    }
}

impl Machine {
    /// Goes back over everything on the tape since `mark`, and adds up adjoints.
    pub(super) fn reverse(&mut self, mark: Mark) {
        while self.tape.entries.len() > mark.entries {
            let Some(entry) = self.tape.entries.pop() else { break };
            self.reverse_entry(entry);
        }
        self.tape.indices.truncate(mark.indices);
    }

    /// Goes back over everything since `mark`, but only puts back what assignments overwrote.
    pub(super) fn restore(&mut self, mark: Mark) {
        while self.tape.entries.len() > mark.entries {
            match self.tape.entries.pop() {
                Some(Entry::Assign { x, index, saved, .. }) => {
                    let list = &self.tape.indices[index.first as usize..(index.first + index.len) as usize];
                    let nobody = Block { flags: Flags::UNIFORM, ..x };
                    gather::unassign(&mut self.arena, self.width, x, list, nobody, saved);
                }
                Some(Entry::AssignVarying { x, index, v, saved }) => {
                    let nobody = Block { flags: v.flags.without(Flags::GRADIENT), ..v };
                    gather::unassign_varying(&mut self.arena, self.width, x, index, nobody, saved);
                }
                Some(Entry::Tile(tile)) => self.width.tile = tile as usize,
                _ => {}
            }
        }
        self.tape.indices.truncate(mark.indices);
    }

    fn reverse_entry(&mut self, entry: Entry) {
        let (arena, width) = (&mut self.arena, self.width);
        match entry {
            Entry::Unary { function, x, y } => {
                let (values, mut adjoints) = arena.both();
                let base = adjoints.base();
                let (low, adjoint) = adjoints.below(y, width);
                let range = x.range(width);
                let into = &mut low[range.start - base..range.end - base];
                (function.reverse)(&values[range], &values[y.range(width)], adjoint, into);
            }
            Entry::Negate { x, y } => arithmetic::pull_negated(arena, width, y, x),
            Entry::Arithmetic { operator, a, b, y } => arithmetic::reverse(arena, width, operator, [a, b], y),
            Entry::Product { rows, inner, columns, a, b, y } => {
                let sizes = Sizes { rows: rows as usize, inner: inner as usize, columns: columns as usize };
                product::reverse(arena, width, sizes, [a, b], y);
            }
            Entry::Sum { x, y } => reduce::sum_reverse(arena, width, x, y),
            Entry::Spread { x, y } => arithmetic::pull_same(arena, width, y, x),
            Entry::Partial { x, partial, y } => arithmetic::pull_partial(arena, width, y, x, partial),
            Entry::Jacobian { x, y, partials } => solvers::pull_jacobian(arena, width, x, y, partials),
            Entry::Gather { x, index, y } => {
                let list = &self.tape.indices[index.first as usize..(index.first + index.len) as usize];
                gather::reverse(arena, width, x, list, y);
            }
            Entry::GatherVarying { x, index, y } => gather::varying_reverse(arena, width, x, index, y),
            Entry::Assign { x, index, v, saved } => {
                let list = &self.tape.indices[index.first as usize..(index.first + index.len) as usize];
                gather::unassign(arena, width, x, list, v, saved);
            }
            Entry::AssignVarying { x, index, v, saved } => {
                gather::unassign_varying(arena, width, x, index, v, saved);
            }
            Entry::Items(entry) => self.reverse_items(entry),
            Entry::Add { x, factor } => self.seed_term(x, factor),
            Entry::TargetSoFar { y } => self.reverse_target_so_far(y),
            Entry::Constrain(index) => self.reverse_constrain(index),
            Entry::Flat(at) => self.reverse_flat(at),
            Entry::Region(at) => self.reverse_region(at),
            Entry::Tile(tile) => self.width.tile = tile as usize,
            Entry::Binary { .. } | Entry::Compare { .. } | Entry::Logical { .. } => {}
        }
    }
}
