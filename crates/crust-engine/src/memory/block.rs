//! Blocks: where the numbers of a value are, and along which axes they vary.
//!
//! A value has `n` elements. Each element may vary over the iterations of the current tile of a loop (`T`), and over
//! the lanes (`L`); the numbers lie in the order `[element][iteration][lane]`, an axis that does not vary being left
//! out. So an element is always contiguous, a data-only value is a plain array, and a loop-invariant one is computed
//! once per tile.

/// How many iterations are in the current tile (1 outside of loops that are run by tiles), and how many lanes there
/// are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Width {
    pub tile: usize,
    pub lanes: usize,
}

/// Along which axes a block varies, and who else looks at its numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flags(u8);

impl Flags {
    pub const UNIFORM: Self = Self(0);
    /// Varies over the iterations of the tile.
    pub const TILE: Self = Self(1);
    /// Varies over the lanes.
    pub const LANES: Self = Self(2);
    /// Depends on parameters, so it has an adjoint.
    pub const GRADIENT: Self = Self(4);
    /// Is part of a variable: not to be written to.
    pub const SHARED: Self = Self(8);
    /// Is part of a variable that may be written to while this value is in use.
    pub const MUTABLE: Self = Self(16);

    const AXES: u8 = 7;

    #[inline]
    pub const fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    #[inline]
    #[must_use]
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    #[inline]
    #[must_use]
    pub const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// What a result that is computed from values with these flags has.
    #[inline]
    #[must_use]
    pub const fn axes(self) -> Self {
        Self(self.0 & Self::AXES)
    }
}

/// The numbers of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    pub at: u32,
    /// How many elements there are.
    pub n: u32,
    pub flags: Flags,
}

impl Block {
    #[inline]
    pub fn tile(self) -> bool {
        self.flags.has(Flags::TILE)
    }

    #[inline]
    pub fn lanes(self) -> bool {
        self.flags.has(Flags::LANES)
    }

    #[inline]
    pub fn gradient(self) -> bool {
        self.flags.has(Flags::GRADIENT)
    }

    /// Whether there is one number for each element.
    #[inline]
    pub fn uniform(self) -> bool {
        !self.tile() && !self.lanes()
    }

    #[inline]
    pub fn start(self) -> usize {
        self.at as usize
    }

    #[inline]
    pub fn count(self) -> usize {
        self.n as usize
    }

    /// Numbers per element.
    #[inline]
    pub fn item_len(self, width: Width) -> usize {
        (if self.tile() { width.tile } else { 1 }) * (if self.lanes() { width.lanes } else { 1 })
    }

    /// Numbers in all.
    #[inline]
    pub fn len(self, width: Width) -> usize {
        self.count() * self.item_len(width)
    }

    #[inline]
    pub fn range(self, width: Width) -> std::ops::Range<usize> {
        self.start()..self.start() + self.len(width)
    }

    /// The elements `from..from + n`.
    #[must_use]
    pub fn elements(self, from: usize, n: usize, width: Width) -> Self {
        debug_assert!(from + n <= self.count());
        Self { at: self.at + cast(from * self.item_len(width)), n: cast(n), flags: self.flags }
    }

    /// How far apart the numbers for neighbouring elements, iterations and lanes are; 0 along an axis that does not
    /// vary.
    #[inline]
    pub fn strides(self, width: Width) -> [usize; 3] {
        let lane = usize::from(self.lanes());
        let lanes = if self.lanes() { width.lanes } else { 1 };
        let element = if self.n == 1 { 0 } else { self.item_len(width) };
        [element, if self.tile() { lanes } else { 0 }, lane]
    }
}

/// Positions fit in 32 bits: the arena refuses to grow beyond.
#[inline]
#[allow(clippy::cast_possible_truncation, reason = "the arena is checked to stay below 2³² numbers")]
pub fn cast(n: usize) -> u32 {
    debug_assert!(u32::try_from(n).is_ok());
    n as u32
}
