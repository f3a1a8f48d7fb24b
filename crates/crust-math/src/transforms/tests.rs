//! Every transform against itself (round trip, lanes) and against finite differences (log Jacobian, reverse mode).

use super::{Bound, Bounds, Forward, Problem, Reverse, Transform, TransformError};

const ALL: [Transform; 27] = [
    Transform::Identity { size: 3 },
    Transform::Lower { size: 3 },
    Transform::Upper { size: 3 },
    Transform::LowerUpper { size: 3 },
    Transform::OffsetMultiplier { size: 3 },
    Transform::Simplex { size: 1 },
    Transform::Simplex { size: 2 },
    Transform::Simplex { size: 5 },
    Transform::UnitVector { size: 4 },
    Transform::Ordered { size: 1 },
    Transform::Ordered { size: 4 },
    Transform::PositiveOrdered { size: 4 },
    Transform::SumToZeroVector { size: 1 },
    Transform::SumToZeroVector { size: 5 },
    Transform::SumToZeroMatrix { rows: 4, cols: 3 },
    Transform::SumToZeroMatrix { rows: 2, cols: 5 },
    Transform::CovMatrix { size: 1 },
    Transform::CovMatrix { size: 4 },
    Transform::CorrMatrix { size: 1 },
    Transform::CorrMatrix { size: 2 },
    Transform::CorrMatrix { size: 5 },
    Transform::CholeskyFactorCov { rows: 3, cols: 3 },
    Transform::CholeskyFactorCov { rows: 5, cols: 2 },
    Transform::CholeskyFactorCorr { size: 2 },
    Transform::CholeskyFactorCorr { size: 5 },
    Transform::ColumnStochasticMatrix { rows: 4, cols: 2 },
    Transform::RowStochasticMatrix { rows: 2, cols: 4 },
];

/// Numbers in (−2, 2) that are the same on every machine.
fn numbers(count: usize, seed: u64) -> Vec<f64> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    (0..count)
        .map(|_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            f64::from(u32::try_from(state >> 32).unwrap()) / 2f64.powi(30) - 2.0
        })
        .collect()
}

/// Bounds that make sense for the transform, in each of the four layouts.
struct OwnedBounds {
    first: Vec<f64>,
    second: Vec<f64>,
    layout: usize,
}

impl OwnedBounds {
    fn new(t: Transform, layout: usize, lanes: usize) -> Self {
        let count = match layout {
            0 => 1,
            1 => t.constrained_size(),
            2 => lanes,
            _ => t.constrained_size() * lanes,
        };
        let first = numbers(count, 11);
        // above the lower bound; positive for a multiplier
        let second = first.iter().zip(numbers(count, 12)).map(|(a, d)| a + 4.5 + d).collect();
        Self { first, second, layout }
    }

    fn view(&self) -> Bounds<'_> {
        fn bound(values: &[f64], layout: usize) -> Bound<'_> {
            match layout {
                0 => Bound::Scalar(values[0]),
                1 => Bound::Elements(values),
                2 => Bound::Lanes(values),
                _ => Bound::ElementLanes(values),
            }
        }
        Bounds { first: bound(&self.first, self.layout), second: bound(&self.second, self.layout) }
    }
}

fn constrain(t: Transform, lanes: usize, free: &[f64], bounds: Bounds<'_>) -> (Vec<f64>, Vec<f64>) {
    let mut out = vec![f64::NAN; t.constrained_size() * lanes];
    let mut log_jacobian = vec![0.0; lanes];
    let mut scratch = vec![f64::NAN; t.scratch_len(lanes)];
    let jacobian = Some(&mut log_jacobian[..]);
    t.constrain(&mut Forward { lanes, free, bounds, out: &mut out, log_jacobian: jacobian, scratch: &mut scratch });
    let mut again = vec![f64::NAN; out.len()];
    t.constrain(&mut Forward { lanes, free, bounds, out: &mut again, log_jacobian: None, scratch: &mut scratch });
    assert_eq!(bits(&out), bits(&again), "{t:?}: the log Jacobian changes the value");
    (out, log_jacobian)
}

fn bits(x: &[f64]) -> Vec<u64> {
    x.iter().map(|x| x.to_bits()).collect()
}

