//! Which terms of the likelihood look at which elements of the outcome.

use std::collections::{BTreeMap, BTreeSet};

use crust_math::random::{Purpose, Stream, StreamKey};

use super::super::SimulateError;
use super::super::noted::TermSums;
use super::Domain;
use super::evaluate::{Run, Terms, in_time};

/// Elements that share terms.
#[derive(Clone, Debug)]
pub struct Block {
    pub elements: Vec<usize>,
    /// The terms that look at it. Where they are a sum over elements, several blocks have the same.
    pub group: usize,
    /// Its number among the blocks of its group, which are changed one at a time.
    pub turn: usize,
}

#[derive(Clone, Debug)]
pub struct Structure {
    pub blocks: Vec<Block>,
    /// How many groups of terms there are.
    pub groups: usize,
    /// The group of each term; none where it depends on no element.
    pub terms: BTreeMap<u64, Option<usize>>,
}

/// Why a likelihood cannot be taken apart.
pub enum Trouble {
    Simulate(SimulateError),
    Nowhere,
    Coupled {
        elements: usize,
    },
    /// Which terms there are depends on the outcome.
    Branches,
}

impl From<SimulateError> for Trouble {
    fn from(error: SimulateError) -> Self {
        Self::Simulate(error)
    }
}

impl Trouble {
    pub fn named(self, names: &str) -> SimulateError {
        match self {
            Self::Simulate(error) => error,
            Self::Nowhere => SimulateError::NoDensity {
                name: names.to_owned(),
                why: "the likelihood of the given data is zero wherever it was tried".to_owned(),
            },
            Self::Branches => SimulateError::NoDensity {
                name: names.to_owned(),
                why: "which terms the likelihood has depends on it".to_owned(),
            },
            Self::Coupled { elements } => SimulateError::NoDensity {
                name: names.to_owned(),
                why: format!("{elements} of its elements depend on each other in the likelihood"),
            },
        }
    }
}

/// At how many points a finite likelihood is looked for.
const STARTS: u32 = 60;

/// Blocks of so many combinations of values are gone through.
pub const MOST_COMBINATIONS: f64 = 4096.0;

/// How far away flat densities are looked at, relative to the size of a number.
const FAR: f64 = 1e3;

/// Random subsets on which it is tested whether a term is a sum over elements.
const SUBSETS: u32 = 8;

/// In so many surroundings elements are changed one by one.
const CONTEXTS: u32 = 4;

impl Structure {
    /// With terms as fine as loops go, or else with those of each iteration of outermost loops, or with their sum. Where
    /// sizes depend on the outcome, so does what a term is: then their sum comes first.
    pub fn find(terms: &mut Terms, base: &[f64], domains: &[Domain]) -> Result<Self, Trouble> {
        let mut ways = [None, Some(1), Some(0)];
        let begins_anew = terms.begins_anew();
        if begins_anew {
            ways.reverse();
        }
        let mut trouble = Trouble::Branches;
        for finest in ways {
            terms.finest = finest;
            trouble = match Self::find_with(terms, base, domains) {
                Err(Trouble::Branches) => Trouble::Branches,
                Err(coupled @ Trouble::Coupled { .. }) if begins_anew => coupled,
                other => return other,
            };
        }
        Err(trouble)
    }

    fn find_with(terms: &Terms, base: &[f64], domains: &[Domain]) -> Result<Self, Trouble> {
        let mut stream = StreamKey::new(1, Purpose::GENERATED).stream();
        for _ in 0..STARTS {
            let point: Vec<f64> = (0..terms.dimension()).map(|_| 4.0 * stream.uniform() - 2.0).collect();
            let mut run = terms.run(&point);
            let fine = run.terms(base).filter(|found| found.values.iter().all(|x| x.is_finite()));
            if let Some(found) = fine {
                let fine = terms.finest.is_none();
                let mut search = Search { run, base, domains, found, sets: BTreeMap::new(), stream, fine };
                return search.run();
            }
        }
        Err(Trouble::Nowhere)
    }
}

