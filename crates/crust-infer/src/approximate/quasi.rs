//! Draws of the standard normal distribution that are more even than chance makes them.
//!
//! Latin hypercube sampling (`McKay`, Beckman & Conover 1979): each coordinate has one draw in each of n strata of
//! equal probability, in random order. It works in any dimension and integrates functions of one coordinate, and their
//! sums, almost exactly. Draws come in pairs z, −z, which makes all odd moments exact. Draws on which an optimum is
//! computed also get the covariance I exactly: on quadratic log densities the optimum is then the same as with all
//! draws there are.

use crust_math::random::StreamKey;
use crust_math::special::inv_Phi;

use super::family::float;
use crate::metric::cholesky;
use crate::vector::dot;

/// n × d standard normal numbers, n even: the second half is minus the first. Each draw alone is exactly normal.
pub fn even_normals(dimension: usize, n: usize, key: StreamKey) -> Vec<f64> {
    let half = n / 2;
    let mut z = vec![0.0; 2 * half * dimension];
    let mut stream = key.stream();
    for coordinate in 0..dimension {
        for (draw, stratum) in stream.permutation(half).into_iter().enumerate() {
            // The strata of the upper half of the distribution; the sign decides which half.
            let upper = 0.5 + 0.5 * (float(stratum) + stream.uniform()) / float(half);
            // Rounding may reach 1, where the quantile is infinite.
            let value = inv_Phi(upper.min(1.0 - 0.5 * f64::EPSILON));
            let value = if stream.uniform() < 0.5 { value } else { -value };
            z[draw * dimension + coordinate] = value;
            z[(half + draw) * dimension + coordinate] = -value;
        }
    }
    z
}

/// The same with the second moments Σ z zᵀ / n = I, if there are enough draws for that; otherwise Σ zᵢ²/n = 1.
pub fn whitened_normals(dimension: usize, n: usize, key: StreamKey) -> Vec<f64> {
    let mut z = even_normals(dimension, n, key);
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

/// z ← L⁻¹ z, where L Lᵀ are the second moments.
fn whiten(dimension: usize, n: usize, z: &mut [f64]) -> bool {
    let mut moments = vec![0.0; dimension * dimension];
    for z in z.chunks_exact(dimension) {
        for i in 0..dimension {
            let zi = z[i] / float(n);
            moments[i * dimension..][..=i].iter_mut().zip(z).for_each(|(m, zj)| *m += zi * zj);
        }
    }
    let Ok(lower) = cholesky(dimension, &moments) else { return false };
    for z in z.chunks_exact_mut(dimension) {
        for i in 0..dimension {
            let row = &lower[i * dimension..][..=i];
            z[i] = (z[i] - dot(&row[..i], &z[..i])) / row[i];
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crust_math::random::Purpose;

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
