//! Derivatives by finite differences for all signatures, and values from the definitions.

mod stan;

use super::ALL;
use crate::functions::summaries::tests::{check_gradient, evaluate, gradient, weights};
use crate::functions::{Argument, Shape, VectorFunction};

type Owned = (Vec<f64>, Shape);

fn find(name: &str) -> &'static dyn VectorFunction {
    *ALL.iter().find(|f| f.name() == name).expect("the function exists")
}

fn numbers(x: &[f64]) -> Owned {
    (x.to_vec(), Shape::array(&[x.len()]))
}

fn real(x: f64) -> Owned {
    (vec![x], Shape::SCALAR)
}

/// An array of points with the given number of coordinates.
fn vectors(dimension: usize, x: &[f64]) -> Owned {
    (x.to_vec(), Shape::vector(dimension).in_array(x.len() / dimension))
}

/// All signatures: the points, then σ and what is needed after it.
fn calls(name: &str) -> Vec<Vec<Owned>> {
    let many: Vec<f64> = weights(19).iter().map(|x| 2.0 * x).collect();
    let x = [
        vec![numbers(&[0.3, -1.1, 2.0])],
        vec![numbers(&[0.3, -1.1, 2.0]), numbers(&[0.8, 1.5])],
        vec![numbers(&many)],
        vec![numbers(&many), numbers(&many[3..14].iter().map(|x| x + 0.01).collect::<Vec<_>>())],
        vec![vectors(2, &[0.3, -1.1, 2.0, 0.4, -0.7, 0.9])],
        vec![vectors(2, &[0.3, -1.1, 2.0, 0.4, -0.7, 0.9]), vectors(2, &[0.1, 0.2, 1.3, -0.6])],
    ];
    let with = |after: &[Owned]| x.iter().map(|x| [x.as_slice(), after].concat()).collect::<Vec<_>>();
    match name {
        "gp_dot_prod_cov" => with(&[real(0.7)]),
        "gp_periodic_cov" => with(&[real(1.3), real(0.8), real(2.1)]),
        _ => {
            let mut all = with(&[real(1.3), real(0.8)]);
            let scales = numbers(&[0.6, 1.7]);
            all.extend(x[4..].iter().map(|x| [x.as_slice(), &[real(1.3), scales.clone()]].concat()));
            all
        }
    }
}

#[test]
fn derivatives() {
    for f in ALL {
        for call in calls(f.name()) {
            check_gradient(*f, &call, call.len());
        }
    }
}

/// The textbook's formula in the distance of two points that are already scaled.
fn formula(name: &str, distance: f64, length_scale: f64) -> f64 {
    let r = distance;
    match name {
        "gp_exp_quad_cov" | "cov_exp_quad" => (-0.5 * r * r).exp(),
        "gp_exponential_cov" => (-r).exp(),
        "gp_matern32_cov" => (1.0 + 3.0f64.sqrt() * r) * (-(3.0f64.sqrt()) * r).exp(),
        "gp_matern52_cov" => (1.0 + 5.0f64.sqrt() * r + 5.0 / 3.0 * r * r) * (-(5.0f64.sqrt()) * r).exp(),
        "gp_periodic_cov" => (-2.0 * ((std::f64::consts::PI * r).sin() / length_scale).powi(2)).exp(),
        _ => unreachable!(),
    }
}

#[test]
fn values_are_the_definitions() {
    for f in ALL {
        for call in calls(f.name()) {
            let out = evaluate(*f, &call);
            let parameters = if call[1].1.array_rank() == 1 { 2 } else { 1 };
            let (x, y) = (&call[0], &call[parameters - 1]);
            let (n, size) = (x.1.cells(), x.1.cell_len());
            let sigma = call[parameters].0[0];
            let scale = &call[call.len() - 1].0;
            for (at, got) in out.iter().enumerate() {
                let (p, q) = (&x.0[at % n * size..][..size], &y.0[at / n * size..][..size]);
                let expected = if f.name() == "gp_dot_prod_cov" {
                    sigma * sigma + p.iter().zip(q).map(|(p, q)| p * q).sum::<f64>()
                } else {
                    let squares = (0..size).map(|d| ((p[d] - q[d]) / scale[d.min(scale.len() - 1)]).powi(2));
                    let length_scale = call[parameters + 1].0[0];
                    sigma * sigma * formula(f.name(), squares.sum::<f64>().sqrt(), length_scale)
                };
                assert!((got - expected).abs() < 2e-14 * (1.0 + expected.abs()), "{}: {got} {expected}", f.name());
            }
        }
    }
}

