// Messages that nobody could deal with: to be put back, or thrown away.
import { useInfiniteQuery, useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";

import { post } from "../api/client";
import { deadLetters } from "../api/queries";
import { More } from "../parts/More";
import { Page } from "../parts/Page";
import { Shown } from "../parts/Shown";
import { Empty, Refused } from "../parts/States";
import { Sure } from "../parts/Sure";
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
  // Nothing is on record of a message that nobody could deal with: it is looked for.
  const found = useInfiniteQuery({ ...deadLetters, refetchInterval: 10_000 });
  const queries = useQueryClient();
  const [thrown, setThrown] = useState<string | null>(null);
  const settle = useMutation({
    mutationFn: async ({ letter, what }: { letter: string; what: "retry" | "drop" }) => {
      await post(`/v1/dead-letters/{letter}/${what}`, undefined, { path: { letter } });
    },
    onSuccess: () => setThrown(null),
    onSettled: () => queries.invalidateQueries({ queryKey: ["dead-letters"] }),
  });
  return (
    <Page title="Dead letters">
      {thrown === null && <Refused error={settle.error} />}
      {thrown !== null && <Sure question="Throw this message away?" says="Nobody deals with it any more." action="Throw it away" wish={settle} onYes={() => settle.mutate({ letter: thrown, what: "drop" })} onClose={() => setThrown(null)} />}
      <Shown query={found} what="dead letters">
        {({ pages }) => {
          const letters = pages.flatMap((page) => page.items) as unknown as Letter[];
          if (letters.length === 0) return <Empty title="There are none."><p>A message that failed too often, or that cannot be read, waits for you here.</p></Empty>;
          return (
            <ul className="house-list">
              {letters.map((letter) => {
                const id = letter.message_id;
                return (
                  <li key={id}>
                    <details>
                      <summary><span className="head"><strong><Visible text={letter.kind} /></strong> <code>{short(id)}</code></span><span className="muted"><Visible text={letter.reason ?? ""} /></span></summary>
                      <Printed text={JSON.stringify(letter, null, 2)} />
                    </details>
                    <p className="row bare">
                      <button type="button" disabled={settle.isPending} onClick={() => settle.mutate({ letter: id, what: "retry" })}>Try again</button>
                      <button type="button" className="danger" disabled={settle.isPending} onClick={() => setThrown(id)}>Throw away …</button>
                    </p>
                  </li>
                );
              })}
            </ul>
          );
        }}
      </Shown>
      <More of={found} />
    </Page>
  );
}
