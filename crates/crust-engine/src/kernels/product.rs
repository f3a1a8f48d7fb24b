//! Products of matrices, vectors included: `C = A·B`, where each operand varies over any axes.
//!
//! The adjoints are `Ā += C̄·Bᵀ` and `B̄ += Aᵀ·C̄`, summed over the axes along which the operand is broadcast. With
//! lanes, each scalar of the textbook loops is a row of lanes: a data matrix times a vector of parameters is one
//! product of two matrices.

use crust_math::lanes::{InstructionSet, Kernel, dispatch};

use super::{fma, row_sum};
use crate::memory::{Arena, Block, Walk, Width};

/// The sizes of a product: `rows × inner` times `inner × columns`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizes {
    pub rows: usize,
    pub inner: usize,
    pub columns: usize,
}

/// Where element `(i, j)` of a column-major operand begins, for one row of items.
#[derive(Clone, Copy)]
struct Operand {
    at: usize,
    /// From one row of the matrix to the next, and from one column to the next.
    down: usize,
    right: usize,
    /// Whether the operand varies inside a row of items.
    unit: bool,
}

impl Operand {
    #[inline(always)]
    fn element(self, i: usize, j: usize) -> usize {
        self.at + i * self.down + j * self.right
    }

    #[inline(always)]
    fn transposed(self) -> Self {
        Self { down: self.right, right: self.down, ..self }
    }
}

const LANES: usize = 8;

/// `C = A·B` for one row of items: `C` varies inside it, and one operand or both do.
struct Forward<'a> {
    sizes: Sizes,
    n: usize,
    a: Operand,
    b: Operand,
    values: &'a [f64],
    /// `C`, whose elements are `stride` apart.
    out: &'a mut [f64],
    stride: usize,
    /// A number that is added to every element.
    plus: Option<Operand>,
}

/// `R` rows of `C` in one column, for eight neighbouring items: `Σₖ s(i, k)·v(k)`, where the scalar `s` does not vary.
#[inline(always)]
fn scalar_by_row<const R: usize>(
    values: &[f64],
    begin: [f64; LANES],
    inner: usize,
    scalar: impl Fn(usize, usize) -> usize,
    row: impl Fn(usize) -> usize,
) -> [[f64; LANES]; R] {
    let mut sums = [begin; R];
    for k in 0..inner {
        let at = row(k);
        let v: &[f64; LANES] = values[at..at + LANES].try_into().expect("eight items");
        for r in 0..R {
            let s = values[scalar(r, k)];
            for l in 0..LANES {
                sums[r][l] = fma(s, v[l], sums[r][l]);
            }
        }
    }
    sums
}

