//! Bessel functions of integer order with their derivatives, by three-term recurrences from orders 0 and 1
//! (DLMF 10.6, 10.29), in the direction in which they are stable.

use crate::density::Partials;

/// Terms smaller than this relative to the result do not count.
const NEGLIGIBLE_EXPONENT: f64 = 40.0;

/// From here on the recurrence of modified functions goes upwards for small orders.
const UPWARD: f64 = 1e4;

/// (−1)ⁿ
fn alternate(n: u32) -> f64 {
    if n.is_multiple_of(2) { 1.0 } else { -1.0 }
}

/// The sign of the function of order −n or argument −x, relative to that of n and x.
fn parity(order: i32, x: f64) -> f64 {
    let n = order.unsigned_abs();
    if (order < 0) == (x < 0.0) { 1.0 } else { alternate(n) }
}

/// The Bessel function of the first kind `J_n(x)`.
pub fn bessel_first_kind(order: i32, x: f64) -> f64 {
    parity(order, x) * first_kind(order.unsigned_abs(), x.abs()).1
}

/// [`bessel_first_kind`] with its derivative (`J_{n−1}` − `J_{n+1}`) / 2.
pub fn bessel_first_kind_partials(order: i32, x: f64) -> Partials<1> {
    let n = order.unsigned_abs();
    let (before, value, after) = first_kind(n, x.abs());
    let sign = parity(order, x);
    // J_n(−x) = (−1)ⁿ J_n(x): its derivative has the other sign
    Partials { value: sign * value, d: [sign * if x < 0.0 { -0.5 } else { 0.5 } * (before - after)] }
}

/// `J_{n−1}`, `J_n` and `J_{n+1}` at x ≥ 0.
fn first_kind(n: u32, x: f64) -> (f64, f64, f64) {
    let (j0, j1) = (pxfm::f_j0(x), pxfm::f_j1(x));
    if x.is_nan() || x.is_infinite() {
        return (j0, j0, j0);
    }
    if x == 0.0 {
        let at = |k: u32| if k == 0 { 1.0 } else { 0.0 };
        return if n == 0 { (0.0, 1.0, 0.0) } else { (at(n - 1), 0.0, 0.0) };
    }
    if f64::from(n) < x {
        // J₋₁ = −J₁
        let (mut before, mut value) = (-j1, j0);
        for k in 0..n {
            (before, value) = (value, 2.0 * f64::from(k) / x * value - before);
        }
        let after = 2.0 * f64::from(n) / x * value - before;
        return (before, value, after);
    }
    backward(n, x, j0, j1)
}

/// Miller's algorithm: recurrence downwards from far above n, where any start converges to the function up to a factor,
/// which the larger of J₀ and J₁ determines.
fn backward(n: u32, x: f64, j0: f64, j1: f64) -> (f64, f64, f64) {
    const BIG: f64 = 1e200;
    let start = start_order(n, x);
    let (mut after, mut value) = (0.0, 1e-200);
    // [J_{n−1}, J_n, J_{n+1}] up to the factor
    let mut kept = [0.0_f64; 3];
    for k in (0..start).rev() {
        // `value` is the function of order k + 1
        let before = 2.0 * f64::from(k + 1) / x * value - after;
        (after, value) = (value, before);
        if value.abs() > BIG {
            value /= BIG;
            after /= BIG;
            kept.iter_mut().for_each(|v| *v /= BIG);
        }
        if k == n + 1 {
            kept[2] = value;
        } else if k == n {
            kept[1] = value;
        } else if k + 1 == n {
            kept[0] = value;
        }
    }
    // now `value` is J₀ and `after` J₁; for n = 0 J₋₁ is −J₁
    let scale = if j0.abs() > j1.abs() { j0 / value } else { j1 / after };
    let before = if n == 0 { -j1 } else { scale * kept[0] };
    (before, scale * kept[1], scale * kept[2])
}

/// An order above n and x from which a backward recurrence has converged at n to rounding.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a positive number of steps")]
fn start_order(n: u32, x: f64) -> u32 {
    let base = f64::from(n).max(x);
    (base + 25.0 + NEGLIGIBLE_EXPONENT.sqrt() * 1.8 * base.cbrt() + 4.0 * base.sqrt()) as u32
}

/// The Bessel function of the second kind `Y_n(x)`, for x ≥ 0.
pub fn bessel_second_kind(order: i32, x: f64) -> f64 {
    bessel_second_kind_partials(order, x).value
}

