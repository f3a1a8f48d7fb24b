//! Small tools for the memory of matrices: parts of a slice, transposes, the identity.

/// Parts of the given sizes, one after the other.
pub fn parts<const K: usize>(mut scratch: &mut [f64], sizes: [usize; K]) -> [&mut [f64]; K] {
    sizes.map(|size| {
        let (part, rest) = std::mem::take(&mut scratch).split_at_mut(size);
        scratch = rest;
        part
    })
}

/// Overwrites `out` by the transpose of `a`, which has `rows` rows.
pub fn transpose(a: &[f64], rows: usize, out: &mut [f64]) {
    if rows == 0 {
        return;
    }
    let columns = a.len() / rows;
    for (j, column) in a.chunks_exact(rows).enumerate() {
        for (i, x) in column.iter().enumerate() {
            out[j + i * columns] = *x;
        }
    }
}

/// Overwrites `out` by the identity.
pub fn identity(out: &mut [f64], n: usize) {
    out.fill(0.0);
    out.iter_mut().step_by(n + 1).for_each(|x| *x = 1.0);
}
