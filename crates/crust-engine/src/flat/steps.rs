//! What steps do with the numbers of a tile. Everything is inlined into the run of a strip, which is compiled for each
//! instruction set.

use crust_math::lanes::scalar::{exp, log, log_add_exp_with_slopes};

use super::rows::{add_product, load, repeat_last, store, sum};
use super::{Into, Register, TILE};
use crate::kernels::arithmetic::Arithmetic;
use crate::kernels::fma;

/// The numbers of a register, on cache lines of their own. One line more than needed: without it, registers would be a
/// power of two apart, and the processor takes a number at the same place in a page for the one that has just been
/// written.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub struct Tile(pub [f64; TILE], #[expect(dead_code, reason = "it only takes up room")] [f64; LINE]);

const LINE: usize = 8;

impl Tile {
    pub const ZERO: Self = Self([0.0; TILE], [0.0; LINE]);
}

/// The registers with numbers lower than that of `out`, and `out`.
#[inline(always)]
pub fn below(registers: &mut [Tile], out: Register, n: usize) -> (&[Tile], &mut [f64]) {
    let (low, high) = registers.split_at_mut(usize::from(out));
    (low, &mut high[0].0[..n])
}

/// The registers below, to be changed, and a register.
#[inline(always)]
pub fn adjoint_and_below(registers: &mut [Tile], out: Register, n: usize) -> (&mut [Tile], &[f64]) {
    let (low, high) = registers.split_at_mut(usize::from(out));
    (low, &high[0].0[..n])
}

#[inline(always)]
pub fn at(registers: &[Tile], register: Register, n: usize) -> &[f64] {
    &registers[usize::from(register)].0[..n]
}

#[inline(always)]
pub fn at_mut(registers: &mut [Tile], register: Register, n: usize) -> &mut [f64] {
    &mut registers[usize::from(register)].0[..n]
}

/// Sets each item of the last row to the value of a body, in which the names stand for items. Whole lines are loaded
/// and stored as arrays: a plain loop would be compiled for many lines at once, and most tiles of small models have
/// one.
macro_rules! items {
    ([$($x:ident),*], $y:ident, $body:expr) => {{
        let n = $y.len();
        $(let $x = &$x[..n];)*
        let mut at = 0;
        while at + LINE <= n {
            $(let $x = load::<LINE>($x, at);)*
            let mut line = load::<LINE>($y, at);
            for l in 0..LINE {
                $(let $x = $x[l];)*
                #[allow(unused_variables, reason = "not every body looks at what was there")]
                let $y = line[l];
                line[l] = $body;
            }
            store($y, at, line);
            at += LINE;
        }
        for i in at..n {
            $(let $x = $x[i];)*
            #[allow(unused_variables, reason = "as above")]
            let item = {
                let $y = $y[i];
                $body
            };
            $y[i] = item;
        }
    }};
}

#[inline(always)]
pub fn arithmetic(operator: Arithmetic, a: &[f64], b: &[f64], out: &mut [f64]) {
    match operator {
        Arithmetic::Add => items!([a, b], out, a + b),
        Arithmetic::Subtract => items!([a, b], out, a - b),
        Arithmetic::Multiply => items!([a, b], out, a * b),
        Arithmetic::Divide => items!([a, b], out, a / b),
    }
}

/// `out = 1/x`
#[inline(always)]
pub fn invert(x: &[f64], out: &mut [f64]) {
    items!([x], out, 1.0 / x);
}

/// `to = scale · ȳ`, or that much more.
#[inline(always)]
pub fn pull(into: Into, to: &mut [f64], adjoint: &[f64], scale: f64) {
    match into {
        Into::Nothing | Into::Sum => {}
        Into::Set => items!([adjoint], to, scale * adjoint),
        Into::Add => items!([adjoint], to, fma(scale, adjoint, to)),
    }
}

