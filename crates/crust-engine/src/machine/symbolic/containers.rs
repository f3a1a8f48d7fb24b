//! Functions and densities of containers as operations on their elements, or as calls.

use crust_math::density::Terms;
use crust_math::functions::{Cell, Shape, VectorDensity, VectorFunction};
use crust_stan::ast::SpecialType;

use super::{Refs, unary_named};
use crate::code::{Comparison, Constraint};
use crate::density::Scalar;
use crate::flat::Function;
use crate::ir::{ContainerCall, Graph, Ref, ScalarCall};
use crate::kernels::arithmetic::Arithmetic::{Add, Divide, Multiply, Subtract};
use crate::machine::regions::is_guarded;
use crate::machine::value::View;
use crate::machine::{Machine, Run, Stop};

/// How far the sum of a simplex may be from 1.
const SIMPLEX_TOLERANCE: f64 = 1e-8;

/// Containers with more numbers are summed up by a call.
const LONGEST_SUMMARY: usize = 32;

/// Matrices with more elements are multiplied by the machine, or by a call.
const MOST_ELEMENTS: usize = 20_000;

/// How much longer an outcome of an ordered distribution makes a list.
const PER_OUTCOME: usize = 24;

/// Numbers whose squares of distances from their mean add up to less are equal.
const EQUAL: f64 = 1e-20;

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
            ("csr_matrix_times_vector", [_, _, w, v, u, b]) => self.sparse_product(w, v, u, b),
            ("tcrossprod", [m]) => {
                Some(crossed(self.graph(), m, (views[0].shape.rows(), views[0].shape.columns()), false))
            }
            ("crossprod", [m]) => {
                Some(crossed(self.graph(), m, (views[0].shape.rows(), views[0].shape.columns()), true))
            }
            (name, lists) => match self.summary(name, lists)? {
                Some(result) => Some(Refs::from_slice(&[result])),
                None => self.dense(name, views)?,
            },
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

    /// A function that makes one number of containers.
    fn summary(&mut self, name: &str, lists: &[Refs]) -> Run<Option<Ref>> {
        let sqrt = unary_named("sqrt")?;
        let short = |x: &Refs| !x.is_empty() && x.len() <= LONGEST_SUMMARY;
        Ok(match (name, lists) {
            ("squared_distance", [a, b]) if short(a) => Some(squared_distance(self.graph(), a, b)),
            // Where points are the same the derivative of the root is 0 here, and so is that of the distance.
            ("distance", [a, b]) if short(a) => {
                let square = squared_distance(self.graph(), a, b);
                Some(self.graph().unary(sqrt, square))
            }
            ("prod", [x]) if short(x) => {
                let graph = self.graph();
                x.iter().copied().reduce(|product, x| graph.arithmetic(Multiply, product, x))
            }
            // Of equal numbers the first one.
            ("min", [x]) if short(x) => Some(extreme(self.graph(), Comparison::Less, x)),
            ("max", [x]) if short(x) => Some(extreme(self.graph(), Comparison::Greater, x)),
            ("variance", [x]) if short(x) && x.len() > 1 => {
                let squares = squares(self.graph(), x);
                Some(by(self.graph(), squares, x.len() - 1))
            }
            ("sd", [x]) if short(x) && x.len() > 1 => {
                let squares = squares(self.graph(), x);
                // Where all numbers are equal there is a derivative by definition only.
                let least = self.graph().constant(EQUAL);
                let differ = self.graph().compare(Comparison::GreaterEqual, squares, least);
                self.traced_guard(differ);
                let variance = by(self.graph(), squares, x.len() - 1);
                Some(self.graph().unary(sqrt, variance))
            }
            _ => None,
        })
    }

    /// A matrix in compressed rows times a vector: a product of short rows each.
    fn sparse_product(&mut self, w: &Refs, v: &Refs, u: &Refs, b: &Refs) -> Option<Refs> {
        if w.len() > MOST_ELEMENTS {
            return None;
        }
        let graph = self.graph();
        graph.lengthen(3 * w.len());
        let columns: Option<Refs> = v.iter().map(|&column| element(graph, column, b)).collect();
        let columns = columns?;
        let ends: Vec<f64> = u.iter().map(|&end| graph.known(end)).collect::<Option<_>>()?;
        let rows = ends.windows(2).map(|ends| {
            let row = position(ends[0])..position(ends[1]);
            let (w, b) = (w.get(row.clone())?, columns.get(row)?);
            Some(if w.is_empty() { graph.constant(0.0) } else { graph.dot(w, b) })
        });
        rows.collect()
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
        self.is_simplex(&results);
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
            ("ordered_logistic_lpmf", [y, eta, cuts]) if views[2].shape.cells() == 1 && terms.keep(0b110) => {
                self.ordered_logistic(y, eta, cuts)?
            }
            ("ordered_logistic_glm_lpmf", [y, x, _, cuts]) if x.len() <= MOST_ELEMENTS && terms.keep(0b1110) => {
                self.graph().lengthen(3 * x.len());
                let eta = self.traced_product(views[1], views[2], None, Shape::vector(views[1].shape.rows()))?;
                let eta = self.operations(eta);
                self.ordered_logistic(y, &eta, cuts)?
            }
            ("dirichlet_lpdf", [theta, alpha]) if one_vector(views) => self.dirichlet(theta, alpha, terms)?,
            ("multinomial_lpmf", [n, theta]) if views[1].shape.array_rank() == 0 && terms.keep(0b10) => {
                self.multinomial(n, theta, terms)?
            }
            ("wiener_lpdf", [_, _, _, _, _]) => self.passage_times(views, terms)?,
            (name, _) => self.elliptical(name, views, terms)?,
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

    /// First passage times, each for itself.
    fn passage_times(&mut self, views: &[View], terms: Terms) -> Run<Option<Ref>> {
        let count = views.iter().map(|view| view.block.count()).max().unwrap_or(0);
        if count == 0 || !terms.keep(u32::MAX) || views.iter().any(|view| ![1, count].contains(&view.block.count())) {
            return Ok(None);
        }
        self.graph().lengthen(PER_OUTCOME * count);
        let call = ScalarCall { function: Function::Density(Scalar::passage()), terms };
        let all = self.traced_map(views, Shape::vector(count), |graph, x| graph.function(call, x))?;
        let all = self.operations(all);
        Ok(Some(self.graph().sum(&all)))
    }

    /// `log θ_y`, where θ is a simplex.
    fn categorical(&mut self, y: Ref, theta: &Refs) -> Run<Option<Ref>> {
        let log = unary_named("log")?;
        let Some(chosen) = element(self.graph(), y, theta) else { return Ok(None) };
        self.guard_simplex(theta);
        Ok(Some(self.graph().unary(log, chosen)))
    }

    /// A simplex by construction: nobody has to check it.
    pub(in crate::machine) fn is_simplex(&mut self, theta: &Refs) {
        if let Some(tracer) = &mut self.tracer {
            tracer.simplexes.insert(theta.clone());
        }
    }

    /// The list holds only where a value fits the special type that it was declared with.
    pub(in crate::machine) fn traced_special(&mut self, constraint: &Constraint, view: View) -> Run<()> {
        if !is_guarded(constraint) {
            return Err(Stop::LanesUnfit);
        }
        let all = self.operations(view);
        for cell in all.chunks(view.shape.len().checked_div(view.shape.cells()).unwrap_or(0).max(1)) {
            let cell = Refs::from_slice(cell);
            if let Constraint::Special(SpecialType::Simplex) = constraint {
                self.guard_simplex(&cell);
                continue;
            }
            for pair in cell.windows(2) {
                let rising = self.graph().compare(Comparison::Less, pair[0], pair[1]);
                self.traced_guard(rising);
            }
            if let Constraint::Special(SpecialType::PositiveOrdered) = constraint {
                let graph = self.graph();
                let zero = graph.constant(0.0);
                let positive = graph.compare(Comparison::GreaterEqual, cell[0], zero);
                self.traced_guard(positive);
            }
        }
        Ok(())
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
        graph.own_logs.extend(&logs);
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
        graph.own_logs.extend(&logs);
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

    /// The log probabilities of outcomes with one set of cuts.
    fn ordered_logistic(&mut self, ys: &Refs, etas: &Refs, cuts: &Refs) -> Run<Option<Ref>> {
        let n = ys.len().max(etas.len());
        let fits = |list: &Refs| list.len() == n || list.len() == 1;
        let most = crate::memory::cast(cuts.len() + 1).into();
        let outcomes: Option<Refs> = ys.iter().map(|&y| self.outcome(y, most)).collect();
        let (Some(outcomes), true, true, false) = (outcomes, fits(ys), fits(etas), cuts.is_empty()) else {
            return Ok(None);
        };
        for pair in cuts.windows(2) {
            let rising = self.graph().compare(Comparison::Less, pair[0], pair[1]);
            self.traced_guard(rising);
        }
        // The machine would go through the outcomes one by one, too.
        self.graph().lengthen(n * PER_OUTCOME);
        let of = |list: &Refs, i: usize| list[if list.len() == 1 { 0 } else { i }];
        let mut all = Refs::new();
        for i in 0..n {
            all.push(self.ordered_outcome(of(&outcomes, i) as usize, of(etas, i), cuts)?);
        }
        Ok(Some(self.graph().sum(&all)))
    }

    /// What a constant outcome is, if that is in its range.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the range is checked")]
    fn outcome(&mut self, y: Ref, most: f64) -> Option<u32> {
        self.graph().known(y).filter(|y| (1.0..=most).contains(y)).map(|y| y as u32)
    }

    /// With s(x) = 1/(1 + e⁻ˣ): `log(1 − s(η − c₁))`, `log(s(η − c_{y−1}) − s(η − c_y))`, `log s(η − c_{K−1})`.
    fn ordered_outcome(&mut self, y: usize, eta: Ref, cuts: &Refs) -> Run<Ref> {
        let (log_inv_logit, log1m_exp) = (unary_named("log_inv_logit")?, unary_named("log1m_exp")?);
        let graph = self.graph();
        let below = (y > 1).then(|| graph.arithmetic(Subtract, eta, cuts[y - 2]));
        let above = (y <= cuts.len()).then(|| graph.arithmetic(Subtract, cuts[y - 1], eta));
        let mut one = |x: Ref| graph.unary(log_inv_logit, x);
        match (below, above) {
            (Some(below), Some(above)) => {
                // log(s(a) − s(b)) = log s(a) + log s(−b) + log(1 − e^{b − a}) with a = η − c_{y−1}, b = η − c_y
                let terms = [one(below), one(above)];
                let gap = graph.arithmetic(Subtract, cuts[y - 2], cuts[y - 1]);
                let both = graph.arithmetic(Add, terms[0], terms[1]);
                let rest = graph.unary(log1m_exp, gap);
                Ok(graph.arithmetic(Add, both, rest))
            }
            (Some(end), None) | (None, Some(end)) => Ok(one(end)),
            (None, None) => Err(Stop::LanesUnfit),
        }
    }
}

/// Whether all arguments are single containers, not arrays of them.
fn one_vector(views: &[View]) -> bool {
    views.iter().all(|view| view.shape.array_rank() == 0)
}

/// The element that a constant index picks.
fn element(graph: &Graph, index: Ref, xs: &Refs) -> Option<Ref> {
    xs.get(position(graph.known(index)?)).copied()
}

/// An index counted from 0.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "below the range nothing is found")]
fn position(index: f64) -> usize {
    if index >= 1.0 { index as usize - 1 } else { usize::MAX }
}

/// `Σ (a − b)²`
fn squared_distance(graph: &mut Graph, a: &Refs, b: &Refs) -> Ref {
    let differences: Refs = a.iter().zip(b).map(|(&a, &b)| graph.arithmetic(Subtract, a, b)).collect();
    graph.dot(&differences, &differences)
}

/// `Σ (x − m)²`, m the mean.
fn squares(graph: &mut Graph, x: &Refs) -> Ref {
    let sum = graph.sum(x);
    let mean = by(graph, sum, x.len());
    let means: Refs = x.iter().map(|_| mean).collect();
    squared_distance(graph, x, &means)
}

/// `x / n`
fn by(graph: &mut Graph, x: Ref, n: usize) -> Ref {
    let n = graph.constant(crate::memory::cast(n).into());
    graph.arithmetic(Divide, x, n)
}

/// The first number that no other one comes before.
fn extreme(graph: &mut Graph, before: Comparison, x: &Refs) -> Ref {
    let mut found = x[0];
    for &x in &x[1..] {
        let better = graph.compare(before, x, found);
        found = graph.select(better, x, found);
    }
    found
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
