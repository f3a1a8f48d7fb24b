//! The steps of the forward sampler, as generators that the machine runs.

use crust_math::distributions::{continuous, discrete};
use crust_math::random::{Draw, Stream};
use crust_stan::joint::{Sampler, sampler};

use super::score::density_of;
use crate::density::Density;
use crate::random::{Container, Generator, Scalar};

/// A step of the forward sampler.
#[derive(Clone, Copy, Debug)]
pub enum Forward {
    /// Whether all numbers of all arguments are there.
    Ready,
    /// As often more than before as its number stands among the second argument's, element by element; nothing counts
    /// as zero.
    Count,
    /// A component of a mixture, from its log weights.
    Component,
    /// Whether the component that was chosen is the second argument.
    Enter,
    /// The mixture ends.
    Close,
    /// The first argument, with what is missing in it taken from the second; the others are log Jacobians of an image.
    Keep,
    /// An iteration of a loop begins; its index, or only that it is the next one.
    Mark { depth: u32, number: u32, counted: bool },
    /// A term of the likelihood; the elements of a vector are terms of their own.
    Term { depth: u32, number: u32 },
    /// The log densities of all elements of the first argument; then arguments, then bounds.
    Terms { depth: u32, number: u32, density: Density, scalar: Option<&'static Scalar> },
    /// A log density that is known without a draw: of a draw of the program's own, or of data alone.
    Weigh { loose: bool },
    /// The first argument, with what is missing in it drawn; then the arguments of the distribution, then bounds.
    Numbers { scalar: &'static Scalar, order: Order, density: Option<Density> },
    /// The same for distributions of vectors, matrices and categories. The letters are those of [`Sampler`].
    Cells { container: &'static Container, letters: &'static str, counts: bool, density: Option<Density> },
    /// Categories of a generalised linear model, whose predictors have a row for each.
    CategoricalGlm,
    /// Uniform on all values of a type.
    Flat(Flat),
}

/// What is done to numbers that have been drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Each element for itself.
    Free,
    /// Independent and alike: put in order.
    Sorted,
    /// Drawn until they are in order.
    Ordered,
}

/// Types on which the flat density is proper.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flat {
    Simplex,
    UnitVector,
    CorrMatrix,
    CholeskyFactorCorr,
    Columns,
    Rows,
}

/// Generators of numbers that Stan has a density for, but no `_rng`.
static MORE: &[Scalar] = &[Scalar {
    name: "binomial_logit_rng",
    arity: 2,
    draw: |s, [n, x, _]| {
        let p = if x >= 0.0 { 1.0 / (1.0 + (-x).exp()) } else { x.exp() / (1.0 + x.exp()) };
        #[allow(clippy::cast_possible_truncation, reason = "Stan's int has 32 bits")]
        let n = n as i64;
        #[allow(clippy::cast_precision_loss, reason = "Stan's int has 32 bits")]
        s.binomial(n, p).map(|k| k as f64)
    },
}];

impl Forward {
    /// No name of a program has a colon in it.
    pub const PREFIX: &'static str = "forward:";
    /// As all functions that draw.
    const SUFFIX: &'static str = "_rng";

    /// The name under which a program that crust writes calls a step.
    pub fn name(step: &str) -> String {
        format!("{}{step}{}", Self::PREFIX, Self::SUFFIX)
    }

    /// The step with this name, without the prefix.
    pub fn named(name: &str) -> Option<Self> {
        let step = name.strip_suffix(Self::SUFFIX)?;
        let (kind, stem) = step.split_once(':').unwrap_or((step, ""));
        let numbers = |order| {
            let name = format!("{stem}_rng");
            let scalar = match Generator::named(&name) {
                Some(Generator::Scalar(scalar)) => Some(scalar),
                _ => MORE.iter().find(|g| g.name == name),
            };
            scalar.map(|scalar| Self::Numbers { scalar, order, density: density_of(scalar.name) })
        };
        match kind {
            "ready" => Some(Self::Ready),
            "count" => Some(Self::Count),
            "component" => Some(Self::Component),
            "enter" => Some(Self::Enter),
            "close" => Some(Self::Close),
            "keep" => Some(Self::Keep),
            "weigh" => Some(Self::Weigh { loose: false }),
            "loose" => Some(Self::Weigh { loose: true }),
            "mark" | "tally" => {
                let (depth, number) = stem.split_once(':')?;
                Some(Self::Mark { depth: depth.parse().ok()?, number: number.parse().ok()?, counted: kind == "tally" })
            }
            "term" => {
                let (depth, number) = stem.split_once(':')?;
                Some(Self::Term { depth: depth.parse().ok()?, number: number.parse().ok()? })
            }
            "terms" => {
                let (depth, rest) = stem.split_once(':')?;
                let (number, name) = rest.split_once(':')?;
                let generator = format!("{}_rng", crust_stan::names::Suffix::split(name).0);
                let scalar = match Generator::named(&generator) {
                    Some(Generator::Scalar(scalar)) => Some(scalar),
                    _ => MORE.iter().find(|g| g.name == generator),
                };
                let (depth, number) = (depth.parse().ok()?, number.parse().ok()?);
                Some(Self::Terms { depth, number, density: Density::named(name)?, scalar })
            }
            "free" => numbers(Order::Free),
            "sorted" => numbers(Order::Sorted),
            "ordered" => numbers(Order::Ordered),
            "cells" if stem == "categorical_logit_glm" => Some(Self::CategoricalGlm),
            "cells" => {
                let (letters, counts) = match sampler(stem)? {
                    Sampler::Cell(letters) => (letters, false),
                    Sampler::Counts(letters) => (letters, true),
                    Sampler::Scalar => return None,
                };
                match Generator::named(&format!("{stem}_rng"))? {
                    Generator::Container(container) => {
                        Some(Self::Cells { container, letters, counts, density: density_of(container.name) })
                    }
                    _ => None,
                }
            }
            "flat" => Some(Self::Flat(match stem {
                "simplex" => Flat::Simplex,
                "unit_vector" => Flat::UnitVector,
                "corr_matrix" => Flat::CorrMatrix,
                "cholesky_factor_corr" => Flat::CholeskyFactorCorr,
                "column_stochastic_matrix" => Flat::Columns,
                "row_stochastic_matrix" => Flat::Rows,
                _ => return None,
            })),
            _ => None,
        }
    }
}

