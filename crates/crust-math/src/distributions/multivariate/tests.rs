//! Derivatives against differences, dropped terms, and (in [`identities`]) integrals, sums and relations between
//! densities.

mod domains;
mod identities;

use super::ALL;
use crate::density::{DomainError, Terms};
use crate::functions::{Argument, Cell, Shape, VectorDensity};
use crate::random::{Purpose, Stream, StreamKey};

/// In which directions an argument may move and stay inside of its domain.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Moves {
    /// Integers.
    No,
    Free,
    Symmetric,
    /// Symmetric with a constant diagonal.
    OffDiagonal,
    Lower,
    /// Each cell keeps its sum.
    Sum,
    /// Each row of a matrix keeps its sum.
    RowSums,
}

/// An argument, with the size of a step that matters to it.
#[derive(Clone, Debug)]
struct Value {
    moves: Moves,
    shape: Shape,
    numbers: Vec<f64>,
    step: f64,
}

struct Point {
    name: &'static str,
    values: Vec<Value>,
}

/// Random arguments.
struct Maker(Stream);

impl Maker {
    fn new(seed: u64) -> Self {
        Self(StreamKey::new(seed, Purpose::TEST).stream())
    }

    fn normals(&mut self, n: usize) -> Vec<f64> {
        (0..n).map(|_| self.0.standard_normal()).collect()
    }

    fn free(&mut self, shape: Shape) -> Value {
        Value { moves: Moves::Free, shape, numbers: self.normals(shape.len()), step: 1.0 }
    }

    fn vector(&mut self, n: usize) -> Value {
        self.free(Shape::vector(n))
    }

    fn vectors(&mut self, times: usize, n: usize) -> Value {
        self.free(Shape::new(&[times], Cell::Vector, &[n]))
    }

    fn matrix(&mut self, rows: usize, columns: usize) -> Value {
        self.free(Shape::matrix(rows, columns))
    }

    fn positive(&mut self, n: usize) -> Value {
        let mut value = self.vector(n);
        value.numbers.iter_mut().for_each(|x| *x = 0.3 + x.abs());
        value.step = 0.1;
        value
    }

    /// `scale` (A Aᵀ + I)
    fn covariance(&mut self, n: usize, scale: f64) -> Value {
        let a = self.normals(n * n);
        let mut numbers = vec![0.0; n * n];
        crate::linalg::products::add_product_transposed(scale, &a, &a, &mut numbers, (n, n));
        crate::linalg::products::symmetrize(&mut numbers, n);
        (0..n).for_each(|j| numbers[j * (n + 1)] += scale);
        Value { moves: Moves::Symmetric, shape: Shape::matrix(n, n), numbers, step: 0.3 * scale }
    }

    fn correlation(&mut self, n: usize) -> Value {
        let mut value = self.covariance(n, 1.0);
        let scales: Vec<f64> = (0..n).map(|j| value.numbers[j * (n + 1)].sqrt()).collect();
        (0..n * n).for_each(|k| value.numbers[k] /= scales[k % n] * scales[k / n]);
        (0..n).for_each(|j| value.numbers[j * (n + 1)] = 1.0);
        Value { moves: Moves::OffDiagonal, step: 0.1, ..value }
    }

    fn factor(&mut self, n: usize, scale: f64) -> Value {
        let mut value = self.matrix(n, n);
        for k in 0..n * n {
            let (i, j) = (k % n, k / n);
            let x = scale * value.numbers[k];
            value.numbers[k] = match i.cmp(&j) {
                std::cmp::Ordering::Less => 0.0,
                std::cmp::Ordering::Equal => 0.5 * scale + x.abs(),
                std::cmp::Ordering::Greater => x,
            };
        }
        Value { moves: Moves::Lower, step: 0.2 * scale, ..value }
    }

    /// Cells of simplexes.
    fn simplexes(&mut self, shape: Shape) -> Value {
        let mut value = self.free(shape);
        for cell in value.numbers.chunks_mut(shape.cell_len()) {
            cell.iter_mut().for_each(|x| *x = 0.2 + x.abs());
            let sum: f64 = cell.iter().sum();
            cell.iter_mut().for_each(|x| *x /= sum);
        }
        Value { moves: Moves::Sum, step: 0.02, ..value }
    }

