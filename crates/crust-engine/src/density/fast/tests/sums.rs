//! Sums over items.

use crust_math::density::Terms;

use super::super::KERNELS;
use super::super::row::{LONGEST, Space, log1p_blocks};
use super::{Kind, Random, Shape, arguments, kinds, reals, run};
use crate::machine::{MOST, Rows, Summed};

/// Sums over the items of each lane are the same to the last bit however many lanes a row has, and are those of single
/// values.
#[test]
fn sums_do_not_depend_on_the_lanes_beside() {
    let mut random = Random(0x0DD5_EED5_1234_ABCD);
    for (name, kernel) in KERNELS {
        let (kinds, items) = (kinds(name), 19);
        // Arguments that depend on each other cannot be the same for all items one by one.
        let tied = kinds.iter().any(|k| matches!(k, Kind::Trials | Kind::Above | Kind::Below | Kind::Within));
        for fixed in 0..if tied { 1 } else { 1_u32 << kinds.len() } {
            let mut rows = arguments(kinds, &[Shape::Free; MOST], &mut random, 1.5);
            let fixed = fixed & reals(name);
            for (_, row) in rows.iter_mut().enumerate().filter(|(k, _)| fixed >> k & 1 == 1) {
                (8..LONGEST).for_each(|i| row[i] = row[i % 8]);
            }
            let sums = |lanes: usize, first: usize| -> Vec<u64> {
                let mut own = [[0.0; LONGEST]; MOST];
                for (to, row) in own.iter_mut().zip(&rows) {
                    (0..items * lanes).for_each(|i| to[i] = row[i / lanes * 8 + first + i % lanes]);
                }
                let (mut value, mut partials) = ([0.0; LONGEST], [[0.0; LONGEST]; MOST]);
                let arguments = std::array::from_fn(|k| &own[k][..items * lanes]);
                let value = &mut value[..items * lanes];
                let summed = Some(Summed { lanes, fixed });
                let (wanted, terms, partials) = (reals(name), Terms::ALL, &mut partials);
                assert!(
                    kernel(&mut Rows { arguments, value, partials, wanted, terms, patterns: [None; MOST], summed }),
                    "{name}"
                );
                (0..lanes).map(|l| (0..items).map(|i| value[i * lanes + l]).sum::<f64>().to_bits()).collect()
            };
            let together = sums(8, 0);
            let single = run(*kernel, &rows, [0, items * 8], reals(name), Terms::ALL);
            for (l, &expected) in together.iter().enumerate() {
                assert_eq!(sums(1, l)[0], expected, "{name} {fixed:b}, lane {l}");
                assert_eq!(sums(4, l & 4)[l & 3], expected, "{name} {fixed:b}, lane {l} of four");
                let each = (0..items).map(|i| single.value[i * 8 + l]);
                let (sum, size) = each.fold((0.0, 0.0), |(sum, size), x| (sum + x, size + x.abs()));
                assert!((f64::from_bits(expected) - sum).abs() < 1e-14 * size.max(1.0), "{name} {fixed:b}");
            }
        }
    }
}

/// Sums of log(1 + x) have as many digits as their terms, from the smallest to numbers whose product is nearly too
/// large, in blocks of one lane and of eight.
#[test]
fn sums_of_small_logarithms_keep_their_digits() {
    let mut random = Random(0x1357_9BDF_2468_ACE0);
    for (low, high) in [(-40.0, -36.0), (-45.0, -20.0), (-25.0, 0.0), (-3.0, 3.0), (0.0, 80.0), (-60.0, 80.0)] {
        for lanes in [1, 8, 16] {
            let x: Vec<f64> = (0..8 * lanes).map(|_| (low + (high - low) * random.unit()).exp()).collect();
            let mut out = Space::empty();
            log1p_blocks(&x, lanes, &mut out);
            for l in 0..lanes {
                let expected: f64 = (0..8).map(|i| x[i * lanes + l].ln_1p()).sum();
                let sum: f64 = (0..8).map(|i| out[i * lanes + l]).sum();
                assert!((sum - expected).abs() <= 1e-15 * expected, "{lanes}: {sum} is not {expected}");
            }
        }
    }
}
