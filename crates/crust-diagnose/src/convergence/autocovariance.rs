//! Autocovariance of one chain: directly for the first lags, by a fast Fourier transform for all of them.

use super::moments::mean;
use crate::number::count;
use std::cell::RefCell;
use std::f64::consts::TAU;

/// Lags computed directly before a transform pays. A transform of 2n numbers costs about as much as 10 log₂ n lags.
const DIRECT_LAGS: usize = 64;

/// The autocovariance at every lag 0..n, with denominator n at each (the biased estimator, as Geyer 1992 and Stan use it).
pub fn autocovariance(values: &[f64]) -> Vec<f64> {
    let centred = centred(values);
    if values.len() <= DIRECT_LAGS {
        (0..values.len()).map(|lag| lagged_product(&centred, lag)).collect()
    } else {
        by_transform(&[centred])
    }
}

/// The mean over chains of their autocovariances, each lag computed when it is asked for: well-mixed chains need only a few.
pub(super) struct MeanAutocovariance {
    centred: Vec<Vec<f64>>,
    /// All lags, once one beyond the first few was asked for.
    all: Vec<f64>,
}

impl MeanAutocovariance {
    pub(super) fn new<'a>(chains: impl Iterator<Item = &'a [f64]>) -> Self {
        Self { centred: chains.map(centred).collect(), all: Vec::new() }
    }

    pub(super) fn at(&mut self, lag: usize) -> f64 {
        let chains = count(self.centred.len());
        if lag < DIRECT_LAGS {
            return self.centred.iter().map(|chain| lagged_product(chain, lag)).sum::<f64>() / chains;
        }
        if self.all.is_empty() {
            self.all = by_transform(&self.centred);
        }
        self.all[lag]
    }
}

fn centred(values: &[f64]) -> Vec<f64> {
    let centre = mean(values);
    values.iter().map(|x| x - centre).collect()
}

/// Σ `x_i` `x_i₊lag` / n, with running sums that do not wait for each other.
fn lagged_product(centred: &[f64], lag: usize) -> f64 {
    let (a, b) = (&centred[..centred.len() - lag], &centred[lag..]);
    let mut sums = [0.0; 8];
    let (a, a_rest) = a.as_chunks::<8>();
    let (b, b_rest) = b.as_chunks::<8>();
    for (a, b) in a.iter().zip(b) {
        for i in 0..8 {
            sums[i] += a[i] * b[i];
        }
    }
    let rest: f64 = a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum();
    (sums.iter().sum::<f64>() + rest) / count(centred.len())
}

thread_local! {
    /// The roots of unity for the size that was last asked for: all quantities of a run have the same.
    static ROOTS: RefCell<Vec<Complex>> = const { RefCell::new(Vec::new()) };
}

/// Wiener–Khinchin: the autocovariance is the inverse transform of the squared modulus of the transform. Zeros up to twice the
/// length keep the circular products from wrapping round.
///
/// The mean over chains is that of their spectra. Two chains are transformed at once, as real and imaginary part: the sum of their power
/// spectra is the even part of that of the complex series.
fn by_transform(chains: &[Vec<f64>]) -> Vec<f64> {
    let length = chains.iter().map(Vec::len).min().unwrap_or(0);
    let size = (2 * length).next_power_of_two();
    ROOTS.with_borrow_mut(|roots| {
        if roots.len() != size / 2 {
            *roots = roots_of_unity(size);
        }
        let mut power = vec![(0.0, 0.0); size];
        let mut spectrum = vec![(0.0, 0.0); size];
        for pair in chains.chunks(2) {
            spectrum.fill((0.0, 0.0));
            for (i, z) in spectrum[..length].iter_mut().enumerate() {
                *z = (pair[0][i], pair.get(1).map_or(0.0, |second| second[i]));
            }
            transform(&mut spectrum, roots);
            power.iter_mut().zip(&spectrum).for_each(|(sum, z)| sum.0 += z.0 * z.0 + z.1 * z.1);
        }
        for j in 1..size / 2 {
            let even = f64::midpoint(power[j].0, power[size - j].0);
            (power[j].0, power[size - j].0) = (even, even);
        }
        // the power spectrum is real and even, so that the forward transform is the inverse one up to 1 / size
        transform(&mut power, roots);
        let scale = 1.0 / (count(size) * count(length) * count(chains.len()));
        power[..length].iter().map(|z| z.0 * scale).collect()
    })
}