/// Adjoints of (free, first, second).
fn reverse(
    t: Transform,
    lanes: usize,
    free: &[f64],
    bounds: &OwnedBounds,
    out_adjoint: &[f64],
    jacobian_adjoint: f64,
) -> [Vec<f64>; 3] {
    let (out, _) = constrain(t, lanes, free, bounds.view());
    let mut adjoints = [vec![0.0; free.len()], vec![0.0; bounds.first.len()], vec![0.0; bounds.second.len()]];
    let [free_adjoint, first, second] = &mut adjoints;
    t.constrain_reverse(&mut Reverse {
        lanes,
        free,
        bounds: bounds.view(),
        out: &out,
        out_adjoint,
        jacobian_adjoint,
        free_adjoint,
        first_adjoint: Some(first),
        second_adjoint: Some(second),
        scratch: &mut vec![f64::NAN; t.scratch_len(lanes)],
    });
    adjoints
}

fn unconstrain(
    t: Transform,
    lanes: usize,
    constrained: &[f64],
    bounds: Bounds<'_>,
) -> Result<Vec<f64>, TransformError> {
    let mut free = vec![f64::NAN; t.free_size() * lanes];
    t.unconstrain(lanes, constrained, bounds, &mut free, &mut vec![f64::NAN; t.scratch_len(lanes)])?;
    Ok(free)
}

fn assert_close(a: f64, b: f64, tolerance: f64, what: &str) {
    assert!((a - b).abs() <= tolerance * (1.0 + a.abs().max(b.abs())), "{what}: {a} and {b}");
}

/// A central difference of fourth order.
fn derivative(mut f: impl FnMut(f64) -> f64) -> f64 {
    let h = 1e-3;
    (8.0 * (f(h) - f(-h)) - (f(2.0 * h) - f(-2.0 * h))) / (12.0 * h)
}

#[test]
fn unconstrain_inverts_constrain() {
    for t in ALL {
        for layout in 0..4 {
            let lanes = 3;
            let bounds = OwnedBounds::new(t, layout, lanes);
            let mut free = numbers(t.free_size() * lanes, 1);
            if let Transform::UnitVector { .. } = t {
                free = constrain(t, lanes, &free, bounds.view()).0;
            }
            let (out, _) = constrain(t, lanes, &free, bounds.view());
            let back = unconstrain(t, lanes, &out, bounds.view()).unwrap();
            for (a, b) in free.iter().zip(&back) {
                assert_close(*a, *b, 1e-12, &format!("{t:?}"));
            }
            let (again, _) = constrain(t, lanes, &back, bounds.view());
            for (a, b) in out.iter().zip(&again) {
                assert_close(*a, *b, 1e-12, &format!("{t:?}"));
            }
        }
    }
}

/// The elements of the constrained value over which the Jacobian is taken: as many as there are free values, those that
/// determine the others. `None` where there is no such choice in Stan's definition.
fn coordinates(t: Transform) -> Option<Vec<usize>> {
    let below = |rows: usize, cols: usize, gap: usize| -> Vec<usize> {
        (0..cols).flat_map(|j| (j + gap..rows).map(move |i| j * rows + i)).collect()
    };
    Some(match t {
        Transform::UnitVector { .. } | Transform::SumToZeroVector { .. } | Transform::SumToZeroMatrix { .. } => {
            return None;
        }
        Transform::Simplex { size } => (0..size - 1).collect(),
        Transform::ColumnStochasticMatrix { rows, cols } => {
            (0..cols).flat_map(|j| (0..rows - 1).map(move |i| j * rows + i)).collect()
        }
        Transform::RowStochasticMatrix { rows, cols } => (0..rows * (cols - 1)).collect(),
        Transform::CovMatrix { size } => below(size, size, 0),
        Transform::CorrMatrix { size } | Transform::CholeskyFactorCorr { size } => below(size, size, 1),
        Transform::CholeskyFactorCov { rows, cols } => below(rows, cols, 0),
        _ => (0..t.constrained_size()).collect(),
    })
}

/// ∂ constrained / ∂ free by finite differences, one row per constrained element.
fn jacobian(t: Transform, free: &[f64], bounds: Bounds<'_>) -> Vec<Vec<f64>> {
    let at = |k: usize, h: f64, e: usize| {
        let mut x = free.to_vec();
        x[k] += h;
        constrain(t, 1, &x, bounds).0[e]
    };
    (0..t.constrained_size()).map(|e| (0..free.len()).map(|k| derivative(|h| at(k, h, e))).collect()).collect()
}

/// log |det| by elimination with pivots.
fn log_abs_det(mut a: Vec<Vec<f64>>) -> f64 {
    let n = a.len();
    let mut sum = 0.0;
    for k in 0..n {
        let pivot = (k..n).max_by(|&i, &j| a[i][k].abs().total_cmp(&a[j][k].abs())).unwrap();
        a.swap(k, pivot);
        sum += a[k][k].abs().ln();
        let top = a[k].clone();
        for line in &mut a[k + 1..] {
            let factor = line[k] / top[k];
            line.iter_mut().zip(&top).for_each(|(x, t)| *x -= factor * t);
        }
    }
    sum
}

