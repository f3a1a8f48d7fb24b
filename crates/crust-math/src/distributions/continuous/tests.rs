//! One walk over all distributions for each property.

mod domains;
mod integrals;
mod points;
mod reference;

use super::{ALL, ContinuousDistribution, MOST_ARGUMENTS, SliceCumulative, by_name, positive};
use crate::density::Terms;
use crate::special::log_sum_exp;
use integrals::integrate;
use points::{Stream, support, typical, wide};
use reference::REFERENCE;

/// ∂f/∂θᵢ by central differences, extrapolated (Ridders 1982), with an estimate of the error.
fn difference(f: impl Fn(&[f64]) -> f64, point: &[f64], i: usize, step: f64) -> (f64, f64) {
    const SIZE: usize = 12;
    let central = |h: f64| {
        let mut shifted = point.to_vec();
        shifted[i] = point[i] + h;
        let (up, high) = (f(&shifted), shifted[i]);
        shifted[i] = point[i] - h;
        (up - f(&shifted)) / (high - shifted[i])
    };
    let mut table = [[0.0; SIZE]; SIZE];
    let (mut best, mut error) = (f64::NAN, f64::INFINITY);
    let mut h = step;
    for column in 0..SIZE {
        table[0][column] = central(h);
        let mut factor = 2.0;
        for row in 1..=column {
            table[row][column] = (table[row - 1][column] * factor - table[row - 1][column - 1]) / (factor - 1.0);
            factor *= 2.0;
            let previous = (table[row][column] - table[row - 1][column]).abs();
            let candidate = previous.max((table[row][column] - table[row - 1][column - 1]).abs());
            if candidate <= error {
                (best, error) = (table[row][column], candidate);
            }
        }
        h *= std::f64::consts::FRAC_1_SQRT_2;
    }
    (best, error)
}

type Function = Box<dyn Fn(&[f64]) -> (f64, [f64; MOST_ARGUMENTS])>;

/// The functions of a distribution that are there, with a name for messages.
fn functions(d: &ContinuousDistribution) -> Vec<(String, Function)> {
    let mut list: Vec<(String, Function)> = Vec::new();
    let lpdf = d.lpdf;
    list.push((format!("{}_lpdf", d.name), Box::new(move |x| lpdf(x, Terms::ALL).unwrap())));
    for (kind, function) in [("cdf", d.cdf), ("lcdf", d.lcdf), ("lccdf", d.lccdf)] {
        if let Some(function) = function {
            list.push((format!("{}_{kind}", d.name), Box::new(move |x| function(x).unwrap())));
        }
    }
    list
}

fn check_partials(d: &ContinuousDistribution, point: &[f64], tolerance: f64, failures: &mut Vec<String>) {
    let steps = points::steps(d.name, point);
    for (name, function) in functions(d) {
        let (value, partials) = function(point);
        assert!(partials[d.arity..].iter().all(|&p| p == 0.0));
        for i in 0..d.arity {
            // in a tail the value changes by large factors: steps that change it by less than half
            let change = if value == 0.0 { 1.0 } else { 2.0 * (partials[i] * steps[i] / value).abs() };
            let step = steps[i] / change.clamp(1.0, 1e6);
            let (expected, error) = difference(|x| function(x).0, point, i, step);
            // what the rounding of the value leaves of a difference with this step
            let unit = value.abs() / step * 0.1;
            let allowed = tolerance * (expected.abs() + unit);
            if (partials[i] - expected).abs() > allowed || error > 10.0 * allowed {
                failures.push(format!(
                    "{name}{point:?} [{i}]: partial {:e}, difference {expected:e} ± {error:e}",
                    partials[i]
                ));
            }
        }
    }
}

fn walk_partials(draw: fn(&str, &mut Stream) -> Vec<f64>, tolerance: f64) {
    let mut failures = Vec::new();
    for d in ALL {
        let mut stream = Stream::new(d.name);
        for _ in 0..60 {
            check_partials(d, &draw(d.name, &mut stream), tolerance, &mut failures);
        }
    }
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n"));
}

#[test]
fn partials_are_differences() {
    walk_partials(typical, 1e-8);
}