    fn transitions(&mut self, n: usize) -> Value {
        let rows = self.simplexes(Shape::new(&[n], Cell::RowVector, &[n]));
        let numbers = (0..n * n).map(|k| rows.numbers[(k % n) * n + k / n]).collect();
        Value { moves: Moves::RowSums, shape: Shape::matrix(n, n), numbers, step: 0.02 }
    }

    fn cuts(&mut self, times: usize, n: usize) -> Value {
        let mut value = self.vectors(times, n);
        for cell in value.numbers.chunks_mut(n) {
            let mut at = -1.0;
            cell.iter_mut().for_each(|x| {
                at += 0.3 + x.abs();
                *x = at;
            });
        }
        Value { step: 0.1, ..value }
    }
}

fn real(x: f64) -> Value {
    Value { moves: Moves::Free, shape: Shape::SCALAR, numbers: vec![x], step: 0.3 * x.abs() }
}

fn integers(numbers: &[i32]) -> Value {
    let numbers: Vec<f64> = numbers.iter().copied().map(f64::from).collect();
    Value { moves: Moves::No, shape: Shape::array(&[numbers.len()]), numbers, step: 0.0 }
}

fn points() -> Vec<Point> {
    let mut all = vec![];
    for round in 0..3 {
        let mut m = Maker::new(100 + round);
        all.extend(vectors(&mut m));
        all.extend(matrices(&mut m));
        all.extend(categories(&mut m));
    }
    for s_tau in [0.2, 0.9] {
        let values = [1.1, 1.4, 0.3, 0.45, 0.6, 0.7, 0.5, s_tau].map(real).to_vec();
        all.push(Point { name: "wiener_lpdf", values });
    }
    all
}

fn vectors(m: &mut Maker) -> Vec<Point> {
    let mut all = vec![];
    for (n, scale) in [(1, 1.0), (5, 1.0), (2, 1e4), (3, 1e-3)] {
        for name in ["multi_normal_lpdf", "multi_normal_prec_lpdf", "multi_student_t_lpdf"] {
            let mut values = vec![m.vector(n), m.vectors(3, n), m.covariance(n, scale)];
            let spread = if name == "multi_normal_prec_lpdf" { scale.sqrt().recip() } else { scale.sqrt() };
            values[..2].iter_mut().for_each(|v| v.step = 0.3 * spread);
            if name.starts_with("multi_student") {
                values.insert(1, real(1.5));
            }
            all.push(Point { name, values });
        }
        for name in ["multi_normal_cholesky_lpdf", "multi_student_t_cholesky_lpdf"] {
            let mut values = vec![m.vectors(2, n), m.vector(n), m.factor(n, scale)];
            values[..2].iter_mut().for_each(|v| v.step = 0.3 * scale);
            if name.starts_with("multi_student") {
                values.insert(1, real(30.0));
            }
            all.push(Point { name, values });
        }
    }
    let alpha = m.positive(4);
    let simplexes = m.simplexes(Shape::new(&[3], Cell::Vector, &[4]));
    all.push(Point { name: "dirichlet_lpdf", values: vec![simplexes, alpha] });
    let times = Value { numbers: vec![0.9, 1.7, 0.5], step: 0.1, ..m.vector(3) };
    let drifts = m.vector(3);
    all.push(Point { name: "wiener_lpdf", values: vec![times, real(1.4), real(0.3), real(0.45), drifts.clone()] });
    let late = vec![real(9.0), real(0.8), real(0.3), real(0.45), drifts, real(0.7)];
    all.push(Point { name: "wiener_lpdf", values: late });
    all
}

fn matrices(m: &mut Maker) -> Vec<Point> {
    let mut all = vec![
        Point { name: "multi_gp_lpdf", values: vec![m.matrix(2, 4), m.covariance(4, 1.0), m.positive(2)] },
        Point { name: "multi_gp_cholesky_lpdf", values: vec![m.matrix(2, 4), m.factor(4, 1.0), m.positive(2)] },
        Point {
            name: "matrix_normal_prec_lpdf",
            values: vec![m.matrix(2, 3), m.matrix(2, 3), m.covariance(2, 1.0), m.covariance(3, 1.0)],
        },
        Point { name: "lkj_corr_lpdf", values: vec![m.correlation(4), real(0.7)] },
        Point { name: "lkj_corr_cholesky_lpdf", values: vec![m.factor(4, 0.5), real(1.0)] },
    ];
    for name in ["wishart_lpdf", "inv_wishart_lpdf"] {
        all.push(Point { name, values: vec![m.covariance(4, 1.0), real(6.5), m.covariance(4, 2.0)] });
    }
    for name in ["wishart_cholesky_lpdf", "inv_wishart_cholesky_lpdf"] {
        all.push(Point { name, values: vec![m.factor(4, 1.0), real(6.5), m.factor(4, 2.0)] });
    }
    for (states, seen) in [(3, 2), (2, 3), (1, 1)] {
        for noise in [m.positive(seen), m.covariance(seen, 0.5)] {
            let transition = Value { step: 0.3, ..m.matrix(states, states) };
            let [y, f] = [m.matrix(seen, 4), m.matrix(states, seen)];
            let [w, c0] = [m.covariance(states, 0.4), m.covariance(states, 1.0)];
            let values = vec![y, f, transition, noise, w, m.vector(states), c0];
            all.push(Point { name: "gaussian_dlm_obs_lpdf", values });
        }
    }
    let seen = m.matrix(3, 5);
    let rho = m.simplexes(Shape::vector(3));
    all.push(Point { name: "hmm_marginal", values: vec![seen, m.transitions(3), rho] });
    all
}

