//! KL(q‖p) = log Z − ELBO(q) from both sides: bounds on log Z by annealing, with confidence limits.

use crate::convergence::{mean, sd};
use crate::number::count;
use crate::result::{Bounds, BreadApproximation, FitOf, GapRank, KlRange, Level, Verdict};
use crate::sandwich::{lower_bound, mean_limit, upper_bound};
use crate::taddaa::student_quantile;

/// Groups of chains whose bounds are averaged: by Jensen's inequality each is below (above) log Z in expectation, and
/// their spread says how far their mean may be off.
const GROUPS: usize = 8;
/// One-sided limits, so that both sides hold together with 95 %.
const SIDE: f64 = 0.975;
/// The same in standard errors of the ELBO, whose draws are many.
const ERRORS: f64 = 1.96;

/// log Z is above this with a probability of 97.5 %. `forward` holds log w.
pub fn lower_limit(forward: &[f64]) -> f64 {
    limit(forward, lower_bound, -1.0)
}

/// log Z is below this with a probability of 97.5 %. `reverse` holds −log w of reverse chains.
pub fn upper_limit(reverse: &[f64]) -> f64 {
    limit(reverse, upper_bound, 1.0)
}

fn limit(values: &[f64], bound: fn(&[f64]) -> f64, side: f64) -> f64 {
    let groups = GROUPS.min(values.len());
    if groups < 2 {
        return side * f64::INFINITY;
    }
    let bounds: Vec<f64> =
        (0..groups).map(|g| bound(&values.iter().skip(g).step_by(groups).copied().collect::<Vec<f64>>())).collect();
    let found = mean(&bounds) + side * student_quantile(count(groups - 1), SIDE) * sd(&bounds) / count(groups).sqrt();
    if found.is_nan() { side * f64::INFINITY } else { found }
}

impl Bounds {
    /// From an ELBO and an importance-weighted bound (value, error, draws), and chains where there are any.
    pub fn new(elbo: (f64, f64), weighted: Option<(f64, f64, usize)>, forward: &[f64], reverse: &[f64]) -> Self {
        let (iw_elbo, iw_elbo_se, iw_draws) = weighted.unwrap_or((elbo.0, elbo.1, 1));
        let log_z_lower = (!forward.is_empty()).then(|| lower_limit(forward));
        let log_z_upper = (!reverse.is_empty()).then(|| upper_limit(reverse));
        let slack = ERRORS * elbo.1;
        let lower = log_z_lower.unwrap_or(f64::NEG_INFINITY).max(iw_elbo - ERRORS * iw_elbo_se);
        let at_least = lower - elbo.0 - slack;
        Self {
            elbo: elbo.0,
            elbo_se: elbo.1,
            iw_elbo,
            iw_elbo_se,
            iw_draws,
            log_z_lower,
            log_z_upper,
            // A divergence is not negative; without an ELBO it is infinite.
            kl_at_least: if elbo.0 == f64::NEG_INFINITY { f64::INFINITY } else { at_least.max(0.0) },
            kl_at_most: log_z_upper.map(|upper| (upper - elbo.0 + slack).max(0.0)),
        }
    }
}

/// The mean of quantities that lie between bounds, over datasets.
pub fn range(low: &[f64], high: &[f64]) -> KlRange {
    let limit = |values: &[f64], side: f64| {
        let n = values.len();
        if n < 3 {
            return side * f64::INFINITY;
        }
        let error = sd(values) / count(n).sqrt();
        mean(values) + side * student_quantile(count(n - 1), 0.95) * error
    };
    let fix = |x: f64, other: f64| if x.is_nan() { other } else { x };
    KlRange {
        at_least: fix(limit(low, -1.0), 0.0).max(0.0),
        at_most: fix(limit(high, 1.0), f64::INFINITY).max(0.0),
        datasets: low.len(),
    }
}

/// The same for log f − log q at exact draws, whose right tail is long: it grows with the square of how far out a draw
/// lies where q is too narrow. Student's limit is then too low, as what decides the mean is often not in the sample.
fn skewed_range(low: &[f64], high: &[f64]) -> KlRange {
    let found = range(low, high);
    // Few values are left with Student's limit.
    let at_most = if found.at_most.is_finite() { mean_limit(high).upper.max(found.at_most) } else { found.at_most };
    KlRange { at_most, ..found }
}

/// The rank of the real data's gap among those of simulated data, the largest first.
pub fn rank(real: f64, simulated: &[f64]) -> GapRank {
    let above = simulated.iter().filter(|gap| **gap >= real).count();
    let p_value = count(above + 1) / count(simulated.len() + 1);
    GapRank { rank: above + 1, datasets: simulated.len(), p_value, alarm: p_value <= 0.05 }
}

