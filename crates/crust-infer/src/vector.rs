//! Loops along the dimension of one chain, written so that they are vectorised.

#![allow(clippy::inline_always, reason = "only what is inlined is compiled for the instruction set of its caller")]

/// The number of partial sums, as many as [`dot`] has.
const WIDTH: usize = 4;

pub(crate) use crust_math::linalg::vectors::{add_scaled, dot};

/// A vector in an [`Arena`]: what is missing in its last line is 0, so that loops have no rest. Sums are the same to
/// the last bit as those of plain vectors.
pub(crate) type Line = [f64; WIDTH];

#[inline(always)]
fn total(sums: Line) -> f64 {
    (sums[0] + sums[1]) + (sums[2] + sums[3])
}

/// The same as [`dot`].
#[inline(always)]
pub(crate) fn dot_lines(x: &[Line], y: &[Line]) -> f64 {
    let mut sums = [0.0; WIDTH];
    for (x, y) in x.iter().zip(y) {
        for i in 0..WIDTH {
            sums[i] += x[i] * y[i];
        }
    }
    total(sums)
}

/// Σ xᵢ (yᵢ + zᵢ) and Σ wᵢ (yᵢ + zᵢ).
#[inline(always)]
pub(crate) fn dots_with_sum(x: &[Line], w: &[Line], y: &[Line], z: &[Line]) -> (f64, f64) {
    let mut sums = [[0.0; WIDTH]; 2];
    for (((x, w), y), z) in x.iter().zip(w).zip(y).zip(z) {
        for i in 0..WIDTH {
            let sum = y[i] + z[i];
            sums[0][i] += x[i] * sum;
            sums[1][i] += w[i] * sum;
        }
    }
    (total(sums[0]), total(sums[1]))
}

/// A vector in lines: what is missing in the last one is 0.
pub(crate) fn in_lines(x: &[f64]) -> Vec<Line> {
    let line = |part: &[f64]| std::array::from_fn(|i| part.get(i).copied().unwrap_or(0.0));
    x.chunks(WIDTH).map(line).collect()
}

/// Vectors of the same length, one after the other in memory, under numbers that can be exchanged instead of copying.
#[derive(Clone, Debug)]
pub(crate) struct Arena {
    dimension: usize,
    /// Of each vector.
    lines: usize,
    data: Vec<Line>,
}

/// The number of a vector in an [`Arena`].
pub(crate) type Slot = usize;

impl Arena {
    pub(crate) fn new(dimension: usize) -> Self {
        assert!(dimension > 0, "a chain has coordinates");
        Self { dimension, lines: dimension.div_ceil(WIDTH), data: vec![] }
    }

    /// One more vector, of zeros.
    pub(crate) fn reserve(&mut self) -> Slot {
        self.data.resize(self.data.len() + self.lines, [0.0; WIDTH]);
        self.data.len() / self.lines - 1
    }

    #[inline(always)]
    pub(crate) fn lines(&self, slot: Slot) -> &[Line] {
        &self.data[slot * self.lines..][..self.lines]
    }

    #[inline]
    pub(crate) fn get(&self, slot: Slot) -> &[f64] {
        &self.lines(slot).as_flattened()[..self.dimension]
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, slot: Slot) -> &mut [f64] {
        &mut self.data[slot * self.lines..][..self.lines].as_flattened_mut()[..self.dimension]
    }

    /// y ← y + a x.
    #[inline(always)]
    pub(crate) fn add_scaled(&mut self, y: Slot, a: f64, x: Slot) {
        let (y, x) = (y * self.lines, x * self.lines);
        for line in 0..self.lines {
            let (mut sum, more) = (self.data[y + line], self.data[x + line]);
            for i in 0..WIDTH {
                sum[i] += a * more[i];
            }
            self.data[y + line] = sum;
        }
    }

    /// p ← p + a g, and then q ← q + b w p, element by element.
    #[inline(always)]
    pub(crate) fn kick_and_drift(&mut self, [q, p, g]: [Slot; 3], a: f64, b: f64, w: &[Line]) {
        let [q, p, g] = [q, p, g].map(|slot| slot * self.lines);
        for (line, w) in w.iter().enumerate().take(self.lines) {
            let (mut at, mut momentum, force) = (self.data[q + line], self.data[p + line], self.data[g + line]);
            for i in 0..WIDTH {
                momentum[i] += a * force[i];
                at[i] += b * (momentum[i] * w[i]);
            }
            self.data[p + line] = momentum;
            self.data[q + line] = at;
        }
    }