/// `to = ȳ p`, or that much more.
#[inline(always)]
pub fn pull_times(into: Into, to: &mut [f64], adjoint: &[f64], partial: &[f64]) {
    match into {
        Into::Nothing | Into::Sum => {}
        Into::Set => items!([adjoint, partial], to, adjoint * partial),
        Into::Add => items!([adjoint, partial], to, fma(adjoint, partial, to)),
    }
}

/// `to = ȳ/b`, or that much more: the adjoint of the numerator.
#[inline(always)]
pub fn pull_over(into: Into, to: &mut [f64], adjoint: &[f64], b: &[f64]) {
    match into {
        Into::Nothing | Into::Sum => {}
        Into::Set => items!([adjoint, b], to, adjoint / b),
        Into::Add => items!([adjoint, b], to, to + adjoint / b),
    }
}

/// The adjoint of the denominator of `y = a/b`: `−ȳ y/b`.
#[inline(always)]
pub fn pull_denominator(into: Into, to: &mut [f64], adjoint: &[f64], y: &[f64], b: &[f64]) {
    match into {
        Into::Nothing | Into::Sum => {}
        Into::Set => items!([adjoint, y, b], to, -adjoint * y / b),
        Into::Add => items!([adjoint, y, b], to, to - adjoint * y / b),
    }
}

/// `out = plus + factor x`
#[inline(always)]
pub fn affine(factor: f64, x: &[f64], plus: Option<&[f64]>, out: &mut [f64]) {
    match plus {
        None => items!([x], out, factor * x),
        Some(plus) => items!([x, plus], out, fma(factor, x, plus)),
    }
}

/// `out = plus + factor x / divisor`, with the reciprocal of the divisor.
#[inline(always)]
pub fn affine_over(factor: f64, inverse: &[f64], x: &[f64], plus: Option<&[f64]>, out: &mut [f64]) {
    match plus {
        None => items!([x, inverse], out, factor * inverse * x),
        Some(plus) => items!([x, inverse, plus], out, fma(factor * inverse, x, plus)),
    }
}

/// The adjoint of the divisor of `y = t x`: `−ȳ y` over the divisor, or that much more.
#[inline(always)]
pub fn pull_divisor(into: Into, to: &mut [f64], adjoint: &[f64], (factor, x): (f64, &[f64]), inverse: &[f64]) {
    match into {
        Into::Nothing | Into::Sum => {}
        Into::Set => items!([adjoint, x, inverse], to, -adjoint * (factor * inverse * x) * inverse),
        Into::Add => items!([adjoint, x, inverse], to, fma(-adjoint * (factor * inverse * x), inverse, to)),
    }
}

/// `to = ȳ factor / divisor`, or that much more, with the reciprocal of the divisor.
#[inline(always)]
pub fn pull_affine(into: Into, to: &mut [f64], adjoint: &[f64], factor: f64, inverse: &[f64]) {
    match into {
        Into::Nothing | Into::Sum => {}
        Into::Set => items!([adjoint, inverse], to, adjoint * (factor * inverse)),
        Into::Add => items!([adjoint, inverse], to, fma(adjoint, factor * inverse, to)),
    }
}

/// The adjoint of a in `(a − b)²`, or that much more.
#[inline(always)]
pub fn pull_difference(into: Into, to: &mut [f64], adjoint: &[f64], a: &[f64], b: &[f64]) {
    match into {
        Into::Nothing | Into::Sum => {}
        Into::Set => items!([adjoint, a, b], to, adjoint * (2.0 * (a - b))),
        Into::Add => items!([adjoint, a, b], to, fma(adjoint, 2.0 * (a - b), to)),
    }
}

/// `out = (a − b)²`, or that much more.
#[inline(always)]
pub fn square_difference(first: bool, a: &[f64], b: &[f64], out: &mut [f64]) {
    if first {
        items!([a, b], out, (a - b) * (a - b));
    } else {
        items!([a, b], out, fma(a - b, a - b, out));
    }
}

