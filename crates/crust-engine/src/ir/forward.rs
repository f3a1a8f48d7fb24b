//! Batches on the way forward.

use crust_math::lanes::scalar::{exp, log};

use super::graph::{Op, ScalarCall};
use super::products::dots;
use super::run::{chunks, each_lane, operands};
use super::schedule::{Batch, List, Operand};
use super::stage::{CHUNK, Row, fetch, item_sum, pattern, stage};
use crate::code::Comparison;
use crate::density::Pattern;
use crate::flat::rows::{copy, store};
use crate::flat::{GROUP, Into, steps};
use crate::kernels::arithmetic::Arithmetic;
use crate::kernels::fma;
use crate::machine::{CHUNK as MOST_ITEMS, MOST, Rows, Summed};

/// Runs a batch. Says whether a kernel refused some of its items.
#[inline(always)]
pub fn forward_batch<const L: usize>(
    list: &List,
    batch: &Batch,
    values: &mut [f64],
    rows: &mut [Row],
    partials: Option<&mut [[f64; MOST_ITEMS]; MOST]>,
) -> bool {
    let (items, out) = (batch.items as usize, batch.out as usize);
    let from = operands(list, batch);
    let (low, high) = values.split_at_mut(out * L);
    match batch.op {
        Op::Function(index) => {
            let Some(partials) = partials else { return false };
            return function::<L>(list, batch, &list.functions[index as usize], low, high, rows, partials);
        }
        Op::LogSumExp => log_sum_exp::<L>(list, batch, low, high, rows),
        op => {
            for chunk in chunks(items, CHUNK) {
                let to = &mut high[chunk.0 * L..][..chunk.1 * L];
                elementwise::<L>(list, op, from, chunk, low, to, rows);
            }
        }
    }
    false
}

/// Operations with at most three operands for each item.
#[inline(always)]
fn elementwise<const L: usize>(
    list: &List,
    op: Op,
    from: &[Operand],
    chunk: (usize, usize),
    low: &[f64],
    to: &mut [f64],
    rows: &mut [Row],
) {
    let [r0, r1, r2, ..] = rows else { return };
    match op {
        Op::Dot => return dots::<L>(list, from, chunk, low, to, [r0, r1]),
        Op::Sum => return sums::<L>(list, from, chunk, low, to, r0),
        _ => {}
    }
    if L > GROUP
        && from.iter().any(|operand| matches!(operand, Operand::Table(_)))
        && gathered::<L>(list, op, from, chunk, low, to)
    {
        return;
    }
    let n = to.len();
    let a = &stage::<L>(list, low, from[0], chunk, r0)[..n];
    let b = if from.len() > 1 { &stage::<L>(list, low, from[1], chunk, r1)[..n] } else { a };
    let c = if from.len() > 2 { &stage::<L>(list, low, from[2], chunk, r2)[..n] } else { a };
    match op {
        Op::Add => steps::arithmetic(Arithmetic::Add, a, b, to),
        Op::Subtract => steps::arithmetic(Arithmetic::Subtract, a, b, to),
        Op::Multiply => steps::arithmetic(Arithmetic::Multiply, a, b, to),
        Op::Divide => steps::arithmetic(Arithmetic::Divide, a, b, to),
        Op::Negate => {
            for i in 0..n {
                to[i] = -a[i];
            }
        }
        Op::MultiplyAdd => {
            for i in 0..n {
                to[i] = fma(a[i], b[i], c[i]);
            }
        }
        Op::MultiplySubtract => {
            for i in 0..n {
                to[i] = fma(-a[i], b[i], c[i]);
            }
        }
        Op::Unary(index) => (list.unaries[index as usize].value)(a, to),
        Op::Select => {
            for i in 0..n {
                to[i] = if a[i] == 0.0 { c[i] } else { b[i] };
            }
        }
        Op::Compare(comparison) => compare(comparison, a, b, to),
        Op::Not => {
            for i in 0..n {
                to[i] = f64::from(a[i] == 0.0);
            }
        }
        Op::And => {
            for i in 0..n {
                to[i] = f64::from(a[i] != 0.0 && b[i] != 0.0);
            }
        }
        Op::Or => {
            for i in 0..n {
                to[i] = f64::from(a[i] != 0.0 || b[i] != 0.0);
            }
        }
        // These are no batches of numbers, or run elsewhere.
        Op::Constant(_)
        | Op::Input { .. }
        | Op::Element(_)
        | Op::Call(_)
        | Op::Density(_)
        | Op::Sum
        | Op::Dot
        | Op::Function(_)
        | Op::LogSumExp => {}
    }
}

