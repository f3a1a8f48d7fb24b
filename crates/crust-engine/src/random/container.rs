//! Generators that look at whole containers: categories, counts, vectors, matrices, hidden states.

use crust_math::density::Domain;
use crust_math::functions::{Cell, Shape, ShapeError};
use crust_math::random::{Draw, Stream};

use super::scalar::{count, int};

/// A generator that looks at whole containers, or draws one.
#[derive(Debug)]
pub struct Container {
    /// With the suffix `_rng`.
    pub name: &'static str,
    pub arity: usize,
    pub extent: Extent,
    pub draw: Fill,
}

/// Fills a value of the right extent, for arguments whose sizes fit. An error rejects the lane.
type Fill = fn(&mut Stream, &[&[f64]], &mut [f64]) -> Draw<()>;

/// What the shape of a draw depends on.
#[derive(Clone, Copy, Debug)]
pub enum Extent {
    /// A square matrix with as many rows as the first argument says.
    FirstSquared,
    /// The shapes of the arguments. The error says which of them do not fit, and is a mistake in the program.
    Shapes(fn(&[Shape]) -> Result<Shape, ShapeError>),
}

/// Every generator of this kind.
pub static ALL: &[Container] = &[
    by_shapes("bernoulli_logit_glm_rng", 3, linear_extent, bernoulli_logit_glm),
    by_shapes("categorical_rng", 1, number, categorical),
    by_shapes("categorical_logit_rng", 1, number, categorical_logit),
    by_shapes("dirichlet_rng", 1, |shapes| Ok(Shape::vector(shapes[0].len())), |s, x, out| s.dirichlet(x[0], out)),
    by_shapes("dirichlet_multinomial_rng", 2, counts_extent, |s, x, out| {
        counts(x[1], out, |n, out| s.dirichlet_multinomial(n, x[0], out))
    }),
    by_shapes("hmm_latent_rng", 3, hidden_extent, hmm_latent),
    by_shapes("inv_wishart_rng", 2, square_extent, |s, x, out| s.inv_wishart(x[0][0], x[1], out)),
    by_shapes("inv_wishart_cholesky_rng", 2, square_extent, |s, x, out| s.inv_wishart_cholesky(x[0][0], x[1], out)),
    squared("lkj_corr_rng", |s, x, out| s.lkj_corr(out.len().isqrt(), x[1][0], out)),
    squared("lkj_corr_cholesky_rng", |s, x, out| s.lkj_corr_cholesky(out.len().isqrt(), x[1][0], out)),
    by_shapes(
        "multi_normal_rng",
        2,
        |shapes| vectors_extent(&shapes[0], &shapes[1]),
        |s, x, out| each_mean(x[0], x[1], out, |mean, out| s.multi_normal(mean, x[1], out)),
    ),
    by_shapes("multi_normal_cholesky_rng", 2, |shapes| vectors_extent(&shapes[0], &shapes[1]), multi_normal_cholesky),
    by_shapes(
        "multi_student_t_rng",
        3,
        |shapes| vectors_extent(&shapes[1], &shapes[2]),
        |s, x, out| each_mean(x[1], x[2], out, |mean, out| s.multi_student_t(x[0][0], mean, x[2], out)),
    ),
    by_shapes(
        "multi_student_t_cholesky_rng",
        3,
        |shapes| vectors_extent(&shapes[1], &shapes[2]),
        |s, x, out| each_mean(x[1], x[2], out, |mean, out| s.multi_student_t_cholesky(x[0][0], mean, x[2], out)),
    ),
    by_shapes("multinomial_rng", 2, counts_extent, |s, x, out| {
        simplex(x[0])?;
        counts(x[1], out, |n, out| s.multinomial(n, x[0], out))
    }),
    by_shapes("multinomial_logit_rng", 2, counts_extent, |s, x, out| {
        counts(x[1], out, |n, out| s.multinomial_logit(n, x[0], out))
    }),
    by_shapes("ordered_logistic_rng", 2, number, |s, x, out| {
        let category = s.ordered_logistic(x[0][0], x[1])?;
        from_one(&[category], out)
    }),
    by_shapes("ordered_probit_rng", 2, number, |s, x, out| {
        let category = s.ordered_probit(x[0][0], x[1])?;
        from_one(&[category], out)
    }),
    by_shapes("wishart_rng", 2, square_extent, |s, x, out| s.wishart(x[0][0], x[1], out)),
    by_shapes("wishart_cholesky_rng", 2, square_extent, |s, x, out| s.wishart_cholesky(x[0][0], x[1], out)),
];