#[test]
fn partials_are_differences_far_out() {
    walk_partials(wide, 1e-6);
}

/// The integral of the density over its support, or up to a point.
fn mass(d: &ContinuousDistribution, point: &[f64], up_to: Option<f64>) -> f64 {
    let (low, high, centre, scale) = support(d.name, point);
    let density = |y: f64| {
        let mut at = point.to_vec();
        at[0] = y;
        (d.lpdf)(&at, Terms::ALL).map_or(0.0, |(value, _)| value.exp())
    };
    integrate(density, low, up_to.unwrap_or(high), centre, scale)
}

#[test]
fn densities_integrate_to_one() {
    for d in ALL {
        let mut stream = Stream::new(d.name);
        for _ in 0..20 {
            let point = typical(d.name, &mut stream);
            let total = mass(d, &point, None);
            assert!((total - 1.0).abs() < 1e-9, "{}{point:?}: the density integrates to {total}", d.name);
        }
    }
}

#[test]
fn cumulative_functions_integrate_the_density() {
    for d in ALL {
        let mut stream = Stream::new(d.name);
        for _ in 0..20 {
            let point = typical(d.name, &mut stream);
            let expected = mass(d, &point, Some(point[0]));
            for (kind, function) in [("cdf", d.cdf), ("lcdf", d.lcdf), ("lccdf", d.lccdf)] {
                let Some(function) = function else { continue };
                let value = function(&point).unwrap().0;
                let value = match kind {
                    "lcdf" => value.exp(),
                    "lccdf" => -value.exp_m1(),
                    _ => value,
                };
                assert!((value - expected).abs() < 1e-9, "{}_{kind}{point:?}: {value}, not {expected}", d.name);
            }
        }
    }
}

#[test]
fn logs_of_cumulative_functions_agree() {
    for d in ALL {
        let (Some(lcdf), Some(lccdf)) = (d.lcdf, d.lccdf) else { continue };
        let mut stream = Stream::new(d.name);
        for round in 0..200 {
            let point = if round % 2 == 0 { typical(d.name, &mut stream) } else { wide(d.name, &mut stream) };
            let (lower, upper) = (lcdf(&point).unwrap().0, lccdf(&point).unwrap().0);
            let sum = log_sum_exp(lower, upper);
            assert!(sum.abs() < 1e-13, "{}{point:?}: log(F + 1 − F) = {sum:e} from {lower} and {upper}", d.name);
            assert!(lower.is_finite() || lower == f64::NEG_INFINITY && upper == 0.0);
            if let Some(cdf) = d.cdf {
                let value = cdf(&point).unwrap().0;
                assert!(
                    (value.ln() - lower).abs() < 1e-12 * (1.0 + lower.abs()) || value < 1e-307,
                    "{}{point:?}",
                    d.name
                );
            }
        }
    }
}

#[test]
fn cumulative_functions_are_monotone() {
    for d in ALL {
        let mut stream = Stream::new(d.name);
        for _ in 0..20 {
            let mut point = typical(d.name, &mut stream);
            let (low, high, centre, scale) = support(d.name, &point);
            let mut ys: Vec<f64> = (0..400).map(|_| centre + scale * 4.0 * (stream.uniform() - 0.5)).collect();
            ys.retain(|y| *y > low && *y < high);
            ys.sort_by(f64::total_cmp);
            for (function, sign) in [(d.cdf, 1.0), (d.lcdf, 1.0), (d.lccdf, -1.0)] {
                let Some(function) = function else { continue };
                let mut last = f64::NEG_INFINITY;
                for y in &ys {
                    point[0] = *y;
                    let value = sign * function(&point).unwrap().0;
                    assert!(value >= last - 4e-15 * (1.0 + last.abs()), "{}{point:?}: {value} after {last}", d.name);
                    last = value;
                }
            }
        }
    }
}