/// Fills in what follows from the fits: averages, the comparison, the verdict. `acceptable` is in nats.
pub fn conclude(result: &mut BreadApproximation, acceptable: f64) {
    let fits: Vec<&FitOf> = result.simulated.iter().filter(|fit| fit.failure.is_none()).collect();
    let of = |value: &dyn Fn(&FitOf) -> Option<f64>| fits.iter().filter_map(|fit| value(fit)).collect::<Vec<f64>>();
    let lows = of(&|fit| fit.bounds.log_z_lower.map(|lower| lower - fit.bounds.elbo));
    let highs = of(&|fit| fit.bounds.log_z_upper.map(|upper| upper - fit.bounds.elbo));
    result.kl_q_p = range(&lows, &highs);
    // An upper bound on log Z is none on the divergence where the ELBO itself may be too high.
    if fits.iter().any(|fit| fit.bounds.log_z_upper.is_some() && fit.bounds.kl_at_most.is_none()) {
        result.kl_q_p.at_most = f64::INFINITY;
    }
    let missed_low = of(&|fit| Some(fit.exact_log_ratio? - fit.bounds.log_z_upper?));
    let missed_high = of(&|fit| Some(fit.exact_log_ratio? - fit.bounds.log_z_lower?));
    result.kl_p_q = skewed_range(&missed_low, &missed_high);
    let gaps = of(&|fit| Some(fit.gap));
    let real = result.twin.as_ref().or(result.real.as_ref()).filter(|fit| fit.failure.is_none());
    result.comparison = real.filter(|_| !gaps.is_empty()).map(|real| rank(real.gap, &gaps));
    result.verdict = verdict(result, acceptable);
}

fn nats(x: f64) -> String {
    if x.is_infinite() {
        "infinitely many".to_owned()
    } else if x >= 10.0 {
        format!("{x:.1}")
    } else {
        format!("{x:.2}")
    }
}

