//! Nested sampling for the low rank model: one variable at a time from its prior, restricted to where the likelihood is
//! high enough.

use std::f64::consts::TAU;

use crust_infer::target::Fatal;
use crust_math::random::Stream;
use crust_math::special::{log_Phi, log_diff_exp, log_sum_exp, std_normal_log_qf};
use pxfm::f_log;

use super::{LowRank, Prior, State};
use crate::grid::float;
use crate::model::{Constrained, Floor, Model};
use crate::models::rows::{Rows, add_scaled, dot, vectorised};

/// A draw of N(0, 1) between two numbers, by inversion; far tails are computed with logarithms.
pub(super) fn truncated_normal(low: f64, high: f64, stream: &mut Stream) -> f64 {
    // In the lower half numbers near the ends are told apart by the logarithm of Φ, in the upper half they are not.
    if low > 0.0 {
        return -truncated_normal(-high, -low, stream);
    }
    let (from, to) = (log_Phi(low), log_Phi(high));
    if to <= from {
        return low;
    }
    let log_share = f_log(stream.uniform()) + log_diff_exp(to, from);
    std_normal_log_qf(log_sum_exp(from, log_share)).clamp(low, high)
}

/// All rows of a factor. `residuals` are those of its rows, by rows; `others` is the other factor with K rows.
#[inline(always)]
fn sweep(targets: &mut Rows, others: &Rows, residuals: &mut Rows, scale: f64, room: &mut f64, stream: &mut Stream) {
    let sizes: Vec<f64> = others.iter().map(|row| dot(row, row)).collect();
    for i in 0..targets.rows() {
        for (k, other) in others.iter().enumerate() {
            let (now, residual) = (targets.row(i)[k], residuals.row_mut(i));
            // The sum of squares as a function of this variable is h (x − middle)² + least.
            let (g, h) = (dot(residual, other), sizes[k]);
            let next = if h > 0.0 {
                let middle = now + g / h;
                let width = ((*room + g * g / h) / h).max(0.0).sqrt();
                scale * truncated_normal((middle - width) / scale, (middle + width) / scale, stream)
            } else {
                scale * stream.standard_normal()
            };
            let change = next - now;
            *room -= change * (h * change - 2.0 * g);
            add_scaled(residual, -change, other);
            targets.row_mut(i)[k] = next;
        }
    }
}

impl Constrained for LowRank {
    /// Log likelihoods above C are residual sums of squares below −2σ_n²C − σ_n² N D log 2πσ_n².
    /// Ties have probability 0.
    fn step_constrained(&mut self, state: &mut State, floor: &Floor, stream: &mut Stream) -> Result<f64, Fatal> {
        let noise = state.variances.noise;
        let entries = float(state.u.rows()) * float(self.data.columns());
        let most = -noise * (2.0 * floor.log_likelihood + entries * f_log(TAU * noise));
        let State { u, v, variances, .. } = &mut *state;
        let mut residuals = Rows::from_fn(u.rows(), v.rows(), |i, j| self.data.row(i)[j] - dot(u.row(i), v.row(j)));
        let mut room = most - residuals.sum_of_squares();
        vectorised(|| sweep(u, &v.transposed(), &mut residuals, variances.rows.sqrt(), &mut room, stream));
        let mut residuals = residuals.transposed();
        vectorised(|| sweep(v, &u.transposed(), &mut residuals, variances.columns.sqrt(), &mut room, stream));
        state.residual = self.residual(state);
        // Given the factors, the likelihood does not depend on their variances.
        let State { u, v, variances, .. } = &mut *state;
        let Prior { rows, columns, noise, .. } = self.prior;
        rows.redraw(&mut variances.rows, 1.0, u.entries(), u.sum_of_squares(), stream)?;
        columns.redraw(&mut variances.columns, 1.0, v.entries(), v.sum_of_squares(), stream)?;
        let mut trial = state.clone();
        let at = |value: f64| {
            trial.variances.noise = value;
            self.log_likelihood(&trial)
        };
        state.variances.noise = noise.move_constrained(state.variances.noise, floor, at, stream)?;
        self.log_likelihood(state)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crust_math::random::{Purpose, StreamKey};

    #[test]
    fn truncated_draws_have_the_right_mean() {
        // E[x | a < x < b] = (φ(a) − φ(b)) / (Φ(b) − Φ(a)), from tables of 30 digits; also where Φ is 1 to the last
        // bit.
        for (low, high, mean, spread) in
            [(-0.5, 1.5, 0.356_273, 0.53), (9.0, 9.5, 9.103_881, 0.1), (-40.0, -38.0, -38.026_279, 0.03)]
        {
            let mut stream = StreamKey::new(5, Purpose::TEST).stream();
            let n = 20_000;
            let draws: Vec<f64> = (0..n).map(|_| truncated_normal(low, high, &mut stream)).collect();
            assert!(draws.iter().all(|x| (low..=high).contains(x)));
            let found = draws.iter().sum::<f64>() / f64::from(n);
            // Five standard errors: a false alarm in one of a million runs.
            assert!((found - mean).abs() < 5.0 * spread / f64::from(n).sqrt(), "{low} {high}: {found}");
        }
    }
}
