//! Real numbers: the density along the line, by adaptive quadrature, and draws from it by inverting the integral.

use crust_math::random::Stream;

use super::super::SimulateError;
use super::ends::{fold, is_endless};
use super::evaluate::Blocks;
use super::poles::{self, Pole};
use super::{Domain, Table};

/// Log densities along lines.
pub trait Along {
    /// Those of numbered lines at points.
    fn log_densities(&mut self, requests: &[(usize, f64)]) -> Result<Vec<f64>, SimulateError>;
}

/// Densities below e⁻⁴⁵ of the highest are left out.
pub(super) const NEGLIGIBLE: f64 = 45.0;

/// The error of the integral of a panel, relative to the whole. It is that of Simpson's rule, which is then extrapolated.
const TOLERANCE: f64 = 1e-8;

/// Panels of one density.
const MOST_PANELS: usize = 4000;

/// How often a panel is halved.
const MOST_HALVINGS: u32 = 50;

/// How often it is looked closer at peaks.
const MOST_CLIMBS: usize = 60;

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
    /// The integral up to the end of each panel, then of each pole and atom.
    cumulative: Vec<f64>,
    poles: Vec<Pole>,
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
        // A density that is 0 everywhere has no parts.
        let Some(end) = self.cumulative.get(at) else { return f64::NAN };
        let part = ((u - before) / (end - before)).clamp(0.0, 1.0);
        if let Some(panel) = self.panels.get(at) {
            return inside(panel, part);
        }
        let at = at - self.panels.len();
        match self.poles.get(at) {
            Some(pole) => pole.draw(part),
            None => self.atoms.get(at - self.poles.len()).map_or(f64::NAN, |(x, _)| *x),
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

/// A density along a line, and what is known of it while it is being integrated.
pub struct Search {
    /// Its number.
    pub line: usize,
    pub domain: Domain,
    /// Points with their log densities; at first one.
    pub points: Vec<(f64, f64)>,
    /// Whether there is something below, and above, if there are no bounds.
    pub(super) open: [bool; 2],
    /// Points beside which it is infinite.
    pub(super) poles: Vec<Pole>,
}

impl Search {
    pub fn new(line: usize, domain: Domain, at: f64, log_density: f64) -> Self {
        Self { line, domain, points: vec![(at, log_density)], open: [true; 2], poles: Vec::new() }
    }

    /// The largest product of density and distance from a point, the logarithm of which is about that of a mass.
    fn top_mass(&self, from: f64) -> f64 {
        let masses = self.points.iter().map(|(x, log)| log + (x - from).abs().ln());
        masses.filter(|mass| *mass < f64::INFINITY).fold(f64::NEG_INFINITY, f64::max)
    }

    pub(super) fn top(&self) -> f64 {
        self.points.iter().map(|(_, x)| *x).filter(|x| *x < f64::INFINITY).fold(f64::NEG_INFINITY, f64::max)
    }
}

/// The distributions of all blocks of one real number.
pub fn tables(all: &mut Blocks<'_>, domains: &[Domain]) -> Result<Vec<(Vec<usize>, Table)>, SimulateError> {
    let structure = all.structure;
    let real = |b: &usize| matches!(structure.blocks[*b].elements.as_slice(), [e] if !domains[*e].integer);
    let blocks: Vec<usize> = (0..structure.blocks.len()).filter(real).collect();
    let element = |b: usize| structure.blocks[b].elements[0];
    let given: Vec<f64> = blocks.iter().map(|b| all.base[element(*b)]).collect();
    let searches = blocks
        .iter()
        .map(|b| {
            let x = all.base[element(*b)];
            Search::new(*b, domains[element(*b)], x, all.at_base(*b))
        })
        .collect();
    let lines = lines(all, searches, &Landmarks::of(given))?;
    Ok(blocks.into_iter().zip(lines).map(|(b, line)| (vec![element(b)], Table::Line(line))).collect())
}

/// Integrates all densities.
pub fn lines(all: &mut dyn Along, searches: Vec<Search>, landmarks: &Landmarks) -> Result<Vec<Line>, SimulateError> {
    let mut searches = searches;
    explore(all, &mut searches, landmarks)?;
    let mut atoms = atoms(all, &mut searches, landmarks)?;
    poles::find(all, &mut searches, &atoms)?;
    fold(all, &mut searches, &mut atoms, landmarks)?;
    if searches.iter().any(is_endless) {
        return Err(SimulateError::Endless);
    }
    let panels = integrate(all, &searches)?;
    let parts = searches.into_iter().zip(panels).zip(atoms);
    Ok(parts.map(|((search, panels), atoms)| line(search, panels, atoms)).collect())
}

fn line(search: Search, panels: Vec<Panel>, atoms: Vec<(f64, f64)>) -> Line {
    let (top, poles) = (search.top(), search.poles);
    let single = || poles.iter().map(|pole| pole.log).chain(atoms.iter().map(|(_, x)| *x));
    let scale = single().fold(top, f64::max);
    let mut cumulative = Vec::new();
    let mut sum = 0.0;
    for panel in &panels {
        sum += panel.integral().0.max(0.0) * (top - scale).exp();
        cumulative.push(sum);
    }
    for log in single() {
        sum += (log - scale).exp();
        cumulative.push(sum);
    }
    Line { panels, cumulative, poles, atoms, scale }
}

/// What the given outcome says about where numbers lie.
pub struct Landmarks {
    /// Quantiles.
    marks: Vec<f64>,
    /// Values that are in it more than once.
    pub(super) repeated: Vec<f64>,
    spread: f64,
}

impl Landmarks {
    pub fn of(given: Vec<f64>) -> Self {
        const MARKS: usize = 16;
        const MOST_REPEATED: usize = 8;
        let mut sorted = given;
        sorted.sort_by(f64::total_cmp);
        let n = sorted.len();
        let mut marks: Vec<f64> =
            (0..=MARKS).filter_map(|i| sorted.get(i * n.saturating_sub(1) / MARKS).copied()).collect();
        marks.dedup();
        let same = |w: &&[f64]| w[0].total_cmp(&w[1]).is_eq();
        let mut repeated: Vec<f64> = sorted.windows(2).filter(same).map(|w| w[0]).collect();
        repeated.dedup();
        repeated.truncate(MOST_REPEATED);
        #[allow(clippy::cast_precision_loss, reason = "sizes are small")]
        let n = n.max(1) as f64;
        let mean = sorted.iter().sum::<f64>() / n;
        let sd = (sorted.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n).sqrt();
        let spread = if sd > 0.0 { sd } else { mean.abs().max(1.0) };
        Self { marks, repeated, spread }
    }
}

/// Looks where the density is: near the given value at all scales, at landmarks, and farther out until it is
/// negligible.
fn explore(all: &mut dyn Along, searches: &mut [Search], landmarks: &Landmarks) -> Result<(), SimulateError> {
    let spread = landmarks.spread;
    let mut offsets = Vec::new();
    for k in -14..=4 {
        let step = spread * 2.0_f64.powi(k);
        offsets.extend([step, 1.5 * step, -step, -1.5 * step]);
    }
    evaluate(all, searches, &|s| {
        let near = offsets.iter().map(|offset| s.points[0].0 + offset);
        near.chain(landmarks.marks.iter().copied()).collect()
    })?;
    climb(all, searches, spread)?;
    for side in [1.0, -1.0] {
        for _ in 0..MOST_STEPS {
            let moved = evaluate(all, searches, &|s| {
                let top = s.top();
                let end = s.points.iter().copied().max_by(|a, b| (side * a.0).total_cmp(&(side * b.0)));
                let Some(end) = end else { return Vec::new() };
                let edge = if side > 0.0 { s.domain.upper } else { s.domain.lower };
                let centre = s.points.get(s.points.len() / 2).map_or(0.0, |p| p.0);
                let away = (end.0 - centre).abs().max(spread);
                // Beside a density that is high where it is narrow, a long tail may be low and have a mass.
                let low = end.1 < top - NEGLIGIBLE && end.1 + away.ln() < s.top_mass(centre) - NEGLIGIBLE;
                let finished = low || end.0.total_cmp(&edge).is_eq() || top == f64::NEG_INFINITY;
                if finished { Vec::new() } else { vec![end.0 + side * away] }
            })?;
            if !moved {
                break;
            }
        }
    }
    climb(all, searches, spread)
}

/// Looks closer at every point that is higher than its neighbours, until these are nearly as high: a narrow peak far
/// from the given value is found by going up.
fn climb(all: &mut dyn Along, searches: &mut [Search], spread: f64) -> Result<(), SimulateError> {
    for _ in 0..MOST_CLIMBS {
        sort(searches);
        let moved = evaluate(all, searches, &|s| {
            let mut more = Vec::new();
            for w in s.points.windows(3) {
                let [left, middle, right] = [w[0], w[1], w[2]];
                if !(middle.1 >= left.1 && middle.1 >= right.1 && middle.1.is_finite()) {
                    continue;
                }
                for other in [left, right] {
                    let gap = (other.0 - middle.0).abs();
                    let blind = other.1 == f64::NEG_INFINITY;
                    let least = if blind { 1e-6 } else { 1e-12 } * (spread + middle.0.abs());
                    if gap > least && other.1 < middle.1 - 2.0 {
                        more.push(0.5 * (other.0 + middle.0));
                    }
                }
            }
            more
        })?;
        if !moved {
            break;
        }
    }
    sort(searches);
    Ok(())
}

pub(super) fn sort(searches: &mut [Search]) {
    for search in searches {
        search.points.sort_by(|a, b| a.0.total_cmp(&b.0));
        search.points.dedup_by(|a, b| a.0.total_cmp(&b.0).is_eq());
    }
}

/// Evaluates more points of each density; says whether there were any. Points beyond the bounds are moved to them.
fn evaluate(
    all: &mut dyn Along,
    searches: &mut [Search],
    next: &dyn Fn(&Search) -> Vec<f64>,
) -> Result<bool, SimulateError> {
    let mut requests = Vec::new();
    let mut who = Vec::new();
    for (i, search) in searches.iter().enumerate() {
        for x in next(search) {
            requests.push((search.line, x.clamp(search.domain.lower, search.domain.upper)));
            who.push(i);
        }
    }
    let found = if requests.is_empty() { Vec::new() } else { all.log_densities(&requests)? };
    for ((i, (_, x)), log) in who.into_iter().zip(&requests).zip(found) {
        searches[i].points.push((*x, log));
    }
    Ok(!requests.is_empty())
}

/// By how much the fall of a log density may change when the distance to a point doubles: that of a lognormal one changes by
/// (log 2/σ)², and where σ is so small that this is more it vanishes there.
const NEARLY_A_POWER: f64 = 0.05;

pub(super) type Atoms = Vec<(f64, f64)>;

/// Values that have a probability of their own: the density there is another one than right beside them.
fn atoms(all: &mut dyn Along, searches: &mut [Search], landmarks: &Landmarks) -> Result<Vec<Atoms>, SimulateError> {
    let mut found: Vec<Atoms> = searches.iter().map(|_| Vec::new()).collect();
    let near = 1e-9 * landmarks.spread;
    let offsets = [0.0, near, -near, 2.0 * near, -2.0 * near, 4.0 * near, -4.0 * near];
    let mut places = Vec::new();
    for (i, search) in searches.iter().enumerate() {
        // Bounds are looked at even if no value lies on them.
        let bounds = [search.domain.lower, search.domain.upper].into_iter().filter(|x| x.is_finite());
        let others = bounds.filter(|x| !landmarks.repeated.contains(x));
        places.extend(landmarks.repeated.iter().copied().chain(others).map(|x| (i, x)));
    }
    let requests: Vec<(usize, f64)> =
        places.iter().flat_map(|(i, x)| offsets.map(|offset| (searches[*i].line, x + offset))).collect();
    let values = if requests.is_empty() { Vec::new() } else { all.log_densities(&requests)? };
    for ((i, x), at) in places.iter().zip(values.chunks_exact(offsets.len())) {
        // What a program says of values beyond the bounds means nothing: there are none.
        let domain = searches[*i].domain;
        let inside = |offset: f64| x + offset >= domain.lower && x + offset <= domain.upper;
        let own = |k: usize| if inside(offsets[k]) { at[k] } else { f64::NEG_INFINITY };
        let (here, sides) = (at[0], [own(1), own(2)]);
        // Beside the point the density is smooth, or a power of the distance, or it vanishes, or there is none at all.
        let smooth = (1..=2).all(|side| {
            let [a, b, c] = [own(side), own(side + 2), own(side + 4)];
            let vanishes = a <= b && b <= c;
            (a - b).abs() < 1e-4 || (a - 2.0 * b + c).abs() < NEARLY_A_POWER || vanishes
        });
        let jumps = sides.iter().all(|a| (here - a).abs() > 1e-3);
        if here.is_finite() && smooth && jumps {
            found[*i].push((*x, here));
            // The density goes on beside an atom as if that were not there.
            let beside = sides[0].max(sides[1]);
            let own = searches[*i].points.iter_mut().filter(|(at, _)| at.total_cmp(x).is_eq());
            own.for_each(|(_, log)| *log = beside);
        }
    }
    Ok(found)
}

/// The panels of one density: open ones have densities that are not known yet.
struct Job {
    open: Vec<(Panel, u32)>,
    done: Vec<Panel>,
    total: f64,
    top: f64,
}

impl Job {
    fn new(search: &Search) -> Self {
        let top = search.top();
        let density = |x: f64| (x - top).exp();
        let windows = if top.is_finite() { search.points.as_slice() } else { &[] };
        let mass = |w: &[(f64, f64)]| w[0].1.max(w[1].1) + (w[1].0 - w[0].0).ln();
        let most = windows.windows(2).map(mass).filter(|mass| *mass < f64::INFINITY).fold(f64::NEG_INFINITY, f64::max);
        let near = |w: &&[(f64, f64)]| w.iter().any(|p| p.1 > top - NEGLIGIBLE) || mass(w) > most - NEGLIGIBLE;
        let open = windows.windows(2).filter(near).map(|w| {
            let at = [density(w[0].1), f64::NAN, f64::NAN, f64::NAN, density(w[1].1)];
            (Panel { from: w[0].0, to: w[1].0, at }, 0)
        });
        let open = open.filter(|(panel, _)| !search.poles.iter().any(|pole| pole.covers(panel.from, panel.to)));
        Self { open: open.collect(), done: Vec::new(), total: 0.0, top }
    }

    /// Keeps panels on which Simpson's rule is right, and halves the others.
    fn refine(&mut self) {
        let all = std::mem::take(&mut self.open);
        let whole: f64 = self.total + all.iter().map(|(panel, _)| panel.integral().0.max(0.0)).sum::<f64>();
        for (panel, depth) in all {
            let (integral, error) = panel.integral();
            let least = 1e-14 * (1.0 + panel.from.abs().max(panel.to.abs()));
            let full = self.done.len() + self.open.len() > MOST_PANELS || depth > MOST_HALVINGS;
            if !integral.is_finite() {
                continue;
            }
            if error <= TOLERANCE * whole || panel.to - panel.from < least || full {
                self.total += integral.max(0.0);
                self.done.push(panel);
                continue;
            }
            let middle = 0.5 * (panel.from + panel.to);
            let [a, b, c, d, e] = panel.at;
            let left = Panel { from: panel.from, to: middle, at: [a, f64::NAN, b, f64::NAN, c] };
            let right = Panel { from: middle, to: panel.to, at: [c, f64::NAN, d, f64::NAN, e] };
            self.open.extend([(left, depth + 1), (right, depth + 1)]);
        }
    }
}

/// Halves panels until Simpson's rule is right on all of them.
fn integrate(all: &mut dyn Along, searches: &[Search]) -> Result<Vec<Vec<Panel>>, SimulateError> {
    let mut jobs: Vec<Job> = searches.iter().map(Job::new).collect();
    loop {
        let mut requests = Vec::new();
        let mut who = Vec::new();
        for (i, job) in jobs.iter().enumerate() {
            for (p, (panel, _)) in job.open.iter().enumerate() {
                for k in (0..5_u8).filter(|k| panel.at[usize::from(*k)].is_nan()) {
                    let x = panel.from + (panel.to - panel.from) * f64::from(k) / 4.0;
                    requests.push((searches[i].line, x));
                    who.push((i, p, usize::from(k)));
                }
            }
        }
        if requests.is_empty() {
            break;
        }
        let found = all.log_densities(&requests)?;
        for ((i, p, k), log) in who.into_iter().zip(found) {
            let top = jobs[i].top;
            jobs[i].open[p].0.at[k] = (log - top).exp();
        }
        jobs.iter_mut().for_each(Job::refine);
    }
    let sorted = |mut job: Job| {
        job.done.sort_by(|a, b| a.from.total_cmp(&b.from));
        job.done
    };
    Ok(jobs.into_iter().map(sorted).collect())
}
