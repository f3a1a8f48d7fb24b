//! Loops over rows, compiled for the instruction set of the processor, and functions that are computed only once where
//! a row repeats itself.

#![allow(unsafe_code, reason = "space for the longest row is not filled where a row is short")]

use std::mem::MaybeUninit;
use std::ops::{Deref, DerefMut};

use crust_math::lanes::scalar::{exponent_and_mantissa, log, log_scaled, log1p};
use crust_math::lanes::{Kernel, dispatch};

use crate::machine::Rows;

/// A density for a row, to be compiled for each instruction set; it and all that it calls is inlined.
struct Compiled<'a, 'r, F> {
    rows: &'a mut Rows<'r>,
    density: F,
}

impl<F: FnOnce(&mut Rows) -> bool> Kernel for Compiled<'_, '_, F> {
    type Output = bool;

    #[inline(always)]
    fn run(self) -> bool {
        (self.density)(self.rows)
    }
}

/// Runs a density for a row on the fastest instruction set.
#[inline]
pub fn compiled(rows: &mut Rows, density: impl FnOnce(&mut Rows) -> bool) -> bool {
    dispatch(Compiled { rows, density })
}

/// The longest row.
pub const LONGEST: usize = 256;

/// Space for a function of the items of a row, on cache lines of its own. Only as much of it is filled as there are
/// items: in small models rows are short, and filling the whole would take longer than everything else.
#[repr(align(64))]
pub struct Space {
    items: MaybeUninit<[f64; LONGEST]>,
    /// So many items, from the first on, have a value.
    len: usize,
}

impl Space {
    /// The length must not look like a constant: then all of the space would be one, and be copied from elsewhere or
    /// filled.
    #[inline(always)]
    pub fn empty() -> Self {
        Self { items: MaybeUninit::uninit(), len: std::hint::black_box(0) }
    }

    /// Makes room for as many items, and returns it.
    #[inline(always)]
    pub fn zeros(&mut self, len: usize) -> &mut [f64] {
        assert!(len <= LONGEST, "no row is longer");
        for i in 0..len {
            // SAFETY: within the array.
            unsafe { self.items.as_mut_ptr().cast::<f64>().add(i).write(0.0) };
        }
        self.len = len;
        self
    }

    /// Fills it with as many items, each of which is a function of its number.
    #[inline(always)]
    fn fill_with(&mut self, len: usize, mut f: impl FnMut(usize) -> f64) {
        assert!(len <= LONGEST, "no row is longer");
        for i in 0..len {
            let x = f(i);
            // SAFETY: within the array.
            unsafe { self.items.as_mut_ptr().cast::<f64>().add(i).write(x) };
        }
        self.len = len;
    }

    /// Repeats what is there until there are as many items.
    #[inline(always)]
    fn repeat(&mut self, len: usize) {
        assert!(len <= LONGEST, "no row is longer");
        let (period, items) = (self.len, self.items.as_mut_ptr().cast::<f64>());
        let mut done = period;
        if period == 1 {
            // SAFETY: within the array, and the first item has a value.
            let x = unsafe { items.read() };
            for i in 1..len {
                // SAFETY: within the array.
                unsafe { items.add(i).write(x) };
            }
            done = len;
        } else if period == LANES {
            // SAFETY: as many items have a value; an array is aligned as a number is.
            let row = unsafe { items.cast::<[f64; LANES]>().read() };
            while done + LANES <= len {
                // SAFETY: within the array.
                unsafe { items.add(done).cast::<[f64; LANES]>().write(row) };
                done += LANES;
            }
        }
        for i in done..len {
            // SAFETY: within the array; the item a period before has a value.
            unsafe { items.add(i).write(items.add(i - period).read()) };
        }
        self.len = len.max(period);
    }

    /// Spreads what is there, one item for each run, over runs: `first` items, then always `rest`, as many as `len`.
    #[inline(always)]
    fn spread(&mut self, first: usize, rest: usize, len: usize) {
        assert!(len <= LONGEST && (self.len <= 1 || first + (self.len - 2) * rest < len), "runs are within the row");
        let items = self.items.as_mut_ptr().cast::<f64>();
        // From behind: a result never lies behind the run that it belongs to.
        let mut end = len;
        for run in (0..self.len).rev() {
            let start = if run == 0 { 0 } else { first + (run - 1) * rest };
            // SAFETY: this item has a value, and no later run was written over it.
            let x = unsafe { items.add(run).read() };
            for i in start..end {
                // SAFETY: within the array.
                unsafe { items.add(i).write(x) };
            }
            end = start;
        }
        self.len = len;
    }
}

