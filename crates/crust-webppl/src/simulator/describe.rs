//! What a model draws and observes, in words.

use crust_math::random::Stream;

use super::Simulator;
use crate::error::RunError;
use crate::machine::Effect;
use crate::value::Value;
use crate::world::Context;

/// Choices of one variable, or observations.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Group {
    pub name: String,
    /// Names of distributions, in order.
    pub families: Vec<&'static str>,
    /// The fewest and the most in an execution.
    pub count: [usize; 2],
    pub continuous: bool,
    seen: usize,
}

/// What a model does, as far as some executions show.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Description {
    pub choices: Vec<Group>,
    pub observations: Vec<Group>,
    /// The most calls of `factor` or `condition` in an execution.
    pub factors: usize,
}

/// Executions that are looked at.
const EXECUTIONS: usize = 20;

impl Description {
    /// Whether executions make different numbers of choices.
    pub fn varies(&self) -> bool {
        self.choices.iter().any(|group| group.count[0] != group.count[1])
    }
}

impl Group {
    /// `Gaussian, 250 choices`
    pub fn words(&self, what: &str) -> String {
        let count = match self.count {
            [a, b] if a == b => a.to_string(),
            [a, b] => format!("{a} to {b}"),
        };
        let plural = if self.count == [1, 1] { "" } else { "s" };
        format!("{}, {count} {what}{plural}", self.families.join(", "))
    }
}

fn note(groups: &mut Vec<Group>, name: String, family: &'static str, continuous: bool) {
    let at = groups.iter().position(|group| group.name == name).unwrap_or_else(|| {
        groups.push(Group { name, continuous: true, count: [usize::MAX, 0], ..Group::default() });
        groups.len() - 1
    });
    let group = &mut groups[at];
    group.seen += 1;
    group.continuous &= continuous;
    if !group.families.contains(&family) {
        group.families.push(family);
    }
}

impl Simulator {
    /// Runs the model some times and tells what it does.
    pub fn describe(&mut self, stream: &mut Stream) -> Result<Description, RunError> {
        self.with_stream(stream, Self::describe_here)
    }

    fn describe_here(&mut self) -> Result<Description, RunError> {
        let mut all = Description::default();
        for run in 0..EXECUTIONS {
            self.world.context = Context { observe_hook: true, ..Context::default() };
            let mut factors = 0;
            let mut state = self.model.start(&mut self.world)?;
            loop {
                match state.run(&mut self.world)? {
                    Effect::Sample { dist, .. } => {
                        let name = state.variable().map_or_else(|| "choice".to_owned(), |name| name.to_string());
                        note(&mut all.choices, name, dist.family.name(), dist.is_continuous());
                        let value = dist.sample(&mut self.world.stream)?;
                        state.resume(value);
                    }
                    Effect::Factor { observed: Some(dist), .. } => {
                        note(
                            &mut all.observations,
                            "observations".to_owned(),
                            dist.family.name(),
                            dist.is_continuous(),
                        );
                        let value = dist.sample(&mut self.world.stream)?;
                        state.resume(value);
                    }
                    Effect::Factor { result, .. } => {
                        factors += 1;
                        state.resume(result);
                    }
                    Effect::Done(_) => break,
                    _ => state.resume(Value::Undefined),
                }
            }
            all.factors = all.factors.max(factors);
            for group in all.choices.iter_mut().chain(&mut all.observations) {
                // a variable that is met for the first time was not there before
                let least = if group.count[0] == usize::MAX && run > 0 { 0 } else { group.seen };
                group.count = [group.count[0].min(least), group.count[1].max(group.seen)];
                group.seen = 0;
            }
        }
        Ok(all)
    }
}
