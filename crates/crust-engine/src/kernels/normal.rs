//! The normal log density with one scale for all items, added up at once: the kernel that regressions spend their time
//! in.
//!
//! With `z = (y − μ)/σ` the log density of all items of a lane is `−½ Σz² − n (log σ + ½ log 2π)`, and its derivatives
//! are `∂μ = z/σ`, `∂y = −z/σ` for each item and `∂σ = (Σz² − n)/σ`.

use crust_math::lanes::{self, Kernel, dispatch};

use crate::memory::{Arena, Block, Walk, Width};

/// The blocks that the kernel walks over. `inverse`, `weight` and `squares` have one number for each lane.
#[derive(Clone, Copy, Debug)]
pub struct Normal {
    pub y: Block,
    pub mu: Block,
    /// 1/σ.
    pub inverse: Block,
    /// What `z` is multiplied with in derivatives: the seed times 1/σ.
    pub weight: Block,
    /// Σz² is written here.
    pub squares: Block,
}

const LANES: usize = 8;

struct Sums<'a> {
    walk: Walk<5>,
    values: &'a [f64],
    squares: &'a mut [f64],
    first_square: usize,
    adjoints: &'a mut [f64],
    base: usize,
    /// Whether `y` and `μ` have adjoints.
    wanted: [bool; 2],
}

/// An operand within a row: a slice, or one number.
#[derive(Clone, Copy)]
enum Row<'a> {
    Many(&'a [f64]),
    One(f64),
}

impl Row<'_> {
    #[inline(always)]
    fn at(self, i: usize) -> f64 {
        match self {
            Self::Many(row) => row[i],
            Self::One(x) => x,
        }
    }
}

impl Sums<'_> {
    /// Scale and sums differ between the items of a row: lanes.
    #[inline(always)]
    fn by_lane(&mut self) {
        let (walk, n) = (self.walk, self.walk.inner);
        let [want_y, want_mu] = self.wanted;
        // Data against a parameter with rows that share nothing but the scale: the usual case.
        if [walk.unit[0], walk.unit[1]] == [false, true] && want_mu && walk.outer[0] == 1 && n.is_multiple_of(LANES) {
            let mut from = 0;
            while from < n {
                self.eight_lanes(from);
                from += LANES;
            }
            return;
        }
        walk.rows(
            #[inline(always)]
            |[y, mu, inverse, weight, squares]| {
                let inverse = &self.values[inverse..inverse + n];
                let weight = &self.values[weight..weight + n];
                let squares = squares - self.first_square;
                let squares = &mut self.squares[squares..squares + n];
                let (y_at, mu_at) = (y.wrapping_sub(self.base), mu.wrapping_sub(self.base));
                match [walk.unit[0], walk.unit[1]] {
                    // Data against a parameter, the usual case.
                    [false, true] if want_mu => {
                        let y = self.values[y];
                        let mu = &self.values[mu..mu + n];
                        let into = &mut self.adjoints[mu_at..mu_at + n];
                        for i in 0..n {
                            let z = (y - mu[i]) * inverse[i];
                            squares[i] = z.mul_add(z, squares[i]);
                            into[i] = z.mul_add(weight[i], into[i]);
                        }
                    }
                    [true, false] if want_y => {
                        let mu = self.values[mu];
                        let y = &self.values[y..y + n];
                        let into = &mut self.adjoints[y_at..y_at + n];
                        for i in 0..n {
                            let z = (y[i] - mu) * inverse[i];
                            squares[i] = z.mul_add(z, squares[i]);
                            into[i] = (-z).mul_add(weight[i], into[i]);
                        }
                    }
                    unit => {
                        let operand = |at: usize, unit: bool| {
                            if unit { Row::Many(&self.values[at..at + n]) } else { Row::One(self.values[at]) }
                        };
                        let (y, mu) = (operand(y, unit[0]), operand(mu, unit[1]));
                        for i in 0..n {
                            let z = (y.at(i) - mu.at(i)) * inverse[i];
                            squares[i] = z.mul_add(z, squares[i]);
                            if want_y && unit[0] {
                                self.adjoints[y_at + i] -= z * weight[i];
                            }
                            if want_mu && unit[1] {
                                self.adjoints[mu_at + i] += z * weight[i];
                            }
                        }
                    }
                }
            },
        );
    }

    /// All rows of eight lanes: scale and sum stay in registers.
    #[inline(always)]
    fn eight_lanes(&mut self, from: usize) {
        let Self { walk, values, squares, first_square, adjoints, base, .. } = self;
        let eight =
            |at: usize| -> [f64; LANES] { values[at + from..at + from + LANES].try_into().expect("eight lanes") };
        let [y, mu, inverse, weight, square] = walk.start;
        let (inverse, weight) = (eight(inverse), eight(weight));
        let [y_step, mu_step, ..] = walk.steps[1];
        let mut sums = [0.0; LANES];
        for r in 0..walk.outer[1] {
            let y = values[y + r * y_step];
            let at = mu + r * mu_step;
            let row = eight(at);
            let into = at - *base + from;
            let into: &mut [f64; LANES] = (&mut adjoints[into..into + LANES]).try_into().expect("eight lanes");
            for l in 0..LANES {
                let z = (y - row[l]) * inverse[l];
                sums[l] = z.mul_add(z, sums[l]);
                into[l] = z.mul_add(weight[l], into[l]);
            }
        }
        let square = square - *first_square + from;
        for (l, to) in squares[square..square + LANES].iter_mut().enumerate() {
            *to += sums[l];
        }
    }

    /// One lane: the items of a row share scale and sum. They are added one after the other, as for more lanes.
    #[inline(always)]
    fn along_data(&mut self) {
        let (walk, n) = (self.walk, self.walk.inner);
        let [want_y, want_mu] = self.wanted;
        walk.rows(
            #[inline(always)]
            |[y, mu, inverse, weight, squares]| {
                let (inverse, weight) = (self.values[inverse], self.values[weight]);
                let (y_at, mu_at) = (y.wrapping_sub(self.base), mu.wrapping_sub(self.base));
                let operand = |at: usize, unit: bool| {
                    if unit { Row::Many(&self.values[at..at + n]) } else { Row::One(self.values[at]) }
                };
                let [y_step, mu_step] = [walk.unit[0], walk.unit[1]].map(usize::from);
                let (y, mu) = (operand(y, walk.unit[0]), operand(mu, walk.unit[1]));
                let mut sum = self.squares[squares - self.first_square];
                for i in 0..n {
                    let z = (y.at(i) - mu.at(i)) * inverse;
                    sum = z.mul_add(z, sum);
                    match [want_y, want_mu] {
                        [false, false] => {}
                        [false, true] => {
                            let to = &mut self.adjoints[mu_at + i * mu_step];
                            *to = z.mul_add(weight, *to);
                        }
                        [true, false] => {
                            let to = &mut self.adjoints[y_at + i * y_step];
                            *to = (-z).mul_add(weight, *to);
                        }
                        [true, true] => {
                            self.adjoints[y_at + i * y_step] -= z * weight;
                            self.adjoints[mu_at + i * mu_step] += z * weight;
                        }
                    }
                }
                self.squares[squares - self.first_square] = sum;
            },
        );
    }
}

