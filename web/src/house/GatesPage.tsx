import { useQuery } from "@tanstack/react-query";

import { gates } from "../api/queries";
import { Badge } from "../parts/Badge";
import { Page } from "../parts/Page";
import { Shown } from "../parts/Shown";
import { words } from "../text/format";
import { ItemList } from "./ItemList";
import { TryGates } from "./TryGates";

interface Gate {
  name: string;
  gate_type: string;
  on: string;
  on_block: string;
  provider: string;
  source: string;
}

export function GatesPage() {
  const found = useQuery(gates);
  return (
    <Page title="Gates">
      <Shown query={found} what="gates">
        {({ items }) => (
          <ItemList
            empty="There are no gates."
            hint={<>A file of your own is tried by <code>windlass gates test</code>.</>}
            items={(items as unknown as Gate[]).map((gate) => ({
              key: `${gate.source}/${gate.name}`,
              name: gate.name,
              about: `${words(gate.on)} · by ${gate.provider} · what it stops is answered with ${words(gate.on_block)}`,
              marks: <Badge>{gate.source}</Badge>,
              raw: gate,
            }))}
          />
        )}
      </Shown>
      <TryGates />
    </Page>
  );
}
