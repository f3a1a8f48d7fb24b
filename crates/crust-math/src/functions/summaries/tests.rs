//! Derivatives by finite differences, known values, and what happens at the edges.

mod stan;

use super::ALL;
use crate::functions::{Argument, Shape, VectorFunction};

fn find(name: &str) -> &'static dyn VectorFunction {
    *ALL.iter().find(|f| f.name() == name).expect("the function exists")
}

type Owned = (Vec<f64>, Shape);

fn borrow(arguments: &[Owned]) -> Vec<Argument<'_>> {
    arguments.iter().map(|(numbers, shape)| Argument { numbers, shape: *shape }).collect()
}

pub(in crate::functions) fn evaluate(f: &dyn VectorFunction, arguments: &[Owned]) -> Vec<f64> {
    let arguments = borrow(arguments);
    let shapes: Vec<Shape> = arguments.iter().map(|a| a.shape).collect();
    let mut out = vec![f64::NAN; f.shape(&arguments).expect("sizes fit").len()];
    let mut scratch = vec![f64::NAN; f.scratch(&shapes)];
    f.value(&arguments, &mut out, &mut scratch).expect("inside of the domain");
    out
}

/// The adjoints of all arguments for the given adjoint of the result, from a start that is not 0.
pub(in crate::functions) fn gradient(f: &dyn VectorFunction, arguments: &[Owned], adjoint: &[f64]) -> Vec<Vec<f64>> {
    let out = evaluate(f, arguments);
    let mut sums: Vec<Vec<f64>> = arguments.iter().map(|(x, _)| vec![0.25; x.len()]).collect();
    let arguments = borrow(arguments);
    let shapes: Vec<Shape> = arguments.iter().map(|a| a.shape).collect();
    let mut scratch = vec![f64::NAN; f.scratch(&shapes)];
    let mut adjoints: Vec<&mut [f64]> = sums.iter_mut().map(Vec::as_mut_slice).collect();
    f.reverse(&arguments, &out, adjoint, &mut adjoints, &mut scratch);
    for x in sums.iter_mut().flatten() {
        *x -= 0.25;
    }
    // an argument whose derivative is not wanted has an empty slice, and the others do not change
    for wanted in 0..arguments.len() {
        let mut only = vec![0.0; arguments[wanted].numbers.len()];
        let mut adjoints: Vec<&mut [f64]> = arguments.iter().map(|_| Default::default()).collect();
        adjoints[wanted] = &mut only;
        f.reverse(&arguments, &out, adjoint, &mut adjoints, &mut scratch);
        for (a, b) in only.iter().zip(&sums[wanted]) {
            let near = a.to_bits() == b.to_bits() || (a - b).abs() <= 1e-12 * (1.0 + a.abs());
            assert!(near || a.is_nan() && b.is_nan(), "{}", f.name());
        }
    }
    sums
}

pub(in crate::functions) fn weights(n: usize) -> Vec<f64> {
    (0..n).map(|i| 0.3 + (super::sums::count(i) * 1.7).sin()).collect()
}

/// Compares the adjoints with central differences of Σ weight · result, extrapolated once.
pub(in crate::functions) fn check_gradient(f: &dyn VectorFunction, arguments: &[Owned], varying: usize) {
    let adjoint = weights(evaluate(f, arguments).len());
    let total = |arguments: &[Owned]| -> f64 { evaluate(f, arguments).iter().zip(&adjoint).map(|(x, w)| x * w).sum() };
    let got = gradient(f, arguments, &adjoint);
    for (a, argument) in arguments.iter().enumerate().take(varying) {
        for i in 0..argument.0.len() {
            let at = |h: f64| {
                let mut moved = arguments.to_vec();
                moved[a].0[i] += h;
                total(&moved)
            };
            let h = 1e-3 * argument.0[i].abs().clamp(0.05, 1.0);
            let central = |h: f64| (at(h) - at(-h)) / (2.0 * h);
            let (d1, d2, d4) = (central(h), central(2.0 * h), central(4.0 * h));
            let (e1, e2) = ((4.0 * d1 - d2) / 3.0, (4.0 * d2 - d4) / 3.0);
            let expected = (16.0 * e1 - e2) / 15.0;
            let bound = 1e-9 * (1.0 + expected.abs()) + 1e-13 * total(arguments).abs() / h;
            let got = got[a][i];
            assert!((got - expected).abs() <= bound, "{} {arguments:?} [{a}][{i}]: {got} {expected}", f.name());
        }
    }
}

fn vector(x: &[f64]) -> Owned {
    (x.to_vec(), Shape::vector(x.len()))
}

fn long() -> Vec<f64> {
    (0..21).map(|i| (super::sums::count(i) * 2.3).sin() * 2.0 + 0.1).collect()
}

