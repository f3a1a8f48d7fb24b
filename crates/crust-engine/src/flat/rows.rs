//! Rows of lanes.

#![allow(unsafe_code, reason = "positions are checked once for each run, not for each element")]

use crate::kernels::fma;

#[inline(always)]
pub fn fill(out: &mut [f64], x: f64) {
    // In lines, and with a number that the compiler does not know: otherwise it would make a call, which costs more
    // than most of what is filled here.
    let x = std::hint::black_box(x);
    let (lines, rest) = out.as_chunks_mut::<8>();
    for line in lines {
        *line = [x; 8];
    }
    for out in rest {
        *out = x;
    }
}

/// As many numbers as there is room for. In lines, for the same reason.
#[inline(always)]
pub fn copy(from: &[f64], to: &mut [f64]) {
    let one = std::hint::black_box(1.0);
    let (lines, rest) = to.as_chunks_mut::<8>();
    let (given, left) = from.as_chunks::<8>();
    let left = if given.len() > lines.len() { &given[lines.len()][..] } else { left };
    for (line, given) in lines.iter_mut().zip(given) {
        *line = *given;
    }
    for (to, x) in rest.iter_mut().zip(left) {
        *to = one * x;
    }
}

/// The same number for all lanes of an iteration.
#[inline(always)]
pub fn column<const L: usize>(numbers: &[f64], out: &mut [f64]) {
    if L == 1 {
        out.copy_from_slice(numbers);
        return;
    }
    // Eight iterations at once: of a shorter loop the compiler would make one that writes a number here and a number
    // there.
    let (eights, rest) = numbers.as_chunks::<8>();
    let (whole, remainder) = out.split_at_mut(eights.len() * 8 * L);
    for (x, rows) in eights.iter().zip(whole.chunks_exact_mut(8 * L)) {
        for r in 0..8 {
            store(rows, r * L, [x[r]; L]);
        }
    }
    for (&x, row) in rest.iter().zip(remainder.chunks_exact_mut(L)) {
        store(row, 0, [x; L]);
    }
}

// Rows of lanes as arrays, by value: the compiler keeps them in vector registers, which it does not do with slices that
// might overlap.

#[inline(always)]
pub fn load<const L: usize>(from: &[f64], at: usize) -> [f64; L] {
    let mut row = [0.0; L];
    row.copy_from_slice(&from[at..at + L]);
    row
}

/// # Safety
/// There must be `L` numbers from `at` on.
#[inline(always)]
pub unsafe fn load_unchecked<const L: usize>(from: &[f64], at: usize) -> [f64; L] {
    debug_assert!(at + L <= from.len());
    // SAFETY: the caller knows; an array of numbers is aligned as a number is.
    unsafe { from.as_ptr().add(at).cast::<[f64; L]>().read() }
}

/// # Safety
/// There must be `L` numbers from `at` on.
#[inline(always)]
pub unsafe fn store_unchecked<const L: usize>(to: &mut [f64], at: usize, row: [f64; L]) {
    debug_assert!(at + L <= to.len());
    // SAFETY: as above.
    unsafe { to.as_mut_ptr().add(at).cast::<[f64; L]>().write(row) };
}

#[inline(always)]
pub fn store<const L: usize>(to: &mut [f64], at: usize, row: [f64; L]) {
    to[at..at + L].copy_from_slice(&row);
}

/// Copies numbers, and repeats the last of them as often as there is room.
#[inline(always)]
pub fn repeat_last(to: &mut [f64], from: &[f64]) {
    let (given, rest) = to.split_at_mut(from.len());
    given.copy_from_slice(from);
    if let ([.., last], false) = (from, rest.is_empty()) {
        fill(rest, *last);
    }
}

/// Adds a row to the first numbers of another.
#[inline(always)]
pub fn add_to<const L: usize>(to: &mut [f64; 8], row: [f64; L]) {
    for l in 0..L {
        to[l] += row[l];
    }
}

#[inline(always)]
pub fn sum<const L: usize>(a: [f64; L], b: [f64; L]) -> [f64; L] {
    let mut row = a;
    for l in 0..L {
        row[l] = a[l] + b[l];
    }
    row
}

/// a + x b
#[inline(always)]
pub fn add_scaled<const L: usize>(a: [f64; L], x: f64, b: [f64; L]) -> [f64; L] {
    let mut row = a;
    for l in 0..L {
        row[l] = fma(x, b[l], a[l]);
    }
    row
}

/// a + x b, lane by lane
#[inline(always)]
pub fn add_product<const L: usize>(a: [f64; L], x: [f64; L], b: [f64; L]) -> [f64; L] {
    let mut row = a;
    for l in 0..L {
        row[l] = fma(x[l], b[l], a[l]);
    }
    row
}

/// The sum of the rows of a block, in four parts, so that additions need not wait for each other.
#[inline(always)]
pub fn sum_of_rows<const L: usize>(rows: &[f64]) -> [f64; L] {
    let mut parts = [[0.0; L]; 4];
    let mut fours = rows.chunks_exact(4 * L);
    for four in fours.by_ref() {
        for p in 0..4 {
            parts[p] = sum(parts[p], load::<L>(four, p * L));
        }
    }
    for (row, part) in fours.remainder().chunks_exact(L).zip(&mut parts) {
        *part = sum(*part, load::<L>(row, 0));
    }
    sum(sum(parts[0], parts[2]), sum(parts[1], parts[3]))
}