    /// p ← p + a g, v ← w p element by element, and pᵀ v.
    #[inline(always)]
    pub(crate) fn kick_and_weigh(&mut self, [p, g, v]: [Slot; 3], a: f64, w: &[Line]) -> f64 {
        let [p, g, v] = [p, g, v].map(|slot| slot * self.lines);
        let mut sums = [0.0; WIDTH];
        for (line, w) in w.iter().enumerate().take(self.lines) {
            let (mut momentum, force) = (self.data[p + line], self.data[g + line]);
            let mut velocity = [0.0; WIDTH];
            for i in 0..WIDTH {
                momentum[i] += a * force[i];
                velocity[i] = momentum[i] * w[i];
                sums[i] += momentum[i] * velocity[i];
            }
            self.data[p + line] = momentum;
            self.data[v + line] = velocity;
        }
        total(sums)
    }

    #[inline(always)]
    pub(crate) fn copy(&mut self, from: Slot, to: Slot) {
        let (from, to) = (from * self.lines, to * self.lines);
        // One by one: vectors are short, and a call would take longer.
        for line in 0..self.lines {
            self.data[to + line] = self.data[from + line];
        }
    }

    /// Different vectors, all to be written.
    #[inline]
    pub(crate) fn several<const N: usize>(&mut self, slots: [Slot; N]) -> [&mut [f64]; N] {
        let dimension = self.dimension;
        let ranges = slots.map(|slot| slot * self.lines..(slot + 1) * self.lines);
        let several = self.data.get_disjoint_mut(ranges).expect("slots are different and reserved");
        several.map(|lines| &mut lines.as_flattened_mut()[..dimension])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_the_same_to_the_last_bit_with_and_without_zeros() {
        for n in 1..23_u32 {
            let x: Vec<f64> = (0..n).map(|i| (f64::from(i) + 0.3).sin()).collect();
            let y: Vec<f64> = (0..n).map(|i| (f64::from(i) * 1.7).cos()).collect();
            assert_eq!(dot_lines(&in_lines(&x), &in_lines(&y)).to_bits(), dot(&x, &y).to_bits());
            let mut arena = Arena::new(n as usize);
            let [a, b] = [&y, &x].map(|vector| {
                let slot = arena.reserve();
                arena.get_mut(slot).copy_from_slice(vector);
                slot
            });
            arena.add_scaled(a, 0.1, b);
            let mut plain = y.clone();
            add_scaled(&mut plain, 0.1, &x);
            assert_eq!(arena.get(a), plain);
        }
    }

    #[test]
    fn sums_are_complete_at_every_length() {
        for n in 0..13_u32 {
            let x: Vec<f64> = (0..n).map(|i| f64::from(i) - 3.0).collect();
            let y: Vec<f64> = (0..n).map(|i| f64::from(i * i)).collect();
            let plain = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
            // Small integers: all sums are exact.
            assert_eq!(dot(&x, &y).to_bits(), (plain(&x, &y) + 0.0).to_bits());
            let sum: Vec<f64> = x.iter().zip(&y).map(|(x, y)| x + y).collect();
            let (a, b) = dots_with_sum(&in_lines(&y), &in_lines(&x), &in_lines(&x), &in_lines(&y));
            assert_eq!((a, b), (plain(&y, &sum), plain(&x, &sum)));
            assert_eq!(dot_lines(&in_lines(&x), &in_lines(&y)).to_bits(), dot(&x, &y).to_bits());
        }
    }

    #[test]
    fn slots_do_not_overlap() {
        let mut arena = Arena::new(3);
        let slots: Vec<Slot> = (0..3).map(|_| arena.reserve()).collect();
        arena.get_mut(slots[1]).fill(1.0);
        arena.copy(slots[1], slots[2]);
        let [write, read] = arena.several([slots[0], slots[2]]);
        add_scaled(write, 2.0, read);
        let [write, read] = arena.several([slots[2], slots[0]]);
        add_scaled(write, 1.0, read);
        assert_eq!(arena.get(slots[0]), [2.0; 3]);
        assert_eq!(arena.get(slots[1]), [1.0; 3]);
        assert_eq!(arena.get(slots[2]), [3.0; 3]);
    }
}
