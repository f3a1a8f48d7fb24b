//! Every derivative against differences of order six.

use super::{ALL, Argument, Shape, Stream, Value, call, function, stream};

/// How an argument is drawn, and how it may be changed.
#[derive(Clone, Copy, Debug)]
enum Draw {
    /// Any numbers.
    Any(Shape),
    /// A square matrix that is far from singular, but not without an exchange of rows.
    Regular(usize),
    /// Symmetric and positive definite: pairs of elements are changed together.
    Spd(usize),
    /// With singular values that are well apart.
    Spread(usize, usize),
    /// Symmetric, with eigenvalues that are well apart: pairs of elements are changed together.
    Symmetric(usize),
    /// Lower triangular: only elements of the triangle are changed.
    Lower(usize),
    /// Only the lower triangle counts, but there are numbers above it, too.
    LowerOfAny(usize),
    /// Not to be changed.
    Integer(f64),
    Integers(&'static [f64]),
    /// Data with zeros at every third place.
    Sparse(usize, usize),
}

use Draw::{Any, Integer, Integers, Lower, LowerOfAny, Regular, Sparse, Spd, Spread, Symmetric};

impl Draw {
    fn draw(self, rng: &mut Stream) -> Value {
        match self {
            Any(shape) => Value::random(shape, rng),
            Regular(n) => {
                let a = Value::random_matrix(n, n, rng);
                let size = (1..=n).fold(1.0, |size, _| size + 0.3);
                Value::from_fn(n, n, |i, j| a.at(i, j) + if (i + 1) % n == j { size } else { 0.0 })
            }
            Spd(n) => Value::random_spd(n, rng),
            Spread(rows, columns) => {
                let a = Value::random_matrix(rows, columns, rng);
                Value::from_fn(rows, columns, |i, j| a.at(i, j) + if i == j { spread(i) } else { 0.0 })
            }
            Symmetric(n) => {
                let a = Value::random_matrix(n, n, rng);
                Value::from_fn(n, n, |i, j| 0.5 * (a.at(i, j) + a.at(j, i)) + if i == j { spread(i) } else { 0.0 })
            }
            Lower(n) => Value::random_lower(n, rng),
            LowerOfAny(n) => {
                let upper = Value::random_matrix(n, n, rng);
                let lower = Value::random_lower(n, rng);
                Value::from_fn(n, n, |i, j| if i < j { upper.at(i, j) } else { lower.at(i, j) })
            }
            Integer(x) => Value::scalar(x),
            Integers(numbers) => Value::integers(numbers),
            Sparse(rows, columns) => {
                let a = Value::random_matrix(rows, columns, rng);
                Value::from_fn(rows, columns, |i, j| if (i + j) % 3 == 0 { 0.0 } else { a.at(i, j) })
            }
        }
    }

