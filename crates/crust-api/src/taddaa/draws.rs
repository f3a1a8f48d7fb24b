//! Draws in files as draws of a program.

use super::rounding::project;
use crate::error::{Error, SubjectError};
use crust_diagnose::draws::{Draws, bracketed, dotted, read_draws};
use crust_engine::{Evaluator, Model, UnconstrainError, Values};
use std::path::PathBuf;
use std::sync::Arc;

/// Draws, and the files that they are from.
pub(crate) struct Given {
    pub draws: Draws,
    files: Vec<PathBuf>,
}

impl Given {
    /// In any form that [`read_draws`] knows.
    pub fn read(files: &[PathBuf]) -> Result<Self, Error> {
        let draws = read_draws(files).map_err(|error| Error::subject(error.into()))?;
        Ok(Self { draws, files: files.to_vec() })
    }

    /// Draws of all chains together.
    pub fn total(&self) -> usize {
        self.draws.chains.iter().map(|chain| chain.sampling.len()).sum()
    }

    /// A row, counted over all chains from 0, for people.
    pub fn place(&self, mut row: usize) -> String {
        let mut chain = 0;
        for next in &self.draws.chains {
            if row < next.sampling.len() {
                break;
            }
            row -= next.sampling.len();
            chain += 1;
        }
        let (draw, number) = (row + 1, chain + 1);
        match self.files.as_slice() {
            // A file has one chain, or one has all of them.
            files if files.len() == self.draws.chains.len() => format!("draw {draw} of {}", files[chain].display()),
            [file] => format!("draw {draw} of chain {number} of {}", file.display()),
            _ => format!("draw {draw} of chain {number}"),
        }
    }

    /// The unconstrained coordinates of all draws. Values that miss their constraint by no more than rounding does are
    /// moved there: files have as many digits as their writer was told.
    pub fn unconstrain(&self, model: &Arc<Model>) -> Result<Vec<f64>, Error> {
        let parameters = self.parameters(model)?;
        let mut evaluator = model.evaluator();
        let mut points = Vec::with_capacity(self.total() * model.dimension());
        for row in 0..self.total() {
            let at = |p: &Parameter| (p.name.clone(), p.columns.iter().map(|c| c[row]).collect());
            let values: Values = parameters.iter().map(at).collect();
            let place = || self.place(row);
            for parameter in &parameters {
                let column = parameter.columns.iter().position(|column| !column[row].is_finite());
                if let Some(i) = column {
                    let (name, value) = (parameter.names[i].clone(), parameter.columns[i][row]);
                    return Err(Error::subject(SubjectError::Infinite { place: place(), name, value }));
                }
            }
            let free = unconstrain(&mut evaluator, values, &parameters);
            let free = free.map_err(|error| Error::subject(SubjectError::Unconstrain { place: place(), error }))?;
            for x in free {
                let x = x.filter(|x| x.is_finite());
                points.push(x.ok_or_else(|| Error::subject(SubjectError::NotFinite { place: place() }))?);
            }
        }
        Ok(points)
    }

    /// The columns of all parameters. A column of a parameter that the program does not have is one of another program.
    fn parameters(&self, model: &Arc<Model>) -> Result<Vec<Parameter>, Error> {
        let mut found = Vec::new();
        for shape in model.parameter_shapes() {
            let Some(sizes) = shape.sizes else {
                return Err(Error::subject(SubjectError::Tuple { parameter: shape.name }));
            };
            let names = element_names(&shape.name, &sizes);
            let columns = names.iter().map(|name| match self.draws.named(name) {
                Some(parts) => Ok(parts.concat()),
                None => Err(Error::subject(SubjectError::NoColumn { name: name.clone() })),
            });
            let columns = columns.collect::<Result<Vec<_>, Error>>()?;
            let element_of = |name: &String| name.split_once('[').is_some_and(|(variable, _)| variable == shape.name);
            let all = self.draws.names.iter().map(|name| bracketed(&dotted(name)));
            if let Some(name) = all.filter(element_of).find(|name| !names.contains(name)) {
                let file = self.files.first().map_or_else(String::new, |file| file.display().to_string());
                return Err(Error::subject(SubjectError::ForeignElement { name, file, parameter: shape.name }));
            }
            found.push(Parameter { name: shape.name, sizes, names, columns });
        }
        Ok(found)
    }
}

/// A parameter with the draws of its elements.
struct Parameter {
    name: String,
    sizes: Vec<usize>,
    /// Of the elements.
    names: Vec<String>,
    columns: Vec<Vec<f64>>,
}

/// The unconstrained coordinates of one draw.
fn unconstrain(
    evaluator: &mut Evaluator,
    mut values: Values,
    parameters: &[Parameter],
) -> Result<Vec<Option<f64>>, UnconstrainError> {
    // Each parameter can be moved once.
    for _ in parameters {
        match evaluator.unconstrain(&values) {
            Err(UnconstrainError::Constraint { name, error }) => {
                let sizes = parameters.iter().find(|p| p.name == name).map(|p| p.sizes.as_slice());
                let moved = match (sizes, values.get_mut(&name)) {
                    (Some(sizes), Some(value)) => project(&error, sizes, value),
                    _ => false,
                };
                if !moved {
                    return Err(UnconstrainError::Constraint { name, error });
                }
            }
            other => return other,
        }
    }
    evaluator.unconstrain(&values)
}

/// `x[1,1]`, `x[1,2]`, …: the last index fastest.
fn element_names(name: &str, sizes: &[usize]) -> Vec<String> {
    let mut names = vec![name.to_owned()];
    for &size in sizes {
        names = names.iter().flat_map(|name| (1..=size).map(move |i| format!("{name}.{i}"))).collect();
    }
    names.iter().map(|name| bracketed(name)).collect()
}
