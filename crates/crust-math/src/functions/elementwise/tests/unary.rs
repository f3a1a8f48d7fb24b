//! Functions of one number.

use super::super::UNARY;
use crate::special;

/// Arguments inside of the domain where the function is smooth, extreme ones included.
fn points(name: &str) -> Vec<f64> {
    let line = [-30.0, -5.0, -1.7, -0.3, -1e-3, 1e-4, 0.2, 0.9, 1.4, 2.6, 7.3, 31.0];
    let positive = [1e-200, 1e-8, 0.01, 0.3, 0.99, 1.0, 1.6, 5.0, 42.0, 1e5, 1e12, 1e200];
    let unit = [1e-12, 1e-5, 0.01, 0.25, 0.3, 0.5, 0.7, 0.99, 0.999_99];
    match name {
        "acos" | "asin" | "atanh" => vec![-0.999, -0.8, -1e-3, 0.0, 1e-9, 0.3, 0.95, 0.999_99],
        "acosh" => vec![1.000_01, 1.1, 2.0, 30.0, 1e8, 1e160],
        "asinh" => vec![-1e160, -1e9, -3.0, -1e-4, 0.0, 1e-9, 0.4, 7.0, 1e8],
        "cbrt" | "inv" | "inv_square" => {
            vec![-1e40, -3.0, -1e-9, 1e-9, 0.4, 7.0, 1e8]
        }
        "log" | "log10" | "log2" | "sqrt" | "inv_sqrt" => positive.to_vec(),
        "digamma" | "lgamma" | "trigamma" => {
            vec![-3.4, -0.6, -1e-3, 1e-3, 0.3, 0.99, 1.3, 2.0, 3.7, 8.4, 8.6, 55.0, 1e4]
        }
        "tgamma" => vec![-3.4, -0.6, 0.3, 0.99, 1.3, 2.0, 8.4, 60.0],
        "inv_Phi" | "std_normal_qf" | "logit" => unit.to_vec(),
        "inv_erfc" => unit.iter().flat_map(|&p| [p, 2.0 - p]).collect(),
        "lambert_w0" => vec![-0.36, -0.2, -1e-3, 1e-6, 0.3, 4.0, 1e5, 1e100],
        "lambert_wm1" => vec![-0.36, -0.2, -1e-3, -1e-10],
        "log1m" => vec![-1e10, -4.0, -1e-5, 0.0, 0.3, 0.999],
        "log1m_exp" => vec![-40.0, -3.0, -0.7, -0.69, -0.2, -1e-3],
        "log1p" => vec![-0.999, -0.3, 0.0, 1e-9, 4.0, 1e10],
        "std_normal_log_qf" => vec![-1e5, -720.0, -30.0, -3.0, -0.8, -0.69, -0.2, -1e-3],
        "ceil" | "floor" | "trunc" | "round" | "step" => vec![-2.3, -0.2, 0.3, 1.7],
        "abs" | "tan" => vec![-2.3, -0.2, 0.3, 1.4, 1.7, 1.1e5, -3.3e6],
        "sin" | "cos" => vec![-2.3, 0.0, 0.3, 1.7, 40.0, 1.1e5, -3.3e6],
        "erfc" | "Phi" | "Phi_approx" => vec![-6.0, -2.0, -0.3, 0.0, 0.4, 0.7, 3.0, 5.0],
        "cosh" | "sinh" | "exp" | "exp2" | "expm1" => [&line[..], &[300.0, -300.0]].concat(),
        _ => line.to_vec(),
    }
}

fn value(f: &super::super::Unary, x: f64) -> f64 {
    let mut out = [f64::NAN];
    (f.value)(&[x], &mut out);
    out[0]
}

fn slope(f: &super::super::Unary, x: f64) -> f64 {
    let mut to = [0.0];
    (f.reverse)(&[x], &[value(f, x)], &[1.0], &mut to);
    to[0]
}

/// The derivative by Richardson's extrapolation of central differences (error h⁶), and the noise of its rounding.
pub(super) fn difference(f: impl Fn(f64) -> f64, x: f64, h: f64) -> (f64, f64) {
    let central = |h: f64| {
        let (up, down) = (x + h, x - h);
        (f(up) - f(down)) / (up - down)
    };
    let (d1, d2, d4) = (central(h), central(2.0 * h), central(4.0 * h));
    let (e1, e2) = ((4.0 * d1 - d2) / 3.0, (4.0 * d2 - d4) / 3.0);
    ((16.0 * e1 - e2) / 15.0, f(x).abs() * 1e-14 / h)
}

