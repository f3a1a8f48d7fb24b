//! The toy distributions of BREAD, section 5.1.1, on a 7 × 7 grid.

use crust_infer::anneal::{Moved, System};
use crust_infer::target::Fatal;
use crust_math::random::{Stream, StreamKey};
use pxfm::f_exp;

use crate::model::{Model, Simulate};

/// Cells on a side.
pub const SIDE: usize = 7;
/// Cells in all.
pub const CELLS: usize = SIDE * SIDE;

/// A distribution over the cells, given by log f, and the path `f_β` = f^β from the uniform distribution to it.
///
/// Z₁ is the number of cells: f₀ = 1 everywhere. The kernel is Metropolis–Hastings, whose proposal is one step in one
/// of the four directions; a step off the grid is rejected.
#[derive(Clone, Debug, PartialEq)]
pub struct Grid {
    log_f: [f64; CELLS],
}

/// The probabilities of a move from one cell: to the four neighbours (if they exist), and to stay.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Row {
    pub to: [Option<(usize, f64)>; 4],
    pub stay: f64,
}

impl Row {
    /// All cells that can be next, with their probabilities.
    pub fn edges(self, from: usize) -> impl Iterator<Item = (usize, f64)> {
        self.to.into_iter().flatten().chain([(from, self.stay)])
    }
}

impl Grid {
    /// Row by row, from the top.
    pub fn new(log_f: [f64; CELLS]) -> Self {
        Self { log_f }
    }

    /// BREAD, eq. (16): the middle row and the middle column are the barrier, and the upper right quadrant holds 87 %
    /// of the mass.
    pub fn barrier() -> Self {
        let middle = SIDE / 2;
        let log_f = |cell: usize| {
            let (row, column) = (cell / SIDE, cell % SIDE);
            if row == middle || column == middle {
                -10.0
            } else if row < middle && column > middle {
                3.0
            } else {
                0.0
            }
        };
        Self { log_f: std::array::from_fn(log_f) }
    }

    /// log f independent and normal, with standard deviation σ in every cell: 2 is EASY RANDOM, 10 is HARD RANDOM.
    pub fn random(sigma: f64, key: StreamKey) -> Self {
        Self::from_stream(sigma, &mut key.stream())
    }

    fn from_stream(sigma: f64, stream: &mut Stream) -> Self {
        Self { log_f: std::array::from_fn(|_| sigma * stream.standard_normal()) }
    }

    pub fn log_f(&self, cell: usize) -> f64 {
        self.log_f[cell]
    }

    /// `p_β`.
    pub fn distribution(&self, beta: f64) -> [f64; CELLS] {
        let top = self.log_f.iter().fold(f64::NEG_INFINITY, |a, &b| a.max(beta * b));
        let weights = self.log_f.map(|log| f_exp(beta * log - top));
        let total: f64 = weights.iter().sum();
        weights.map(|w| w / total)
    }

    /// log `Z_T` / Z₁.
    pub fn log_ratio_of_normalisers(&self) -> f64 {
        let top = self.log_f.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let mean: f64 = self.log_f.iter().map(|log| f_exp(log - top)).sum::<f64>() / float(CELLS);
        top + pxfm::f_log(mean)
    }

    /// An exact draw of `p_β`.
    pub fn draw(&self, beta: f64, stream: &mut Stream) -> usize {
        let u = stream.uniform();
        let mut below = 0.0;
        let found = self.distribution(beta).iter().position(|p| {
            below += p;
            u < below
        });
        found.unwrap_or(CELLS - 1)
    }

    fn neighbour(cell: usize, direction: usize) -> Option<usize> {
        let (row, column) = (cell / SIDE, cell % SIDE);
        match direction {
            0 => (row > 0).then(|| cell - SIDE),
            1 => (row + 1 < SIDE).then_some(cell + SIDE),
            2 => (column > 0).then(|| cell - 1),
            _ => (column + 1 < SIDE).then_some(cell + 1),
        }
    }

    fn accept(&self, from: usize, to: usize, beta: f64) -> f64 {
        f_exp((beta * (self.log_f[to] - self.log_f[from])).min(0.0))
    }

    /// The kernel at β, as probabilities.
    pub fn row(&self, from: usize, beta: f64) -> Row {
        let mut stay = 0.0;
        let to = std::array::from_fn(|direction| {
            let Some(cell) = Self::neighbour(from, direction) else {
                stay += 0.25;
                return None;
            };
            let accept = self.accept(from, cell, beta);
            stay += 0.25 * (1.0 - accept);
            Some((cell, 0.25 * accept))
        });
        Row { to, stay }
    }
}

#[expect(clippy::cast_precision_loss, reason = "counts are small")]
pub(crate) fn float(n: usize) -> f64 {
    n as f64
}

impl System for Grid {
    type State = usize;

    fn draw_initial(&mut self, stream: &mut Stream) -> Result<usize, Fatal> {
        Ok(self.draw(0.0, stream))
    }

    fn log_ratio(&mut self, &cell: &usize, from: f64, to: f64) -> Result<f64, Fatal> {
        Ok((to - from) * self.log_f[cell])
    }

    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "four directions")]
    fn step(&mut self, cell: &mut usize, beta: f64, stream: &mut Stream) -> Result<Moved, Fatal> {
        let proposal = Self::neighbour(*cell, (4.0 * stream.uniform()) as usize);
        let accept = proposal.map_or(0.0, |to| self.accept(*cell, to, beta));
        if let (Some(to), true) = (proposal, stream.uniform() < accept) {
            *cell = to;
        }
        Ok(Moved { accept, evaluations: 1 })
    }

    /// Metropolis–Hastings is reversible.
    fn step_reversed(&mut self, cell: &mut usize, beta: f64, stream: &mut Stream) -> Result<Moved, Fatal> {
        self.step(cell, beta, stream)
    }
}

/// The uniform distribution is the prior, and f the likelihood.
impl Model for Grid {
    fn log_joint(&mut self, &cell: &usize, beta: f64) -> Result<f64, Fatal> {
        Ok(beta * self.log_f[cell] - pxfm::f_log(float(CELLS)))
    }

    fn cases(&self) -> usize {
        1
    }
}

/// There are no data to simulate, but distributions, and exact draws of each.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Setting {
    Barrier,
    /// With σ.
    Random(f64),
}

impl Simulate for Grid {
    type Setting = Setting;

    fn simulate(setting: &Setting, stream: &mut Stream) -> Result<(Self, usize), Fatal> {
        let grid = match *setting {
            Setting::Barrier => Self::barrier(),
            Setting::Random(sigma) => Self::from_stream(sigma, stream),
        };
        let cell = grid.draw(1.0, stream);
        Ok((grid, cell))
    }
}
