//! Each pass by itself, and lists against what they stand for.

use crust_math::density::Terms;
use crust_math::functions::elementwise::{UNARY, Unary};
use crust_math::special::LN_SQRT_TAU;

use super::graph::Op;
use super::passes::{fuse, live};
use super::run::{Call, Pass, Room, run};
use super::schedule::{Instruction, List, Operand, schedule};
use super::{Graph, Ref, ScalarCall};
use crate::code::{Comparison, Factor};
use crate::density::Density;
use crate::flat::Function;
use crate::kernels::arithmetic::Arithmetic;
use crate::machine::Totals;
use crate::memory::{Block, Flags};

fn input(graph: &mut Graph, element: u32) -> Ref {
    graph.push(Op::Input { operand: 0, element }, &[])
}

fn unary(name: &str) -> &'static Unary {
    UNARY.iter().find(|f| f.name == name).expect("it is in the library")
}

#[test]
fn constants_are_folded() {
    let mut graph = Graph::default();
    let (x, zero, one, two) = (input(&mut graph, 0), graph.constant(0.0), graph.constant(1.0), graph.constant(2.0));
    assert_eq!(graph.arithmetic(Arithmetic::Add, x, zero), x);
    assert_eq!(graph.arithmetic(Arithmetic::Add, zero, x), x);
    assert_eq!(graph.arithmetic(Arithmetic::Multiply, one, x), x);
    assert_eq!(graph.arithmetic(Arithmetic::Divide, x, one), x);
    let three = graph.arithmetic(Arithmetic::Add, one, two);
    assert_eq!(graph.known(three), Some(3.0));
    // 0 times infinity is no number.
    let product = graph.arithmetic(Arithmetic::Multiply, zero, x);
    assert_eq!(graph.op(product), Op::Multiply);
    let minus = graph.negate(x);
    assert_eq!(graph.negate(minus), x);
    let truth = graph.compare(Comparison::Less, one, two);
    assert_eq!(graph.select(truth, x, zero), x);
    let root = graph.unary(unary("sqrt"), one);
    assert_eq!(graph.known(root), Some(1.0));
}

#[test]
fn what_is_there_is_not_added_again() {
    let mut graph = Graph::default();
    let (x, y) = (input(&mut graph, 0), input(&mut graph, 1));
    let first = graph.arithmetic(Arithmetic::Multiply, x, y);
    let nodes = graph.nodes.len();
    assert_eq!(graph.arithmetic(Arithmetic::Multiply, x, y), first);
    assert_eq!(input(&mut graph, 1), y);
    assert_eq!(graph.nodes.len(), nodes);
    assert_ne!(graph.arithmetic(Arithmetic::Multiply, y, x), first);
}

#[test]
fn dead_operations_go() {
    let mut graph = Graph::default();
    let (x, y) = (input(&mut graph, 0), input(&mut graph, 1));
    let needed = graph.arithmetic(Arithmetic::Add, x, x);
    let dead = graph.arithmetic(Arithmetic::Multiply, needed, y);
    graph.add(needed, Factor::Prior);
    let live = live(&graph);
    assert!(live[x as usize] && live[needed as usize]);
    assert!(!live[y as usize] && !live[dead as usize]);
    assert_eq!(schedule(&graph).inputs, [(0, 0)]);
}

#[test]
fn products_are_fused_with_sums() {
    let mut graph = Graph::default();
    let (x, y, z) = (input(&mut graph, 0), input(&mut graph, 1), input(&mut graph, 2));
    let product = graph.arithmetic(Arithmetic::Multiply, x, y);
    let sum = graph.arithmetic(Arithmetic::Add, product, z);
    let other = graph.arithmetic(Arithmetic::Multiply, y, z);
    let difference = graph.arithmetic(Arithmetic::Subtract, x, other);
    let shared = graph.arithmetic(Arithmetic::Multiply, x, z);
    let kept = graph.arithmetic(Arithmetic::Add, shared, y);
    [sum, difference, kept, shared].into_iter().for_each(|x| graph.add(x, Factor::Prior));
    fuse(&mut graph);
    assert_eq!((graph.op(sum), graph.arguments(sum)), (Op::MultiplyAdd, &[x, y, z][..]));
    assert_eq!((graph.op(difference), graph.arguments(difference)), (Op::MultiplySubtract, &[y, z, x][..]));
    assert_eq!(graph.op(kept), Op::Add, "the product is needed by itself");
}