#[test]
fn equal_points_have_no_slope() {
    for f in ALL {
        let parameters = match f.name() {
            "gp_dot_prod_cov" => vec![real(0.7)],
            "gp_periodic_cov" => vec![real(1.3), real(0.8), real(2.1)],
            _ => vec![real(1.3), real(0.8)],
        };
        let call = [&[vectors(2, &[0.5, 1.0, 0.5, 1.0])], parameters.as_slice()].concat();
        let d = gradient(*f, &call, &[1.0, 1.0, 1.0, 1.0]);
        assert!(d.iter().flatten().all(|d| d.is_finite()), "{}: {d:?}", f.name());
        if f.name() != "gp_dot_prod_cov" {
            assert!(d[0].iter().all(|&d| d.abs() < f64::MIN_POSITIVE), "{}: {d:?}", f.name());
        }
    }
}

#[test]
fn far_points_and_long_times() {
    // 1e9 + ¼ periods: the phase keeps its digits
    let call = [numbers(&[0.0, 1e9 + 0.25]), real(1.0), real(1.0), real(1.0)];
    let out = evaluate(find("gp_periodic_cov"), &call);
    assert!((out[1] - (-1.0f64).exp()).abs() < 1e-6, "{}", out[1]);
    for name in ["gp_exp_quad_cov", "gp_exponential_cov", "gp_matern32_cov", "gp_matern52_cov"] {
        let call = [numbers(&[0.0, 1e8]), real(1.0), real(1.0)];
        assert!(evaluate(find(name), &call)[1].abs() < f64::MIN_POSITIVE, "{name}");
        assert!(gradient(find(name), &call, &[1.0; 4]).iter().flatten().all(|d| d.is_finite()), "{name}");
    }
}

#[test]
fn sizes_and_domains() {
    let shape = |name: &str, arguments: &[Owned]| {
        let arguments: Vec<Argument> = arguments.iter().map(|(x, s)| Argument { numbers: x, shape: *s }).collect();
        find(name).shape(&arguments)
    };
    let x = vectors(2, &[0.3, -1.1, 2.0, 0.4]);
    assert!(shape("gp_matern32_cov", &[x.clone(), real(1.0), numbers(&[1.0, 2.0, 3.0])]).is_err());
    assert!(shape("gp_matern32_cov", &[x.clone(), vectors(3, &[1.0, 2.0, 3.0]), real(1.0), real(1.0)]).is_err());
    assert!(shape("gp_matern32_cov", &[x.clone(), real(1.0)]).is_err());
    assert!(shape("gp_dot_prod_cov", &[real(1.0), real(1.0)]).is_err());
    let wide = shape("gp_exp_quad_cov", &[numbers(&[1.0, 2.0, 3.0]), numbers(&[1.0]), real(1.0), real(1.0)]);
    assert_eq!(wide, Ok(Shape::matrix(3, 1)));
    assert!(evaluate(find("gp_exp_quad_cov"), &[numbers(&[]), real(1.0), real(1.0)]).is_empty());
    let fails = |name: &str, arguments: &[Owned]| {
        let arguments: Vec<Argument> = arguments.iter().map(|(x, s)| Argument { numbers: x, shape: *s }).collect();
        find(name).value(&arguments, &mut [0.0; 4], &mut [0.0; 64]).is_err()
    };
    assert!(fails("gp_exp_quad_cov", &[x.clone(), real(-1.0), real(1.0)]));
    assert!(fails("gp_exp_quad_cov", &[x.clone(), real(1.0), numbers(&[1.0, 0.0])]));
    assert!(fails("gp_matern52_cov", &[x.clone(), real(f64::INFINITY), real(1.0)]));
    assert!(fails("gp_matern52_cov", &[vectors(2, &[0.0, f64::NAN, 1.0, 1.0]), real(1.0), real(1.0)]));
    assert!(fails("gp_periodic_cov", &[x.clone(), real(1.0), real(1.0), real(0.0)]));
    assert!(fails("gp_periodic_cov", &[x.clone(), real(1.0), real(0.0), real(1.0)]));
    assert!(fails("gp_dot_prod_cov", &[x, real(-1.0)]));
}
