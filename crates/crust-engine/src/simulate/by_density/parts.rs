//! Elements of the outcome that a sum over components couples.
//!
//! A discrete parameter that was summed out by hand is a term log Σₖ exp(Eₖ(y)) of the target: a change point, the class
//! of a subject, the cluster of a row, the last state of a hidden Markov model. Its elements depend on each other, but
//! within a component they may not:
//!
//! > Eₖ(y) = cₖ + Σₑ gₖₑ(yₑ),
//!
//! so that the component has the weight Zₖ = exp(cₖ) Πₑ ∫ exp(gₖₑ), and given the component elements are independent. So
//! the component is drawn, then each element. That Eₖ is such a sum is looked at before, and again at every outcome that
//! is drawn: there the program itself must give all Eₖ that the sum says. Real elements may also be normal together
//! within a component ([`super::normal`]).

use std::collections::{BTreeMap, HashMap};

use crust_math::random::Stream;
use crust_stan::span::Span;

use super::super::SimulateError;
use super::super::noted::log_sum_exp;
use super::counts::{self, Start, walk};
use super::line::{Along, Landmarks, Search, lines as lines_of};
use super::normal::{MOST, Normal, normals};
use super::{Domain, Table};
use crate::machine::Rejection;

/// Elements that are coupled by one sum over components; or independent ones, where there is no such sum.
#[derive(Clone, Debug)]
pub struct Mixed {
    pub elements: Vec<usize>,
    pub group: usize,
    pub mixture: Option<u64>,
    /// Whether elements are normal together within a component, and not independent.
    pub normal: bool,
}

/// An element of a group with another value than at the base.
#[derive(Clone, Copy, Debug)]
pub struct Change {
    pub mixed: usize,
    pub element: usize,
    pub value: f64,
    /// Another element, with its value.
    pub also: Option<(usize, f64)>,
}

impl Change {
    fn of(mixed: usize, element: usize, value: f64) -> Self {
        Self { mixed, element, value, also: None }
    }

    pub fn apply(&self, numbers: &mut [f64]) {
        numbers[self.element] = self.value;
        self.also.iter().for_each(|(e, x)| numbers[*e] = *x);
    }
}

/// Log densities by component.
pub type Components = Vec<f64>;

/// Groups of elements whose components can be evaluated.
pub trait Parted {
    /// The components of a group where one of its elements is changed; none where the program refuses that.
    fn changed(&mut self, changes: &[Change]) -> Result<Vec<Components>, SimulateError>;
    /// The components of all groups at an outcome.
    fn whole(&mut self, numbers: &[f64]) -> Result<Vec<Components>, SimulateError>;
}

/// Components that are so much less likely than others do not count.
const NEGLIGIBLE: f64 = 40.0;

/// Functions whose values are kept at a time, times components.
const MOST_KEPT: usize = 20_000;

/// How well the sum over elements and the program agree, relative to the size of what is added up.
const DIGITS: f64 = 1e-8;

/// Values at which components are compared, in steps or in spreads of the outcome.
const PROBES: [f64; 6] = [1.0, -1.0, 2.0, 0.37, -0.71, 3.3];

/// The distribution of a group of elements.
#[derive(Debug)]
pub struct Distribution {
    pub elements: Vec<usize>,
    /// At the base.
    start: Components,
    base: Vec<f64>,
    /// log Zₖ.
    log_weights: Components,
    within: Within,
}

/// Distributions given the component.
#[derive(Debug)]
enum Within {
    /// The table of each element, by component.
    Independent {
        table_of: Vec<Vec<usize>>,
        tables: Vec<Table>,
    },
    Normal(Vec<Option<Normal>>),
}

impl Distribution {
    pub fn log_sum(&self) -> f64 {
        log_sum_exp(&self.log_weights)
    }

    /// The component, then each element.
    pub fn draw(&self, stream: &mut Stream) -> Vec<f64> {
        let listed: Vec<(Vec<f64>, f64)> =
            (0_u32..).zip(&self.log_weights).map(|(k, w)| (vec![f64::from(k)], *w)).collect();
        let (chosen, _) = counts::draw(&listed, stream);
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the number of a component")]
        let k = chosen.first().map_or(0, |k| *k as usize);
        match &self.within {
            Within::Independent { table_of, tables } => {
                let one = |own: &Vec<usize>| match &tables[own[k]] {
                    Table::Listed(list) => counts::draw(list, stream).0.first().copied().unwrap_or(f64::NAN),
                    Table::Line(line) => line.draw(stream),
                };
                table_of.iter().map(one).collect()
            }
            Within::Normal(normals) => {
                let Some(normal) = &normals[k] else { return vec![f64::NAN; self.elements.len()] };
                normal.draw(stream).iter().zip(&self.base).map(|(d, b)| b + d).collect()
            }
        }
    }
}