/// The commonest operations, item by item, where operands lie scattered. Says `false` for others.
#[inline(always)]
fn gathered<const L: usize>(
    list: &List,
    op: Op,
    from: &[Operand],
    (start, m): (usize, usize),
    low: &[f64],
    to: &mut [f64],
) -> bool {
    /// Sets each lane of each item; the names stand for the lanes of operands.
    macro_rules! each_item {
        ([$($x:ident = $k:literal),+], $l:ident, $body:expr) => {
            for i in 0..m {
                $(let $x = fetch::<L>(list, low, from[$k], start + i);)+
                store(to, i * L, each_lane!($l, $body));
            }
        };
    }
    match op {
        Op::Add => each_item!([a = 0, b = 1], l, a[l] + b[l]),
        Op::Subtract => each_item!([a = 0, b = 1], l, a[l] - b[l]),
        Op::Multiply => each_item!([a = 0, b = 1], l, a[l] * b[l]),
        Op::MultiplyAdd => each_item!([a = 0, b = 1, c = 2], l, fma(a[l], b[l], c[l])),
        Op::MultiplySubtract => each_item!([a = 0, b = 1, c = 2], l, fma(-a[l], b[l], c[l])),
        _ => return false,
    }
    true
}

/// Sums over the operands of each item, one after the other.
#[inline(always)]
fn sums<const L: usize>(
    list: &List,
    from: &[Operand],
    chunk: (usize, usize),
    low: &[f64],
    to: &mut [f64],
    row: &mut Row,
) {
    for (k, &operand) in from.iter().enumerate() {
        let a = stage::<L>(list, low, operand, chunk, row);
        steps::pull(if k == 0 { Into::Set } else { Into::Add }, to, a, 1.0);
    }
}

#[inline(always)]
fn compare(comparison: Comparison, a: &[f64], b: &[f64], to: &mut [f64]) {
    /// One loop for each comparison: within a loop the compiler would choose anew for every number.
    macro_rules! loops {
        ($($name:ident),+) => {
            match comparison {
                $(Comparison::$name => {
                    for ((to, a), b) in to.iter_mut().zip(a).zip(b) {
                        *to = f64::from(Comparison::$name.holds(*a, *b));
                    }
                })+
            }
        };
    }
    loops!(Equal, NotEqual, Less, LessEqual, Greater, GreaterEqual);
}

/// A function of a few numbers: its values, and the derivatives by all operands.
#[inline(always)]
fn function<const L: usize>(
    list: &List,
    batch: &Batch,
    call: &ScalarCall,
    low: &[f64],
    high: &mut [f64],
    rows: &mut [Row],
    partials: &mut [[f64; MOST_ITEMS]; MOST],
) -> bool {
    let (items, from) = (batch.items as usize, operands(list, batch));
    let mut refused = false;
    let (values, kept) = high.split_at_mut((batch.extra - batch.out) as usize * L);
    for chunk in chunks(items, MOST_ITEMS / L.max(GROUP)) {
        let mut arguments: [&[f64]; MOST] = [&[]; MOST];
        let (mut wanted, mut patterns) = (0, [None; MOST]);
        for (k, (operand, row)) in from.iter().zip(&mut *rows).enumerate() {
            arguments[k] = stage::<L>(list, low, *operand, chunk, row);
            patterns[k] = pattern::<L>(*operand);
            wanted |= u32::from(!matches!(operand, Operand::Column(_) | Operand::Uniform(_))) << k;
        }
        let n = chunk.1 * L;
        refused |= evaluate(call, arguments, (wanted, None, patterns), &mut values[chunk.0 * L..][..n], partials);
        for k in (0..from.len()).filter(|k| wanted >> k & 1 == 1) {
            copy(&partials[k][..n], &mut kept[(k * items + chunk.0) * L..][..n]);
        }
    }
    refused
}

