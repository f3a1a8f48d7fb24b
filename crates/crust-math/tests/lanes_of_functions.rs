//! Functions and densities of containers for eight items at once give what they give for each of the items, to the last
//! bit: a chain must not notice how many others there are.

use crust_math::density::Terms;
use crust_math::distributions::multivariate;
use crust_math::functions::{Argument, LaneArgument, Row, Shape, VectorDensity, VectorFunction, covariance, matrix};

/// Numbers between 0 and 1.
struct Numbers(f64);

impl Numbers {
    fn next(&mut self) -> f64 {
        self.0 = (self.0 * 16_807.0).fract();
        self.0
    }

    fn rows(&mut self, n: usize, f: impl Fn(f64) -> f64) -> Vec<Row> {
        (0..n).map(|_| std::array::from_fn(|_| f(self.next()))).collect()
    }

    /// `A·Aᵀ + I`, or the Cholesky factor of such a matrix: a lower triangle with a positive diagonal.
    fn matrix(&mut self, n: usize, lower: bool) -> Vec<Row> {
        let a = self.rows(n * n, |x| x - 0.5);
        let mut out = vec![[0.0; 8]; n * n];
        for (i, j, l) in (0..n).flat_map(|i| (0..n).flat_map(move |j| (0..8).map(move |l| (i, j, l)))) {
            let unit = f64::from(u8::from(i == j));
            out[j * n + i][l] = if lower {
                if i >= j { a[j * n + i][l] + 1.5 * unit } else { 0.0 }
            } else {
                unit + (0..n).map(|k| a[k * n + i][l] * a[k * n + j][l]).sum::<f64>()
            };
        }
        out
    }
}

type Given = Vec<(Vec<Row>, Shape)>;

fn lane(rows: &[Row], l: usize) -> Vec<f64> {
    rows.iter().map(|row| row[l]).collect()
}

fn same(rows: &[Row], l: usize, expected: &[f64], what: &str) {
    for (at, (row, expected)) in rows.iter().zip(expected).enumerate() {
        assert_eq!(row[l].to_bits(), expected.to_bits(), "{what}, {at}, item {l}: {} is not {expected}", row[l]);
    }
}

fn check_function(function: &dyn VectorFunction, given: &Given, wanted: &[bool], numbers: &mut Numbers) {
    let name = function.name();
    let shapes: Vec<Shape> = given.iter().map(|(_, shape)| *shape).collect();
    let rows: Vec<LaneArgument> =
        given.iter().map(|(rows, shape)| LaneArgument { numbers: rows, shape: *shape }).collect();
    let mut scratch = vec![[f64::NAN; 8]; function.lanes_scratch(&shapes).expect("there is such a version")];
    let of = |l: usize| -> Vec<Vec<f64>> { given.iter().map(|(rows, _)| lane(rows, l)).collect() };
    let n = {
        let single = of(0);
        let list: Vec<Argument> = single.iter().zip(&shapes).map(|(x, s)| Argument { numbers: x, shape: *s }).collect();
        function.shape(&list).expect("it fits").len()
    };
    let mut out = vec![[f64::NAN; 8]; n];
    assert!(function.value_lanes(&rows, &mut out, &mut scratch), "{name}");
    let adjoint = numbers.rows(n, |x| x - 0.3);
    let mut into: Vec<Vec<Row>> =
        shapes.iter().zip(wanted).map(|(s, w)| vec![[0.25; 8]; if *w { s.len() } else { 0 }]).collect();
    let mut slices: Vec<&mut [Row]> = into.iter_mut().map(Vec::as_mut_slice).collect();
    assert!(function.reverse_lanes(&rows, &out, &adjoint, &mut slices, &mut scratch), "{name}");
    for l in 0..8 {
        let single = of(l);
        let list: Vec<Argument> = single.iter().zip(&shapes).map(|(x, s)| Argument { numbers: x, shape: *s }).collect();
        let mut scratch = vec![f64::NAN; function.scratch(&shapes)];
        let mut expected = vec![f64::NAN; n];
        function.value(&list, &mut expected, &mut scratch).expect("in the domain");
        same(&out, l, &expected, &format!("{name} {shapes:?}"));
        let mut to: Vec<Vec<f64>> = into.iter().map(|rows| vec![0.25; rows.len()]).collect();
        let mut slices: Vec<&mut [f64]> = to.iter_mut().map(Vec::as_mut_slice).collect();
        function.reverse(&list, &expected, &lane(&adjoint, l), &mut slices, &mut scratch);
        for (rows, expected) in into.iter().zip(&to) {
            same(rows, l, expected, &format!("back of {name} {shapes:?}"));
        }
    }
}

fn function(all: &'static [&'static dyn VectorFunction], name: &str) -> &'static dyn VectorFunction {
    *all.iter().find(|f| f.name() == name).expect("it is there")
}