/// `out = (a − b)² + (c − d)²`
#[inline(always)]
pub fn square_differences([a, b, c, d]: [&[f64]; 4], out: &mut [f64]) {
    items!([a, b, c, d], out, fma(c - d, c - d, (a - b) * (a - b)));
}

/// `z = (y − μ)/σ`: sets `squares` to `z²` and `slope` to `z` times the weight.
#[inline(always)]
pub fn normal([y, mu, inverse, weight]: [&[f64]; 4], squares: &mut [f64], slope: &mut [f64]) {
    let n = slope.len();
    let (y, mu, inverse, weight, squares) = (&y[..n], &mu[..n], &inverse[..n], &weight[..n], &mut squares[..n]);
    let mut at = 0;
    while at + LINE <= n {
        let rows = [load::<LINE>(y, at), load::<LINE>(mu, at), load::<LINE>(inverse, at), load::<LINE>(weight, at)];
        let (mut found, mut slopes) = ([0.0; LINE], [0.0; LINE]);
        for l in 0..LINE {
            let z = (rows[0][l] - rows[1][l]) * rows[2][l];
            found[l] = z * z;
            slopes[l] = z * rows[3][l];
        }
        store(squares, at, found);
        store(slope, at, slopes);
        at += LINE;
    }
    for i in at..n {
        let z = (y[i] - mu[i]) * inverse[i];
        squares[i] = z * z;
        slope[i] = z * weight[i];
    }
}

/// What residuals and their slopes are multiplied by.
#[derive(Clone, Copy)]
pub struct Scale<const L: usize> {
    pub inverse: [f64; L],
    pub weight: [f64; L],
}

/// `z = (y − μ)/σ` for a row of normal log densities.
#[inline(always)]
fn residuals<const L: usize>(y: [f64; L], mu: [f64; L], scale: &Scale<L>) -> [f64; L] {
    let mut z = y;
    for l in 0..L {
        z[l] = (y[l] - mu[l]) * scale.inverse[l];
    }
    z
}

/// `x y`, lane by lane.
#[inline(always)]
fn products<const L: usize>(x: [f64; L], y: [f64; L]) -> [f64; L] {
    let mut row = x;
    for l in 0..L {
        row[l] = x[l] * y[l];
    }
    row
}

/// The sum of the squares of rows, in four parts, so that they need not wait for each other.
struct Squares<const L: usize>([[f64; L]; 4]);

impl<const L: usize> Squares<L> {
    #[inline(always)]
    fn total(self) -> [f64; L] {
        let [a, b, c, d] = self.0;
        sum(sum(a, c), sum(b, d))
    }
}

/// The same with data for `y`, one number for each iteration of a block: gives the sum of `z²`.
#[inline(always)]
pub fn normal_data<const L: usize>(column: &[f64], mu: &[f64], scale: Scale<L>, slope: &mut [f64]) -> [f64; L] {
    let mut squares = Squares([[0.0; L]; 4]);
    let (fours, rest) = column.as_chunks::<4>();
    let (mu, mu_rest) = mu.split_at(fours.len() * 4 * L);
    let (slope, slope_rest) = slope.split_at_mut(fours.len() * 4 * L);
    for ((y, mu), slope) in fours.iter().zip(mu.chunks_exact(4 * L)).zip(slope.chunks_exact_mut(4 * L)) {
        for p in 0..4 {
            let z = residuals([y[p]; L], load::<L>(mu, p * L), &scale);
            squares.0[p] = add_product(squares.0[p], z, z);
            store(slope, p * L, products(z, scale.weight));
        }
    }
    for p in 0..3 {
        if p < rest.len() {
            let z = residuals([rest[p]; L], load::<L>(mu_rest, p * L), &scale);
            squares.0[p] = add_product(squares.0[p], z, z);
            store(slope_rest, p * L, products(z, scale.weight));
        }
    }
    squares.total()
}

