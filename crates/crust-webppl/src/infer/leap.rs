//! Hamiltonian Monte Carlo in a [`Graph`]: no program is run.

use super::Model;
use super::graph::{Adjoints, Graph, Update};
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
    let before = graph.clone();
    let leapt = trajectory(world, &mut graph, &sites, scope.beta, how);
    let accepted = leapt.is_some_and(|log_ratio| !log_ratio.is_nan() && world.accepts(log_ratio));
    trace.fast.graph = Some(if accepted { graph } else { before });
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

/// Goes along a trajectory; the difference of the energies of its ends.
fn trajectory(world: &mut World, graph: &mut Graph, sites: &[usize], beta: f64, how: Leap) -> Option<f64> {
    let mut q = graph.positions(sites);
    let bounds = graph.bounds(sites);
    let scales = if how.scaled { graph.scales(sites) } else { vec![1.0; q.len()] };
    let mut p: Vec<f64> = q.iter().map(|_| world.stream.standard_normal()).collect();
    let (mut gradient, mut scratch) = (Vec::new(), Adjoints::default());
    let energy = |graph: &Graph, p: &[f64]| graph.total(beta) - 0.5 * p.iter().map(|p| p * p).sum::<f64>();
    let old = energy(graph, &p);
    graph.gradient(beta, sites, &mut gradient, &mut scratch);
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
        match graph.set_all(sites, &q) {
            Update::Done => graph.gradient(beta, sites, &mut gradient, &mut scratch),
            // no density: nothing pulls, and the end will not be accepted
            Update::Impossible => return Some(f64::NEG_INFINITY),
            Update::Broken => return None,
        }
    }
    Some(energy(graph, &p) - old)
}
