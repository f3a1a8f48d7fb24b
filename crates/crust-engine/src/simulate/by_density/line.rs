//! Real numbers: the density along the line, by adaptive quadrature, and draws from it by inverting the integral.

use crust_math::random::Stream;

use super::super::SimulateError;
use super::evaluate::Blocks;
use super::{Domain, Table};

/// Densities below e⁻⁴⁵ of the highest are left out.
const NEGLIGIBLE: f64 = 45.0;

/// The error of the integral of a panel, relative to the whole.
const TOLERANCE: f64 = 1e-9;

/// Panels of one density.
const MOST_PANELS: usize = 4000;

/// How often the ends are moved outwards.
const MOST_STEPS: usize = 40;

/// A panel with the density (relative to the highest) at five points, evenly spaced.
#[derive(Clone, Copy, Debug)]
struct Panel {
    from: f64,
    to: f64,
    at: [f64; 5],
}

impl Panel {
    /// Simpson's rule on both halves, and by how much it differs from that on the whole.
    fn integral(&self) -> (f64, f64) {
        let h = self.to - self.from;
        let [a, b, c, d, e] = self.at;
        let coarse = h / 6.0 * (a + 4.0 * c + e);
        let fine = h / 12.0 * (a + 4.0 * b + 2.0 * c + 4.0 * d + e);
        (fine + (fine - coarse) / 15.0, (fine - coarse).abs() / 15.0)
    }
}

/// The density of a number.
#[derive(Clone, Debug)]
pub struct Line {
    panels: Vec<Panel>,
    /// The integral up to the end of each panel, atoms last.
    cumulative: Vec<f64>,
    /// Values with a probability of their own.
    atoms: Vec<(f64, f64)>,
    /// The logarithm of what densities are relative to.
    scale: f64,
}

impl Line {
    pub fn log_integral(&self) -> f64 {
        self.scale + self.cumulative.last().copied().unwrap_or(0.0).ln()
    }

    /// A draw: the point at which the integral is uniformly distributed.
    pub fn draw(&self, stream: &mut Stream) -> f64 {
        let total = self.cumulative.last().copied().unwrap_or(0.0);
        let u = stream.uniform() * total;
        let at = self.cumulative.partition_point(|c| *c <= u).min(self.cumulative.len().saturating_sub(1));
        let before = if at == 0 { 0.0 } else { self.cumulative[at - 1] };
        match self.panels.get(at) {
            Some(panel) => inside(panel, ((u - before) / (self.cumulative[at] - before)).clamp(0.0, 1.0)),
            None => self.atoms.get(at - self.panels.len()).map_or(f64::NAN, |(x, _)| *x),
        }
    }
}

/// The point of a panel below which lies this part of its integral; the density is a parabola on each half.
fn inside(panel: &Panel, part: f64) -> f64 {
    let h = 0.5 * (panel.to - panel.from);
    let mass = |[a, b, c]: [f64; 3]| h / 6.0 * (a + 4.0 * b + c);
    let [a, b, c, d, e] = panel.at;
    let (left, right) = (mass([a, b, c]), mass([c, d, e]));
    let target = part * (left + right);
    let (start, values, rest) =
        if target < left { (panel.from, [a, b, c], target) } else { (panel.from + h, [c, d, e], target - left) };
    let [p, q, r] = values;
    // ∫ of the parabola through (0, p), (½, q), (1, r)
    let integral = |t: f64| {
        let (linear, square) = (-3.0 * p + 4.0 * q - r, 2.0 * p - 4.0 * q + 2.0 * r);
        h * (p * t + linear * t * t / 2.0 + square * t * t * t / 3.0)
    };
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..52 {
        let middle = 0.5 * (low + high);
        if integral(middle) < rest { low = middle } else { high = middle }
    }
    start + h * 0.5 * (low + high)
}

/// What is known of one density while it is being integrated.
struct Search {
    block: usize,
    domain: Domain,
    /// Points with their log densities.
    points: Vec<(f64, f64)>,
}

impl Search {
    fn top(&self) -> f64 {
        self.points.iter().map(|(_, x)| *x).fold(f64::NEG_INFINITY, f64::max)
    }
}