/// The same for blocks that stand beside each other, as many as there are lanes elsewhere.
#[inline(always)]
pub fn normal_beside<const L: usize>(column: &[f64], mu: &[f64], scale: Scale<L>, slope: &mut [f64]) -> [f64; L] {
    let mut squares = Squares([[0.0; L]; 4]);
    let (rows, mut row) = (column.len() / L, 0);
    while row < rows {
        for p in 0..4 {
            if row + p < rows {
                let at = (row + p) * L;
                let z = residuals(load::<L>(column, at), load::<L>(mu, at), &scale);
                squares.0[p] = add_product(squares.0[p], z, z);
                store(slope, at, products(z, scale.weight));
            }
        }
        row += 4;
    }
    squares.total()
}

/// The same for the iterations of one block of a lane alone, one after the other.
#[inline(always)]
pub fn normal_alone<const L: usize>(column: &[f64], mu: &[f64], scale: Scale<L>, slope: &mut [f64]) -> [f64; 1] {
    let mut z = [0.0; TILE / LINE];
    let z = &mut z[..column.len()];
    let (mu, slope) = (&mu[..column.len()], &mut slope[..column.len()]);
    for i in 0..column.len() {
        z[i] = (column[i] - mu[i]) * scale.inverse[0];
        slope[i] = z[i] * scale.weight[0];
    }
    let mut squares = Squares([[0.0]; 4]);
    let (fours, rest) = z.as_chunks::<4>();
    for four in fours {
        for p in 0..4 {
            squares.0[p] = [fma(four[p], four[p], squares.0[p][0])];
        }
    }
    for (square, z) in squares.0.iter_mut().zip(rest) {
        *square = [fma(*z, *z, square[0])];
    }
    squares.total()
}

/// A row of numbers, the last of which is repeated.
#[inline(always)]
fn filled_up<const L: usize>(numbers: &[f64]) -> [f64; L] {
    let mut row = [0.0; L];
    repeat_last(&mut row, numbers);
    row
}

/// The sum of `log(1 + exp(−s x))` over a block; sets `slope` to the derivative of minus that, times the seed. Where log
/// odds are `most` or more the sum is no number. Signs are those of iterations, or of blocks that stand beside each
/// other.
///
/// `Σ log(1 + exp t)` is the sum of the positive t and the logarithm of the product of all `1 + exp(−|t|)`: these are
/// at most 2, and 128 of them no more than 2¹²⁸.
#[inline(always)]
pub fn log_odds<const L: usize, const S: bool>(
    signs: &[f64],
    (x, most): (&[f64], f64),
    seeds: [f64; L],
    slope: &mut [f64],
) -> [f64; L] {
    let mut sums = Softplus { positive: [0.0; L], product: [1.0; L], largest: [0.0; L] };
    if S {
        for ((signs, x), slope) in signs.chunks_exact(L).zip(x.chunks_exact(L)).zip(slope.chunks_exact_mut(L)) {
            let odds = Odds::of(load::<L>(signs, 0), load::<L>(x, 0));
            sums.add(&odds);
            store(slope, 0, products(seeds, odds.slope));
        }
    } else {
        for ((&sign, x), slope) in signs.iter().zip(x.chunks_exact(L)).zip(slope.chunks_exact_mut(L)) {
            let odds = Odds::of([sign; L], load::<L>(x, 0));
            sums.add(&odds);
            store(slope, 0, products(seeds, odds.slope));
        }
    }
    sums.values(most)
}

/// The same for the iterations of one block of a lane alone, one after the other.
#[inline(always)]
pub fn log_odds_alone<const L: usize>(
    signs: &[f64],
    (x, most): (&[f64], f64),
    seeds: [f64; L],
    slope: &mut [f64],
) -> f64 {
    let mut sums = Softplus { positive: [0.0], product: [1.0], largest: [0.0] };
    for (signs, (x, slope)) in signs.chunks(L).zip(x.chunks_exact(L).zip(slope.chunks_exact_mut(L))) {
        let odds = Odds::of(filled_up(signs), load::<L>(x, 0));
        store(slope, 0, products(seeds, odds.slope));
        for l in 0..signs.len() {
            sums.add(&Odds { t: [odds.t[l]], size: [odds.size[l]], sum: [odds.sum[l]], slope: [0.0] });
        }
    }
    sums.values(most)[0]
}

