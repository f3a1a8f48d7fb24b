//! The schedule of warm-up: which iterations estimate the metric, and after which it is replaced.

/// Stan's windows: a fast interval that finds the typical set, slow windows of doubling size whose draws estimate the
/// metric, and a last fast interval for the step size alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WindowSizes {
    pub init_buffer: usize,
    pub term_buffer: usize,
    pub base_window: usize,
}

impl Default for WindowSizes {
    fn default() -> Self {
        Self { init_buffer: 75, term_buffer: 50, base_window: 25 }
    }
}

/// Below this many iterations the metric is not estimated.
const SHORTEST: usize = 20;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Windows {
    /// The first iteration whose draw counts.
    first: usize,
    /// The last iteration of each window.
    ends: Vec<usize>,
}

impl Windows {
    /// Where the sizes do not fit, the stages get 15 %, 75 % and 10 % of the iterations. A window is stretched to the
    /// end of the slow stage if the one after it, of twice its size, would not fit.
    pub(crate) fn new(warmup: usize, sizes: WindowSizes) -> Self {
        let WindowSizes { mut init_buffer, mut term_buffer, base_window } = sizes;
        let mut size = base_window.max(1);
        if warmup < SHORTEST {
            return Self { first: warmup, ends: vec![] };
        }
        if init_buffer.saturating_add(size).saturating_add(term_buffer) > warmup {
            init_buffer = warmup * 15 / 100;
            term_buffer = warmup / 10;
            size = warmup - init_buffer - term_buffer;
        }
        let last = warmup - term_buffer - 1;
        let mut ends = vec![init_buffer + size - 1];
        while let Some(&end) = ends.last()
            && end < last
        {
            size *= 2;
            let next = end + size;
            ends.push(if next + 2 * size > last { last } else { next });
        }
        Self { first: init_buffer, ends }
    }

    /// Whether an iteration belongs to the first fast interval.
    pub(crate) fn is_before(&self, iteration: usize) -> bool {
        iteration < self.first && !self.ends.is_empty()
    }

    /// Whether the draw of an iteration counts.
    pub(crate) fn contains(&self, iteration: usize) -> bool {
        iteration >= self.first && self.ends.last().is_some_and(|&last| iteration <= last)
    }

    /// Whether the metric is replaced after an iteration.
    pub(crate) fn ends_at(&self, iteration: usize) -> bool {
        self.ends.binary_search(&iteration).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn windows(warmup: usize) -> (usize, Vec<usize>) {
        let windows = Windows::new(warmup, WindowSizes::default());
        (windows.first, windows.ends)
    }

    #[test]
    fn windows_are_those_of_stan() {
        assert_eq!(windows(1000), (75, vec![99, 149, 249, 449, 949]));
        assert_eq!(windows(500), (75, vec![99, 149, 249, 449]));
        assert_eq!(windows(2000), (75, vec![99, 149, 249, 449, 849, 1949]));
        assert_eq!(windows(150), (75, vec![99]));
        assert_eq!(windows(151), (75, vec![99, 100]));
        assert_eq!(windows(149), (22, vec![134]));
        assert_eq!(windows(20), (3, vec![17]));
        assert_eq!(windows(19), (19, vec![]));
        assert_eq!(windows(0), (0, vec![]));
    }

    #[test]
    fn every_window_is_inside_of_warm_up() {
        for warmup in 0..1500 {
            let windows = Windows::new(warmup, WindowSizes::default());
            assert!(windows.ends.windows(2).all(|pair| pair[0] < pair[1]));
            assert!(windows.ends.iter().all(|&end| end < warmup && windows.contains(end) && windows.ends_at(end)));
            assert!(!windows.contains(warmup) && !windows.ends_at(warmup));
            let before = (0..warmup).filter(|&i| windows.is_before(i)).count();
            assert_eq!(before, if windows.ends.is_empty() { 0 } else { windows.first });
        }
    }

    #[test]
    fn unusual_sizes() {
        let sizes = WindowSizes { init_buffer: 0, term_buffer: 0, base_window: 0 };
        let windows = Windows::new(20, sizes);
        assert_eq!(windows.ends, [0, 2, 6, 19]);
        assert!(windows.contains(0) && windows.contains(19));
    }
}
