//! How long a thread was at work.

use std::time::Instant;

/// Measures the time that the processor spent on this thread where the system tells it (Linux), so that other work on
/// the computer does not count; the time that passed, elsewhere and where it is too short to tell.
pub(crate) struct Stopwatch {
    begin: Instant,
    worked: Option<f64>,
}

/// The system counts in ticks of a few milliseconds.
const SHORTEST: f64 = 0.05;

/// Seconds of this thread on a processor: the first number of its scheduler statistics, in nanoseconds.
fn worked() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    let nanoseconds: f64 = text.split_whitespace().next()?.parse().ok()?;
    (nanoseconds > 0.0).then_some(nanoseconds * 1e-9)
}

impl Stopwatch {
    pub(crate) fn start() -> Self {
        Self { worked: worked(), begin: Instant::now() }
    }

    pub(crate) fn seconds(&self) -> f64 {
        let passed = self.begin.elapsed().as_secs_f64();
        if passed < SHORTEST {
            return passed;
        }
        let difference = self.worked.zip(worked()).map(|(before, after)| after - before);
        difference.filter(|seconds| *seconds > 0.0).map_or(passed, |seconds| seconds.min(passed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_runs_forward() {
        let watch = Stopwatch::start();
        let begin = Instant::now();
        let mut sum = 0.0;
        while begin.elapsed().as_secs_f64() < 0.06 {
            sum += begin.elapsed().as_secs_f64();
        }
        let seconds = watch.seconds();
        assert!(seconds > 0.0 && seconds < 60.0 && sum > 0.0, "{seconds}");
    }
}