    /// The elements that change along with element `k`, or none if it may not change.
    fn changes(self, k: usize, value: &Value) -> Vec<usize> {
        match self {
            Spd(n) | Symmetric(n) if k / n != k % n => vec![k, k / n + k % n * n],
            Lower(n) if k % n < k / n => vec![],
            Integer(_) | Integers(_) => vec![],
            Sparse(..) if value.numbers[k] == 0.0 => vec![],
            _ => vec![k],
        }
    }
}

/// Numbers that are well apart, in no order.
fn spread(i: usize) -> f64 {
    let i = f64::from(u8::try_from(i).expect("a small matrix"));
    if i % 2.0 == 0.0 { 3.0 + 2.0 * i } else { -2.0 - 2.0 * i }
}

fn m(rows: usize, columns: usize) -> Draw {
    Any(Shape::matrix(rows, columns))
}

fn v(n: usize) -> Draw {
    Any(Shape::vector(n))
}

fn r(n: usize) -> Draw {
    Any(Shape::row_vector(n))
}

/// Arguments for each function: small ones, and where the code works in blocks, some beyond a block.
fn cases(name: &str) -> Vec<Vec<Draw>> {
    const SPD: [usize; 6] = [1, 2, 3, 8, 17, 70];
    let scalar = Any(Shape::SCALAR);
    let csr = [Integer(3.0), Integer(4.0), v(5), Integers(&[2.0, 4.0, 1.0, 1.0, 3.0]), Integers(&[1.0, 3.0, 3.0, 6.0])];
    match name {
        "cholesky_decompose" | "inverse_spd" | "log_determinant_spd" => SPD.map(|n| vec![Spd(n)]).to_vec(),
        "eigenvalues_sym" | "eigenvectors_sym" | "eigendecompose_sym.1" | "eigendecompose_sym.2" => {
            [1, 2, 3, 6, 17].map(|n| vec![Symmetric(n)]).to_vec()
        }
        "chol2inv" => [1, 3, 20].map(|n| vec![Lower(n)]).to_vec(),
        "inverse" | "log_determinant" => [1, 2, 3, 5, 18].map(|n| vec![Regular(n)]).to_vec(),
        "determinant" | "matrix_exp" => [1, 2, 3, 5, 9].map(|n| vec![m(n, n)]).to_vec(),
        "generalized_inverse" => vec![vec![Regular(3)], vec![m(4, 2)], vec![m(2, 5)]],
        "mdivide_left" => {
            vec![vec![Regular(1), v(1)], vec![Regular(3), v(3)], vec![Regular(4), m(4, 2)], vec![Regular(20), m(20, 5)]]
        }
        "mdivide_left_spd" => vec![vec![Spd(3), v(3)], vec![Spd(4), m(4, 2)], vec![Spd(20), m(20, 5)]],
        "mdivide_left_tri_low" => {
            vec![vec![LowerOfAny(3), v(3)], vec![LowerOfAny(4), m(4, 2)], vec![LowerOfAny(20), m(20, 5)]]
        }
        "mdivide_right" => vec![vec![r(3), Regular(3)], vec![m(2, 4), Regular(4)], vec![m(5, 20), Regular(20)]],
        "mdivide_right_spd" => vec![vec![r(3), Spd(3)], vec![m(2, 4), Spd(4)], vec![m(5, 20), Spd(20)]],
        "mdivide_right_tri_low" => {
            vec![vec![r(3), LowerOfAny(3)], vec![m(2, 4), LowerOfAny(4)], vec![m(5, 20), LowerOfAny(20)]]
        }
        "quad_form" | "trace_quad_form" => vec![vec![m(3, 3), v(3)], vec![m(4, 4), m(4, 2)], vec![m(3, 3), m(3, 20)]],
        "quad_form_sym" => vec![vec![Spd(3), v(3)], vec![Spd(4), m(4, 2)], vec![Spd(20), m(20, 3)]],
        "trace_gen_quad_form" => vec![vec![m(2, 2), m(3, 3), m(3, 2)], vec![m(6, 6), m(3, 3), m(3, 6)]],
        "quad_form_diag" => vec![vec![m(3, 3), v(3)], vec![m(3, 3), r(3)]],
        "crossprod" | "tcrossprod" | "multiply_lower_tri_self_transpose" | "trace" => {
            vec![vec![m(1, 1)], vec![m(3, 3)], vec![m(4, 2)], vec![m(2, 4)], vec![m(20, 18)]]
        }
        "trace_dot" => vec![vec![m(2, 3), m(3, 2)]],
        "diag_pre_multiply" => vec![vec![v(3), m(3, 2)], vec![r(3), m(3, 2)]],
        "diag_post_multiply" => vec![vec![m(2, 3), v(3)], vec![m(2, 3), r(3)]],
        "add_diag" => vec![vec![m(3, 3), scalar], vec![m(3, 2), v(2)], vec![m(2, 3), r(2)]],
        "columns_dot_product" | "rows_dot_product" => {
            vec![vec![v(3), v(3)], vec![r(3), r(3)], vec![m(3, 2), m(3, 2)]]
        }
        "columns_dot_self" | "rows_dot_self" => vec![vec![v(3)], vec![r(3)], vec![m(3, 2)]],
        "matrix_exp_multiply" => vec![vec![m(2, 2), m(2, 1)], vec![m(4, 4), m(4, 3)]],
        "scale_matrix_exp_multiply" => vec![vec![scalar, m(2, 2), m(2, 1)], vec![scalar, m(4, 4), m(4, 3)]],
        "matrix_power" => [0.0, 1.0, 2.0, 5.0, 12.0].map(|k| vec![m(3, 3), Integer(k)]).to_vec(),
        "qr_Q" | "qr_R" | "qr.1" | "qr.2" | "qr_thin_Q" | "qr_thin_R" | "qr_thin.1" | "qr_thin.2" => {
            vec![vec![m(1, 1)], vec![m(3, 3)], vec![m(5, 3)], vec![m(3, 5)], vec![m(12, 10)]]
        }
        "singular_values" | "svd_U" | "svd_V" | "svd.1" | "svd.2" | "svd.3" => {
            [(1, 1), (3, 3), (5, 3), (3, 5), (9, 8)].map(|(rows, columns)| vec![Spread(rows, columns)]).to_vec()
        }
        "csr_matrix_times_vector" => vec![[&csr[..], &[v(4)]].concat()],
        "csr_to_dense_matrix" => vec![csr.to_vec()],
        "csr_extract_w" | "csr_extract_v" | "csr_extract_u" | "csr_extract.1" | "csr_extract.2" | "csr_extract.3" => {
            vec![vec![Sparse(3, 4)]]
        }
        _ => panic!("no test for {name}"),
    }
}

/// `Σ weightᵢ·outᵢ` after the columns of `out` got the signs that they have in `base`, where signs are arbitrary.
fn weighted(name: &str, arguments: &[Value], weights: &[f64], base: &Value) -> f64 {
    let arguments: Vec<&Value> = arguments.iter().collect();
    let out = call(name, &arguments).unwrap_or_else(|error| panic!("{error}"));
    let arbitrary = matches!(name, "eigenvectors_sym" | "eigendecompose_sym.1" | "svd_U" | "svd_V" | "svd.1" | "svd.3");
    let size = if arbitrary { base.shape.rows() } else { out.numbers.len().max(1) };
    let columns = out.numbers.chunks(size).zip(base.numbers.chunks(size)).zip(weights.chunks(size));
    let dot = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(x, y)| x * y).sum::<f64>();
    let sign = |x: &[f64], y: &[f64]| if arbitrary && dot(x, y) < 0.0 { -1.0 } else { 1.0 };
    columns.map(|((out, base), weights)| sign(out, base) * dot(out, weights)).sum()
}

