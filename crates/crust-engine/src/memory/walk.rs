//! Walking over several blocks at once, broadcasting along the axes that a block does not vary over.

use super::block::{Block, Width};

/// A walk over the numbers of `K` blocks in the order `[element][iteration][lane]`, as rows: inside a row, each block
/// either advances by one or stays. Axes that can be joined are, so that rows are as long as possible.
#[derive(Clone, Copy, Debug)]
pub struct Walk<const K: usize> {
    /// How many rows there are, on two axes.
    pub outer: [usize; 2],
    /// How far each block advances along them.
    pub steps: [[usize; K]; 2],
    /// The length of a row.
    pub inner: usize,
    /// Whether a block advances inside a row.
    pub unit: [bool; K],
    pub start: [usize; K],
}

impl<const K: usize> Walk<K> {
    /// Over `n` elements, where a block with one element is broadcast, and the axes that any of the blocks varies over.
    pub fn new(n: usize, width: Width, blocks: [Block; K]) -> Self {
        let tile = if blocks.iter().any(|b| b.tile()) { width.tile } else { 1 };
        let lanes = if blocks.iter().any(|b| b.lanes()) { width.lanes } else { 1 };
        let strides = blocks.map(|b| b.strides(width));
        // From the innermost axis outwards: an axis is joined to the one inside it where every block allows that.
        let mut sizes = [1_usize; 3];
        let mut steps = [[0_usize; K]; 3];
        let mut axes = 0;
        for (axis, size) in [(2, lanes), (1, tile), (0, n)] {
            if size == 1 {
                continue;
            }
            let step = strides.map(|s| s[axis]);
            if axes > 0 && (0..K).all(|k| step[k] == steps[axes - 1][k] * sizes[axes - 1]) {
                sizes[axes - 1] *= size;
            } else {
                sizes[axes] = size;
                steps[axes] = step;
                axes += 1;
            }
        }
        if n == 0 {
            sizes = [0, 1, 1];
        }
        Self {
            outer: [sizes[2], sizes[1]],
            steps: [steps[2], steps[1]],
            inner: sizes[0],
            unit: steps[0].map(|s| s != 0),
            start: blocks.map(Block::start),
        }
    }

    /// Calls `f` with the positions of the blocks at the start of each row.
    #[inline(always)]
    #[allow(clippy::inline_always, reason = "rows are walked inside kernels, which must be compiled as one piece")]
    pub fn rows(&self, mut f: impl FnMut([usize; K])) {
        if self.inner == 0 {
            return;
        }
        let mut first = self.start;
        for _ in 0..self.outer[0] {
            let mut at = first;
            for _ in 0..self.outer[1] {
                f(at);
                for (at, step) in at.iter_mut().zip(&self.steps[1]) {
                    *at += step;
                }
            }
            for (first, step) in first.iter_mut().zip(&self.steps[0]) {
                *first += step;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::Flags;

    fn block(at: u32, n: u32, flags: Flags) -> Block {
        Block { at, n, flags }
    }

    /// All positions that a walk visits, number by number.
    fn visited<const K: usize>(walk: &Walk<K>) -> Vec<[usize; K]> {
        let mut all = Vec::new();
        walk.rows(|at| {
            for i in 0..walk.inner {
                all.push(std::array::from_fn(|k| at[k] + if walk.unit[k] { i } else { 0 }));
            }
        });
        all
    }

    #[test]
    fn every_combination_of_axes_is_walked_in_order() {
        let flags = [Flags::UNIFORM, Flags::TILE, Flags::LANES, Flags::TILE.with(Flags::LANES)];
        for (tile, lanes) in [(1, 1), (1, 4), (3, 1), (3, 4)] {
            let width = Width { tile, lanes };
            for (n, f, m, g) in
                flags.iter().flat_map(|&f| flags.iter().flat_map(move |&g| [(1, f, 1, g), (5, f, 1, g), (5, f, 5, g)]))
            {
                let (a, b) = (block(100, n, f), block(1000, m, g));
                let walk = Walk::new(5.min(n.max(m)) as usize, width, [a, b]);
                let (any_t, any_l) = (a.tile() || b.tile(), a.lanes() || b.lanes());
                let mut expected = Vec::new();
                for e in 0..n.max(m) as usize {
                    for t in 0..if any_t { tile } else { 1 } {
                        for l in 0..if any_l { lanes } else { 1 } {
                            expected.push([a, b].map(|x| {
                                let s = x.strides(width);
                                x.start() + e * s[0] + t * s[1] + l * s[2]
                            }));
                        }
                    }
                }
                assert_eq!(visited(&walk), expected, "{width:?} {a:?} {b:?}");
            }
        }
    }

    #[test]
    fn equal_blocks_are_one_row() {
        let both = Flags::TILE.with(Flags::LANES);
        let walk = Walk::new(7, Width { tile: 8, lanes: 16 }, [block(0, 7, both), block(5000, 7, both)]);
        assert_eq!((walk.outer, walk.inner), ([1, 1], 7 * 8 * 16));
    }

    #[test]
    fn nothing_is_walked_for_no_elements() {
        let walk = Walk::new(0, Width { tile: 2, lanes: 2 }, [block(0, 0, Flags::LANES)]);
        walk.rows(|_| panic!("there is nothing to walk over"));
    }
}
