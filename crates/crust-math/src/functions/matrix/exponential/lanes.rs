//! The exponential of a small matrix for eight items at once: the polynomial of the highest degree for all of them, and
//! as many squarings as each one needs; a single item goes through the same operations.

#![allow(clippy::inline_always, reason = "only what is inlined is compiled for the instruction set of its caller")]
#![allow(clippy::needless_range_loop, reason = "loops over lanes, by index, become vector instructions")]

use super::{EXPONENTIAL, NORMS};
use crate::lanes::{Kernel, dispatch};
use crate::linalg::lanes::{add_product, times};

/// Of larger matrices products are better done by blocks.
const WIDEST: usize = 12;

/// How many rows are needed for matrices of `len` elements, with tangents, besides the matrix itself.
pub fn scratch(n: usize) -> Option<usize> {
    (n <= WIDEST).then_some((EXPONENTIAL + 1) * 2 * n * n)
}

/// Overwrites a matrix, or a dual one, by its exponential. Says `false` where a number is not finite.
pub fn exponential<const W: usize>(a: &mut [[f64; W]], n: usize, memory: &mut [[f64; W]]) -> bool {
    dispatch(Exponential { a, n, memory })
}

struct Exponential<'a, const W: usize> {
    a: &'a mut [[f64; W]],
    n: usize,
    memory: &'a mut [[f64; W]],
}

impl<const W: usize> Kernel for Exponential<'_, W> {
    type Output = bool;

    #[inline(always)]
    fn run(self) -> bool {
        let Self { a, n, memory } = self;
        let len = a.len();
        let (a2, rest) = memory.split_at_mut(len);
        let (a3, rest) = rest.split_at_mut(len);
        let (a4, rest) = rest.split_at_mut(len);
        let (sum, rest) = rest.split_at_mut(len);
        let spare = &mut rest[..len];
        let Some((scale, squarings)) = scales(&a[..n * n], n) else { return false };
        for x in &mut *a {
            *x = times(*x, scale);
        }
        product(a2, a, a, n);
        product(a3, a2, a, n);
        product(a4, a2, a2, n);
        let blocks = NORMS.len();
        for block in (0..blocks).rev() {
            if block + 1 == blocks {
                let c = inverse_factorial(4 * blocks);
                for (to, x) in spare.iter_mut().zip(&*a4) {
                    *to = times([c; W], *x);
                }
            } else {
                product(spare, sum, a4, n);
            }
            let c: [f64; 4] = std::array::from_fn(|i| inverse_factorial(4 * block + i));
            for k in 0..len {
                let (x3, x2, x1, before) = (a3[k], a2[k], a[k], spare[k]);
                for l in 0..W {
                    sum[k][l] = ((c[3] * x3[l] + c[2] * x2[l]) + c[1] * x1[l]) + before[l];
                }
            }
            for i in 0..n {
                (0..W).for_each(|l| sum[i * n + i][l] += c[0]);
            }
        }
        a.copy_from_slice(sum);
        let most = squarings.into_iter().fold(0.0, f64::max);
        let mut done = 0.0;
        while done < most {
            product(sum, a, a, n);
            for (x, square) in a.iter_mut().zip(&*sum) {
                for l in 0..W {
                    x[l] = if done < squarings[l] { square[l] } else { x[l] };
                }
            }
            done += 1.0;
        }
        true
    }
}

/// What each item is multiplied with, and how often its result is squared.
#[inline(always)]
fn scales<const W: usize>(a: &[[f64; W]], n: usize) -> Option<([f64; W], [f64; W])> {
    let mut norm = [0.0_f64; W];
    for j in 0..n {
        let mut column = [0.0; W];
        for x in &a[j * n..(j + 1) * n] {
            (0..W).for_each(|l| column[l] += x[l].abs());
        }
        for l in 0..W {
            norm[l] = if column[l] > norm[l] || column[l].is_nan() { column[l] } else { norm[l] };
        }
    }
    if !norm.iter().all(|x| x.is_finite()) {
        return None;
    }
    let (mut scale, mut squarings) = ([1.0; W], [0.0; W]);
    for l in 0..W {
        while norm[l] * scale[l] > NORMS[3] {
            scale[l] *= 0.5;
            squarings[l] += 1.0;
        }
    }
    Some((scale, squarings))
}

#[inline(always)]
fn inverse_factorial(k: usize) -> f64 {
    (1..=k).fold(1.0, |inverse, i| inverse / super::float(i))
}

/// `C = A B` for matrices, or dual ones.
#[inline(always)]
fn product<const W: usize>(c: &mut [[f64; W]], a: &[[f64; W]], b: &[[f64; W]], n: usize) {
    let whole = n * n;
    for j in 0..n {
        for i in 0..n {
            let mut value = [0.0; W];
            for k in 0..n {
                value = add_product(value, a[k * n + i], b[j * n + k]);
            }
            c[j * n + i] = value;
            if c.len() > whole {
                let mut tangent = [0.0; W];
                for k in 0..n {
                    tangent = add_product(tangent, a[k * n + i], b[whole + j * n + k]);
                    tangent = add_product(tangent, a[whole + k * n + i], b[j * n + k]);
                }
                c[whole + j * n + i] = tangent;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::MatrixExp;
    use crate::functions::{Argument, LaneArgument, Row, Shape, VectorFunction};

    /// A matrix for each item, some of which need to be squared often.
    fn rows(n: usize, seed: f64) -> Vec<Row> {
        let of = |k: usize, l: usize| {
            let size = [0.001, 0.1, 0.5, 1.0, 2.0, 5.0, 10.0, 0.0][l];
            (super::super::float(k * 8 + l) * seed).sin() * size
        };
        (0..n * n).map(|k| std::array::from_fn(|l| of(k, l))).collect()
    }

    #[test]
    fn eight_items_have_what_one_has() {
        for n in [1, 2, 3, 5] {
            let (a, adjoint, shape) = (rows(n, 1.7), rows(n, 0.9), Shape::matrix(n, n));
            let mut scratch = vec![[0.0; 8]; MatrixExp.lanes_scratch(&[shape]).expect("it is small")];
            let (mut out, mut to) = (vec![[0.0; 8]; n * n], vec![[1.0; 8]; n * n]);
            let arguments = [LaneArgument { numbers: &a, shape }];
            assert!(MatrixExp.value_lanes(&arguments, &mut out, &mut scratch));
            assert!(MatrixExp.reverse_lanes(&arguments, &out, &adjoint, &mut [&mut to], &mut scratch));
            for l in 0..8 {
                let lane = |rows: &[Row]| -> Vec<f64> { rows.iter().map(|row| row[l]).collect() };
                let (a, adjoint) = (lane(&a), lane(&adjoint));
                let mut scratch = vec![0.0; MatrixExp.scratch(&[shape])];
                let (mut value, mut expected) = (vec![0.0; n * n], vec![1.0; n * n]);
                let arguments = [Argument { numbers: &a, shape }];
                MatrixExp.value(&arguments, &mut value, &mut scratch).expect("it is finite");
                MatrixExp.reverse(&arguments, &value, &adjoint, &mut [&mut expected], &mut scratch);
                let bits = |x: Vec<f64>| -> Vec<u64> { x.into_iter().map(f64::to_bits).collect() };
                assert_eq!(bits(lane(&out)), bits(value), "{n}, {l}");
                assert_eq!(bits(lane(&to)), bits(expected), "{n}, {l}");
            }
        }
    }
}
