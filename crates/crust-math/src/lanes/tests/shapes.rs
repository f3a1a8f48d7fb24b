//! The same result for an element whatever the length, the position and the instruction set; sums over rows.

use super::super::rows::log_sum_exp_on;
use super::super::{InstructionSet, UNARY, exp, exp_in_place, log_sum_exp, pow_on, scalar, softmax};
use super::{Bits, same};

const INF: f64 = f64::INFINITY;

/// Any representation, and numbers of moderate size.
fn arguments(count: usize, seed: u64) -> Vec<f64> {
    let mut bits = Bits(seed);
    (0..count)
        .map(|i| match i % 4 {
            0 => bits.any(),
            1 => bits.uniform(-1.0, 1.0),
            2 => bits.uniform(0.0, 20.0),
            _ => bits.uniform(-800.0, 800.0),
        })
        .collect()
}

fn assert_same(name: &str, x: &[f64], a: &[f64], b: &[f64]) {
    for ((x, &a), &b) in x.iter().zip(a).zip(b) {
        assert!(same(a, b), "{name}({x:e}): {a:e} and {b:e}");
    }
}

#[test]
fn instruction_sets_agree_bit_for_bit() {
    let x = arguments(20_000, 1);
    let y = arguments(20_000, 2);
    let (mut reference, mut out) = (vec![0.0; x.len()], vec![0.0; x.len()]);
    for (name, function) in UNARY {
        function(InstructionSet::Portable, &x, &mut reference);
        for set in InstructionSet::available() {
            function(set, &x, &mut out);
            assert_same(&format!("{set:?} {name}"), &x, &out, &reference);
        }
    }
    pow_on(InstructionSet::Portable, &x, &y, &mut reference);
    for set in InstructionSet::available() {
        pow_on(set, &x, &y, &mut out);
        assert_same(&format!("{set:?} pow"), &x, &out, &reference);
    }
}

#[test]
fn every_length_and_position_gives_the_same() {
    let x = arguments(48, 3);
    for (name, function) in UNARY {
        let mut whole = vec![0.0; x.len()];
        function(InstructionSet::best(), &x, &mut whole);
        for length in 0..=40 {
            for start in [0, 1, 5] {
                let mut out = [7.0; 48];
                function(InstructionSet::best(), &x[start..start + length], &mut out[start..start + length]);
                assert_same(name, &x[start..start + length], &out[start..start + length], &whole[start..]);
                assert!(out[..start].iter().chain(&out[start + length..]).all(|&o| same(o, 7.0)), "{name} {length}");
            }
        }
    }
}

#[test]
fn kernels_for_one_lane_and_in_place_give_the_same() {
    // With one division instead of two: two units in the last place, or all of what is below the smallest normal
    // number.
    let near = |a: f64, b: f64| same(a, b) || (a - b).abs() <= 4.5e-16 * b.abs() + f64::MIN_POSITIVE;
    let x = arguments(1003, 4);
    let mut out = vec![0.0; x.len()];
    exp(&x, &mut out);
    let one: Vec<f64> = x.iter().map(|&x| scalar::exp(x)).collect();
    assert_same("exp", &x, &out, &one);
    let mut in_place = x.clone();
    exp_in_place(&mut in_place);
    assert_same("exp", &x, &out, &in_place);
    for &x in &x {
        let (value, slope) = scalar::log1p_exp_with_slope(x);
        assert!(near(value, scalar::log1p_exp(x)) && near(slope, scalar::inv_logit(x)), "at {x:e}");
        // log(exp x + exp −x) = |x| + log(1 + exp(−2|x|))
        let (value, slopes) = scalar::log_add_exp_with_slopes(x, -x);
        assert!(near(value, x.abs() + scalar::log1p_exp(-2.0 * x.abs())), "at {x:e}");
        assert!(
            near(slopes[0], scalar::inv_logit(2.0 * x)) && near(slopes[1], scalar::inv_logit(-2.0 * x)),
            "at {x:e}"
        );
    }
}

