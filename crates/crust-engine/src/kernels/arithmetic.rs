//! Sums, differences, products and quotients, element by element with broadcasting.
//!
//! For `y = a ∘ b` the adjoints are `ā += ȳ ∂y/∂a` and `b̄ += ȳ ∂y/∂b`, summed over the axes along which the operand is
//! broadcast.

use std::marker::PhantomData;

use crust_math::lanes::{Kernel, dispatch};

use super::{lanes_sum, row_sum};
use crate::memory::{Arena, Block, Walk, Width};

/// An arithmetic operator with its partial derivatives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arithmetic {
    Add,
    Subtract,
    Multiply,
    Divide,
}

trait Function {
    fn at(a: f64, b: f64) -> f64;
}

macro_rules! functions {
    ($($name:ident($a:ident, $b:ident) = $e:expr;)*) => {
        $(
            struct $name;

            impl Function for $name {
                #[inline(always)]
                fn at($a: f64, $b: f64) -> f64 {
                    $e
                }
            }
        )*
    };
}

functions! {
    Sum(a, b) = a + b;
    Difference(a, b) = a - b;
    Product(a, b) = a * b;
    Quotient(a, b) = a / b;
}

struct Forward<'a, F> {
    walk: Walk<2>,
    low: &'a [f64],
    out: &'a mut [f64],
    function: PhantomData<F>,
}

impl<F: Function> Kernel for Forward<'_, F> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { walk, low, out, .. } = self;
        let n = walk.inner;
        let mut rows = out.chunks_exact_mut(n.max(1));
        walk.rows(
            #[inline(always)]
            |[a, b]| {
                let Some(row) = rows.next() else { return };
                match walk.unit {
                    [true, true] => {
                        for ((y, &a), &b) in row.iter_mut().zip(&low[a..a + n]).zip(&low[b..b + n]) {
                            *y = F::at(a, b);
                        }
                    }
                    [true, false] => {
                        let b = low[b];
                        for (y, &a) in row.iter_mut().zip(&low[a..a + n]) {
                            *y = F::at(a, b);
                        }
                    }
                    [false, true] => {
                        let a = low[a];
                        for (y, &b) in row.iter_mut().zip(&low[b..b + n]) {
                            *y = F::at(a, b);
                        }
                    }
                    [false, false] => row.fill(F::at(low[a], low[b])),
                }
            },
        );
    }
}

/// `y = a ∘ b`. The operands have as many elements as `y`, or one.
pub fn forward(arena: &mut Arena, width: Width, operator: Arithmetic, [a, b]: [Block; 2], y: Block) {
    let walk = Walk::new(y.count(), width, [a, b]);
    let (low, out) = arena.below(y, width);
    if out.len() == 1 {
        let (a, b) = (low[a.start()], low[b.start()]);
        out[0] = match operator {
            Arithmetic::Add => a + b,
            Arithmetic::Subtract => a - b,
            Arithmetic::Multiply => a * b,
            Arithmetic::Divide => a / b,
        };
        return;
    }
    match operator {
        Arithmetic::Add => dispatch(Forward { walk, low, out, function: PhantomData::<Sum> }),
        Arithmetic::Subtract => dispatch(Forward { walk, low, out, function: PhantomData::<Difference> }),
        Arithmetic::Multiply => dispatch(Forward { walk, low, out, function: PhantomData::<Product> }),
        Arithmetic::Divide => dispatch(Forward { walk, low, out, function: PhantomData::<Quotient> }),
    }
}

/// How the adjoint of an operand follows from that of the result: `pull(ȳ, p, q)`, where `p` and `q` are values.
trait Pull {
    fn at(adjoint: f64, p: f64, q: f64) -> f64;
}

macro_rules! pulls {
    ($($name:ident($d:ident, $p:ident, $q:ident) = $e:expr;)*) => {
        $(
            struct $name;

            impl Pull for $name {
                #[inline(always)]
                fn at($d: f64, $p: f64, $q: f64) -> f64 {
                    $e
                }
            }
        )*
    };
}

pulls! {
    Same(d, _p, _q) = d;
    Negated(d, _p, _q) = -d;
    Times(d, p, _q) = d * p;
    Over(d, p, _q) = d / p;
    MinusTimesOver(d, p, q) = -(d * q / p);
}

/// Walks over `ȳ` (0), the adjoint of the operand (1), `p` (2) and `q` (3).
struct Backward<'a, P> {
    walk: Walk<4>,
    base: usize,
    values: &'a [f64],
    adjoint: &'a [f64],
    into: &'a mut [f64],
    y: usize,
    pull: PhantomData<P>,
}

