//! Draws of the standard normal distribution that are more even than chance makes them.
//!
//! Latin hypercube sampling (`McKay`, Beckman & Conover 1979): each coordinate has one draw in each of n strata of
//! equal probability, in random order. It works in any dimension and integrates functions of one coordinate, and their
//! sums, almost exactly. Draws come in pairs z, −z, which makes all odd moments exact. Draws on which an optimum is
//! computed also get the covariance I exactly: on quadratic log densities the optimum is then the same as with all
//! draws there are. Where these are many and dimensions few, they come from a lattice, which is even in pairs of
//! coordinates as well: in hierarchical models a scale times another coordinate is what matters.

#![allow(clippy::inline_always, reason = "only what is inlined is compiled for the instruction set of its caller")]

use crust_math::lanes::{Kernel, dispatch};
use crust_math::random::StreamKey;
use crust_math::special::{gamma_p, gamma_q, lgamma};

use super::family::float;
use super::whiten::whiten;

/// n × d standard normal numbers, n even: the second half is minus the first. Each draw alone is exactly normal.
pub fn even_normals(dimension: usize, n: usize, key: StreamKey) -> Vec<f64> {
    let half = n / 2;
    let mut z = vec![0.0; 2 * half * dimension];
    let mut stream = key.stream();
    let (mut quantiles, mut positive) = (vec![0.0; half], vec![false; half]);
    for coordinate in 0..dimension {
        let strata = stream.permutation(half);
        for ((p, positive), stratum) in quantiles.iter_mut().zip(&mut positive).zip(strata) {
            // The strata of the upper half of the distribution; the sign decides which half. Both are in one number.
            let within = 2.0 * stream.uniform();
            *positive = within < 1.0;
            let within = if *positive { within } else { within - 1.0 };
            let upper = 0.5 + 0.5 * (float(stratum) + within) / float(half);
            // Rounding may reach 1, where the quantile is infinite.
            *p = upper.min(1.0 - 0.5 * f64::EPSILON);
        }
        upper_quantiles(&mut quantiles);
        let (first, second) = z.split_at_mut(half * dimension);
        let columns = [first, second].map(|z| z[coordinate..].iter_mut().step_by(dimension));
        let [first, second] = columns;
        for (((to, minus), value), positive) in first.zip(second).zip(&quantiles).zip(&positive) {
            *to = if *positive { *value } else { -value };
            *minus = -*to;
        }
    }
    z
}

/// The quantile of the standard normal distribution for ½ ≤ p < 1 by rational functions (Acklam 2003), with a relative
/// error below 1.2e-9: no draw can tell, and an exact one was a third of the time of small fits.
fn upper_quantile(p: f64) -> f64 {
    if p > 1.0 - TAIL { tail_quantile(p) } else { central_quantile(p) }
}

/// Of each number in place.
fn upper_quantiles(all: &mut [f64]) {
    struct Central<'a>(&'a mut [f64]);
    impl Kernel for Central<'_> {
        type Output = ();

        #[inline(always)]
        fn run(self) {
            self.0.iter_mut().for_each(|p| *p = central_quantile(*p));
        }
    }
    let far: Vec<(usize, f64)> = all.iter().copied().enumerate().filter(|(_, p)| *p > 1.0 - TAIL).collect();
    dispatch(Central(all));
    far.into_iter().for_each(|(i, p)| all[i] = tail_quantile(p));
}

/// From here on p has a function of its own.
const TAIL: f64 = 0.02425;

#[inline(always)]
fn polynomial(coefficients: &[f64], x: f64) -> f64 {
    coefficients.iter().fold(0.0, |sum, c| sum * x + c)
}

fn tail_quantile(p: f64) -> f64 {
    let q = (-2.0 * (1.0 - p).ln()).sqrt();
    let above = [
        -7.784_894_002_430_293e-3,
        -3.223_964_580_411_365e-1,
        -2.400_758_277_161_838,
        -2.549_732_539_343_734,
        4.374_664_141_464_968,
        2.938_163_982_698_783,
    ];
    let below = [7.784_695_709_041_462e-3, 3.224_671_290_700_398e-1, 2.445_134_137_142_996, 3.754_408_661_907_416, 1.0];
    -polynomial(&above, q) / polynomial(&below, q)
}

