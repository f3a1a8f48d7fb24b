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

/// Columns times rows of lanes: each sum goes along the rows, and is then added to the element.
#[test]
fn columns_times_rows() {
    const L: usize = 8;
    for n in [0, 1, 5, 16] {
        let (by, step, at) = (numbers(n * L, 7), L + 2, 3);
        let columns: [Vec<f64>; MOST_ROWS] = array(|k| numbers(n, 31 + k as u64));
        let before = numbers(at + MOST_ROWS * step, 13);
        let mut expected = before.clone();
        for k in 0..MOST_ROWS {
            for l in 0..L {
                let sum = (0..n).fold(0.0, |sum: f64, i| columns[k][i].mul_add(by[i * L + l], sum));
                expected[at + k * step + l] += sum;
            }
        }
        let (mut few, mut most) = (before.clone(), before);
        for first in (0..MOST_ROWS).step_by(FEW_ROWS) {
            let own: [&[f64]; FEW_ROWS] = array(|k| &columns[first + k][..]);
            columns_times::<L, FEW_ROWS>(own, &by, &mut few, (at + first * step, step));
        }
        columns_times::<L, MOST_ROWS>(array(|k| &columns[k][..]), &by, &mut most, (at, step));
        assert_eq!(bits(&few), bits(&expected), "{n} rows");
        assert_eq!(bits(&most), bits(&expected), "{n} rows");
    }
}
