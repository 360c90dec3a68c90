//! Asks a real API server the corpus anew: `conformance/record` starts one and runs this.

use std::{collections::BTreeMap, path::PathBuf, process::ExitCode, time::Instant};

use clap::Parser;
use futures::{StreamExt, stream};
use kubewright_conformance::{
    answer::Answer,
    area,
    case::Case,
    compare,
    player::{self, PlayError},
    target::Target,
};

/// Records what a real kube-apiserver answers to the corpus.
#[derive(Debug, Parser)]
struct Arguments {
    /// The kubeconfig of the real server.
    #[arg(long, env = "KUBECONFIG")]
    kubeconfig: PathBuf,
    /// Change nothing, and fail if an answer is not the recorded one.
    #[arg(long)]
    check: bool,
    /// Only cases of which nothing is recorded.
    #[arg(long)]
    missing: bool,
    /// Only cases that need more admission plugins, which the server then has on; without it, only the others.
    #[arg(long)]
    more_plugins: bool,
    /// Only cases whose area and name, as `area/name`, have one of these texts in them.
    filters: Vec<String>,
}

/// How many cases run at a time. The real server waits at times; the cases do not see each other.
const AT_ONCE: usize = 8;

#[tokio::main]
async fn main() -> ExitCode {
    match run(Arguments::parse()).await {
        Ok(0) => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(error) => {
            say(&format!("error: {error}"));
            ExitCode::FAILURE
        }
    }
}

/// Records, and gives the number of cases that failed or whose answers have changed. It says how many were asked.
async fn run(arguments: Arguments) -> Result<usize, PlayError> {
    let target = Target::real(&arguments.kubeconfig).await?;
    player::install_fixtures(&target).await?;
    let began = Instant::now();
    let (mut asked, mut wrong) = (0, 0);
    for area in area::all() {
        for file in area::files(&area) {
            let mut recorded = file.recorded();
            let is_wanted = |case: &&Case| {
                let name = format!("{area}/{}", case.name);
                case.more_plugins == arguments.more_plugins
                    && (arguments.filters.is_empty()
                        || arguments.filters.iter().any(|part| name.contains(part)))
                    && !(arguments.missing && recorded.contains_key(&case.name))
            };
            let wanted: Vec<&Case> = file.cases.iter().filter(is_wanted).collect();
            let played: Vec<(&Case, Result<Vec<Answer>, PlayError>)> = stream::iter(wanted)
                .map(|case| {
                    let target = &target;
                    async move { (case, player::play(case, target).await) }
                })
                .buffered(AT_ONCE)
                .collect()
                .await;
            asked += played.len();
            for (case, result) in played {
                wrong += usize::from(!keep(&area, case, result, arguments.check, &mut recorded));
            }
            recorded.retain(|name, _| file.cases.iter().any(|case| case.name == *name));
            if !arguments.check {
                file.write(&recorded);
            }
        }
    }
    let told = if arguments.check { "that have changed" } else { "that failed" };
    say(&format!("asked {asked} cases in {} s, {wrong} of them {told}", began.elapsed().as_secs()));
    Ok(wrong)
}

/// Puts an answer among the recorded ones, and tells whether it was there before, or may be new.
fn keep(
    area: &str,
    case: &Case,
    result: Result<Vec<Answer>, PlayError>,
    check: bool,
    recorded: &mut BTreeMap<String, Vec<Answer>>,
) -> bool {
    let answers = match result {
        Ok(answers) => answers,
        Err(error) => {
            say(&format!("{area}/{}: {error}", case.name));
            return false;
        }
    };
    let Some(old) = recorded.get(&case.name) else {
        recorded.insert(case.name.clone(), answers);
        return !check;
    };
    let differences = compare::answers(old, &answers);
    for difference in &differences {
        say(&format!("{area}/{}: {difference}", case.name));
    }
    recorded.insert(case.name.clone(), answers);
    !check || differences.is_empty()
}

#[expect(clippy::print_stderr, reason = "it is what the command has to say")]
fn say(text: &str) {
    eprintln!("{text}");
}
