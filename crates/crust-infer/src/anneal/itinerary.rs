//! The order in which chains are weighed and moved.

/// From the initial distribution to the target, or back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    Forward,
    Reverse,
}

/// What a chain does next. Distributions are numbered as in the papers, from 1 to T.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leg {
    /// log w += log `f_to`(x) − log `f_from`(x).
    Weigh { from: usize, to: usize },
    /// x ← 𝒯ₜ(x), which leaves pₜ invariant.
    Move { t: usize },
    /// x ← 𝒯̃ₜ(x), the time reversal: pₜ(x) 𝒯ₜ(x′ | x) = pₜ(x′) 𝒯̃ₜ(x | x′).
    MoveReversed { t: usize },
}

/// All legs of a chain, in order.
///
/// > forward: for t = 2 … T: weigh t−1 → t, move t; reverse: for t = T … 2: move t reversed, weigh t → t−1.
///
/// The forward one is BREAD, eq. (1). The reverse one visits the same states backwards: for a path x₁ … `x_T`
///
/// > p₁(x₁) Π 𝒯ₜ(xₜ | xₜ₋₁) · w = `Z_T`/Z₁ · `p_T`(`x_T`) Π 𝒯̃ₜ(xₜ₋₁ | xₜ), with w = Π `f_t`(xₜ₋₁) / `f_t₋₁`(xₜ₋₁)
///
/// (eqs. 17–24, with the last move kept as in eqs. 4 and 5), and its weight is 1/w.
#[derive(Clone, Debug)]
pub struct Itinerary {
    direction: Direction,
    distributions: usize,
    /// Legs so far.
    done: usize,
}

impl Itinerary {
    /// Through a number T of distributions.
    pub fn new(direction: Direction, distributions: usize) -> Self {
        Self { direction, distributions, done: 0 }
    }
}

impl Iterator for Itinerary {
    type Item = Leg;

    fn next(&mut self) -> Option<Leg> {
        let (pair, second) = (self.done / 2, self.done % 2 == 1);
        if pair + 1 >= self.distributions {
            return None;
        }
        self.done += 1;
        Some(match self.direction {
            Direction::Forward => {
                let t = pair + 2;
                if second { Leg::Move { t } } else { Leg::Weigh { from: t - 1, to: t } }
            }
            Direction::Reverse => {
                let t = self.distributions - pair;
                if second { Leg::Weigh { from: t, to: t - 1 } } else { Leg::MoveReversed { t } }
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Leg::{Move, MoveReversed, Weigh};
    use super::*;

    #[test]
    fn legs_are_the_papers() {
        let forward: Vec<Leg> = Itinerary::new(Direction::Forward, 3).collect();
        assert_eq!(forward, [Weigh { from: 1, to: 2 }, Move { t: 2 }, Weigh { from: 2, to: 3 }, Move { t: 3 }]);
        let reverse: Vec<Leg> = Itinerary::new(Direction::Reverse, 3).collect();
        let expected =
            [MoveReversed { t: 3 }, Weigh { from: 3, to: 2 }, MoveReversed { t: 2 }, Weigh { from: 2, to: 1 }];
        assert_eq!(reverse, expected);
        for direction in [Direction::Forward, Direction::Reverse] {
            assert_eq!(Itinerary::new(direction, 1).count(), 0);
            assert_eq!(Itinerary::new(direction, 0).count(), 0);
        }
    }

    #[test]
    fn reverse_is_forward_backwards() {
        for distributions in 2..9 {
            let mut reversed: Vec<Leg> = Itinerary::new(Direction::Reverse, distributions)
                .map(|leg| match leg {
                    Weigh { from, to } => Weigh { from: to, to: from },
                    MoveReversed { t } | Move { t } => Move { t },
                })
                .collect();
            reversed.reverse();
            assert_eq!(reversed, Itinerary::new(Direction::Forward, distributions).collect::<Vec<_>>());
        }
    }
}
