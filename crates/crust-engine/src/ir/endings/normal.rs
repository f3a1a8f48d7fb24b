//! Normal log densities, which most programs have most of: without the rows in between that other densities go through.

use crust_math::lanes::scalar::{exponent_and_mantissa, log, log_scaled};
use crust_math::special::LN_SQRT_TAU;

use super::super::run::{chunks, each_lane};
use super::super::schedule::{Ending, List, Operand};
use super::super::stage::{Row, stage};
use super::{BLOCK, Numbers, add, add_items, fixed, pull, restage};
use crate::flat::rows::{load, store};
use crate::machine::{CHUNK as MOST_ITEMS, MOST};

/// The sum of −½ z² − log σ − log √(2π) with z = (y − μ)/σ over the items of an ending. Lanes in which an argument is
/// outside of the domain get what is not finite: the machine runs them.
#[inline(always)]
pub(super) fn end<const L: usize>(
    list: &List,
    ending: &Ending,
    Numbers { values, adjoints }: Numbers,
    seed: Option<[f64; L]>,
    rows: &mut [Row],
    partials: &mut [[f64; MOST_ITEMS]; MOST],
) -> [f64; L] {
    let from = &list.operands[ending.operands.0 as usize..][..ending.operands.1 as usize];
    let ([y, mu, sigma], [r0, r1, r2, r3, squares, ..]) = (from, rows) else { return [f64::NAN; L] };
    let [slope, d_sigma, ..] = partials;
    let terms = list.functions[ending.function as usize].terms;
    let (one_scale, with_log) = (fixed(*sigma), terms.keep(0b100));
    let (mut sum, mut logs, mut shared) = ([0.0; L], [0.0; L], [[0.0; L]; 3]);
    let by_log = if with_log { 1.0 } else { 0.0 };
    let opposite = seed.map(|seed| each_lane!(l, -seed[l]));
    for chunk in chunks(ending.items as usize, MOST_ITEMS / L) {
        let n = chunk.1 * L;
        let (y_row, mu_row) = (restage::<L>(list, values, *y, chunk, r0), restage::<L>(list, values, *mu, chunk, r1));
        if !one_scale {
            let sigmas = stage::<L>(list, values, *sigma, chunk, r2);
            invert(sigmas, &mut r3.0[..n]);
            sum = mark::<L>(sum, sigmas);
            if with_log {
                logs = add_logs::<L>(logs, sigmas, chunk.1);
            }
        } else if chunk.0 == 0 {
            let sigmas = stage::<L>(list, values, *sigma, chunk, r2);
            invert(sigmas, &mut r3.0[..n]);
            sum = mark::<L>(sum, &sigmas[..L]);
        }
        let inverse = &r3.0[..n];
        standardise(y_row, mu_row, inverse, &mut squares.0[..n], &mut slope[..n]);
        sum = add_items::<L>(sum, &squares.0[..n], chunk.1);
        let (Some(seed), Some(opposite)) = (seed, opposite) else { continue };
        pull::<L>(list, adjoints, *y, chunk, (opposite, slope), &mut shared[0]);
        pull::<L>(list, adjoints, *mu, chunk, (seed, slope), &mut shared[1]);
        if !matches!(sigma, Operand::Column(_) | Operand::Uniform(_)) {
            by_scale(&squares.0[..n], inverse, by_log, &mut d_sigma[..n]);
            pull::<L>(list, adjoints, *sigma, chunk, (seed, d_sigma), &mut shared[2]);
        }
    }
    if let (Some(seed), Some(opposite)) = (seed, opposite) {
        for ((&operand, shared), seed) in from.iter().zip(shared).zip([opposite, seed, seed]) {
            if let Operand::Same(slot) = operand {
                add(adjoints, slot, seed, shared);
            }
        }
    }
    let count = f64::from(ending.items);
    if one_scale && with_log {
        let sigma = load::<L>(&r2.0, 0);
        logs = each_lane!(l, count * log(sigma[l]));
    }
    let constant = if terms.keep(0) { count * LN_SQRT_TAU } else { 0.0 };
    each_lane!(l, -0.5 * sum[l] - logs[l] - constant)
}

