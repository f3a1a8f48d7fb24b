//! Hamiltonian Monte Carlo in a [`Graph`]: no program is run.

use super::Model;
use super::graph::{Adjoints, Graph, Plan, Update, Work};
use super::kernel::Scope;
use super::trace::Trace;
use crate::error::Run;
use crate::world::World;

/// How far, and in how many steps.
#[derive(Clone, Copy, Debug)]
pub struct Leap {
    pub steps: usize,
    pub size: f64,
    /// Steps are measured by the spreads of choices, where these are constants.
    pub scaled: bool,
}

/// What came of a trajectory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leapt {
    Done,
    /// There is no graph, or it does not stand for all continuous choices.
    Impossible,
    /// The trajectory leaves what the graph stands for. Nothing has changed but the random numbers.
    Broken,
}

/// Keeps a number between bounds; each reflection turns the momentum.
fn reflect(x: &mut f64, momentum: &mut f64, [low, high]: [f64; 2]) {
    for _ in 0..1000 {
        if *x < low {
            *x = low + (low - *x);
        } else if *x > high {
            *x = high - (*x - high);
        } else {
            return;
        }
        *momentum = -*momentum;
    }
    // a step that is much longer than the interval
    *x = x.clamp(low, high);
}

/// A trajectory from the execution of a trace.
pub fn leap(world: &mut World, model: &Model, trace: &mut Trace, scope: &Scope, how: Leap) -> Run<Leapt> {
    if trace.fast.graph.is_none() {
        trace.sync(world, model)?;
    }
    if !trace.make_graph(world, model)? {
        return Ok(Leapt::Impossible);
    }
    let Some(mut graph) = trace.fast.graph.take() else { return Ok(Leapt::Impossible) };
    let Some(sites) = graph.continuous_sites() else {
        trace.fast.graph = Some(graph);
        return Ok(Leapt::Impossible);
    };
    trace.info[1] += 1;
    let (leapt, accepted) = match graph.plan(&sites) {
        Some(plan) => {
            let mut work = std::mem::take(&mut trace.fast.work);
            plan.load(&graph, &mut work);
            let mut surface = Planned { plan: &plan, work: &mut work };
            let leapt = trajectory(world, &mut surface, scope.beta, how);
            let accepted = accepts(world, leapt);
            if accepted {
                plan.store(&mut graph, &work);
            }
            trace.fast.work = work;
            (leapt, accepted)
        }
        None => {
            let before = graph.clone();
            let scratch = Adjoints::default();
            let leapt = trajectory(world, &mut Whole { graph: &mut graph, sites: &sites, scratch }, scope.beta, how);
            let accepted = accepts(world, leapt);
            if !accepted {
                graph = before;
            }
            (leapt, accepted)
        }
    };
    trace.fast.graph = Some(graph);
    if accepted {
        trace.info[0] += 1;
        trace.changed_in_graph();
    }
    if leapt.is_none() {
        trace.info[1] -= 1;
        return Ok(Leapt::Broken);
    }
    Ok(Leapt::Done)
}

fn accepts(world: &mut World, leapt: Option<f64>) -> bool {
    leapt.is_some_and(|log_ratio| !log_ratio.is_nan() && world.accepts(log_ratio))
}

/// What a trajectory goes over.
trait Surface {
    fn positions(&self) -> Vec<f64>;
    fn bounds(&self) -> Vec<[f64; 2]>;
    fn scales(&self) -> Vec<f64>;
    fn set(&mut self, positions: &[f64]) -> Update;
    fn total(&self, beta: f64) -> f64;
    fn gradient(&mut self, beta: f64, out: &mut Vec<f64>);
}

/// A graph itself, node by node.
struct Whole<'a> {
    graph: &'a mut Graph,
    sites: &'a [usize],
    scratch: Adjoints,
}

impl Surface for Whole<'_> {
    fn positions(&self) -> Vec<f64> {
        self.graph.positions(self.sites)
    }

    fn bounds(&self) -> Vec<[f64; 2]> {
        self.graph.bounds(self.sites)
    }

    fn scales(&self) -> Vec<f64> {
        self.graph.scales(self.sites)
    }

    fn set(&mut self, positions: &[f64]) -> Update {
        self.graph.set_all(self.sites, positions)
    }

    fn total(&self, beta: f64) -> f64 {
        self.graph.total(beta)
    }

    fn gradient(&mut self, beta: f64, out: &mut Vec<f64>) {
        self.graph.gradient(beta, self.sites, out, &mut self.scratch);
    }
}

/// Its plan.
struct Planned<'a> {
    plan: &'a Plan,
    work: &'a mut Work,
}

impl Surface for Planned<'_> {
    fn positions(&self) -> Vec<f64> {
        self.plan.positions(self.work)
    }

    fn bounds(&self) -> Vec<[f64; 2]> {
        self.plan.bounds.clone()
    }

    fn scales(&self) -> Vec<f64> {
        self.plan.scales.clone()
    }

    fn set(&mut self, positions: &[f64]) -> Update {
        self.plan.set(self.work, positions)
    }

    fn total(&self, beta: f64) -> f64 {
        Plan::total(self.work, beta)
    }

    fn gradient(&mut self, beta: f64, out: &mut Vec<f64>) {
        self.plan.gradient(self.work, beta, out);
    }
}

/// Goes along a trajectory; the difference of the energies of its ends.
fn trajectory(world: &mut World, surface: &mut impl Surface, beta: f64, how: Leap) -> Option<f64> {
    let mut q = surface.positions();
    let bounds = surface.bounds();
    let scales = if how.scaled { surface.scales() } else { vec![1.0; q.len()] };
    let mut p: Vec<f64> = q.iter().map(|_| world.stream.standard_normal()).collect();
    let mut gradient = Vec::new();
    let kinetic = |p: &[f64]| 0.5 * p.iter().map(|p| p * p).sum::<f64>();
    let old = surface.total(beta) - kinetic(&p);
    surface.gradient(beta, &mut gradient);
    for step in 0..=how.steps {
        let half = step == 0 || step == how.steps;
        let size = if half { 0.5 * how.size } else { how.size };
        for ((p, g), scale) in p.iter_mut().zip(&gradient).zip(&scales) {
            *p += size * scale * g;
        }
        if step == how.steps {
            break;
        }
        for i in 0..q.len() {
            q[i] += how.size * scales[i] * p[i];
            reflect(&mut q[i], &mut p[i], bounds[i]);
        }
        match surface.set(&q) {
            Update::Done => surface.gradient(beta, &mut gradient),
            // no density: nothing pulls, and the end will not be accepted
            Update::Impossible => return Some(f64::NEG_INFINITY),
            Update::Broken => return None,
        }
    }
    Some(surface.total(beta) - kinetic(&p) - old)
}