/// [`bessel_second_kind`] with its derivative (`Y_{n−1}` − `Y_{n+1}`) / 2.
pub fn bessel_second_kind_partials(order: i32, x: f64) -> Partials<1> {
    if x.is_nan() || x < 0.0 {
        return Partials { value: f64::NAN, d: [f64::NAN] };
    }
    let n = order.unsigned_abs();
    let sign = if order < 0 { alternate(n) } else { 1.0 };
    if x == 0.0 {
        return Partials { value: -sign * f64::INFINITY, d: [sign * f64::INFINITY] };
    }
    let (y0, y1) = (pxfm::f_y0(x), pxfm::f_y1(x));
    let (mut before, mut value, mut after) = (-y1, y0, y1);
    for k in 0..n {
        (before, value) = (value, after);
        after = 2.0 * f64::from(k + 1) / x * value - before;
        if value == f64::NEG_INFINITY {
            after = value;
            break;
        }
    }
    Partials { value: sign * value, d: [sign * 0.5 * (before - after)] }
}

/// log I₀(x) − |x|
pub fn log_bessel_scaled(x: f64) -> f64 {
    pxfm::f_i0e(x).ln()
}

/// I₁(x)/I₀(x)
pub fn bessel_ratio(x: f64) -> f64 {
    pxfm::f_i1e(x) / pxfm::f_i0e(x)
}

/// The modified Bessel function of the first kind `I_n(x)`.
pub fn modified_bessel_first_kind(order: i32, x: f64) -> f64 {
    modified_bessel_first_kind_partials(order, x).value
}

/// [`modified_bessel_first_kind`] with its derivative (`I_{n−1}` + `I_{n+1}`) / 2.
pub fn modified_bessel_first_kind_partials(order: i32, x: f64) -> Partials<1> {
    let n = order.unsigned_abs();
    let (sign, z) = if x < 0.0 { (alternate(n), -x) } else { (1.0, x) };
    let flip = if x < 0.0 { -sign } else { sign };
    let (before, value, after) = scaled_modified_first_kind(n, z);
    // in two factors, for a result that is finite where exp(x) is not
    let half = (0.5 * z).exp();
    Partials { value: sign * half * (half * value), d: [flip * half * (half * (0.5 * (before + after)))] }
}

/// exp(−x) times `I_{n−1}`, `I_n` and `I_{n+1}` at x ≥ 0: the ratios rₖ = Iₖ / Iₖ₋₁ = x / (2k + x rₖ₊₁) are all
/// positive, and the downward recurrence forgets its start. It takes some √x steps. Where n² ≤ x, errors of the upward
/// recurrence `I_{k+1}` = `I_{k−1}` − 2k/x Iₖ grow by e^(n²/x) at most, and it takes n.
fn scaled_modified_first_kind(n: u32, x: f64) -> (f64, f64, f64) {
    let (i0, i1) = (pxfm::f_i0e(x), pxfm::f_i1e(x));
    if n == 0 || x.is_nan() || x.is_infinite() {
        return (i1, i0, i1);
    }
    if x > UPWARD && f64::from(n).powi(2) <= x {
        let (mut before, mut value) = (i0, i1);
        for k in 1..n {
            (before, value) = (value, before - 2.0 * f64::from(k) / x * value);
        }
        return (before, value, before - 2.0 * f64::from(n) / x * value);
    }
    let start = ratio_start(n, x);
    let mut ratio = 0.0;
    let (mut product, mut after_ratio) = (1.0, 0.0);
    let mut last = 0.0;
    for k in (1..=start).rev() {
        ratio = x / (2.0 * f64::from(k) + x * ratio);
        if k == n + 1 {
            after_ratio = ratio;
        } else if k == n {
            last = ratio;
        } else if k < n {
            product *= ratio;
        }
    }
    let before = i0 * product;
    let value = before * last;
    (before, value, value * after_ratio)
}

/// The error of the start falls like `(I_N / I_n)²`, or exp(−(N² − n²) / x) where x is large.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a positive number of steps")]
fn ratio_start(n: u32, x: f64) -> u32 {
    let n = f64::from(n);
    (NEGLIGIBLE_EXPONENT.mul_add(x, n * n).sqrt() + 20.0) as u32
}

/// The modified Bessel function of the second kind `K_n(x)`, for x ≥ 0.
pub fn modified_bessel_second_kind(order: i32, x: f64) -> f64 {
    modified_bessel_second_kind_partials(order, x).value
}

