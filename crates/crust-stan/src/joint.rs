//! The program as a joint distribution `p(θ) p(y | θ)`: its factors, what is drawn from what, and what cannot be read.

mod accumulated;
mod bounds;
mod curved;
mod depends;
mod factors;
mod inline;
mod inside;
mod linked;
mod messages;
pub mod mixture;
mod normalise;
mod parameters;
mod quadratic;
mod samplers;
mod split;
mod summary;
pub mod walk;

use std::collections::{BTreeMap, BTreeSet};

use crate::ast::{BlockKind, MessageKind};
use crate::deep::on_deep_stack;
use crate::diagnostics::Diagnostic;
use crate::typed::{Program, StmtKind, VariableId};

pub use bounds::{Bounds, declared_bounds, image, is_unbounded, sides, special_type};
pub use depends::Depends;
pub use factors::{Factor, Shape, definitions, resolve};
pub use linked::Linked;
pub use normalise::{call, density, plain};
pub use quadratic::is_polynomial;
pub use samplers::{Sampler, sampler, user_sampler};
pub use split::{Role, Split, Term, inverse, is_rearrangement, root};
pub use summary::{JointSummary, OutcomeSummary, ParameterSummary};

/// What the reader is told beside the program.
#[derive(Clone, Debug, Default)]
pub struct ReadOptions {
    /// Hyperparameters by name; found by themselves where this is `None`.
    pub hyper: Option<Vec<String>>,
    /// Data that another program simulates.
    pub simulated: BTreeSet<String>,
    /// Whether parameters are given, and only outcomes are drawn: `p(y | θ)` alone is read. Priors may then be flat, or
    /// written in ways that nothing can be drawn from.
    pub likelihood_only: bool,
    /// Which outcomes are drawn from the values of their density.
    pub by_density: ByDensity,
    /// Whether nothing is drawn at all: data stay as they are. Every program can be read like this.
    pub nothing_drawn: bool,
}

/// Whether outcomes are drawn from the values of the program's log likelihood, without understanding its text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ByDensity {
    /// What cannot be read is an error.
    #[default]
    Never,
    /// Where some statement cannot be read.
    WhereNeeded,
    Always,
}

/// Where the draws of an outcome come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// The program's own likelihood, read as a draw.
    Likelihood,
    /// A variable of `generated quantities` with `_sim` or `_rep` behind the name.
    Generated(VariableId),
    /// Another program.
    Simulator,
    /// The values of the program's log likelihood at all values of the outcome.
    Density,
}

/// How a parameter is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Prior {
    /// From its `~` statements.
    Stated,
    /// From the uniform distribution on what its declaration allows.
    Uniform,
}

/// The generative reading of a program.
#[derive(Clone, Debug)]
pub struct Joint {
    /// The program with all densities as `~` statements, whose model block the sampler runs.
    pub program: Program,
    pub split: Split,
    /// The program as it is written, but for functions that add to the target.
    pub stated: Program,
    pub factors: Vec<Factor>,
    pub priors: BTreeMap<VariableId, Prior>,
    /// Parameters whose declarations cut off a part of their distributions that depends on other parameters. The density
    /// is a product of whole distributions, restricted to where all declarations hold: these are drawn without theirs,
    /// and all parameters again until they hold.
    pub cut_together: BTreeSet<VariableId>,
    /// Parameters that no statement draws by itself, in groups that are weighed together: normal, or nothing is drawn.
    pub linked: Vec<Linked>,
    /// Data that are drawn, in the order of their declarations.
    pub outcomes: Vec<(VariableId, Source)>,
    pub hyperparameters: Vec<VariableId>,
    /// Parameters, then outcomes, each behind what it depends on.
    pub order: Vec<VariableId>,
    pub warnings: Vec<Diagnostic>,
    /// What is worth knowing about the reading.
    pub notes: Vec<String>,
    /// Whether the likelihood alone was read: outcomes are drawn given parameters, which themselves cannot be drawn.
    pub likelihood_only: bool,
}

