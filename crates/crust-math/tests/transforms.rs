//! Transforms against real Stan 2.39: `golden/transforms.stan` at six points, and points of a reference program.

use crust_math::transforms::{Bound, Bounds, Forward, Reverse, Transform};

const GOLDEN: &str = include_str!("golden/transforms.tsv");
const LANES: usize = 6;

const LO: usize = 1;
const UP: usize = 2;
const BOTH: usize = 3;
const LO_P: usize = 5;
const UP_P: usize = 6;
const BOTH_P: usize = 7;
const AFFINE_P: usize = 8;

const INF: f64 = f64::INFINITY;

/// The parameters of the program in order: transform, bounds that are data, salt of the weights, place in the vector
/// that is weighed.
fn parameters() -> Vec<(Transform, Bounds<'static>, usize, usize)> {
    use Transform as T;
    let size = 1;
    let (lower, upper) = (|a| Bounds::lower(Bound::Scalar(a)), |b| Bounds::upper(Bound::Scalar(b)));
    let between = |a, b| Bounds::lower_upper(Bound::Scalar(a), Bound::Scalar(b));
    let affine = Bounds::offset_multiplier(Some(Bound::Scalar(1.5)), Some(Bound::Scalar(2.5)));
    let per_element = Bounds::lower_upper(Bound::Elements(&[0.0, 1.0, -INF]), Bound::Elements(&[1.0, 3.0, 2.0]));
    let none = Bounds::NONE;
    vec![
        (T::Identity { size: 2 }, none, 1, 0),
        (T::Lower { size }, lower(-1.5), 2, 0),
        (T::Upper { size }, upper(2.25), 2, 1),
        (T::LowerUpper { size }, between(-0.5, 3.0), 2, 2),
        (T::OffsetMultiplier { size }, affine, 2, 3),
        (T::Lower { size }, none, 2, 4),
        (T::Upper { size }, none, 2, 5),
        (T::LowerUpper { size }, none, 2, 6),
        (T::OffsetMultiplier { size }, none, 2, 7),
        (T::Lower { size }, lower(-INF), 2, 8),
        (T::Upper { size }, upper(INF), 2, 9),
        (T::LowerUpper { size }, between(-INF, 1.0), 2, 10),
        (T::LowerUpper { size }, between(-1.0, INF), 2, 11),
        (T::LowerUpper { size: 3 }, per_element, 3, 0),
        (T::Simplex { size: 4 }, none, 4, 0),
        (T::UnitVector { size: 3 }, none, 5, 0),
        (T::Ordered { size: 4 }, none, 6, 0),
        (T::PositiveOrdered { size: 3 }, none, 7, 0),
        (T::SumToZeroVector { size: 4 }, none, 8, 0),
        (T::SumToZeroMatrix { rows: 3, cols: 4 }, none, 9, 0),
        (T::CovMatrix { size: 3 }, none, 10, 0),
        (T::CorrMatrix { size: 4 }, none, 11, 0),
        (T::CholeskyFactorCov { rows: 4, cols: 3 }, none, 12, 0),
        (T::CholeskyFactorCov { rows: 3, cols: 3 }, none, 13, 0),
        (T::CholeskyFactorCorr { size: 4 }, none, 14, 0),
        (T::ColumnStochasticMatrix { rows: 3, cols: 2 }, none, 15, 0),
        (T::RowStochasticMatrix { rows: 2, cols: 3 }, none, 16, 0),
    ]
}

/// The bounds that depend on parameters.
fn parameter_bounds(parameter: usize, values: &[Vec<f64>]) -> Option<(Vec<f64>, Vec<f64>)> {
    let map = |x: &[f64], f: fn(f64) -> f64| x.iter().map(|&x| f(x)).collect::<Vec<f64>>();
    Some(match parameter {
        LO_P => (values[LO].clone(), vec![INF; LANES]),
        UP_P => (vec![-INF; LANES], values[UP].clone()),
        BOTH_P => (values[LO].clone(), map(&values[LO], |x| x + 4.0)),
        AFFINE_P => (values[BOTH].clone(), values[LO_P].iter().zip(&values[LO]).map(|(a, b)| a - b).collect()),
        _ => return None,
    })
}

