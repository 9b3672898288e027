//! Files of the workspace configure nothing: whoever wrote the repository is not the operator.

use super::trial::{cards, is_unharmed, put_data, scene};

const RISKS: &str = "[program.rm]\nlevel = \"low\"\n";
const NOTHING: &str = "[]\n";

#[test]
fn gates_and_risks_of_the_workspace_change_nothing() {
    let home = scene("rm -r victim");
    for folder in ["", ".windlass/", "data/"] {
        home.write(&format!("{folder}risk.toml"), RISKS);
        home.write(&format!("{folder}gates.yaml"), NOTHING);
        home.write(&format!("{folder}windlass.toml"), "no_isolation = true\nsandbox = \"process\"\n");
    }
    home.write(".env", "WINDLASS_DATA_DIR=data\n");
    home.run(&[]).run().expect(3);
    assert_eq!((cards(&home).len(), is_unharmed(&home)), (1, true));
    put_data(&home, "risk.toml", RISKS);
    home.run(&[]).run().expect(0);
    assert!(!is_unharmed(&home), "the same file counts where the operator keeps his");
}

/// The program that answers cards is not for agents, wherever it could reach the data directory.
#[test]
fn an_agent_that_calls_windlass_is_asked_about() {
    let command = format!("{} keys init > marker", env!("CARGO_BIN_EXE_windlass"));
    let unconfined = ["--sandbox", "process", "--no-isolation"];
    let home = scene(&command);
    home.run(&unconfined).run().expect(3);
    assert_eq!((cards(&home).len(), is_unharmed(&home)), (1, true));
    let home = scene(&command);
    put_data(&home, "risk.toml", "[program.windlass]\nlevel = \"medium\"\n");
    home.run(&unconfined).run().expect(0);
    assert!(!is_unharmed(&home));
    let home = scene("echo windlass approve > made");
    home.run(&unconfined).run().expect(0);
    assert_eq!(home.read("made"), "windlass approve\n");
}