#[inline(always)]
fn central_quantile(p: f64) -> f64 {
    let q = p - 0.5;
    let above = [
        -3.969_683_028_665_376e1,
        2.209_460_984_245_205e2,
        -2.759_285_104_469_687e2,
        1.383_577_518_672_69e2,
        -3.066_479_806_614_716e1,
        2.506_628_277_459_239,
    ];
    let below = [
        -5.447_609_879_822_406e1,
        1.615_858_368_580_409e2,
        -1.556_989_798_598_866e2,
        6.680_131_188_771_972e1,
        -1.328_068_155_288_572e1,
        1.0,
    ];
    q * polynomial(&above, q * q) / polynomial(&below, q * q)
}

/// Generators of a lattice: k·g/n mod 1 for k = 0 … n − 1 is the coordinate of n points, a power of two. Found for pairs of
/// coordinates of 128 to 8192 points one after the other, of 40 random odd numbers each: that with the least mean and
/// largest value of Σ ω(k g/n) ω(k g′/n), ω(x) = 2π²(x² − x + 1/6) (Sloan & Joe 1994, the criterion P₂).
const GENERATORS: [usize; 32] = [
    1, 4763, 4713, 4491, 1465, 7399, 7829, 1091, 5211, 6995, 4617, 5747, 3707, 2019, 3985, 1329, 7265, 1587, 3131,
    6671, 2909, 3167, 5373, 8111, 1857, 5687, 3531, 5031, 4371, 6101, 3753, 277,
];
/// With fewer points some pairs of coordinates would hardly differ.
const LEAST_LATTICE: usize = 128;

/// n × d standard normal numbers: a randomly shifted lattice, its second half minus the first. `None` where it would be no
/// better than [`even_normals`], or worse. All strata have their draw at the same place, so that quantiles are few.
fn lattice_normals(dimension: usize, n: usize, key: StreamKey) -> Option<Vec<f64>> {
    let half = n / 2;
    if !(dimension <= GENERATORS.len() && half >= LEAST_LATTICE && half.is_power_of_two()) {
        return None;
    }
    let mut stream = key.stream();
    let within = stream.uniform();
    let quantile = |k: usize| {
        let p = (float(k) + within) / float(half);
        let upper = upper_quantile(p.max(1.0 - p).min(1.0 - 0.5 * f64::EPSILON));
        if p < 0.5 { -upper } else { upper }
    };
    let quantiles: Vec<f64> = (0..half).map(quantile).collect();
    let shifts: Vec<usize> = (0..dimension).map(|_| stream.index_below(half)).collect();
    let mut z = Vec::with_capacity(2 * half * dimension);
    for k in 0..half {
        z.extend(GENERATORS.iter().zip(&shifts).map(|(g, shift)| quantiles[(k * g + shift) & (half - 1)]));
    }
    z.extend_from_within(..);
    z[half * dimension..].iter_mut().for_each(|z| *z = -*z);
    Some(z)
}

/// Even draws with the second moments Σ z zᵀ / n = I, if there are enough draws for that; otherwise Σ zᵢ²/n = 1.
pub fn whitened_normals(dimension: usize, n: usize, key: StreamKey) -> Vec<f64> {
    let mut z = lattice_normals(dimension, n, key).unwrap_or_else(|| even_normals(dimension, n, key));
    let half = n / 2;
    let (first, second) = z.split_at_mut(half * dimension);
    if !(half >= 2 * dimension && whiten(dimension, half, first)) {
        for coordinate in 0..dimension {
            let square: f64 = first.iter().skip(coordinate).step_by(dimension).map(|z| z * z).sum();
            let scale = (float(half) / square).sqrt();
            first.iter_mut().skip(coordinate).step_by(dimension).for_each(|z| *z *= scale);
        }
    }
    second.iter_mut().zip(first).for_each(|(minus, z)| *minus = -*z);
    z
}

/// √(ν/χ²) of n draws of χ² with ν degrees of freedom, one in each of n strata of equal probability, in random order:
/// what makes normal draws those of Student's t distribution. Each alone is exactly that. In many dimensions nearly all
/// that a log density varies by is the stretch, so that its mean is known much better.
pub fn even_stretches(degrees: f64, n: usize, key: StreamKey) -> Vec<f64> {
    let mut stream = key.stream();
    // From small to large, so that each quantile is close to the one before.
    let mut near = None;
    let mut stretch = |stratum: usize| {
        let x = chi_square_quantile(degrees, (float(stratum) + stream.uniform()) / float(n), near);
        near = Some(x);
        (degrees / x).sqrt()
    };
    let mut stretches: Vec<f64> = (0..n).map(&mut stretch).collect();
    stream.shuffle(&mut stretches);
    stretches
}