/// Hands the adjoints of parameter-dependent bounds on to the parameters.
fn distribute(parameter: usize, first: &[f64], second: &[f64], adjoints: &mut [Vec<f64>]) {
    let mut add = |to: usize, from: &[f64], sign: f64| {
        adjoints[to].iter_mut().zip(from).for_each(|(t, a)| *t += sign * a);
    };
    match parameter {
        LO_P => add(LO, first, 1.0),
        UP_P => add(UP, second, 1.0),
        BOTH_P => {
            add(LO, first, 1.0);
            add(LO, second, 1.0);
        }
        AFFINE_P => {
            add(BOTH, first, 1.0);
            add(LO_P, second, 1.0);
            add(LO, second, -1.0);
        }
        _ => {}
    }
}

/// The row called `what` of every point, element-major over points.
fn golden(what: &str) -> Vec<f64> {
    let rows: Vec<Vec<f64>> = GOLDEN
        .lines()
        .filter(|line| line.split('\t').nth(1) == Some(what))
        .map(|line| line.split('\t').skip(2).map(|x| x.parse().unwrap()).collect())
        .collect();
    assert_eq!(rows.len(), LANES);
    (0..rows[0].len()).flat_map(|e| rows.iter().map(move |row| row[e])).collect()
}

fn assert_close(ours: &[f64], stan: &[f64], what: &str) {
    assert_eq!(ours.len(), stan.len(), "{what}");
    for (e, (a, b)) in ours.iter().zip(stan).enumerate() {
        assert!((a - b).abs() <= 2e-13 * (1.0 + b.abs()), "{what}, element {}: {a}, Stan has {b}", e / LANES);
    }
}

/// Cuts element-major values into those of each parameter.
fn cut(all: &[f64], size: fn(Transform) -> usize) -> Vec<Vec<f64>> {
    let mut rest = all;
    let parts = parameters()
        .iter()
        .map(|p| {
            let (head, tail) = rest.split_at(size(p.0) * LANES);
            rest = tail;
            head.to_vec()
        })
        .collect();
    assert!(rest.is_empty());
    parts
}

fn weights() -> Vec<Vec<f64>> {
    let weight = |i: usize, salt: usize| 0.125 * (f64::from(u8::try_from((7 * i + salt) % 11).unwrap()) - 5.0);
    parameters()
        .iter()
        .map(|&(t, _, salt, at)| (0..t.constrained_size()).flat_map(|e| [weight(at + e + 1, salt); LANES]).collect())
        .collect()
}

/// All parameters of the program: constrained values and the log Jacobian per point.
fn constrain(free: &[Vec<f64>]) -> (Vec<Vec<f64>>, Vec<f64>) {
    let mut values: Vec<Vec<f64>> = Vec::new();
    let mut log_jacobian = vec![0.0; LANES];
    for (k, (t, data, ..)) in parameters().into_iter().enumerate() {
        let varying = parameter_bounds(k, &values);
        let bounds = varying.as_ref().map_or(data, |(a, b)| Bounds::lower_upper(Bound::Lanes(a), Bound::Lanes(b)));
        let mut out = vec![0.0; t.constrained_size() * LANES];
        t.constrain(&mut Forward {
            lanes: LANES,
            free: &free[k],
            bounds,
            out: &mut out,
            log_jacobian: Some(&mut log_jacobian),
            scratch: &mut vec![0.0; t.scratch_len(LANES)],
        });
        values.push(out);
    }
    (values, log_jacobian)
}

fn gradient(free: &[Vec<f64>], values: &[Vec<f64>], jacobian_adjoint: f64) -> Vec<f64> {
    let mut adjoints = weights();
    let mut result: Vec<Vec<f64>> = free.iter().map(|x| vec![0.0; x.len()]).collect();
    for (k, (t, data, ..)) in parameters().into_iter().enumerate().rev() {
        let varying = parameter_bounds(k, values);
        let bounds = varying.as_ref().map_or(data, |(a, b)| Bounds::lower_upper(Bound::Lanes(a), Bound::Lanes(b)));
        let (mut first, mut second) = (vec![0.0; LANES], vec![0.0; LANES]);
        t.constrain_reverse(&mut Reverse {
            lanes: LANES,
            free: &free[k],
            bounds,
            out: &values[k],
            out_adjoint: &adjoints[k],
            jacobian_adjoint,
            free_adjoint: &mut result[k],
            first_adjoint: Some(&mut first),
            second_adjoint: Some(&mut second),
            scratch: &mut vec![0.0; t.scratch_len(LANES)],
        });
        distribute(k, &first, &second, &mut adjoints);
    }
    result.concat()
}