/// The distributions of all blocks of one real number.
pub fn tables(all: &mut Blocks<'_>, domains: &[Domain]) -> Result<Vec<(Vec<usize>, Table)>, SimulateError> {
    let structure = all.structure;
    let real = |b: &usize| matches!(structure.blocks[*b].elements.as_slice(), [e] if !domains[*e].integer);
    let blocks: Vec<usize> = (0..structure.blocks.len()).filter(real).collect();
    let element = |b: usize| structure.blocks[b].elements[0];
    let mut sorted: Vec<f64> = blocks.iter().map(|b| all.base[element(*b)]).collect();
    sorted.sort_by(f64::total_cmp);
    let (marks, repeated) = landmarks(&sorted);
    let spread = spread(&sorted);
    let mut searches: Vec<Search> = blocks
        .iter()
        .map(|b| {
            let x = all.base[element(*b)];
            Search { block: *b, domain: domains[element(*b)], points: vec![(x, all.at_base(*b))] }
        })
        .collect();
    explore(all, &mut searches, &marks, spread)?;
    let atoms = atoms(all, &mut searches, &repeated, spread)?;
    let panels = integrate(all, &searches)?;
    let mut found = Vec::new();
    for ((search, panels), atoms) in searches.iter().zip(panels).zip(atoms) {
        found.push((vec![element(search.block)], Table::Line(line(search.top(), panels, atoms))));
    }
    Ok(found)
}

fn line(scale: f64, panels: Vec<Panel>, atoms: Vec<(f64, f64)>) -> Line {
    let mut cumulative = Vec::new();
    let mut sum = 0.0;
    for panel in &panels {
        sum += panel.integral().0.max(0.0);
        cumulative.push(sum);
    }
    for (_, x) in &atoms {
        sum += (x - scale).exp();
        cumulative.push(sum);
    }
    Line { panels, cumulative, atoms, scale }
}

/// Quantiles of the given outcome, and values that are in it more than once.
fn landmarks(sorted: &[f64]) -> (Vec<f64>, Vec<f64>) {
    const MARKS: usize = 16;
    let n = sorted.len();
    let mut marks: Vec<f64> = (0..=MARKS).filter_map(|i| sorted.get(i * n.saturating_sub(1) / MARKS).copied()).collect();
    marks.dedup();
    let mut repeated: Vec<f64> = sorted.windows(2).filter(|w| w[0] == w[1]).map(|w| w[0]).collect();
    repeated.dedup();
    repeated.truncate(8);
    (marks, repeated)
}

#[allow(clippy::cast_precision_loss, reason = "sizes are small")]
fn spread(sorted: &[f64]) -> f64 {
    let n = sorted.len().max(1) as f64;
    let mean = sorted.iter().sum::<f64>() / n;
    let sd = (sorted.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n).sqrt();
    if sd > 0.0 { sd } else { mean.abs().max(1.0) }
}

/// Looks where the density is: near the given value at all scales, at landmarks, and farther out until it is negligible.
fn explore(all: &mut Blocks<'_>, searches: &mut [Search], marks: &[f64], spread: f64) -> Result<(), SimulateError> {
    let mut offsets = Vec::new();
    for k in -14..=4 {
        let step = spread * 2.0_f64.powi(k);
        offsets.extend([step, 1.5 * step, -step, -1.5 * step]);
    }
    for offset in &offsets {
        evaluate(all, searches, &mut |s| Some(s.points[0].0 + offset))?;
    }
    for mark in marks {
        evaluate(all, searches, &mut |_| Some(*mark))?;
    }
    for side in [1.0, -1.0] {
        for _ in 0..MOST_STEPS {
            let moved = evaluate(all, searches, &mut |s| {
                let top = s.top();
                let end = s.points.iter().copied().max_by(|a, b| (side * a.0).total_cmp(&(side * b.0)))?;
                let edge = if side > 0.0 { s.domain.upper } else { s.domain.lower };
                let finished = end.1 < top - NEGLIGIBLE || end.0 == edge || top == f64::NEG_INFINITY;
                let away = (end.0 - s.points[0].0).abs().max(spread);
                (!finished).then_some(end.0 + side * away)
            })?;
            if !moved {
                break;
            }
        }
    }
    for search in searches {
        search.points.sort_by(|a, b| a.0.total_cmp(&b.0));
        search.points.dedup_by(|a, b| a.0 == b.0);
    }
    Ok(())
}

/// Evaluates one more point of each density. Points beyond the bounds are moved to them.
fn evaluate(
    all: &mut Blocks<'_>,
    searches: &mut [Search],
    next: &mut dyn FnMut(&Search) -> Option<f64>,
) -> Result<bool, SimulateError> {
    let mut changes = Vec::new();
    let mut who = Vec::new();
    for (i, search) in searches.iter().enumerate() {
        if let Some(x) = next(search) {
            changes.push((search.block, vec![x.clamp(search.domain.lower, search.domain.upper)]));
            who.push(i);
        }
    }
    if changes.is_empty() {
        return Ok(false);
    }
    let found = all.evaluate(&changes)?;
    for ((i, (_, x)), log) in who.into_iter().zip(changes).zip(found) {
        searches[i].points.push((x[0], log));
    }
    Ok(true)
}

type Atoms = Vec<(f64, f64)>;