fn verdict(result: &BreadApproximation, acceptable: f64) -> Verdict {
    let (method, q_p, p_q) = (&result.method, result.kl_q_p, result.kl_p_q);
    let failures = result.simulated.iter().filter(|fit| fit.failure.is_some()).count();
    let on_real = result.real.as_ref().map_or(0.0, |real| real.bounds.kl_at_least);
    let between = if q_p.datasets == 0 || (q_p.at_least == 0.0 && q_p.at_most.is_infinite()) {
        "no bound from simulated data".to_owned()
    } else {
        format!(
            "KL(q‖p) between {} and {} nats on average over {} simulated datasets",
            nats(q_p.at_least),
            nats(q_p.at_most),
            q_p.datasets
        )
    };
    let real = format!("at least {} nats on the real data", nats(on_real));
    let unlike = result.comparison.is_some_and(|comparison| comparison.alarm);
    let trouble = result.fit.as_ref().filter(|fit| fit.unfinished || fit.worst_r_hat > 1.05);
    let (level, sentence) = if result.partial {
        (Level::Partial, format!("{method}: {between}, {real}; the run was ended before its end."))
    } else if on_real > acceptable || q_p.at_least > acceptable {
        (Level::Poor, format!("The {method} approximation is bad: {between}, {real}."))
    } else if 2 * failures > result.simulated.len() {
        (
            Level::Poor,
            format!(
                "The {method} approximation cannot be fitted to {failures} of {} simulated datasets.",
                result.simulated.len()
            ),
        )
    } else if let Some(fit) = trouble {
        let why = if fit.unfinished { "has too few draws" } else { "has not converged" };
        (
            Level::Poor,
            format!(
                "Nothing can be said of the {method} approximation: the run whose draws data are simulated with {why}."
            ),
        )
    } else if q_p.at_most > acceptable {
        (
            Level::Poor,
            format!(
                "It is not known whether the {method} approximation is good: {between}, {real}. Longer annealing (`--steps`, `--chains`) may tell."
            ),
        )
    } else if unlike {
        (
            Level::Mismatch,
            format!(
                "The {method} approximation is good on simulated data ({between}), but worse on the real ones than on those."
            ),
        )
    } else {
        (Level::Good, format!("The {method} approximation is good: {between}, {real}."))
    };
    let mut rests_on = vec![between, real];
    if p_q.at_most.is_finite() {
        rests_on.push(format!("KL(p‖q) between {} and {} nats on average", nats(p_q.at_least), nats(p_q.at_most)));
    }
    if let Some(found) = &result.comparison {
        rests_on.push(format!(
            "the gap on the real data has rank {} of {} (1 is the largest; p = {:.3})",
            found.rank,
            found.datasets + 1,
            found.p_value
        ));
    }
    let does_not_cover = vec![
        "parts of the posterior that neither the approximation nor the fit whose draws data are simulated with has found".to_owned(),
        "an upper bound on the real data themselves, which needs an exact draw of their posterior".to_owned(),
    ];
    Verdict { sentence, rests_on, does_not_cover, level }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crust_math::random::{Purpose, StreamKey};

    /// log w of a normal work distribution with E w = 1 is N(−s²/2, s²). A limit is on its side in all but about 2.5 %
    /// of samples: of 400, more than 24 have a probability below 10⁻⁴.
    #[test]
    fn limits_hold() {
        for s in [0.1, 1.0] {
            let (mut above, mut below) = (0, 0);
            for seed in 0..400 {
                let mut stream = StreamKey::new(seed, Purpose::DATA).stream();
                let forward: Vec<f64> = (0..64).map(|_| s * stream.standard_normal() - 0.5 * s * s).collect();
                above += usize::from(lower_limit(&forward) > 0.0);
                let reverse: Vec<f64> = forward.iter().map(|w| -w).collect();
                below += usize::from(upper_limit(&reverse) < 0.0);
            }
            assert!(above <= 24 && below <= 24, "{s}: {above} {below}");
        }
        assert!(lower_limit(&[1.0]).is_infinite() && upper_limit(&[1.0]).is_infinite());
    }

    /// log f − log q at exact draws: of mean field for a normal distribution with correlation 0.9 it is ρ x y/(1 − ρ²) up
    /// to a constant; in one direction only it is a multiple of χ² with one degree of freedom. Of 600 limits 30 may be
    /// too low (more than 40 with a probability of 3 %, for each case); Student's are in 65.
    #[test]
    fn limits_hold_where_log_ratios_are_skewed() {
        type Ratio<'a> = &'a dyn Fn(f64, f64) -> f64;
        let rho = 0.9_f64;
        let product = |x: f64, z: f64| rho * x * (rho * x + (1.0 - rho * rho).sqrt() * z) / (1.0 - rho * rho);
        let square = |x: f64, _: f64| 10.0 * x * x;
        let cases: [(Ratio<'_>, f64); 2] = [(&product, rho * rho / (1.0 - rho * rho)), (&square, 10.0)];
        for (ratio, truth) in cases {
            let mut missed = 0;
            for seed in 0..600 {
                let mut stream = StreamKey::new(seed, Purpose::DATA).stream();
                let values: Vec<f64> =
                    (0..39).map(|_| ratio(stream.standard_normal(), stream.standard_normal())).collect();
                missed += usize::from(skewed_range(&values, &values).at_most < truth);
            }
            assert!(missed <= 40, "{missed} of 600");
        }
    }

    #[test]
    fn divergences_follow_from_bounds() {
        let forward = vec![-10.0; 16];
        let bounds = Bounds::new((-12.0, 0.0), Some((-11.0, 0.0, 100)), &forward, &[-9.5; 16]);
        assert!((bounds.kl_at_least - 2.0).abs() < 1e-12 && bounds.kl_at_most.is_some_and(|x| (x - 2.5).abs() < 1e-12));
        // Without chains the importance-weighted bound is what there is.
        let bounds = Bounds::new((-12.0, 0.0), Some((-11.0, 0.0, 100)), &[], &[]);
        assert!((bounds.kl_at_least - 1.0).abs() < 1e-12 && bounds.kl_at_most.is_none());
        assert!(Bounds::new((f64::NEG_INFINITY, f64::INFINITY), None, &forward, &[]).kl_at_least.is_infinite());
    }

    #[test]
    fn verdicts_say_which_side_decided() {
        let fit = |dataset: u32, lower: f64, upper: f64| FitOf {
            dataset,
            bounds: Bounds::new((0.0, 0.0), None, &[lower; 16], &[upper; 16]),
            gap: lower,
            exact_log_ratio: Some(lower + 1.0),
            ..FitOf::default()
        };
        let of = |lower: f64, upper: f64, real: f64| {
            let simulated = (1..=20).map(|k| fit(k, lower, upper)).collect();
            let real = Some(FitOf { exact_log_ratio: None, ..fit(0, real, real) });
            let mut result = BreadApproximation { method: "meanfield".into(), real, simulated, ..Default::default() };
            conclude(&mut result, 1.0);
            result
        };
        assert_eq!(of(0.1, 0.2, 0.1).verdict.level, Level::Good);
        assert_eq!(of(2.0, 2.5, 2.1).verdict.level, Level::Poor);
        assert_eq!(of(0.1, 0.2, 0.9).verdict.level, Level::Mismatch, "rank 1 of 21");
        let unknown = of(0.1, 3.0, 0.1);
        assert!(unknown.verdict.level == Level::Poor && unknown.verdict.sentence.contains("not known"));
        assert!((unknown.kl_p_q.at_most - 1.0).abs() < 1e-12 && unknown.kl_p_q.at_least == 0.0);
        assert!(of(0.1, 0.2, 3.0).verdict.sentence.contains("bad"));
        // The ELBO of one fit may be too high.
        let mut blind: Vec<FitOf> = (1..=20).map(|k| fit(k, 0.1, 0.2)).collect();
        blind[3].bounds.kl_at_most = None;
        let mut result = BreadApproximation { simulated: blind, real: Some(fit(0, 0.1, 0.1)), ..Default::default() };
        conclude(&mut result, 1.0);
        assert!(result.kl_q_p.at_most.is_infinite() && result.verdict.sentence.contains("not known"));
    }
}
