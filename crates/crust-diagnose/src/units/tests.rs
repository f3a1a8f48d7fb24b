//! Names are read as they were written, and units survive being sent elsewhere.

use super::*;
use proptest::prelude::*;

fn names() -> impl Strategy<Value = UnitName> {
    let annealed = (0..1_000_000_usize, 0..3_usize, any::<u32>()).prop_map(|(t, c, first)| Part::Anneal {
        t,
        chains: Annealed::ALL[c],
        first,
    });
    let part = prop_oneof![
        Just(Part::Fit),
        Just(Part::Pilot),
        Just(Part::StartsFewer),
        Just(Part::Rank),
        proptest::option::of(any::<usize>()).prop_map(|more| Part::Starts { more }),
        annealed,
    ];
    (proptest::option::of(any::<u32>()), any::<u32>(), part).prop_map(|(way, dataset, part)| UnitName {
        way,
        dataset,
        part,
    })
}

proptest! {
    #[test]
    fn names_are_read_as_they_were_written(name in names()) {
        prop_assert_eq!(name.to_string().parse::<UnitName>(), Ok(name));
        let json = serde_json::to_string(&name).expect("JSON");
        prop_assert_eq!(serde_json::from_str::<UnitName>(&json).expect("a name"), name);
    }

    #[test]
    fn what_is_read_is_written_the_same(text in "(way-[0-9]{1,2}/)?(fit|pilot|starts|rank|anneal)(/[0-9a-z-]{1,8}){0,5}") {
        if let Ok(name) = text.parse::<UnitName>() {
            prop_assert_eq!(name.to_string(), text);
        }
    }
}

#[test]
fn names_are_those_of_old_journals() {
    for text in [
        "fit/0",
        "pilot/1",
        "starts/1",
        "starts/1/200",
        "starts-fewer/1",
        "rank/17",
        "anneal/1/100/forward/0",
        "anneal/1/100/reverse-fewer/16",
        "way-2/pilot/1",
        "way-2/anneal/1/30/reverse/0",
    ] {
        assert_eq!(text.parse::<UnitName>().map(|name| name.to_string()).as_deref(), Ok(text));
    }
    for text in ["", "fit", "fit/", "fit/01", "fit/-1", "anneal/1/2/sideways/0", "way-/fit/0", "fit/0/1", "rank/1/2"] {
        assert_eq!(text.parse::<UnitName>(), Err(BadName(text.to_owned())));
    }
}

#[test]
fn units_survive_being_sent() {
    let (kernels, starts) = (vec![0.1 + 0.2], [vec![1.0, -1e-310], vec![2.0, 3.0]]);
    let kernels = || Cow::Borrowed(&kernels);
    let truth = Cow::Borrowed(&starts[0]);
    let unit = |task| Unit { way: Some(2), dataset: 3, task };
    let units = [
        (unit(Task::Fit), "way-2/fit/3", 0),
        (unit(Task::Pilot), "way-2/pilot/3", 0),
        (
            unit(Task::Starts { kernels: kernels(), truth, chains: 7, steps: 5, fewer: false, more: true }),
            "way-2/starts/3/7",
            35,
        ),
        (unit(Task::Forward { kernels: kernels(), t: 10, first: 4, chains: 6 }), "way-2/anneal/3/10/forward/4", 60),
        (
            unit(Task::Reverse { kernels: kernels(), t: 10, first: 4, starts: Cow::Borrowed(&starts), fewer: true }),
            "way-2/anneal/3/10/reverse-fewer/4",
            20,
        ),
    ];
    for (unit, name, transitions) in units {
        assert_eq!((unit.name().to_string().as_str(), unit.transitions()), (name, transitions));
        let json = serde_json::to_string(&unit).expect("JSON");
        let back: Unit<'_, Vec<f64>, Vec<f64>> = serde_json::from_str(&json).expect("a unit");
        assert_eq!((&back, back.title()), (&unit, unit.title()));
    }
}

#[test]
fn chains_are_divided_without_gaps() {
    for (t, chains) in [(10, 0..50), (3000, 0..100), (30_000, 0..100), (10, 50..51), (1, 0..0)] {
        let parts: Vec<_> = divide(t, chains.clone()).collect();
        let mut end = chains.start;
        for (first, part) in parts {
            assert_eq!((first as usize, part.start), (end, end));
            assert!(part.len() * t <= MOST_TRANSITIONS.max(FEWEST_CHAINS * t));
            end = part.end;
        }
        assert_eq!(end, chains.end.max(chains.start));
    }
}
