//! Errors in units of the last place.

use super::super::{InstructionSet, pow_on};
use super::{Bits, evaluate, same, ulp};

/// The claim for each function, in ulp of the true result.
const BOUNDS: &[(&str, f64)] = &[
    ("exp", 1.0),
    ("expm1", 1.0),
    ("log", 1.0),
    ("log1p", 1.0),
    ("log1p_exp", 2.0),
    ("inv_logit", 2.0),
    ("log_inv_logit", 2.0),
    ("tanh", 2.0),
    ("sin", 1.0),
    ("cos", 1.0),
    ("inv_sqrt", 1.5),
    ("erf", 2.0),
    ("erfc", 6.0),
    ("phi", 6.0),
    ("lgamma", 6.0),
    ("pow", 1.0),
];

/// A line of the table: the function, its arguments, and its value as an unevaluated sum.
struct Point {
    name: &'static str,
    arguments: Vec<f64>,
    high: f64,
    low: f64,
}

/// `hard_points.txt`: for each function the points with the largest errors among many thousands that were drawn all
/// over the range and near the ends of the reductions, with values from mpmath (60 digits).
fn hard_points() -> Vec<Point> {
    let number = |bits: &str| f64::from_bits(u64::from_str_radix(bits, 16).expect("hexadecimal digits"));
    include_str!("hard_points.txt")
        .lines()
        .map(|line| {
            let (name, numbers) = line.split_once(' ').expect("a name and numbers");
            let mut arguments: Vec<f64> = numbers.split(' ').map(number).collect();
            let low = arguments.pop().expect("a value");
            let high = arguments.pop().expect("a value");
            Point { name, arguments, high, low }
        })
        .collect()
}

fn value(point: &Point) -> f64 {
    if point.name == "pow" {
        let mut out = [0.0];
        pow_on(InstructionSet::best(), &point.arguments[..1], &point.arguments[1..], &mut out);
        out[0]
    } else {
        evaluate(point.name, &point.arguments)[0]
    }
}

#[test]
fn hard_points_are_within_the_bounds() {
    let points = hard_points();
    for &(name, bound) in BOUNDS {
        let mut count = 0;
        for point in points.iter().filter(|point| point.name == name) {
            let got = value(point);
            let error = ((got - point.high) - point.low).abs() / ulp(point.high);
            assert!(error <= bound, "{name}{:?} = {got:e}, not {:e}: {error} ulp", point.arguments, point.high);
            count += 1;
        }
        assert!(count >= 20, "{name}: {count} points");
    }
}

#[test]
fn digamma_is_within_its_absolute_bound() {
    let mut count = 0;
    for point in hard_points().iter().filter(|point| point.name == "digamma") {
        let error = ((value(point) - point.high) - point.low).abs();
        assert!(error <= 1e-15 * point.high.abs().max(1.0), "digamma{:?}: {error:e}", point.arguments);
        count += 1;
    }
    assert!(count >= 20);
}

/// Compares with a function of the standard library on a million points: half of them any representation, a quarter in
/// the range, a quarter on a dense grid over the range. Two roundings that are both right to one ulp may differ by two
/// at most.
fn compare(name: &str, (low, high): (f64, f64), bound: f64, domain: impl Fn(f64) -> bool, std: impl Fn(f64) -> f64) {
    let mut bits = Bits(20);
    let mut x: Vec<f64> = (0..500_000).map(|_| bits.any()).filter(|x| domain(*x)).collect();
    x.extend((0..250_000).map(|_| bits.uniform(low, high)));
    x.extend((0..=250_000).map(|i| low + (high - low) * f64::from(i) / 250_000.0));
    let mut worst = (0.0, 0.0, 0.0);
    for (&x, got) in x.iter().zip(evaluate(name, &x)) {
        let expected = std(x);
        if !same(got, expected) {
            let error = (got - expected).abs() / ulp(expected);
            let error = if error.is_nan() { f64::INFINITY } else { error };
            worst = if error > worst.0 { (error, x, got) } else { worst };
        }
    }
    let (error, x, got) = worst;
    assert!(error <= bound, "{name}({x:e}) = {got:e}, not {:e}: {error} ulp", std(x));
}

