//! First passage times whose start and nondecision time vary from trial to trial, uniformly in intervals.
//!
//! The density is the mean of that in [`super::wiener`] over the unit square, with β + `s_β` (v − ½) and τ + `s_τ` u
//! for β and τ; a τ beyond y has none. The mean of f ∂log f is the derivative. Gauss–Legendre rules on ever more
//! panels, until nothing moves.

use super::wiener::log_density;
use crate::density::Partials;

/// Nodes and weights of the rule with ten points on (−1, 1) (Abramowitz & Stegun, table 25.4).
const GAUSS: [(f64, f64); 5] = [
    (0.148_874_338_981_631_2, 0.295_524_224_714_752_87),
    (0.433_395_394_129_247_2, 0.269_266_719_309_996_35),
    (0.679_409_568_299_024_4, 0.219_086_362_515_982_04),
    (0.865_063_366_688_984_5, 0.149_451_349_150_580_6),
    (0.973_906_528_517_171_7, 0.066_671_344_308_688_14),
];

/// The most panels in a direction.
const MOST_PANELS: u32 = 64;

/// Sums relative to the exponential of the largest log density so far.
struct Mean {
    top: f64,
    density: f64,
    slopes: [f64; 8],
}

impl Mean {
    fn add(&mut self, weight: f64, log_density: f64, d: [f64; 8]) {
        if log_density > self.top {
            let shrink = (self.top - log_density).exp();
            self.density *= shrink;
            self.slopes.iter_mut().for_each(|s| *s *= shrink);
            self.top = log_density;
        }
        let part = weight * (log_density - self.top).exp();
        self.density += part;
        self.slopes.iter_mut().zip(d).for_each(|(s, d)| *s += part * d);
    }
}

/// Nodes and weights on (0, `end`) with so many panels; the weights sum to `end`. Without width, one node is enough.
fn nodes(end: f64, panels: u32, width: f64) -> impl Iterator<Item = (f64, f64)> + Clone {
    let panel = end / f64::from(panels);
    let all = (0..panels).flat_map(move |i| {
        let middle = panel * (f64::from(i) + 0.5);
        let pair = move |(x, w): (f64, f64)| [(middle + 0.5 * panel * x, w), (middle - 0.5 * panel * x, w)];
        GAUSS.into_iter().flat_map(pair).map(move |(x, w)| (x, 0.5 * panel * w))
    });
    let one = (width == 0.0).then_some((0.5 * end, end));
    one.into_iter().chain(all.filter(move |_| width != 0.0))
}

/// Where times t = z⁻² begin and how far they go in z = t^(−½): the density of early times is a Gaussian function of z,
/// which the rule likes, while in t there is an essential singularity at 0. Beyond the end it is e⁻⁴⁰ of its size, or
/// there is nothing.
fn range_of_z([y, alpha, tau, beta, _, _, s_beta, s_tau]: [f64; 8]) -> (f64, f64) {
    let latest = y - tau;
    let first = latest.sqrt().recip();
    let closest = alpha * (1.0 - beta - 0.5 * s_beta);
    let far = (first * first + 80.0 / (closest * closest)).sqrt() - first;
    let earliest = (latest - s_tau).max(0.0);
    // z(earliest) − z(latest) without cancellation
    let whole = s_tau / ((earliest * latest).sqrt() * (earliest.sqrt() + latest.sqrt()));
    (first, whole.min(far))
}

/// With so many panels for τ and for β.
fn mean_over(point: [f64; 8], panels: [u32; 2]) -> Partials<8> {
    let [y, alpha, tau, beta, delta, sigma, s_beta, s_tau] = point;
    let mut mean = Mean { top: f64::NEG_INFINITY, density: 0.0, slopes: [0.0; 8] };
    let (first, width) = range_of_z(point);
    for (x, weight) in nodes(width, panels[0], s_tau) {
        let z = first + x;
        let (t, weight) =
            if s_tau == 0.0 { (y - tau, 1.0) } else { ((z * z).recip(), 2.0 * weight / (z * z * z * s_tau)) };
        let u = if s_tau == 0.0 { 0.5 } else { (y - tau - t) / s_tau };
        for (v, weight_v) in nodes(1.0, panels[1], s_beta) {
            let one = log_density([y, alpha, y - t, beta + s_beta * (v - 0.5), delta, sigma]);
            let [d_y, d_alpha, d_tau, d_beta, d_delta, d_sigma] = one.d;
            if one.value > f64::NEG_INFINITY {
                let d = [d_y, d_alpha, d_tau, d_beta, d_delta, d_sigma, d_beta * (v - 0.5), d_tau * u];
                mean.add(weight * weight_v, one.value, d);
            }
        }
    }
    Partials { value: mean.top + mean.density.ln(), d: mean.slopes.map(|s| s / mean.density) }
}

/// Whether two results are the same for our purposes.
fn same(a: &Partials<8>, b: &Partials<8>) -> bool {
    let near = |a: f64, b: f64, tolerance: f64| (a - b).abs() <= tolerance * (1.0 + b.abs());
    near(a.value, b.value, 1e-11) && a.d.iter().zip(b.d).all(|(a, b)| near(*a, b, 1e-8))
}

/// Arguments y, α, τ, β, δ, σ, `s_β`, `s_τ`, all inside of their domain.
pub(super) fn log_mean_density(point: [f64; 8]) -> Partials<8> {
    let widths = [point[7], point[6]];
    let mut panels = [1, 1];
    let mut now = mean_over(point, panels);
    loop {
        let mut settled = true;
        for k in 0..2 {
            if widths[k] == 0.0 || panels[k] >= MOST_PANELS {
                continue;
            }
            let mut more = panels;
            more[k] *= 2;
            let finer = mean_over(point, more);
            if !same(&now, &finer) {
                (panels, now, settled) = (more, finer, false);
            }
        }
        if settled {
            return now;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rule_is_exact_for_polynomials() {
        for panels in [1, 3] {
            let integral: f64 = nodes(2.0, panels, 1.0).map(|(x, w)| w * x.powi(19)).sum();
            assert!((integral / 2_f64.powi(20) * 20.0 - 1.0).abs() < 1e-13);
        }
        assert_eq!(nodes(1.0, 4, 0.0).collect::<Vec<_>>(), [(0.5, 1.0)]);
    }

    /// Narrow intervals are the density in their middle.
    #[test]
    fn narrow_intervals_change_nothing() {
        let plain = log_mean_density([0.9, 1.3, 0.3 + 5e-7, 0.4, 0.7, 0.9, 0.0, 0.0]);
        let narrow = log_mean_density([0.9, 1.3, 0.3, 0.4, 0.7, 0.9, 1e-6, 1e-6]);
        assert!((plain.value - narrow.value).abs() < 1e-10);
        assert!((plain.d[1] - narrow.d[1]).abs() < 1e-9);
    }

    /// A nondecision time that may be later than the observation: the density over y integrates to the same
    /// probability.
    #[test]
    fn the_probability_of_an_end_does_not_depend_on_the_nondecision_time() {
        let integral = |s_tau: f64| -> f64 {
            let steps = 400;
            (0..steps)
                .map(|i| -6.0 + 9.0 * (f64::from(i) + 0.5) / f64::from(steps))
                .map(|s| (log_mean_density([0.1 + s.exp(), 1.1, 0.1, 0.4, 0.7, 0.5, 0.3, s_tau]).value + s).exp())
                .sum::<f64>()
                * 9.0
                / f64::from(steps)
        };
        assert!((integral(0.0) - integral(0.8)).abs() < 1e-5, "{} {}", integral(0.0), integral(0.8));
    }
}
