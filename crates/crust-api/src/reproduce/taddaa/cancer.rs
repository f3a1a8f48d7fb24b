//! The posterior of a regression on the expression of genes, given the leukemia data, which are not part of crust.

use super::table::cells;
use super::{Target, long_run};
use crate::error::{Error, LeukemiaError};
use crate::problem::{Problem, Source};
use crate::sample::SampleOptions;
use crate::session::Session;
use serde::Serialize;

const OUTCOME: &str = "ALL";
/// As many genes as the paper has.
const GENES: usize = 100;
/// The number of the gene whose local scale the paper shows.
const SHOWN: usize = 61;

/// What the program wants to have.
#[derive(Debug, PartialEq, Serialize)]
struct Patients {
    #[serde(rename = "N")]
    rows: usize,
    #[serde(rename = "K")]
    genes: usize,
    x: Vec<Vec<f64>>,
    y: Vec<u8>,
}

/// Section 4.4. Trees are deep, and steps must be small where scales are.
pub(super) fn regression(data: Option<&Source>, session: &Session<'_>) -> Result<Target, Error> {
    let data = data.ok_or(LeukemiaError::Missing)?;
    let patients = read(&data.read("read the data")?).and_then(|table| table.prepare(GENES));
    let patients =
        patients.map_err(|error| LeukemiaError::In { file: data.name().to_owned(), error: Box::new(error) })?;
    let program = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/programs/taddaa/cancer.stan"));
    let values = Source::text(data.name(), serde_json::to_string(&patients)?);
    let problem = Problem::read(Source::text("cancer.stan", program), Some(values))?;
    let shown = format!("log_lambda[{}]", SHOWN.min(patients.genes));
    let functionals = [
        "mean(beta_0)".to_owned(),
        "log_variance(beta_0)".to_owned(),
        format!("mean({shown})"),
        format!("log_variance({shown})"),
    ];
    let options = SampleOptions { warmup: 1000, draws: 1000, delta: 0.95, ..SampleOptions::default() };
    long_run::target(problem, &functionals.each_ref().map(String::as_str), &options, session)
}

/// The table as it is: the values of each gene.
#[derive(Debug, PartialEq)]
struct Table {
    genes: Vec<Vec<f64>>,
    outcomes: Vec<u8>,
}

/// Reads the table. All columns but the outcome are genes.
fn read(text: &str) -> Result<Table, LeukemiaError> {
    let mut lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let head = lines.next().map(|(_, line)| cells(line)).unwrap_or_default();
    let outcome = head.iter().position(|cell| cell == OUTCOME).ok_or(LeukemiaError::NoOutcome)?;
    let mut table = Table { genes: vec![Vec::new(); head.len()], outcomes: Vec::new() };
    for (number, line) in lines {
        let row = cells(line);
        let line = number + 1;
        let cell = |column: usize| row.get(column).map_or("", String::as_str);
        table.outcomes.push(match cell(outcome) {
            "0" => 0,
            "1" => 1,
            other => return Err(LeukemiaError::Outcome { line, found: other.to_owned() }),
        });
        for (column, name) in head.iter().enumerate().filter(|(column, _)| *column != outcome) {
            let found = cell(column);
            let finite = found.parse().ok().filter(|x: &f64| x.is_finite());
            let wrong = || LeukemiaError::Number { line, name: name.clone(), found: found.to_owned() };
            table.genes[column].push(finite.ok_or_else(wrong)?);
        }
    }
    table.genes.remove(outcome);
    Ok(table)
}

impl Table {
    /// The genes with the largest χ² scores, in the order of the table, with mean 0 and variance 1.
    fn prepare(&self, most: usize) -> Result<Patients, LeukemiaError> {
        if self.outcomes.iter().all(|y| Some(y) == self.outcomes.first()) {
            return Err(LeukemiaError::OneKind);
        }
        let scores = self.genes.iter().enumerate().filter_map(|(gene, values)| Some((gene, self.score(values)?)));
        let mut scores: Vec<(usize, f64)> = scores.collect();
        scores.sort_by(|a, b| b.1.total_cmp(&a.1));
        let mut chosen: Vec<usize> = scores.iter().take(most).map(|(gene, _)| *gene).collect();
        chosen.sort_unstable();
        if chosen.is_empty() {
            return Err(LeukemiaError::NoGenes);
        }
        let columns: Vec<Vec<f64>> = chosen.iter().map(|gene| standardised(&self.genes[*gene])).collect();
        let rows = self.outcomes.len();
        let x = (0..rows).map(|row| columns.iter().map(|column| column[row]).collect()).collect();
        Ok(Patients { rows, genes: columns.len(), x, y: self.outcomes.clone() })
    }