impl Forward<'_> {
    /// Where one operand does not vary inside the row of items. `scalar` is that operand and `row` the other, both seen
    /// so that the result is `scalar · row` with `outer` rows and `across` columns; `place` says where a result goes.
    #[inline(always)]
    fn one_varies(
        self,
        scalar: Operand,
        row: Operand,
        [outer, across]: [usize; 2],
        place: impl Fn(usize, usize) -> usize,
    ) {
        let Self { sizes, n, values, out, plus, .. } = self;
        let whole = n - n % LANES;
        for j in 0..across {
            for from in (0..whole).step_by(LANES) {
                let begin = begin(values, plus, from);
                let mut i = 0;
                while i < outer {
                    if i + 4 <= outer {
                        let block = scalar_by_row::<4>(
                            values,
                            begin,
                            sizes.inner,
                            #[inline(always)]
                            |r, k| scalar.element(i + r, k),
                            #[inline(always)]
                            |k| row.element(k, j) + from,
                        );
                        for (r, sums) in block.iter().enumerate() {
                            let at = place(i + r, j) + from;
                            out[at..at + LANES].copy_from_slice(sums);
                        }
                        i += 4;
                    } else {
                        let [sums] = scalar_by_row::<1>(
                            values,
                            begin,
                            sizes.inner,
                            #[inline(always)]
                            |_, k| scalar.element(i, k),
                            #[inline(always)]
                            |k| row.element(k, j) + from,
                        );
                        let at = place(i, j) + from;
                        out[at..at + LANES].copy_from_slice(&sums);
                        i += 1;
                    }
                }
            }
            for i in 0..outer {
                for item in whole..n {
                    let mut sum = plus.map_or(0.0, |p| values[p.at + if p.unit { item } else { 0 }]);
                    for k in 0..sizes.inner {
                        sum = fma(values[scalar.element(i, k)], values[row.element(k, j) + item], sum);
                    }
                    out[place(i, j) + item] = sum;
                }
            }
        }
    }

    #[inline(always)]
    fn both_vary(self) {
        let Self { sizes, n, a, b, values, out, stride, plus } = self;
        let whole = n - n % LANES;
        for j in 0..sizes.columns {
            for i in 0..sizes.rows {
                let at = (i + j * sizes.rows) * stride;
                // Sums of eight items stay in registers.
                let mut from = 0;
                while from < whole {
                    let mut sums = begin(values, plus, from);
                    for k in 0..sizes.inner {
                        let (a, b) = (a.element(i, k) + from, b.element(k, j) + from);
                        multiply_add(eight(values, a), eight(values, b), &mut sums);
                    }
                    out[at + from..at + from + LANES].copy_from_slice(&sums);
                    from += LANES;
                }
                if whole == n {
                    continue;
                }
                let row = &mut out[at..at + n];
                match plus {
                    None => row.fill(0.0),
                    Some(p) if p.unit => row.copy_from_slice(&values[p.at..p.at + n]),
                    Some(p) => row.fill(values[p.at]),
                }
                for k in 0..sizes.inner {
                    let (a, b) = (a.element(i, k), b.element(k, j));
                    for ((y, &a), &b) in row.iter_mut().zip(&values[a..a + n]).zip(&values[b..b + n]) {
                        *y = fma(a, b, *y);
                    }
                }
            }
        }
    }

    /// One item: an ordinary product, column by column.
    #[inline(always)]
    fn one_item(self) {
        let Self { sizes, a, b, values, out, stride, plus, .. } = self;
        let begin = plus.map_or(0.0, |p| values[p.at]);
        if a.down == 1 && stride == 1 && sizes.rows > 1 {
            for j in 0..sizes.columns {
                let column = &mut out[j * sizes.rows..(j + 1) * sizes.rows];
                column.fill(begin);
                for k in 0..sizes.inner {
                    let (from, s) = (a.element(0, k), values[b.element(k, j)]);
                    for (y, &a) in column.iter_mut().zip(&values[from..from + sizes.rows]) {
                        *y = fma(a, s, *y);
                    }
                }
            }
            return;
        }
        for j in 0..sizes.columns {
            for i in 0..sizes.rows {
                let (a0, b0) = (a.element(i, 0), b.element(0, j));
                let sum = row_sum(
                    sizes.inner,
                    #[inline(always)]
                    |k| values[a0 + k * a.right] * values[b0 + k * b.down],
                );
                out[(i + j * sizes.rows) * stride] = begin + sum;
            }
        }
    }
}

impl Kernel for Forward<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let (a, b, Sizes { rows, columns, .. }, stride) = (self.a, self.b, self.sizes, self.stride);
        if self.n == 1 {
            self.one_item();
        } else if a.unit && b.unit {
            self.both_vary();
        } else if b.unit {
            self.one_varies(
                a,
                b,
                [rows, columns],
                #[inline(always)]
                |i, j| (i + j * rows) * stride,
            );
        } else {
            // C = A·B is Cᵀ = Bᵀ·Aᵀ.
            self.one_varies(
                b.transposed(),
                a.transposed(),
                [columns, rows],
                #[inline(always)]
                |j, i| (i + j * rows) * stride,
            );
        }
    }
}

/// The rows of items of a product, and where each operand begins.
fn items(width: Width, blocks: [Block; 3]) -> Walk<3> {
    Walk::new(1, width, blocks)
}

fn operand(block: Block, at: usize, rows: usize, width: Width, unit: bool) -> Operand {
    let element = block.item_len(width);
    Operand { at, down: element, right: element * rows, unit }
}

#[inline(always)]
fn eight(numbers: &[f64], at: usize) -> &[f64; LANES] {
    numbers[at..at + LANES].try_into().expect("eight items")
}

#[inline(always)]
fn multiply_add(a: &[f64; LANES], b: &[f64; LANES], sums: &mut [f64; LANES]) {
    for l in 0..LANES {
        sums[l] = fma(a[l], b[l], sums[l]);
    }
}

/// Where the sums of eight items begin.
#[inline(always)]
fn begin(values: &[f64], plus: Option<Operand>, from: usize) -> [f64; LANES] {
    match plus {
        None => [0.0; LANES],
        Some(p) if p.unit => values[p.at + from..p.at + from + LANES].try_into().expect("eight items"),
        Some(p) => [values[p.at]; LANES],
    }
}

