//! From values to places on an axis, and the values worth naming on it.

/// How values are laid out along an axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    Linear,
    Log,
    /// Linear near zero and logarithmic far from it on both sides: asinh(value / unit).
    Signed {
        unit: f64,
    },
}

/// An axis: its kind and its ends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scale {
    kind: Kind,
    /// The ends as the kind transforms them.
    low: f64,
    high: f64,
}

/// A place on an axis: 0 at its low end, 1 at its high end.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Place {
    pub at: f64,
    /// Whether the value itself lies beyond the end at which it is shown.
    pub beyond: bool,
}

/// A logarithmic axis covers at least this part of a decade, a factor of two.
const LEAST_DECADES: f64 = 0.301;

impl Scale {
    /// An axis over all values that can be shown on it, with some room at both ends.
    pub fn over(kind: Kind, values: impl IntoIterator<Item = f64>) -> Self {
        // larger numbers count as infinite: their differences are
        let places = values.into_iter().map(|v| kind.transform(v)).filter(|t| t.abs() < 1e300);
        let (low, high) = places.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), t| (l.min(t), h.max(t)));
        let (low, high) = if low > high { kind.nothing() } else { (low, high) };
        let span = high - low;
        // one value alone: some room around it, enough to tell it from its neighbours in floating point
        let room = if span > 1e-9 * low.abs().max(high.abs()) { 0.05 * span } else { kind.room(low) };
        // values that are nearly the same are not to look different, and every factor of two has a tick
        let room = if kind == Kind::Log { room.max(0.5 * (LEAST_DECADES - span)) } else { room };
        Self { kind, low: low - room, high: high + room }
    }

    /// An axis with these very ends.
    pub fn between(kind: Kind, low: f64, high: f64) -> Self {
        let ends = (kind.transform(low), kind.transform(high));
        let (low, high) =
            if ends.0.is_finite() && ends.1.is_finite() && ends.0 < ends.1 { ends } else { kind.nothing() };
        Self { kind, low, high }
    }

    /// The values at the ends.
    pub fn ends(&self) -> (f64, f64) {
        let back = |t: f64| match self.kind {
            Kind::Linear => t,
            Kind::Log => 10f64.powf(t),
            Kind::Signed { unit } => unit * t.sinh(),
        };
        (back(self.low), back(self.high))
    }

    /// Where a value is shown: at an end if it lies beyond it. Not a number is nowhere.
    pub fn place(&self, value: f64) -> Option<Place> {
        if value.is_nan() {
            return None;
        }
        let at = (self.kind.transform(value) - self.low) / (self.high - self.low);
        let shown = at.clamp(0.0, 1.0);
        Some(Place { at: shown, beyond: (at - shown).abs() > 1e-9 || at.is_infinite() })
    }

    /// Ever sparser choices of ticks, each ascending with the distance that decides on its decimals.
    pub fn ticks(&self) -> Vec<Vec<(f64, f64)>> {
        match self.kind {
            Kind::Linear => self.linear_ticks(),
            Kind::Log => self.log_ticks(),
            Kind::Signed { unit } => self.signed_ticks(unit),
        }
    }

    /// Ticks at these values, and every second, third … of them, counted from the last.
    pub fn ticks_at(&self, values: &[f64]) -> Vec<Vec<(f64, f64)>> {
        let inside: Vec<f64> = values.iter().copied().filter(|v| self.place(*v).is_some_and(|p| !p.beyond)).collect();
        let every = |n: usize| {
            let mut chosen: Vec<(f64, f64)> = inside.iter().rev().step_by(n).map(|v| (*v, *v)).collect();
            chosen.reverse();
            chosen
        };
        (1..=inside.len()).map(every).collect()
    }

    fn inside(&self, value: f64) -> bool {
        self.place(value).is_some_and(|p| !p.beyond)
    }

    fn linear_ticks(&self) -> Vec<Vec<(f64, f64)>> {
        let span = self.high - self.low;
        let decade = 10f64.powf(span.log10().floor());
        let along = |step: f64| {
            let first = (self.low / step).ceil();
            let ticks = whole_numbers(first, self.high / step).take(100).map(|n| (n * step, step));
            ticks.collect::<Vec<_>>()
        };
        [0.1, 0.2, 0.5, 1.0, 2.0, 5.0].into_iter().map(|leading| along(leading * decade)).collect()
    }

    fn log_ticks(&self) -> Vec<Vec<(f64, f64)>> {
        let decades: Vec<f64> = whole_numbers(self.low.floor(), self.high.ceil()).map(|k| 10f64.powf(k)).collect();
        let with = |leading: &[f64], skip: usize| {
            let in_decade = |d: &f64| leading.iter().map(|m| m * d).collect::<Vec<_>>();
            let all = decades.iter().step_by(skip).flat_map(in_decade);
            all.filter(|v| self.inside(*v)).map(|v| (v, v)).collect::<Vec<_>>()
        };
        let mut choices = vec![with(&[1.0, 2.0, 3.0, 5.0, 7.0], 1), with(&[1.0, 2.0, 5.0], 1), with(&[1.0, 3.0], 1)];
        choices.extend((1..=6).map(|skip| with(&[1.0], skip)));
        // within one decade there may be no power of ten: any tick is better than none
        let some = choices[0].first().copied();
        choices.push(some.into_iter().collect());
        choices
    }

    fn signed_ticks(&self, unit: f64) -> Vec<Vec<(f64, f64)>> {
        let decades = (self.low.abs().max(self.high.abs()).sinh().log10()).ceil().clamp(1.0, 300.0);
        let with = |first: f64, skip: usize| {
            let powers = whole_numbers(first, decades).step_by(skip);
            let sizes: Vec<f64> = powers.map(|k| unit * 10f64.powf(k)).collect();
            let below = sizes.iter().rev().map(|v| -v);
            let all = below.chain([0.0]).chain(sizes.iter().copied()).filter(|v| self.inside(*v));
            all.map(|v| (v, if v == 0.0 { 1.0 } else { v.abs() })).collect::<Vec<_>>()
        };
        // near zero the axis is linear and powers of ten lie close together: the smallest ones go first
        let mut choices: Vec<_> = (1..=12).flat_map(|skip| [0.0, 1.0, 2.0].map(|first| with(first, skip))).collect();
        choices.push(vec![(0.0, 1.0)]);
        choices.retain(|c| !c.is_empty());
        choices
    }
}

