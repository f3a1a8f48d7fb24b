//! Sums of products of data with numbers that all items have in common, which is what a matrix of data times a vector
//! of parameters becomes: nothing is put side by side first, and four columns are gone through at once.

#![allow(clippy::needless_range_loop, reason = "loops over lanes, by index, become vector instructions")]

use crate::flat::rows::{load, store};
use crate::flat::{Into, steps};
use crate::kernels::{fma, row_sum};

use super::schedule::{List, Operand};
use super::stage::{Row, item_sum_of, stage};

/// A column of data, and the slot of the number that it is multiplied with.
type Weighted = (u32, u32);

fn weighted(a: Operand, b: Operand) -> Option<Weighted> {
    match (a, b) {
        (Operand::Column(column), Operand::Same(slot)) | (Operand::Same(slot), Operand::Column(column)) => {
            Some((column, slot))
        }
        _ => None,
    }
}

/// `Σ a b` for each item, term after term.
#[inline(always)]
pub fn dots<const L: usize>(
    list: &List,
    from: &[Operand],
    chunk: (usize, usize),
    low: &[f64],
    to: &mut [f64],
    [r0, r1]: [&mut Row; 2],
) {
    let terms = from.len() / 2;
    let of = |k: usize| if k < terms { weighted(from[k], from[terms + k]) } else { None };
    let mut k = 0;
    while k < terms {
        let first = k == 0;
        if let (Some(a), Some(b), Some(c), Some(d)) = (of(k), of(k + 1), of(k + 2), of(k + 3)) {
            columns::<L, 4>(list, [a, b, c, d], first, chunk, low, to);
            k += 4;
            continue;
        }
        if chunk.1 <= FEW && neighbours(from, k).is_some() {
            k = few_items::<L>(from, k, chunk, low, to);
            continue;
        }
        let into = if first { Into::Set } else { Into::Add };
        if let Some(a) = of(k) {
            columns::<L, 1>(list, [a], first, chunk, low, to);
        } else if let (x, Operand::Uniform(by)) | (Operand::Uniform(by), x) = (from[k], from[terms + k]) {
            steps::pull(into, to, stage::<L>(list, low, x, chunk, r0), by);
        } else {
            let a = stage::<L>(list, low, from[k], chunk, r0);
            let b = stage::<L>(list, low, from[terms + k], chunk, r1);
            steps::pull_times(into, to, a, b);
        }
        k += 1;
    }
}

/// So few items that their sums stay in registers.
const FEW: usize = 8;

/// The slot of the first item's number and what all of them are multiplied with, in term `k`.
fn neighbours(from: &[Operand], k: usize) -> Option<(u32, f64)> {
    match (from.get(k)?, from.get(from.len() / 2 + k)?) {
        (Operand::Run(slot), Operand::Uniform(by)) | (Operand::Uniform(by), Operand::Run(slot)) => Some((*slot, *by)),
        _ => None,
    }
}

/// Terms of neighbours times a number, from term `k` on; the first term that is none of those.
#[inline(always)]
fn few_items<const L: usize>(
    from: &[Operand],
    mut k: usize,
    (start, m): (usize, usize),
    low: &[f64],
    to: &mut [f64],
) -> usize {
    let mut sums = [[0.0; L]; FEW];
    if k > 0 {
        for i in 0..m {
            sums[i] = load::<L>(to, i * L);
        }
    }
    while k < from.len() / 2 {
        let Some((slot, by)) = neighbours(from, k) else { break };
        let own = &low[(slot as usize + start) * L..][..m * L];
        for i in 0..m {
            let x = load::<L>(own, i * L);
            for l in 0..L {
                sums[i][l] = fma(by, x[l], sums[i][l]);
            }
        }
        k += 1;
    }
    for i in 0..m {
        store(to, i * L, sums[i]);
    }
    k
}

/// Sets what items have so far, or adds `N` terms to it.
#[inline(always)]
fn columns<const L: usize, const N: usize>(
    list: &List,
    terms: [Weighted; N],
    first: bool,
    (start, m): (usize, usize),
    low: &[f64],
    to: &mut [f64],
) {
    let mut data = [&list.columns[..0]; N];
    let mut by = [[0.0; L]; N];
    for (k, (column, slot)) in terms.into_iter().enumerate() {
        data[k] = &list.columns[column as usize + start..][..m];
        by[k] = load::<L>(low, slot as usize * L);
    }
    let to = &mut to[..m * L];
    for i in 0..m {
        let mut sum = [0.0; L];
        if first {
            for l in 0..L {
                sum[l] = data[0][i] * by[0][l];
            }
        } else {
            let before = load::<L>(to, i * L);
            for l in 0..L {
                sum[l] = fma(data[0][i], by[0][l], before[l]);
            }
        }
        for k in 1..N {
            for l in 0..L {
                sum[l] = fma(data[k][i], by[k][l], sum[l]);
            }
        }
        store(to, i * L, sum);
    }
}

/// The derivative of such a product: the sum over items of `d` times data. Says `false` where it is none.
#[inline(always)]
pub fn pull_weighted<const L: usize>(
    list: &List,
    low: &mut [f64],
    (target, other): (Operand, Operand),
    (start, m): (usize, usize),
    d: &[f64],
) -> bool {
    let (Operand::Same(slot), Operand::Column(column)) = (target, other) else { return false };
    let (data, d) = (&list.columns[column as usize + start..][..m], &d[..m * L]);
    let more = if L == 1 {
        [row_sum(
            m,
            #[inline(always)]
            |i| d[i] * data[i],
        ); L]
    } else {
        item_sum_of::<L>(
            m,
            #[inline(always)]
            |i| {
                let mut row = load::<L>(d, i * L);
                for l in 0..L {
                    row[l] *= data[i];
                }
                row
            },
        )
    };
    let at = slot as usize * L;
    let mut sum = load::<L>(low, at);
    for l in 0..L {
        sum[l] += more[l];
    }
    store(low, at, sum);
    true
}