/// `c = a·b + plus`, all column-major; `plus` is a number that varies over no other axes than the product.
pub fn forward(arena: &mut Arena, width: Width, sizes: Sizes, [a, b]: [Block; 2], plus: Option<Block>, c: Block) {
    let walk: Walk<4> = Walk::new(1, width, [a, b, c, plus.unwrap_or(c)]);
    let stride = c.item_len(width);
    let (values, out) = arena.below(c, width);
    if sizes.inner == 0 {
        out.fill(0.0);
        return;
    }
    walk.rows(|[a_at, b_at, c_at, plus_at]| {
        dispatch(Forward {
            sizes,
            n: walk.inner,
            a: operand(a, a_at, sizes.rows, width, walk.unit[0]),
            b: operand(b, b_at, sizes.inner, width, walk.unit[1]),
            values,
            out: &mut out[c_at - c.start()..],
            stride,
            plus: plus.map(|_| Operand { at: plus_at, down: 0, right: 0, unit: walk.unit[3] }),
        });
    });
}

/// `X̄ += Y·C̄` for one row of items, where `X̄` is the adjoint of an operand and `Y` the other operand, turned so that
/// the product is right: `x(i, k) += Σⱼ y(j, k)·c(i, j)`.
struct Backward<'a> {
    /// Rows of `x`, its columns, and how many terms each sum has.
    sizes: Sizes,
    n: usize,
    x: Operand,
    y: Operand,
    c: Operand,
    values: &'a [f64],
    into: &'a mut [f64],
    adjoint: &'a [f64],
}

/// `x(i, k + r) += Σⱼ y(j, k + r)·c(i, j)` for `R` neighbouring columns and eight neighbouring items. Even and odd
/// terms are added up apart.
#[inline(always)]
fn columns<const R: usize>(
    (x, y, c): (Operand, Operand, Operand),
    (i, k, from): (usize, usize, usize),
    terms: usize,
    values: &[f64],
    adjoint: &[f64],
    into: &mut [f64],
) {
    let mut even = [[0.0; LANES]; R];
    let mut odd = [[0.0; LANES]; R];
    let mut j = 0;
    while j + 1 < terms {
        term((y, c), (i, j, k, from), values, adjoint, &mut even);
        term((y, c), (i, j + 1, k, from), values, adjoint, &mut odd);
        j += 2;
    }
    if j < terms {
        term((y, c), (i, j, k, from), values, adjoint, &mut even);
    }
    for r in 0..R {
        let at = x.element(i, k + r) + from;
        for l in 0..LANES {
            into[at + l] += even[r][l] + odd[r][l];
        }
    }
}

/// Adds term `j` to the sums of [`columns`].
#[inline(always)]
fn term<const R: usize>(
    (y, c): (Operand, Operand),
    (i, j, k, from): (usize, usize, usize, usize),
    values: &[f64],
    adjoint: &[f64],
    sums: &mut [[f64; LANES]; R],
) {
    let at = c.element(i, j) + from;
    let d: &[f64; LANES] = adjoint[at..at + LANES].try_into().expect("eight items");
    for r in 0..R {
        let s = values[y.element(j, k + r)];
        for l in 0..LANES {
            sums[r][l] = fma(s, d[l], sums[r][l]);
        }
    }
}

