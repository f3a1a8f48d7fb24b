//! Nanoseconds for each lane of the functions in `crust_math::lanes`, for each instruction set of this processor,
//! against a loop over the standard library's function and against the arithmetic limit.
//!
//! `cargo bench -p crust-math --bench lanes [-- name…]`

#![allow(clippy::print_stdout, reason = "a benchmark prints its table")]
#![allow(clippy::inline_always, reason = "only what is inlined is compiled for the instruction set of its caller")]

use crust_math::lanes::{self, InstructionSet, Kernel, dispatch_on};
use std::hint::black_box;
use std::time::Instant;

/// What is measured: its name, the arguments' range, arithmetic instructions for each vector (counted in the AVX-512
/// loop; a division counts three there, and is listed apart as well, as it keeps its unit busy), and the standard
/// library's function.
struct Case {
    name: &'static str,
    range: (f64, f64),
    instructions: f64,
    divisions: f64,
    std: Option<fn(f64) -> f64>,
}

const CASES: &[Case] = &[
    case("exp", (-20.0, 20.0), 24.0, 0.0, Some(f64::exp)),
    case("expm1", (-5.0, 5.0), 35.0, 0.0, Some(f64::exp_m1)),
    case("log", (0.01, 100.0), 35.0, 1.0, Some(f64::ln)),
    case("log1p", (-0.9, 10.0), 51.0, 1.0, Some(f64::ln_1p)),
    case("log1p_exp", (-10.0, 10.0), 57.0, 1.0, Some(|x| x.exp().ln_1p())),
    case("inv_logit", (-10.0, 10.0), 30.0, 1.0, Some(|x| 1.0 / (1.0 + (-x).exp()))),
    case("log_inv_logit", (-10.0, 10.0), 58.0, 1.0, Some(|x| -(-x).exp().ln_1p())),
    case("tanh", (-3.0, 3.0), 52.0, 1.0, Some(f64::tanh)),
    case("sqrt", (0.0, 100.0), 0.0, 1.5, Some(f64::sqrt)),
    case("inv_sqrt", (0.01, 100.0), 0.0, 2.5, Some(|x| 1.0 / x.sqrt())),
    case("square", (-10.0, 10.0), 1.0, 0.0, Some(|x| x * x)),
    case("erf", (-3.0, 3.0), 79.0, 1.0, None),
    case("erfc", (-3.0, 8.0), 80.0, 1.0, None),
    case("phi", (-8.0, 3.0), 85.0, 1.0, None),
    case("lgamma", (0.1, 50.0), 115.0, 2.0, None),
    case("digamma", (0.1, 50.0), 92.0, 3.0, None),
    case("sin", (-100.0, 100.0), 39.0, 0.0, Some(f64::sin)),
    case("cos", (-100.0, 100.0), 38.0, 0.0, Some(f64::cos)),
];

const fn case(
    name: &'static str,
    range: (f64, f64),
    instructions: f64,
    divisions: f64,
    std: Option<fn(f64) -> f64>,
) -> Case {
    Case { name, range, instructions, divisions, std }
}

const LENGTHS: [usize; 3] = [8, 64, 1024];

/// The least time for each lane over many short runs: on a shared machine the least is what the code needs.
fn nanoseconds(length: usize, mut run: impl FnMut()) -> f64 {
    let repeat = (8192 / length).max(1);
    let mut best = f64::INFINITY;
    let start = Instant::now();
    while start.elapsed().as_millis() < 60 {
        let begin = Instant::now();
        for _ in 0..repeat {
            run();
        }
        #[allow(clippy::cast_precision_loss, reason = "small counts")]
        let each = begin.elapsed().as_nanos() as f64 / (repeat * length) as f64;
        best = best.min(each);
    }
    best
}

/// Arguments spread over the range in an order without pattern.
fn arguments(length: usize, (low, high): (f64, f64)) -> Vec<f64> {
    let mut u = 0.5;
    (0..length)
        .map(|_| {
            u = (u + 0.618_033_988_749_894_9) % 1.0;
            low + u * (high - low)
        })
        .collect()
}

/// Independent fused multiply-adds, as many for each lane as [`FMAS`] says.
struct Fmas<'a>(&'a [f64], &'a mut [f64]);

const FMAS: f64 = 16.0;

impl Kernel for Fmas<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        for (out, &x) in self.1.iter_mut().zip(self.0) {
            let a = x.mul_add(x, 0.1).mul_add(x, 0.2).mul_add(x, 0.3);
            let b = x.mul_add(x, 0.4).mul_add(x, 0.5).mul_add(x, 0.6);
            let c = x.mul_add(x, 0.7).mul_add(x, 0.8).mul_add(x, 0.9);
            let d = x.mul_add(x, 1.1).mul_add(x, 1.2).mul_add(x, 1.3);
            *out = a.mul_add(b, c).mul_add(d, a).mul_add(b, c).mul_add(d, x);
        }
    }
}

struct Division<'a>(&'a [f64], &'a mut [f64]);

impl Kernel for Division<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        for (out, &x) in self.1.iter_mut().zip(self.0) {
            *out = 1.0 / x;
        }
    }
}