/// Lanes that run together.
const LANES: usize = 8;

impl Deref for Space {
    type Target = [f64];

    #[inline(always)]
    fn deref(&self) -> &[f64] {
        // SAFETY: the first `len` items have a value, and `len` is at most their number.
        unsafe { std::slice::from_raw_parts(self.items.as_ptr().cast(), self.len) }
    }
}

impl DerefMut for Space {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [f64] {
        // SAFETY: as above.
        unsafe { std::slice::from_raw_parts_mut(self.items.as_mut_ptr().cast(), self.len) }
    }
}

/// How a row repeats itself: a parameter comes again after all lanes, data is the same in all lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pattern {
    /// `x[i + p] = x[i]`. A constant row has the period 1.
    Period(usize),
    /// Equal items lie together: `first` of them, then always `rest`.
    Runs { first: usize, rest: usize },
    /// Anything.
    Free,
}

/// Shorter runs are not worth the trouble.
const SHORTEST_RUN: usize = 4;

impl Pattern {
    /// The pattern of a row that is not empty.
    #[inline(always)]
    pub fn of(x: &[f64]) -> Self {
        let head = x[0].to_bits();
        if x.len() == 1 {
            return Self::Period(1);
        }
        let half = &x[1..=x.len() / 2];
        match half.iter().position(|x| x.to_bits() == head) {
            Some(before) if equal(&x[before + 1..], x) => Self::Period(before + 1),
            Some(0) => Self::runs(x),
            // The first run may be what the chunk before has left over.
            _ if x.len() > SHORTEST_RUN && x[1].to_bits() == x[2].to_bits() => Self::runs(x),
            _ => Self::Free,
        }
    }

    #[inline(never)]
    fn runs(x: &[f64]) -> Self {
        let run = |x: &[f64]| x.iter().position(|&y| y.to_bits() != x[0].to_bits()).unwrap_or(x.len());
        let first = run(x);
        let rest = run(&x[first..]);
        let fine = rest >= SHORTEST_RUN
            && x[first..].chunks(rest).all(|part| part.iter().all(|y| y.to_bits() == part[0].to_bits()));
        if fine { Self::Runs { first, rest } } else { Self::Free }
    }
}

/// A row whose functions are computed only as often as it has different items.
pub struct Hoisted<'a> {
    x: &'a [f64],
    /// Looked for only where it is of use.
    pattern: Option<Pattern>,
}

impl<'a> Hoisted<'a> {
    #[inline(always)]
    pub fn new(x: &'a [f64]) -> Self {
        Self { x, pattern: None }
    }

    /// `out = f(x)`, if that is needed; otherwise zeros.
    #[inline(always)]
    pub fn map(&mut self, needed: bool, out: &mut Space, mut f: impl FnMut(f64) -> f64) {
        let x = self.x;
        if !needed {
            out.zeros(x.len());
            return;
        }
        let pattern = *self.pattern.get_or_insert_with(
            #[inline(always)]
            || Pattern::of(x),
        );
        let mut heads = Space::empty();
        let different = match pattern {
            Pattern::Free => x,
            Pattern::Period(period) => &x[..period.min(x.len())],
            Pattern::Runs { first, rest } => {
                let runs = 1 + x.len().saturating_sub(first).div_ceil(rest);
                heads.fill_with(
                    runs,
                    #[inline(always)]
                    |run| x[if run == 0 { 0 } else { first + (run - 1) * rest }],
                );
                &heads
            }
        };
        out.fill_with(
            different.len(),
            #[inline(always)]
            |i| f(different[i]),
        );
        match pattern {
            Pattern::Free => {}
            Pattern::Period(_) => out.repeat(x.len()),
            Pattern::Runs { first, rest } => out.spread(first, rest, x.len()),
        }
    }
}

impl<'a> Rows<'a> {
    /// An argument, whose pattern may be known.
    #[inline(always)]
    pub fn hoisted(&self, k: usize) -> Hoisted<'a> {
        Hoisted { x: self.arguments[k], pattern: self.patterns[k] }
    }
}

/// `out = log x`, if that is needed; otherwise zeros.
#[inline(always)]
pub fn log_of(mut x: Hoisted, needed: bool, out: &mut Space) {
    x.map(
        needed,
        out,
        #[inline(always)]
        |x| log(x),
    );
}