fn categories(m: &mut Maker) -> Vec<Point> {
    let mut all = vec![];
    let (theta, outcomes) = (m.simplexes(Shape::vector(4)), integers(&[1, 4, 4, 2]));
    all.push(Point { name: "categorical_lpmf", values: vec![outcomes.clone(), theta.clone()] });
    all.push(Point { name: "categorical_logit_lpmf", values: vec![outcomes.clone(), m.vector(4)] });
    let counts = integers(&[3, 0, 7, 1]);
    all.push(Point { name: "multinomial_lpmf", values: vec![counts.clone(), theta] });
    all.push(Point { name: "multinomial_logit_lpmf", values: vec![counts.clone(), m.vector(4)] });
    all.push(Point { name: "dirichlet_multinomial_lpmf", values: vec![counts, m.positive(4)] });
    for name in ["ordered_logistic_lpmf", "ordered_probit_lpmf"] {
        all.push(Point { name, values: vec![outcomes.clone(), m.vector(4), m.cuts(4, 3)] });
        let cuts = Value { shape: Shape::vector(3), ..m.cuts(1, 3) };
        all.push(Point { name, values: vec![outcomes.clone(), real(0.4), cuts] });
    }
    let x = [m.matrix(4, 2), m.free(Shape::row_vector(2))];
    for x in x {
        let values = vec![outcomes.clone(), x.clone(), m.vector(4), m.matrix(2, 4)];
        all.push(Point { name: "categorical_logit_glm_lpmf", values });
        let cuts = Value { shape: Shape::vector(3), ..m.cuts(1, 3) };
        let values = vec![outcomes.clone(), x, m.vector(2), cuts];
        all.push(Point { name: "ordered_logistic_glm_lpmf", values });
    }
    all
}

/// The directions of [`Moves`]: elements with weights.
fn directions(value: &Value) -> Vec<Vec<(usize, f64)>> {
    let (len, n) = (value.numbers.len(), value.shape.rows());
    let at = |i: usize, j: usize| j * n + i;
    let pairs = (0..n).flat_map(|j| (j..n).map(move |i| (i, j)));
    match value.moves {
        Moves::No => vec![],
        Moves::Free => (0..len).map(|k| vec![(k, 1.0)]).collect(),
        Moves::Symmetric => pairs.map(|(i, j)| vec![(at(i, j), 0.5), (at(j, i), 0.5)]).collect(),
        Moves::OffDiagonal => {
            pairs.filter(|(i, j)| i != j).map(|(i, j)| vec![(at(i, j), 0.5), (at(j, i), 0.5)]).collect()
        }
        Moves::Lower => pairs.map(|(i, j)| vec![(at(i, j), 1.0)]).collect(),
        Moves::Sum => {
            let size = value.shape.cell_len();
            (0..len - 1).filter(|k| (k + 1) % size != 0).map(|k| vec![(k, 1.0), (k + 1, -1.0)]).collect()
        }
        Moves::RowSums => (0..len - n).map(|k| vec![(k, 1.0), (k + n, -1.0)]).collect(),
    }
}

fn find(name: &str) -> &'static dyn VectorDensity {
    *ALL.iter().find(|density| density.name() == name).unwrap_or_else(|| panic!("no {name}"))
}

fn arguments(values: &[Value]) -> Vec<Argument<'_>> {
    values.iter().map(|v| Argument { numbers: &v.numbers, shape: v.shape }).collect()
}

