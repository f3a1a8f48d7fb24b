//! The words of the language.

use crate::span::Span;

#[derive(Clone, Copy, Debug)]
pub struct Token {
    pub kind: TokenKind,
    pub span: Span,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenKind {
    Ident,
    Keyword(Keyword),
    /// `3`, `1_000`
    Int,
    /// `3.5`, `1e3`
    Real,
    /// `.5`, which after an expression is part 5 of a tuple.
    DotNumber,
    /// `3i`
    Imaginary,
    /// With its quotation marks.
    Text,
    OpenBrace,
    CloseBrace,
    OpenParen,
    CloseParen,
    OpenBracket,
    CloseBracket,
    Comma,
    Semicolon,
    Colon,
    Question,
    Bar,
    Tilde,
    Assign,
    PlusAssign,
    MinusAssign,
    TimesAssign,
    DivideAssign,
    EltTimesAssign,
    EltDivideAssign,
    Or,
    And,
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    Plus,
    Minus,
    Star,
    Slash,
    IntDivide,
    Percent,
    Backslash,
    EltTimes,
    EltDivide,
    Caret,
    EltPower,
    Not,
    Quote,
    End,
}

impl TokenKind {
    /// How a message names the token.
    pub fn describe(self) -> &'static str {
        match self {
            Self::Ident => "a name",
            Self::Keyword(k) => k.quoted(),
            Self::Int => "an integer",
            Self::Real | Self::DotNumber => "a real number",
            Self::Imaginary => "an imaginary number",
            Self::Text => "a text in quotation marks",
            Self::OpenBrace => "`{`",
            Self::CloseBrace => "`}`",
            Self::OpenParen => "`(`",
            Self::CloseParen => "`)`",
            Self::OpenBracket => "`[`",
            Self::CloseBracket => "`]`",
            Self::Comma => "`,`",
            Self::Semicolon => "`;`",
            Self::Colon => "`:`",
            Self::Question => "`?`",
            Self::Bar => "`|`",
            Self::Tilde => "`~`",
            Self::Assign => "`=`",
            Self::PlusAssign => "`+=`",
            Self::MinusAssign => "`-=`",
            Self::TimesAssign => "`*=`",
            Self::DivideAssign => "`/=`",
            Self::EltTimesAssign => "`.*=`",
            Self::EltDivideAssign => "`./=`",
            Self::Or => "`||`",
            Self::And => "`&&`",
            Self::Equal => "`==`",
            Self::NotEqual => "`!=`",
            Self::Less => "`<`",
            Self::LessEqual => "`<=`",
            Self::Greater => "`>`",
            Self::GreaterEqual => "`>=`",
            Self::Plus => "`+`",
            Self::Minus => "`-`",
            Self::Star => "`*`",
            Self::Slash => "`/`",
            Self::IntDivide => "`%/%`",
            Self::Percent => "`%`",
            Self::Backslash => "`\\`",
            Self::EltTimes => "`.*`",
            Self::EltDivide => "`./`",
            Self::Caret => "`^`",
            Self::EltPower => "`.^`",
            Self::Not => "`!`",
            Self::Quote => "`'`",
            Self::End => "the end of the program",
        }
    }
}

macro_rules! keywords {
    ($($variant:ident $word:literal),* $(,)?) => {
        /// Reserved words that the grammar uses.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Keyword { $($variant),* }

        impl Keyword {
            pub const ALL: &[(Keyword, &str)] = &[$((Keyword::$variant, $word)),*];

            pub fn from_word(word: &str) -> Option<Self> {
                match word { $($word => Some(Self::$variant),)* _ => None }
            }

            fn quoted(self) -> &'static str {
                match self { $(Self::$variant => concat!("`", $word, "`")),* }
            }

            pub fn word(self) -> &'static str {
                match self { $(Self::$variant => $word),* }
            }
        }
    };
}

keywords! {
    Functions "functions", Data "data", Transformed "transformed", Parameters "parameters", Model "model",
    Generated "generated", Quantities "quantities",
    Return "return", If "if", Else "else", While "while", For "for", In "in", Break "break", Continue "continue",
    Profile "profile", Print "print", Reject "reject", FatalError "fatal_error", Target "target", Jacobian "jacobian",
    Void "void", Int "int", Real "real", Complex "complex", Vector "vector", RowVector "row_vector", Matrix "matrix",
    ComplexVector "complex_vector", ComplexRowVector "complex_row_vector", ComplexMatrix "complex_matrix",
    Array "array", Tuple "tuple",
    Lower "lower", Upper "upper", Offset "offset", Multiplier "multiplier",
    Simplex "simplex", UnitVector "unit_vector", Ordered "ordered", PositiveOrdered "positive_ordered",
    SumToZeroVector "sum_to_zero_vector", SumToZeroMatrix "sum_to_zero_matrix",
    CovMatrix "cov_matrix", CorrMatrix "corr_matrix",
    CholeskyFactorCov "cholesky_factor_cov", CholeskyFactorCorr "cholesky_factor_corr",
    ColumnStochasticMatrix "column_stochastic_matrix", RowStochasticMatrix "row_stochastic_matrix",
}

/// Words that the grammar does not use, but that nothing may be called.
pub const RESERVED: &[&str] =
    &["true", "false", "typedef", "struct", "var", "export", "extern", "static", "auto", "repeat", "until", "then"];
