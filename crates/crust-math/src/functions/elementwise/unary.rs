//! Functions of one real number: the value, and the derivative written with the value where that saves work.

#![allow(clippy::inline_always, reason = "only what is inlined is compiled for the instruction set of its caller")]

use super::Unary;
use crate::lanes::{self, Kernel, dispatch, scalar};
use crate::special;
use std::f64::consts::{FRAC_2_SQRT_PI, LN_2, LN_10};
use std::marker::PhantomData;

const INV_SQRT_TAU: f64 = 0.398_942_280_401_432_7;
const SQRT_TAU: f64 = 2.506_628_274_631_000_7;
const HALF_SQRT_PI: f64 = 0.886_226_925_452_758;

/// The derivative of a function of one lane.
trait Slope {
    /// The derivative at x, where y is the value. Must be `#[inline(always)]`.
    fn slope(x: f64, y: f64) -> f64;
}

/// A function of one lane.
trait Function: Slope {
    /// Must be `#[inline(always)]`.
    fn value(x: f64) -> f64;
}

struct Value<'a, F> {
    x: &'a [f64],
    out: &'a mut [f64],
    function: PhantomData<F>,
}

impl<F: Function> Kernel for Value<'_, F> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        value_slices::<F>(self.x, self.out);
    }
}

// Functions of their own so that the compiler knows that the slices do not overlap.
#[inline(always)]
fn value_slices<F: Function>(x: &[f64], out: &mut [f64]) {
    for (out, &x) in out.iter_mut().zip(x) {
        *out = F::value(x);
    }
}

struct Reverse<'a, F> {
    x: &'a [f64],
    y: &'a [f64],
    adjoint: &'a [f64],
    to: &'a mut [f64],
    function: PhantomData<F>,
}

impl<F: Slope> Kernel for Reverse<'_, F> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        reverse_slices::<F>(self.x, self.y, self.adjoint, self.to);
    }
}

#[inline(always)]
fn reverse_slices<F: Slope>(x: &[f64], y: &[f64], adjoint: &[f64], to: &mut [f64]) {
    for (((to, &x), &y), &adjoint) in to.iter_mut().zip(x).zip(y).zip(adjoint) {
        *to = adjoint.mul_add(F::slope(x, y), *to);
    }
}

fn value<F: Function>(x: &[f64], out: &mut [f64]) {
    dispatch(Value::<F> { x, out, function: PhantomData });
}

fn reverse<F: Slope>(x: &[f64], y: &[f64], adjoint: &[f64], to: &mut [f64]) {
    dispatch(Reverse::<F> { x, y, adjoint, to, function: PhantomData });
}

const fn entry<F: Function>(name: &'static str) -> Unary {
    Unary { name, value: value::<F>, reverse: reverse::<F> }
}

/// Defines types that stand for functions, each with its derivative.
macro_rules! slopes {
    ($($type:ident: |$x:ident, $y:ident| $slope:expr;)*) => {
        $(
            struct $type;

            impl Slope for $type {
                #[inline(always)]
                fn slope($x: f64, $y: f64) -> f64 {
                    let _ = ($x, $y);
                    $slope
                }
            }
        )*
    };
}

/// Functions whose values the lanes have: a table of name, values and derivative.
macro_rules! of_lanes {
    ($($type:ident $name:literal $value:path: |$x:ident, $y:ident| $slope:expr;)*) => {
        slopes! { $($type: |$x, $y| $slope;)* }

        const OF_LANES: &[Unary] = &[$(Unary { name: $name, value: $value, reverse: reverse::<$type> }),*];
    };
}

/// Functions of one lane: a table of name, value and derivative.
macro_rules! functions {
    ($($type:ident $name:literal: |$x:ident, $y:ident| $value:expr, $slope:expr;)*) => {
        slopes! { $($type: |$x, $y| $slope;)* }

        $(
            impl Function for $type {
                #[inline(always)]
                fn value($x: f64) -> f64 {
                    $value
                }
            }
        )*

        const OWN: &[Unary] = &[$(entry::<$type>($name)),*];
    };
}

