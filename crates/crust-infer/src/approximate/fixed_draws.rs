//! Draws of the standard distribution that stay while an approximation is fitted to them.

use crust_math::random::StreamKey;
use crust_math::special::digamma;

use super::Error;
use super::blocks::{self, Blocks, LANES};
use super::coordinates::{Coordinates, Family};
use super::curvature::Curvature;
use super::evaluate::{Evaluations, Points};
use super::family::{float, standard_log_density};
use super::lbfgs::Place;
use super::map::{Sums, is_by_draws};
use super::quasi::{whitened_normals, whitened_students};
use crate::target::Target;
use crate::vector::dot;

/// One after the other, or side by side.
enum Placed {
    ByDraws(Points),
    InBlocks(Blocks),
}

impl Placed {
    fn x(&mut self) -> &mut Vec<f64> {
        match self {
            Self::ByDraws(points) => &mut points.x,
            Self::InBlocks(blocks) => &mut blocks.x,
        }
    }

    /// Log densities and gradients.
    fn found(&self) -> (&[f64], &[f64]) {
        match self {
            Self::ByDraws(points) => (&points.log_density, &points.gradient),
            Self::InBlocks(blocks) => (&blocks.log_density, &blocks.gradient),
        }
    }
}

/// Standard draws that stay.
pub(super) struct FixedDraws {
    /// As many as there are whole blocks of.
    n: usize,
    z: Vec<f64>,
    noise: usize,
    /// −E log of the standard density.
    entropy: f64,
    /// Of the last evaluation.
    points: Placed,
    sums: Sums,
    energy: f64,
    /// Parameters of the last evaluation.
    at: Vec<f64>,
}

impl FixedDraws {
    pub(super) fn new(coordinates: &Coordinates, n: usize, key: StreamKey) -> Self {
        let (d, noise) = (float(coordinates.dimension()), coordinates.noise());
        let n = n.next_multiple_of(LANES);
        let degrees = coordinates.degrees();
        let mut z = match degrees {
            None => whitened_normals(noise, n, key),
            Some(nu) => whitened_students(noise, n, nu, key),
        };
        let entropy = if degrees.is_some() {
            let mean = z.chunks_exact(noise).map(|z| standard_log_density(d, degrees, dot(z, z))).sum::<f64>();
            -mean / float(n)
        } else {
            // Exactly: a normal distribution has |z|² = d on average.
            -standard_log_density(d, None, d)
        };
        let dimension = coordinates.dimension();
        let points = if is_by_draws(coordinates.family, dimension) {
            Placed::ByDraws(Points::new(dimension, Vec::new()))
        } else {
            z = blocks::side_by_side(noise, &z);
            Placed::InBlocks(Blocks::new(dimension))
        };
        Self { n, z, noise, entropy, points, sums: coordinates.sums(), energy: f64::NEG_INFINITY, at: Vec::new() }
    }

    /// −ELBO on these draws, and its gradient.
    pub(super) fn objective<T: Target + Clone + Send>(
        &mut self,
        evaluations: &mut Evaluations<'_, T>,
        coordinates: &Coordinates,
        parameters: &[f64],
        gradient: &mut [f64],
    ) -> Result<f64, Error> {
        self.at.clear();
        self.at.extend_from_slice(parameters);
        let map = coordinates.map(parameters);
        map.place(self.noise, &self.z, self.points.x());
        if self.points.x().iter().any(|x| !x.is_finite()) {
            self.energy = f64::NEG_INFINITY;
            return Ok(f64::INFINITY);
        }
        match &mut self.points {
            Placed::ByDraws(points) => evaluations.evaluate(points, true)?,
            Placed::InBlocks(blocks) => evaluations.evaluate_blocks(blocks)?,
        }
        let (log_densities, gradients) = self.points.found();
        self.energy = log_densities.iter().sum::<f64>() / float(self.n);
        if self.energy.is_finite() {
            self.sums.clear();
            self.sums.add(self.noise, &self.z, gradients);
        }
        Ok(self.pull(coordinates, parameters, gradient))
    }