/// The derivative in the direction that changes all elements of `which` in argument `i` at the same speed.
fn difference(name: &str, arguments: &[Value], i: usize, which: &[usize], weights: &[f64], base: &Value) -> f64 {
    const STEP: f64 = 1e-3;
    let at = |steps: f64| {
        let mut changed = arguments.to_vec();
        which.iter().for_each(|&k| changed[i].numbers[k] += steps * STEP);
        weighted(name, &changed, weights, base)
    };
    (45.0 * (at(1.0) - at(-1.0)) - 9.0 * (at(2.0) - at(-2.0)) + (at(3.0) - at(-3.0))) / (60.0 * STEP)
}

/// Adjoints of all arguments, which must have been *added*; those of arguments not in `wanted` are empty.
fn adjoints(
    name: &str,
    arguments: &[Value],
    base: &Value,
    weights: &[f64],
    wanted: impl Fn(usize) -> bool,
) -> Vec<Vec<f64>> {
    const BEFORE: f64 = 0.5;
    let function = function(name);
    let list: Vec<Argument> = arguments.iter().map(Value::argument).collect();
    let shapes: Vec<Shape> = arguments.iter().map(|value| value.shape).collect();
    let size = |i: usize| if wanted(i) { arguments[i].numbers.len() } else { 0 };
    let mut adjoints: Vec<Vec<f64>> = (0..arguments.len()).map(|i| vec![BEFORE; size(i)]).collect();
    let mut slices: Vec<&mut [f64]> = adjoints.iter_mut().map(Vec::as_mut_slice).collect();
    let mut scratch = vec![f64::NAN; function.scratch(&shapes)];
    function.reverse(&list, &base.numbers, weights, &mut slices, &mut scratch);
    adjoints.iter_mut().flatten().for_each(|x| *x -= BEFORE);
    adjoints
}

