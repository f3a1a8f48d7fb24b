//! Stan JSON data, read against the declarations of a program; and written.
//!
//! The conventions are those of Stan's own reader, checked against it: nested arrays in row-major order, complex
//! numbers as pairs, tuples as objects with the keys "1", "2", …; what it refuses (`3.0` for an `int`, a number for an
//! array of one) is refused here, with the remedy.

mod calculator;
mod declared;
mod errors;
mod json;
mod parameters;
mod read;
mod write;

use std::sync::Arc;

use crate::ast::BlockKind;
use crate::source::Source;
use crate::span::Span;
use crate::suggest;
use crate::typed::{Program, SizedType, VariableId};
use crate::value::{Shape, Unavailable, Value};
use errors::Text;
use json::{Kind, Member};

pub use calculator::{Calculator, Known, Limits, Outcome, Step, Violation, place};
pub use errors::{DataError, DataErrors, DataProblem};
pub use parameters::{ParameterInfo, quantity_table};
pub use write::{write_json, write_value};

/// How data are read.
pub struct Options<'a> {
    /// The name of the data file in messages.
    pub name: &'a str,
    /// Which variables may be missing: outcomes that are going to be simulated.
    pub allow_missing: &'a (dyn Fn(&str) -> bool + Sync),
    pub limits: Limits,
}

impl Default for Options<'_> {
    fn default() -> Self {
        Self { name: "data.json", allow_missing: &|_| false, limits: Limits::default() }
    }
}

/// The values of the data block, and of transformed data once they have been computed.
#[derive(Clone, Debug)]
pub struct Data {
    values: Vec<Option<Value>>,
    /// Variables of the data block that the file lacks, as the options allow; their values are unknown, of known shape.
    pub missing: Vec<VariableId>,
    /// Names in the file that the program does not declare.
    pub unused: Vec<String>,
    /// What is worth knowing but no error.
    pub notes: Vec<String>,
}

impl Data {
    pub fn get(&self, id: VariableId) -> Option<&Value> {
        self.values.get(id.0 as usize)?.as_ref()
    }

    /// The value of a variable of the data block or of transformed data.
    pub fn by_name(&self, program: &Program, name: &str) -> Option<&Value> {
        let blocks = [BlockKind::Data, BlockKind::TransformedData];
        let mut ids = blocks.into_iter().flat_map(|kind| program.declared_in(kind));
        self.get(ids.find(|&id| program.variable(id).name == name)?)
    }

    pub fn set(&mut self, id: VariableId, value: Value) {
        if let Some(slot) = self.values.get_mut(id.0 as usize) {
            *slot = Some(value);
            self.missing.retain(|m| *m != id);
        }
    }

    /// No data at all, for a program with so many variables.
    #[must_use]
    pub fn empty(variables: usize) -> Self {
        Self { values: vec![None; variables], missing: Vec::new(), unused: Vec::new(), notes: Vec::new() }
    }

    /// The value of every variable, by [`VariableId`].
    pub fn values(&self) -> &[Option<Value>] {
        &self.values
    }

    /// The same data with these values of all variables, by [`VariableId`].
    #[must_use]
    pub fn with_values(self, values: Vec<Option<Value>>) -> Self {
        Self { values, ..self }
    }
}

/// Reads the variables of the data block; sizes and bounds are computed by `calculator`.
pub fn read_data<C: Calculator>(
    program: &Program,
    source: &Source,
    json: &str,
    options: &Options<'_>,
    calculator: &mut C,
) -> Result<Data, DataErrors> {
    let text = Text { json, name: options.name, source };
    let fatal = |error: DataError| DataErrors { problems: vec![DataProblem::Data(error)] };
    let root = json::parse(json).map_err(|e| {
        let mut error =
            DataError::new("data-syntax", format!("this cannot be read as JSON: {}", e.message)).at(&text, e.at);
        error.help.extend(e.help.map(str::to_owned));
        fatal(error)
    })?;
    let Kind::Object(members) = root.kind else {
        let message = "the data must be a JSON object: {\"name\": value, …}";
        return Err(fatal(DataError::new("data-syntax", message).at(&text, root.at)));
    };
    let mut reader = Reader {
        program,
        text,
        members: &members,
        options,
        calculator,
        data: Data::empty(program.variables.len()),
        problems: Vec::new(),
    };
    reader.run();
    if reader.problems.is_empty() { Ok(reader.data) } else { Err(DataErrors { problems: reader.problems }) }
}

/// The value of a variable whose data are wrong: what depends on it is passed over, one mistake gives one message.
const FAILED: &str = "its data are wrong";

struct Reader<'a, C> {
    program: &'a Program,
    text: Text<'a>,
    members: &'a [Member],
    options: &'a Options<'a>,
    calculator: &'a mut C,
    data: Data,
    problems: Vec<DataProblem>,
}

/// The declaration of a variable that is being read.
#[derive(Clone, Copy)]
struct Declared<'a> {
    id: VariableId,
    name: &'a str,
    ty: &'a SizedType,
    span: Span,
}

impl<'a, C: Calculator> Reader<'a, C> {
    fn run(&mut self) {
        let program = self.program;
        let ids: Vec<VariableId> = program.declared_in(BlockKind::Data).collect();
        let declared = |name: &str| ids.iter().any(|&id| program.variable(id).name == name);
        self.data.unused = self.members.iter().map(|m| &m.key).filter(|k| !declared(k)).cloned().collect();
        for &id in &ids {
            let variable = program.variable(id);
            let Some(ty) = &variable.declared else { continue };
            self.variable(Declared { id, name: &variable.name, ty, span: variable.span });
        }
    }