#[test]
fn transforms_agree_with_stan() {
    let free = cut(&golden("free"), Transform::free_size);
    let (values, log_jacobian) = constrain(&free);
    for (k, stan) in cut(&golden("constrained"), Transform::constrained_size).iter().enumerate() {
        assert_close(&values[k], stan, &format!("{:?}", parameters()[k].0));
    }
    let mut log_density = vec![0.0; LANES];
    for (value, weight) in values.concat().chunks(LANES).zip(weights().concat().chunks(LANES)) {
        (0..LANES).for_each(|l| log_density[l] += value[l] * weight[l]);
    }
    assert_close(&log_density, &golden("log_density"), "log density");
    log_density.iter_mut().zip(&log_jacobian).for_each(|(t, j)| *t += j);
    assert_close(&log_density, &golden("log_density_jacobian"), "log density with Jacobian");
    assert_close(&gradient(&free, &values, 0.0), &golden("gradient"), "gradient");
    assert_close(&gradient(&free, &values, 1.0), &golden("gradient_jacobian"), "gradient with Jacobian");
}

#[test]
fn transforms_take_back_what_stan_constrained() {
    let free = cut(&golden("free"), Transform::free_size);
    let values = cut(&golden("constrained"), Transform::constrained_size);
    for (k, (t, data, ..)) in parameters().into_iter().enumerate() {
        let varying = parameter_bounds(k, &values);
        let bounds = varying.as_ref().map_or(data, |(a, b)| Bounds::lower_upper(Bound::Lanes(a), Bound::Lanes(b)));
        let mut back = vec![0.0; t.free_size() * LANES];
        let mut scratch = vec![0.0; t.scratch_len(LANES)];
        t.unconstrain(LANES, &values[k], bounds, &mut back, &mut scratch).unwrap();
        let expected = if let Transform::UnitVector { .. } = t { &values[k] } else { &free[k] };
        for (a, b) in back.iter().zip(expected) {
            assert!((a - b).abs() <= 1e-10 * (1.0 + b.abs()), "{t:?}: {a}, was {b}");
        }
    }
}

/// Points of the mixture program in the reference data: two lower bounds at 0 and a simplex of two. The log Jacobian is
/// the difference of Stan's log densities with and without it, so it carries their rounding.
#[test]
fn transforms_agree_with_the_reference_program() {
    let rows = [
        (
            [0.817_332_644_134_073_6, -0.647_104_062_167_194_6, -0.688_998_977_239_358_5],
            [2.264_451_676_357_221, 0.523_559_780_048_000_1, 0.274_006_009_607_405_84, 0.725_993_990_392_594_2],
            -1_550.581_729_259_782_8 - -1_549.483_712_650_181_1,
        ),
        (
            [-0.870_904_136_144_135, 0.736_196_086_546_967, 1.946_913_242_079_632_7],
            [0.418_572_931_196_247_56, 2.087_977_901_824_425_8, 0.940_102_329_260_811_7, 0.059_897_670_739_188_38],
            -1_024.175_309_902_706_4 - -1_021.510_291_234_221_9,
        ),
        (
            [-0.173_425_388_398_889_24, -1.810_192_393_782_977_1, 0.543_210_741_633_077],
            [0.840_779_880_754_759_3, 0.163_622_653_792_889_54, 0.683_134_851_999_431, 0.316_865_148_000_569],
            -470.226_027_442_332_96 - -467.058_641_255_990_3,
        ),
    ];
    for (free, constrained, expected) in rows {
        let mut out = [0.0; 4];
        let mut total = [0.0];
        let (scales, simplex) = out.split_at_mut(2);
        let lower = Bounds::lower(Bound::Scalar(0.0));
        for (t, free, bounds, out) in [
            (Transform::Lower { size: 2 }, &free[..2], lower, scales),
            (Transform::Simplex { size: 2 }, &free[2..], Bounds::NONE, simplex),
        ] {
            let log_jacobian = Some(&mut total[..]);
            t.constrain(&mut Forward { lanes: 1, free, bounds, out, log_jacobian, scratch: &mut [] });
        }
        assert_close(&out, &constrained, "mixture");
        assert!((total[0] - expected).abs() < 1e-11, "{} and {expected}", total[0]);
    }
}