/// `s ← s a + yₜ` and `Σ exp(sₜ)`, for data y.
fn recurrence(steps: u32) -> Graph {
    let mut graph = Graph::default();
    let (a, mut s) = (input(&mut graph, 0), input(&mut graph, 1));
    for t in 0..steps {
        let y = graph.constant(0.1 * f64::from(t) + 0.05);
        let product = graph.arithmetic(Arithmetic::Multiply, s, a);
        s = graph.arithmetic(Arithmetic::Add, product, y);
        let term = graph.unary(unary("exp"), s);
        let factor = if t % 2 == 0 { Factor::Prior } else { Factor::Likelihood };
        graph.add(term, factor);
    }
    fuse(&mut graph);
    graph
}

#[test]
fn operations_of_a_kind_run_together() {
    let list = schedule(&recurrence(20));
    // The recurrence goes step by step; all exponentials wait for its end.
    let batches: Vec<_> = list
        .instructions
        .iter()
        .filter_map(|i| if let Instruction::Batch(batch) = i { Some((batch.op, batch.items)) } else { None })
        .collect();
    assert_eq!(batches, [(Op::Unary(0), 20)]);
    let singles = list.singles.len();
    assert_eq!(singles, 20);
}

#[test]
fn operands_that_are_neighbours_need_no_table() {
    let mut graph = Graph::default();
    let shift = input(&mut graph, 9);
    for element in 0..8 {
        let x = input(&mut graph, element);
        let y = graph.arithmetic(Arithmetic::Subtract, x, shift);
        let z = graph.unary(unary("exp"), y);
        graph.add(z, Factor::Prior);
    }
    let list = schedule(&graph);
    assert!(list.tables.is_empty(), "{list:?}");
    assert_eq!(list.operands[..2], [Operand::Run(0), Operand::Same(8)]);
}

/// Log prior, log likelihood and gradient in each lane.
type Results = (Vec<[f64; 2]>, Vec<Vec<f64>>);

fn execute(list: &List, points: &[Vec<f64>]) -> Results {
    let (results, fine) = attempt(list, points);
    assert!(fine.iter().all(|&fine| fine));
    results
}

/// The same, and in which lanes it holds.
fn attempt(list: &List, points: &[Vec<f64>]) -> (Results, Vec<bool>) {
    let (lanes, n) = (points.len(), points[0].len());
    let cast = |n: usize| u32::try_from(n).expect("few numbers");
    let block = |at: usize, n: usize, flags| Block { at: cast(at), n: cast(n), flags };
    let mut values: Vec<f64> = (0..n * lanes).map(|k| points[k % lanes][k / lanes]).collect();
    values.resize(values.len() + 2 * lanes, 0.0);
    values.push(1.0);
    let mut adjoints = vec![0.0; values.len()];
    let operand = block(0, n, Flags::LANES.with(Flags::GRADIENT));
    let seed = block(values.len() - 1, 1, Flags::UNIFORM);
    let total = |k: usize| block((n + k) * lanes, 1, Flags::LANES);
    let totals = Totals { prior: total(0), likelihood: total(1), prior_seed: seed, likelihood_seed: seed };
    let call = Call {
        list,
        operands: &[operand],
        outputs: &[],
        lanes,
        totals: Some(&totals),
        gradient: true,
        pass: Pass::Both,
    };
    let mut fine = Vec::new();
    let mut room = Room::default();
    run(call, &mut values, (&mut adjoints, 0), &mut room, &mut fine);
    // A second run finds what the first has left behind.
    values[n * lanes..(n + 2) * lanes].fill(0.0);
    adjoints.fill(0.0);
    run(call, &mut values, (&mut adjoints, 0), &mut room, &mut fine);
    let totals = (0..lanes).map(|l| [values[n * lanes + l], values[(n + 1) * lanes + l]]).collect();
    ((totals, (0..lanes).map(|l| (0..n).map(|k| adjoints[k * lanes + l]).collect()).collect()), fine)
}