#[test]
fn derivatives() {
    let short = vector(&[0.7, -1.2, 2.5, 0.3, -0.8]);
    let matrix = (vec![0.7, -1.2, 2.5, 0.3, -0.8, 1.1], Shape::matrix(2, 3));
    let other = vector(&[1.3, 0.2, -0.5, 2.2, 0.9]);
    for f in ALL {
        match f.name() {
            "rank" | "quantile" | "sort_indices_asc" | "sort_indices_desc" | "log_mix" => {}
            name if name.starts_with("hypergeometric") => {}
            "dot_product" | "distance" | "squared_distance" => {
                check_gradient(*f, &[short.clone(), other.clone()], 2);
                check_gradient(*f, &[vector(&long()), vector(&long().iter().map(|x| x * x).collect::<Vec<_>>())], 2);
            }
            _ => {
                check_gradient(*f, std::slice::from_ref(&short), 1);
                check_gradient(*f, std::slice::from_ref(&matrix), 1);
                check_gradient(*f, &[vector(&long())], 1);
            }
        }
    }
    let theta = vector(&[0.2, 0.5, 0.3]);
    check_gradient(find("log_mix"), &[theta.clone(), vector(&[-1.0, 2.0, 0.4])], 2);
    let many = (vec![-1.0, 2.0, 0.4, 3.0, -2.0, -2.5], Shape::vector(3).in_array(2));
    check_gradient(find("log_mix"), &[theta, many], 2);
}

#[test]
fn hypergeometric_functions() {
    let real = |x: f64| (vec![x], Shape::SCALAR);
    // ₂F₁(1, 1; 2; z) = −log(1 − z) / z, and ₁F₁(a; a; z) = eᶻ
    let gauss = [real(1.0), real(1.0), real(2.0), real(0.4)];
    assert!((evaluate(find("hypergeometric_2F1"), &gauss)[0] + 0.6f64.ln() / 0.4).abs() < 1e-14);
    check_gradient(find("hypergeometric_2F1"), &[real(1.3), real(-0.4), real(2.2), real(0.4)], 4);
    check_gradient(find("hypergeometric_3F2"), &[vector(&[1.3, 0.4, 2.0]), vector(&[2.2, 1.1]), real(0.3)], 3);
    let exponential = [vector(&[1.7]), vector(&[1.7]), real(-2.0)];
    assert!((evaluate(find("hypergeometric_pFq"), &exponential)[0] - (-2.0f64).exp()).abs() < 1e-14);
    check_gradient(find("hypergeometric_pFq"), &[vector(&[1.3]), vector(&[2.2, 1.1]), real(0.3)], 3);
    let two = Argument { numbers: &[1.0, 2.0], shape: Shape::vector(2) };
    assert!(find("hypergeometric_3F2").shape(&[two, two, two]).is_err());
    let diverges = [real(1.0), real(1.0), real(2.0), real(1.5)];
    assert!(find("hypergeometric_2F1").value(&borrow(&diverges), &mut [0.0], &mut []).is_err());
}

#[test]
fn known_values() {
    let x = [3.0, -1.0, 2.0, 2.0];
    let one = |name: &str| evaluate(find(name), &[vector(&x)]);
    let real = |name: &str| one(name)[0];
    let near = |a: f64, b: f64| (a - b).abs() < 1e-15 * b.abs().max(1.0);
    assert!(near(real("sum"), 6.0) && near(real("prod"), -12.0) && near(real("mean"), 1.5));
    assert!(near(real("variance"), 3.0) && near(real("sd"), 3.0f64.sqrt()));
    assert!(near(real("min"), -1.0) && near(real("max"), 3.0) && near(real("norm1"), 8.0));
    assert!(near(real("norm2"), 18.0f64.sqrt()) && near(real("dot_self"), 18.0));
    assert_eq!(one("cumulative_sum"), [3.0, 2.0, 4.0, 6.0]);
    assert_eq!(one("sort_asc"), [-1.0, 2.0, 2.0, 3.0]);
    assert_eq!(one("sort_desc"), [3.0, 2.0, 2.0, -1.0]);
    assert_eq!(one("sort_indices_asc"), [2.0, 3.0, 4.0, 1.0]);
    assert_eq!(one("sort_indices_desc"), [1.0, 3.0, 4.0, 2.0]);
    let rank = |s: f64| evaluate(find("rank"), &[vector(&x), (vec![s], Shape::SCALAR)])[0];
    assert!(near(rank(1.0), 3.0) && near(rank(2.0), 0.0) && near(rank(4.0), 1.0));
    let p = (vec![0.0, 0.1, 0.5, 1.0], Shape::array(&[4]));
    let quantiles = evaluate(find("quantile"), &[vector(&x), p]);
    assert!(quantiles.iter().zip([-1.0, -0.1, 2.0, 3.0]).all(|(a, b)| near(*a, b)), "{quantiles:?}");
    let distance = evaluate(find("distance"), &[vector(&[1.0, 2.0]), vector(&[4.0, 6.0])]);
    assert!(near(distance[0], 5.0));
}