/// The quantile of χ² for 0 < p < 1, with about nine digits: Newton's method for log x, between bounds, on the logarithm
/// of the smaller tail, which is nearly straight.
fn chi_square_quantile(degrees: f64, p: f64, near: Option<f64>) -> f64 {
    const STEPS: usize = 60;
    let a = 0.5 * degrees;
    let (mut low, mut high) = (-700.0_f64, 700.0_f64);
    // P(a, y) ≈ yᵃ/Γ(a + 1) for small y = x/2.
    let first = || ((p.ln() + lgamma(a + 1.0)) / a).min((a + 1.0).ln());
    let mut at = near.map_or_else(first, |x: f64| (0.5 * x).ln());
    let constant = lgamma(a);
    for _ in 0..STEPS {
        let y = at.exp();
        // d P/d log y = y d P/d y.
        let slope = (a * at - y - constant).exp();
        // Rounding spoils the larger tail.
        let step = if p < 0.5 {
            let below = gamma_p(a, y);
            (p / below).ln() * below / slope
        } else {
            let above = gamma_q(a, y);
            (above / (1.0 - p)).ln() * above / slope
        };
        if step > 0.0 {
            low = at;
        } else {
            high = at;
        }
        let next = at + step;
        let next = if next > low && next < high { next } else { 0.5 * (low + high) };
        let moved = (next - at).abs();
        at = next;
        // Newton's next step would be the square of this.
        if moved < 1e-5 {
            break;
        }
    }
    2.0 * at.exp()
}

/// n × d draws of the standard Student distribution on which an optimum is computed: even, in pairs z, −z, and with the
/// second moments Σ z zᵀ / n = I ν/(ν − 2) exactly, where these exist and there are enough draws for that. Without this the
/// optimum on n draws is that for a covariance with relative errors of √(d/n).
pub fn whitened_students(dimension: usize, n: usize, degrees: f64, key: StreamKey) -> Vec<f64> {
    let mut z = whitened_normals(dimension, n, key);
    let half = n / 2;
    let (first, second) = z.split_at_mut(half * dimension);
    let stretches = even_stretches(degrees, half, key.chain(1));
    first.chunks_exact_mut(dimension).zip(&stretches).for_each(|(z, s)| z.iter_mut().for_each(|z| *z *= s));
    if degrees > 2.0 && half >= 2 * dimension && whiten(dimension, half, first) {
        let spread = (degrees / (degrees - 2.0)).sqrt();
        first.iter_mut().for_each(|z| *z *= spread);
    }
    second.iter_mut().zip(first).for_each(|(minus, z)| *minus = -*z);
    z
}

#[cfg(test)]
mod tests {
    use super::*;
    use crust_math::random::Purpose;
    use crust_math::special::inv_Phi;

    #[test]
    fn quantiles_have_nine_digits() {
        let far = [1e-4, 1e-6, 1e-9, 1e-12].map(|q| 1.0 - q);
        for p in (1..4000).map(|i| 0.5 + f64::from(i) / 8000.0).chain(far) {
            assert!((upper_quantile(p) / inv_Phi(p) - 1.0).abs() < 1.2e-9, "{p}");
        }
        assert_eq!(upper_quantile(0.5).to_bits(), 0.0_f64.to_bits());
    }