#[test]
fn log_jacobian_is_that_of_finite_differences() {
    for t in ALL {
        for seed in 1..4 {
            let bounds = OwnedBounds::new(t, 1, 1);
            let free = numbers(t.free_size(), seed);
            let (_, log_jacobian) = constrain(t, 1, &free, bounds.view());
            let full = jacobian(t, &free, bounds.view());
            let expected = match (t, coordinates(t)) {
                (_, Some(elements)) => log_abs_det(elements.iter().map(|&e| full[e].clone()).collect()),
                // no Jacobian: a standard normal density for the free values
                (Transform::UnitVector { .. }, None) => -0.5 * free.iter().map(|x| x * x).sum::<f64>(),
                // the volume in the subspace of vectors that sum to zero: √ det JᵀJ
                (_, None) => {
                    let dot = |a: usize, b: usize| full.iter().map(|row| row[a] * row[b]).sum::<f64>();
                    let gram = (0..free.len()).map(|a| (0..free.len()).map(|b| dot(a, b)).collect()).collect();
                    0.5 * log_abs_det(gram)
                }
            };
            assert_close(log_jacobian[0], expected, 1e-9, &format!("{t:?}"));
        }
    }
}

#[test]
fn reverse_is_the_derivative() {
    for t in ALL {
        for (layout, jacobian_adjoint) in [(1, 0.0), (0, 1.0), (2, 1.0), (3, 1.0), (3, 0.0)] {
            let lanes = 2;
            let weights = numbers(t.constrained_size() * lanes, 7);
            let bounds = OwnedBounds::new(t, layout, lanes);
            let free = numbers(t.free_size() * lanes, 3);
            let adjoints = reverse(t, lanes, &free, &bounds, &weights, jacobian_adjoint);
            let target = |free: &[f64], bounds: &OwnedBounds| {
                let (out, log_jacobian) = constrain(t, lanes, free, bounds.view());
                let value: f64 = out.iter().zip(&weights).map(|(y, w)| y * w).sum();
                value + jacobian_adjoint * log_jacobian.iter().sum::<f64>()
            };
            for (argument, adjoint) in adjoints.iter().enumerate() {
                for (k, &adjoint) in adjoint.iter().enumerate() {
                    let expected = derivative(|h| {
                        let (mut x, mut b) = (free.clone(), OwnedBounds::new(t, layout, lanes));
                        [&mut x, &mut b.first, &mut b.second][argument][k] += h;
                        target(&x, &b)
                    });
                    // data have no adjoint
                    let expected = if argument > 0 && layout < 2 { 0.0 } else { expected };
                    assert_close(adjoint, expected, 1e-9, &format!("{t:?}, argument {argument}, layout {layout}"));
                }
            }
        }
    }
}

#[test]
fn results_are_added_to_what_is_there() {
    for t in ALL {
        let bounds = OwnedBounds::new(t, 3, 1);
        let free = numbers(t.free_size(), 3);
        let weights = numbers(t.constrained_size(), 4);
        let (mut out, log_jacobian) = constrain(t, 1, &free, bounds.view());
        let mut scratch = vec![0.0; t.scratch_len(1)];
        let mut total = [100.0];
        let log_total = Some(&mut total[..]);
        let view = bounds.view();
        t.constrain(&mut Forward {
            lanes: 1,
            free: &free,
            bounds: view,
            out: &mut out,
            log_jacobian: log_total,
            scratch: &mut scratch,
        });
        assert_close(total[0], 100.0 + log_jacobian[0], 1e-13, "log Jacobian");
        let expected = reverse(t, 1, &free, &bounds, &weights, 1.0);
        let mut adjoints = expected.clone().map(|a| vec![10.0; a.len()]);
        let [free_adjoint, first, second] = &mut adjoints;
        t.constrain_reverse(&mut Reverse {
            lanes: 1,
            free: &free,
            bounds: view,
            out: &out,
            out_adjoint: &weights,
            jacobian_adjoint: 1.0,
            free_adjoint,
            first_adjoint: Some(first),
            second_adjoint: Some(second),
            scratch: &mut scratch,
        });
        for (a, b) in adjoints.iter().flatten().zip(expected.iter().flatten()) {
            assert_close(*a, 10.0 + b, 1e-13, &format!("{t:?}"));
        }
    }
}

/// The values of one lane.
fn pick(x: &[f64], lanes: usize, lane: usize) -> Vec<f64> {
    x.iter().skip(lane).step_by(lanes).copied().collect()
}

