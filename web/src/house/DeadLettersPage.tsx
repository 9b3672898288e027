// Messages that nobody could deal with: to be put back, or thrown away.
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";

import { post } from "../api/client";
import { deadLetters } from "../api/queries";
import { Page } from "../parts/Page";
import { Shown } from "../parts/Shown";
import { Empty, Refused } from "../parts/States";
import { short } from "../text/format";
import { Printed } from "../text/Printed";
import { Visible } from "../text/Visible";
import "./House.css";

interface Letter {
  message_id: string;
  kind: string;
  reason: string | null;
}

export function DeadLettersPage() {
  const found = useQuery(deadLetters);
  const queries = useQueryClient();
  const settle = useMutation({
    mutationFn: async ({ letter, what }: { letter: string; what: "retry" | "drop" }) => {
      await post(`/v1/dead-letters/{letter}/${what}`, undefined as never, { path: { letter } });
    },
    onSettled: () => queries.invalidateQueries({ queryKey: ["dead-letters"] }),
  });
  return (
    <Page title="Dead letters">
      <Refused error={settle.error} />
      <Shown query={found} what="dead letters">
        {({ items }) =>
          items.length === 0 ? (
            <Empty title="There are none."><p>A message that failed too often, or that cannot be read, waits for you here.</p></Empty>
          ) : (
            <ul className="house-list">
              {(items as unknown as Letter[]).map((letter) => {
                const id = letter.message_id;
                return (
                  <li key={id}>
                    <details>
                      <summary><span className="head"><strong><Visible text={letter.kind} /></strong> <code>{short(id)}</code></span><span className="muted"><Visible text={letter.reason ?? ""} /></span></summary>
                      <Printed text={JSON.stringify(letter, null, 2)} />
                    </details>
                    <p className="row bare">
                      <button type="button" disabled={settle.isPending} onClick={() => settle.mutate({ letter: id, what: "retry" })}>Try again</button>
                      <button type="button" className="danger" disabled={settle.isPending} onClick={() => window.confirm("Throw this message away?") && settle.mutate({ letter: id, what: "drop" })}>Throw away …</button>
                    </p>
                  </li>
                );
              })}
            </ul>
          )
        }
      </Shown>
    </Page>
  );
}