impl<P: Pull> Kernel for Backward<'_, P> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { walk, base, values, adjoint, into, y: start, .. } = self;
        let n = walk.inner;
        let shared = walk.unit[0] && walk.unit[1] && walk.steps[1][1] == 0 && walk.outer[0] == 1 && walk.outer[1] > 1;
        if shared && n % LANES == 0 {
            column_sums::<P>(&walk, values, &adjoint[walk.start[0] - start..], &mut into[walk.start[1] - base..]);
            return;
        }
        walk.rows(
            #[inline(always)]
            |[y, a, p, q]| {
                let (y, a) = (y - start, a - base);
                if !walk.unit[0] {
                    // The result is one number for the whole row: `q` is, too.
                    let (d, q) = (adjoint[y], values[q]);
                    match [walk.unit[1], walk.unit[2]] {
                        [true, true] => {
                            for (to, &p) in into[a..a + n].iter_mut().zip(&values[p..p + n]) {
                                *to += P::at(d, p, q);
                            }
                        }
                        [true, false] => {
                            let change = P::at(d, values[p], q);
                            into[a..a + n].iter_mut().for_each(|to| *to += change);
                        }
                        [false, true] => {
                            let p = &values[p..p + n];
                            into[a] += row_sum(
                                n,
                                #[inline(always)]
                                |i| P::at(d, p[i], q),
                            );
                        }
                        [false, false] => into[a] += P::at(d, values[p], q),
                    }
                    return;
                }
                let d = &adjoint[y..y + n];
                let q = &values[q..q + n];
                match [walk.unit[1], walk.unit[2]] {
                    [true, true] => {
                        let p = &values[p..p + n];
                        for (((to, &d), &p), &q) in into[a..a + n].iter_mut().zip(d).zip(p).zip(q) {
                            *to += P::at(d, p, q);
                        }
                    }
                    [true, false] => {
                        let p = values[p];
                        for ((to, &d), &q) in into[a..a + n].iter_mut().zip(d).zip(q) {
                            *to += P::at(d, p, q);
                        }
                    }
                    [false, true] => {
                        let p = &values[p..p + n];
                        into[a] += row_sum(
                            n,
                            #[inline(always)]
                            |i| P::at(d[i], p[i], q[i]),
                        );
                    }
                    [false, false] => {
                        let p = values[p];
                        into[a] += row_sum(
                            n,
                            #[inline(always)]
                            |i| P::at(d[i], p, q[i]),
                        );
                    }
                }
            },
        );
    }
}

const LANES: usize = 8;

/// All rows are added to the same row, eight columns at a time: in the order of [`row_sum`], so that a lane alone has the
/// same bits.
#[inline(always)]
fn column_sums<P: Pull>(walk: &Walk<4>, values: &[f64], adjoint: &[f64], into: &mut [f64]) {
    let [step, _, p_step, q_step] = walk.steps[1];
    let eight =
        |numbers: &[f64], at: usize| -> [f64; LANES] { numbers[at..at + LANES].try_into().expect("eight items") };
    for from in (0..walk.inner).step_by(LANES) {
        let sum = lanes_sum(
            walk.outer[1],
            #[inline(always)]
            |r| {
                let d = eight(adjoint, r * step + from);
                let p_at = walk.start[2] + r * p_step;
                let p = if walk.unit[2] { eight(values, p_at + from) } else { [values[p_at]; LANES] };
                let q = eight(values, walk.start[3] + r * q_step + from);
                let mut change = [0.0; LANES];
                for l in 0..LANES {
                    change[l] = P::at(d[l], p[l], q[l]);
                }
                change
            },
        );
        for (to, sum) in into[from..from + LANES].iter_mut().zip(sum) {
            *to += sum;
        }
    }
}

fn pull<P: Pull>(arena: &mut Arena, width: Width, y: Block, into: Block, p: Block) {
    // A number and a vector without elements.
    if y.count() == 0 {
        return;
    }
    let (values, mut adjoints) = arena.both();
    let base = adjoints.base();
    let (low, adjoint) = adjoints.below(y, width);
    let n = y.count().max(into.count()).max(p.count());
    if n == 1 && adjoint.len() == 1 {
        low[into.start() - base] += P::at(adjoint[0], values[p.start()], values[y.start()]);
        return;
    }
    let walk = Walk::new(n, width, [y, into, p, y]);
    let kernel = Backward { walk, base, values, adjoint, into: low, y: y.start(), pull: PhantomData::<P> };
    dispatch(kernel);
}

/// The adjoints of the operands that have one.
pub fn reverse(arena: &mut Arena, width: Width, operator: Arithmetic, [a, b]: [Block; 2], y: Block) {
    if a.gradient() {
        match operator {
            Arithmetic::Add | Arithmetic::Subtract => pull::<Same>(arena, width, y, a, y),
            Arithmetic::Multiply => pull::<Times>(arena, width, y, a, b),
            Arithmetic::Divide => pull::<Over>(arena, width, y, a, b),
        }
    }
    if b.gradient() {
        match operator {
            Arithmetic::Add => pull::<Same>(arena, width, y, b, y),
            Arithmetic::Subtract => pull::<Negated>(arena, width, y, b, y),
            Arithmetic::Multiply => pull::<Times>(arena, width, y, b, a),
            Arithmetic::Divide => pull::<MinusTimesOver>(arena, width, y, b, b),
        }
    }
}

/// `ā += ȳ p`, where `p` is a saved partial derivative of `y` by `a`, element by element; a scalar `y` may have a
/// partial derivative for each element of `a`.
pub fn pull_partial(arena: &mut Arena, width: Width, y: Block, into: Block, partial: Block) {
    pull::<Times>(arena, width, y, into, partial);
}

/// `ā += ȳ`.
pub fn pull_same(arena: &mut Arena, width: Width, y: Block, into: Block) {
    pull::<Same>(arena, width, y, into, y);
}

/// `ā -= ȳ`.
pub fn pull_negated(arena: &mut Arena, width: Width, y: Block, into: Block) {
    pull::<Negated>(arena, width, y, into, y);
}
