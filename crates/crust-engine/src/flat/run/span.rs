//! The order of sums over iterations, which is the same for a lane alone and for one in a group.
//!
//! Iterations come in *blocks* of up to sixteen neighbours, and sums are taken first over a block, then over blocks. A
//! group computes a few blocks at a time, with eight lanes beside each other in a row. A lane alone computes eight
//! blocks at a time, which stand beside each other in the place of lanes: iteration `i` of block `b` is number `b` of
//! row `i`. So the same code adds up the same numbers in the same order, and the vector units are full in both cases.
//! What is left at the end, and loops of few iterations, are one block.

use super::super::{Flat, GROUP, LogOdds, Normal, Positions, Step, Strip, TILE};

/// Iterations of a block.
const LONGEST: usize = TILE / GROUP;

/// A block of so many iterations is a tile of its own, so that kernels may add up what is in it.
const WHOLE: usize = 8;

/// Blocks of neighbouring iterations, all of the same length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Span {
    /// The first iteration.
    pub start: usize,
    /// How many iterations a block has.
    pub rows: usize,
    pub blocks: usize,
}

impl Span {
    pub const ONE: Self = Self { start: 0, rows: 1, blocks: 1 };

    /// All iterations: eight blocks in each span but the last, which has one block of up to fifteen iterations.
    pub fn all(iterations: usize) -> impl Iterator<Item = Self> {
        let mut start = 0;
        std::iter::from_fn(move || {
            let left = iterations - start;
            // Short blocks in such numbers that a group has full tiles.
            let span = match (left / GROUP).min(LONGEST) {
                0 | 1 => Self { start, rows: left, blocks: 1 },
                2 | 3 => Self { start, rows: 2, blocks: GROUP },
                4..WHOLE => Self { start, rows: 4, blocks: GROUP },
                rows => Self { start, rows, blocks: GROUP },
            };
            start += span.iterations();
            (left > 0).then_some(span)
        })
    }

    #[inline(always)]
    pub fn iterations(self) -> usize {
        self.rows * self.blocks
    }

    /// Whether there is one block, whose iterations a lane alone has one after the other.
    #[inline(always)]
    pub fn is_flat(self) -> bool {
        self.blocks == 1
    }

    /// How far apart numbers of a block are for a lane alone.
    #[inline(always)]
    pub fn apart<const L: usize>(self) -> usize {
        if self.is_flat() { 1 } else { L }
    }

    /// Whether kernels may add up what is in a block.
    #[inline(always)]
    pub fn is_summed(self) -> bool {
        self.rows >= WHOLE
    }

    /// How many blocks a group computes at a time.
    #[inline(always)]
    pub fn blocks_of_tile(self) -> usize {
        if self.is_summed() { 1 } else { LONGEST / self.rows }
    }

    /// What a group computes at a time, from this block on.
    #[inline(always)]
    pub fn tile(self, first: usize) -> Self {
        let blocks = self.blocks_of_tile().min(self.blocks - first);
        Self { start: self.start + first * self.rows, rows: self.rows, blocks }
    }

    /// Which iteration, counted from the first, is at a position where blocks stand beside each other.
    fn iteration_at(self, position: usize) -> usize {
        position % self.blocks * self.rows + position / self.blocks
    }
}

/// Something for each iteration, in the order in which a lane alone takes them.
fn side_by_side<T: Copy>(iterations: usize, numbers: &[T]) -> Vec<T> {
    let mut all = Vec::with_capacity(numbers.len());
    for own in numbers.chunks_exact(iterations.max(1)) {
        for span in Span::all(iterations) {
            let own = &own[span.start..span.start + span.iterations()];
            all.extend((0..own.len()).map(|position| own[span.iteration_at(position)]));
        }
    }
    all
}

impl Flat {
    /// The strips with what iterations take from data in the order in which a lane alone takes them.
    pub(super) fn side_by_side(&self) -> Vec<Strip> {
        self.strips.iter().map(|strip| if strip.recurrent { strip.clone() } else { strip.side_by_side() }).collect()
    }
}

impl Strip {
    fn side_by_side(&self) -> Self {
        let numbers = |numbers: &[f64]| side_by_side(self.iterations, numbers);
        let steps = self.steps.iter().map(|step| match step {
            Step::Column { numbers: column, out } => Step::Column { numbers: numbers(column), out: *out },
            Step::Gather { from, out } => {
                let elements = side_by_side(self.iterations, &from.elements);
                Step::Gather { from: Positions { elements, changes: Vec::new(), ..*from }, out: *out }
            }
            Step::RowDot { rows, inner, operand, plus, out } => {
                Step::RowDot { rows: numbers(rows), inner: *inner, operand: *operand, plus: *plus, out: *out }
            }
            Step::AddNormal(normal) => {
                let column = normal.column.as_deref().map(numbers);
                Step::AddNormal(Normal { column, ..normal.clone() })
            }
            Step::AddLogOdds(odds) => Step::AddLogOdds(LogOdds { signs: numbers(&odds.signs), ..odds.clone() }),
            Step::Store { x, operand, elements } => {
                let elements = side_by_side(self.iterations, elements);
                Step::Store { x: *x, operand: *operand, elements }
            }
            // Sums of products look at iterations one after the other.
            step => step.clone(),
        });
        let (uniforms, folded, sources) = (self.uniforms.clone(), self.folded.clone(), self.sources.clone());
        Self { steps: steps.collect(), uniforms, folded, sources, ..*self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_iteration_is_in_one_block() {
        for n in 0..700 {
            let mut next = 0;
            for span in Span::all(n) {
                assert_eq!(span.start, next);
                assert!(span.blocks == GROUP || (span.is_flat() && span.start + span.rows == n));
                let mut inner = next;
                let mut first = 0;
                while first < span.blocks {
                    let tile = span.tile(first);
                    assert_eq!((tile.start, tile.rows), (inner, span.rows));
                    assert!(tile.iterations() * GROUP <= TILE && tile.blocks > 0);
                    inner += tile.iterations();
                    first += tile.blocks;
                }
                next += span.iterations();
                assert_eq!(inner, next);
            }
            assert_eq!(next, n);
        }
    }

    #[test]
    fn blocks_stand_beside_each_other() {
        let numbers: Vec<usize> = (0..2 * 45).collect();
        let moved = side_by_side(45, &numbers);
        assert_eq!(moved[..10], [0, 4, 8, 12, 16, 20, 24, 28, 1, 5]);
        assert_eq!(moved[30..47], [27, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 49]);
        let mut sorted = moved;
        sorted.sort_unstable();
        assert_eq!(sorted, numbers);
    }
}