#[test]
fn powers_of_every_length() {
    let (x, y) = (arguments(40, 5), arguments(40, 6));
    let mut whole = [0.0; 40];
    pow_on(InstructionSet::best(), &x, &y, &mut whole);
    for length in 0..=40 {
        let mut out = vec![0.0; length];
        pow_on(InstructionSet::best(), &x[..length], &y[..length], &mut out);
        assert_same("pow", &x, &out, &whole);
    }
}

#[test]
fn log_sum_exp_of_rows() {
    for lanes in [1, 7, 8, 64, 65, 200] {
        for rows in [1, 2, 5] {
            let mut bits = Bits(7);
            let x: Vec<f64> = (0..rows * lanes).map(|_| bits.uniform(-30.0, 30.0) + 700.0).collect();
            let (mut plain, mut out, mut weights) = (vec![0.0; lanes], vec![0.0; lanes], vec![0.0; x.len()]);
            log_sum_exp(&x, &mut plain);
            softmax(&x, &mut out, &mut weights);
            for lane in 0..lanes {
                let terms: Vec<f64> = (0..rows).map(|row| x[row * lanes + lane]).collect();
                let total = 700.0 + terms.iter().map(|x| (x - 700.0).exp()).sum::<f64>().ln();
                assert!((out[lane] - total).abs() < 1e-12, "{rows}×{lanes}: {} and {total}", out[lane]);
                assert!(same(out[lane], plain[lane]));
                for row in 0..rows {
                    let expected = (terms[row] - total).exp();
                    assert!((weights[row * lanes + lane] - expected).abs() <= 1e-12 * expected);
                }
            }
        }
    }
}

#[test]
fn log_sum_exp_of_special_rows() {
    // Lanes: nothing, one term of two, infinite, NaN, huge, tiny.
    let x = [[-INF, -INF, INF, f64::NAN, 1e300, -1e300], [-INF, 3.0, 1.0, 1.0, 1e300, -INF]];
    let (mut out, mut weights) = ([0.0; 6], [9.0; 12]);
    softmax(x.as_flattened(), &mut out, &mut weights);
    for (lane, expected) in [-INF, 3.0, INF, f64::NAN, 1e300, -1e300].into_iter().enumerate() {
        assert!(same(out[lane], expected), "lane {lane}: {}", out[lane]);
    }
    assert!(same(weights[0], 0.0) && same(weights[6], 0.0), "no term");
    assert!(same(weights[1], 0.0) && same(weights[7], 1.0), "one term");
    assert!(weights[2].is_nan() && weights[3].is_nan(), "undefined");
    assert!(same(weights[4], 0.5) && same(weights[10], 0.5), "two terms");
    let mut none = [1.0; 3];
    log_sum_exp(&[], &mut none);
    assert!(none.iter().all(|&n| same(n, -INF)), "no rows");
    log_sum_exp(&[], &mut []);
}

#[test]
fn log_sum_exp_agrees_bit_for_bit_over_widths_and_sets() {
    let x = arguments(3 * 100, 8);
    let mut reference = vec![0.0; 100];
    let mut reference_weights = vec![0.0; 300];
    log_sum_exp_on(InstructionSet::Portable, &x, &mut reference, Some(&mut reference_weights));
    for set in InstructionSet::available() {
        for width in [1, 3, 8, 71, 100] {
            let part: Vec<f64> = x.chunks(100).flat_map(|row| row[..width].to_vec()).collect();
            let (mut out, mut weights) = (vec![0.0; width], vec![0.0; 3 * width]);
            log_sum_exp_on(set, &part, &mut out, Some(&mut weights));
            assert_same("log_sum_exp", &x, &out, &reference);
            for (row, expected) in weights.chunks(width).zip(reference_weights.chunks(100)) {
                assert_same("weights", &x, row, expected);
            }
        }
    }
}
