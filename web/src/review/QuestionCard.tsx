// A question of an agent's: its options as chips, and room for an answer of one's own.
import { useMutation, useQueryClient } from "@tanstack/react-query";

import { post } from "../api/client";
import type { Waiting } from "../api/types";
import { Ago } from "../parts/Ago";
import { useArmed } from "../parts/armed";
import { Badge } from "../parts/Badge";
import { useDrafts } from "../parts/drafts";
import { useKeys } from "../parts/keys";
import { Refused } from "../parts/States";
import { Visible } from "../text/Visible";
import { useFocus } from "./useFocus";
import { WhoseWork } from "./WhoseWork";

export function QuestionCard({ item, onDone }: { item: Extract<Waiting, { kind: "question" }>; onDone(became: string): void }) {
  const { asked, whose, askedAt } = item;
  const heading = useFocus();
  const isArmed = useArmed();
  const options = asked.options ?? [];
  const queries = useQueryClient();
  const drafts = useDrafts(`question/${item.id}`);
  const words = drafts.of("answer") ?? "";
  const setWords = (answer: string) => drafts.keep("answer", answer);
  const send = useMutation({
    mutationFn: () => post("/v1/questions/{question}/answer", { answer: words }, { path: { question: item.id } }),
    onSuccess: () => {
      drafts.forget();
      onDone("Answered");
    },
    onSettled: () => queries.invalidateQueries({ queryKey: ["questions"] }),
  });
  useKeys(Object.fromEntries(options.slice(0, 9).map((option, index) => [String(index + 1), () => setWords(option)])), isArmed);
  const ready = words.trim() !== "" && isArmed && !send.isPending;
  useKeys({ Enter: () => ready && send.mutate() });
  return (
    <article className="card panel" aria-labelledby="intent">
      <header>
        <div>
          <div className="what"><Badge tone="accent">question</Badge></div>
          <h2 id="intent" ref={heading} tabIndex={-1} className="intent"><Visible text={asked.question} /></h2>
        </div>
      </header>
      <div className="body">
        {asked.context && (
          <section>
            <h3>Why it is asked</h3>
            <div className="said" tabIndex={0}><Visible text={asked.context} /></div>
          </section>
        )}
        <p className="muted small">{whose !== null && <WhoseWork whose={whose} />}asked <Ago at={askedAt} /> · it waits for as long as it takes</p>
      </div>
      <form
        className="decide stack"
        onSubmit={(event) => {
          event.preventDefault();
          if (ready) send.mutate();
        }}
      >
        <Refused error={send.error} />
        {options.length > 0 && (
          <div className="chips" role="group" aria-label="Options">
            {options.map((option, index) => (
              <button key={option} type="button" disabled={!isArmed} aria-pressed={words === option} onClick={() => setWords(option)}>
                <Visible text={option} /> {index < 9 && <kbd>{index + 1}</kbd>}
              </button>
            ))}
          </div>
        )}
        <label>
          {options.length > 0 ? "Or in your own words" : "Your answer"}
          <textarea
            value={words}
            maxLength={65_536}
            onChange={(event) => setWords(event.target.value)}
            onKeyDown={(event) => {
              if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && ready) send.mutate();
            }}
          />
        </label>
        <div className="row">
          <button type="submit" className="primary" disabled={!ready}>{send.isPending ? "Sending …" : "Answer"} <kbd>⏎</kbd></button>
        </div>
      </form>
    </article>
  );
}