    fn variable(&mut self, declared: Declared<'a>) {
        let mut given = self.members.iter().filter(|m| m.key == declared.name);
        let (first, second) = (given.next(), given.next());
        if let (Some(_), Some(second)) = (first, second) {
            let message = format!("`{}` stands twice in the data", declared.name);
            let error = DataError::new("data-duplicate", message).at(&self.text, second.at);
            self.problem(error.variable(declared.name).help("remove one of the two"));
        }
        let shape = match self.calculator.shape(declared.ty) {
            Ok(Ok(shape)) => shape,
            Ok(Err(unknown)) => return self.unknown_size(declared, &unknown),
            Err(diagnostic) => {
                self.problems.push(DataProblem::Program(*diagnostic));
                return self.fail(declared, None);
            }
        };
        match first {
            Some(member) => self.given(declared, shape, member),
            None => self.absent(declared, shape),
        }
    }

    fn given(&mut self, declared: Declared<'a>, shape: Shape, member: &Member) {
        let value = match read::value(self.text.json, &shape, &member.value) {
            Ok(read) => {
                self.data.notes.extend(read.notes.iter().map(|note| format!("`{}`: {note}", declared.name)));
                read.value
            }
            Err(trouble) => {
                let error = trouble.error(&self.text, declared.name, &shape, &member.value);
                self.problem(self.declaration(error, declared));
                return self.fail(declared, Some(shape));
            }
        };
        let json = self.text.json;
        let broken = self.check(declared, &value, |path| Some(read::find(json, &member.value, path)));
        // Also a value that breaks its constraint is of use: the sizes that depend on it can be checked. Not if it is a
        // size below zero, which would be reported a second time.
        match value {
            Value::Int(n) if n < 0 && broken => self.fail(declared, Some(shape)),
            value => self.set(declared, value),
        }
    }

    /// Reports the constraints that a value breaks; says whether there are any.
    fn check(&mut self, declared: Declared<'a>, value: &Value, place: impl Fn(&[Step]) -> Option<usize>) -> bool {
        let violations = match self.calculator.violations(declared.ty, declared.name, value) {
            Ok(violations) => violations,
            Err(diagnostic) => {
                self.problems.push(DataProblem::Program(*diagnostic));
                return true;
            }
        };
        for violation in &violations {
            let error = DataError::new("data-constraint", violation.message()).variable(declared.name);
            let error = match place(&violation.path) {
                Some(at) => error.at(&self.text, at),
                None => error.file(&self.text),
            };
            self.problem(self.declaration(error, declared));
        }
        !violations.is_empty()
    }

    fn absent(&mut self, declared: Declared<'a>, shape: Shape) {
        if shape.numbers() == Some(0) {
            // Stan takes a variable without elements that is not there for what it is.
            let value = Value::unset(&shape);
            self.check(declared, &value, |_| None);
            return self.set(declared, value);
        }
        if (self.options.allow_missing)(declared.name) {
            let reason = format!("`{}` is not in the data", declared.name);
            self.set(declared, Value::unavailable(reason, None, Some(shape)));
            self.data.missing.push(declared.id);
            return;
        }
        let message = format!("`{}` is missing from the data", declared.name);
        let mut error = DataError::new("data-missing", message).variable(declared.name).file(&self.text);
        error.expected = Some(shape.to_string());
        let mut names = self.data.unused.iter().map(String::as_str);
        let other_case = names.clone().find(|name| name.eq_ignore_ascii_case(declared.name));
        if let Some(name) = other_case.or_else(|| suggest::closest(declared.name, names.by_ref())) {
            error = error.help(format!("the file has `{name}`, which the program does not declare; is that it?"));
        }
        self.problem(self.declaration(error, declared));
        self.fail(declared, Some(shape));
    }

    fn unknown_size(&mut self, declared: Declared<'a>, unknown: &Arc<Unavailable>) {
        if unknown.reason != FAILED {
            let message = format!("the size of `{}` cannot be computed, because {}", declared.name, unknown.reason);
            let error = DataError::new("data-unknown-size", message).variable(declared.name).file(&self.text);
            self.problem(self.declaration(error, declared));
        }
        self.fail(declared, None);
    }

    fn fail(&mut self, declared: Declared<'a>, shape: Option<Shape>) {
        self.set(declared, Value::unavailable(FAILED, None, shape));
    }

    fn set(&mut self, declared: Declared<'_>, value: Value) {
        self.calculator.set(declared.id, value.clone());
        self.data.set(declared.id, value);
    }

    fn problem(&mut self, error: DataError) {
        self.problems.push(DataProblem::Data(error));
    }

    fn declaration(&self, mut error: DataError, declared: Declared<'_>) -> DataError {
        let source = self.text.source;
        let place = source.location(declared.span);
        let file = source.files().get(place.file).map_or("", |f| f.name.as_str());
        let ty = source.slice(declared.ty.span).split_whitespace().collect::<Vec<_>>().join(" ");
        error.declared = Some(format!("{file}:{}:{} as `{ty} {}`", place.line, place.column, declared.name));
        error
    }
}