/// Real and imaginary part.
type Complex = (f64, f64);

/// exp(−2πi j / size) for j below size / 2.
fn roots_of_unity(size: usize) -> Vec<Complex> {
    (0..size / 2)
        .map(|j| {
            let (sin, cos) = (TAU * count(j) / count(size)).sin_cos();
            (cos, -sin)
        })
        .collect()
}

/// The discrete Fourier transform in place, by Cooley & Tukey's radix-2 butterflies. The size is a power of two, at least 2.
fn transform(values: &mut [Complex], roots: &[Complex]) {
    let size = values.len();
    let shift = usize::BITS - size.trailing_zeros();
    for i in 0..size {
        let j = i.reverse_bits() >> shift;
        if i < j {
            values.swap(i, j);
        }
    }
    let mut half = 1;
    while half < size {
        let stride = size / (2 * half);
        for block in values.chunks_exact_mut(2 * half) {
            let (even, odd) = block.split_at_mut(half);
            for ((a, b), w) in even.iter_mut().zip(odd).zip(roots.iter().step_by(stride)) {
                let turned = (b.0 * w.0 - b.1 * w.1, b.0 * w.1 + b.1 * w.0);
                *b = (a.0 - turned.0, a.1 - turned.1);
                *a = (a.0 + turned.0, a.1 + turned.1);
            }
        }
        half *= 2;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crust_math::random::{Purpose, StreamKey};

    fn noise(n: usize) -> Vec<f64> {
        let mut stream = StreamKey::new(7, Purpose(1)).stream();
        (0..n).map(|_| 3.0 + stream.standard_normal()).collect()
    }

    #[test]
    fn the_transform_gives_the_direct_sums_at_any_length() {
        for n in [1, 2, 3, 5, 64, 65, 100, 127, 128, 129, 1000] {
            let centred = centred(&noise(n));
            let fast = by_transform(std::slice::from_ref(&centred));
            assert_eq!(fast.len(), n);
            for (lag, fast) in fast.iter().enumerate() {
                let direct = lagged_product(&centred, lag);
                assert!((fast - direct).abs() < 1e-14, "n = {n}, lag {lag}: {fast} and {direct}");
            }
        }
    }

    #[test]
    fn known_autocovariances() {
        // (1, 2, 3, 4) centred is (−3, −1, 1, 3) / 2
        let expected = [5.0, 1.25, -1.5, -2.25].map(|x: f64| x / 4.0);
        for (a, b) in autocovariance(&[1.0, 2.0, 3.0, 4.0]).iter().zip(expected) {
            assert!((a - b).abs() < 1e-15, "{a} {b}");
        }
        assert!(autocovariance(&[]).is_empty());
        // the autocovariances of a centred series at all lags, both signs, sum to 0
        let all = autocovariance(&noise(777));
        assert!((all[0] + 2.0 * all[1..].iter().sum::<f64>()).abs() < 1e-12);
    }

    #[test]
    fn lags_on_demand_are_the_mean_over_chains() {
        let chains = [noise(300), noise(301)[1..].to_vec()];
        let full: Vec<Vec<f64>> = chains.iter().map(|chain| autocovariance(chain)).collect();
        let mut lazy = MeanAutocovariance::new(chains.iter().map(Vec::as_slice));
        for lag in [0, 1, DIRECT_LAGS - 1, DIRECT_LAGS, 299] {
            let expected = f64::midpoint(full[0][lag], full[1][lag]);
            assert!((lazy.at(lag) - expected).abs() < 1e-14, "lag {lag}");
        }
    }
}
