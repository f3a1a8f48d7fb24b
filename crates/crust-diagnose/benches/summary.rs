//! What a row of the summary costs, against one plain sort of the quantity's draws.
//!
//! `cargo bench -p crust-diagnose --bench summary [-- part of a line's name…]`. Ranks, quantiles and the median need an
//! order of the draws, so that a sort is what a summary could hardly do without; everything else should cost no more
//! than a few of them. One thread.

#![allow(clippy::print_stdout, reason = "a benchmark prints its table")]

use crust_diagnose::draws::Draws;
use crust_diagnose::summary::{Summary, SummaryOptions};
use crust_math::random::{Purpose, Stream, StreamKey};
use std::hint::black_box;
use std::time::Instant;

/// So few that a summary takes one thread.
const QUANTITIES: u32 = 7;
/// Of these repetitions the fastest counts: others may be using the machine.
const REPETITIONS: usize = 9;
const DRAWS: usize = 1000;
const CHAINS: [usize; 2] = [4, 64];
/// A row should not cost more than so many sorts.
const LIMIT: f64 = 2.0;

/// A kind of draws: what it is called, and how the next draw of a chain follows from the last.
type Kind = (&'static str, fn(&mut Stream, usize, f64) -> f64);

const KINDS: [Kind; 6] = [
    ("independent", |stream, _, _| stream.standard_normal()),
    ("AR(1), ρ = 0.5", |stream, _, last| 0.5 * last + stream.standard_normal()),
    ("AR(1), ρ = 0.95", |stream, _, last| 0.95 * last + stream.standard_normal()),
    ("separate modes", |stream, chain, _| if chain.is_multiple_of(3) { 9.0 } else { 0.0 } + stream.standard_normal()),
    (
        "Metropolis, half rejected",
        |stream, _, last| if stream.uniform() < 0.5 { last } else { stream.standard_normal() },
    ),
    ("small integers", |stream, _, _| (3.0 * stream.standard_normal()).round()),
];

fn run(kind: &Kind, chains: usize) -> Draws {
    let names = (1..=QUANTITIES).map(|i| format!("x.{i}")).collect();
    let mut draws = Draws::new(vec![], names, chains);
    for (number, chain) in draws.chains.iter_mut().enumerate() {
        let mut stream = StreamKey::new(1, Purpose::TEST).chain(u32::try_from(number).unwrap_or(u32::MAX)).stream();
        for column in &mut chain.sampling.quantities {
            let mut last = stream.standard_normal();
            column.extend(
                std::iter::repeat_with(|| {
                    last = kind.1(&mut stream, number, last);
                    last
                })
                .take(DRAWS),
            );
        }
    }
    draws
}

/// The least number of microseconds for each quantity.
fn microseconds(mut work: impl FnMut()) -> f64 {
    let once = |work: &mut dyn FnMut()| {
        let clock = Instant::now();
        work();
        1e6 * clock.elapsed().as_secs_f64() / f64::from(QUANTITIES)
    };
    (0..REPETITIONS).map(|_| once(&mut work)).fold(f64::INFINITY, f64::min)
}

fn sort_all(draws: &Draws) {
    for quantity in 0..draws.names.len() {
        let mut all = draws.quantity(quantity).concat();
        all.sort_unstable_by(f64::total_cmp);
        black_box(&all);
    }
}

fn main() {
    let parts: Vec<String> = std::env::args().skip(1).filter(|argument| !argument.starts_with('-')).collect();
    let wanted = |line: &str| parts.iter().all(|part| line.contains(part.as_str()));
    println!("microseconds for each quantity; the limit is {LIMIT} sorts");
    println!("{:<28}{:>10}{:>10}{:>10}{:>8}", "draws", "size", "summary", "sort", "ratio");
    for chains in CHAINS {
        let size = format!("{chains} × {DRAWS}");
        for kind in KINDS.iter().filter(|kind| wanted(&format!("{} {size}", kind.0))) {
            let draws = run(kind, chains);
            let summary = microseconds(|| drop(black_box(Summary::new(&draws, &SummaryOptions::default()))));
            let sort = microseconds(|| sort_all(&draws));
            let verdict = if summary > LIMIT * sort { "  above the limit" } else { "" };
            println!("{:<28}{size:>10}{summary:>10.0}{sort:>10.0}{:>8.2}{verdict}", kind.0, summary / sort);
        }
    }
}