#[test]
fn cholesky_factors() {
    let mut numbers = Numbers(0.37);
    let cholesky = function(matrix::ALL, "cholesky_decompose");
    for n in [1, 2, 3, 4, 5, 7, 8, 11, 16, 17, 21, 32, 33, 40, 63, 64] {
        let given = vec![(numbers.matrix(n, false), Shape::matrix(n, n))];
        check_function(cholesky, &given, &[true], &mut numbers);
    }
    // Larger ones are taken one by one.
    assert_eq!(cholesky.lanes_scratch(&[Shape::matrix(65, 65)]), None);
}

#[test]
fn a_matrix_that_is_not_positive_definite_in_one_item() {
    let mut rows = Numbers(0.2).matrix(6, false);
    rows[14][3] = -1.0;
    let arguments = [LaneArgument { numbers: &rows, shape: Shape::matrix(6, 6) }];
    let (mut out, mut scratch) = (vec![[0.0; 8]; 36], vec![[0.0; 8]; 36]);
    assert!(!function(matrix::ALL, "cholesky_decompose").value_lanes(&arguments, &mut out, &mut scratch));
}

#[test]
fn covariances() {
    let mut numbers = Numbers(0.71);
    for name in ["gp_exp_quad_cov", "gp_exponential_cov", "gp_matern32_cov", "gp_matern52_cov"] {
        for (n, dimension, scales) in [(1, 1, 1), (5, 1, 1), (6, 3, 1), (4, 2, 2), (21, 1, 1), (70, 2, 1)] {
            let cell = if dimension == 1 { Shape::SCALAR } else { Shape::vector(dimension) };
            let x = (numbers.rows(n * dimension, |x| 3.0 * x), cell.in_array(n));
            let sigma = (numbers.rows(1, |x| x + 0.5), Shape::SCALAR);
            let rho = (numbers.rows(scales, |x| x + 0.5), if scales == 1 { Shape::SCALAR } else { Shape::array(&[2]) });
            check_function(
                function(covariance::ALL, name),
                &vec![x.clone(), sigma.clone(), rho.clone()],
                &[false, true, true],
                &mut numbers,
            );
            let y = (numbers.rows(3 * dimension, |x| 3.0 * x), cell.in_array(3));
            let wanted = [false, false, true, true];
            check_function(function(covariance::ALL, name), &vec![x, y, sigma, rho], &wanted, &mut numbers);
        }
    }
}

fn check_density(density: &dyn VectorDensity, given: &Given, wanted: &[bool], terms: Terms) {
    let name = density.name();
    let shapes: Vec<Shape> = given.iter().map(|(_, shape)| *shape).collect();
    let rows: Vec<LaneArgument> =
        given.iter().map(|(rows, shape)| LaneArgument { numbers: rows, shape: *shape }).collect();
    let mut scratch = vec![[f64::NAN; 8]; density.lanes_scratch(&shapes).expect("there is such a version")];
    let mut into: Vec<Vec<Row>> =
        shapes.iter().zip(wanted).map(|(s, w)| vec![[0.0; 8]; if *w { s.len() } else { 0 }]).collect();
    let mut slices: Vec<&mut [Row]> = into.iter_mut().map(Vec::as_mut_slice).collect();
    let value = density.log_density_lanes(&rows, terms, &mut slices, &mut scratch).expect("in the domain");
    for l in 0..8 {
        let single: Vec<Vec<f64>> = given.iter().map(|(rows, _)| lane(rows, l)).collect();
        let list: Vec<Argument> = single.iter().zip(&shapes).map(|(x, s)| Argument { numbers: x, shape: *s }).collect();
        let mut scratch = vec![f64::NAN; density.scratch(&shapes)];
        let mut to: Vec<Vec<f64>> = into.iter().map(|rows| vec![0.0; rows.len()]).collect();
        let mut slices: Vec<&mut [f64]> = to.iter_mut().map(Vec::as_mut_slice).collect();
        let expected = density.log_density(&list, terms, 1.0, &mut slices, &mut scratch).expect("in the domain");
        same(&[value], l, &[expected], name);
        for (rows, expected) in into.iter().zip(&to) {
            same(rows, l, expected, name);
        }
    }
}

#[test]
fn multivariate_normals() {
    let mut numbers = Numbers(0.53);
    let densities =
        [("multi_normal_lpdf", false), ("multi_normal_prec_lpdf", false), ("multi_normal_cholesky_lpdf", true)];
    for (name, lower) in densities {
        let density = *multivariate::ALL.iter().find(|d| d.name() == name).expect("it is there");
        for (n, observations) in [(1, 1), (4, 1), (7, 2), (3, 20), (9, 1), (40, 1), (12, 9)] {
            let shape = if observations == 1 { Shape::vector(n) } else { Shape::vector(n).in_array(observations) };
            let given = vec![
                (numbers.rows(n * observations, |x| x), shape),
                (numbers.rows(n, |x| x - 0.5), Shape::vector(n)),
                (numbers.matrix(n, lower), Shape::matrix(n, n)),
            ];
            check_density(density, &given, &[true, true, true], Terms::ALL);
            check_density(density, &given, &[false, true, true], Terms::ALL);
            check_density(density, &given, &[false, true, false], Terms::ALL);
        }
    }
}
