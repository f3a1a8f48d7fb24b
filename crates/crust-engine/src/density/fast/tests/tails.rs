//! Probabilities and their logarithms against mpmath.

use crust_math::density::Terms;

use super::super::KERNELS;
use super::super::row::LONGEST;
use super::{reals, run};
use crate::machine::MOST;

fn numbers(text: &str) -> Vec<f64> {
    text.split_whitespace().map(|word| word.parse().expect("a number")).collect()
}

/// `tails.txt`: arguments, and value and partials from mpmath (40 digits); in the middle, and far in both tails.
#[test]
fn tails_are_right_relative_to_their_size() {
    let mut count = 0;
    for line in include_str!("tails.txt").lines() {
        let (name, rest) = line.split_once(' ').expect("a name");
        let (arguments, expected) = rest.split_once('=').expect("an equals sign");
        let (arguments, expected) = (numbers(arguments), numbers(expected));
        let (_, kernel) = KERNELS.iter().find(|(known, _)| *known == name).expect("a kernel");
        let mut rows = [[0.0; LONGEST]; MOST];
        for (row, x) in rows.iter_mut().zip(&arguments) {
            row[..3].fill(*x);
        }
        let outcome = run(*kernel, &rows, [0, 3], reals(name), Terms::ALL);
        assert!(outcome.fine, "{name}{arguments:?}");
        let found = std::iter::once(outcome.value[1]).chain(outcome.partials.iter().map(|row| row[1]));
        for (k, (found, expected)) in found.zip(expected).enumerate() {
            let error = (found - expected).abs();
            assert!(error <= 2e-14 * expected.abs(), "{name}{arguments:?}[{k}] = {found:e}, not {expected:e}");
        }
        count += 1;
    }
    assert_eq!(count, 63);
}
