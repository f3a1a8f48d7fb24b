//! Posteriors given the candy data, whose truth is that of a long run of NUTS. The data may not be passed on.

use super::table::cells;
use super::{Target, long_run};
use crate::error::{CandyError, Error};
use crate::problem::{Problem, Source};
use crate::sample::SampleOptions;
use crate::session::Session;
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
    long_run::target(problem, functionals, options, session)
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