#[test]
fn exponentials_neither_overflow_nor_cancel() {
    const INF: f64 = f64::INFINITY;
    let ln2 = std::f64::consts::LN_2;
    for shift in [-1e4, 0.0, 1e4] {
        let x = vector(&[shift, shift]);
        assert!((evaluate(find("log_sum_exp"), std::slice::from_ref(&x))[0] - shift - ln2).abs() < 1e-11);
        assert!(evaluate(find("softmax"), std::slice::from_ref(&x)).iter().all(|p| (p - 0.5).abs() < 1e-15));
        assert!(evaluate(find("log_softmax"), &[x]).iter().all(|l| (l + ln2).abs() < 1e-11));
    }
    let lse = |x: &[f64]| evaluate(find("log_sum_exp"), &[vector(x)])[0];
    assert!(lse(&[]) == -INF && lse(&[-INF, -INF]) == -INF && lse(&[1.0, INF]) == INF);
    assert!(lse(&[1.0, f64::NAN]).is_nan());
    assert_eq!(gradient(find("log_sum_exp"), &[vector(&[-INF, -INF])], &[1.0]), [[0.0, 0.0]]);
    assert_eq!(gradient(find("log_sum_exp"), &[vector(&[-INF, 3.0])], &[2.0]), [[0.0, 2.0]]);
    assert_eq!(evaluate(find("softmax"), &[vector(&[-INF, 3.0])]), [0.0, 1.0]);
    assert!(evaluate(find("softmax"), &[vector(&[])]).is_empty());
}

#[test]
fn derivatives_where_there_is_none_are_those_of_stan() {
    let of = |name: &str, x: &[f64]| gradient(find(name), &[vector(x)], &[1.0]).remove(0);
    assert_eq!(of("sd", &[2.0, 2.0, 2.0, 2.0]), [0.5; 4]);
    assert_eq!(of("sd", &[2.0]), [0.0]);
    assert_eq!(of("variance", &[2.0]), [0.0]);
    assert_eq!(of("norm1", &[0.0, -3.0]), [0.0, -1.0]);
    assert!(of("norm2", &[0.0, 0.0]).iter().all(|d| d.is_nan()));
    assert_eq!(of("max", &[1.0, 3.0, 3.0]), [0.0, 1.0, 0.0]);
    assert_eq!(of("min", &[3.0, 1.0, 1.0]), [0.0, 1.0, 0.0]);
    assert_eq!(of("prod", &[0.0, 4.0, 5.0]), [20.0, 0.0, 0.0]);
    assert_eq!(of("prod", &[0.0, 4.0, 0.0]), [0.0; 3]);
    let at = vector(&[1.0, 2.0]);
    assert_eq!(gradient(find("distance"), &[at.clone(), at], &[1.0]), [[0.0; 2], [0.0; 2]]);
}

#[test]
fn sizes_and_domains() {
    let empty = Argument { numbers: &[], shape: Shape::vector(0) };
    for name in ["mean", "variance", "sd"] {
        assert!(find(name).shape(&[empty]).is_err());
    }
    assert!(evaluate(find("max"), &[vector(&[])])[0] < f64::MIN && evaluate(find("min"), &[vector(&[])])[0] > f64::MAX);
    assert_eq!(evaluate(find("sum"), &[vector(&[])]), [0.0]);
    assert_eq!(evaluate(find("prod"), &[vector(&[])]), [1.0]);
    let (two, three) =
        (Argument { numbers: &[], shape: Shape::vector(2) }, Argument { numbers: &[], shape: Shape::vector(3) });
    for name in ["dot_product", "distance", "squared_distance", "log_mix"] {
        assert!(find(name).shape(&[two, three]).is_err());
    }
    let position = Argument { numbers: &[4.0], shape: Shape::SCALAR };
    assert!(find("rank").shape(&[three, position]).is_err());
    let fails = |name: &str, arguments: &[Owned]| {
        let mut out = [0.0; 3];
        find(name).value(&borrow(arguments), &mut out, &mut [0.0; 3]).is_err()
    };
    assert!(fails("sort_asc", &[vector(&[1.0, f64::NAN])]));
    assert!(fails("quantile", &[vector(&[1.0]), (vec![1.5], Shape::SCALAR)]));
    assert!(fails("log_mix", &[vector(&[0.5, 1.5]), vector(&[1.0, 1.0])]));
    assert!(fails("log_mix", &[vector(&[0.5, 0.5]), vector(&[1.0, f64::INFINITY])]));
}