#[test]
fn dropped_terms_are_constant() {
    for d in ALL {
        let mut stream = Stream::new(d.name);
        for mask in 0..1_u32 << d.arity {
            for _ in 0..10 {
                let base = typical(d.name, &mut stream);
                let other = typical(d.name, &mut stream);
                // only the arguments in the mask move
                let moved: Vec<f64> =
                    (0..d.arity).map(|i| if mask >> i & 1 == 1 { other[i] } else { base[i] }).collect();
                let terms = Terms::varying(mask);
                let (Ok(all), Ok(all_moved)) = ((d.lpdf)(&base, Terms::ALL), (d.lpdf)(&moved, Terms::ALL)) else {
                    continue;
                };
                if !all_moved.0.is_finite() {
                    continue;
                }
                let (some, some_moved) = ((d.lpdf)(&base, terms).unwrap(), (d.lpdf)(&moved, terms).unwrap());
                let (dropped, dropped_moved) = (all.0 - some.0, all_moved.0 - some_moved.0);
                let scale = 1.0 + all.0.abs() + all_moved.0.abs() + some.0.abs() + some_moved.0.abs();
                assert!(
                    (dropped - dropped_moved).abs() < 1e-13 * scale,
                    "{} with {mask:b}: {dropped} at {base:?}, {dropped_moved} at {moved:?}",
                    d.name
                );
                if mask == 0 {
                    assert!(some.0.abs() <= 0.0, "{}", d.name);
                } else {
                    assert_eq!(
                        some.1.map(f64::to_bits),
                        all.1.map(f64::to_bits),
                        "{}: partials do not depend on the terms",
                        d.name
                    );
                }
            }
        }
    }
}

fn close(value: f64, expected: f64, tolerance: f64) -> bool {
    (value - expected).abs() <= tolerance * expected.abs() || value.abs().max(expected.abs()) < 1e-300
}

#[test]
fn reference_values() {
    assert_eq!(REFERENCE.len(), 5 * ALL.len());
    for (name, point, log_density, lower, upper) in REFERENCE {
        let d = by_name(name).unwrap();
        let value = (d.lpdf)(point, Terms::ALL).unwrap().0;
        assert!(
            (value - log_density).abs() < 1e-12 + 1e-14 * log_density.abs() * point_scale(point),
            "{name}{point:?}: {value}, not {log_density}"
        );
        let check = |function: Option<SliceCumulative>, expected: f64, kind: &str| {
            let Some(function) = function else { return };
            let value = function(point).unwrap().0;
            // ν/(ν + t²) is rounded, and so is near 1 for a large ν
            let tolerance = if *name == "student_t" && point[1] > 1e5 { 5e-12 } else { 2e-13 };
            // log(1 − exp(l)) for a large −l is only as good as l
            let tolerance = tolerance + 4e-15 * lower.abs().max(upper.abs());
            assert!(close(value, expected, tolerance), "{name}_{kind}{point:?}: {value:e}, not {expected:e}");
        };
        check(d.lcdf, *lower, "lcdf");
        check(d.lccdf, *upper, "lccdf");
        check(d.cdf, lower.exp(), "cdf");
    }
}

/// lgamma of a large shape is a large number, of which a log density is a small difference.
fn point_scale(point: &[f64]) -> f64 {
    point.iter().fold(1.0, |scale: f64, x| scale.max(x.abs().min(1e3)))
}

/// (y/σ)^α is a power of 2 here. exp(α log(y/σ)) would have lost two digits.
#[test]
fn far_powers_keep_their_digits() {
    for (ratio, alpha, power) in [(8.0, 300.0, 900), (1024.0, 9.5, 95), (0.125, 330.0, -990)] {
        let exact = 2.0_f64.powi(power);
        let weibull = positive::weibull_lccdf(0.375 * ratio, alpha, 0.375).expect("in the domain");
        let frechet = positive::frechet_lcdf(0.375, alpha, 0.375 * ratio).expect("in the domain");
        assert!(close(weibull.value, -exact, 1e-15), "{ratio}^{alpha}: {}", weibull.value);
        assert!(close(frechet.value, -exact, 1e-15), "{ratio}^{alpha}: {}", frechet.value);
        let slope = exact * alpha / 0.375;
        assert!(close(weibull.d[2], slope, 1e-15), "{ratio}^{alpha}: {} by σ", weibull.d[2]);
    }
}