#[test]
fn derivatives_are_those_of_the_values() {
    for f in UNARY {
        for x in points(f.name) {
            // the distance to the nearest point where the function is not smooth, as far as it is known
            let edge = match f.name {
                "acos" | "asin" | "atanh" => 1.0 - x.abs(),
                "acosh" => x - 1.0,
                "log1m" => 1.0 - x,
                "log1p" => 1.0 + x,
                "logit" | "inv_Phi" | "std_normal_qf" => x.min(1.0 - x),
                "inv_erfc" => x.min(2.0 - x),
                "lambert_w0" => (x + (-1.0f64).exp()).min(1.0 + x.abs()),
                "lambert_wm1" => (x + (-1.0f64).exp()).min(-x),
                "log1m_exp" | "std_normal_log_qf" => 1.0f64.min(-x),
                "tgamma" => (x - x.round()).abs().max(x).min(1.0),
                "lgamma" | "digamma" | "trigamma" => (x - x.round()).abs().max(if x > 0.0 { x } else { 0.0 }),
                "log" | "log10" | "log2" | "sqrt" | "inv_sqrt" | "cbrt" | "inv" | "inv_square" => x.abs(),
                "abs" | "ceil" | "floor" | "trunc" | "round" | "step" => 0.1,
                "tan" => x.cos().abs(),
                "asinh" => 1.0 + x.abs(),
                _ => 1.0,
            };
            let (expected, noise) = difference(|x| value(f, x), x, 0.003 * edge);
            let got = slope(f, x);
            // an error of the argument of 1e-16 |x| is one of the difference, too
            let noise = noise + got.abs() * 1e-15 * x.abs() / (0.003 * edge);
            assert!((got - expected).abs() <= 1e-9 * expected.abs() + noise, "{}({x}): {got} {expected}", f.name);
        }
    }
}

