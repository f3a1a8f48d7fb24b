//! Loops along the dimension of one chain, written so that they are vectorised.

/// The number of partial sums: with a fixed order of additions the result is the same on every machine.
const WIDTH: usize = 4;

/// Σ f(xᵢ, yᵢ).
#[inline]
fn sum2(x: &[f64], y: &[f64], f: impl Fn(f64, f64) -> f64) -> f64 {
    debug_assert_eq!(x.len(), y.len(), "vectors of the same dimension");
    let mut sums = [0.0; WIDTH];
    let (x, x_rest) = x.as_chunks::<WIDTH>();
    let (y, y_rest) = y.as_chunks::<WIDTH>();
    for (x, y) in x.iter().zip(y) {
        for i in 0..WIDTH {
            sums[i] += f(x[i], y[i]);
        }
    }
    for ((sum, &x), &y) in sums.iter_mut().zip(x_rest).zip(y_rest) {
        *sum += f(x, y);
    }
    (sums[0] + sums[1]) + (sums[2] + sums[3])
}

/// Σ xᵢ yᵢ.
#[inline]
pub(crate) fn dot(x: &[f64], y: &[f64]) -> f64 {
    sum2(x, y, |x, y| x * y)
}

/// Σ xᵢ (yᵢ + zᵢ) and Σ wᵢ (yᵢ + zᵢ).
#[inline]
pub(crate) fn dots_with_sum(x: &[f64], w: &[f64], y: &[f64], z: &[f64]) -> (f64, f64) {
    let mut sums = [[0.0; WIDTH]; 2];
    let (x, x_rest) = x.as_chunks::<WIDTH>();
    let (w, w_rest) = w.as_chunks::<WIDTH>();
    let (y, y_rest) = y.as_chunks::<WIDTH>();
    let (z, z_rest) = z.as_chunks::<WIDTH>();
    for (((x, w), y), z) in x.iter().zip(w).zip(y).zip(z) {
        for i in 0..WIDTH {
            let sum = y[i] + z[i];
            sums[0][i] += x[i] * sum;
            sums[1][i] += w[i] * sum;
        }
    }
    for (i, (((x, w), y), z)) in x_rest.iter().zip(w_rest).zip(y_rest).zip(z_rest).enumerate() {
        let sum = y + z;
        sums[0][i] += x * sum;
        sums[1][i] += w * sum;
    }
    let [a, b] = sums.map(|s| (s[0] + s[1]) + (s[2] + s[3]));
    (a, b)
}

/// y ← y + a x.
#[inline]
pub(crate) fn add_scaled(y: &mut [f64], a: f64, x: &[f64]) {
    for (y, &x) in y.iter_mut().zip(x) {
        *y += a * x;
    }
}

/// Vectors of the same length, one after the other in memory, under numbers that can be exchanged instead of copying.
#[derive(Clone, Debug)]
pub(crate) struct Arena {
    dimension: usize,
    data: Vec<f64>,
}

/// The number of a vector in an [`Arena`].
pub(crate) type Slot = usize;

impl Arena {
    pub(crate) fn new(dimension: usize) -> Self {
        assert!(dimension > 0, "a chain has coordinates");
        Self { dimension, data: vec![] }
    }

    /// One more vector, of zeros.
    pub(crate) fn reserve(&mut self) -> Slot {
        self.data.resize(self.data.len() + self.dimension, 0.0);
        self.data.len() / self.dimension - 1
    }

    #[inline]
    pub(crate) fn get(&self, slot: Slot) -> &[f64] {
        &self.data[slot * self.dimension..][..self.dimension]
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, slot: Slot) -> &mut [f64] {
        &mut self.data[slot * self.dimension..][..self.dimension]
    }

    #[inline]
    pub(crate) fn copy(&mut self, from: Slot, to: Slot) {
        let start = from * self.dimension;
        self.data.copy_within(start..start + self.dimension, to * self.dimension);
    }

    /// Different vectors, all to be written.
    #[inline]
    pub(crate) fn several<const N: usize>(&mut self, slots: [Slot; N]) -> [&mut [f64]; N] {
        let ranges = slots.map(|slot| slot * self.dimension..(slot + 1) * self.dimension);
        self.data.get_disjoint_mut(ranges).expect("slots are different and reserved")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_complete_at_every_length() {
        for n in 0..13_u32 {
            let x: Vec<f64> = (0..n).map(|i| f64::from(i) - 3.0).collect();
            let y: Vec<f64> = (0..n).map(|i| f64::from(i * i)).collect();
            let plain = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
            // Small integers: all sums are exact.
            assert_eq!(dot(&x, &y).to_bits(), (plain(&x, &y) + 0.0).to_bits());
            let sum: Vec<f64> = x.iter().zip(&y).map(|(x, y)| x + y).collect();
            let (a, b) = dots_with_sum(&y, &x, &x, &y);
            assert_eq!((a, b), (plain(&y, &sum), plain(&x, &sum)));
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
