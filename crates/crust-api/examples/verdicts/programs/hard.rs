//! Modes that chains do not leave, and funnels that they do not enter.

use super::{Case, bernoulli, normals, stream};
use serde_json::json;

pub fn cases() -> Vec<Case> {
    let mut cases = far_from_zero();
    cases.extend(near_zero());
    cases
}

/// Modes to which starts around 0 do not lead.
fn far_from_zero() -> Vec<Case> {
    vec![
        Case {
            name: "modes far from zero",
            program: include_str!("stan/modes_far_from_zero.stan"),
            data: |d| {
                let s = &mut stream(d);
                json!({"N": 20, "y": normals(20, s).iter().map(|z| 42.0 + 0.1 * z).collect::<Vec<_>>()})
            },
        },
        Case {
            name: "a far mode of one of many",
            program: include_str!("stan/a_far_mode_of_one_of_many.stan"),
            data: |d| {
                let s = &mut stream(d);
                let x: Vec<Vec<f64>> = (0..60).map(|_| normals(6, s)).collect();
                let y: Vec<f64> = x.iter().map(|x| 30.0 + x[0] - 0.5 * x[3] + 0.7 * s.standard_normal()).collect();
                json!({"N": 60, "K": 6, "x": x, "y": y})
            },
        },
    ]
}

fn near_zero() -> Vec<Case> {
    vec![
        Case {
            name: "two far modes",
            program: include_str!("stan/two_far_modes.stan"),
            data: |d| {
                let s = &mut stream(d);
                let y: Vec<f64> =
                    (0..20).map(|n| if n < 11 { -15.0 } else { 15.0 } + 0.5 * s.standard_normal()).collect();
                json!({"N": 20, "y": y})
            },
        },
        Case {
            name: "schools, centred",
            program: include_str!("stan/schools_centred.stan"),
            data: |_| json!({"J": 8, "y": [28, 8, -3, 7, -1, 1, 18, 12], "sigma": [15, 10, 16, 11, 9, 11, 10, 18]}),
        },
        Case {
            name: "funnel",
            program: include_str!("stan/funnel.stan"),
            data: |d| {
                let s = &mut stream(d);
                json!({"D": 9, "y": normals(9, s).iter().map(|z| 10.0 * z).collect::<Vec<_>>()})
            },
        },
        Case {
            name: "labels",
            program: include_str!("stan/labels.stan"),
            data: |d| {
                let s = &mut stream(d);
                let y: Vec<f64> =
                    (0..100).map(|_| if s.uniform() < 0.4 { -2.5 } else { 2.0 } + 0.8 * s.standard_normal()).collect();
                json!({"N": 100, "y": y})
            },
        },
        Case {
            name: "three labels",
            program: include_str!("stan/three_labels.stan"),
            data: |d| {
                let s = &mut stream(d);
                let y: Vec<f64> = (0..150).map(|n| [-5.0, 0.0, 6.0][n % 3] + s.standard_normal()).collect();
                json!({"N": 150, "y": y})
            },
        },
        Case {
            name: "a square",
            program: include_str!("stan/a_square.stan"),
            data: |d| {
                let s = &mut stream(d);
                json!({"N": 20, "y": normals(20, s).iter().map(|z| 9.0 + z).collect::<Vec<_>>()})
            },
        },
        Case {
            name: "signs of a factor",
            program: include_str!("stan/signs_of_a_factor.stan"),
            data: |d| {
                let s = &mut stream(d);
                let y: Vec<Vec<f64>> = (0..40)
                    .map(|_| {
                        let f = s.standard_normal();
                        [1.5, 1.0, -1.2, 0.8].iter().map(|l| l * f + 0.5 * s.standard_normal()).collect()
                    })
                    .collect();
                json!({"N": 40, "D": 4, "y": y})
            },
        },
        Case {
            name: "signs of items",
            program: include_str!("stan/signs_of_items.stan"),
            data: |d| {
                let s = &mut stream(d);
                let y: Vec<Vec<u8>> = (0..60)
                    .map(|_| {
                        let theta = s.standard_normal();
                        (0..6).map(|i| bernoulli((1.5 + 0.2 * f64::from(i)) * theta - 0.3, s)).collect()
                    })
                    .collect();
                json!({"I": 6, "J": 60, "y": y})
            },
        },
        Case {
            name: "a frequency",
            program: include_str!("stan/a_frequency.stan"),
            data: |d| {
                let s = &mut stream(d);
                let t: Vec<f64> = (0..40).map(|i| 0.5 * f64::from(i)).collect();
                let y: Vec<f64> = t.iter().map(|t| (4.0 * t).sin() + 0.5 * s.standard_normal()).collect();
                json!({"N": 40, "t": t, "y": y})
            },
        },
        Case {
            name: "a needle beside a hill",
            program: include_str!("stan/a_needle_beside_a_hill.stan"),
            data: |_| json!({"y": 3.0}),
        },
    ]
}