impl Backward<'_> {
    /// `x` and `c` vary and `y` does not: some columns of `x` take in their terms together, so that no sum waits for
    /// itself; no more than there are registers for.
    #[inline(always)]
    fn scalar_factor(self) {
        let Self { sizes, n, x, y, c, values, into, adjoint } = self;
        let whole = n - n % LANES;
        let many = InstructionSet::best().has_many_registers();
        for i in 0..sizes.rows {
            for from in (0..whole).step_by(LANES) {
                let mut k = 0;
                while k < sizes.columns {
                    if many && k + 4 <= sizes.columns {
                        columns::<4>((x, y, c), (i, k, from), sizes.inner, values, adjoint, into);
                        k += 4;
                    } else if k + 2 <= sizes.columns {
                        columns::<2>((x, y, c), (i, k, from), sizes.inner, values, adjoint, into);
                        k += 2;
                    } else {
                        columns::<1>((x, y, c), (i, k, from), sizes.inner, values, adjoint, into);
                        k += 1;
                    }
                }
            }
            for k in 0..sizes.columns {
                let at = x.element(i, k);
                for item in whole..n {
                    let mut sum = into[at + item];
                    for j in 0..sizes.inner {
                        sum = fma(values[y.element(j, k)], adjoint[c.element(i, j) + item], sum);
                    }
                    into[at + item] = sum;
                }
            }
        }
    }

    #[inline(always)]
    fn general(self) {
        let Self { sizes, n, x, y, c, values, into, adjoint } = self;
        let registers = x.unit && y.unit && n.is_multiple_of(LANES);
        for k in 0..sizes.columns {
            for i in 0..sizes.rows {
                let at = x.element(i, k);
                let mut from = 0;
                while registers && from < n {
                    let mut even = [0.0; LANES];
                    let mut odd = [0.0; LANES];
                    let mut j = 0;
                    while j + 1 < sizes.inner {
                        let (y0, y1) = (y.element(j, k) + from, y.element(j + 1, k) + from);
                        let (d0, d1) = (c.element(i, j) + from, c.element(i, j + 1) + from);
                        multiply_add(eight(values, y0), eight(adjoint, d0), &mut even);
                        multiply_add(eight(values, y1), eight(adjoint, d1), &mut odd);
                        j += 2;
                    }
                    if j < sizes.inner {
                        let (y0, d0) = (y.element(j, k) + from, c.element(i, j) + from);
                        multiply_add(eight(values, y0), eight(adjoint, d0), &mut even);
                    }
                    for (l, to) in into[at + from..at + from + LANES].iter_mut().enumerate() {
                        *to += even[l] + odd[l];
                    }
                    from += LANES;
                }
                if registers {
                    continue;
                }
                for j in 0..sizes.inner {
                    let (from, d) = (y.element(j, k), c.element(i, j));
                    let d = &adjoint[d..d + n];
                    match [x.unit, y.unit] {
                        [true, true] => {
                            for ((to, &d), &y) in into[at..at + n].iter_mut().zip(d).zip(&values[from..from + n]) {
                                *to = fma(d, y, *to);
                            }
                        }
                        [true, false] => {
                            let y = values[from];
                            for (to, &d) in into[at..at + n].iter_mut().zip(d) {
                                *to = fma(d, y, *to);
                            }
                        }
                        [false, true] => {
                            let y = &values[from..from + n];
                            into[at] += row_sum(
                                n,
                                #[inline(always)]
                                |i| d[i] * y[i],
                            );
                        }
                        [false, false] => {
                            into[at] += values[from]
                                * row_sum(
                                    n,
                                    #[inline(always)]
                                    |i| d[i],
                                );
                        }
                    }
                }
            }
        }
    }

    /// One item, and the sums run along contiguous numbers.
    #[inline(always)]
    fn one_item(self) {
        let Self { sizes, x, y, c, values, into, adjoint, .. } = self;
        for k in 0..sizes.columns {
            for i in 0..sizes.rows {
                let (from, d) = (y.element(0, k), c.element(i, 0));
                if y.down == 1 && c.right == 1 {
                    let (y, d) = (&values[from..from + sizes.inner], &adjoint[d..d + sizes.inner]);
                    into[x.element(i, k)] += row_sum(
                        sizes.inner,
                        #[inline(always)]
                        |j| y[j] * d[j],
                    );
                    continue;
                }
                into[x.element(i, k)] += row_sum(
                    sizes.inner,
                    #[inline(always)]
                    |j| values[from + j * y.down] * adjoint[d + j * c.right],
                );
            }
        }
    }
}

impl Kernel for Backward<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        if self.n == 1 {
            self.one_item();
        } else if self.x.unit && !self.y.unit {
            self.scalar_factor();
        } else {
            self.general();
        }
    }
}

/// The adjoints of the operands that have one.
pub fn reverse(arena: &mut Arena, width: Width, sizes: Sizes, [a, b]: [Block; 2], c: Block) {
    let walk = items(width, [a, b, c]);
    let (values, mut adjoints) = arena.both();
    let base = adjoints.base();
    let (into, adjoint) = adjoints.below(c, width);
    let Sizes { rows, inner, columns } = sizes;
    walk.rows(|[a_at, b_at, c_at]| {
        let c = operand(c, c_at - c.start(), rows, width, true);
        let y = operand(b, b_at, inner, width, walk.unit[1]);
        if a.gradient() {
            // Ā(i, k) += Σⱼ C̄(i, j) B(k, j)
            let x = operand(a, a_at - base, rows, width, walk.unit[0]);
            let sizes = Sizes { rows, inner: columns, columns: inner };
            dispatch(Backward { sizes, n: walk.inner, x, y: y.transposed(), c, values, into, adjoint });
        }
        if b.gradient() {
            // B̄(k, j) += Σᵢ A(i, k) C̄(i, j), seen as B̄ᵀ(j, k)
            let x = operand(b, b_at - base, inner, width, walk.unit[1]).transposed();
            let y = operand(a, a_at, rows, width, walk.unit[0]);
            let sizes = Sizes { rows: columns, inner: rows, columns: inner };
            dispatch(Backward { sizes, n: walk.inner, x, y, c: c.transposed(), values, into, adjoint });
        }
    });
}
