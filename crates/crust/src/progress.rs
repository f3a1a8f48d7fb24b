//! A bar that shows how far the work at hand is; on a terminal only.

use crust_infer::drive::Control;
use indicatif::{ProgressBar, ProgressStyle};
use std::io::IsTerminal;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

/// How often the bar is drawn.
const TICK: Duration = Duration::from_millis(100);

/// The bar, and the thread that moves it.
#[derive(Clone)]
pub struct Progress {
    bar: ProgressBar,
    control: Arc<Control>,
    /// Transitions before the work at hand.
    base: Arc<AtomicU64>,
    ended: Arc<AtomicBool>,
}

impl Progress {
    pub fn new(control: &Arc<Control>, quiet: bool) -> Self {
        let shown = !quiet && std::io::stderr().is_terminal();
        let bar = if shown { ProgressBar::new(0) } else { ProgressBar::hidden() };
        let progress =
            Self { bar, control: Arc::clone(control), base: Arc::default(), ended: Arc::new(AtomicBool::new(false)) };
        if shown {
            let copy = progress.clone();
            thread::spawn(move || {
                while !copy.ended.load(Ordering::Relaxed) {
                    let done = copy.control.iterations().saturating_sub(copy.base.load(Ordering::Relaxed));
                    copy.bar.set_position(done);
                    thread::sleep(TICK);
                }
            });
        }
        progress
    }

    /// Something new begins.
    pub fn begin(&self, what: &str, transitions: usize) {
        self.base.store(self.control.iterations(), Ordering::Relaxed);
        // how long a pilot run takes is not known beforehand
        let template =
            if transitions > 0 { "{msg:44!} {bar:30} {percent:>3} %, {eta} left" } else { "{msg:44!} {elapsed}" };
        if let Ok(style) = ProgressStyle::with_template(template) {
            self.bar.set_style(style);
        }
        self.bar.set_message(what.to_owned());
        self.bar.set_length(transitions as u64);
        self.bar.reset();
    }

    /// Says something in between, without tearing the bar.
    pub fn aside(&self, say: impl FnOnce()) {
        self.bar.suspend(say);
    }

    /// Takes the bar away.
    pub fn end(&self) {
        self.ended.store(true, Ordering::Relaxed);
        self.bar.finish_and_clear();
    }
}
