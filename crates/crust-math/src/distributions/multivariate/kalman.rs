//! The Gaussian dynamic linear model: `gaussian_dlm_obs`.
//!
//! Of states θₜ ~ N(G θₜ₋₁, W) from θ₀ ~ N(m₀, C₀) one sees yₜ ~ N(Fᵀ θₜ, V). The Kalman filter carries the mean m and
//! the covariance C of the state given what was seen:
//!
//! a = G m, R = G C Gᵀ + W, e = y − Fᵀ a, Q = Fᵀ R F + V, B = R F, v = Q⁻¹ e, m ← a + B v, C ← R − B Q⁻¹ Bᵀ,
//! and the log density of yₜ is −(r log 2π + log |Q| + eᵀ Q⁻¹ e)/2.
//!
//! With a vector V (the diagonal) Stan takes the observations of one time one by one; the density is the same. For the
//! derivatives m and C of every time are kept and the steps are differentiated backwards.

use super::layout::{Containers, Memory, count, matrix, same, shapes, square};
use crate::density::{Domain, DomainError, Terms};
use crate::functions::{Argument, Cell, Shape, ShapeError, VectorDensity};
use crate::linalg::cholesky::{self, inverse, log_diagonal};
use crate::linalg::products::{add_outer, add_product, add_product_transposed, add_transposed_product, symmetrize};
use crate::linalg::triangular::{solve_lower, solve_lower_transposed};
use crate::linalg::vectors::{add_scaled, dot};

const Y: usize = 0;
const F: usize = 1;
const G: usize = 2;
const V: usize = 3;
const W: usize = 4;
const M0: usize = 5;
const C0: usize = 6;

#[derive(Debug)]
pub(super) struct LinearModel;

/// Numbers of states and of observations at a time.
#[derive(Clone, Copy)]
struct Sizes {
    n: usize,
    r: usize,
}

/// One step of the filter, from the mean and covariance before it.
struct Step<'a> {
    sizes: Sizes,
    a: &'a mut [f64],
    r: &'a mut [f64],
    /// R F
    b: &'a mut [f64],
    e: &'a mut [f64],
    /// Q⁻¹ e
    v: &'a mut [f64],
    q: &'a mut [f64],
    /// n × n
    work: &'a mut [f64],
    /// r × n
    gain: &'a mut [f64],
}

impl<'a> Step<'a> {
    fn new(sizes: Sizes, memory: &mut Memory<'a>) -> Self {
        let Sizes { n, r } = sizes;
        let (a, b, e) = (memory.take(n), memory.take(n * r), memory.take(r));
        let (v, q, gain) = (memory.take(r), memory.take(r * r), memory.take(r * n));
        Self { sizes, a, r: memory.take(n * n), b, e, v, q, work: memory.take(n * n), gain }
    }

    fn memory(Sizes { n, r }: Sizes) -> usize {
        n + 2 * n * r + 2 * r + r * r + 2 * n * n
    }

    /// Everything but the state after the step. `q` becomes the Cholesky factor of Q; the result is log |Q| + eᵀ Q⁻¹ e.
    fn predict(&mut self, arguments: &[Argument], y: &[f64], m: &[f64], c: &[f64]) -> Result<f64, DomainError> {
        let Sizes { n, r } = self.sizes;
        let [f, g, w] = [F, G, W].map(|i| arguments[i].numbers);
        self.a.fill(0.0);
        add_product(1.0, g, m, self.a, (n, n));
        self.work.fill(0.0);
        add_product(1.0, g, c, self.work, (n, n));
        self.r.copy_from_slice(w);
        add_product_transposed(1.0, self.work, g, self.r, (n, n));
        symmetrize(self.r, n);
        self.b.fill(0.0);
        add_product(1.0, self.r, f, self.b, (n, n));
        self.e.copy_from_slice(y);
        add_transposed_product(-1.0, f, self.a, self.e, (r, n));
        self.q.fill(0.0);
        add_transposed_product(1.0, f, self.b, self.q, (r, n));
        add_observation_noise(&arguments[V], r, self.q);
        if let Err(error) = cholesky::factor(self.q, r) {
            let function = LinearModel.name();
            let argument = "Variance of the prediction";
            return Err(DomainError { function, argument, value: error.value(), must_be: "positive definite" });
        }
        self.v.copy_from_slice(self.e);
        solve_lower(self.q, r, self.v);
        let distance = dot(self.v, self.v);
        solve_lower_transposed(self.q, r, self.v);
        Ok(2.0 * log_diagonal(self.q, r) + distance)
    }

    /// The mean and covariance after the step.
    fn update(&mut self, m: &mut [f64], c: &mut [f64]) {
        let Sizes { n, r } = self.sizes;
        m.copy_from_slice(self.a);
        add_product(1.0, self.b, self.v, m, (n, r));
        c.copy_from_slice(self.r);
        // columns of L⁻¹ Bᵀ, so that what is subtracted is a square
        for (i, column) in self.gain.chunks_exact_mut(r).enumerate() {
            column.iter_mut().zip(self.b[i..].iter().step_by(n)).for_each(|(x, b)| *x = *b);
            solve_lower(self.q, r, column);
        }
        add_transposed_product(-1.0, self.gain, self.gain, c, (n, r));
    }
}

