//! Functions and densities of containers as operations on their elements, or as calls.

use crust_math::density::Terms;
use crust_math::functions::{Cell, Shape, VectorDensity, VectorFunction};

use super::{Refs, unary_named};
use crate::code::Comparison;
use crate::ir::{ContainerCall, Graph, Ref};
use crate::kernels::arithmetic::Arithmetic::{Add, Multiply, Subtract};
use crate::machine::value::View;
use crate::machine::{Machine, Run};

/// How far the sum of a simplex may be from 1.
const SIMPLEX_TOLERANCE: f64 = 1e-8;

impl Machine {
    pub(in crate::machine) fn traced_function(
        &mut self,
        function: &'static dyn VectorFunction,
        views: &[View],
        shape: Shape,
    ) -> Run<View> {
        let lists: Vec<Refs> = views.iter().map(|&view| self.operations(view)).collect();
        let known = match (function.name(), &lists[..]) {
            ("softmax", [x]) if !x.is_empty() => Some(self.softmax(x)?),
            ("log_softmax", [x]) if !x.is_empty() => {
                let graph = self.graph();
                let total = graph.log_sum_exp(x);
                Some(x.iter().map(|&x| graph.arithmetic(Subtract, x, total)).collect())
            }
            ("cumulative_sum", [x]) => Some(running(self.graph(), x)),
            ("dot_product", [a, b]) if !a.is_empty() => Some(Refs::from_slice(&[self.graph().dot(a, b)])),
            ("rows_dot_product" | "columns_dot_product", [a, b]) if views[0].shape.cell() == Cell::Matrix => {
                Some(dots(self.graph(), function.name() == "rows_dot_product", views[0].shape, a, b))
            }
            ("diag_pre_multiply", [d, m]) => {
                let rows = views[1].shape.rows();
                Some(scaled(self.graph(), m, |k| d[k % rows]))
            }
            ("diag_post_multiply", [m, d]) => {
                let rows = views[0].shape.rows();
                Some(scaled(self.graph(), m, |k| d[k / rows]))
            }
            ("add_diag", [m, d]) => {
                let rows = views[0].shape.rows();
                let graph = self.graph();
                let each = m.iter().enumerate().map(|(k, &x)| match (k % rows, k / rows) {
                    (i, j) if i == j => graph.arithmetic(Add, x, d[if d.len() == 1 { 0 } else { i }]),
                    _ => x,
                });
                Some(each.collect())
            }
            ("tcrossprod", [m]) => {
                Some(crossed(self.graph(), m, (views[0].shape.rows(), views[0].shape.columns()), false))
            }
            ("crossprod", [m]) => {
                Some(crossed(self.graph(), m, (views[0].shape.rows(), views[0].shape.columns()), true))
            }
            _ => None,
        };
        if let Some(results) = known.filter(|results| results.len() == shape.len()) {
            return self.symbols(&results, shape);
        }
        let shapes = views.iter().map(|v| v.shape).collect();
        let varies = views.iter().map(|&view| self.is_symbolic(view)).collect();
        let arguments: Refs = lists.iter().flatten().copied().collect();
        let call = ContainerCall::Function { function, shapes, results: shape.len(), varies };
        let results = self.graph().call(call, &arguments);
        self.symbols(&results, shape)
    }

    fn softmax(&mut self, x: &Refs) -> Run<Refs> {
        let exp = unary_named("exp")?;
        let graph = self.graph();
        let total = graph.log_sum_exp(x);
        let each = x.iter().map(|&x| {
            let difference = graph.arithmetic(Subtract, x, total);
            graph.unary(exp, difference)
        });
        let results: Refs = each.collect();
        if let Some(tracer) = &mut self.tracer {
            tracer.simplexes.insert(results.clone());
        }
        Ok(results)
    }