fn check(name: &str, draws: &[Draw], rng: &mut Stream) {
    let arguments: Vec<Value> = draws.iter().map(|draw| draw.draw(rng)).collect();
    let base = call(name, &arguments.iter().collect::<Vec<_>>()).unwrap_or_else(|error| panic!("{error}"));
    let weights: Vec<f64> = base.numbers.iter().map(|_| 2.0 * rng.uniform() - 1.0).collect();
    let whole = adjoints(name, &arguments, &base, &weights, |_| true);
    for (i, draw) in draws.iter().enumerate() {
        let largest = whole[i].iter().fold(1.0, |largest: f64, x| largest.max(x.abs()));
        // A dozen of elements of large arguments is enough.
        let every = 1 + arguments[i].numbers.len() / 12;
        for k in (0..arguments[i].numbers.len()).step_by(every) {
            let which = draw.changes(k, &arguments[i]);
            let adjoint: f64 = which.iter().map(|&k| whole[i][k]).sum();
            let expected = difference(name, &arguments, i, &which, &weights, &base);
            let error = (adjoint - expected).abs();
            assert!(
                which.is_empty() || error < 1e-7 * largest,
                "{name} {draws:?}, argument {i}, element {k}: {adjoint} instead of {expected} (largest {largest})"
            );
        }
        let alone = adjoints(name, &arguments, &base, &weights, |other| other == i);
        assert_eq!(alone[i], whole[i], "{name}: the other adjoints are not wanted");
    }
}

#[test]
fn reverse_is_the_derivative() {
    for (seed, function) in (0..).zip(ALL) {
        for case in cases(function.name()) {
            check(function.name(), &case, &mut stream(seed));
        }
    }
}

#[test]
fn elements_that_do_not_count_have_no_derivative() {
    let mut rng = stream(1);
    let upper = |adjoint: &[f64], n: usize| (0..n * n).any(|k| k % n < k / n && adjoint[k] != 0.0);
    let (lower, side) = (LowerOfAny(5).draw(&mut rng), Value::random_matrix(5, 2, &mut rng));
    for (name, arguments) in [
        ("mdivide_left_tri_low", vec![lower.clone(), side.clone()]),
        ("multiply_lower_tri_self_transpose", vec![lower.clone()]),
        ("cholesky_decompose", vec![Value::random_spd(5, &mut rng)]),
        ("chol2inv", vec![Value::random_lower(5, &mut rng)]),
    ] {
        let base = call(name, &arguments.iter().collect::<Vec<_>>()).unwrap_or_else(|error| panic!("{error}"));
        let weights = vec![1.0; base.numbers.len()];
        let adjoints = adjoints(name, &arguments, &base, &weights, |_| true);
        assert!(!upper(&adjoints[0], 5), "{name}");
    }
}

/// At points where formulas that divide by what is 0 would fail.
#[test]
fn smooth_at_special_points() {
    let zero_tails = Value::matrix(&[[2.0, 1.0], [0.0, -3.0], [0.0, 0.0]]);
    for name in ["qr_Q", "qr_R", "qr_thin_Q", "qr_thin_R"] {
        let arguments = [zero_tails.clone()];
        let base = call(name, &[&zero_tails]).unwrap_or_else(|error| panic!("{error}"));
        let weights: Vec<f64> = (0..base.numbers.len()).map(|k| [0.3, -0.7, 0.9][k % 3]).collect();
        let adjoints = adjoints(name, &arguments, &base, &weights, |_| true);
        for k in 0..6 {
            let expected = difference(name, &arguments, 0, &[k], &weights, &base);
            assert!((adjoints[0][k] - expected).abs() < 1e-8, "{name} {k}: {} instead of {expected}", adjoints[0][k]);
        }
    }
}
