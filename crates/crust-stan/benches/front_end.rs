//! Milliseconds to read a program: parse and check, against the length of the program and against the official
//! compiler.
//!
//! `cargo bench -p crust-stan` prints the table; with `STANC=/path/to/stanc` the last column has the ratio to it. The
//! compiler is a process of its own, so its time for an empty program is subtracted.
#![expect(clippy::print_stdout, reason = "a benchmark prints")]

use crust_stan::format::format;
use crust_stan::front_end::read;
use crust_stan::source::NoIncludes;
use std::process::Command;
use std::time::{Duration, Instant};

/// A program of about `lines` lines, with what programs are made of: functions, loops, vectorised and scalar
/// statements.
fn program(lines: usize) -> String {
    let repeat = |unit: &str| (0..lines / 20).map(|i| unit.replace('@', &i.to_string())).collect::<String>();
    let functions = repeat(
        "  // the mean of group @
  real mean_@(vector x, real shift, int n) {
    real sum_x = shift;
    for (j in 1:n) {
      sum_x += x[j] * exp(-square(x[j] - shift) / 2) + log1p_exp(shift);
    }
    return sum_x / n;
  }
",
    );
    let parameters = repeat("  vector[K] beta_@;\n  real<lower=0> sigma_@;\n");
    let model = repeat(
        "  beta_@ ~ normal(0, 2.5);
  sigma_@ ~ student_t(3, 0, 1);
  {
    vector[N] mu = x * beta_@ + mean_@(y, sigma_@, N);
    for (n in 1:N) {
      if (y[n] > 0 && mu[n] < 1e3) {
        target += normal_lpdf(y[n] | mu[n], sigma_@);
      }
    }
  }
",
    );
    let data = "data {\n  int<lower=1> N;\n  int<lower=1> K;\n  matrix[N, K] x;\n  vector[N] y;\n}\n";
    format!("functions {{\n{functions}}}\n{data}parameters {{\n{parameters}}}\nmodel {{\n{model}}}\n")
}

/// The shortest of several runs.
fn time(mut run: impl FnMut()) -> Duration {
    let once = |run: &mut dyn FnMut()| {
        let start = Instant::now();
        run();
        start.elapsed()
    };
    (0..20).map(|_| once(&mut run)).min().unwrap_or_default()
}

fn stanc(compiler: &str, text: &str) -> Option<Duration> {
    let path = std::env::temp_dir().join(format!("crust-bench-{}.stan", std::process::id()));
    std::fs::write(&path, text).ok()?;
    let elapsed = time(|| {
        let _ = Command::new(compiler).args(["--name=m", "--o=/dev/null"]).arg(&path).output();
    });
    std::fs::remove_file(&path).ok()?;
    Some(elapsed)
}

fn main() {
    let compiler = std::env::var("STANC").ok();
    let nothing = compiler.as_deref().and_then(|c| stanc(c, "")).unwrap_or_default();
    println!("{:>7}  {:>9}  {:>11}  {:>9}  {:>14}", "lines", "check ms", "µs per line", "format ms", "stanc / crust");
    for lines in [100, 1_000, 10_000] {
        let text = program(lines);
        let reading = read("bench.stan", None, &text, &NoIncludes);
        assert!(!reading.has_errors(), "the benchmark's program is valid");
        let check = time(|| drop(read("bench.stan", None, &text, &NoIncludes)));
        let print = time(|| drop(format(&reading.ast, &reading.comments, &reading.source)));
        let ratio = compiler
            .as_deref()
            .and_then(|c| stanc(c, &text))
            .map(|t| t.saturating_sub(nothing).as_secs_f64() / check.as_secs_f64());
        let ratio = ratio.map_or("no STANC".into(), |r| format!("{r:.0}×"));
        let lines = text.lines().count();
        #[expect(clippy::cast_precision_loss, reason = "a count of lines")]
        let per_line = check.as_secs_f64() * 1e6 / lines as f64;
        println!(
            "{lines:>7}  {:>9.2}  {per_line:>11.2}  {:>9.2}  {ratio:>14}",
            check.as_secs_f64() * 1e3,
            print.as_secs_f64() * 1e3
        );
    }
}