/// The distributions of all groups at one point of the parameters.
pub fn distributions(
    all: &mut dyn Parted,
    groups: &[Mixed],
    (base, domains): (&[f64], &[Domain]),
    landmarks: &Landmarks,
) -> Result<Vec<Distribution>, SimulateError> {
    if groups.is_empty() {
        return Ok(Vec::new());
    }
    let start = all.whole(base)?;
    if start.iter().any(|components| has_unseen(components)) {
        return Err(unseen());
    }
    let mut functions = Functions { all, start: &start, lines: Vec::new(), known: HashMap::new() };
    let alone = || groups.iter().enumerate().filter(|(_, mixed)| !mixed.normal);
    let probes: Vec<Change> = alone()
        .flat_map(|(g, mixed)| mixed.elements.iter().map(move |e| (g, *e)))
        .flat_map(|(g, e)| probes(base[e], domains[e], landmarks).into_iter().map(move |x| Change::of(g, e, x)))
        .collect();
    functions.fetch(&probes)?;
    let mut table_of: BTreeMap<usize, Vec<Vec<usize>>> = BTreeMap::new();
    for (g, mixed) in alone() {
        let of = |e: &usize| functions.classes((g, *e), &probes_of(*e, base, domains, landmarks));
        table_of.insert(g, mixed.elements.iter().map(of).collect());
    }
    let mut tables: Vec<Option<Table>> = functions.tables(base, domains, landmarks)?.into_iter().map(Some).collect();
    let mut found = Vec::new();
    for (g, mixed) in groups.iter().enumerate() {
        let (elements, start) = (mixed.elements.clone(), start[g].clone());
        let (log_weights, within) = match table_of.remove(&g) {
            Some(own) => independent(&start, &own, &mut tables),
            None => together(&mut *functions.all, (g, mixed), (base, &start), landmarks)?,
        };
        let base = elements.iter().map(|e| base[*e]).collect();
        found.push(Distribution { elements, start, base, log_weights, within });
    }
    Ok(found)
}

/// The weights of components whose elements are independent. Tables of a group lie one after the other.
fn independent(start: &Components, own: &[Vec<usize>], tables: &mut [Option<Table>]) -> (Components, Within) {
    let first = own.iter().flatten().copied().min().unwrap_or(0);
    let last = own.iter().flatten().copied().max().unwrap_or(0);
    let tables: Vec<Table> = tables[first..=last].iter_mut().filter_map(Option::take).collect();
    let sums: Vec<f64> = tables.iter().map(log_total).collect();
    let table_of: Vec<Vec<usize>> = own.iter().map(|list| list.iter().map(|t| t - first).collect()).collect();
    let weight = |(k, start): (usize, &f64)| start + table_of.iter().map(|t| sums[t[k]]).sum::<f64>();
    (start.iter().enumerate().map(weight).collect(), Within::Independent { table_of, tables })
}

/// The same for components whose elements are normal together.
fn together(
    all: &mut dyn Parted,
    (g, mixed): (usize, &Mixed),
    (base, start): (&[f64], &Components),
    landmarks: &Landmarks,
) -> Result<(Components, Within), SimulateError> {
    let normals = normals(all, (g, &mixed.elements), (base, start), landmarks.spread())?;
    let weight = |(start, normal): (&f64, &Option<Normal>)| normal.as_ref().map(|normal| start + normal.log_integral);
    let weights: Option<Components> = start.iter().zip(&normals).map(weight).collect();
    // A component that is not concave has no integral; others are lost in rounding where parameters are far out.
    Ok((weights.ok_or_else(nowhere)?, Within::Normal(normals)))
}

/// Values at which the functions of an element are compared.
fn probes(at: f64, domain: Domain, landmarks: &Landmarks) -> Vec<f64> {
    let probe = |p: &f64| if domain.integer { at + p.trunc() } else { at + landmarks.spread() * p };
    PROBES.iter().map(probe).filter(|x| *x >= domain.lower && *x <= domain.upper).collect()
}

