//! Autocovariances at all lags by fast Fourier transforms of several series at once.

use crate::number::count;
use crust_math::lanes::{Kernel, dispatch};
use std::f64::consts::TAU;

/// Transforms of one size and what they need.
#[derive(Debug, Default)]
pub(super) struct Transform {
    size: usize,
    /// exp(−2πi j / size) for j below 3/4 of the size.
    roots: Vec<(f64, f64)>,
    /// Memory of [`Spectra`].
    values: Vec<f64>,
    squares: Vec<f64>,
    power: Vec<Complex<1>>,
    zeros: Vec<f64>,
}

/// Numbers of transforms side by side: real parts, then imaginary parts.
type Complex<const L: usize> = [[f64; L]; 2];

/// So many zeros in this memory, none of which lies in two lines of a cache.
#[inline(always)]
fn aligned<const L: usize>(memory: &mut Vec<f64>, size: usize) -> &mut [Complex<L>] {
    const LINE: usize = 64;
    let size = 2 * L * size;
    memory.clear();
    memory.resize(size + LINE / size_of::<f64>(), 0.0);
    let start = memory.as_ptr().align_offset(LINE) % (LINE / size_of::<f64>());
    memory[start..start + size].as_chunks_mut().0.as_chunks_mut().0
}

impl Transform {
    /// Wiener–Khinchin: the autocovariance is the inverse transform of the squared modulus of the transform. Zeros up
    /// to twice the length keep the circular products from wrapping round.
    ///
    /// The mean over series is that of their spectra. Two series are transformed at once, as real and imaginary part:
    /// the sum of their power spectra is the even part of that of the complex series, and the even part has the real
    /// part as its transform.
    pub(super) fn autocovariance(&mut self, centred: &[f64], length: usize, out: &mut Vec<f64>) {
        // two stages at least
        self.resize((2 * length).next_power_of_two().max(4));
        self.zeros.resize(length, 0.0);
        let series = centred.len() / length.max(1);
        if series <= 8 {
            self.add_spectra::<4>(centred);
        } else {
            self.add_spectra::<8>(centred);
        }
        let (roots, power) = (&self.roots, &mut self.power);
        dispatch(Backward { values: power, roots });
        let scale = 1.0 / (count(self.size) * count(length) * count(series));
        out.clear();
        out.extend(power[..length].iter().map(|z| z[0][0] * scale));
    }

    /// The power spectra of all series, so many pairs of them at once.
    fn add_spectra<const L: usize>(&mut self, centred: &[f64]) {
        let Self { zeros, roots, values, squares, power, .. } = self;
        dispatch(Spectra::<L> { centred, zeros, roots, values, squares, power });
    }

    fn resize(&mut self, size: usize) {
        if self.size == size {
            return;
        }
        let root = |j: usize| {
            let (sin, cos) = (TAU * count(j) / count(size)).sin_cos();
            (cos, -sin)
        };
        self.size = size;
        self.roots = (0..(3 * size).div_ceil(4)).map(root).collect();
        self.power = vec![[[0.0]; 2]; size];
    }
}

/// The sum of the power spectra of all series, in the order in which [`finish`] leaves them. There is one lane for each
/// pair of series: all lanes do the same, so that the vector units have no shuffling to do.
struct Spectra<'a, const L: usize> {
    centred: &'a [f64],
    /// A series of zeros.
    zeros: &'a [f64],
    roots: &'a [(f64, f64)],
    values: &'a mut Vec<f64>,
    /// Sums of the squares of the real parts, and of the imaginary ones.
    squares: &'a mut Vec<f64>,
    power: &'a mut [Complex<1>],
}

impl<const L: usize> Kernel for Spectra<'_, L> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let length = self.zeros.len();
        let size = self.power.len();
        let (values, squares) = (aligned::<L>(self.values, size), aligned::<L>(self.squares, size));
        for batch in self.centred.chunks(2 * L * length) {
            let mut series = [[self.zeros; L]; 2];
            for (i, values) in batch.chunks_exact(length).enumerate() {
                series[i % 2][i / 2] = values;
            }
            for (i, z) in values[..length].iter_mut().enumerate() {
                for lane in 0..L {
                    (z[0][lane], z[1][lane]) = (series[0][lane][i], series[1][lane][i]);
                }
            }
            values[length..].fill([[0.0; L]; 2]);
            stage(values, self.roots, 1);
            // a quarter finds room in the first cache
            for (values, squares) in values.chunks_exact_mut(size / 4).zip(squares.chunks_exact_mut(size / 4)) {
                finish(values, self.roots);
                let values = values.as_flattened().as_flattened();
                for (sum, x) in squares.as_flattened_mut().as_flattened_mut().iter_mut().zip(values) {
                    *sum += x * x;
                }
            }
        }
        for (power, lanes) in self.power.iter_mut().zip(squares) {
            *power = [[lanes.as_flattened().iter().sum()], [0.0]];
        }
    }
}