/// `out = 1/x`, if that is needed; otherwise zeros.
#[inline(always)]
pub fn inverse_of(mut x: Hoisted, needed: bool, out: &mut Space) {
    x.map(
        needed,
        out,
        #[inline(always)]
        |x| reciprocal(x),
    );
}

/// log x of items, or for whole blocks of eight items of a lane the sum of their logarithms in the place of the first,
/// and 0 for the others: the logarithm of the product of their mantissas.
#[inline(always)]
pub fn log_blocks(x: &[f64], lanes: usize, out: &mut Space) {
    let whole = x.len() / (BLOCK * lanes) * (BLOCK * lanes);
    let sums = out.zeros(x.len());
    in_blocks!(lanes, log_products, (&x[..whole], &mut sums[..whole], lanes));
    map(
        &x[whole..],
        &mut sums[whole..],
        #[inline(always)]
        |x| log(x),
    );
}

/// Whole blocks of [`log_blocks`], for `L` lanes at once.
#[inline(always)]
fn log_products<const L: usize>(x: &[f64], out: &mut [f64], lanes: usize) {
    let block = BLOCK * lanes;
    for (x, out) in x.chunks_exact(block).zip(out.chunks_exact_mut(block)) {
        for first in (0..lanes).step_by(L) {
            let (mut exponents, mut products) = ([0.0; L], [1.0; L]);
            for item in 0..BLOCK {
                let row = &x[item * lanes + first..][..L];
                for l in 0..L {
                    let (exponent, mantissa) = exponent_and_mantissa(row[l]);
                    exponents[l] += exponent;
                    products[l] *= mantissa;
                }
            }
            for l in 0..L {
                out[first + l] = log_scaled(exponents[l], products[l]);
            }
        }
    }
}

/// log(1 + x) of items with x ≥ 0, or for whole blocks of eight items of a lane the sum in the place of the first.
///
/// That is the logarithm of the product of all 1 + x. The product is kept with what rounding it and its factors has
/// lost, so that the sum has as many digits as the terms have, however small these are.
#[inline(always)]
pub fn log1p_blocks(x: &[f64], lanes: usize, out: &mut Space) {
    let whole = x.len() / (BLOCK * lanes) * (BLOCK * lanes);
    let sums = out.zeros(x.len());
    in_blocks!(lanes, log1p_products, (&x[..whole], &mut sums[..whole], lanes));
    map(
        &x[whole..],
        &mut sums[whole..],
        #[inline(always)]
        |x| log1p(x),
    );
}

/// Whole blocks of [`log1p_blocks`], for `L` lanes at once.
#[inline(always)]
fn log1p_products<const L: usize>(x: &[f64], out: &mut [f64], lanes: usize) {
    let block = BLOCK * lanes;
    for (x, out) in x.chunks_exact(block).zip(out.chunks_exact_mut(block)) {
        for first in (0..lanes).step_by(L) {
            let (mut product, mut low) = ([1.0_f64; L], [0.0_f64; L]);
            for item in 0..BLOCK {
                let row = &x[item * lanes + first..][..L];
                for l in 0..L {
                    let x = row[l];
                    let factor = 1.0 + x;
                    let lost = if x < 1.0 { x - (factor - 1.0) } else { 1.0 - (factor - x) };
                    let next = product[l] * factor;
                    let rounding = product[l].mul_add(factor, -next);
                    low[l] = low[l].mul_add(factor, product[l].mul_add(lost, rounding));
                    product[l] = next;
                }
            }
            for l in 0..L {
                out[first + l] = log(product[l]) + low[l] / product[l];
            }
        }
    }
}

/// Items that sums of logarithms are put together from.
const BLOCK: usize = 8;

/// Calls a function for as many lanes at once as there are, if that is one of the usual numbers. What a lane gets does
/// not depend on it.
macro_rules! in_blocks {
    ($lanes:expr, $function:ident, ($($argument:expr),+)) => {
        if $lanes % 8 == 0 {
            $function::<8>($($argument),+);
        } else {
            $function::<1>($($argument),+);
        }
    };
}
use in_blocks;

/// Results of an expensive function of one number, found again by their argument: a parameter comes with every chunk of
/// the data, and a chunk has few items where there are many lanes.
pub struct Memo {
    arguments: [u64; Self::PLACES],
    results: [f64; Self::PLACES],
}