#[test]
fn a_recurrence_and_its_derivatives() {
    let list = schedule(&recurrence(33));
    let by_hand = |a: f64, s: f64| {
        // With s' = a s + y: ds'/da = s + a ds/da, ds'/ds₀ = a ds/ds₀.
        let (mut s, mut slopes, mut totals, mut gradient) = (s, [0.0, 1.0], [0.0; 2], [0.0; 2]);
        for t in 0..33 {
            slopes = [s + a * slopes[0], a * slopes[1]];
            s = a * s + 0.1 * f64::from(t) + 0.05;
            totals[usize::from(t % 2 == 1)] += s.exp();
            gradient = [gradient[0] + s.exp() * slopes[0], gradient[1] + s.exp() * slopes[1]];
        }
        (totals, gradient)
    };
    let points: Vec<Vec<f64>> = (0..16).map(|l| vec![0.1 + 0.02 * f64::from(l), 0.3 - 0.05 * f64::from(l)]).collect();
    let (totals, gradients) = execute(&list, &points);
    for (l, point) in points.iter().enumerate() {
        let (expected, slopes) = by_hand(point[0], point[1]);
        for k in 0..2 {
            assert!((totals[l][k] / expected[k] - 1.0).abs() < 1e-13);
            assert!((gradients[l][k] / slopes[k] - 1.0).abs() < 1e-12);
        }
        let alone = execute(&list, std::slice::from_ref(point));
        assert_eq!((alone.0[0], &alone.1[0]), (totals[l], &gradients[l]), "a lane alone has the same bits");
    }
}

fn normal() -> ScalarCall {
    let Some(Density::Scalar(scalar)) = Density::named("normal_lpdf") else { panic!("it is in the library") };
    ScalarCall { function: Function::Density(scalar), terms: Terms::ALL }
}

/// `xₖ ~ normal(m, s)` and `normal(yₖ | xₖ₊₁, exp(xₖ))` with data y, k < n; inputs are m, s and x.
fn endings(n: u32) -> Graph {
    let mut graph = Graph::default();
    let (m, s) = (input(&mut graph, 0), input(&mut graph, 1));
    for k in 0..n {
        let (x, next) = (input(&mut graph, 2 + k), input(&mut graph, 2 + (k + 1) % n));
        let (y, scale) = (graph.constant(0.1 * f64::from(k)), graph.unary(unary("exp"), x));
        let prior = graph.function(normal(), &[x, m, s]);
        let likelihood = graph.function(normal(), &[y, next, scale]);
        graph.add(prior, Factor::Prior);
        graph.add(likelihood, Factor::Likelihood);
    }
    graph
}

#[test]
fn densities_that_nobody_needs_come_last_and_leave_nothing() {
    let n = 83;
    let list = schedule(&endings(n));
    let found: Vec<_> = list.endings.iter().map(|ending| (ending.factor, ending.items)).collect();
    assert_eq!(found, [(Factor::Prior, n), (Factor::Likelihood, n)]);
    assert!(list.terms.is_empty());
    assert_eq!(list.all_slots, 2 + 2 * n as usize, "inputs and scales");
    let mut needed = endings(n);
    let term = needed.adds[5].x;
    needed.guard(term);
    assert_eq!(schedule(&needed).endings.iter().map(|ending| ending.items).sum::<u32>(), 2 * n - 1);
}

#[test]
fn endings_add_values_and_derivatives() {
    let n = 83;
    let list = schedule(&endings(n));
    let point = |l: u32| -> Vec<f64> {
        let x = (0..n).map(|k| (0.7 * f64::from(k) + 0.3 * f64::from(l)).sin());
        [0.2, 0.5 + 0.1 * f64::from(l)].into_iter().chain(x).collect()
    };
    let points: Vec<Vec<f64>> = (0..32).map(point).collect();
    let (totals, gradients) = execute(&list, &points);
    for (l, point) in points.iter().enumerate() {
        let (m, s, x) = (point[0], point[1], &point[2..]);
        let (mut expected, mut slopes) = ([0.0; 2], vec![0.0; point.len()]);
        let log_density = |z: f64, scale: f64| -0.5 * z * z - scale.ln() - LN_SQRT_TAU;
        for k in 0..x.len() {
            let z = (x[k] - m) / s;
            expected[0] += log_density(z, s);
            slopes[0] += z / s;
            slopes[1] += (z * z - 1.0) / s;
            slopes[2 + k] -= z / s;
            let (next, scale) = ((k + 1) % x.len(), x[k].exp());
            let z = (0.1 * f64::from(u32::try_from(k).expect("few")) - x[next]) / scale;
            expected[1] += log_density(z, scale);
            slopes[2 + next] += z / scale;
            slopes[2 + k] += z * z - 1.0;
        }
        for k in 0..2 {
            assert!((totals[l][k] / expected[k] - 1.0).abs() < 1e-13, "{} {}", totals[l][k], expected[k]);
        }
        for (found, expected) in gradients[l].iter().zip(&slopes) {
            assert!((found - expected).abs() < 1e-12 * expected.abs().max(1.0), "{found} {expected}");
        }
        let alone = execute(&list, std::slice::from_ref(point));
        assert_eq!((alone.0[0], &alone.1[0]), (totals[l], &gradients[l]), "a lane alone has the same bits");
        let group = execute(&list, &points[l / 8 * 8..][..8]);
        assert_eq!((group.0[l % 8], &group.1[l % 8]), (totals[l], &gradients[l]), "and so it has in a group");
    }
}