/// What belongs to log(1 + exp t), t = −s x.
struct Odds<const L: usize> {
    t: [f64; L],
    /// |t|
    size: [f64; L],
    /// 1 + exp(−|t|)
    sum: [f64; L],
    /// The derivative of −log(1 + exp t) by x.
    slope: [f64; L],
}

impl<const L: usize> Odds<L> {
    #[inline(always)]
    fn of(sign: [f64; L], x: [f64; L]) -> Self {
        let mut odds = Self { t: x, size: x, sum: x, slope: x };
        for l in 0..L {
            let t = -sign[l] * x[l];
            let e = exp(-t.abs());
            let numerator = if t < 0.0 { e } else { 1.0 };
            odds.t[l] = t;
            odds.size[l] = t.abs();
            odds.sum[l] = 1.0 + e;
            odds.slope[l] = sign[l] * (numerator / odds.sum[l]);
        }
        odds
    }
}

/// Sums of log(1 + exp t).
struct Softplus<const L: usize> {
    positive: [f64; L],
    product: [f64; L],
    /// The largest |t|.
    largest: [f64; L],
}

impl<const L: usize> Softplus<L> {
    #[inline(always)]
    fn add(&mut self, odds: &Odds<L>) {
        for l in 0..L {
            self.product[l] *= odds.sum[l];
            self.positive[l] += if odds.t[l] > 0.0 { odds.t[l] } else { 0.0 };
            self.largest[l] = if odds.size[l] > self.largest[l] { odds.size[l] } else { self.largest[l] };
        }
    }

    #[inline(always)]
    fn values(&self, most: f64) -> [f64; L] {
        let mut values = [0.0; L];
        for l in 0..L {
            let value = self.positive[l] + log(self.product[l]);
            values[l] = if self.largest[l] < most { value } else { f64::NAN };
        }
        values
    }
}

/// `out = max(out, x)`
#[inline(always)]
fn raise(x: &[f64], out: &mut [f64]) {
    items!([x], out, if x > out { x } else { out });
}

/// `weight = exp(x − largest)`, and adds it to `sum`.
#[inline(always)]
fn exponential(x: &[f64], largest: &[f64], sum: &mut [f64], weight: &mut [f64]) {
    let n = weight.len();
    let (x, largest, sum) = (&x[..n], &largest[..n], &mut sum[..n]);
    for i in 0..n {
        let e = exp(x[i] - largest[i]);
        weight[i] = e;
        sum[i] += e;
    }
}

/// `out = largest + log(sum)`, `sum = 1/sum`
#[inline(always)]
fn close(out: &mut [f64], sum: &mut [f64]) {
    let n = out.len();
    let sum = &mut sum[..n];
    for i in 0..n {
        out[i] += log(sum[i]);
        sum[i] = 1.0 / sum[i];
    }
}

#[inline(always)]
fn scale(x: &mut [f64], by: &[f64]) {
    items!([by], x, x * by);
}

