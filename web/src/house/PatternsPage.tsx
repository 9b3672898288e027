import { useQuery } from "@tanstack/react-query";

import { patterns } from "../api/queries";
import { Badge } from "../parts/Badge";
import { Page } from "../parts/Page";
import { Shown } from "../parts/Shown";
import { CheckDocument } from "./CheckDocument";
import { ItemList } from "./ItemList";

const EXAMPLE = `name: mine
description: What kind of work it is for.
steps:
  - {name: look, tools: [read, grep]}
  - {name: change, tools: [read, write, edit]}
`;

interface Described {
  name: string;
  description: string;
  source: string;
  shadowed_by: string | null;
  steps?: string[];
  needs_tools?: string[];
}

export function PatternsPage() {
  const found = useQuery(patterns);
  return (
    <Page title="Patterns">
      <Shown query={found} what="patterns">
        {({ items }) => (
          <ItemList
            empty="There are no patterns."
            hint={<CheckDocument kind="pattern" example={EXAMPLE} where="Nothing of it is kept here: the operator puts patterns into their folder." />}
            items={(items as unknown as Described[]).map((one) => ({
              key: `${one.source}/${one.name}`,
              name: one.name,
              about: [one.description, one.steps?.join(" → ")].filter(Boolean).join(" "),
              marks: <>{one.source !== "shipped" && <Badge>{one.source}</Badge>}{one.shadowed_by !== null && <Badge tone="warn">{`shadowed by ${one.shadowed_by}`}</Badge>}</>,
              raw: one,
            }))}
          />
        )}
      </Shown>
    </Page>
  );
}