impl Flat {
    /// Fills a matrix of `rows` rows (a vector has one column), column by column.
    pub fn draw(self, stream: &mut Stream, rows: usize, out: &mut [f64]) -> Draw<()> {
        let uniform = |stream: &mut Stream, out: &mut [f64]| stream.dirichlet(&vec![1.0; out.len()], out);
        match self {
            Self::Simplex => uniform(stream, out),
            Self::Columns => out.chunks_exact_mut(rows.max(1)).try_for_each(|column| uniform(stream, column)),
            Self::Rows => {
                let columns = out.len() / rows.max(1);
                let mut row = vec![0.0; columns];
                for r in 0..rows {
                    uniform(stream, &mut row)?;
                    out[r..].iter_mut().step_by(rows).zip(&row).for_each(|(to, x)| *to = *x);
                }
                Ok(())
            }
            Self::UnitVector => {
                direction(stream, out);
                Ok(())
            }
            Self::CorrMatrix => stream.lkj_corr(rows, 1.0, out),
            Self::CholeskyFactorCorr => {
                cholesky_factor(stream, rows, out);
                Ok(())
            }
        }
    }
}

/// A point on the sphere.
fn direction(stream: &mut Stream, out: &mut [f64]) {
    out.iter_mut().for_each(|x| *x = stream.standard_normal());
    let norm = out.iter().map(|x| x * x).sum::<f64>().sqrt();
    out.iter_mut().for_each(|x| *x /= norm);
}

/// Flat in the elements below the diagonal: those of row `k` are a point in the ball of `k - 1` dimensions, whose
/// radius has the distribution function `r^(k-1)`.
#[allow(clippy::cast_precision_loss, reason = "matrices are small")]
fn cholesky_factor(stream: &mut Stream, n: usize, out: &mut [f64]) {
    out.fill(0.0);
    for row in 0..n {
        let mut point = vec![0.0; row];
        let mut radius = 0.0;
        if row > 0 {
            direction(stream, &mut point);
            radius = stream.uniform().powf(1.0 / row as f64);
        }
        for (column, x) in point.iter().enumerate() {
            out[column * n + row] = radius * x;
        }
        out[row * n + row] = (1.0 - radius * radius).sqrt();
    }
}

/// One number within bounds, by rejection; by inversion where that takes too long.
///
/// # Errors
/// Says what is wrong with the arguments, or that there is no way to reach what lies within the bounds.
pub fn within(stream: &mut Stream, scalar: &Scalar, x: [f64; 3], low: f64, high: f64) -> Draw<f64> {
    const TRIES: usize = 256;
    for _ in 0..TRIES {
        let y = (scalar.draw)(stream, x)?;
        if y >= low && y <= high {
            return Ok(y);
        }
    }
    super::invert::draw(stream, scalar, &x[..scalar.arity], low, high)
}

/// The distribution functions of a generator's distribution, by name.
pub(super) fn cumulative(name: &str) -> Option<Cumulative> {
    let stem = name.strip_suffix("_rng")?;
    if let Some(d) = continuous::by_name(stem) {
        return Some(Cumulative {
            lower: format!("{stem}_lcdf"),
            upper: d.lccdf.map(|_| format!("{stem}_lccdf"))?,
            discrete: false,
        });
    }
    let d = discrete::TABLE.iter().find(|d| d.name == stem)?;
    d.cumulative?;
    Some(Cumulative { lower: format!("{stem}_lcdf"), upper: format!("{stem}_lccdf"), discrete: true })
}

/// Names of `_lcdf` and `_lccdf`.
pub(super) struct Cumulative {
    pub lower: String,
    pub upper: String,
    pub discrete: bool,
}
