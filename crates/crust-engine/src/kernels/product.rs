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

/// Items of which eight sums fit in sixteen registers.
const HALF: usize = 4;

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
                // One after the other, as for more lanes.
                let mut sum = begin;
                for k in 0..sizes.inner {
                    sum = fma(values[a.element(i, k)], values[b.element(k, j)], sum);
                }
                out[(i + j * sizes.rows) * stride] = sum;
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

/// Terms whose sums run beside each other, so that the vector units can work on one item as well.
const SUMS: usize = 8;

/// The sum of eight running sums and of what was left over: the order does not depend on the number of items.
#[inline(always)]
fn total<const H: usize>(sums: &[[f64; H]; SUMS], rest: &[f64; H]) -> [f64; H] {
    let mut all = [0.0; H];
    for l in 0..H {
        let lower = (sums[0][l] + sums[4][l]) + (sums[1][l] + sums[5][l]);
        let upper = (sums[2][l] + sums[6][l]) + (sums[3][l] + sums[7][l]);
        all[l] = lower + upper + rest[l];
    }
    all
}

/// `x(i, k + r) += Σⱼ y(j, k + r)·c(i, j)` for `R` neighbouring columns and `H` neighbouring items. `V` says whether `y`
/// varies between them.
#[inline(always)]
fn columns<const R: usize, const H: usize, const V: bool>(
    (x, y, c): (Operand, Operand, Operand),
    (i, k, from): (usize, usize, usize),
    terms: usize,
    (values, adjoint, into): (&[f64], &[f64], &mut [f64]),
) {
    let (mut sums, mut rest) = ([[[0.0; H]; SUMS]; R], [[0.0; H]; R]);
    let whole = terms - terms % SUMS;
    for j in (0..whole).step_by(SUMS) {
        for q in 0..SUMS {
            let d = part::<H>(adjoint, c.element(i, j + q) + from);
            for r in 0..R {
                let at = y.element(j + q, k + r);
                let s = if V { part::<H>(values, at + from) } else { [values[at]; H] };
                for l in 0..H {
                    sums[r][q][l] = fma(s[l], d[l], sums[r][q][l]);
                }
            }
        }
    }
    for j in whole..terms {
        let d = part::<H>(adjoint, c.element(i, j) + from);
        for r in 0..R {
            let at = y.element(j, k + r);
            let s = if V { part::<H>(values, at + from) } else { [values[at]; H] };
            for l in 0..H {
                rest[r][l] = fma(s[l], d[l], rest[r][l]);
            }
        }
    }
    for r in 0..R {
        let at = x.element(i, k + r) + from;
        for (to, sum) in into[at..at + H].iter_mut().zip(total(&sums[r], &rest[r])) {
            *to += sum;
        }
    }
}

#[inline(always)]
fn part<const H: usize>(numbers: &[f64], at: usize) -> [f64; H] {
    let mut row = [0.0; H];
    row.copy_from_slice(&numbers[at..at + H]);
    row
}

impl Backward<'_> {
    /// `x` and `c` vary and `y` does not: two columns of `x` at once, and eight items or as many as there are registers
    /// for.
    #[inline(always)]
    fn scalar_factor(self) {
        let many = InstructionSet::best().has_many_registers();
        let Self { sizes, n, x, y, c, values, into, adjoint } = self;
        let whole = n - n % LANES;
        for i in 0..sizes.rows {
            let mut k = 0;
            while k < sizes.columns {
                let two = many && k + 2 <= sizes.columns;
                for from in (0..whole).step_by(LANES) {
                    let (operands, numbers) = ((x, y, c), (values, adjoint, &mut *into));
                    if two {
                        columns::<2, LANES, false>(operands, (i, k, from), sizes.inner, numbers);
                    } else if many {
                        columns::<1, LANES, false>(operands, (i, k, from), sizes.inner, numbers);
                    } else {
                        columns::<1, HALF, false>(operands, (i, k, from), sizes.inner, numbers);
                        let numbers = (values, adjoint, &mut *into);
                        columns::<1, HALF, false>(operands, (i, k, from + HALF), sizes.inner, numbers);
                    }
                }
                k += if two { 2 } else { 1 };
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
                if registers {
                    for from in (0..n).step_by(HALF) {
                        let numbers = (values, adjoint, &mut *into);
                        columns::<1, HALF, true>((x, y, c), (i, k, from), sizes.inner, numbers);
                    }
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

    /// One item: the running sums are beside each other.
    #[inline(always)]
    fn one_item(self) {
        let Self { sizes, x, y, c, values, into, adjoint, .. } = self;
        let whole = sizes.inner - sizes.inner % SUMS;
        for k in 0..sizes.columns {
            for i in 0..sizes.rows {
                let (from, d) = (y.element(0, k), c.element(i, 0));
                let (mut sums, mut rest) = ([0.0; SUMS], 0.0);
                if y.down == 1 && c.right == 1 {
                    for j in (0..whole).step_by(SUMS) {
                        multiply_add(eight(values, from + j), eight(adjoint, d + j), &mut sums);
                    }
                } else {
                    for j in (0..whole).step_by(SUMS) {
                        for q in 0..SUMS {
                            let at = j + q;
                            sums[q] = fma(values[from + at * y.down], adjoint[d + at * c.right], sums[q]);
                        }
                    }
                }
                for j in whole..sizes.inner {
                    rest = fma(values[from + j * y.down], adjoint[d + j * c.right], rest);
                }
                let [sum] = total(&sums.map(|sum| [sum]), &[rest]);
                into[x.element(i, k)] += sum;
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