#[test]
fn number_of_lanes_changes_nothing() {
    for t in ALL {
        for lanes in [3, 8, 17, 64] {
            let bounds = OwnedBounds::new(t, 3, lanes);
            let free = numbers(t.free_size() * lanes, 5);
            let weights = numbers(t.constrained_size() * lanes, 6);
            let (out, log_jacobian) = constrain(t, lanes, &free, bounds.view());
            let adjoints = reverse(t, lanes, &free, &bounds, &weights, 1.0);
            let back = unconstrain(t, lanes, &out, bounds.view()).unwrap();
            for (lane, log_jacobian) in log_jacobian.iter().enumerate() {
                let one = OwnedBounds {
                    first: pick(&bounds.first, lanes, lane),
                    second: pick(&bounds.second, lanes, lane),
                    layout: 3,
                };
                let x = pick(&free, lanes, lane);
                let (alone, log_alone) = constrain(t, 1, &x, one.view());
                assert_eq!(bits(&alone), bits(&pick(&out, lanes, lane)), "{t:?}");
                assert_eq!(log_alone[0].to_bits(), log_jacobian.to_bits(), "{t:?}");
                let back_alone = unconstrain(t, 1, &alone, one.view()).unwrap();
                assert_eq!(bits(&back_alone), bits(&pick(&back, lanes, lane)), "{t:?}");
                let adjoints_alone = reverse(t, 1, &x, &one, &pick(&weights, lanes, lane), 1.0);
                for (alone, all) in adjoints_alone.iter().zip(&adjoints) {
                    assert_eq!(bits(alone), bits(&pick(all, lanes, lane)), "{t:?}");
                }
            }
        }
    }
}

#[test]
fn infinite_bounds_are_no_bounds() {
    let (none, inf) = (Bounds::NONE, f64::INFINITY);
    let x = [0.3, -0.7, 1.2, 0.4];
    let size = 1;
    let (lower, upper) = ([-inf, -1.0, -inf, -1.0], [inf, inf, 2.0, 2.0]);
    let bounds = Bounds::lower_upper(Bound::Lanes(&lower), Bound::Lanes(&upper));
    let (out, log_jacobian) = constrain(Transform::LowerUpper { size }, 4, &x, bounds);
    let one = |t: Transform, lane: usize, bounds| {
        let (value, log) = constrain(t, 1, &x[lane..=lane], bounds);
        (value[0], log[0])
    };
    let expected = [
        one(Transform::Identity { size }, 0, none),
        one(Transform::Lower { size }, 1, Bounds::lower(Bound::Scalar(-1.0))),
        one(Transform::Upper { size }, 2, Bounds::upper(Bound::Scalar(2.0))),
        one(Transform::LowerUpper { size }, 3, Bounds::lower_upper(Bound::Scalar(-1.0), Bound::Scalar(2.0))),
    ];
    for (lane, expected) in expected.into_iter().enumerate() {
        assert_eq!((out[lane], log_jacobian[lane]), expected);
    }
    let free = unconstrain(Transform::LowerUpper { size }, 4, &out, bounds).unwrap();
    free.iter().zip(&x).for_each(|(a, b)| assert_close(*a, *b, 1e-14, "free"));
    assert_eq!(one(Transform::Lower { size }, 0, none), (0.3, 0.0));
    assert_eq!(one(Transform::Upper { size }, 0, none), (0.3, 0.0));
}

#[test]
fn lanes_without_a_valid_value_are_nan() {
    let x = [0.5, 0.5];
    let size = 1;
    let bounds = Bounds::lower_upper(Bound::Lanes(&[0.0, 1.0]), Bound::Scalar(1.0));
    let (out, log_jacobian) = constrain(Transform::LowerUpper { size }, 2, &x, bounds);
    assert!(out[0].is_finite() && log_jacobian[0].is_finite() && out[1].is_nan() && log_jacobian[1].is_nan());
    for bad in [0.0, -1.0, f64::INFINITY, f64::NAN] {
        let bounds = Bounds::offset_multiplier(None, Some(Bound::Scalar(bad)));
        assert!(constrain(Transform::OffsetMultiplier { size }, 1, &x[..1], bounds).0[0].is_nan());
    }
    assert!(constrain(Transform::UnitVector { size: 2 }, 1, &[0.0, 0.0], Bounds::NONE).0[0].is_nan());
}

