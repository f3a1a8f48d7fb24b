//! Room on the stack: programs nest and recurse, and stacks end.

use std::cell::Cell;
use std::sync::Mutex;

/// Stacks to ask the system for, the largest first; pages that are not touched cost nothing.
const STACKS: [usize; 3] = [512 << 20, 64 << 20, 8 << 20];
/// What is left alone at the end of a stack: room for library functions and messages.
const RESERVE: usize = 256 << 10;
/// What a thread that nobody prepared is trusted to have left.
const UNPREPARED: usize = 1 << 20;

thread_local! {
    /// The address below which the stack of this thread must not grow; 0 where it is not set yet.
    static FLOOR: Cell<usize> = const { Cell::new(0) };
}

/// Roughly where the stack stands now.
#[inline]
fn stack_address() -> usize {
    let marker = 0_u8;
    std::ptr::from_ref(&marker).addr()
}

/// Runs `work` on a deep stack, so that programs may recurse deeply.
pub fn on_deep_stack<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    // The work is handed over through a slot: a thread that cannot be started must not take it away.
    let work = Mutex::new(Some(work));
    let take = || work.lock().ok().and_then(|mut slot| slot.take());
    for size in STACKS {
        let result = std::thread::scope(|scope| {
            let thread = std::thread::Builder::new().name("deep".into()).stack_size(size);
            let run = || {
                FLOOR.set(stack_address().saturating_sub(size - RESERVE));
                take().map(|work| work())
            };
            let handle = thread.spawn_scoped(scope, run).ok()?;
            handle.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        });
        if let Some(result) = result {
            return result;
        }
    }
    match take() {
        Some(work) => work(),
        None => unreachable!("a thread that took the work has returned its result"),
    }
}

/// Whether there is room for one more level of nesting: inside of [`on_deep_stack`] for thousands, elsewhere only as far
/// as a usual stack reaches.
pub fn has_room() -> bool {
    if FLOOR.get() == 0 {
        FLOOR.set(stack_address().saturating_sub(UNPREPARED));
    }
    stack_address() >= FLOOR.get()
}