/// What the processor needs for each lane at its best, in nanoseconds, measured beside the rest on the same machine
/// with whatever else runs there.
#[derive(Clone, Copy)]
struct Peak {
    set: InstructionSet,
    instruction: f64,
    division: f64,
}

impl Peak {
    fn measure(set: InstructionSet) -> Self {
        let (x, mut out) = (arguments(1024, (0.5, 1.5)), vec![0.0; 1024]);
        let fmas = nanoseconds(1024, || dispatch_on(set, Fmas(black_box(&x), black_box(&mut out))));
        let division = nanoseconds(1024, || dispatch_on(set, Division(black_box(&x), black_box(&mut out))));
        Self { set, instruction: fmas / FMAS, division }
    }

    /// The arithmetic limit: all instructions at the peak rate, or all divisions one after the other. The portable code
    /// has calls for its multiply-adds, and no such limit.
    fn limit(self, instructions: f64, divisions: f64) -> Option<f64> {
        let limit = (instructions * self.instruction).max(divisions * self.division);
        (self.set > InstructionSet::Portable).then_some(limit)
    }
}

fn row(name: &str, label: &str, times: [f64; 3], std: Option<f64>, limit: Option<f64>) {
    let [a, b, c] = times;
    let against = std.map_or("-".to_owned(), |s| format!("{:.1}", s / b));
    let bound = limit.map_or("-".to_owned(), |l| format!("{l:.3}"));
    let above = limit.map_or("-".to_owned(), |l| format!("{:.2}", b / l));
    println!("{name:<14} {label:<9} {a:>8.3} {b:>8.3} {c:>8.3} {against:>8} {bound:>8} {above:>8}");
}

fn main() {
    let wanted: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with('-')).collect();
    let is_wanted = |name: &str| wanted.is_empty() || wanted.iter().any(|w| w == name);
    let peaks: Vec<Peak> = InstructionSet::available().map(Peak::measure).collect();
    println!("nanoseconds for each lane\n");
    for Peak { set, instruction, division } in &peaks {
        println!("{set:?}: {instruction:.4} for an instruction, {division:.3} for a division");
    }
    println!();
    println!(
        "{:<14} {:<9} {:>8} {:>8} {:>8} {:>8} {:>8} {:>8}",
        "function", "set", "8", "64", "1024", "std/64", "limit", "64/limit"
    );
    for case in CASES.iter().filter(|case| is_wanted(case.name)) {
        unary(case, &peaks);
    }
    if is_wanted("pow") {
        pow(&peaks);
    }
    if is_wanted("log_sum_exp") {
        log_sum_exp();
    }
}

fn unary(case: &Case, peaks: &[Peak]) {
    let std_times = case.std.map(|f| {
        LENGTHS.map(|n| {
            let (x, mut out) = (arguments(n, case.range), vec![0.0; n]);
            nanoseconds(n, || {
                let x = black_box(&x);
                out.iter_mut().zip(x).for_each(|(out, &x)| *out = f(x));
                black_box(&mut out);
            })
        })
    });
    if let Some(times) = std_times {
        row(case.name, "std", times, None, None);
    }
    let Some(&(_, function)) = lanes::UNARY.iter().find(|(name, _)| *name == case.name) else { return };
    for &peak in peaks {
        let set = peak.set;
        let times = LENGTHS.map(|n| {
            let (x, mut out) = (arguments(n, case.range), vec![0.0; n]);
            nanoseconds(n, || function(set, black_box(&x), black_box(&mut out)))
        });
        let bound = peak.limit(case.instructions, case.divisions);
        row(case.name, &format!("{set:?}"), times, std_times.map(|t| t[1]), bound);
    }
}

fn pow(peaks: &[Peak]) {
    let data = |n| (arguments(n, (0.1, 10.0)), arguments(n + 3, (-3.0, 3.0)).split_off(3), vec![0.0; n]);
    let std_times = LENGTHS.map(|n| {
        let (x, y, mut out) = data(n);
        nanoseconds(n, || {
            let (x, y) = (black_box(&x), black_box(&y));
            out.iter_mut().zip(x).zip(y).for_each(|((out, x), y)| *out = x.powf(*y));
            black_box(&mut out);
        })
    });
    row("pow", "std", std_times, None, None);
    for &peak in peaks {
        let set = peak.set;
        let times = LENGTHS.map(|n| {
            let (x, y, mut out) = data(n);
            nanoseconds(n, || lanes::pow_on(set, black_box(&x), black_box(&y), black_box(&mut out)))
        });
        row("pow", &format!("{set:?}"), times, Some(std_times[1]), peak.limit(117.0, 1.0));
    }
}

/// Five rows with weights; time for each term.
fn log_sum_exp() {
    let times = LENGTHS.map(|n| {
        let (x, mut out, mut weights) = (arguments(5 * n, (-10.0, 10.0)), vec![0.0; n], vec![0.0; 5 * n]);
        nanoseconds(5 * n, || lanes::softmax(black_box(&x), black_box(&mut out), black_box(&mut weights)))
    });
    row("softmax(5)", "best", times, None, None);
}