fn add_observation_noise(v: &Argument, r: usize, q: &mut [f64]) {
    if v.shape.cell() == Cell::Vector {
        q.iter_mut().step_by(r + 1).zip(v.numbers).for_each(|(q, v)| *q += v);
    } else {
        add_scaled(q, 1.0, v.numbers);
    }
}

/// The derivatives that a step backwards carries and its memory.
struct Backward<'a> {
    m: &'a mut [f64],
    c: &'a mut [f64],
    d_r: &'a mut [f64],
    d_b: &'a mut [f64],
    d_q: &'a mut [f64],
    d_e: &'a mut [f64],
    /// B Q⁻¹
    gain: &'a mut [f64],
    nr: &'a mut [f64],
    nn: &'a mut [f64],
}

impl<'a> Backward<'a> {
    fn new(Sizes { n, r }: Sizes, memory: &mut Memory<'a>) -> Self {
        let (m, c, d_r) = (memory.zeros(n), memory.zeros(n * n), memory.take(n * n));
        let (d_b, d_q, d_e) = (memory.take(n * r), memory.take(r * r), memory.take(r));
        Self { m, c, d_r, d_b, d_q, d_e, gain: memory.take(n * r), nr: memory.take(n * r), nn: memory.take(n * n) }
    }

    fn memory(Sizes { n, r }: Sizes) -> usize {
        n + 3 * n * n + 3 * n * r + r * r + r
    }

    /// The derivatives for Q and e. With λ = Q⁻¹ Bᵀ m̄ and A = B Q⁻¹, for the density's weight s:
    /// Q̄ = s (v vᵀ − Q⁻¹)/2 − (λ vᵀ + v λᵀ)/2 + Aᵀ C̄ A and ē = λ − s v.
    fn prediction(&mut self, step: &Step, seed: f64) {
        let Sizes { n, r } = step.sizes;
        inverse(step.q, r, self.d_q);
        self.gain.fill(0.0);
        add_product(1.0, step.b, self.d_q, self.gain, (n, r));
        self.d_e.fill(0.0);
        add_transposed_product(1.0, self.gain, self.m, self.d_e, (r, n));
        self.d_q.iter_mut().for_each(|q| *q *= -0.5 * seed);
        add_outer(0.5 * seed, step.v, step.v, self.d_q);
        add_outer(-0.5, self.d_e, step.v, self.d_q);
        add_outer(-0.5, step.v, self.d_e, self.d_q);
        self.nr.fill(0.0);
        add_product(1.0, self.c, self.gain, self.nr, (n, n));
        add_transposed_product(1.0, self.gain, self.nr, self.d_q, (r, n));
        symmetrize(self.d_q, r);
        add_scaled(self.d_e, -seed, step.v);
        // B̄ = m̄ vᵀ − 2 C̄ A
        self.d_b.fill(0.0);
        add_outer(1.0, self.m, step.v, self.d_b);
        add_scaled(self.d_b, -2.0, self.nr);
    }

    /// Adds the derivatives of one step and goes to those for the state before it.
    fn step(
        &mut self,
        step: &Step,
        arguments: &[Argument],
        (m, c): (&[f64], &[f64]),
        (seed, t): (f64, usize),
        adjoints: &mut [&mut [f64]],
    ) {
        let Sizes { n, r } = step.sizes;
        let [f, g] = [F, G].map(|i| arguments[i].numbers);
        self.prediction(step, seed);
        if !adjoints[Y].is_empty() {
            add_scaled(&mut adjoints[Y][t * r..(t + 1) * r], 1.0, self.d_e);
        }
        add_noise_derivative(arguments[V].shape.cell(), r, self.d_q, adjoints[V]);
        if !adjoints[F].is_empty() {
            add_outer(-1.0, step.a, self.d_e, adjoints[F]);
            add_product(2.0, step.b, self.d_q, adjoints[F], (n, r));
            add_product(1.0, step.r, self.d_b, adjoints[F], (n, n));
        }
        // R̄ = C̄ + F Q̄ Fᵀ + B̄ Fᵀ, symmetric
        self.d_r.copy_from_slice(self.c);
        add_product(1.0, f, self.d_q, self.d_b, (n, r));
        add_product_transposed(1.0, self.d_b, f, self.d_r, (n, n));
        symmetrize(self.d_r, n);
        // ā = m̄ − F ē
        add_product(-1.0, f, self.d_e, self.m, (n, r));
        if !adjoints[W].is_empty() {
            add_scaled(adjoints[W], 1.0, self.d_r);
        }
        self.nn.fill(0.0);
        add_product(1.0, self.d_r, g, self.nn, (n, n));
        if !adjoints[G].is_empty() {
            add_product(2.0, self.nn, c, adjoints[G], (n, n));
            add_outer(1.0, self.m, m, adjoints[G]);
        }
        self.c.fill(0.0);
        add_transposed_product(1.0, g, self.nn, self.c, (n, n));
        symmetrize(self.c, n);
        self.nn[..n].copy_from_slice(self.m);
        self.m.fill(0.0);
        add_transposed_product(1.0, g, &self.nn[..n], self.m, (n, n));
    }
}