impl Kernel for Sums<'_> {
    type Output = ();

    #[inline(always)]
    fn run(mut self) {
        if self.walk.unit[2] { self.by_lane() } else { self.along_data() }
    }
}

/// Adds up Σz² for `n` elements, and the derivatives for `y` and `μ` to their adjoints.
pub fn sums(arena: &mut Arena, width: Width, n: usize, normal: Normal) {
    let Normal { y, mu, inverse, weight, squares } = normal;
    let walk = Walk::new(n, width, [y, mu, inverse, weight, squares]);
    let (values, mut adjoints) = arena.both();
    let base = adjoints.base();
    // The sums lie above everything else that is looked at.
    let (low, high) = values.split_at_mut(squares.start());
    let squares_row = &mut high[..squares.len(width)];
    squares_row.fill(0.0);
    dispatch(Sums {
        walk,
        values: low,
        squares: squares_row,
        first_square: squares.start(),
        adjoints: adjoints.all(),
        base,
        wanted: [y.gradient(), mu.gradient()],
    });
}

struct Scales<'a> {
    sigma: &'a [f64],
    seed: &'a [f64],
    times: f64,
    inverse: &'a mut [f64],
    weight: &'a mut [f64],
}

impl Kernel for Scales<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { sigma, seed, times, inverse, weight } = self;
        match sigma {
            [sigma] => inverse.fill(1.0 / sigma),
            _ => inverse.iter_mut().zip(sigma).for_each(|(to, s)| *to = 1.0 / s),
        }
        match seed {
            [seed] => weight.iter_mut().zip(&*inverse).for_each(|(to, i)| *to = times * seed * i),
            _ => weight.iter_mut().zip(&*inverse).zip(seed).for_each(|((to, i), s)| *to = times * s * i),
        }
    }
}

/// 1/σ, the seed times 1/σ, and log σ for each lane; σ and the seed have one number, or one for each lane.
pub fn scales(
    (sigma, seed, times): (&[f64], &[f64], f64),
    inverse: &mut [f64],
    weight: &mut [f64],
    log_scale: &mut [f64],
) {
    match sigma {
        [sigma] => log_scale.fill(lanes::scalar::log(*sigma)),
        _ => lanes::log(sigma, log_scale),
    }
    dispatch(Scales { sigma, seed, times, inverse, weight });
}

/// What each part of the log density is multiplied with.
#[derive(Clone, Copy, Debug)]
pub struct Factors {
    pub squares: f64,
    pub log_scale: f64,
    pub constant: f64,
    /// How many items there are in a lane.
    pub count: f64,
}

/// Adds the log density of each lane to its total and the derivative for σ to its adjoint. Says whether a lane has
/// none.
pub fn finish(
    arena: &mut Arena,
    width: Width,
    factors: Factors,
    [sigma, weight, squares, log_scale, total]: [Block; 5],
) -> bool {
    let (values, mut adjoints) = arena.both();
    let (low, high) = values.split_at_mut(weight.start());
    let row = |block: Block| &high[block.start() - weight.start()..block.start() - weight.start() + width.lanes];
    let (weight, squares, log_scale) = (row(weight), row(squares), row(log_scale));
    let mut fine = true;
    for (&sum, &log) in squares.iter().zip(log_scale) {
        // The logarithm of what is not positive is not a number, or infinite.
        fine &= sum.is_finite() && log > f64::NEG_INFINITY;
    }
    for ((total, &sum), &log) in low[total.range(width)].iter_mut().zip(squares).zip(log_scale) {
        *total += factors.squares * sum + factors.log_scale * log + factors.constant;
    }
    if sigma.gradient() {
        for ((to, &w), &sum) in adjoints.of(sigma, width).iter_mut().zip(weight).zip(squares) {
            *to += w * (sum - factors.count);
        }
    }
    !fine
}