fn probes_of(e: usize, base: &[f64], domains: &[Domain], landmarks: &Landmarks) -> Vec<f64> {
    probes(base[e], domains[e], landmarks)
}

/// Whether a component has no density at the given outcome where others have one. What it is elsewhere, and with which
/// weight, does not show then.
fn has_unseen(components: &[f64]) -> bool {
    components.contains(&f64::NEG_INFINITY)
}

fn unseen() -> SimulateError {
    let why =
        "a component of a sum over components has no density at the given outcome, so that its weight is not known";
    SimulateError::NoDensity { name: "the outcome".to_owned(), why: why.to_owned() }
}

/// The given outcome has no density.
fn nowhere() -> SimulateError {
    let message = "the likelihood of the given outcome is zero, or too flat to be normalised".to_owned();
    SimulateError::Rejected(Rejection { message, span: Span::default() })
}

fn log_total(table: &Table) -> f64 {
    match table {
        Table::Listed(list) => counts::log_sum(list),
        Table::Line(line) => line.log_integral(),
    }
}

/// Whether the components of an outcome are what the distributions say: they are right there.
pub fn agree(all: &mut dyn Parted, found: &[Distribution], numbers: &[f64]) -> Result<bool, SimulateError> {
    let alone = found.iter().enumerate().filter(|(_, d)| matches!(d.within, Within::Independent { .. }));
    let changes: Vec<Change> =
        alone.flat_map(|(g, d)| d.elements.iter().map(move |e| Change::of(g, *e, numbers[*e]))).collect();
    let mut alone = all.changed(&changes)?.into_iter();
    let whole = all.whole(numbers)?;
    for (distribution, whole) in found.iter().zip(&whole) {
        let start = &distribution.start;
        let (mut expected, mut size) = (start.clone(), vec![0.0; start.len()]);
        match &distribution.within {
            Within::Independent { .. } => {
                for components in alone.by_ref().take(distribution.elements.len()) {
                    for (k, (x, start)) in components.iter().zip(start).enumerate().filter(|(_, (_, s))| s.is_finite())
                    {
                        expected[k] += x - start;
                        size[k] += (x - start).abs();
                    }
                }
            }
            Within::Normal(normals) => {
                let from: Vec<f64> =
                    distribution.elements.iter().zip(&distribution.base).map(|(e, b)| numbers[*e] - b).collect();
                for (k, normal) in normals.iter().enumerate() {
                    let Some((log, own)) = normal.as_ref().map(|normal| normal.log_density(&from)) else { continue };
                    (expected[k], size[k]) = (expected[k] + log, own);
                }
            }
        }
        if !same(whole, &expected, &size) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Whether elements are normal together within the components of a sum, as far as can be seen at some places.
pub fn is_normal(
    all: &mut dyn Parted,
    mixed: &Mixed,
    (base, domains): (&[f64], &[Domain]),
    stream: &mut Stream,
) -> Result<bool, SimulateError> {
    let free = |e: &usize| !domains[*e].integer && domains[*e].lower.is_infinite() && domains[*e].upper.is_infinite();
    if mixed.elements.len() > MOST || !mixed.elements.iter().all(free) {
        return Ok(false);
    }
    let landmarks = Landmarks::of(mixed.elements.iter().map(|e| base[*e]).collect());
    let found = match distributions(all, std::slice::from_ref(mixed), (base, domains), &landmarks) {
        Err(SimulateError::Endless | SimulateError::Rejected(_) | SimulateError::NoDensity { .. }) => return Ok(false),
        other => other?,
    };
    for scale in [0.1, 0.4, 1.0, 1.0, 3.0, 10.0] {
        let mut numbers = base.to_vec();
        mixed.elements.iter().for_each(|e| numbers[*e] += scale * landmarks.spread() * stream.standard_normal());
        if !agree(all, &found, &numbers)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Whether components that count are the same.
pub fn same(found: &[f64], expected: &[f64], size: &[f64]) -> bool {
    let top = found.iter().chain(expected).copied().fold(f64::NEG_INFINITY, f64::max);
    let close = |((a, b), size): ((&f64, &f64), &f64)| {
        let counts = a.max(*b) > top - NEGLIGIBLE;
        !counts || (a - b).abs() <= DIGITS * (1.0 + a.abs() + size)
    };
    found.len() == expected.len() && top.is_finite() && found.iter().zip(expected).zip(size).all(close)
}

/// gₖₑ as functions of one number each: components of an element whose functions are the same are one.
struct Functions<'a> {
    all: &'a mut dyn Parted,
    start: &'a [Components],
    /// Group, element and component of each function.
    lines: Vec<(usize, usize, usize)>,
    /// What was evaluated, by element and value.
    known: HashMap<(usize, u64), Components>,
}

impl Functions<'_> {
    /// The functions of an element, by component; new ones are added.
    fn classes(&mut self, (mixed, element): (usize, usize), values: &[f64]) -> Vec<usize> {
        let start = &self.start[mixed];
        let function = |k: usize| -> Vec<f64> {
            values.iter().map(|x| difference(self.known[&(element, x.to_bits())][k], start[k])).collect()
        };
        let alike = |a: &[f64], b: &[f64]| {
            a.iter().zip(b).all(|(a, b)| a.total_cmp(b).is_eq() || (a - b).abs() <= 1e-10 * (1.0 + a.abs()))
        };
        let mut classes: Vec<(Vec<f64>, usize)> = Vec::new();
        let mut of = Vec::new();
        for k in 0..start.len() {
            let own = function(k);
            let known = classes.iter().find(|(other, _)| alike(&own, other)).map(|(_, line)| *line);
            of.push(known.unwrap_or_else(|| {
                self.lines.push((mixed, element, k));
                classes.push((own, self.lines.len() - 1));
                self.lines.len() - 1
            }));
        }
        of
    }

    fn fetch(&mut self, changes: &[Change]) -> Result<(), SimulateError> {
        let mut new: HashMap<(usize, u64), Change> = HashMap::new();
        for change in changes {
            let key = (change.element, change.value.to_bits());
            if !self.known.contains_key(&key) {
                new.insert(key, *change);
            }
        }
        let mut list: Vec<((usize, u64), Change)> = new.into_iter().collect();
        list.sort_by_key(|(key, _)| *key);
        let found = self.all.changed(&list.iter().map(|(_, change)| *change).collect::<Vec<_>>())?;
        self.known.extend(list.into_iter().map(|(key, _)| key).zip(found));
        Ok(())
    }

    /// The distributions of all functions, some at a time, since all that was evaluated is kept until they are there.
    fn tables(&mut self, base: &[f64], domains: &[Domain], landmarks: &Landmarks) -> Result<Vec<Table>, SimulateError> {
        let widest = self.start.iter().map(Vec::len).max().unwrap_or(1).max(1);
        let lines: Vec<usize> = (0..self.lines.len()).collect();
        let mut all = Vec::new();
        for some in lines.chunks((MOST_KEPT / widest).max(1)) {
            let (mut starts, mut searches) = (Vec::new(), Vec::new());
            for line in some {
                let (_, e, _) = self.lines[*line];
                let (at, domain) = (base[e], domains[e]);
                if domain.integer {
                    starts.push(Start { line: *line, at, value: 0.0, domain });
                } else {
                    searches.push(Search::new(*line, domain, at, 0.0));
                }
            }
            let mut lists = walk(self, &starts)?.into_iter();
            let mut found =
                if searches.is_empty() { Vec::new() } else { lines_of(self, searches, landmarks)? }.into_iter();
            let table = |line: &usize| {
                let integer = domains[self.lines[*line].1].integer;
                if integer { lists.next().map(Table::Listed) } else { found.next().map(Table::Line) }
            };
            all.extend(some.iter().filter_map(table));
            self.known.clear();
        }
        Ok(all)
    }
}

fn difference(x: f64, start: f64) -> f64 {
    if x.is_nan() || start == f64::NEG_INFINITY { f64::NEG_INFINITY } else { x - start }
}

impl Along for Functions<'_> {
    fn log_densities(&mut self, requests: &[(usize, f64)]) -> Result<Vec<f64>, SimulateError> {
        let change = |(line, value): &(usize, f64)| {
            let (mixed, element, _) = self.lines[*line];
            Change::of(mixed, element, *value)
        };
        let changes: Vec<Change> = requests.iter().map(change).collect();
        self.fetch(&changes)?;
        let value = |(line, x): &(usize, f64)| {
            let (mixed, element, k) = self.lines[*line];
            self.known
                .get(&(element, x.to_bits()))
                .map_or(f64::NEG_INFINITY, |c| difference(c[k], self.start[mixed][k]))
        };
        Ok(requests.iter().map(value).collect())
    }
}
