//! Matrix functions: products, decompositions, solutions of linear systems.
//!
//! Everything is made of one product of matrices ([`crate::linalg::gemm`]) and a few loops over columns that are
//! compiled for the vector units. Results do not depend on the instruction set. The operators `A \ b` and `B / A` are
//! `mdivide_left` and `mdivide_right`. A function that returns a tuple is several functions here, such as `svd.1`.

#![allow(clippy::inline_always, reason = "only what is inlined is compiled for the instruction set of its caller")]
#![allow(clippy::needless_range_loop, reason = "formulas with indices read best with indices")]

mod diagonal;
mod divide;
mod exponential;
mod forms;
mod householder;
mod inverse;
mod memory;
mod singular;
mod sparse;
mod symmetric;

#[cfg(test)]
mod tests;

use super::VectorFunction;
use diagonal::{AddDiag, Dots, Scale, Side, Trace, TraceDot};
use divide::{Divide, Kind as Matrix};
use exponential::{MatrixExp, MatrixExpMultiply, MatrixPower};
use forms::{Order, QuadForm, SelfProduct, TraceGenQuadForm, TraceQuadForm};
use householder::Qr;
use inverse::{Chol2inv, CholeskyDecompose, Determinant, Inverse, Kind};
use singular::{GeneralizedInverse, Part as SvdPart, Singular};
use sparse::{CsrExtract, CsrTimesVector, CsrToDense, Part as CsrPart};
use symmetric::EigenSym;

/// All functions of this module, in no particular order.
pub const ALL: &[&dyn VectorFunction] = &[
    &CholeskyDecompose,
    &Chol2inv,
    &Inverse { name: "inverse", spd: false },
    &Inverse { name: "inverse_spd", spd: true },
    &GeneralizedInverse,
    &Determinant { name: "determinant", kind: Kind::Plain },
    &Determinant { name: "log_determinant", kind: Kind::LogAbsolute },
    &Determinant { name: "log_determinant_spd", kind: Kind::LogSpd },
    &Divide { name: "mdivide_left", kind: Matrix::General, right: false },
    &Divide { name: "mdivide_left_spd", kind: Matrix::Spd, right: false },
    &Divide { name: "mdivide_left_tri_low", kind: Matrix::Lower, right: false },
    &Divide { name: "mdivide_right", kind: Matrix::General, right: true },
    &Divide { name: "mdivide_right_spd", kind: Matrix::Spd, right: true },
    &Divide { name: "mdivide_right_tri_low", kind: Matrix::Lower, right: true },
    &QuadForm { name: "quad_form", symmetric: false },
    &QuadForm { name: "quad_form_sym", symmetric: true },
    &TraceQuadForm,
    &TraceGenQuadForm,
    &SelfProduct { name: "crossprod", order: Order::TransposeFirst },
    &SelfProduct { name: "tcrossprod", order: Order::TransposeLast },
    &SelfProduct { name: "multiply_lower_tri_self_transpose", order: Order::Lower },
    &Scale { name: "diag_pre_multiply", side: Side::Left },
    &Scale { name: "diag_post_multiply", side: Side::Right },
    &Scale { name: "quad_form_diag", side: Side::Both },
    &AddDiag,
    &Trace,
    &TraceDot,
    &Dots { name: "columns_dot_product", rows: false, of_self: false },
    &Dots { name: "columns_dot_self", rows: false, of_self: true },
    &Dots { name: "rows_dot_product", rows: true, of_self: false },
    &Dots { name: "rows_dot_self", rows: true, of_self: true },
    &MatrixExp,
    &MatrixExpMultiply { name: "matrix_exp_multiply", scaled: false },
    &MatrixExpMultiply { name: "scale_matrix_exp_multiply", scaled: true },
    &MatrixPower,
    &EigenSym { name: "eigenvalues_sym", vectors: false },
    &EigenSym { name: "eigenvectors_sym", vectors: true },
    &EigenSym { name: "eigendecompose_sym.1", vectors: true },
    &EigenSym { name: "eigendecompose_sym.2", vectors: false },
    &Qr { name: "qr_Q", q: true, thin: false },
    &Qr { name: "qr_R", q: false, thin: false },
    &Qr { name: "qr.1", q: true, thin: false },
    &Qr { name: "qr.2", q: false, thin: false },
    &Qr { name: "qr_thin_Q", q: true, thin: true },
    &Qr { name: "qr_thin_R", q: false, thin: true },
    &Qr { name: "qr_thin.1", q: true, thin: true },
    &Qr { name: "qr_thin.2", q: false, thin: true },
    &Singular { name: "singular_values", part: SvdPart::Values },
    &Singular { name: "svd_U", part: SvdPart::U },
    &Singular { name: "svd_V", part: SvdPart::V },
    &Singular { name: "svd.1", part: SvdPart::U },
    &Singular { name: "svd.2", part: SvdPart::Values },
    &Singular { name: "svd.3", part: SvdPart::V },
    &CsrTimesVector,
    &CsrToDense,
    &CsrExtract { name: "csr_extract_w", part: CsrPart::W },
    &CsrExtract { name: "csr_extract_v", part: CsrPart::V },
    &CsrExtract { name: "csr_extract_u", part: CsrPart::U },
    &CsrExtract { name: "csr_extract.1", part: CsrPart::W },
    &CsrExtract { name: "csr_extract.2", part: CsrPart::V },
    &CsrExtract { name: "csr_extract.3", part: CsrPart::U },
];
