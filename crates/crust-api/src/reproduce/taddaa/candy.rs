//! Posteriors given the candy data, whose truth is that of a long run of NUTS. The data may not be passed on.

use super::{Question, Target};
use crate::error::{CandyError, Error, SubjectError};
use crate::problem::{Problem, Source};
use crate::sample::{SampleOptions, sample};
use crate::session::Session;
use crust_diagnose::convergence::{ess_bulk, mcse_mean, mcse_quantile, mcse_sd, rhat};
use crust_diagnose::draws::Draws;
use crust_diagnose::result::TaddaaReference;
use crust_diagnose::taddaa::functional::{Kind, NotAFunctional, Request, estimate};
use serde::Serialize;

macro_rules! program {
    ($name:literal) => {
        Source::text($name, include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/programs/taddaa/", $name)))
    };
}

/// The paper's features, in the order of its numbers.
pub(crate) const FEATURES: [&str; 11] = [
    "fruity",
    "caramel",
    "peanutyalmondy",
    "nougat",
    "crispedricewafer",
    "hard",
    "bar",
    "pluribus",
    "sugarpercent",
    "pricepercent",
    "winpercent",
];
const OUTCOME: &str = "chocolate";

/// What programs want to have.
#[derive(Debug, PartialEq, Serialize)]
struct Candy {
    #[serde(rename = "N")]
    rows: usize,
    #[serde(rename = "K")]
    features: usize,
    z: Vec<[f64; FEATURES.len()]>,
    y: Vec<u8>,
}

/// Section 4.3. Posteriors of regressions are easy to draw from.
pub(super) fn regression(data: Option<&Source>, session: &Session<'_>) -> Result<Target, Error> {
    let functionals = ["mean(beta[5])", "log_variance(beta[5])", "mean(beta[11])", "log_variance(beta[11])"];
    let options = SampleOptions { draws: 10_000, ..SampleOptions::default() };
    target(program!("candy.stan"), &functionals, data, &options, session)
}

/// Section 4.5. Draws are dear: trees are deep.
pub(super) fn network(data: Option<&Source>, session: &Session<'_>) -> Result<Target, Error> {
    let functionals = ["mean(log_loss)", "quantile(log_loss, 0.5)"];
    let options = SampleOptions { warmup: 500, draws: 500, ..SampleOptions::default() };
    target(program!("bnn.stan"), &functionals, data, &options, session)
}

fn target(
    program: Source,
    functionals: &[&str],
    data: Option<&Source>,
    options: &SampleOptions,
    session: &Session<'_>,
) -> Result<Target, Error> {
    let data = data.ok_or(CandyError::Missing)?;
    let candy = read(&data.read("read the data")?);
    let candy = candy.map_err(|error| CandyError::In { file: data.name().to_owned(), error: Box::new(error) })?;
    let problem = Problem::read(program, Some(Source::text(data.name(), serde_json::to_string(&candy)?)))?;
    let truth = sample(&problem, options, session)?;
    if truth.result.interrupted {
        return Err(Error::Interrupted);
    }
    let mut reference = TaddaaReference {
        chains: truth.result.chains,
        draws: truth.result.draws,
        r_hat: 1.0,
        ess: f64::INFINITY,
        divergences: truth.result.divergences,
        gradients: truth.result.gradients,
    };
    let questions =
        functionals.iter().map(|text| question(text, &truth.draws, &mut reference)).collect::<Result<_, _>>()?;
    Ok(Target { problem, questions, reference: Some(reference), compares: true })
}

/// The truth as draws have it, with its Monte Carlo error. How good the draws are is added to what is known of them.
fn question(text: &str, draws: &Draws, reference: &mut TaddaaReference) -> Result<Question, Error> {
    let request: Request = text.parse().map_err(|error: NotAFunctional| Error::subject(error.into()))?;
    let missing = || SubjectError::NotThere { functional: text.to_owned() };
    let chains = draws.named(&request.quantity).ok_or_else(|| Error::subject(missing()))?;
    let kind = request.functional.kind;
    let values = chains.concat();
    let truth_se = match kind {
        Kind::Quantile(p) => mcse_quantile(&chains, p),
        // By the delta method: log s² = 2 log s.
        Kind::LogVariance => 2.0 * mcse_sd(&chains) / estimate(Kind::Deviation, &values, None),
        _ => mcse_mean(&chains),
    };
    reference.r_hat = reference.r_hat.max(rhat(&chains));
    reference.ess = reference.ess.min(ess_bulk(&chains));
    Ok(Question { functional: text.to_owned(), truth: estimate(kind, &values, None), truth_se })
}

/// Reads the table. Columns are found by their names; there may be others.
fn read(text: &str) -> Result<Candy, CandyError> {
    let mut lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let head = lines.next().map(|(_, line)| cells(line)).unwrap_or_default();
    let find = |name: &'static str| head.iter().position(|cell| cell == name).ok_or(CandyError::NoColumn { name });
    let outcome = find(OUTCOME)?;
    let mut columns = [0; FEATURES.len()];
    for (column, name) in columns.iter_mut().zip(FEATURES) {
        *column = find(name)?;
    }
    let mut candy = Candy { rows: 0, features: FEATURES.len(), z: Vec::new(), y: Vec::new() };
    for (number, line) in lines {
        let row = cells(line);
        let number = number + 1;
        let cell = |column: usize| row.get(column).map_or("", String::as_str);
        candy.y.push(match cell(outcome) {
            "0" => 0,
            "1" => 1,
            other => return Err(CandyError::Outcome { line: number, found: other.to_owned() }),
        });
        let mut z = [0.0; FEATURES.len()];
        for ((value, column), name) in z.iter_mut().zip(columns).zip(FEATURES) {
            let found = cell(column);
            let finite = found.parse().ok().filter(|x: &f64| x.is_finite());
            *value = finite.ok_or_else(|| CandyError::Number { line: number, name, found: found.to_owned() })?;
        }
        candy.z.push(z);
    }
    candy.rows = candy.y.len();
    if candy.rows == 0 { Err(CandyError::Empty) } else { Ok(candy) }
}

/// The cells of a line; those in quotes may have commas in them.
fn cells(line: &str) -> Vec<String> {
    let mut cells = vec![String::new()];
    let mut quoted = false;
    for character in line.trim_start_matches('\u{feff}').chars() {
        match character {
            '"' => quoted = !quoted,
            ',' if !quoted => cells.push(String::new()),
            other => {
                if let Some(cell) = cells.last_mut() {
                    cell.push(other);
                }
            }
        }
    }
    cells.iter().map(|cell| cell.trim().to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = "competitorname,chocolate,fruity,caramel,peanutyalmondy,nougat,crispedricewafer,hard,bar,\
                        pluribus,sugarpercent,pricepercent,winpercent";

    #[test]
    fn a_table_is_read_by_its_names() {
        let candy = read(&format!("{HEAD}\n\"A, B\",1,0,1,0,0,1,0,1,0,0.5,0.25,66.5\r\n\n")).expect("a table");
        assert_eq!((candy.rows, candy.features, candy.y), (1, 11, vec![1]));
        assert_eq!(candy.z, [[0.0, 1.0, 0.0, 0.0, 1.0, 0.0, 1.0, 0.0, 0.5, 0.25, 66.5]]);
    }

    #[test]
    fn mistakes_in_it_are_told() {
        let told = |text: &str| read(text).expect_err("a mistake").to_string();
        assert!(told("").contains("`chocolate`"));
        assert!(told(&HEAD.replace("nougat", "nugat")).contains("`nougat`"));
        assert!(told(HEAD).contains("no rows"));
        assert!(told(&format!("{HEAD}\nA,2,0,1,0,0,1,0,1,0,0.5,0.25,66.5")).contains("line 2"));
        assert!(told(&format!("{HEAD}\nA,1,0,1,0,0,1,0,1,0,0.5,0.25")).contains("`winpercent`"));
    }
}