impl Joint {
    /// Reads a program without errors. What cannot be read is an error that names the statement and the remedy.
    pub fn read(program: &Program, options: &ReadOptions) -> Result<Self, Vec<Diagnostic>> {
        // Expressions may be thousands of operators deep.
        on_deep_stack(|| Self::read_here(program, options))
    }

    fn read_here(program: &Program, options: &ReadOptions) -> Result<Self, Vec<Diagnostic>> {
        let stated = inline::inline(program);
        let program = normalise::normalise(&accumulated::expanded(&stated));
        let split = Split::of(&program);
        let mut reader = Reader {
            factors: factors::factors(&program, &split),
            program: &program,
            split: &split,
            options,
            outcomes: Vec::new(),
            priors: BTreeMap::new(),
            cut_together: BTreeSet::new(),
            linked: Vec::new(),
            errors: Vec::new(),
            warnings: Vec::new(),
            notes: Vec::new(),
        };
        if !options.nothing_drawn {
            reader.outcomes();
            reader.likelihoods();
        }
        reader.declarations_see_no_outcome();
        let likelihood_only = options.likelihood_only || options.nothing_drawn;
        let order = if likelihood_only {
            let parameters = program.declared_in(BlockKind::Parameters);
            parameters.chain(reader.outcomes.iter().map(|(id, _)| *id)).collect()
        } else {
            reader.priors_see_no_outcome();
            reader.rejections();
            reader.parameters();
            reader.order()
        };
        let hyperparameters = reader.hyperparameters();
        let Reader { factors, outcomes, priors, cut_together, linked, mut errors, warnings, notes, .. } = reader;
        if errors.is_empty() {
            Ok(Self {
                program,
                split,
                stated,
                factors,
                priors,
                cut_together,
                linked,
                outcomes,
                hyperparameters,
                order,
                warnings,
                notes,
                likelihood_only,
            })
        } else {
            errors.sort_by_key(|e| (e.span.start, e.span.end));
            // Terms of one statement are complained of once.
            errors.dedup_by_key(|e| (e.code, e.span.start, e.span.end));
            Err(errors)
        }
    }

    /// Names of the data that are drawn: these may be missing from the data.
    pub fn outcome_names(&self) -> BTreeSet<String> {
        self.outcomes.iter().map(|(id, _)| self.program.variable(*id).name.clone()).collect()
    }

    pub fn is_outcome(&self, id: VariableId) -> bool {
        self.outcomes.iter().any(|(o, _)| *o == id)
    }
}

struct Reader<'a> {
    program: &'a Program,
    split: &'a Split,
    options: &'a ReadOptions,
    factors: Vec<Factor>,
    outcomes: Vec<(VariableId, Source)>,
    priors: BTreeMap<VariableId, Prior>,
    cut_together: BTreeSet<VariableId>,
    linked: Vec<Linked>,
    errors: Vec<Diagnostic>,
    warnings: Vec<Diagnostic>,
    notes: Vec<String>,
}

