//! Functions of two and three numbers.

use super::super::{BINARY, TERNARY};
use super::unary::difference;

/// Arguments inside of the domain; a step in each argument that is a number stays inside.
fn pairs(name: &str) -> Vec<[f64; 2]> {
    match name {
        "bessel_first_kind" | "bessel_second_kind" | "modified_bessel_first_kind" | "modified_bessel_second_kind" => {
            vec![[0.0, 0.3], [1.0, 2.5], [3.0, 0.7], [7.0, 12.0], [2.0, 40.0]]
        }
        "beta" | "lbeta" => vec![[0.3, 0.2], [2.0, 7.0], [40.0, 3.0], [0.01, 60.0]],
        "binary_log_loss" => vec![[0.0, 0.3], [1.0, 0.3], [0.0, 1e-9], [1.0, 0.999]],
        "binomial_coefficient_log" | "lchoose" => vec![[7.0, 3.0], [20.5, 4.2], [1e3, 0.1], [0.4, -0.2]],
        "choose" => vec![[10.0, 3.0], [4.0, 6.0]],
        "falling_factorial" | "rising_factorial" => vec![[4.5, 3.0], [-2.2, 5.0], [0.3, 0.0], [2.0, 4.0], [30.0, 1.0]],
        "fmod" => vec![[7.3, 2.0], [-7.3, 2.0], [7.3, -1.9]],
        "gamma_p" | "gamma_q" => vec![[0.4, 0.2], [3.0, 2.0], [20.0, 35.0], [2.0, 9.0]],
        "hypergeometric_1F0" => vec![[1.3, 0.4], [-2.0, -0.7], [3.1, 0.01]],
        "ldexp" => vec![[1.3, 4.0], [-0.7, -3.0]],
        "lmgamma" => vec![[1.0, 0.4], [3.0, 2.7], [5.0, 30.0]],
        "log_diff_exp" => vec![[1.0, 0.9], [-3.0, -40.0], [500.0, 499.0], [2.0, -1.0]],
        "log_inv_logit_diff" => vec![[1.0, 0.7], [-3.0, -9.0], [30.0, 2.0], [-30.0, -30.5]],
        "log_falling_factorial" | "log_rising_factorial" => vec![[7.0, 3.0], [20.5, 4.2], [2.0, 0.3]],
        "log_modified_bessel_first_kind" => vec![[0.3, 0.5], [1.6, 9.0], [20.0, 3.0], [2.0, 300.0]],
        "lmultiply" | "multiply_log" => vec![[2.0, 3.0], [-1.5, 0.2], [1e-3, 40.0]],
        "log_sum_exp" => vec![[1.0, 2.0], [-700.0, -701.0], [800.0, 3.0], [5.0, 5.0]],
        "pow" => vec![[0.3, 2.0], [2.5, -3.7], [40.0, 0.5], [1e-3, 1.0], [3.0, 0.0]],
        _ => vec![[0.4, 1.3], [-2.0, 0.7], [3.0, -1.1], [-0.2, -5.0]],
    }
}

/// Which of two arguments are integers.
fn integers(name: &str) -> [bool; 2] {
    match name {
        "bessel_first_kind"
        | "bessel_second_kind"
        | "modified_bessel_first_kind"
        | "modified_bessel_second_kind"
        | "binary_log_loss"
        | "lmgamma" => [true, false],
        "falling_factorial" | "rising_factorial" | "ldexp" => [false, true],
        "choose" => [true, true],
        _ => [false, false],
    }
}

/// Compares the partials of a function at a point with finite differences in each of its real arguments.
fn compare<const N: usize>(name: &str, x: [f64; N], d: [f64; N], is_int: [bool; N], f: impl Fn([f64; N]) -> f64) {
    for i in 0..N {
        if is_int[i] {
            assert!(d[i].abs() < f64::MIN_POSITIVE, "{name}{x:?}: integer {i}");
            continue;
        }
        let at = |t: f64| {
            let mut x = x;
            x[i] = t;
            f(x)
        };
        let h = 2e-3 * x[i].abs().clamp(1e-9, 1.0) * if x[i].abs() > 0.5 && x[i].abs() <= 1.0 { 0.2 } else { 1.0 };
        let (expected, noise) = difference(at, x[i], h);
        let bound = 3e-9 * expected.abs() + noise + 1e-14 * d[i].abs() * x[i].abs() / h;
        assert!((d[i] - expected).abs() <= bound, "{name}{x:?}, partial {i}: {} {expected} ± {bound}", d[i]);
    }
}

#[test]
fn derivatives_of_two() {
    for f in BINARY {
        for [x, y] in pairs(f.name) {
            let at = |x: f64, y: f64| (f.at)(x, y).unwrap_or_else(|e| panic!("{e}"));
            compare(f.name, [x, y], at(x, y).d, integers(f.name), |[x, y]| at(x, y).value);
        }
    }
}

#[test]
fn derivatives_of_three() {
    for f in TERNARY {
        let points = match f.name {
            "fma" => vec![[2.0, -3.0, 0.5], [1e3, 1e-3, -1.0]],
            "log_mix" => vec![[0.3, 1.0, 2.0], [0.9, -700.0, -690.0], [1e-3, 5.0, -5.0]],
            _ => vec![[2.0, 3.0, 0.3], [0.4, 0.7, 0.9], [30.0, 8.0, 0.75]],
        };
        for x in points {
            let at = |x: [f64; 3]| (f.at)(x[0], x[1], x[2]).unwrap_or_else(|e| panic!("{e}"));
            compare(f.name, x, at(x).d, [false; 3], |x| at(x).value);
        }
    }
}

