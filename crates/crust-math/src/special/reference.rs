//! Compares functions with tables of values that `reference/generate.py` computed at 50 digits.

/// Rows whose value is below this in size are subnormal or nearly so, and have no relative accuracy to speak of.
const TINY: f64 = 1e-300;

struct Row {
    arguments: Vec<f64>,
    expected: Vec<f64>,
}

fn numbers(text: &str) -> Vec<f64> {
    text.split_whitespace().map(|word| word.parse().expect("a number in a reference table")).collect()
}

fn rows(table: &str, function: &str) -> Vec<Row> {
    let parse = |line: &str| {
        let (arguments, expected) = line.split_once('=').expect("an equals sign in a reference table");
        Row { arguments: numbers(arguments), expected: numbers(expected) }
    };
    table.lines().filter_map(|line| line.strip_prefix(function)?.strip_prefix(' ')).map(parse).collect()
}

fn relative_error(got: f64, expected: f64) -> f64 {
    if got.to_bits() == expected.to_bits() || (expected.abs() < TINY && (got - expected).abs() < TINY) {
        return 0.0;
    }
    let error = ((got - expected) / expected).abs();
    if error.is_nan() { f64::INFINITY } else { error }
}

/// The largest relative errors of value and partials of `f` over all rows of the table for `function` must be within
/// `bounds`. The bound of the value is the first, that of the partials the second.
pub(super) fn check<const N: usize>(table: &str, function: &str, bounds: [f64; 2], f: impl Fn(&[f64]) -> [f64; N]) {
    let rows = rows(table, function);
    assert!(rows.len() > 2, "no table for {function}");
    let mut failures = Vec::new();
    let mut worst = [0.0_f64; 2];
    for row in &rows {
        for (i, (&got, &expected)) in f(&row.arguments).iter().zip(&row.expected).enumerate() {
            let error = relative_error(got, expected);
            let kind = usize::from(i > 0);
            worst[kind] = worst[kind].max(error);
            if error > bounds[kind] {
                failures.push(format!("{function}{:?}[{i}] = {got:e}, not {expected:e}: {error:.1e}", row.arguments));
            }
        }
    }
    #[expect(clippy::print_stdout, reason = "shown with --nocapture: the measured accuracy")]
    {
        println!("{function}: {:.1e} {:.1e} ({} rows)", worst[0], worst[1], rows.len());
    }
    assert!(failures.is_empty(), "{} of {} rows:\n{}", failures.len(), rows.len(), failures.join("\n"));
}

/// The derivative of `f` at `x` by Richardson's extrapolation of central differences with steps h, h/2, h/4.
pub(super) fn finite_difference(f: impl Fn(f64) -> f64, x: f64, h: f64) -> f64 {
    let central = |h: f64| (f(x + h) - f(x - h)) / (2.0 * h);
    let (d1, d2, d4) = (central(h), central(h / 2.0), central(h / 4.0));
    let (e1, e2) = ((4.0 * d2 - d1) / 3.0, (4.0 * d4 - d2) / 3.0);
    (16.0 * e2 - e1) / 15.0
}

#[test]
#[should_panic(expected = "1 of 3 rows")]
fn a_wrong_value_is_found() {
    check("f 1 = 1\nf 2 = 4\nf 3 = 9.0001\ng 3 = 8", "f", [1e-6, 0.0], |a| [a[0] * a[0]]);
}
