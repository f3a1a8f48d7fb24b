//! How much memory an evaluation may take: less than the machine has, so that a program that asks for too much is told
//! so, in place of being killed by the system.

/// An arena has a value and an adjoint for each number.
const BYTES_PER_NUMBER: u64 = 16;
/// Addresses within an arena have 32 bits.
const MOST: u64 = 1 << 31;
/// The part of the memory that is free now which one arena may take.
const PART: f64 = 0.8;

/// So many numbers (16 MiB) are always there. Evaluators are many and short-lived, and asking the system takes as long as a
/// hundred small gradients.
const LITTLE: u64 = 1 << 20;

/// An arena that does not fit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TooLarge {
    needed: u64,
    limit: u64,
}

impl std::fmt::Display for TooLarge {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        #[allow(clippy::cast_precision_loss, reason = "one digit is shown")]
        let gib = |numbers: u64| (numbers * BYTES_PER_NUMBER) as f64 / f64::from(1 << 30);
        write!(
            f,
            "the program needs {:.1} GiB for one evaluation, and there are {:.1} GiB: evaluate fewer chains together \
             (`--lanes`), or make its largest containers smaller",
            gib(self.needed),
            gib(self.limit)
        )
    }
}

/// Whether an arena may have room for so many numbers.
pub fn check(numbers: usize) -> Result<(), TooLarge> {
    let needed = numbers as u64;
    if needed <= LITTLE {
        return Ok(());
    }
    let limit = available().map_or(MOST, |bytes| within(bytes).min(MOST));
    if needed > limit { Err(TooLarge { needed, limit }) } else { Ok(()) }
}

#[allow(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a rough limit"
)]
fn within(bytes: u64) -> u64 {
    (bytes as f64 * PART) as u64 / BYTES_PER_NUMBER
}

/// Bytes that could be had now, where the system says so.
fn available() -> Option<u64> {
    read(&std::fs::read_to_string("/proc/meminfo").ok()?)
}

fn read(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    line.split_whitespace().next()?.parse::<u64>().ok()?.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_system_is_understood() {
        assert_eq!(read("MemTotal: 9 kB\nMemAvailable:    2048 kB\nCached: 1 kB\n"), Some(2 << 20));
        assert_eq!(read("MemTotal: 9 kB\n"), None);
        assert_eq!(read("MemAvailable: many kB\n"), None);
    }

    #[test]
    fn too_much_is_told_with_numbers() {
        assert_eq!(check(1 << 10), Ok(()));
        let error = check(1 << 40).expect_err("16 TiB").to_string();
        assert!(error.contains("needs 16384.0 GiB") && error.contains("--lanes"), "{error}");
    }
}