#[test]
fn values_are_those_of_scalar_code() {
    type Named = (&'static str, fn(f64) -> f64);
    let table: &[Named] = &[
        ("Phi", special::Phi),
        ("Phi_approx", special::Phi_approx),
        ("acos", f64::acos),
        ("asin", f64::asin),
        ("atan", f64::atan),
        ("cosh", f64::cosh),
        ("digamma", special::digamma),
        ("erf", special::erf),
        ("erfc", special::erfc),
        ("exp", f64::exp),
        ("exp2", f64::exp2),
        ("expm1", f64::exp_m1),
        ("inv", f64::recip),
        ("inv_cloglog", special::inv_cloglog),
        ("inv_logit", special::inv_logit),
        ("inv_sqrt", |x| 1.0 / x.sqrt()),
        ("inv_square", |x| 1.0 / (x * x)),
        ("lgamma", special::lgamma),
        ("log", f64::ln),
        ("log1m", special::log1m),
        ("log1m_exp", special::log1m_exp),
        ("log1m_inv_logit", special::log1m_inv_logit),
        ("log1p", f64::ln_1p),
        ("log1p_exp", special::log1p_exp),
        ("log_inv_logit", special::log_inv_logit),
        ("logit", special::logit),
        ("sin", f64::sin),
        ("cos", f64::cos),
        ("tan", f64::tan),
        ("tanh", f64::tanh),
        // the inverses of what the standard library has
        ("acosh", |x| if x > 1e100 { x.ln() + std::f64::consts::LN_2 } else { 2.0 * ((x - 1.0) / 2.0).sqrt().asinh() }),
        ("asinh", |x| if x.abs() > 1e100 { (x.abs().ln() + std::f64::consts::LN_2).copysign(x) } else { x.asinh() }),
        ("atanh", |x| (0.5 * (x.abs().ln_1p() - (-x.abs()).ln_1p())).copysign(x)),
    ];
    for &(name, expected) in table {
        let f = UNARY.iter().find(|f| f.name == name).expect("the function exists");
        for x in points(name) {
            let (got, expected) = (value(f, x), expected(x));
            let bound = 4e-15 * expected.abs() + if name == "digamma" { 3e-15 } else { 0.0 };
            assert!((got - expected).abs() <= bound, "{name}({x}): {got} {expected}");
        }
    }
}

#[test]
fn a_slice_is_its_elements_and_adjoints_add_up() {
    for f in UNARY {
        let points = points(f.name);
        for n in [0, 1, 7, 8, 9, 40] {
            let x: Vec<f64> = points.iter().copied().cycle().take(n).collect();
            let mut y = vec![f64::NAN; n];
            (f.value)(&x, &mut y);
            let adjoint: Vec<f64> = x.iter().map(|x| 0.5 + (x * 3.0).sin().abs()).collect();
            let mut to = vec![2.0; n];
            (f.reverse)(&x, &y, &adjoint, &mut to);
            for i in 0..n {
                assert_eq!(y[i].to_bits(), value(f, x[i]).to_bits(), "{}({})", f.name, x[i]);
                let expected = adjoint[i].mul_add(slope(f, x[i]), 2.0);
                assert_eq!(to[i].to_bits(), expected.to_bits(), "{}({})", f.name, x[i]);
            }
        }
    }
}

/// Values and derivatives that real Stan 2.39 gives; NaN where it throws or says so.
#[test]
fn edges_are_those_of_stan() {
    const INF: f64 = f64::INFINITY;
    let table = [
        ("abs", 0.0, 0.0, 0.0),
        ("sqrt", 0.0, 0.0, 0.0),
        ("sqrt", -1.0, f64::NAN, f64::NAN),
        ("log", 0.0, -INF, INF),
        ("inv", 0.0, INF, -INF),
        ("inv_sqrt", 0.0, INF, -INF),
        ("inv_square", 0.0, INF, -INF),
        ("inv_square", INF, 0.0, 0.0),
        ("log1p", -1.0, -INF, INF),
        ("log1m", 1.0, -INF, INF),
        ("logit", 0.0, -INF, INF),
        ("logit", 1.0, INF, INF),
        ("cbrt", 0.0, 0.0, INF),
        ("exp", -INF, 0.0, 0.0),
        ("exp", INF, INF, INF),
        ("inv_logit", INF, 1.0, 0.0),
        ("inv_logit", -INF, 0.0, 0.0),
        ("log1p_exp", -INF, 0.0, 0.0),
        ("log1p_exp", INF, INF, 1.0),
        ("log_inv_logit", -INF, -INF, 1.0),
        ("log1m_inv_logit", INF, -INF, -1.0),
        ("tanh", INF, 1.0, 0.0),
        ("step", 0.0, 1.0, 0.0),
        ("step", -1e-300, 0.0, 0.0),
        ("round", 2.5, 3.0, 0.0),
        ("round", -0.5, -1.0, 0.0),
        ("trunc", -1.9, -1.0, 0.0),
        ("acos", 1.0, 0.0, -INF),
        ("asin", -1.0, -std::f64::consts::FRAC_PI_2, INF),
        ("acosh", 1.0, 0.0, INF),
        ("atanh", 1.0, INF, INF),
        ("log10", 1000.0, 3.0, 1e-3 / std::f64::consts::LN_10),
        ("log2", 8.0, 3.0, 0.125 / std::f64::consts::LN_2),
        ("exp2", 10.0, 1024.0, 1024.0 * std::f64::consts::LN_2),
        ("log1m_exp", 0.5, f64::NAN, f64::NAN),
        ("inv_Phi", 0.0, -INF, INF),
        ("inv_Phi", 1.0, INF, INF),
        ("std_normal_log_qf", -INF, -INF, 0.0),
        ("log", -1.0, f64::NAN, f64::NAN),
        ("lgamma", 0.0, INF, f64::NAN),
        ("lgamma", -2.0, INF, f64::NAN),
    ];
    for (name, x, expected, expected_slope) in table {
        let f = UNARY.iter().find(|f| f.name == name).expect("the function exists");
        let same = |a: f64, b: f64| a.to_bits() == b.to_bits() || (a - b).abs() <= 1e-15 * b.abs();
        let got = value(f, x);
        assert!(expected.is_nan() && got.is_nan() || same(got, expected), "{name}({x}) = {got}");
        // where there is no value the derivative does not matter
        let got = slope(f, x);
        assert!(expected_slope.is_nan() || same(got, expected_slope), "{name}'({x}) = {got}");
    }
    for f in UNARY {
        let expected = if f.name == "step" { 1.0 } else { f64::NAN };
        let got = value(f, f64::NAN);
        assert!(got.is_nan() == expected.is_nan(), "{}(NaN) = {got}", f.name);
    }
}