struct Search<'a> {
    run: Run,
    base: &'a [f64],
    domains: &'a [Domain],
    /// The terms at the base.
    found: TermSums,
    /// The elements of each term.
    sets: BTreeMap<u64, BTreeSet<usize>>,
    stream: Stream,
    /// Whether terms may be joined to coarser ones.
    fine: bool,
}

impl Search<'_> {
    fn run(&mut self) -> Result<Structure, Trouble> {
        let others = self.others();
        let mut coupled = self.by_bits(&others)?;
        // A density that is flat where the data are shows its ends only far away.
        for far in [FAR, -FAR] {
            let touched: BTreeSet<usize> = self.sets.values().flatten().copied().collect();
            if coupled || touched.len() == self.base.len() {
                break;
            }
            let moved = self.moved(far, &touched);
            coupled = self.by_bits(&moved)?;
        }
        if coupled {
            self.sets.clear();
            self.one_by_one(&others)?;
        }
        let structure = self.blocks(&others)?;
        if self.holds(&structure, &others) { Ok(structure) } else { Err(Trouble::Branches) }
    }

    /// Finds the elements of each term by changing one after the other: at the data, and where some others have been
    /// changed. A term may not feel an element where the data happen to be (how often a binary sequence stays does not
    /// change with the middle one of 1, 0, 0).
    fn one_by_one(&mut self, others: &[f64]) -> Result<(), Trouble> {
        for context in 0..CONTEXTS {
            let is_moved: Vec<bool> =
                (0..self.base.len()).map(|_| context > 0 && self.stream.uniform() < 0.5).collect();
            let place = |e: usize, moved: bool| if moved { others[e] } else { self.base[e] };
            let around: Vec<f64> = is_moved.iter().enumerate().map(|(e, moved)| place(e, *moved)).collect();
            let Some(start) = self.run.terms(&around) else { continue };
            for e in 0..self.base.len() {
                in_time(self.run.until)?;
                let mut numbers = around.clone();
                numbers[e] = if is_moved[e] { self.base[e] } else { others[e] };
                let Some(now) = self.run.terms(&numbers) else { continue };
                for term in self.differing(&start, &now)? {
                    self.sets.entry(term).or_default().insert(e);
                }
            }
        }
        Ok(())
    }

    /// Whether groups of terms look at nothing but their own elements, also where many others have been changed.
    fn holds(&mut self, structure: &Structure, others: &[f64]) -> bool {
        let mut numbers = self.base.to_vec();
        structure.blocks.iter().flat_map(|b| &b.elements).for_each(|e| numbers[*e] = others[*e]);
        let (Some(all), base) = (self.run.terms(&numbers), self.found.clone()) else { return true };
        for _ in 0..SUBSETS {
            let chosen: Vec<bool> = (0..structure.groups).map(|_| self.stream.uniform() < 0.5).collect();
            let mut numbers = self.base.to_vec();
            let own = structure.blocks.iter().filter(|b| chosen[b.group]);
            own.flat_map(|b| &b.elements).for_each(|e| numbers[*e] = others[*e]);
            let Some(some) = self.run.terms(&numbers) else { continue };
            let by_group = |sums: &TermSums| -> Option<Vec<f64>> {
                let mut list = vec![0.0; structure.groups];
                for (term, x) in sums.iter() {
                    if let Some(group) = structure.terms.get(&term)? {
                        list[*group] += x;
                    }
                }
                Some(list)
            };
            let (Some(all), Some(base), Some(some)) = (by_group(&all), by_group(&base), by_group(&some)) else {
                return false;
            };
            for (group, chosen) in chosen.iter().enumerate() {
                let (found, expected) = (some[group], if *chosen { all[group] } else { base[group] });
                let both = found.is_finite() && expected.is_finite();
                if both && (found - expected).abs() > 1e-9 * (1.0 + expected.abs()) {
                    return false;
                }
            }
        }
        true
    }

    /// Values far away for real elements that nothing has been seen to look at.
    fn moved(&self, far: f64, touched: &BTreeSet<usize>) -> Vec<f64> {
        let move_one = |(e, x): (usize, &f64)| {
            let domain = self.domains[e];
            if touched.contains(&e) || domain.integer {
                return *x;
            }
            (x + far * (1.0 + x.abs())).clamp(domain.lower, domain.upper)
        };
        self.base.iter().enumerate().map(move_one).collect()
    }

    /// Another value for each element.
    fn others(&mut self) -> Vec<f64> {
        let n = self.base.len().max(1);
        #[allow(clippy::cast_precision_loss, reason = "sizes are small")]
        let (mean, count) = (self.base.iter().sum::<f64>() / n as f64, n as f64);
        let spread = (self.base.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / count).sqrt();
        let spread = if spread > 0.0 { spread } else { mean.abs().max(1.0) };
        let (base, domains) = (self.base, self.domains);
        let mut other = |(x, domain): (&f64, &Domain)| {
            let step = if domain.integer { 1.0 } else { spread * (0.1 + 0.2 * self.stream.uniform()) };
            let inside = |y: f64| y >= domain.lower && y <= domain.upper;
            let small = |y: f64| if domain.integer { y } else { 0.5 * (x + y) };
            match (inside(x + step), inside(x - step)) {
                (_, true) if domain.integer && *x > 1.0 => x - step,
                (true, _) => x + step,
                (_, true) => x - step,
                _ if domain.upper.is_finite() && *x < domain.upper => small(domain.upper),
                _ => small(domain.lower.max(x - step)),
            }
        };
        base.iter().zip(domains).map(&mut other).collect()
    }

    /// The terms that are others when these elements are; nothing where the program refuses that.
    fn changed(&mut self, elements: &[usize], others: &[f64]) -> Result<Option<Vec<u64>>, Trouble> {
        in_time(self.run.until)?;
        let mut numbers = self.base.to_vec();
        elements.iter().for_each(|e| numbers[*e] = others[*e]);
        let Some(now) = self.run.terms(&numbers) else { return Ok(None) };
        self.differing(&self.found, &now).map(Some)
    }

    /// The terms that are not the same.
    fn differing(&self, before: &TermSums, now: &TermSums) -> Result<Vec<u64>, Trouble> {
        if self.fine && now.keys != before.keys {
            return Err(Trouble::Branches);
        }
        let same = |a: f64, b: f64| a.total_cmp(&b).is_eq();
        let differs = |term: &u64| match (before.get(*term), now.get(*term)) {
            (Some(a), Some(b)) => !same(a, b),
            _ => true,
        };
        let all: BTreeSet<u64> = before.keys.iter().chain(now.keys.iter()).copied().collect();
        Ok(all.into_iter().filter(differs).collect())
    }

    /// Finds the one element of each term from as many evaluations as its number has bits, and as many again for the
    /// other elements. Says whether some term has more than one.
    fn by_bits(&mut self, others: &[f64]) -> Result<bool, Trouble> {
        let n = self.base.len();
        let bits = usize::BITS - n.saturating_sub(1).leading_zeros();
        let mut seen: BTreeMap<u64, Vec<[bool; 2]>> = BTreeMap::new();
        let bits = bits.max(1) as usize;
        for bit in 0..bits {
            for side in 0..2 {
                let elements: Vec<usize> = (0..n).filter(|e| (e >> bit) & 1 == side).collect();
                let Some(changed) = self.changed(&elements, others)? else { return Ok(true) };
                for term in changed {
                    seen.entry(term).or_insert_with(|| vec![[false; 2]; bits])[bit][side] = true;
                }
            }
        }
        for (term, sides) in seen {
            if sides.iter().any(|[a, b]| a == b) {
                return Ok(true);
            }
            if sides.iter().all(|[a, b]| !a && !b) {
                continue;
            }
            let element = sides.iter().enumerate().map(|(bit, [_, one])| usize::from(*one) << bit).sum();
            if element >= n {
                return Ok(true);
            }
            self.sets.insert(term, BTreeSet::from([element]));
        }
        self.is_beside(others)
    }

    /// Whether some term changes where its element does not: what is added to one element and taken from another is not
    /// seen in their sum, so that this may look at one element only. Other subsets of elements show it.
    fn is_beside(&mut self, others: &[f64]) -> Result<bool, Trouble> {
        for _ in 0..SUBSETS {
            let elements: Vec<usize> = (0..self.base.len()).filter(|_| self.stream.uniform() < 0.5).collect();
            let Some(changed) = self.changed(&elements, others)? else { return Ok(true) };
            let own = |term: &u64| self.sets.get(term).is_some_and(|set| set.iter().all(|e| elements.contains(e)));
            if !changed.iter().all(own) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Elements that share terms, directly or through others.
    fn blocks(&mut self, others: &[f64]) -> Result<Structure, Trouble> {
        let n = self.base.len();
        let mut parent: Vec<usize> = (0..n).collect();
        for set in self.sets.values() {
            let mut list = set.iter();
            let Some(first) = list.next() else { continue };
            for e in list {
                let (a, b) = (top(&mut parent, *first), top(&mut parent, *e));
                parent[a.max(b)] = a.min(b);
            }
        }
        let touched: BTreeSet<usize> = self.sets.values().flatten().copied().collect();
        let mut groups: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for e in touched {
            groups.entry(top(&mut parent, e)).or_default().push(e);
        }
        let mut numbers: BTreeMap<usize, usize> = BTreeMap::new();
        let mut blocks = Vec::new();
        for (root, elements) in groups {
            let group = numbers.len();
            numbers.insert(root, group);
            if elements.len() == 1 || self.combinations(&elements) <= MOST_COMBINATIONS {
                blocks.push(Block { elements, group, turn: 0 });
            } else if self.adds_up(&elements, others)? {
                let alone = |(turn, e)| Block { elements: vec![e], group, turn };
                blocks.extend(elements.into_iter().enumerate().map(alone));
            } else {
                return Err(Trouble::Coupled { elements: elements.len() });
            }
        }
        let mut terms: BTreeMap<u64, Option<usize>> = self.found.keys.iter().map(|term| (*term, None)).collect();
        for (term, set) in &self.sets {
            let first = set.first().map(|e| top(&mut parent, *e));
            terms.insert(*term, first.and_then(|root| numbers.get(&root).copied()));
        }
        Ok(Structure { blocks, groups: numbers.len(), terms })
    }

    /// How many combinations of values a block has.
    fn combinations(&self, elements: &[usize]) -> f64 {
        let of = |e: &usize| {
            let domain = self.domains[*e];
            if domain.integer { domain.upper - domain.lower + 1.0 } else { f64::INFINITY }
        };
        elements.iter().map(of).product()
    }

    /// Whether the terms of a block are sums over its elements: what changes with some of them is the sum of what
    /// changes with each.
    fn adds_up(&mut self, elements: &[usize], others: &[f64]) -> Result<bool, Trouble> {
        let total = |sums: Option<TermSums>| sums.map_or(f64::NAN, |s| s.sum());
        let start = self.found.sum();
        let mut alone = BTreeMap::new();
        for e in elements {
            in_time(self.run.until)?;
            let mut numbers = self.base.to_vec();
            numbers[*e] = others[*e];
            alone.insert(*e, total(self.run.terms(&numbers)) - start);
        }
        for _ in 0..SUBSETS {
            let mut numbers = self.base.to_vec();
            let (mut expected, mut size) = (0.0, start.abs());
            for e in elements {
                if self.stream.uniform() < 0.5 {
                    numbers[*e] = others[*e];
                    expected += alone[e];
                    size += alone[e].abs();
                }
            }
            let found = total(self.run.terms(&numbers)) - start;
            let close = (found - expected).abs() <= 1e-9 * (1.0 + size);
            if !close {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// The first element of the block that an element is in.
fn top(parent: &mut [usize], mut e: usize) -> usize {
    while parent[e] != e {
        parent[e] = parent[parent[e]];
        e = parent[e];
    }
    e
}
