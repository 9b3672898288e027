//! The real Pi goes through what every program must.

use windlass_adapters::{Adapter, Dialect, Pi};

use super::scenes::{Actor, Trap, scenes};

const ACTOR: Actor = Actor {
    adapter: &Pi,
    dialect: Dialect::Chat,
    command: "{ tool: bash, args: { command: \"COMMAND\" } }",
    change: "{ tool: write, args: { path: \"written.txt\", content: \"written\\n\" } }",
    trap: Trap {
        path: ".pi/extensions/trap.ts",
        content: "import { writeFileSync } from \"node:fs\";\nexport default function () { writeFileSync(\"WORKSPACE/TRAPPED\", \"\"); }\n",
        trusting: |spec| {
            spec.argv.retain(|word| word != "--no-extensions");
            for word in &mut spec.argv {
                if word == "--no-approve" {
                    "--approve".clone_into(word);
                }
            }
        },
    },
};

scenes!(ACTOR);

#[test]
fn speaks_to_its_model_in_every_way_that_it_says() {
    for dialect in Pi.agent().dialects {
        Actor { dialect: *dialect, ..ACTOR }.does_what_is_allowed();
    }
}