    /// Values are brought between 0 and 1 and taken for counts: χ² = Σ (Oₖ − Eₖ)²/Eₖ over the two kinds of leukemia,
    /// where Oₖ is what patients of the kind have together, and Eₖ what they would have if the kind did not matter.
    /// None if all patients have the same.
    fn score(&self, values: &[f64]) -> Option<f64> {
        let least = values.iter().copied().fold(f64::INFINITY, f64::min);
        let range = values.iter().copied().fold(f64::NEG_INFINITY, f64::max) - least;
        if !(range > 0.0 && range.is_finite()) {
            return None;
        }
        let (mut observed, mut patients) = ([0.0; 2], [0.0; 2]);
        for (value, outcome) in values.iter().zip(&self.outcomes) {
            observed[usize::from(*outcome)] += (value - least) / range;
            patients[usize::from(*outcome)] += 1.0;
        }
        let each = (observed[0] + observed[1]) / (patients[0] + patients[1]);
        let terms = observed.iter().zip(patients).map(|(o, n)| (o - n * each).powi(2) / (n * each));
        Some(terms.sum())
    }
}

fn standardised(values: &[f64]) -> Vec<f64> {
    #[expect(clippy::cast_precision_loss, reason = "a count")]
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let deviation = (values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / n).sqrt();
    values.iter().map(|v| (v - mean) / deviation).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "a,ALL,\"b, c\",same,d\n0,1,9,5,10\n1,0,7,5,-10\r\n\n2,1,9,5,20\n3,0,8,5,-20\n";

    /// The scores of the three genes are by hand: (a) 0, 1/3, 2/3, 1 has 2/3 against 4/3, each 1 expected: 2/9; (b, c)
    /// 1, 0, 1, ½ has 2 against ½: 2 (3/4)²/(5/4) = 0.9; (d) 3/4, 1/4, 1, 0 has 7/4 against 1/4: 2 (3/4)² = 1.125.
    #[test]
    fn genes_are_chosen_by_their_scores() {
        let table = read(TABLE).expect("a table");
        assert_eq!((table.genes.len(), &table.outcomes[..]), (4, &[1, 0, 1, 0][..]));
        let scores: Vec<Option<f64>> = table.genes.iter().map(|values| table.score(values)).collect();
        for (score, expected) in scores.iter().zip([Some(2.0 / 9.0), Some(0.9), None, Some(1.125)]) {
            assert!((score.unwrap_or(-1.0) - expected.unwrap_or(-1.0)).abs() < 1e-12, "{scores:?}");
        }
        let patients = table.prepare(2).expect("patients");
        assert_eq!((patients.rows, patients.genes), (4, 2));
        // In the order of the table, the mean of squares 1.
        let column = |gene: usize| patients.x.iter().map(move |row| row[gene]);
        assert!(column(0).sum::<f64>().abs() < 1e-12 && (column(1).map(|v| v * v).sum::<f64>() - 4.0).abs() < 1e-12);
        assert!((patients.x[0][1] - 10.0 / 250_f64.sqrt()).abs() < 1e-12, "{patients:?}");
    }

    #[test]
    fn mistakes_are_told() {
        let told = |text: &str| read(text).and_then(|t| t.prepare(2)).expect_err("a mistake").to_string();
        assert!(told("").contains("`ALL`"));
        assert!(told("ALL,a\n1,2\n2,3").contains("line 3"));
        assert!(told("ALL,a\n1,2\n0,x").contains("`a` in line 3"));
        assert!(told("ALL,a,b\n1,2,3\n0,1").contains("`b` in line 3"));
        assert!(told("ALL,a\n1,2\n1,3").contains("same kind"));
        assert!(told("ALL,a\n").contains("same kind"));
        assert!(told("ALL,a\n1,2\n0,2").contains("no genes"));
    }
}