#[test]
fn invalid_values_are_refused() {
    let problem = |t: Transform, value: &[f64], bounds| unconstrain(t, 1, value, bounds).unwrap_err().problem;
    let none = Bounds::NONE;
    let unit = Bounds::lower_upper(Bound::Scalar(0.0), Bound::Scalar(1.0));
    let refused = [
        problem(Transform::Lower { size: 1 }, &[-0.1], unit),
        problem(Transform::Upper { size: 1 }, &[1.1], unit),
        problem(Transform::LowerUpper { size: 1 }, &[f64::NAN], unit),
        problem(Transform::LowerUpper { size: 2 }, &[0.5, 2.0], unit),
        problem(Transform::OffsetMultiplier { size: 1 }, &[0.5], unit_multiplier(-1.0)),
        problem(Transform::Simplex { size: 2 }, &[0.5, 0.5 + 2e-8], none),
        problem(Transform::Simplex { size: 2 }, &[-0.5, 1.5], none),
        problem(Transform::UnitVector { size: 2 }, &[0.8, 0.7], none),
        problem(Transform::Ordered { size: 2 }, &[1.0, 1.0], none),
        problem(Transform::PositiveOrdered { size: 2 }, &[-1.0, 1.0], none),
        problem(Transform::SumToZeroVector { size: 2 }, &[-1.0, 1.1], none),
        problem(Transform::SumToZeroMatrix { rows: 2, cols: 2 }, &[1.0, 1.0, 1.0, 1.0], none),
        problem(Transform::CovMatrix { size: 2 }, &[1.0, 0.5, 0.4, 1.0], none),
        problem(Transform::CovMatrix { size: 2 }, &[1.0, 2.0, 2.0, 1.0], none),
        problem(Transform::CorrMatrix { size: 2 }, &[1.0, 0.5, 0.5, 1.1], none),
        problem(Transform::CholeskyFactorCov { rows: 2, cols: 2 }, &[1.0, 0.5, 0.1, 1.0], none),
        problem(Transform::CholeskyFactorCov { rows: 2, cols: 2 }, &[1.0, 0.5, 0.0, -1.0], none),
        problem(Transform::CholeskyFactorCorr { size: 2 }, &[1.0, 0.5, 0.0, 1.0], none),
        problem(Transform::ColumnStochasticMatrix { rows: 1, cols: 2 }, &[1.0, 0.5], none),
    ];
    let kinds: Vec<String> = refused.iter().map(|p| format!("{p:?}").split(' ').next().unwrap().to_owned()).collect();
    let expected = "BelowLower AboveUpper BelowLower AboveUpper Multiplier Sum Negative SquaredLength NotIncreasing \
        Negative Sum Sum NotSymmetric NotPositiveDefinite Diagonal AboveDiagonal DiagonalNotPositive RowLength Sum";
    assert_eq!(kinds.join(" "), expected);
    let error = TransformError { lane: 0, declared: "simplex", problem: Problem::Sum { value: 1.5, should_be: 1.0 } };
    let text = "not a valid value for simplex: the elements sum to 1.5, but should sum to 1";
    assert_eq!(error.to_string(), text);
}

fn unit_multiplier(multiplier: f64) -> Bounds<'static> {
    Bounds::offset_multiplier(None, Some(Bound::Scalar(multiplier)))
}

#[test]
fn extreme_free_values_stay_accurate() {
    // tanh(30) rounds to 1, yet the free values come back
    let t = Transform::CholeskyFactorCorr { size: 3 };
    let free = [30.0, -30.0, 25.0];
    let (out, log_jacobian) = constrain(t, 1, &free, Bounds::NONE);
    assert_close(log_jacobian[0], -2.0 * (30.0 + 1.5 * 30.0 + 25.0 - 3.5 * 2f64.ln()), 1e-14, "log Jacobian");
    let back = unconstrain(t, 1, &out, Bounds::NONE).unwrap();
    free.iter().zip(&back).for_each(|(a, b)| assert_close(*a, *b, 1e-14, "free"));
    let unit = Bounds::lower_upper(Bound::Scalar(0.0), Bound::Scalar(1.0));
    let (out, log_jacobian) = constrain(Transform::LowerUpper { size: 1 }, 1, &[-700.0], unit);
    assert_close(out[0].ln(), -700.0, 1e-14, "value");
    assert_close(log_jacobian[0], -700.0, 1e-14, "log Jacobian");
    let (simplex, log_jacobian) = constrain(Transform::Simplex { size: 2 }, 1, &[900.0], Bounds::NONE);
    assert_eq!(simplex, [1.0, 0.0]);
    assert_close(log_jacobian[0], 0.5 * 2f64.ln() - 900.0 * 2f64.sqrt(), 1e-14, "log Jacobian");
}