/// [`modified_bessel_second_kind`] with its derivative −(`K_{n−1}` + `K_{n+1}`) / 2.
pub fn modified_bessel_second_kind_partials(order: i32, x: f64) -> Partials<1> {
    if x.is_nan() || x < 0.0 {
        return Partials { value: f64::NAN, d: [f64::NAN] };
    }
    if x == 0.0 {
        return Partials { value: f64::INFINITY, d: [f64::NEG_INFINITY] };
    }
    let n = order.unsigned_abs();
    let (k0, k1) = (pxfm::f_k0(x), pxfm::f_k1(x));
    let (mut before, mut value, mut after) = (k1, k0, k1);
    for k in 0..n {
        (before, value) = (value, after);
        after = 2.0 * f64::from(k + 1) / x * value + before;
        if value == f64::INFINITY {
            break;
        }
    }
    Partials { value, d: [-0.5 * (before + after)] }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::special::reference::check;

    const TABLE: &str = include_str!("reference/bessel.txt");

    type Function = fn(i32, f64) -> Partials<1>;

    #[expect(clippy::cast_possible_truncation, reason = "the table has small integers")]
    fn compare(name: &str, bounds: [f64; 2], f: Function) {
        check(TABLE, name, bounds, |a| {
            let p = f(a[0] as i32, a[1]);
            [p.value, p.d[0]]
        });
    }

    #[test]
    fn first_kinds() {
        // values near zeros of these functions have an absolute accuracy only
        compare("bessel_first_kind", [1e-13, 1e-12], bessel_first_kind_partials);
    }

    #[test]
    fn second_kind() {
        compare("bessel_second_kind", [1e-13, 1e-12], bessel_second_kind_partials);
    }

    /// For large x the function does not depend on the order but for exp(−n²/2x), whose terms are those of DLMF 10.40.1;
    /// both recurrences agree where one takes over, and neither takes long.
    #[test]
    fn large_arguments() {
        for (n, x) in [(3_u32, 1e6), (40, 1e7), (5, 1e12), (2, 1e300), (100_000, 1e11)] {
            let order = 4.0 * f64::from(n).powi(2);
            let (mut term, mut sum) = (1.0, 1.0);
            for k in 1..40 {
                let odd = f64::from(2 * k - 1);
                term *= -(order - odd * odd) / (8.0 * f64::from(k) * x);
                sum += term;
            }
            let wanted = sum / (2.0 * std::f64::consts::PI * x).sqrt();
            let (_, value, _) = scaled_modified_first_kind(n, x);
            assert!((value / wanted - 1.0).abs() < 1e-11, "{n} {x}: {value} for {wanted}");
        }
        let at = |n: u32| scaled_modified_first_kind(n, 10_201.0).1;
        // 101² = 10,201: one goes up, the next goes down; log I is smooth in the order
        let bend = at(100).ln() - 2.0 * at(101).ln() + at(102).ln();
        assert!((bend + 1.0 / 10_201.0).abs() < 1e-7, "{bend}");
        assert!(modified_bessel_first_kind(3, 1e15).is_infinite());
    }

    #[test]
    fn modified_first_kind() {
        compare("modified_bessel_first_kind", [1e-14, 1e-14], modified_bessel_first_kind_partials);
    }

    #[test]
    fn modified_second_kind() {
        compare("modified_bessel_second_kind", [1e-14, 1e-14], modified_bessel_second_kind_partials);
    }

    #[test]
    fn wronskians() {
        // DLMF 10.5.2 and 10.28.2: J Y′ − J′ Y = 2 / (π x), I K′ − I′ K = −1 / x
        for n in [0, 1, 4, 30, -3] {
            for x in [0.5, 3.0, 29.5, 30.5, 200.0] {
                let (j, y) = (bessel_first_kind_partials(n, x), bessel_second_kind_partials(n, x));
                let wronskian = j.value * y.d[0] - j.d[0] * y.value;
                assert!((wronskian * std::f64::consts::PI * x / 2.0 - 1.0).abs() < 1e-12, "{n} {x}");
                let (i, k) = (modified_bessel_first_kind_partials(n, x), modified_bessel_second_kind_partials(n, x));
                let wronskian = i.value * k.d[0] - i.d[0] * k.value;
                assert!((wronskian * x + 1.0).abs() < 1e-13, "{n} {x}");
            }
        }
    }

    #[test]
    fn symmetries_and_edges() {
        for n in [0, 1, 2, 5] {
            let sign = if n % 2 == 0 { 1.0 } else { -1.0 };
            for f in [bessel_first_kind_partials, modified_bessel_first_kind_partials] {
                let (plus, minus) = (f(n, 2.5), f(n, -2.5));
                assert!(
                    (plus.value - sign * minus.value).abs() < 1e-15 && (plus.d[0] + sign * minus.d[0]).abs() < 1e-15
                );
                assert!((f(n, 0.0).value - f64::from(u8::from(n == 0))).abs() < 1e-300);
                assert!((f(n, 0.0).d[0] - if n == 1 { 0.5 } else { 0.0 }).abs() < 1e-300);
                assert!(f(n, f64::NAN).value.is_nan());
            }
            assert!((bessel_first_kind(-n, 2.5) - sign * bessel_first_kind(n, 2.5)).abs() < 1e-15);
            assert!((bessel_second_kind(-n, 2.5) - sign * bessel_second_kind(n, 2.5)).abs() < 1e-15);
            assert!(bessel_second_kind(n, 0.0) < f64::MIN && modified_bessel_second_kind(n, 0.0) > f64::MAX);
            assert!(bessel_second_kind(n, -1.0).is_nan() && modified_bessel_second_kind(n, -1.0).is_nan());
        }
        assert!(bessel_second_kind(200, 1e-3) < f64::MIN && modified_bessel_second_kind(200, 1e-3) > f64::MAX);
    }
}
