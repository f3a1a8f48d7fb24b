//! The arena: constants at the bottom, then values in the order in which they are computed, their adjoints beside them.
//!
//! A result always lies above its operands, so that `split_at_mut` gives a kernel both without copying. Memory is taken
//! once and used again for every evaluation.

use super::aligned::{Aligned, LINE};
use super::block::{Block, Flags, Width, cast};

/// The arena is too small: it must be enlarged and the evaluation begun again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Full;

#[derive(Debug, Default)]
pub struct Arena {
    values: Aligned,
    /// Of the values from `base` on.
    adjoints: Aligned,
    /// Where constants end.
    base: usize,
    top: usize,
    highest: usize,
    /// The same since the arena was last cleared.
    reached: usize,
    /// How often it was cleared.
    layout: u64,
}

impl Arena {
    /// Adds constants. Nothing else may be in the arena.
    pub fn constant(&mut self, n: usize, numbers: impl Iterator<Item = f64>) -> Block {
        assert_eq!(self.top, self.base, "constants come first");
        let at = self.base;
        let end = (at + n).next_multiple_of(LINE);
        self.values.renew(at, end + self.adjoints.len());
        let mut places = self.values[at..end].iter_mut();
        let mut given = 0;
        for (x, place) in numbers.zip(places.by_ref()) {
            *place = x;
            given += 1;
        }
        assert_eq!(given, n);
        places.for_each(|place| *place = 0.0);
        (self.base, self.top) = (end, end);
        Block { at: cast(at), n: cast(n), flags: Flags::SHARED }
    }

    /// Room for this many numbers beyond the constants. What is there stays.
    pub fn reserve(&mut self, numbers: usize) {
        self.values.renew(self.top, self.base + numbers);
        self.adjoints.renew(self.top - self.base, numbers);
    }

    /// An arena with the same constants, and room for as many numbers beyond them.
    pub fn with_constants(&self, numbers: usize) -> Self {
        let mut copy = Self { base: self.base, top: self.base, ..Self::default() };
        copy.values.resize(self.base + numbers);
        copy.values[..self.base].copy_from_slice(&self.values[..self.base]);
        copy.adjoints.resize(numbers);
        copy
    }

    /// How many values there is room for, constants included.
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Room beyond the constants.
    pub fn capacity(&self) -> usize {
        self.adjoints.len()
    }

    pub fn clear(&mut self) {
        self.top = self.base;
        self.reached = 0;
        self.layout += 1;
    }

    /// Blocks stay where they are as long as this number is the same.
    pub fn layout(&self) -> u64 {
        self.layout
    }

    pub fn top(&self) -> usize {
        self.top
    }

    /// The most room that was ever needed beyond the constants.
    pub fn highest(&self) -> usize {
        self.highest
    }

    /// The most room that was needed beyond the constants since the arena was last cleared.
    pub fn reached(&self) -> usize {
        self.reached
    }

    /// Gives back everything above `top`.
    pub fn release(&mut self, top: usize) {
        debug_assert!(top <= self.top);
        self.top = top;
    }

    /// A block with undefined values and adjoint 0. One that fills a cache line or more begins on one.
    #[inline]
    pub fn allocate(&mut self, n: usize, flags: Flags, width: Width) -> Result<Block, Full> {
        let mut block = Block { at: 0, n: cast(n), flags: flags.axes() };
        let len = block.len(width);
        let at = if len >= LINE { self.top.next_multiple_of(LINE) } else { self.top };
        let end = at + len;
        if end > self.values.len() {
            self.highest = self.highest.max(end - self.base);
            return Err(Full);
        }
        self.top = end;
        self.reached = self.reached.max(end - self.base);
        self.highest = self.highest.max(self.reached);
        block.at = cast(at);
        if block.gradient() {
            self.adjoints[at - self.base..end - self.base].fill(0.0);
        }
        Ok(block)
    }

    #[inline]
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    #[inline]
    pub fn values_mut(&mut self) -> &mut [f64] {
        &mut self.values
    }

    #[inline]
    pub fn of(&self, block: Block, width: Width) -> &[f64] {
        &self.values[block.range(width)]
    }

    #[inline]
    pub fn of_mut(&mut self, block: Block, width: Width) -> &mut [f64] {
        &mut self.values[block.range(width)]
    }

    /// The first number of a block, which is all there is of a uniform scalar.
    #[inline]
    pub fn first(&self, block: Block) -> f64 {
        self.values[block.start()]
    }

    /// Whether a block is a constant.
    pub fn is_constant(&self, block: Block) -> bool {
        block.start() < self.base
    }

    /// Everything below a block, and the block.
    #[inline]
    pub fn below(&mut self, block: Block, width: Width) -> (&[f64], &mut [f64]) {
        let (low, high) = self.values.split_at_mut(block.start());
        (low, &mut high[..block.len(width)])
    }

    /// All values, and all adjoints: the adjoint of the value at `i` is at `i - base`.
    #[inline]
    pub fn both(&mut self) -> (&mut [f64], Adjoints<'_>) {
        (&mut self.values, Adjoints { numbers: &mut self.adjoints, base: self.base })
    }

    pub fn adjoint(&self, block: Block, width: Width) -> &[f64] {
        let range = block.range(width);
        &self.adjoints[range.start - self.base..range.end - self.base]
    }

    pub fn adjoint_mut(&mut self, block: Block, width: Width) -> &mut [f64] {
        let range = block.range(width);
        &mut self.adjoints[range.start - self.base..range.end - self.base]
    }
}

/// The adjoints of values.
pub struct Adjoints<'a> {
    numbers: &'a mut [f64],
    base: usize,
}

impl Adjoints<'_> {
    /// Everything below the adjoint of a block, and that adjoint. Positions in the first are those of values minus
    /// [`Adjoints::base`].
    #[inline]
    pub fn below(&mut self, block: Block, width: Width) -> (&mut [f64], &mut [f64]) {
        let (low, high) = self.numbers.split_at_mut(block.start() - self.base);
        (low, &mut high[..block.len(width)])
    }

    #[inline]
    pub fn of(&mut self, block: Block, width: Width) -> &mut [f64] {
        let range = block.range(width);
        &mut self.numbers[range.start - self.base..range.end - self.base]
    }

    /// All of them.
    #[inline]
    pub fn all(&mut self) -> &mut [f64] {
        self.numbers
    }

    #[inline]
    pub fn base(&self) -> usize {
        self.base
    }
}
