//! Sums of products have the same bits however many rows are computed at once.

use super::*;

fn numbers(count: usize, seed: u64) -> Vec<f64> {
    let mut bits = seed;
    let mut next = || {
        bits ^= bits << 13;
        bits ^= bits >> 7;
        bits ^= bits << 17;
        f64::from_bits(bits >> 12 | 1.0_f64.to_bits()) - 1.5
    };
    (0..count).map(|_| next()).collect()
}

fn bits(x: &[f64]) -> Vec<u64> {
    x.iter().map(|x| x.to_bits()).collect()
}

/// Rows times elements: each sum goes along the elements, from what it is added to on.
#[test]
fn rows_times_elements() {
    const L: usize = 8;
    for (m, inner) in [(1, 3), (4, 1), (7, 5), (8, 2), (16, 24)] {
        let (all, start, origin, step) = (m + 3, 2, 5, L + 3);
        let (rows, plus) = (numbers(inner * all, 17), numbers(m * L, 5));
        let mut values = numbers(origin + inner * step, 99);
        values[origin + 1] = f64::INFINITY;
        values[origin + 2] = f64::from_bits(3);
        let product = RowProduct { rows: &rows, inner, all, start, values: &values, origin, step };
        let mut expected = plus.clone();
        for i in 0..m {
            for k in 0..inner {
                for l in 0..L {
                    let to = &mut expected[i * L + l];
                    *to = rows[k * all + start + i].mul_add(values[origin + k * step + l], *to);
                }
            }
        }
        let (mut few, mut most) = (vec![0.0; m * L], vec![0.0; m * L]);
        product.add::<L, FEW_ROWS>(&plus, &mut few);
        product.add::<L, MOST_ROWS>(&plus, &mut most);
        assert_eq!(bits(&few), bits(&expected), "{m} × {inner}");
        assert_eq!(bits(&most), bits(&expected), "{m} × {inner}");
    }
}

fn columns<'a>(rows: &'a [f64], by: &'a [f64], (blocks, length): (usize, usize)) -> Columns<'a> {
    let n = blocks * length;
    Columns { rows, all: n, first: 0, count: n, length, blocks: 0..blocks, by }
}

/// Columns times rows of lanes: each sum goes along the rows of a block, and is then added to the element; the same for
/// a lane alone, whose blocks stand beside each other, or which has one.
#[test]
fn columns_times_rows() {
    const L: usize = 8;
    for (blocks, length) in [(0, 1), (1, 1), (1, 5), (1, 15), (1, 16), (4, 3), (8, 1), (8, 2), (8, 16)] {
        let n = blocks * length;
        let (by, step, at) = (numbers(n * L, 7), L + 2, 3);
        let rows = numbers(n * MOST_ROWS, 31);
        let before = numbers(at + MOST_ROWS * step, 13);
        let mut expected = before.clone();
        for (k, l, b) in (0..MOST_ROWS).flat_map(|k| (0..L).flat_map(move |l| (0..blocks).map(move |b| (k, l, b)))) {
            let own = b * length..(b + 1) * length;
            expected[at + k * step + l] += own.fold(0.0, |sum: f64, i| rows[k * n + i].mul_add(by[i * L + l], sum));
        }
        let (mut few, mut most) = (before.clone(), before.clone());
        let mut parts = columns(&rows, &by, (blocks, length));
        for first in (0..MOST_ROWS).step_by(FEW_ROWS) {
            parts.add::<L, FEW_ROWS>(Alone::No, &mut few, (at + first * step, step));
        }
        columns(&rows, &by, (blocks, length)).add::<L, MOST_ROWS>(Alone::No, &mut most, (at, step));
        assert_eq!(bits(&few), bits(&expected), "{blocks} blocks of {length}");
        assert_eq!(bits(&most), bits(&expected), "{blocks} blocks of {length}");
        let alone = match blocks {
            1 => Alone::InOrder,
            L => Alone::Beside,
            _ => continue,
        };
        for l in 0..L {
            let place = |i: usize| i % blocks * length + i / blocks;
            let rows: Vec<f64> =
                (0..MOST_ROWS).flat_map(|k| (0..n).map(move |i| k * n + place(i))).map(|i| rows[i]).collect();
            let by: Vec<f64> = (0..n).map(|i| by[place(i) * L + l]).collect();
            let mut found: Vec<f64> = (0..MOST_ROWS).map(|k| before[at + k * step + l]).collect();
            columns(&rows, &by, (blocks, length)).add::<L, MOST_ROWS>(alone, &mut found, (0, 1));
            let expected: Vec<f64> = (0..MOST_ROWS).map(|k| expected[at + k * step + l]).collect();
            assert_eq!(bits(&found), bits(&expected), "{blocks} blocks of {length}, lane {l} alone");
        }
    }
}