/// `log Σ exp(x)` of several registers, and its derivatives in the registers from `weights` on, which come behind
/// `out`.
#[inline(always)]
pub fn log_sum_exp(registers: &mut [Tile], xs: &[super::Argument], weights: Register, out: Register, n: usize) {
    if let [a, b] = xs {
        let (low, rest) = registers.split_at_mut(usize::from(weights));
        let (low, out) = below(low, out, n);
        let (first, second) = rest.split_at_mut(1);
        let weights = [&mut first[0].0[..n], &mut second[0].0[..n]];
        return log_add_exp(at(low, a.register, n), at(low, b.register, n), out, weights);
    }
    let mut sum = Tile::ZERO;
    let (low, rest) = registers.split_at_mut(usize::from(weights));
    let (low, out) = below(low, out, n);
    match (xs, &mut *rest) {
        ([a, b, c], [d, e, f, ..]) => {
            let xs = [a, b, c].map(|x| at(low, x.register, n));
            return log_sum_exp_of(xs, out, [d, e, f].map(|weight| &mut weight.0[..n]));
        }
        ([a, b, c, d], [e, f, g, h, ..]) => {
            let xs = [a, b, c, d].map(|x| at(low, x.register, n));
            return log_sum_exp_of(xs, out, [e, f, g, h].map(|weight| &mut weight.0[..n]));
        }
        _ => {}
    }
    out.copy_from_slice(at(low, xs[0].register, n));
    for x in &xs[1..] {
        raise(at(low, x.register, n), out);
    }
    for (x, weight) in xs.iter().zip(&mut *rest) {
        exponential(at(low, x.register, n), out, &mut sum.0, &mut weight.0[..n]);
    }
    close(out, &mut sum.0);
    for (_, weight) in xs.iter().zip(rest) {
        scale(&mut weight.0[..n], &sum.0);
    }
}

/// The same for a few, line by line: nothing goes to memory in between.
#[inline(always)]
pub fn log_sum_exp_of<const K: usize>(xs: [&[f64]; K], out: &mut [f64], mut weights: [&mut [f64]; K]) {
    let n = out.len();
    let whole = n - n % LINE;
    for first in (0..whole).step_by(LINE) {
        let mut e = [[0.0; LINE]; K];
        for k in 0..K {
            e[k] = load::<LINE>(xs[k], first);
        }
        let (mut largest, mut sum) = (e[0], [0.0; LINE]);
        for x in &e[1..] {
            for l in 0..LINE {
                largest[l] = if x[l] > largest[l] { x[l] } else { largest[l] };
            }
        }
        for x in &mut e {
            for l in 0..LINE {
                x[l] = exp(x[l] - largest[l]);
                sum[l] += x[l];
            }
        }
        for l in 0..LINE {
            largest[l] += log(sum[l]);
            sum[l] = 1.0 / sum[l];
        }
        store(out, first, largest);
        for k in 0..K {
            for l in 0..LINE {
                e[k][l] *= sum[l];
            }
            store(weights[k], first, e[k]);
        }
    }
    for i in whole..n {
        let mut largest = xs[0][i];
        for x in &xs[1..] {
            largest = if x[i] > largest { x[i] } else { largest };
        }
        let mut sum = 0.0;
        for k in 0..K {
            weights[k][i] = exp(xs[k][i] - largest);
            sum += weights[k][i];
        }
        out[i] = largest + log(sum);
        let inverse = 1.0 / sum;
        for weight in &mut weights {
            weight[i] *= inverse;
        }
    }
}

/// The same for two: with one exponential. Line by line: of rows that might overlap, as far as the compiler knows, it
/// would take number by number.
#[inline(always)]
pub fn log_add_exp(a: &[f64], b: &[f64], out: &mut [f64], [first, second]: [&mut [f64]; 2]) {
    let n = out.len();
    let (a, b, first, second) = (&a[..n], &b[..n], &mut first[..n], &mut second[..n]);
    let whole = n - n % LINE;
    for at in (0..whole).step_by(LINE) {
        let (x, y) = (load::<LINE>(a, at), load::<LINE>(b, at));
        let (mut value, mut slopes) = ([0.0; LINE], [[0.0; LINE]; 2]);
        for l in 0..LINE {
            let (sum, [by_x, by_y]) = log_add_exp_with_slopes(x[l], y[l]);
            value[l] = sum;
            slopes[0][l] = by_x;
            slopes[1][l] = by_y;
        }
        store(out, at, value);
        store(first, at, slopes[0]);
        store(second, at, slopes[1]);
    }
    for i in whole..n {
        let (value, slopes) = log_add_exp_with_slopes(a[i], b[i]);
        out[i] = value;
        first[i] = slopes[0];
        second[i] = slopes[1];
    }
}