of_lanes! {
    Erf "erf" lanes::erf: |x, y| FRAC_2_SQRT_PI * scalar::exp(-x * x);
    Erfc "erfc" lanes::erfc: |x, y| -FRAC_2_SQRT_PI * scalar::exp(-x * x);
    Exp "exp" lanes::exp: |x, y| y;
    Expm1 "expm1" lanes::expm1: |x, y| y + 1.0;
    InvLogit "inv_logit" lanes::inv_logit: |x, y| y * (1.0 - y);
    InvSqrt "inv_sqrt" lanes::inv_sqrt: |x, y| -0.5 * y * y * y;
    Log "log" lanes::log: |x, y| 1.0 / x;
    Log1p "log1p" lanes::log1p: |x, y| 1.0 / (1.0 + x);
    Log1pExp "log1p_exp" lanes::log1p_exp: |x, y| scalar::inv_logit(x);
    LogInvLogit "log_inv_logit" lanes::log_inv_logit: |x, y| scalar::inv_logit(-x);
    Phi "Phi" lanes::phi: |x, y| INV_SQRT_TAU * scalar::exp(-0.5 * x * x);
    // at 0 the derivative is 0, as in Stan
    Sqrt "sqrt" lanes::sqrt: |x, y| if y == 0.0 { 0.0 } else { 0.5 / y };
    Square "square" lanes::square: |x, y| 2.0 * x;
    Tanh "tanh" lanes::tanh: |x, y| (1.0 - y) * (1.0 + y);
}

functions! {
    // at 0 the derivative is 0, as in Stan
    Abs "abs": |x, y| x.abs(), if x > 0.0 { 1.0 } else if x < 0.0 { -1.0 } else { x };
    Acos "acos": |x, y| x.acos(), -1.0 / ((1.0 - x) * (1.0 + x)).sqrt();
    Acosh "acosh": |x, y| acosh(x), 1.0 / ((x - 1.0).sqrt() * (x + 1.0).sqrt());
    Asin "asin": |x, y| x.asin(), 1.0 / ((1.0 - x) * (1.0 + x)).sqrt();
    Asinh "asinh": |x, y| asinh(x), if x.abs() > 1e150 { 1.0 / x.abs() } else { 1.0 / x.mul_add(x, 1.0).sqrt() };
    Atan "atan": |x, y| x.atan(), 1.0 / x.mul_add(x, 1.0);
    Atanh "atanh": |x, y| atanh(x), 1.0 / ((1.0 - x) * (1.0 + x));
    Cbrt "cbrt": |x, y| x.cbrt(), 1.0 / (3.0 * y * y);
    Ceil "ceil": |x, y| x.ceil(), 0.0;
    Cosh "cosh": |x, y| x.cosh(), x.sinh();
    Exp2 "exp2": |x, y| scalar::pow(2.0, x), y * LN_2;
    Floor "floor": |x, y| x.floor(), 0.0;
    Inv "inv": |x, y| 1.0 / x, -y * y;
    InvPhi "inv_Phi": |x, y| scalar::inv_phi(x), SQRT_TAU * scalar::exp(0.5 * y * y);
    InvCloglog "inv_cloglog": |x, y| -scalar::expm1(-scalar::exp(x)), scalar::exp(x - scalar::exp(x));
    InvErfc "inv_erfc": |x, y| special::inv_erfc(x), -HALF_SQRT_PI * scalar::exp(y * y);
    InvSquare "inv_square": |x, y| 1.0 / (x * x), -2.0 * y / x;
    LambertW0 "lambert_w0": |x, y| special::lambert_w0(x), 1.0 / (scalar::exp(y) * (1.0 + y));
    LambertWm1 "lambert_wm1": |x, y| special::lambert_wm1(x), 1.0 / (scalar::exp(y) * (1.0 + y));
    // the standard library is exact at the powers of 10 and of 2
    Log10 "log10": |x, y| x.log10(), 1.0 / (x * LN_10);
    Log1m "log1m": |x, y| scalar::log1p(-x), 1.0 / (x - 1.0);
    Log1mExp "log1m_exp": |x, y| log1m_exp(x), -1.0 / scalar::expm1(-x);
    Log1mInvLogit "log1m_inv_logit": |x, y| -scalar::log1p_exp(x), -scalar::inv_logit(x);
    Log2 "log2": |x, y| x.log2(), 1.0 / (x * LN_2);
    Logit "logit": |x, y| logit(x), 1.0 / (x * (1.0 - x));
    PhiApprox "Phi_approx":
        |x, y| scalar::inv_logit(x * (x * x).mul_add(0.07056, 1.5976)),
        y * (1.0 - y) * (x * x).mul_add(0.21168, 1.5976);
    Round "round": |x, y| x.round(), 0.0;
    Sinh "sinh": |x, y| x.sinh(), x.cosh();
    StdNormalLogQf "std_normal_log_qf": |x, y| special::std_normal_log_qf(x), std_normal_log_qf_slope(x, y);
    StdNormalQf "std_normal_qf": |x, y| scalar::inv_phi(x), SQRT_TAU * scalar::exp(0.5 * y * y);
    Step "step": |x, y| if x < 0.0 { 0.0 } else { 1.0 }, 0.0;
    Tgamma "tgamma": |x, y| tgamma(x), y * special::digamma(x);
    Trigamma "trigamma": |x, y| special::trigamma(x), special::polygamma(2, x);
    Trunc "trunc": |x, y| x.trunc(), 0.0;
}

