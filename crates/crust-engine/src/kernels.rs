//! Arithmetic on blocks, compiled for the instruction set of the processor: values forward, adjoints backward.

#![allow(clippy::inline_always, reason = "only what is inlined is compiled for the instruction set of its caller")]
#![allow(clippy::needless_range_loop, reason = "loops over lanes, by index, become vector instructions")]

pub mod arithmetic;
pub mod gather;
pub mod normal;
pub mod product;
pub mod reduce;

/// The sum of `f(i)` over a row, with eight running sums so that the vector units can work: the order of additions does
/// not depend on the instruction set.
#[inline(always)]
pub(crate) fn row_sum(n: usize, f: impl Fn(usize) -> f64) -> f64 {
    let mut sums = [0.0; 8];
    let whole = n - n % 8;
    let mut i = 0;
    while i < whole {
        for (j, sum) in sums.iter_mut().enumerate() {
            *sum += f(i + j);
        }
        i += 8;
    }
    let mut rest = 0.0;
    for i in whole..n {
        rest += f(i);
    }
    ((sums[0] + sums[4]) + (sums[1] + sums[5])) + ((sums[2] + sums[6]) + (sums[3] + sums[7])) + rest
}

/// The same for rows of eight lanes, in the same order.
#[inline(always)]
pub(crate) fn lanes_sum(n: usize, f: impl Fn(usize) -> [f64; 8]) -> [f64; 8] {
    let mut sums = [[0.0; 8]; 8];
    let whole = n - n % 8;
    let mut i = 0;
    while i < whole {
        for (j, sum) in sums.iter_mut().enumerate() {
            *sum = add_rows(*sum, f(i + j));
        }
        i += 8;
    }
    let mut rest = [0.0; 8];
    for i in whole..n {
        rest = add_rows(rest, f(i));
    }
    let [a, b, c, d, e, f, g, h] = sums;
    let first = add_rows(add_rows(a, e), add_rows(b, f));
    add_rows(add_rows(first, add_rows(add_rows(c, g), add_rows(d, h))), rest)
}

#[inline(always)]
fn add_rows(a: [f64; 8], b: [f64; 8]) -> [f64; 8] {
    let mut sum = a;
    for l in 0..8 {
        sum[l] = a[l] + b[l];
    }
    sum
}

/// a·b + c, rounded once.
#[inline(always)]
pub(crate) fn fma(a: f64, b: f64, c: f64) -> f64 {
    a.mul_add(b, c)
}
