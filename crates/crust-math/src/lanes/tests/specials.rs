//! Zeros, infinities, NaN, subnormal numbers, and the ends of the ranges.

use super::super::{cos, pow, sin};
use super::{evaluate, same};
use std::f64::consts::LN_2;

const INF: f64 = f64::INFINITY;
const NAN: f64 = f64::NAN;
const TINY: f64 = 5e-324;

fn check(name: &str, cases: &[(f64, f64)]) {
    for &(x, expected) in cases {
        let got = evaluate(name, &[x])[0];
        assert!(same(got, expected), "{name}({x:e}) = {got:e}, not {expected:e}");
    }
}

#[test]
fn exponentials() {
    let last = 709.782_712_893_384;
    check("exp", &[(0.0, 1.0), (-0.0, 1.0), (INF, INF), (-INF, 0.0), (NAN, NAN), (TINY, 1.0), (-TINY, 1.0)]);
    check("exp", &[(last, last.exp()), (last.next_up(), INF), (1e300, INF), (-1e300, 0.0)]);
    check("exp", &[(-745.0, TINY), (-745.133_219_101_941_1, TINY), (-745.14, 0.0), (-746.0, 0.0)]);
    check("expm1", &[(0.0, 0.0), (-0.0, -0.0), (INF, INF), (-INF, -1.0), (NAN, NAN), (TINY, TINY), (-TINY, -TINY)]);
    check("expm1", &[(last, last.exp_m1()), (709.8, INF), (-40.0, -1.0), (-1e300, -1.0), (1e-300, 1e-300)]);
    check("tanh", &[(0.0, 0.0), (-0.0, -0.0), (INF, 1.0), (-INF, -1.0), (NAN, NAN), (TINY, TINY), (-TINY, -TINY)]);
    check("tanh", &[(20.0, 1.0), (-1e300, -1.0), (1e-300, 1e-300)]);
}

#[test]
fn logarithms() {
    check("log", &[(0.0, -INF), (-0.0, -INF), (INF, INF), (-INF, NAN), (NAN, NAN), (-1.0, NAN), (-TINY, NAN)]);
    check("log", &[(1.0, 0.0), (2.0, LN_2), (0.5, -LN_2), (TINY, TINY.ln()), (f64::MAX, f64::MAX.ln())]);
    check("log", &[(f64::MIN_POSITIVE, f64::MIN_POSITIVE.ln()), (2e-310, 2e-310_f64.ln())]);
    check("log1p", &[(0.0, 0.0), (-0.0, -0.0), (INF, INF), (-INF, NAN), (NAN, NAN), (-1.0, -INF), (-1.5, NAN)]);
    check("log1p", &[(TINY, TINY), (-TINY, -TINY), (1e-300, 1e-300), (1.0, LN_2), (f64::MAX, f64::MAX.ln())]);
    check(
        "log1p",
        &[(1e17, 1e17_f64.ln_1p()), (1e19, 1e19_f64.ln_1p()), (-1.0 + f64::EPSILON, -36.043_653_389_117_15)],
    );
}

#[test]
fn logistic_functions() {
    check("inv_logit", &[(0.0, 0.5), (-0.0, 0.5), (INF, 1.0), (-INF, 0.0), (NAN, NAN), (-745.0, TINY), (1e300, 1.0)]);
    check("log1p_exp", &[(0.0, LN_2), (INF, INF), (-INF, 0.0), (NAN, NAN), (1e300, 1e300), (-745.0, TINY)]);
    check("log_inv_logit", &[(0.0, -LN_2), (INF, -0.0), (-INF, -INF), (NAN, NAN), (-1e300, -1e300), (745.0, -TINY)]);
}

#[test]
fn roots_and_squares() {
    check("sqrt", &[(0.0, 0.0), (-0.0, -0.0), (INF, INF), (-1.0, NAN), (NAN, NAN), (4.0, 2.0)]);
    check("inv_sqrt", &[(0.0, INF), (-0.0, -INF), (INF, 0.0), (-1.0, NAN), (NAN, NAN), (4.0, 0.5)]);
    check("square", &[(-0.0, 0.0), (-INF, INF), (NAN, NAN), (1e200, INF), (-3.0, 9.0)]);
}

#[test]
fn normal_distribution_and_gamma_function() {
    check("erf", &[(0.0, 0.0), (-0.0, -0.0), (INF, 1.0), (-INF, -1.0), (NAN, NAN), (7.0, 1.0), (-7.0, -1.0)]);
    check("erfc", &[(0.0, 1.0), (INF, 0.0), (-INF, 2.0), (NAN, NAN), (28.0, 0.0), (-28.0, 2.0)]);
    check("phi", &[(0.0, 0.5), (INF, 1.0), (-INF, 0.0), (NAN, NAN), (10.0, 1.0), (-39.0, 0.0)]);
    check("lgamma", &[(0.0, INF), (1.0, 0.0), (2.0, 0.0), (3.0, LN_2), (INF, INF), (NAN, NAN), (-1.0, NAN)]);
    check("lgamma", &[(f64::MAX, INF), (TINY, -TINY.ln()), (-INF, NAN)]);
    check("digamma", &[(0.0, -INF), (INF, INF), (NAN, NAN), (-1.0, NAN), (TINY, -INF), (-INF, NAN)]);
}

#[test]
fn sine_and_cosine_fall_back_for_large_arguments() {
    let x = [0.0, -0.0, INF, -INF, NAN, 1e5, 1e5_f64.next_up(), -1e22, 1e300, TINY, -1e-300];
    let (mut s, mut c) = ([0.0; 11], [0.0; 11]);
    sin(&x, &mut s);
    cos(&x, &mut c);
    for (i, &x) in x.iter().enumerate() {
        assert!(same(s[i], x.sin()), "sin({x:e}) = {:e}", s[i]);
        assert!(same(c[i], x.cos()), "cos({x:e}) = {:e}", c[i]);
    }
}

#[test]
fn powers() {
    let values = [0.0, 1.0, 2.0, 3.0, 0.5, 1.5, 2.5, INF, NAN, TINY, f64::MAX, 1e15 + 1.0, 9_007_199_254_740_993.0];
    let values: Vec<f64> = values.iter().flat_map(|&v| [v, -v]).collect();
    for &x in &values {
        for &y in &values {
            let mut out = [0.0];
            pow(&[x], &[y], &mut out);
            let expected = x.powf(y);
            let close = (out[0] - expected).abs() <= expected.abs() * f64::EPSILON;
            assert!(same(out[0], expected) || (close && expected != 0.0), "pow({x:e}, {y:e}) = {:e}", out[0]);
        }
    }
}