/// A lane with a scale that is no scale is left to the machine, and does not change the others.
#[test]
fn a_scale_outside_of_the_domain_is_a_matter_of_its_lane() {
    let mut graph = Graph::default();
    let m = input(&mut graph, 0);
    for k in 0..21 {
        let (s, own, y) = (input(&mut graph, 1), input(&mut graph, 2 + k), graph.constant(0.3 * f64::from(k)));
        let likelihood = graph.function(normal(), &[y, m, own]);
        let prior = graph.function(normal(), &[own, m, s]);
        graph.add(likelihood, Factor::Likelihood);
        graph.add(prior, Factor::Prior);
    }
    let list = schedule(&graph);
    let point = |l: u32| -> Vec<f64> {
        [0.1, 1.5].into_iter().chain((0..21).map(|k| 0.5 + f64::from((k * 7 + l * 3) % 11))).collect()
    };
    let fine: Vec<Vec<f64>> = (0..8).map(point).collect();
    let expected = execute(&list, &fine);
    for (bad, at) in [(0.0, 4), (-1.0, 22), (f64::NAN, 9), (f64::INFINITY, 2), (-2.0, 1), (0.0, 1)] {
        let mut points = fine.clone();
        points[5][at] = bad;
        let ((totals, gradients), fine) = attempt(&list, &points);
        for l in 0..8 {
            assert_eq!(fine[l], l != 5, "lane {l}, {bad}");
            if fine[l] {
                assert_eq!((totals[l], &gradients[l]), (expected.0[l], &expected.1[l]), "lane {l}, {bad}");
            }
        }
        assert!(!attempt(&list, &points[5..6]).1[0], "alone, {bad}");
    }
}

/// `Σ aᵢ bᵢ` for operations whose operands overlap: neighbours that are shifted, scattered, the same twice, and sums of
/// exponentials; each by more items than go at once.
#[test]
fn adjoints_of_operands_that_overlap() {
    let n = 150_u32;
    let scattered = |k: u32| (k * 37 + 11) % n;
    let build = |kind: u32| {
        let mut graph = Graph::default();
        let x: Vec<Ref> = (0..n).map(|k| input(&mut graph, k)).collect();
        for k in 0..n - 1 {
            let [own, next, far] = [k, k + 1, scattered(k)].map(|k| x[k as usize]);
            let term = match kind {
                0 => graph.arithmetic(Arithmetic::Multiply, own, next),
                1 => graph.arithmetic(Arithmetic::Multiply, far, own),
                2 => graph.arithmetic(Arithmetic::Multiply, own, own),
                3 => graph.arithmetic(Arithmetic::Subtract, own, far),
                4 => graph.arithmetic(Arithmetic::Divide, next, far),
                _ => graph.push(Op::LogSumExp, &[own, next, far]),
            };
            let term = graph.unary(unary("exp"), term);
            graph.add(term, Factor::Prior);
        }
        fuse(&mut graph);
        schedule(&graph)
    };
    let value = |kind: u32, x: &[f64]| -> f64 {
        let term = |k: u32| {
            let [own, next, far] = [k, k + 1, scattered(k)].map(|k| x[k as usize]);
            match kind {
                0 => own * next,
                1 => far * own,
                2 => own * own,
                3 => own - far,
                4 => next / far,
                _ => (own.exp() + next.exp() + far.exp()).ln(),
            }
        };
        (0..n - 1).map(|k| term(k).exp()).sum()
    };
    for kind in 0..6 {
        let list = build(kind);
        let point = |l: u32| -> Vec<f64> { (0..n).map(|k| 0.8 + 0.4 * (f64::from(k * 3 + l)).sin()).collect() };
        let points: Vec<Vec<f64>> = (0..32).map(point).collect();
        let (totals, gradients) = execute(&list, &points);
        for l in [0, 7, 31] {
            assert!((totals[l][0] / value(kind, &points[l]) - 1.0).abs() < 1e-13, "{kind}");
            for k in (0..n as usize).step_by(13) {
                let moved = |by: f64| {
                    let mut x = points[l].clone();
                    x[k] += by;
                    value(kind, &x)
                };
                let slope = (moved(1e-5) - moved(-1e-5)) / 2e-5;
                assert!((gradients[l][k] - slope).abs() < 1e-6 * slope.abs().max(1.0), "{kind}: {k}");
            }
            let alone = execute(&list, &points[l..=l]);
            assert_eq!((alone.0[0], &alone.1[0]), (totals[l], &gradients[l]), "a lane alone has the same bits");
        }
    }
}