    pub(in crate::machine) fn traced_container_density(
        &mut self,
        density: &'static dyn VectorDensity,
        views: &[View],
        terms: Terms,
    ) -> Run<View> {
        let lists: Vec<Refs> = views.iter().map(|&view| self.operations(view)).collect();
        let scalar = views[0].shape.is_scalar();
        let known = match (density.name(), &lists[..]) {
            ("categorical_lpmf", [y, theta]) if scalar && terms.keep(0b10) => self.categorical(y[0], theta)?,
            ("categorical_logit_lpmf", [y, x]) if scalar && terms.keep(0b10) => {
                let graph = self.graph();
                element(graph, y[0], x).map(|chosen| {
                    let total = graph.log_sum_exp(x);
                    graph.arithmetic(Subtract, chosen, total)
                })
            }
            ("ordered_logistic_lpmf", [y, eta, cuts]) if scalar && eta.len() == 1 && terms.keep(0b110) => {
                self.ordered_logistic(y[0], eta[0], cuts)?
            }
            ("dirichlet_lpdf", [theta, alpha]) if one_vector(views) => self.dirichlet(theta, alpha, terms)?,
            ("multinomial_lpmf", [n, theta]) if views[1].shape.array_rank() == 0 && terms.keep(0b10) => {
                self.multinomial(n, theta, terms)?
            }
            _ => None,
        };
        if let Some(result) = known {
            return self.symbols(&[result], Shape::SCALAR);
        }
        let shapes = views.iter().map(|v| v.shape).collect();
        let varies = views.iter().map(|&view| self.is_symbolic(view)).collect();
        let arguments: Refs = lists.iter().flatten().copied().collect();
        let results = self.graph().call(ContainerCall::Density { density, shapes, terms, varies }, &arguments);
        self.symbols(&results, Shape::SCALAR)
    }

    /// `log θ_y`, where θ is a simplex.
    fn categorical(&mut self, y: Ref, theta: &Refs) -> Run<Option<Ref>> {
        let log = unary_named("log")?;
        let Some(chosen) = element(self.graph(), y, theta) else { return Ok(None) };
        self.guard_simplex(theta);
        Ok(Some(self.graph().unary(log, chosen)))
    }

    /// The list holds only where this is a simplex.
    fn guard_simplex(&mut self, theta: &Refs) {
        if self.tracer.as_ref().is_some_and(|tracer| tracer.simplexes.contains(theta)) {
            return;
        }
        let graph = self.graph();
        let (total, zero) = (graph.sum(theta), graph.constant(0.0));
        let (low, high) = (graph.constant(1.0 - SIMPLEX_TOLERANCE), graph.constant(1.0 + SIMPLEX_TOLERANCE));
        let mut conditions = vec![graph.compare(Comparison::GreaterEqual, total, low)];
        conditions.push(graph.compare(Comparison::LessEqual, total, high));
        conditions.extend(theta.iter().map(|&x| graph.compare(Comparison::GreaterEqual, x, zero)));
        conditions.into_iter().for_each(|condition| self.traced_guard(condition));
    }

    /// `log Γ(Σ α) − Σ log Γ(α) + Σ (α − 1) log θ`
    fn dirichlet(&mut self, theta: &Refs, alpha: &Refs, terms: Terms) -> Run<Option<Ref>> {
        if theta.len() != alpha.len() || !terms.keep(0b11) {
            return Ok(None);
        }
        let (log, lgamma) = (unary_named("log")?, unary_named("lgamma")?);
        self.guard_simplex(theta);
        for &a in alpha {
            let graph = self.graph();
            let zero = graph.constant(0.0);
            let positive = graph.compare(Comparison::Greater, a, zero);
            self.traced_guard(positive);
        }
        let graph = self.graph();
        let one = graph.constant(1.0);
        let less: Refs = alpha.iter().map(|&a| graph.arithmetic(Subtract, a, one)).collect();
        let logs: Refs = theta.iter().map(|&x| graph.unary(log, x)).collect();
        let mut result = graph.dot(&less, &logs);
        if terms.keep(0b10) {
            let total = graph.sum(alpha);
            let all: Refs = alpha.iter().map(|&a| graph.unary(lgamma, a)).collect();
            let (first, rest) = (graph.unary(lgamma, total), graph.sum(&all));
            let constant = graph.arithmetic(Subtract, first, rest);
            result = graph.arithmetic(Add, result, constant);
        }
        Ok(Some(result))
    }

    /// `log Γ(Σ n + 1) − Σ log Γ(n + 1) + Σ n log θ`
    fn multinomial(&mut self, n: &Refs, theta: &Refs, terms: Terms) -> Run<Option<Ref>> {
        let counts: Option<Vec<f64>> = n.iter().map(|&n| self.graph().known(n)).collect();
        let Some(counts) = counts.filter(|counts| counts.len() == theta.len() && counts.iter().all(|&n| n >= 0.0))
        else {
            return Ok(None);
        };
        let (log, lgamma) = (unary_named("log")?, unary_named("lgamma")?);
        self.guard_simplex(theta);
        let graph = self.graph();
        // 0 log 0 is 0.
        let (seen, logs): (Refs, Refs) = n
            .iter()
            .zip(theta)
            .zip(&counts)
            .filter(|(_, count)| **count > 0.0)
            .map(|((&n, &x), _)| (n, graph.unary(log, x)))
            .unzip();
        let mut result = if seen.is_empty() { graph.constant(0.0) } else { graph.dot(&seen, &logs) };
        if terms.keep(0) {
            let factorial = |n: f64| {
                let mut y = [0.0];
                (lgamma.value)(&[n + 1.0], &mut y);
                y[0]
            };
            let constant = factorial(counts.iter().sum()) - counts.iter().map(|&n| factorial(n)).sum::<f64>();
            let constant = graph.constant(constant);
            result = graph.arithmetic(Add, result, constant);
        }
        Ok(Some(result))
    }

