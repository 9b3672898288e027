import { useQuery } from "@tanstack/react-query";

import { patterns } from "../api/queries";
import { Badge } from "../parts/Badge";
import { Page } from "../parts/Page";
import { Shown } from "../parts/Shown";
import { ItemList } from "./ItemList";

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
            hint={<>To check one of your own: <code>windlass patterns check FILE</code>.</>}
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