/// Sums of two lists of numbers that are next to each other are written, not added to 0.
#[test]
fn adjoints_are_set_where_that_comes_first() {
    let mut graph = Graph::default();
    for k in 0..20 {
        let (x, y) = (input(&mut graph, k), input(&mut graph, 20 + k));
        let sum = graph.arithmetic(Arithmetic::Add, x, y);
        let z = graph.unary(unary("exp"), sum);
        graph.add(z, Factor::Prior);
    }
    let list = schedule(&graph);
    assert_eq!(list.operands, [Operand::Run(0), Operand::Run(20), Operand::Run(40)]);
    assert_eq!(list.sets, [true; 3]);
    // Terms are added to.
    assert_eq!(list.zeroed, [(60, 20)]);
}

#[test]
fn a_list_can_be_read() {
    let mut graph = Graph::default();
    let (x, two) = (input(&mut graph, 3), graph.constant(2.0));
    let y = graph.arithmetic(Arithmetic::Multiply, x, two);
    let z = graph.unary(unary("exp"), y);
    let small = graph.compare(Comparison::Less, z, two);
    graph.guard(small);
    graph.add(z, Factor::Likelihood);
    let text = graph.to_string();
    assert_eq!(
        text,
        "%0 = input 0[3]\n%2 = multiply %0 2\n%3 = exp %2\n%4 = less %3 2\nguard %4\nadd %3 times 1 to likelihood\n"
    );
}

/// A mixture of two components, item after item.
#[test]
fn operations_with_an_argument_in_common_share_a_batch() {
    let mut graph = Graph::default();
    let means = [input(&mut graph, 0), input(&mut graph, 1)];
    let scales = [input(&mut graph, 2), input(&mut graph, 3)];
    let Some(Density::Scalar(normal)) = Density::named("normal_lpdf") else { panic!("it is there") };
    let call = ScalarCall { function: Function::Density(normal), terms: Terms::ALL };
    for n in 0..40 {
        let y = graph.constant(f64::from(n));
        let each = [0, 1].map(|k| graph.function(call, &[y, means[k], scales[k]]));
        let both = graph.log_sum_exp(&each);
        graph.add(both, Factor::Likelihood);
    }
    let list = schedule(&graph);
    let operands: Vec<Vec<Operand>> = list
        .instructions
        .iter()
        .filter_map(|i| if let Instruction::Batch(batch) = i { Some(batch) } else { None })
        .map(|batch| list.operands[batch.operands.0 as usize..][..batch.operands.1 as usize].to_vec())
        .collect();
    assert_eq!(operands.len(), 3);
    for (k, own) in operands[..2].iter().enumerate() {
        let k = u32::try_from(k).expect("small");
        assert!(matches!(own[0], Operand::Column(_)));
        assert_eq!(own[1..], [Operand::Same(k), Operand::Same(2 + k)]);
    }
    assert!(operands[2].iter().all(|x| matches!(x, Operand::Run(_))), "{:?}", operands[2]);
}

/// Where arguments in common would scatter others, nothing is gained.
#[test]
fn operations_stay_together_where_others_would_be_scattered() {
    let mut graph = Graph::default();
    let common = [input(&mut graph, 0), input(&mut graph, 1)];
    for n in 0..40 {
        let own = input(&mut graph, 2 + n);
        let product = graph.arithmetic(Arithmetic::Multiply, own, common[n as usize % 2]);
        graph.add(product, Factor::Prior);
    }
    let list = schedule(&graph);
    let batches = list.instructions.iter().filter(|i| matches!(i, Instruction::Batch(_))).count();
    assert_eq!(batches, 1);
}
