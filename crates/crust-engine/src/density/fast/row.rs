//! Loops over rows, compiled for the instruction set of the processor, and functions that are computed only once where a row
//! repeats itself.

use crust_math::lanes::{Kernel, dispatch};

/// The longest row.
pub const LONGEST: usize = 256;

/// Space for a function of the items of a row.
pub type Space = [f64; LONGEST];

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
    pub fn of(x: &[f64]) -> Self {
        let head = x[0].to_bits();
        if x.len() == 1 {
            return Self::Period(1);
        }
        let half = &x[1..=x.len() / 2];
        match half.iter().position(|x| x.to_bits() == head) {
            Some(before) if dispatch(Equal { a: &x[before + 1..], b: x }) => Self::Period(before + 1),
            Some(0) => Self::runs(x),
            // The first run may be what the chunk before has left over.
            _ if x.len() > SHORTEST_RUN && x[1].to_bits() == x[2].to_bits() => Self::runs(x),
            _ => Self::Free,
        }
    }

    fn runs(x: &[f64]) -> Self {
        let run = |x: &[f64]| x.iter().position(|&y| y.to_bits() != x[0].to_bits()).unwrap_or(x.len());
        let first = run(x);
        let rest = run(&x[first..]);
        let whole = first + rest < x.len();
        let fine = rest >= SHORTEST_RUN.max(if whole { first } else { 0 })
            && x[first..].chunks(rest).all(|part| part.iter().all(|y| y.to_bits() == part[0].to_bits()));
        if fine { Self::Runs { first, rest } } else { Self::Free }
    }

    /// Computes `out = f(x)` for a row with this pattern.
    #[inline]
    pub fn map(self, x: &[f64], out: &mut Space, f: impl Fn(f64) -> f64) {
        match self {
            Self::Period(1) => out[..x.len()].fill(f(x[0])),
            Self::Period(p) => {
                dispatch(Map { x: &x[..p], out: &mut out[..p], f });
                let mut done = p;
                while done < x.len() {
                    let more = done.min(x.len() - done);
                    out.copy_within(..more, done);
                    done += more;
                }
            }
            Self::Runs { first, rest } => {
                let (mut heads, mut results) = ([0.0; LONGEST], [0.0; LONGEST]);
                heads[0] = x[0];
                let mut n = 1;
                for (head, part) in heads[1..].iter_mut().zip(x[first..].chunks(rest)) {
                    *head = part[0];
                    n += 1;
                }
                dispatch(Map { x: &heads[..n], out: &mut results[..n], f });
                out[..first].fill(results[0]);
                for (part, result) in out[first..x.len()].chunks_mut(rest).zip(&results[1..]) {
                    part.fill(*result);
                }
            }
            Self::Free => dispatch(Map { x, out: &mut out[..x.len()], f }),
        }
    }
}

/// A row with its pattern, which is looked for only once and only where it is of use.
pub struct Hoisted<'a> {
    x: &'a [f64],
    pattern: Option<Pattern>,
}

impl<'a> Hoisted<'a> {
    pub fn new(x: &'a [f64]) -> Self {
        Self { x, pattern: None }
    }

    /// `out = f(x)`, if that is needed; otherwise `out` is left as it is.
    #[inline]
    pub fn map(&mut self, needed: bool, out: &mut Space, f: impl Fn(f64) -> f64) {
        if needed {
            self.pattern.get_or_insert_with(|| Pattern::of(self.x)).map(self.x, out, f);
        }
    }
}

struct Map<'a, F> {
    x: &'a [f64],
    out: &'a mut [f64],
    f: F,
}

impl<F: Fn(f64) -> f64> Kernel for Map<'_, F> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        map(self.x, self.out, self.f);
    }
}

// Slices that are arguments of a function of their own are known not to overlap.
#[inline(always)]
fn map(x: &[f64], out: &mut [f64], f: impl Fn(f64) -> f64) {
    for (out, &x) in out.iter_mut().zip(x) {
        *out = f(x);
    }
}

/// Whether two rows have the same bits, as far as the shorter one goes.
struct Equal<'a> {
    a: &'a [f64],
    b: &'a [f64],
}

impl Kernel for Equal<'_> {
    type Output = bool;

    #[inline(always)]
    fn run(self) -> bool {
        let n = self.a.len().min(self.b.len());
        let (a, b) = (&self.a[..n], &self.b[..n]);
        // Stops at the first difference, but only looks now and then.
        for (a, b) in a.chunks(32).zip(b.chunks(32)) {
            let difference = a.iter().zip(b).fold(0, #[inline(always)] |d, (a, b)| d | (a.to_bits() ^ b.to_bits()));
            if difference != 0 {
                return false;
            }
        }
        true
    }
}

struct All<'a, F> {
    x: &'a [f64],
    f: F,
}

impl<F: Fn(f64) -> bool> Kernel for All<'_, F> {
    type Output = bool;

    #[inline(always)]
    fn run(self) -> bool {
        let mut bad = 0_u64;
        for &x in self.x {
            bad |= u64::from(!(self.f)(x));
        }
        bad == 0
    }
}

/// Whether `f` holds for all items of a row.
#[inline]
pub fn all(x: &[f64], f: impl Fn(f64) -> bool) -> bool {
    dispatch(All { x, f })
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
#[inline]
pub fn factor(keep: bool) -> f64 {
    f64::from(u8::from(keep))
}

/// Runs a body for each item of some rows: first the rows that are read, then constants, then the rows that are written. In
/// the body the names stand for the items; those that are written are references.
macro_rules! each {
    ([$($x:ident),+ $(,)?], [$($c:ident),* $(,)?], [$($y:ident),+ $(,)?], $body:block) => {{
        struct Job<'a> {
            n: usize,
            $($x: &'a [f64],)+
            $($c: f64,)*
            $($y: &'a mut [f64],)+
        }

        impl crust_math::lanes::Kernel for Job<'_> {
            type Output = ();

            #[inline(always)]
            fn run(self) {
                items(self.n, $(self.$x,)+ $(self.$c,)* $(self.$y,)+);
            }
        }

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

        let n = each!(@first $($y),+).len();
        crust_math::lanes::dispatch(Job { n, $($x: &$x[..n],)+ $($c,)* $($y: &mut $y[..n],)+ });
    }};
    (@first $first:ident $(, $rest:ident)*) => { $first };
}

pub(super) use each;