const fn by_shapes(
    name: &'static str,
    arity: usize,
    extent: fn(&[Shape]) -> Result<Shape, ShapeError>,
    draw: Fill,
) -> Container {
    Container { name, arity, extent: Extent::Shapes(extent), draw }
}

const fn squared(name: &'static str, draw: Fill) -> Container {
    Container { name, arity: 2, extent: Extent::FirstSquared, draw }
}

#[allow(clippy::unnecessary_wraps, reason = "others find sizes that do not fit")]
fn number(_: &[Shape]) -> Result<Shape, ShapeError> {
    Ok(Shape::SCALAR)
}

/// As many counts as the first argument has elements.
#[allow(clippy::unnecessary_wraps, reason = "others find sizes that do not fit")]
fn counts_extent(shapes: &[Shape]) -> Result<Shape, ShapeError> {
    Ok(Shape::array(&[shapes[0].len()]))
}

fn check_square(what: &'static str, shape: &Shape) -> Result<(), ShapeError> {
    if shape.rows() == shape.columns() { Ok(()) } else { Err(ShapeError::NotSquareMatrix { what, shape: *shape }) }
}

/// A matrix like the scale, which is the second argument.
fn square_extent(shapes: &[Shape]) -> Result<Shape, ShapeError> {
    check_square("scale matrix", &shapes[1])?;
    Ok(shapes[1])
}

/// A column vector for each location.
fn vectors_extent(location: &Shape, scale: &Shape) -> Result<Shape, ShapeError> {
    check_square("matrix", scale)?;
    let n = location.cell_len();
    if n != scale.rows() {
        return Err(ShapeError::DoNotFit { one: "the location", x: *location, other: "the", y: *scale });
    }
    if n == 0 {
        return Err(ShapeError::Empty("the matrix has no rows"));
    }
    let vector = Shape::new(&[], Cell::Vector, &[n]);
    Ok(if location.array_rank() > 0 { vector.in_array(location.cells()) } else { vector })
}

/// One draw for each row of the predictors.
fn linear_extent(shapes: &[Shape]) -> Result<Shape, ShapeError> {
    let [x, alpha, beta] = [shapes[0], shapes[1], shapes[2]];
    if x.columns() != beta.len() {
        return Err(ShapeError::DoNotFit { one: "the predictors", x, other: "the coefficients", y: beta });
    }
    if x.rows() != alpha.len() {
        return Err(ShapeError::DoNotFit { one: "the predictors", x, other: "the intercepts", y: alpha });
    }
    Ok(Shape::array(&[x.rows()]))
}

/// A state for each column of the log densities.
fn hidden_extent(shapes: &[Shape]) -> Result<Shape, ShapeError> {
    let [log_omega, gamma, rho] = [shapes[0], shapes[1], shapes[2]];
    check_square("transition matrix", &gamma)?;
    let states = log_omega.rows();
    if gamma.rows() != states || rho.len() != states {
        return Err(ShapeError::HiddenStates { log_omega, gamma, rho });
    }
    if log_omega.is_empty() {
        Err(ShapeError::Empty("there are no log densities"))
    } else {
        Ok(Shape::array(&[log_omega.columns()]))
    }
}

/// How far from 1 a sum of probabilities may be, as Stan has it.
const TOLERANCE: f64 = 1e-8;

// The machine puts the generator's name in the place of the function's.
const HERE: Domain = Domain("");

