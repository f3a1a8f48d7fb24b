//! `crust reproduce`.

use crate::arguments::{Common, Experiment, Reproduce};
use crate::screen::Screen;
use crate::{Exit, output, terminal};
use crust_api::reproduce::{Grid, TaddaaExperiment, ToyOptions};
use crust_api::result::{self, Results};
use crust_api::{Error, Part, Refusal, reproduce};
use crust_report::terminal::{real_data, table1, table1_dataset, toy_agreement, toy_heading, toy_row};
use crust_report::terminal::{taddaa_agreement, taddaa_heading, taddaa_target};

/// What to expect of all models at full length.
const EXPECT: &str = "Expect some minutes, and much longer for the matrix factorization. The same command goes on \
                      where it was ended; \
                      `--largest 300` is a short version.";

pub fn run(arguments: &Reproduce, common: &Common) -> Result<Exit, Error> {
    terminal::check_writable(common.json.as_deref())?;
    let takes_data =
        matches!(arguments.experiment, Experiment::TaddaaCandy | Experiment::TaddaaCancer | Experiment::TaddaaBnn);
    if let (Some(data), false) = (&arguments.data, takes_data) {
        return Err(Error::option("data", data.display(), "is for `taddaa-candy`, `taddaa-cancer` and `taddaa-bnn`"));
    }
    match arguments.experiment {
        Experiment::Barrier => toy(Grid::Barrier, arguments, common),
        Experiment::EasyRandom => toy(Grid::EasyRandom, arguments, common),
        Experiment::HardRandom => toy(Grid::HardRandom, arguments, common),
        Experiment::Table1 => table(arguments, common),
        Experiment::BreadReal => five_models(arguments, common),
        Experiment::Representations => representations(arguments, common),
        Experiment::TaddaaGaussian => taddaa(TaddaaExperiment::Gaussian, arguments, common),
        Experiment::TaddaaFunnel => taddaa(TaddaaExperiment::Funnel, arguments, common),
        Experiment::TaddaaCandy => taddaa(TaddaaExperiment::Candy, arguments, common),
        Experiment::TaddaaCancer => taddaa(TaddaaExperiment::Cancer, arguments, common),
        Experiment::TaddaaBnn => taddaa(TaddaaExperiment::Bnn, arguments, common),
        Experiment::TaddaaBanana => taddaa(TaddaaExperiment::Banana, arguments, common),
    }
}

fn toy(grid: Grid, arguments: &Reproduce, common: &Common) -> Result<Exit, Error> {
    let begun = std::sync::Once::new();
    let take = |part: &Part<'_>| {
        if let (Part::Toy(row), true) = (part, common.tells()) {
            begun.call_once(|| terminal::say(&toy_heading(grid.name(), arguments.seed)));
            terminal::say(&toy_row(row));
        }
        Ok(())
    };
    let screen = Screen::new(common).taking_parts(take);
    let mut session = screen.short_session(arguments.seed);
    session.threads = arguments.threads;
    let result = reproduce::toy(grid, ToyOptions { largest: arguments.largest }, &session)?;
    if common.tells() {
        terminal::say(&toy_agreement(&result.rows));
    }
    deliver(result::Reproduce::Toy(result), common)?;
    Ok(Exit::Fine)
}

fn taddaa(experiment: TaddaaExperiment, arguments: &Reproduce, common: &Common) -> Result<Exit, Error> {
    let options = arguments.taddaa_options()?;
    let begun = std::sync::Once::new();
    let take = |part: &Part<'_>| {
        if let (Part::Taddaa(target), true) = (part, common.tells()) {
            begun.call_once(|| terminal::say(&taddaa_heading(experiment.name(), arguments.seed)));
            terminal::say(&taddaa_target(target));
        }
        Ok(())
    };
    let screen = Screen::new(common).taking_parts(take);
    let session = screen.threaded_session(arguments.seed, arguments.threads);
    let result = reproduce::taddaa(experiment, &options, &session);
    screen.end();
    let result = result?;
    if common.tells() {
        terminal::say(&taddaa_agreement(&result));
    }
    let exit = if result.partial { Exit::Interrupted } else { Exit::Fine };
    deliver(result::Reproduce::Taddaa(result), common)?;
    Ok(exit)
}

fn deliver(result: result::Reproduce, common: &Common) -> Result<(), Error> {
    common.json.as_deref().map_or(Ok(()), |file| terminal::deliver(&Results::Reproduce(result), file))
}

fn table(arguments: &Reproduce, common: &Common) -> Result<Exit, Error> {
    if !arguments.models.is_empty() || arguments.movielens.is_some() {
        return Err(Refusal::ModelsOfTable1.into());
    }
    let take = |part: &Part<'_>| {
        if let (Part::Table1 { dataset, wanted, bounds }, true) = (part, common.tells()) {
            terminal::say(&table1_dataset(*dataset, *wanted, bounds));
        }
        Ok(())
    };
    let screen = Screen::new(common).taking_parts(take);
    let session = screen.threaded_session(arguments.seed, arguments.threads);
    let result = reproduce::table1(&arguments.table1_options(), &session);
    screen.end();
    let result = result?;
    if common.tells() {
        terminal::say(&table1(&result));
    }
    let exit = if result.partial { Exit::Interrupted } else { Exit::Fine };
    deliver(result::Reproduce::Table1(result), common)?;
    Ok(exit)
}

fn representations(arguments: &Reproduce, common: &Common) -> Result<Exit, Error> {
    let screen = Screen::new(common);
    let options = arguments.real_data_options("representations")?;
    let run = reproduce::representations(&options, &screen.threaded_session(arguments.seed, arguments.threads));
    screen.end();
    let run = run?;
    let exit = run.diagnosis.into();
    output::deliver(run, Results::Compare, Some(&options.folder.join("result")), common)?;
    Ok(exit)
}

fn five_models(arguments: &Reproduce, common: &Common) -> Result<Exit, Error> {
    let options = arguments.real_data_options("bread-real")?;
    if !common.quiet && options.is_full() {
        terminal::complain(EXPECT);
    }
    let take = |part: &Part<'_>| match part {
        Part::RealData { folder, run } => {
            output::write_folder(&Results::Bread(run.result.clone()), &run.timing, &run.simulated, folder)
        }
        _ => Ok(()),
    };
    let screen = Screen::new(common).taking_parts(take);
    let run = reproduce::real_data(&options, &screen.threaded_session(arguments.seed, arguments.threads));
    screen.end();
    let run = run?;
    if common.tells() {
        terminal::say(&real_data(&run.result));
        terminal::say(&format!("Reports are in the folders of {}.", options.folder.display()));
    }
    deliver(result::Reproduce::RealData(run.result), common)?;
    Ok(run.diagnosis.into())
}