#[test]
fn exponentials_agree_with_the_standard_library() {
    compare("exp", (-750.0, 711.0), 1.0, |_| true, f64::exp);
    compare("exp", (-2.0, 2.0), 1.0, |_| true, f64::exp);
    compare("expm1", (-2.0, 2.0), 1.0, |_| true, f64::exp_m1);
    compare("expm1", (-45.0, 711.0), 1.0, |_| true, f64::exp_m1);
    // The C library's tanh is right to 2 ulp, not 1.
    compare("tanh", (-2.0, 2.0), 3.0, |_| true, f64::tanh);
    compare("tanh", (-25.0, 25.0), 3.0, |_| true, f64::tanh);
}

#[test]
fn logarithms_agree_with_the_standard_library() {
    compare("log", (0.1, 10.0), 1.0, |_| true, f64::ln);
    compare("log", (0.99, 1.01), 1.0, |_| true, f64::ln);
    compare("log", (0.0, 1e-307), 1.0, |_| true, f64::ln);
    compare("log1p", (-1.0, 3.0), 1.0, |_| true, f64::ln_1p);
    compare("log1p", (-0.01, 0.01), 1.0, |_| true, f64::ln_1p);
}

#[test]
fn trigonometric_functions_agree_with_the_standard_library() {
    let domain = |x: f64| x.abs() <= 1e5 || !x.is_finite();
    compare("sin", (-10.0, 10.0), 1.0, domain, f64::sin);
    compare("sin", (-1e5, 1e5), 1.0, domain, f64::sin);
    compare("cos", (-10.0, 10.0), 1.0, domain, f64::cos);
    compare("cos", (-1e5, 1e5), 1.0, domain, f64::cos);
}

#[test]
fn roots_agree_with_the_standard_library() {
    compare("sqrt", (0.0, 10.0), 0.0, |_| true, f64::sqrt);
    compare("inv_sqrt", (0.0, 10.0), 0.0, |_| true, |x| 1.0 / x.sqrt());
    compare("square", (-10.0, 10.0), 0.0, |_| true, |x| x * x);
}

#[test]
fn logistic_functions_agree_with_their_definitions() {
    // The definitions from the standard library are themselves wrong by some ulp.
    let softplus = |x: f64| x.max(0.0) + (-x.abs()).exp().ln_1p();
    let softplus = |x: f64| if x.is_nan() { x } else { softplus(x) };
    compare("log1p_exp", (-40.0, 40.0), 4.0, |_| true, softplus);
    compare("log_inv_logit", (-40.0, 40.0), 4.0, |_| true, |x| -softplus(-x));
    let logistic = |x: f64| if x < 0.0 { x.exp() / (1.0 + x.exp()) } else { 1.0 / (1.0 + (-x).exp()) };
    compare("inv_logit", (-40.0, 40.0), 3.0, |_| true, logistic);
}

#[test]
fn powers_agree_with_the_standard_library() {
    let mut bits = Bits(21);
    let (mut x, mut y) = (Vec::new(), Vec::new());
    for i in 0..1_000_000 {
        let (a, b) = match i % 4 {
            0 => (bits.any(), bits.any()),
            1 => (bits.uniform(0.0, 10.0), bits.uniform(-300.0, 300.0)),
            2 => (bits.any().abs(), bits.uniform(-2.0, 2.0)),
            _ => (bits.uniform(-10.0, 10.0), bits.uniform(-20.0, 20.0).round()),
        };
        x.push(a);
        y.push(b);
    }
    let mut out = vec![0.0; x.len()];
    pow_on(InstructionSet::best(), &x, &y, &mut out);
    for ((&x, &y), &got) in x.iter().zip(&y).zip(&out) {
        let expected = x.powf(y);
        let close = same(got, expected) || (got - expected).abs() <= ulp(expected);
        assert!(close, "pow({x:e}, {y:e}) = {got:e}, not {expected:e}");
    }
}