    /// Each coordinate has a draw in each stratum; products of squares of two coordinates are much closer to their mean
    /// than with independent coordinates, in all pairs.
    #[test]
    fn lattices_are_even_in_pairs_of_coordinates() {
        assert!(lattice_normals(33, 256, StreamKey::new(1, Purpose::TEST)).is_none());
        assert!(lattice_normals(3, 128, StreamKey::new(1, Purpose::TEST)).is_none());
        assert!(lattice_normals(3, 320, StreamKey::new(1, Purpose::TEST)).is_none());
        // Waves of both coordinates: their mean square over pairs is that of n/2 independent draws, ½ · 2/n, and much less
        // on a lattice.
        let (d, n) = (32, 2048);
        let waves = |z: &[f64]| {
            let u = |i: usize| {
                z.iter().skip(i).step_by(d).take(n / 2).map(|z| 0.5 * crust_math::special::erfc(-z * 0.5_f64.sqrt()))
            };
            let wave = |u: f64| (std::f64::consts::TAU * u).cos();
            let pair = |i: usize, j: usize| u(i).zip(u(j)).map(|(a, b)| wave(a) * wave(b)).sum::<f64>() / float(n / 2);
            let pairs = (0..d).flat_map(|i| (0..i).map(move |j| (i, j)));
            pairs.map(|(i, j)| pair(i, j).powi(2)).sum::<f64>() / float(d * (d - 1) / 2)
        };
        let z = lattice_normals(d, n, StreamKey::new(1, Purpose::TEST)).unwrap();
        let independent = 0.25 * 2.0 / float(n);
        assert!(waves(&z) < 1e-3 * independent, "{} {independent}", waves(&z));
        let others = waves(&even_normals(d, n, StreamKey::new(1, Purpose::TEST)));
        assert!(others > 0.5 * independent, "{others} {independent}");
        for i in 0..d {
            let mut seen = vec![false; n];
            for x in z.iter().skip(i).step_by(d) {
                let u = 0.5 * crust_math::special::erfc(-x / std::f64::consts::SQRT_2);
                #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 0 and n")]
                let stratum = (u * float(n)) as usize;
                assert!(!std::mem::replace(&mut seen[stratum], true));
            }
        }
    }

    #[test]
    fn quantiles_of_chi_square_invert_its_distribution() {
        for degrees in [0.7, 2.0, 3.0, 10.0, 30.0, 400.0] {
            for p in [1e-12, 1e-5, 0.01, 0.3, 0.5, 0.7, 0.99, 1.0 - 1e-5, 1.0 - 1e-12] {
                let x = chi_square_quantile(degrees, p, None);
                let (below, above) = (gamma_p(0.5 * degrees, 0.5 * x), gamma_q(0.5 * degrees, 0.5 * x));
                let found = if p < 0.5 { below / p } else { above / (1.0 - p) };
                assert!((found - 1.0).abs() < 1e-8, "{degrees} {p}: {x} {found}");
            }
        }
    }

    /// Stretches fill their strata, and all draws together have exactly the second moments of the distribution.
    #[test]
    fn student_draws_are_even_and_have_their_moments() {
        let (d, n, nu) = (5, 64, 5.0);
        let key = StreamKey::new(1, Purpose::TEST);
        let mut seen = vec![false; n];
        for s in even_stretches(nu, n, key) {
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 0 and n")]
            let stratum = (gamma_p(0.5 * nu, 0.5 * nu / (s * s)) * float(n)) as usize;
            assert!(!std::mem::replace(&mut seen[stratum], true));
        }
        let z = whitened_students(d, n, nu, key);
        for i in 0..d {
            assert!(z.iter().skip(i).step_by(d).sum::<f64>().abs() < 1e-12);
            for j in 0..=i {
                let moment: f64 = z.chunks_exact(d).map(|z| z[i] * z[j]).sum::<f64>() / float(n);
                let expected = if i == j { nu / (nu - 2.0) } else { 0.0 };
                assert!((moment - expected).abs() < 1e-12, "{i} {j}: {moment}");
            }
        }
    }

    #[test]
    fn strata_are_filled_once_and_moments_are_exact() {
        let (d, n) = (5, 64);
        let z = even_normals(d, n, StreamKey::new(1, Purpose::TEST));
        for coordinate in 0..d {
            let mut seen = vec![false; n];
            for x in z.iter().skip(coordinate).step_by(d) {
                let u = 0.5 * crust_math::special::erfc(-x / std::f64::consts::SQRT_2);
                #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 0 and n")]
                let stratum = (u * float(n)) as usize;
                assert!(!std::mem::replace(&mut seen[stratum], true));
            }
        }
        let z = whitened_normals(d, n, StreamKey::new(1, Purpose::TEST));
        for i in 0..d {
            assert!(z.iter().skip(i).step_by(d).sum::<f64>().abs() < 1e-12);
            for j in 0..=i {
                let moment: f64 = z.chunks_exact(d).map(|z| z[i] * z[j]).sum::<f64>() / float(n);
                assert!((moment - f64::from(u8::from(i == j))).abs() < 1e-12);
            }
        }
    }
}