/// Functions whose kernel for lanes covers only a part of the line; the rest is left to scalar code.
const PARTIAL: &[Unary] = &[
    Unary { name: "cos", value: lanes::cos, reverse: cos_reverse },
    Unary { name: "digamma", value: digamma, reverse: reverse::<Digamma> },
    Unary { name: "lgamma", value: lgamma, reverse: lgamma_reverse },
    Unary { name: "sin", value: lanes::sin, reverse: sin_reverse },
    Unary { name: "tan", value: tan, reverse: reverse::<Tan> },
];

/// All functions.
pub(super) const ALL: [Unary; OF_LANES.len() + OWN.len() + PARTIAL.len()] = {
    let mut all = [PARTIAL[0]; OF_LANES.len() + OWN.len() + PARTIAL.len()];
    let mut i = 0;
    while i < all.len() {
        all[i] = if i < OF_LANES.len() {
            OF_LANES[i]
        } else if i < OF_LANES.len() + OWN.len() {
            OWN[i - OF_LANES.len()]
        } else {
            PARTIAL[i - OF_LANES.len() - OWN.len()]
        };
        i += 1;
    }
    all
};

/// acosh(1 + t) = log(1 + t + √(t (t + 2))), accurate also near 1.
#[inline(always)]
fn acosh(x: f64) -> f64 {
    let t = x - 1.0;
    let near = scalar::log1p(t.sqrt().mul_add((t + 2.0).sqrt(), t));
    if x > 1e150 { scalar::log(x) + LN_2 } else { near }
}

/// asinh(a) = log(1 + a + a² / (1 + √(1 + a²))) for a ≥ 0; odd.
#[inline(always)]
fn asinh(x: f64) -> f64 {
    let a = x.abs();
    let square = a * a;
    let near = scalar::log1p(a + square / (1.0 + (1.0 + square).sqrt()));
    let far = scalar::log(a) + LN_2;
    (if a > 1e150 { far } else { near }).copysign(x)
}

/// atanh(a) = ½ log(1 + 2a / (1 − a)) for a ≥ 0; odd.
#[inline(always)]
fn atanh(x: f64) -> f64 {
    let a = x.abs();
    (0.5 * scalar::log1p(2.0 * a / (1.0 - a))).copysign(x)
}

/// log(1 − exp(x)); the change of formula at −log 2 is that of Mächler (2012).
#[inline(always)]
fn log1m_exp(x: f64) -> f64 {
    let near = scalar::log(-scalar::expm1(x));
    let far = scalar::log1p(-scalar::exp(x));
    if x > -LN_2 { near } else { far }
}

