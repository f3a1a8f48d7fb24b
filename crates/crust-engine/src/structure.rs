//! Functions that build, reshape, measure or cut values: they move numbers but compute none.

macro_rules! structures {
    ($($(#[$doc:meta])* $variant:ident = $($name:literal)|+ ;)*) => {
        /// A function that moves numbers.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Structure {
            $($(#[$doc])* $variant,)*
        }

        impl Structure {
            /// The function of Stan's library with this name.
            pub fn named(name: &str, arguments: usize) -> Option<Self> {
                let found = match name {
                    $($($name)|+ => Self::$variant,)*
                    _ => return None,
                };
                // Some names also stand for functions of another kind.
                let fits = match found {
                    Self::Reverse => arguments == 1,
                    // With an argument these are logarithms.
                    Self::Log2 | Self::Log10 => arguments == 0,
                    _ => true,
                };
                fits.then_some(found)
            }

            /// The name in messages.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => structures!(@first $($name)|+),)*
                }
            }
        }
    };
    (@first $name:literal $(| $rest:literal)*) => { $name };
}

structures! {
    RepVector = "rep_vector";
    RepRowVector = "rep_row_vector";
    RepMatrix = "rep_matrix";
    RepArray = "rep_array";
    AppendRow = "append_row";
    AppendCol = "append_col";
    AppendArray = "append_array";
    Head = "head";
    Tail = "tail";
    Segment = "segment";
    Block = "block";
    SubRow = "sub_row";
    SubCol = "sub_col";
    Row = "row";
    Col = "col";
    Diagonal = "diagonal";
    DiagMatrix = "diag_matrix";
    ToVector = "to_vector";
    ToRowVector = "to_row_vector";
    ToMatrix = "to_matrix";
    ToArray1d = "to_array_1d";
    ToArray2d = "to_array_2d";
    Reverse = "reverse";
    SymmetrizeFromLowerTri = "symmetrize_from_lower_tri";
    IdentityMatrix = "identity_matrix";
    OnesVector = "ones_vector";
    OnesRowVector = "ones_row_vector";
    OnesArray = "ones_array" | "ones_int_array";
    ZerosVector = "zeros_vector";
    ZerosRowVector = "zeros_row_vector";
    ZerosArray = "zeros_array" | "zeros_int_array";
    OneHotVector = "one_hot_vector";
    OneHotRowVector = "one_hot_row_vector";
    OneHotArray = "one_hot_array" | "one_hot_int_array";
    UniformSimplex = "uniform_simplex";
    LinspacedVector = "linspaced_vector";
    LinspacedRowVector = "linspaced_row_vector";
    LinspacedArray = "linspaced_array";
    LinspacedIntArray = "linspaced_int_array";
    /// How many elements the first dimension has.
    Size = "size";
    Rows = "rows";
    Cols = "cols";
    NumElements = "num_elements";
    Dims = "dims";
    /// Truncates towards zero.
    ToInt = "to_int";
    IntStep = "int_step";
    IsInf = "is_inf";
    IsNan = "is_nan";
    LogicalNegation = "logical_negation";
    LogicalOr = "logical_or";
    LogicalAnd = "logical_and";
    LogicalEq = "logical_eq";
    LogicalNeq = "logical_neq";
    LogicalLt = "logical_lt";
    LogicalLte = "logical_lte";
    LogicalGt = "logical_gt";
    LogicalGte = "logical_gte";
    Pi = "pi";
    E = "e";
    Sqrt2 = "sqrt2";
    Log2 = "log2";
    Log10 = "log10";
    NotANumber = "not_a_number";
    PositiveInfinity = "positive_infinity";
    NegativeInfinity = "negative_infinity";
    MachinePrecision = "machine_precision";
}