struct Backward<'a> {
    values: &'a mut [Complex<1>],
    roots: &'a [(f64, f64)],
}

impl Kernel for Backward<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        backward(self.values, self.roots);
    }
}

/// One stage of the Fourier transform: Cooley & Tukey's radix-4 butterflies, then turns. What is left to do is to
/// transform each quarter.
#[inline(always)]
fn stage<const L: usize>(values: &mut [Complex<L>], roots: &[(f64, f64)], stride: usize) {
    let (front, back) = values.split_at_mut(values.len() / 2);
    let (zeroth, first) = front.split_at_mut(front.len() / 2);
    let (second, third) = back.split_at_mut(back.len() / 2);
    for (k, (((a, b), c), d)) in zeroth.iter_mut().zip(first).zip(second).zip(third).enumerate() {
        let k = k * stride;
        let [u, v, w] = [roots[k], roots[2 * k], roots[3 * k]];
        each_lane(a, b, c, d, |z| {
            let [a, b, c, d] = butterfly(z);
            [a, turned(b, u), turned(c, v), turned(d, w)]
        });
    }
}

/// The Fourier transform of a quarter in place, with frequencies in another order. Stages of radix 4 and, if the size
/// is no power of 4, a last one of radix 2.
#[inline(always)]
fn finish<const L: usize>(values: &mut [Complex<L>], roots: &[(f64, f64)]) {
    let mut block = values.len();
    let mut stride = 4;
    while block >= 4 {
        for values in values.chunks_exact_mut(block) {
            stage(values, roots, stride);
        }
        block /= 4;
        stride *= 4;
    }
    if block == 2 {
        pairs(values);
    }
}

/// The transpose of a [`stage`] and [`finish`]: takes frequencies in the order in which these leave them. The matrix of
/// the Fourier transform is symmetric, so that this is again a Fourier transform.
#[inline(always)]
fn backward<const L: usize>(values: &mut [Complex<L>], roots: &[(f64, f64)]) {
    let size = values.len();
    let mut block = 4;
    if !size.trailing_zeros().is_multiple_of(2) {
        pairs(values);
        block = 8;
    }
    while block <= size {
        let stride = size / block;
        for values in values.chunks_exact_mut(block) {
            let (front, back) = values.split_at_mut(block / 2);
            let (zeroth, first) = front.split_at_mut(block / 4);
            let (second, third) = back.split_at_mut(block / 4);
            for (k, (((a, b), c), d)) in zeroth.iter_mut().zip(first).zip(second).zip(third).enumerate() {
                let k = k * stride;
                let [u, v, w] = [roots[k], roots[2 * k], roots[3 * k]];
                each_lane(a, b, c, d, |[a, b, c, d]| butterfly([a, turned(b, u), turned(c, v), turned(d, w)]));
            }
        }
        block *= 4;
    }
}

/// Real and imaginary part of one lane.
type Number = (f64, f64);

#[inline(always)]
fn each_lane<const L: usize>(
    a: &mut Complex<L>,
    b: &mut Complex<L>,
    c: &mut Complex<L>,
    d: &mut Complex<L>,
    f: impl Fn([Number; 4]) -> [Number; 4],
) {
    let (mut w, mut x, mut y, mut z) = (*a, *b, *c, *d);
    for i in 0..L {
        let turned = f([(w[0][i], w[1][i]), (x[0][i], x[1][i]), (y[0][i], y[1][i]), (z[0][i], z[1][i])]);
        (w[0][i], w[1][i]) = turned[0];
        (x[0][i], x[1][i]) = turned[1];
        (y[0][i], y[1][i]) = turned[2];
        (z[0][i], z[1][i]) = turned[3];
    }
    (*a, *b, *c, *d) = (w, x, y, z);
}

/// The transforms of two neighbours each.
#[inline(always)]
fn pairs<const L: usize>(values: &mut [Complex<L>]) {
    let (pairs, _) = values.as_chunks_mut::<2>();
    for [a, b] in pairs {
        for i in 0..L {
            (a[0][i], b[0][i]) = (a[0][i] + b[0][i], a[0][i] - b[0][i]);
            (a[1][i], b[1][i]) = (a[1][i] + b[1][i], a[1][i] - b[1][i]);
        }
    }
}

/// The transform of four numbers.
#[inline(always)]
fn butterfly([a, b, c, d]: [Number; 4]) -> [Number; 4] {
    let (p, q) = ((a.0 + c.0, a.1 + c.1), (b.0 + d.0, b.1 + d.1));
    let (r, s) = ((a.0 - c.0, a.1 - c.1), (b.0 - d.0, b.1 - d.1));
    [(p.0 + q.0, p.1 + q.1), (r.0 + s.1, r.1 - s.0), (p.0 - q.0, p.1 - q.1), (r.0 - s.1, r.1 + s.0)]
}

#[inline(always)]
fn turned(a: Number, (cos, sin): (f64, f64)) -> Number {
    (a.0 * cos - a.1 * sin, a.0 * sin + a.1 * cos)
}