impl Memo {
    const PLACES: usize = 256;

    pub const fn new() -> Self {
        // No argument has these bits: they are those of a NaN.
        Self { arguments: [u64::MAX; Self::PLACES], results: [0.0; Self::PLACES] }
    }

    #[inline(always)]
    pub fn get(&mut self, x: f64, f: impl Fn(f64) -> f64) -> f64 {
        let bits = x.to_bits();
        #[allow(clippy::cast_possible_truncation, reason = "the upper eight bits")]
        let place = (bits.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as usize;
        if self.arguments[place] != bits {
            self.arguments[place] = bits;
            self.results[place] = f(x);
        }
        self.results[place]
    }
}

/// [`Hoisted::map`] for a function that costs more than to look for its result.
macro_rules! map_kept {
    ($hoisted:expr, $needed:expr, $out:expr, $f:expr) => {{
        thread_local! {
            static MEMO: std::cell::RefCell<$crate::density::fast::row::Memo> =
                const { std::cell::RefCell::new($crate::density::fast::row::Memo::new()) };
        }
        MEMO.with_borrow_mut(|memo| $hoisted.map($needed, $out, |x| memo.get(x, $f)));
    }};
}

pub(super) use map_kept;

// Slices that are arguments of a function of their own are known not to overlap.
#[inline(always)]
pub fn map(x: &[f64], out: &mut [f64], mut f: impl FnMut(f64) -> f64) {
    let n = x.len().min(out.len());
    let (x, out) = (&x[..n], &mut out[..n]);
    for i in 0..n {
        out[i] = f(x[i]);
    }
}

/// Whether two rows have the same bits, as far as the shorter one goes.
#[inline(always)]
fn equal(a: &[f64], b: &[f64]) -> bool {
    let n = a.len().min(b.len());
    let (a, b) = (&a[..n], &b[..n]);
    let mut difference = 0;
    for i in 0..n {
        difference |= a[i].to_bits() ^ b[i].to_bits();
    }
    difference == 0
}

/// Whether `f` holds for all items of a row.
#[inline(always)]
pub fn all(x: &[f64], f: impl Fn(f64) -> bool) -> bool {
    let mut bad = 0_u64;
    for &x in x {
        bad |= u64::from(!f(x));
    }
    bad == 0
}

#[inline(always)]
pub fn finite(x: f64) -> bool {
    x.abs() < f64::INFINITY
}

#[inline(always)]
pub fn number(x: f64) -> bool {
    !x.is_nan()
}

#[inline(always)]
pub fn positive(x: f64) -> bool {
    x > 0.0
}

#[inline(always)]
pub fn nonnegative(x: f64) -> bool {
    x >= 0.0
}

/// Positive, and such that neither its square root's nor its own reciprocal leaves the range of numbers.
#[inline(always)]
pub fn ordinary(x: f64) -> bool {
    x > 1e-290 && x < 1e290
}

#[inline(always)]
pub fn reciprocal(x: f64) -> f64 {
    1.0 / x
}

/// 1 for a term that is kept, 0 for one that is dropped.
#[inline(always)]
pub fn factor(keep: bool) -> f64 {
    f64::from(u8::from(keep))
}

/// Runs a body for each item of some rows: first the rows that are read, then constants, then the rows that are
/// written. In the body the names stand for the items; those that are written are references.
macro_rules! each {
    ([$($x:ident),+ $(,)?], [$($c:ident),* $(,)?], [$($y:ident),+ $(,)?], $body:block) => {{
        // Slices that are arguments of a function of their own are known not to overlap.
        #[inline(always)]
        #[allow(clippy::too_many_arguments, reason = "as many as there are rows")]
        fn items(n: usize, $($x: &[f64],)+ $($c: f64,)* $($y: &mut [f64],)+) {
            $(let $x = &$x[..n];)+
            $(let $y = &mut $y[..n];)+
            for i in 0..n {
                $(let $x = $x[i];)+
                $(let $y = &mut $y[i];)+
                $body
            }
        }

        // As long as the shortest: the space for derivatives is always the longest.
        let n = [$($x.len(),)+ $($y.len()),+].into_iter().fold(usize::MAX, usize::min);
        debug_assert!(n > 0, "a space was never filled");
        items(n, $(&$x[..n],)+ $($c,)* $(&mut $y[..n],)+);
    }};
}

pub(super) use each;