/// log(x / (1 − x)) = log(1 + (2x − 1) / (1 − x)), of which the second keeps its digits near ½ and the first near 0.
#[inline(always)]
fn logit(x: f64) -> f64 {
    let low = scalar::log(x / (1.0 - x));
    let high = scalar::log1p(2.0f64.mul_add(x, -1.0) / (1.0 - x));
    if x < 0.25 { low } else { high }
}

/// Φ(y) / φ(y) at y = Φ⁻¹(eˣ); where y is positive φ(y) is 1 − Φ(y) = −expm1(x) times the inverse Mills ratio of the
/// upper tail.
fn std_normal_log_qf_slope(x: f64, y: f64) -> f64 {
    if x == 0.0 {
        return f64::INFINITY;
    }
    if y < 0.0 { 1.0 / special::log_Phi_derivative(y) } else { 1.0 / ((-x).exp_m1() * special::log_Phi_derivative(-y)) }
}

/// Γ(x), which is undefined at its pole 0 as at the others.
fn tgamma(x: f64) -> f64 {
    if x == 0.0 { f64::NAN } else { special::tgamma(x) }
}

/// Overwrites the values at arguments that the kernel does not cover.
fn patch(x: &[f64], out: &mut [f64], outside: impl Fn(f64) -> bool, f: impl Fn(f64) -> f64) {
    for (out, &x) in out.iter_mut().zip(x) {
        if outside(x) {
            *out = f(x);
        }
    }
}

/// Adds `adjoint · f(x)` at arguments that the kernel does not cover.
fn patch_reverse(x: &[f64], adjoint: &[f64], to: &mut [f64], outside: impl Fn(f64) -> bool, f: impl Fn(f64) -> f64) {
    for ((to, &x), &adjoint) in to.iter_mut().zip(x).zip(adjoint) {
        if outside(x) {
            *to = adjoint.mul_add(f(x), *to);
        }
    }
}

#[inline(always)]
fn far(x: f64) -> bool {
    x.abs() > scalar::TRIGONOMETRIC_LIMIT
}

#[inline(always)]
fn not_positive(x: f64) -> bool {
    x <= 0.0
}

slopes! {
    Sin: |x, y| if far(x) { 0.0 } else { scalar::cos(x) };
    Cos: |x, y| if far(x) { 0.0 } else { -scalar::sin(x) };
    Tan: |x, y| y.mul_add(y, 1.0);
    Lgamma: |x, y| if not_positive(x) { 0.0 } else { scalar::digamma(x) };
    Digamma: |x, y| special::trigamma(x);
}

impl Function for Tan {
    #[inline(always)]
    fn value(x: f64) -> f64 {
        scalar::sin(x) / scalar::cos(x)
    }
}

fn sin_reverse(x: &[f64], y: &[f64], adjoint: &[f64], to: &mut [f64]) {
    reverse::<Sin>(x, y, adjoint, to);
    patch_reverse(x, adjoint, to, far, f64::cos);
}

fn cos_reverse(x: &[f64], y: &[f64], adjoint: &[f64], to: &mut [f64]) {
    reverse::<Cos>(x, y, adjoint, to);
    patch_reverse(x, adjoint, to, far, |x| -x.sin());
}

fn tan(x: &[f64], out: &mut [f64]) {
    value::<Tan>(x, out);
    patch(x, out, far, f64::tan);
}

fn lgamma(x: &[f64], out: &mut [f64]) {
    lanes::lgamma(x, out);
    patch(x, out, not_positive, special::lgamma);
}

fn lgamma_reverse(x: &[f64], y: &[f64], adjoint: &[f64], to: &mut [f64]) {
    reverse::<Lgamma>(x, y, adjoint, to);
    patch_reverse(x, adjoint, to, not_positive, special::digamma);
}

fn digamma(x: &[f64], out: &mut [f64]) {
    lanes::digamma(x, out);
    patch(x, out, not_positive, |x| if x == 0.0 { f64::NAN } else { special::digamma(x) });
}