    /// The same at the points of the last evaluation, which the parameters must stand for.
    fn pull(&self, coordinates: &Coordinates, parameters: &[f64], gradient: &mut [f64]) -> f64 {
        gradient.fill(0.0);
        if !self.energy.is_finite() {
            return f64::INFINITY;
        }
        coordinates.pull(parameters, &self.sums, 1.0 / float(self.n), gradient);
        let determinant = coordinates.log_determinant(parameters, gradient);
        gradient.iter_mut().for_each(|g| *g = -*g);
        -(self.energy + determinant + self.entropy)
    }

    pub(super) fn look<T: Target + Clone + Send>(
        &mut self,
        evaluations: &mut Evaluations<'_, T>,
        coordinates: &Coordinates,
        x: Vec<f64>,
    ) -> Result<Place, Error> {
        let mut gradient = vec![0.0; x.len()];
        let value = self.objective(evaluations, coordinates, &x, &mut gradient)?;
        Ok(Place { x, value, gradient })
    }

    /// The origin of a new frame, whose approximation is that of a place in the old one. The points are the same: they
    /// are evaluated only if the last ones were others.
    pub(super) fn look_again<T: Target + Clone + Send>(
        &mut self,
        evaluations: &mut Evaluations<'_, T>,
        frame: &Coordinates,
        old: &Place,
    ) -> Result<Place, Error> {
        let x = frame.origin();
        if self.at != old.x {
            return self.look(evaluations, frame, x);
        }
        let mut gradient = vec![0.0; x.len()];
        let value = self.pull(frame, &x, &mut gradient);
        self.at.clone_from(&x);
        Ok(Place { x, value, gradient })
    }

    /// The mean curvature in the frame, where the last evaluation was. For full rank it is known from the gradient:
    /// that in an element of the scale is Bᵢⱼ, or Bᵢᵢ − 1 on the diagonal.
    pub(super) fn curvature(&self, coordinates: &Coordinates, here: &Place) -> Option<Curvature> {
        let d = coordinates.dimension();
        if !self.energy.is_finite() {
            return None;
        }
        if coordinates.family == Family::FullRank {
            return Curvature::new(d, coordinates.matrix_of(&here.gradient, 1.0));
        }
        let (mut sums, mut products) = (vec![0.0; d], vec![0.0; d * d]);
        blocks::add_products(|_| [0..d, 0..0], d, &self.z, self.points.found().1, &mut sums, &mut products);
        Curvature::of_products(d, self.n, &coordinates.seen(products))
    }

    /// By how much the bound at the last evaluation is off since Σ log q/n over the draws of Student's t distribution is not
    /// E log q, and what log p has of that: in many dimensions some tenths. log p is taken for a linear function of |z|²,
    /// whose mean the draws have, and of log q. 0 for normal distributions, which have the mean of log q.
    pub(super) fn excess(&self, coordinates: &Coordinates) -> f64 {
        let (Some(nu), Placed::ByDraws(points)) = (coordinates.degrees(), &self.points) else { return 0.0 };
        let (d, n) = (float(self.noise), float(self.n));
        let squares: Vec<f64> = self.z.chunks_exact(self.noise).map(|z| dot(z, z)).collect();
        let logs: Vec<f64> = squares.iter().map(|r| standard_log_density(d, Some(nu), *r)).collect();
        let centred = |x: &[f64]| {
            let mean = x.iter().sum::<f64>() / n;
            x.iter().map(|x| x - mean).collect::<Vec<f64>>()
        };
        let (r, q, p) = (centred(&squares), centred(&logs), centred(&points.log_density));
        // Normal equations of two regressors.
        let (rr, rq, qq) = (dot(&r, &r), dot(&r, &q), dot(&q, &q));
        let slope = (dot(&q, &p) * rr - dot(&r, &p) * rq) / (rr * qq - rq * rq);
        let slope = if slope.is_finite() { slope.clamp(0.0, 1.0) } else { 1.0 };
        // E log (1 + |z|²/ν) = ψ((ν + d)/2) − ψ(ν/2).
        let half = 0.5 * (nu + d);
        let expected = standard_log_density(d, Some(nu), 0.0) - half * (digamma(half) - digamma(0.5 * nu));
        let mean = logs.iter().sum::<f64>() / n;
        (1.0 - slope) * (expected - mean)
    }
}