fn add_noise_derivative(cell: Cell, r: usize, d_q: &[f64], adjoint: &mut [f64]) {
    if adjoint.is_empty() {
        return;
    }
    if cell == Cell::Vector {
        adjoint.iter_mut().zip(d_q.iter().step_by(r + 1)).for_each(|(a, q)| *a += q);
    } else {
        add_scaled(adjoint, 1.0, d_q);
    }
}

fn check_domains(arguments: &[Argument], Sizes { n, r }: Sizes, scratch: &mut [f64]) -> Result<(), DomainError> {
    let domain = Domain(LinearModel.name());
    for (name, argument) in ["y", "F", "G", "V", "W", "m0", "C0"].into_iter().zip(arguments) {
        domain.all_finite(name, argument.numbers)?;
    }
    if arguments[V].shape.cell() == Cell::Vector {
        arguments[V].numbers.iter().try_for_each(|&v| domain.nonnegative("V", v))?;
    } else {
        domain.semidefinite("V", arguments[V].numbers, r, scratch)?;
    }
    domain.semidefinite("W", arguments[W].numbers, n, scratch)?;
    domain.semidefinite("C0", arguments[C0].numbers, n, scratch)
}

impl VectorDensity for LinearModel {
    fn name(&self) -> &'static str {
        "gaussian_dlm_obs_lpdf"
    }

    fn check(&self, arguments: &[Argument]) -> Result<(), ShapeError> {
        let [y, f, g, v, w, m0, c0] = shapes(arguments)?;
        matrix("random variable", &y)?;
        let (states, seen) = ("the number of rows of G", "the number of rows of y");
        same("the number of columns of F", f.columns(), seen, y.rows())?;
        same("the number of rows of F", f.rows(), states, g.rows())?;
        if v.cell() == Cell::Vector {
            same("the size of V", v.len(), seen, y.rows())?;
        } else {
            square("matrix V", &v, seen, y.rows())?;
        }
        same("the size of m0", m0.len(), states, g.rows())?;
        for (name, shape) in [("matrix G", g), ("matrix W", w), ("matrix C0", c0)] {
            square(name, &shape, states, g.rows())?;
        }
        Ok(())
    }

    fn scratch(&self, arguments: &[Shape]) -> usize {
        let sizes = Sizes { n: arguments[G].rows(), r: arguments[Y].rows() };
        let states = (arguments[Y].columns() + 1) * (sizes.n + sizes.n * sizes.n);
        (states + Step::memory(sizes) + Backward::memory(sizes)).max(sizes.r * sizes.r)
    }

    fn log_density(
        &self,
        arguments: &[Argument],
        terms: Terms,
        seed: f64,
        adjoints: &mut [&mut [f64]],
        scratch: &mut [f64],
    ) -> Result<f64, DomainError> {
        let y = &arguments[Y];
        let sizes = Sizes { n: arguments[G].shape.rows(), r: y.shape.rows() };
        let Sizes { n, r } = sizes;
        let times = y.shape.columns();
        if y.shape.is_empty() || n == 0 {
            return Ok(0.0);
        }
        check_domains(arguments, sizes, scratch)?;
        if !terms.keep(u32::MAX) {
            return Ok(0.0);
        }
        let mut memory = Memory(scratch);
        let (means, covariances) = (memory.take((times + 1) * n), memory.take((times + 1) * n * n));
        means[..n].copy_from_slice(arguments[M0].numbers);
        covariances[..n * n].copy_from_slice(arguments[C0].numbers);
        let mut step = Step::new(sizes, &mut memory);
        let mut value = if terms.keep(0) { -0.5 * count(r * times) * std::f64::consts::TAU.ln() } else { 0.0 };
        for t in 0..times {
            let (m, after) = means[t * n..(t + 2) * n].split_at_mut(n);
            let (c, c_after) = covariances[t * n * n..(t + 2) * n * n].split_at_mut(n * n);
            value -= 0.5 * step.predict(arguments, &y.numbers[t * r..(t + 1) * r], m, c)?;
            step.update(after, c_after);
        }
        if adjoints.iter().all(|a| a.is_empty()) {
            return Ok(value);
        }
        let mut backward = Backward::new(sizes, &mut memory);
        for t in (0..times).rev() {
            let (m, c) = (&means[t * n..(t + 1) * n], &covariances[t * n * n..(t + 1) * n * n]);
            step.predict(arguments, &y.numbers[t * r..(t + 1) * r], m, c)?;
            backward.step(&step, arguments, (m, c), (seed, t), adjoints);
        }
        if !adjoints[M0].is_empty() {
            add_scaled(adjoints[M0], 1.0, backward.m);
        }
        if !adjoints[C0].is_empty() {
            add_scaled(adjoints[C0], 1.0, backward.c);
        }
        Ok(value)
    }
}