fn at(name: &str, x: f64, y: f64) -> [f64; 3] {
    let f = BINARY.iter().find(|f| f.name == name).expect("the function exists");
    let p = (f.at)(x, y).unwrap_or_else(|e| panic!("{e}"));
    [p.value, p.d[0], p.d[1]]
}

/// What Stan's own derivatives say at special points, with integer or data arguments where that matters.
#[test]
fn edges_are_those_of_stan() {
    const INF: f64 = f64::INFINITY;
    const NAN: f64 = f64::NAN;
    let table: &[(&str, [f64; 2], [f64; 3])] = &[
        ("pow", [0.0, 2.0], [0.0, 0.0, 0.0]),
        ("pow", [0.0, 1.0], [0.0, 1.0, 0.0]),
        ("pow", [0.0, 0.5], [0.0, 0.0, 0.0]),
        ("pow", [0.0, 0.0], [1.0, 0.0, 0.0]),
        ("pow", [0.0, -1.0], [INF, -INF, 0.0]),
        ("pow", [0.0, 3.5], [0.0, 0.0, 0.0]),
        ("pow", [-2.0, 3.0], [-8.0, 12.0, NAN]),
        ("pow", [-2.0, 0.5], [NAN, NAN, NAN]),
        ("hypot", [3.0, 4.0], [5.0, 0.6, 0.8]),
        ("hypot", [0.0, 0.0], [0.0, NAN, NAN]),
        ("atan2", [0.0, 0.0], [0.0, NAN, NAN]),
        ("fmax", [1.0, 1.0], [1.0, 0.0, 1.0]),
        ("fmin", [1.0, NAN], [1.0, 1.0, 0.0]),
        ("fmax", [NAN, 2.0], [2.0, 0.0, 1.0]),
        ("fdim", [1.0, 1.0], [0.0, 0.0, 0.0]),
        ("fdim", [NAN, 1.0], [NAN, NAN, NAN]),
        ("fmod", [5.5, 2.0], [1.5, 1.0, -2.0]),
        ("lmultiply", [0.0, 0.0], [0.0, -INF, NAN]),
        ("log_sum_exp", [-INF, 2.0], [2.0, 0.0, 1.0]),
        ("log_sum_exp", [-INF, -INF], [-INF, 1.0, 1.0]),
        ("log_diff_exp", [3.0, 3.0], [-INF, INF, -INF]),
        ("log_diff_exp", [3.0, -INF], [3.0, 1.0, 0.0]),
        ("choose", [5.0, 2.0], [10.0, 0.0, 0.0]),
        ("falling_factorial", [5.0, 3.0], [60.0, 47.0, 0.0]),
        ("ldexp", [1.0, -1074.0], [5e-324, 5e-324, 0.0]),
        ("ldexp", [5e-324, 2097.0], [f64::MAX.log2().exp2() / 2.0, INF, 0.0]),
        ("lbeta", [0.0, 3.0], [INF, NAN, NAN]),
        ("binary_log_loss", [1.0, 0.0], [INF, 0.0, -INF]),
    ];
    for &(name, [x, y], expected) in table {
        if name == "ldexp" && x < 1.0 {
            // 2⁻¹⁰⁷⁴·2²⁰⁹⁷ = 2¹⁰²³
            assert_eq!(at(name, x, y)[0].to_bits(), 2.0f64.powi(1023).to_bits());
            continue;
        }
        for (got, expected) in at(name, x, y).into_iter().zip(expected) {
            let same = got.to_bits() == expected.to_bits() || (got - expected).abs() <= 1e-14 * expected.abs();
            assert!(expected.is_nan() || same, "{name}({x}, {y}): {got} instead of {expected}");
        }
    }
    assert!(at("pow", -2.0, 0.5)[0].is_nan() && at("fdim", f64::NAN, 1.0)[0].is_nan());
}

#[test]
fn outside_of_the_domain_is_an_error() {
    let rejected = |name: &str, x: f64, y: f64| {
        let f = BINARY.iter().find(|f| f.name == name).expect("the function exists");
        (f.at)(x, y).is_err()
    };
    assert!(rejected("gamma_p", -1.0, 2.0) && rejected("gamma_p", 1.0, -2.0) && !rejected("gamma_p", f64::NAN, 2.0));
    assert!(rejected("lbeta", -1.0, 2.0) && rejected("choose", -1.0, 2.0) && rejected("choose", 100.0, 50.0));
    assert!(rejected("lchoose", 2.0, 3.5) && rejected("lchoose", -1.5, 0.0) && !rejected("lchoose", 2.0, 3.0));
    assert!(rejected("falling_factorial", 2.0, -1.0) && rejected("log_rising_factorial", 0.0, 1.0));
    assert!(rejected("bessel_second_kind", 0.0, -1.0) && rejected("bessel_first_kind", 0.0, f64::NAN));
    assert!(rejected("squared_distance", f64::INFINITY, 1.0) && rejected("hypergeometric_1F0", 1.0, 1.0));
    assert!((TERNARY[1].at)(1.0, 1.0, 1.5).is_err() && (TERNARY[3].at)(1.1, 0.0, 0.0).is_err());
}