impl Kind {
    fn transform(self, value: f64) -> f64 {
        match self {
            Kind::Linear => value,
            Kind::Log if value > 0.0 => value.log10(),
            Kind::Log => f64::NEG_INFINITY,
            Kind::Signed { unit } => (value / unit).asinh(),
        }
    }

    /// The ends of an axis on which there is nothing.
    fn nothing(self) -> (f64, f64) {
        if self == Kind::Log { (-1.0, 1.0) } else { (0.0, 1.0) }
    }

    /// The room on both sides of a single value.
    fn room(self, at: f64) -> f64 {
        match self {
            Kind::Linear => (0.01 * at.abs()).max(0.5),
            Kind::Log => 0.5,
            Kind::Signed { .. } => 1.0,
        }
    }
}

fn whole_numbers(from: f64, to: f64) -> impl Iterator<Item = f64> + Clone {
    (0..700).map(move |n| from + f64::from(n)).take_while(move |v| *v <= to)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(choice: &[(f64, f64)]) -> Vec<f64> {
        choice.iter().map(|t| t.0).collect()
    }

    #[test]
    fn values_without_a_place() {
        let scale = Scale::over(Kind::Log, [0.0, -1.0, f64::NAN, f64::INFINITY, 1.0, 100.0]);
        assert_eq!(scale.place(0.0), Some(Place { at: 0.0, beyond: true }));
        assert_eq!(scale.place(-3.0), Some(Place { at: 0.0, beyond: true }));
        assert_eq!(scale.place(f64::INFINITY), Some(Place { at: 1.0, beyond: true }));
        assert_eq!(scale.place(f64::NAN), None);
        let middle = scale.place(10.0).unwrap();
        assert!((middle.at - 0.5).abs() < 1e-12 && !middle.beyond);
    }

    #[test]
    fn nothing_and_one_value_have_an_axis() {
        for kind in [Kind::Linear, Kind::Log, Kind::Signed { unit: 0.1 }] {
            for list in [vec![], vec![f64::NAN], vec![f64::NEG_INFINITY], vec![3.0], vec![1e12, 1e12], vec![-2.0]] {
                let scale = Scale::over(kind, list.clone());
                assert!(scale.low < scale.high, "{kind:?} {list:?}");
                assert!(scale.ticks().iter().any(|t| !t.is_empty()), "{kind:?} {list:?}");
            }
        }
    }

    #[test]
    fn nearly_equal_values_look_equal() {
        for values in [[0.52, 0.520_000_1], [0.84, 0.86], [4.0, 4.0]] {
            let scale = Scale::over(Kind::Log, values);
            let distance = scale.place(values[1]).unwrap().at - scale.place(values[0]).unwrap().at;
            assert!(distance < 0.04 && scale.ticks().iter().any(|t| !t.is_empty()), "{values:?}");
        }
    }

    #[test]
    fn ends_are_where_they_were_put() {
        for kind in [Kind::Linear, Kind::Log, Kind::Signed { unit: 0.1 }] {
            let (low, high) = Scale::between(kind, 0.3, 70.0).ends();
            assert!((low - 0.3).abs() < 1e-12 && (high - 70.0).abs() < 1e-9, "{kind:?} {low} {high}");
        }
    }

    #[test]
    fn ticks_are_round() {
        assert_eq!(
            values(&Scale::between(Kind::Linear, 0.0, 1.0).ticks()[1]),
            [0.0, 0.2, 0.4, 0.600_000_000_000_000_1, 0.8, 1.0]
        );
        assert_eq!(
            values(&Scale::between(Kind::Log, 9.0, 3100.0).ticks()[2]),
            [10.0, 30.0, 100.0, 300.0, 1000.0, 3000.0]
        );
        let signed = Scale::between(Kind::Signed { unit: 0.1 }, -20.0, 2.0).ticks();
        assert_eq!(values(&signed[0]), [-10.0, -1.0, -0.1, 0.0, 0.1, 1.0]);
        assert_eq!(values(&signed[1]), [-10.0, -1.0, 0.0, 1.0]);
    }

    #[test]
    fn given_ticks_thin_out_from_the_last() {
        let scale = Scale::over(Kind::Log, [10.0, 3000.0]);
        let choices = scale.ticks_at(&[10.0, 30.0, 100.0, 300.0, 1000.0, 3000.0]);
        assert_eq!(values(&choices[1]), [30.0, 300.0, 3000.0]);
        assert_eq!(values(&choices[5]), [3000.0]);
    }
}