/// Values that have a probability of their own: the density there is another one than right beside them.
fn atoms(
    all: &mut Blocks<'_>,
    searches: &mut [Search],
    repeated: &[f64],
    spread: f64,
) -> Result<Vec<Atoms>, SimulateError> {
    let mut found: Vec<Atoms> = searches.iter().map(|_| Vec::new()).collect();
    for x in repeated {
        let mut near = Vec::new();
        for offset in [0.0, 1e-9 * spread, -1e-9 * spread, 2e-9 * spread, -2e-9 * spread] {
            let changes: Vec<(usize, Vec<f64>)> = searches.iter().map(|s| (s.block, vec![x + offset])).collect();
            near.push(all.evaluate(&changes)?);
        }
        for (i, atoms) in found.iter_mut().enumerate() {
            let here = near[0][i];
            let sides = [near[1][i], near[2][i]];
            let beyond = [near[3][i], near[4][i]];
            // Beside the point the density is smooth, or there is none at all.
            let smooth = sides.iter().zip(beyond).all(|(a, b)| (a - b).abs() < 1e-4 || (*a == f64::NEG_INFINITY));
            let jumps = sides.iter().all(|a| (here - a).abs() > 1e-3);
            if here > f64::NEG_INFINITY && smooth && jumps {
                atoms.push((*x, here));
            }
        }
    }
    // The density has a hole where an atom is.
    for (search, atoms) in searches.iter_mut().zip(&found) {
        search.points.retain(|(x, _)| !atoms.iter().any(|(a, _)| a == x));
    }
    Ok(found)
}

/// A panel of which two of the five densities are not known yet.
struct Open {
    panel: Panel,
    depth: u32,
}

/// Halves panels until Simpson's rule is right on all of them.
fn integrate(all: &mut Blocks<'_>, searches: &[Search]) -> Result<Vec<Vec<Panel>>, SimulateError> {
    struct Job {
        open: Vec<Open>,
        done: Vec<Panel>,
        total: f64,
        top: f64,
    }
    let mut jobs: Vec<Job> = searches
        .iter()
        .map(|s| {
            let top = s.top();
            let density = |x: f64| (x - top).exp();
            let near = |w: &&[(f64, f64)]| w.iter().any(|p| p.1 > top - NEGLIGIBLE);
            let open = s.points.windows(2).filter(near).map(|w| {
                let at = [density(w[0].1), f64::NAN, f64::NAN, f64::NAN, density(w[1].1)];
                Open { panel: Panel { from: w[0].0, to: w[1].0, at }, depth: 0 }
            });
            Job { open: open.collect(), done: Vec::new(), total: 0.0, top }
        })
        .collect();
    loop {
        // One more point for each density that has an open panel.
        let mut changes = Vec::new();
        let mut who = Vec::new();
        for (i, job) in jobs.iter_mut().enumerate() {
            while let Some(open) = job.open.last() {
                let missing = open.panel.at.iter().position(|x| x.is_nan());
                if let Some(k) = missing {
                    #[allow(clippy::cast_precision_loss, reason = "below five")]
                    let x = open.panel.from + (open.panel.to - open.panel.from) * k as f64 / 4.0;
                    changes.push((searches[i].block, vec![x]));
                    who.push((i, k));
                    break;
                }
                let Some(Open { panel, depth }) = job.open.pop() else { break };
                let (integral, error) = panel.integral();
                let width = panel.to - panel.from;
                let least = 1e-13 * (1.0 + panel.from.abs().max(panel.to.abs()));
                let fine = error <= TOLERANCE * (job.total + integral).max(f64::MIN_POSITIVE);
                if fine || width < least || depth > 60 || job.done.len() > MOST_PANELS {
                    job.total += integral.max(0.0);
                    job.done.push(panel);
                    continue;
                }
                let middle = 0.5 * (panel.from + panel.to);
                let [a, b, c, d, e] = panel.at;
                let left = Panel { from: panel.from, to: middle, at: [a, f64::NAN, b, f64::NAN, c] };
                let right = Panel { from: middle, to: panel.to, at: [c, f64::NAN, d, f64::NAN, e] };
                job.open.push(Open { panel: right, depth: depth + 1 });
                job.open.push(Open { panel: left, depth: depth + 1 });
            }
        }
        if changes.is_empty() {
            break;
        }
        let found = all.evaluate(&changes)?;
        for ((i, k), log) in who.into_iter().zip(found) {
            let job = &mut jobs[i];
            if let Some(open) = job.open.last_mut() {
                open.panel.at[k] = (log - job.top).exp();
            }
        }
    }
    Ok(jobs
        .into_iter()
        .map(|mut job| {
            job.done.sort_by(|a, b| a.from.total_cmp(&b.from));
            job.done
        })
        .collect())
}