/// Says whether the kernel refused some items.
#[inline(never)]
pub fn evaluate(
    call: &ScalarCall,
    arguments: [&[f64]; MOST],
    (wanted, summed, patterns): (u32, Option<Summed>, [Option<Pattern>; MOST]),
    value: &mut [f64],
    partials: &mut [[f64; MOST_ITEMS]; MOST],
) -> bool {
    let terms = call.terms;
    let arity = arguments.iter().take_while(|row| !row.is_empty()).count();
    let mut rows = Rows { arguments, value, partials, wanted, terms, patterns, summed };
    rows.compute(call.function.fast(), |rows, i| {
        let mut x = [0.0; MOST];
        for (x, row) in x.iter_mut().zip(&arguments[..arity]) {
            *x = row[i];
        }
        // The machine knows what to say about mistakes.
        let (value, d) = call.function.at(&x[..arity], terms).unwrap_or((f64::NAN, [f64::NAN; MOST]));
        rows.set(i, value, d);
    })
}

/// `log Σ exp(x)`; its derivatives are kept.
#[inline(always)]
fn log_sum_exp<const L: usize>(list: &List, batch: &Batch, low: &[f64], high: &mut [f64], rows: &mut [Row]) {
    let (items, from) = (batch.items as usize, operands(list, batch));
    let (values, kept) = high.split_at_mut((batch.extra - batch.out) as usize * L);
    let [r0, r1, sum, r3, ..] = rows else { return };
    for chunk in chunks(items, CHUNK) {
        let n = chunk.1 * L;
        let out = &mut values[chunk.0 * L..][..n];
        let mut parts = kept.chunks_exact_mut(items * L).map(|part| &mut part[chunk.0 * L..][..n]);
        match from {
            [a, b, c] => {
                let xs = [(*a, &mut *r0), (*b, &mut *r1), (*c, &mut *sum)];
                let xs = xs.map(|(x, row)| stage::<L>(list, low, x, chunk, row));
                steps::log_sum_exp_of(xs, out, [(); 3].map(|()| parts.next().unwrap_or_default()));
                continue;
            }
            [a, b, c, d] => {
                let xs = [(*a, &mut *r0), (*b, &mut *r1), (*c, &mut *sum), (*d, &mut *r3)];
                let xs = xs.map(|(x, row)| stage::<L>(list, low, x, chunk, row));
                steps::log_sum_exp_of(xs, out, [(); 4].map(|()| parts.next().unwrap_or_default()));
                continue;
            }
            _ => {}
        }
        if let [a, b] = from {
            let (a, b) = (stage::<L>(list, low, *a, chunk, r0), stage::<L>(list, low, *b, chunk, r1));
            let (first, second) = kept.split_at_mut(items * L);
            let (first, second) = (&mut first[chunk.0 * L..][..n], &mut second[chunk.0 * L..][..n]);
            steps::log_add_exp(a, b, out, [first, second]);
            continue;
        }
        out.copy_from_slice(stage::<L>(list, low, from[0], chunk, r0));
        for &operand in &from[1..] {
            let x = &stage::<L>(list, low, operand, chunk, r0)[..n];
            for i in 0..n {
                out[i] = if x[i] > out[i] { x[i] } else { out[i] };
            }
        }
        let sum = &mut sum.0[..n];
        sum.fill(0.0);
        for (k, &operand) in from.iter().enumerate() {
            let x = &stage::<L>(list, low, operand, chunk, r0)[..n];
            let weight = &mut kept[(k * items + chunk.0) * L..][..n];
            for i in 0..n {
                let e = exp(x[i] - out[i]);
                weight[i] = e;
                sum[i] += e;
            }
        }
        for i in 0..n {
            out[i] += log(sum[i]);
            sum[i] = 1.0 / sum[i];
        }
        for k in 0..from.len() {
            let weight = &mut kept[(k * items + chunk.0) * L..][..n];
            for i in 0..n {
                weight[i] *= sum[i];
            }
        }
    }
}

/// A sum of numbers, or of products.
#[inline(always)]
pub fn reduce<const L: usize>(
    list: &List,
    (a, b): (Operand, Option<Operand>),
    count: u32,
    out: u32,
    values: &mut [f64],
    rows: &mut [Row],
) {
    let (low, high) = values.split_at_mut(out as usize * L);
    let [r0, r1, product, ..] = rows else { return };
    let mut sum = [0.0; L];
    for chunk in chunks(count as usize, CHUNK) {
        let mut x = stage::<L>(list, low, a, chunk, r0);
        if let Some(b) = b {
            let b = stage::<L>(list, low, b, chunk, r1);
            steps::arithmetic(Arithmetic::Multiply, x, b, &mut product.0[..chunk.1 * L]);
            x = &product.0[..chunk.1 * L];
        }
        let more = item_sum::<L>(x, chunk.1);
        for l in 0..L {
            sum[l] += more[l];
        }
    }
    store(high, 0, sum);
}