/// The log density without derivatives.
fn evaluate(name: &str, values: &[Value], terms: Terms) -> Result<f64, DomainError> {
    let density = find(name);
    let arguments = arguments(values);
    density.check(&arguments).unwrap_or_else(|error| panic!("{name}: {error}"));
    let shapes: Vec<Shape> = values.iter().map(|v| v.shape).collect();
    let mut scratch = vec![f64::NAN; density.scratch(&shapes)];
    let mut none: Vec<&mut [f64]> = values.iter().map(|_| &mut [][..]).collect();
    density.log_density(&arguments, terms, 1.0, &mut none, &mut scratch)
}

fn log_density(name: &str, values: &[Value]) -> f64 {
    evaluate(name, values, Terms::ALL).unwrap_or_else(|error| panic!("{name}: {error}"))
}

fn gradients(name: &str, values: &[Value]) -> Vec<Vec<f64>> {
    let density = find(name);
    let shapes: Vec<Shape> = values.iter().map(|v| v.shape).collect();
    let mut scratch = vec![f64::NAN; density.scratch(&shapes)];
    let mut all: Vec<Vec<f64>> = values.iter().map(|v| vec![0.0; v.numbers.len()]).collect();
    let mut slices: Vec<&mut [f64]> = all.iter_mut().map(Vec::as_mut_slice).collect();
    density.log_density(&arguments(values), Terms::ALL, 1.0, &mut slices, &mut scratch).expect("inside of the domain");
    all
}

/// The sixth-order central difference of the log density.
fn difference(point: &Point, at: usize, direction: &[(usize, f64)]) -> f64 {
    let step = 2e-2 * point.values[at].step;
    let shifted = |times: f64| {
        let mut values = point.values.clone();
        direction.iter().for_each(|&(k, weight)| values[at].numbers[k] += times * step * weight);
        log_density(point.name, &values)
    };
    let pair = |times: f64| shifted(times) - shifted(-times);
    (45.0 * pair(1.0) - 9.0 * pair(2.0) + pair(3.0)) / (60.0 * step)
}

#[test]
fn partials_are_differences() {
    for point in points() {
        let gradients = gradients(point.name, &point.values);
        for (at, value) in point.values.iter().enumerate() {
            let scale = gradients[at].iter().fold(0.0_f64, |top, d| top.max(d.abs()));
            for direction in directions(value) {
                let slope: f64 = direction.iter().map(|&(k, weight)| weight * gradients[at][k]).sum();
                let expected = difference(&point, at, &direction);
                let error = (slope - expected).abs() * value.step / (1.0 + scale * value.step);
                let name = point.name;
                assert!(error < 3e-7, "{name}: argument {at} along {direction:?}: {slope}, difference {expected}");
            }
        }
    }
}

/// Terms that are dropped do not depend on the arguments that vary.
#[test]
fn dropped_terms_are_constant() {
    let mut maker = Maker::new(7);
    for point in points() {
        let reals: Vec<usize> = (0..point.values.len()).filter(|&i| point.values[i].moves != Moves::No).collect();
        // all subsets of seven, but of eight only the single ones and all
        let few = reals.len() > 7;
        for subset in (1..1_u32 << reals.len()).filter(|s| !few || s.is_power_of_two() || s.count_ones() == 8) {
            let varying: Vec<usize> = (0..reals.len()).filter(|i| subset >> i & 1 == 1).map(|i| reals[i]).collect();
            let terms = Terms::varying(varying.iter().map(|i| 1 << i).sum());
            let mut moved = point.values.clone();
            for &i in &varying {
                for direction in directions(&point.values[i]) {
                    let by = 0.02 * point.values[i].step * maker.0.standard_normal();
                    direction.iter().for_each(|&(k, weight)| moved[i].numbers[k] += by * weight);
                }
            }
            let dropped = |values: &[Value]| {
                let kept = evaluate(point.name, values, terms).expect("inside of the domain");
                log_density(point.name, values) - kept
            };
            let (before, after) = (dropped(&point.values), dropped(&moved));
            let size = 1.0 + log_density(point.name, &point.values).abs() + log_density(point.name, &moved).abs();
            assert!((before - after).abs() < 1e-11 * size, "{} {varying:?}: {before} {after}", point.name);
        }
    }
}

#[test]
fn every_density_has_a_point() {
    let points = points();
    assert!(ALL.iter().all(|density| points.iter().any(|point| point.name == density.name())));
}
