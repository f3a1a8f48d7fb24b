//! Why an approximation, or draws, cannot be judged.

use crust_diagnose::draws::DrawsError;
use crust_diagnose::taddaa::functional::NotAFunctional;
use crust_engine::UnconstrainError;
use crust_infer::approximate::Error as ApproximateError;

/// What `taddaa` cannot judge.
#[derive(Debug, thiserror::Error)]
pub enum SubjectError {
    #[error(transparent)]
    Functional(#[from] NotAFunctional),
    #[error("{functional}: the program has no quantity {quantity}")]
    Quantity { functional: String, quantity: String },
    #[error("{file} must hold a JSON object with \"mean\" and \"covariance\", or \"mean\" and \"sd\": {error}")]
    NotJson { file: String, error: serde_json::Error },
    #[error(
        "{file} has the moments of a mixture (\"method\": \"multi-pathfinder\"), and one normal distribution with these \
         moments is another approximation: judge the fit itself by `--method multi-pathfinder`, or its draws by `--draws`"
    )]
    Mixture { file: String },
    #[error("the approximation in {file} has {found} coordinates, but the program has {wanted} unconstrained ones")]
    Coordinates { file: String, found: usize, wanted: usize },
    #[error("{file} has {found} names for {wanted} coordinates")]
    Names { file: String, found: usize, wanted: usize },
    #[error("coordinate {number} in {file} is named {found}, but in the program it is {wanted}")]
    Name { number: usize, file: String, found: String, wanted: String },
    #[error("{file}: {error}")]
    Document { file: String, error: ApproximateError },
    #[error(transparent)]
    Draws(#[from] DrawsError),
    #[error("there are {found} draws, but at least {needed} are needed")]
    FewDraws { found: usize, needed: usize },
    #[error("the parameter {parameter} is a tuple, and draws of tuples cannot be read")]
    Tuple { parameter: String },
    #[error("the draws have no column for {name}, which is a parameter of the program")]
    NoColumn { name: String },
    #[error(
        "the draws in {file} have a column for {name}, but {parameter} has no such element in the program: they are draws of \
         another program, or with other data"
    )]
    ForeignElement { name: String, file: String, parameter: String },
    #[error(
        "{place} cannot be one of the program: {error}; if the draws were rounded, write them with more digits \
         (`sig_figs=18` for CmdStan), otherwise they are draws of another program"
    )]
    Unconstrain { place: String, error: UnconstrainError },
    #[error("{place}: {name} is {value}; leave such draws out")]
    Infinite { place: String, name: String, value: f64 },
    #[error("{place} has values that are not finite on the unconstrained scale")]
    NotFinite { place: String },
    #[error("the draws do not vary in the unconstrained coordinate {name}")]
    Constant { name: String },
    #[error("{functional}: the draws have no column for it")]
    NotThere { functional: String },
    #[error("{functional} cannot be judged: a value {place} is {value}")]
    NoNumber { functional: String, place: String, value: f64 },
}