/// Numbers that are worked on at once.
const LINE: usize = 8;

/// `out = 1/x`
#[inline(always)]
fn invert(x: &[f64], out: &mut [f64]) {
    let n = out.len();
    let whole = n - n % LINE;
    for at in (0..whole).step_by(LINE) {
        let mut line = load::<LINE>(x, at);
        for l in 0..LINE {
            line[l] = 1.0 / line[l];
        }
        store(out, at, line);
    }
    for i in whole..n {
        out[i] = 1.0 / x[i];
    }
}

/// `squares = z²` and `slope = z/σ`
#[inline(always)]
fn standardise(y: &[f64], mu: &[f64], inverse: &[f64], squares: &mut [f64], slope: &mut [f64]) {
    let n = squares.len();
    let whole = n - n % LINE;
    for at in (0..whole).step_by(LINE) {
        let (y, mu, inverse) = (load::<LINE>(y, at), load::<LINE>(mu, at), load::<LINE>(inverse, at));
        let (mut square, mut slopes) = ([0.0; LINE], [0.0; LINE]);
        for l in 0..LINE {
            let z = (y[l] - mu[l]) * inverse[l];
            square[l] = z * z;
            slopes[l] = z * inverse[l];
        }
        store(squares, at, square);
        store(slope, at, slopes);
    }
    for i in whole..n {
        let z = (y[i] - mu[i]) * inverse[i];
        squares[i] = z * z;
        slope[i] = z * inverse[i];
    }
}

/// The derivative by σ: `(z² − 1)/σ`, or `z²/σ` where somebody else has the logarithm.
#[inline(always)]
fn by_scale(squares: &[f64], inverse: &[f64], by_log: f64, out: &mut [f64]) {
    let n = out.len();
    let whole = n - n % LINE;
    for at in (0..whole).step_by(LINE) {
        let (mut line, inverse) = (load::<LINE>(squares, at), load::<LINE>(inverse, at));
        for l in 0..LINE {
            line[l] = (line[l] - by_log) * inverse[l];
        }
        store(out, at, line);
    }
    for i in whole..n {
        out[i] = (squares[i] - by_log) * inverse[i];
    }
}

/// A scale whose logarithm and reciprocal are numbers like others.
#[inline(always)]
fn ordinary(x: f64) -> bool {
    x > 1e-290 && x < 1e290
}

/// The sum, but not a number for lanes that have a scale outside of the domain.
#[inline(always)]
fn mark<const L: usize>(sum: [f64; L], scales: &[f64]) -> [f64; L] {
    let mut bad = 0_u64;
    for &x in scales {
        bad |= u64::from(!ordinary(x));
    }
    if bad == 0 { sum } else { marked(sum, scales) }
}

#[cold]
fn marked<const L: usize>(mut sum: [f64; L], scales: &[f64]) -> [f64; L] {
    for (i, &x) in scales.iter().enumerate() {
        if !ordinary(x) {
            sum[i % L] = f64::NAN;
        }
    }
    sum
}

/// The sum of a number and the logarithms of items, for each lane. Eight items take one logarithm, that of the product
/// of their mantissas.
#[inline(always)]
fn add_logs<const L: usize>(mut sum: [f64; L], x: &[f64], m: usize) -> [f64; L] {
    let whole = m - m % BLOCK;
    for i in (0..whole).step_by(BLOCK) {
        let (mut exponents, mut products) = ([0.0; L], [1.0; L]);
        for item in i..i + BLOCK {
            let row = load::<L>(x, item * L);
            for l in 0..L {
                let (exponent, mantissa) = exponent_and_mantissa(row[l]);
                exponents[l] += exponent;
                products[l] *= mantissa;
            }
        }
        sum = each_lane!(l, sum[l] + log_scaled(exponents[l], products[l]));
    }
    for i in whole..m {
        let row = load::<L>(x, i * L);
        sum = each_lane!(l, sum[l] + log(row[l]));
    }
    sum
}