    /// With s(x) = 1/(1 + e⁻ˣ): `log(1 − s(η − c₁))`, `log(s(η − c_{y−1}) − s(η − c_y))`, `log s(η − c_{K−1})`.
    fn ordered_logistic(&mut self, y: Ref, eta: Ref, cuts: &Refs) -> Run<Option<Ref>> {
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the range is checked")]
        let y = match self.graph().known(y) {
            Some(y) if y >= 1.0 && y <= crate::memory::cast(cuts.len() + 1).into() => y as usize,
            _ => return Ok(None),
        };
        for pair in cuts.windows(2) {
            let rising = self.graph().compare(Comparison::Less, pair[0], pair[1]);
            self.traced_guard(rising);
        }
        let log_inv_logit = unary_named("log_inv_logit")?;
        let graph = self.graph();
        let below = (y > 1).then(|| graph.arithmetic(Subtract, eta, cuts[y - 2]));
        let above = (y <= cuts.len()).then(|| graph.arithmetic(Subtract, cuts[y - 1], eta));
        Ok(Some(match (below, above) {
            (Some(below), None) => graph.unary(log_inv_logit, below),
            (None, Some(above)) => graph.unary(log_inv_logit, above),
            (Some(below), Some(above)) => {
                // log(s(a) − s(b)) = log s(a) + log s(−b) + log(1 − e^{b − a}) with a = η − c_{y−1}, b = η − c_y
                let log1m_exp = unary_named("log1m_exp")?;
                let gap = graph.arithmetic(Subtract, cuts[y - 2], cuts[y - 1]);
                let terms = [graph.unary(log_inv_logit, below), graph.unary(log_inv_logit, above)];
                let both = graph.arithmetic(Add, terms[0], terms[1]);
                let rest = graph.unary(log1m_exp, gap);
                graph.arithmetic(Add, both, rest)
            }
            (None, None) => return Ok(None),
        }))
    }
}

/// Whether all arguments are single containers, not arrays of them.
fn one_vector(views: &[View]) -> bool {
    views.iter().all(|view| view.shape.array_rank() == 0)
}

/// The element that a constant index picks.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "an index that is out of range finds nothing"
)]
fn element(graph: &Graph, index: Ref, xs: &Refs) -> Option<Ref> {
    let at = graph.known(index)?;
    if at >= 1.0 { xs.get(at as usize - 1).copied() } else { None }
}

fn running(graph: &mut Graph, xs: &Refs) -> Refs {
    let mut sum = None;
    let each = xs.iter().map(|&x| {
        let next = sum.map_or(x, |sum| graph.arithmetic(Add, sum, x));
        sum = Some(next);
        next
    });
    each.collect()
}

fn scaled(graph: &mut Graph, matrix: &Refs, factor: impl Fn(usize) -> Ref) -> Refs {
    matrix.iter().enumerate().map(|(k, &x)| graph.arithmetic(Multiply, factor(k), x)).collect()
}

/// The products of the rows, or columns, of two matrices.
fn dots(graph: &mut Graph, by_row: bool, shape: Shape, a: &Refs, b: &Refs) -> Refs {
    let (rows, columns) = (shape.rows(), shape.columns());
    let (count, inner) = if by_row { (rows, columns) } else { (columns, rows) };
    let pick = |m: &Refs, i: usize| -> Refs {
        (0..inner).map(|k| if by_row { m[i + k * rows] } else { m[k + i * rows] }).collect()
    };
    (0..count).map(|i| graph.dot(&pick(a, i), &pick(b, i))).collect()
}

/// `M Mᵀ`, or `Mᵀ M`
fn crossed(graph: &mut Graph, m: &Refs, (rows, columns): (usize, usize), turned: bool) -> Refs {
    let (n, inner) = if turned { (columns, rows) } else { (rows, columns) };
    let line =
        |i: usize| -> Refs { (0..inner).map(|k| if turned { m[k + i * rows] } else { m[i + k * rows] }).collect() };
    let pairs = (0..n).flat_map(|j| (0..n).map(move |i| (i.min(j), i.max(j))));
    pairs.map(|(i, j)| graph.dot(&line(i), &line(j))).collect()
}