impl Reader<'_> {
    fn name(&self, id: VariableId) -> &str {
        &self.program.variable(id).name
    }

    /// Decides which data are outcomes, and who draws them.
    fn outcomes(&mut self) {
        let program = self.program;
        let generated = |name: String| {
            program.declared_in(BlockKind::GeneratedQuantities).find(|id| program.variable(*id).name == name)
        };
        for id in program.declared_in(BlockKind::Data) {
            let name = &program.variable(id).name;
            let of_outcome = |f: &&Factor| f.role == Role::Likelihood && f.touches(id);
            let unreadable = self.factors.iter().filter(of_outcome).any(|f| !f.shape.is_readable());
            let is_outcome = self.split.outcomes.contains(&id);
            let source = if self.options.simulated.contains(name) {
                Source::Simulator
            } else if let Some(sim) = generated(format!("{name}_sim")) {
                Source::Generated(sim)
            } else if let Some(rep) = generated(format!("{name}_rep")).filter(|_| unreadable || !is_outcome) {
                Source::Generated(rep)
            } else if is_outcome {
                Source::Likelihood
            } else {
                continue;
            };
            self.outcomes.push((id, source));
        }
    }

    /// Looks whether every likelihood factor can be drawn from.
    fn likelihoods(&mut self) {
        let supplied: BTreeSet<VariableId> =
            self.outcomes.iter().filter(|(_, s)| *s != Source::Likelihood).map(|(id, _)| *id).collect();
        let mut unreadable = Vec::new();
        for factor in self.factors.iter().filter(|f| f.role == Role::Likelihood) {
            let read = |id: &VariableId| self.outcomes.iter().any(|(o, s)| o == id && *s == Source::Likelihood);
            // Who supplies a simulator takes the whole likelihood upon them, terms without data included.
            if factor.sources.iter().any(|id| supplied.contains(id))
                || (!supplied.is_empty() && !factor.sources.iter().any(read))
            {
                continue;
            }
            if let Some(error) = messages::unreadable(self.program, self.split, factor) {
                unreadable.push((factor.shape, factor.sources.clone(), error));
            }
        }
        let wanted = match self.options.by_density {
            ByDensity::Never => false,
            ByDensity::WhereNeeded => !unreadable.is_empty(),
            ByDensity::Always => true,
        };
        let followed = |shape: &Shape| !matches!(shape, Shape::LpFunction | Shape::Mixed);
        if wanted && supplied.is_empty() && unreadable.iter().all(|(shape, ..)| followed(shape)) {
            self.by_density(unreadable.iter().flat_map(|(_, sources, _)| sources));
        } else {
            self.errors.extend(unreadable.into_iter().map(|(.., error)| error));
        }
        if self.outcomes.is_empty() && self.errors.is_empty() {
            self.notes.push("no data are drawn".to_owned());
        }
    }

    /// All outcomes are drawn from the values of the likelihood. Where no density names them, they are among the data
    /// that the likelihood looks at.
    fn by_density<'s>(&mut self, sources: impl Iterator<Item = &'s VariableId>) {
        if self.outcomes.is_empty() {
            let candidates: BTreeSet<VariableId> = sources.copied().filter(|id| self.split.is_value(*id)).collect();
            self.outcomes.extend(candidates.into_iter().map(|id| (id, Source::Likelihood)));
        }
        self.outcomes.iter_mut().for_each(|(_, source)| *source = Source::Density);
    }

    /// Parameters are drawn before outcomes.
    fn priors_see_no_outcome(&mut self) {
        for factor in self.factors.iter().filter(|f| f.role == Role::Prior) {
            let looks = |id: VariableId| factor.touches(id) || factor.arguments.iter().any(|e| walk::mentions(e, id));
            if let Some((id, _)) = self.outcomes.iter().find(|(id, _)| looks(*id)) {
                self.errors.push(messages::depends_on_outcome(self.program, factor, *id));
            }
        }
    }

    /// The sizes and bounds of parameters are there before outcomes are drawn.
    fn declarations_see_no_outcome(&mut self) {
        for id in self.program.declared_in(BlockKind::Parameters) {
            let Some(declared) = &self.program.variable(id).declared else { continue };
            let mut seen: BTreeSet<VariableId> = BTreeSet::new();
            walk::in_type(declared, &mut |e| seen.extend(self.split.depends.sources(e)));
            // Of several that may be the outcome, one that decides about sizes is hardly it.
            let certain = |id: VariableId| self.outcomes.len() == 1 || self.split.outcomes.contains(&id);
            let found = self.outcomes.iter().find(|(outcome, _)| seen.contains(outcome) && certain(*outcome));
            if let Some((outcome, _)) = found {
                self.errors.push(messages::declared_by_outcome(self.program, id, *outcome));
            }
        }
    }

    /// What a program rejects is cut off from its prior, and draws do not know of it.
    fn rejections(&mut self) {
        let blocks = [BlockKind::TransformedParameters, BlockKind::Model];
        for stmt in blocks.into_iter().flat_map(|kind| self.program.block(kind)) {
            walk::each(stmt, &mut |s| {
                if matches!(s.kind, StmtKind::Message { kind: MessageKind::Reject, .. }) {
                    self.warnings.push(messages::rejects(s.span));
                }
            });
        }
    }

    /// Parameters in the order of their dependence, then outcomes. A cycle among numbers is an error; among containers
    /// it may be one of different elements, which shows when the program runs.
    fn order(&mut self) -> Vec<VariableId> {
        let parameters: Vec<VariableId> = self.program.declared_in(BlockKind::Parameters).collect();
        let mut needs: BTreeMap<VariableId, BTreeSet<VariableId>> = BTreeMap::new();
        for id in &parameters {
            let mut all = BTreeSet::new();
            let linked = self.linked.iter().find(|l| l.parameters.contains(id));
            all.extend(linked.iter().flat_map(|l| &l.needs).copied());
            let alone = |f: &&Factor| linked.is_none() && f.role == Role::Prior && f.draws(*id);
            for factor in self.factors.iter().filter(alone) {
                all.extend(&factor.depends_on);
                if factor.depends_on.contains(id) && self.program.variable(*id).ty.is_scalar() {
                    self.errors.push(messages::cycle(self.program, &[*id], factor.span));
                }
            }
            if let Some(declared) = &self.program.variable(*id).declared {
                walk::in_type(declared, &mut |e| all.extend(self.split.depends.parameters(e)));
            }
            all.remove(id);
            needs.insert(*id, all);
        }
        let mut order: Vec<VariableId> = Vec::new();
        while order.len() < parameters.len() {
            let ready = |id: &&VariableId| {
                !order.contains(id) && needs.get(id).is_none_or(|n| n.iter().all(|p| order.contains(p)))
            };
            if let Some(id) = parameters.iter().find(ready) {
                order.push(*id);
                continue;
            }
            let left: Vec<VariableId> = parameters.iter().copied().filter(|id| !order.contains(id)).collect();
            let round = round(&left, &needs);
            if round.iter().all(|id| self.program.variable(*id).ty.is_scalar()) {
                let span = self.factors.iter().find(|f| round.first().is_some_and(|id| f.draws(*id)));
                let span = span.map_or_else(|| self.program.variable(round[0]).span, |f| f.span);
                self.errors.push(messages::cycle(self.program, &round, span));
            }
            order.extend(left);
        }
        order.extend(self.outcomes.iter().map(|(id, _)| *id));
        order
    }

    /// Hyperparameters: parameters that other parameters' priors depend on, and scales of likelihoods.
    fn hyperparameters(&mut self) -> Vec<VariableId> {
        let parameters: Vec<VariableId> = self.program.declared_in(BlockKind::Parameters).collect();
        if let Some(names) = &self.options.hyper {
            let mut chosen = Vec::new();
            for name in names {
                if let Some(id) = parameters.iter().find(|id| self.name(**id) == name) {
                    chosen.push(*id);
                } else {
                    let error = messages::no_such_parameter(self.program, name);
                    self.errors.push(error);
                }
            }
            return chosen;
        }
        let mut found: BTreeSet<VariableId> = BTreeSet::new();
        for factor in &self.factors {
            match factor.role {
                Role::Prior => {
                    let linked =
                        |id: &VariableId| self.linked.iter().any(|l| l.is_at(factor.span) && l.parameters.contains(id));
                    let own = |id: &VariableId| factor.draws(*id) || linked(id);
                    found.extend(factor.depends_on.iter().filter(|id| !own(id)));
                }
                Role::Likelihood => found.extend(&factor.scales),
            }
        }
        parameters.into_iter().filter(|id| found.contains(id)).collect()
    }
}

/// Some of `left` that depend on each other in a circle.
fn round(left: &[VariableId], needs: &BTreeMap<VariableId, BTreeSet<VariableId>>) -> Vec<VariableId> {
    let mut path: Vec<VariableId> = Vec::new();
    let mut at = left[0];
    loop {
        if let Some(start) = path.iter().position(|id| *id == at) {
            return path.split_off(start);
        }
        path.push(at);
        let next = needs.get(&at).and_then(|n| n.iter().find(|id| left.contains(id)));
        match next {
            Some(id) => at = *id,
            None => return path,
        }
    }
}