fn simplex(theta: &[f64]) -> Draw<()> {
    let sum: f64 = theta.iter().sum();
    let ok = (1.0 - sum).abs() <= TOLERANCE;
    HERE.that(ok, "Sum of the probabilities parameter", sum, "1: it is not a simplex")?;
    theta.iter().try_for_each(|&p| HERE.nonnegative("Probabilities parameter", p))
}

fn finite(argument: &'static str, x: &[f64]) -> Draw<()> {
    x.iter().try_for_each(|&x| HERE.finite(argument, x))
}

/// Stan counts categories and states from 1.
fn from_one(categories: &[usize], out: &mut [f64]) -> Draw<()> {
    for (to, &category) in out.iter_mut().zip(categories) {
        *to = count(i64::try_from(category).map_or(i64::MAX, |c| c + 1))?;
    }
    Ok(())
}

fn categorical(stream: &mut Stream, x: &[&[f64]], out: &mut [f64]) -> Draw<()> {
    simplex(x[0])?;
    from_one(&[stream.categorical(x[0])?], out)
}

fn categorical_logit(stream: &mut Stream, x: &[&[f64]], out: &mut [f64]) -> Draw<()> {
    finite("Log odds parameter", x[0])?;
    from_one(&[stream.categorical_log(x[0])?], out)
}

/// Counts of `trials` things, as numbers.
fn counts(trials: &[f64], out: &mut [f64], draw: impl FnOnce(i64, &mut [i64]) -> Draw<()>) -> Draw<()> {
    let n = int(trials[0]);
    HERE.nonnegative("Number of trials", trials[0])?;
    let mut list = vec![0; out.len()];
    draw(n, &mut list)?;
    for (to, n) in out.iter_mut().zip(list) {
        *to = count(n)?;
    }
    Ok(())
}

/// A draw for each location, independent of the others.
fn each_mean(
    means: &[f64],
    matrix: &[f64],
    out: &mut [f64],
    mut draw: impl FnMut(&[f64], &mut [f64]) -> Draw<()>,
) -> Draw<()> {
    let n = matrix.len().isqrt();
    means.chunks_exact(n).zip(out.chunks_exact_mut(n)).try_for_each(|(mean, out)| draw(mean, out))
}

fn multi_normal_cholesky(stream: &mut Stream, x: &[&[f64]], out: &mut [f64]) -> Draw<()> {
    let (means, factor) = (x[0], x[1]);
    finite("Location parameter", means)?;
    let argument = "Cholesky factor of covariance matrix";
    let n = factor.len().isqrt();
    for (j, column) in factor.chunks_exact(n).enumerate() {
        HERE.that(column[..j].iter().all(|&l| l == 0.0), argument, column[0], "lower triangular")?;
        HERE.that(column[j] > 0.0, argument, column[j], "positive on the diagonal")?;
        finite(argument, &column[j..])?;
    }
    each_mean(means, factor, out, |mean, out| {
        stream.multi_normal_cholesky(mean, factor, out);
        Ok(())
    })
}

/// x β + α on the scale of log odds; the matrix is stored by columns.
fn bernoulli_logit_glm(stream: &mut Stream, x: &[&[f64]], out: &mut [f64]) -> Draw<()> {
    let [predictors, alpha, beta] = [x[0], x[1], x[2]];
    finite("Matrix of independent variables", predictors)?;
    finite("Weight vector", beta)?;
    finite("Intercept", alpha)?;
    let rows = alpha.len();
    for (i, (to, alpha)) in out.iter_mut().zip(alpha).enumerate() {
        let row = predictors[i..].iter().step_by(rows);
        let log_odds = alpha + row.zip(beta).map(|(x, b)| x * b).sum::<f64>();
        *to = f64::from(stream.bernoulli_logit(log_odds)?);
    }
    Ok(())
}

fn hmm_latent(stream: &mut Stream, x: &[&[f64]], out: &mut [f64]) -> Draw<()> {
    let mut states = vec![0; out.len()];
    stream.hmm_latent(x[0], x[1], x[2], &mut states)?;
    from_one(&states, out)
}
