// One thing to decide at a time, with everything that one has to know, and what comes next beside it. What was answered meanwhile, here
// or by somebody else, says so and makes room; what one said oneself last stands above what comes next.
import { useQuery } from "@tanstack/react-query";
import { useNavigate, useParams } from "@tanstack/react-router";
import { useCallback, useEffect, useMemo, useRef, useState } from "react";

import { questions, waiting } from "../api/queries";
import type { Waiting } from "../api/types";
import { useKeys } from "../parts/keys";
import { Page } from "../parts/Page";
import { Empty, Failed, Loading } from "../parts/States";
import { firstLine, plural } from "../text/format";
import { Visible } from "../text/Visible";
import { ActiveCard } from "./ActiveCard";
import { Answered } from "./Answered";
import { Pace } from "./Pace";
import { QuestionCard } from "./QuestionCard";
import { UpNext } from "./UpNext";
import "./Review.css";

export function ReviewPage() {
  const { id } = useParams({ strict: false });
  const navigate = useNavigate();
  const cards = useQuery(waiting);
  const asked = useQuery(questions);
  const all = useMemo<Waiting[]>(
    () => [...(cards.data ?? []), ...(asked.data ?? [])].sort((one, other) => (one.askedAt ?? "").localeCompare(other.askedAt ?? "")),
    [cards.data, asked.data],
  );
  const first = all[0];
  const active = id === undefined ? first : all.find((item) => item.id === id);
  const place = active === undefined ? -1 : all.indexOf(active);
  const rest = all.filter((item) => item !== active);

  // An id tells nothing of what it is one of; whoever saw it knows.
  const kinds = useRef(new Map<string, Waiting["kind"]>());
  useEffect(() => all.forEach((item) => kinds.current.set(item.id, item.kind)), [all]);

  const go = useCallback(
    (to: Waiting | undefined) => void (to === undefined ? navigate({ to: "/review" }) : navigate({ to: "/review/$id", params: { id: to.id } })),
    [navigate],
  );
  // Pinned by its address as soon as it is shown: what is answered elsewhere says so, and no other takes its place under one's fingers.
  useEffect(() => {
    if (id === undefined && first !== undefined) void navigate({ to: "/review/$id", params: { id: first.id }, replace: true });
  }, [id, first, navigate]);
  // The one that stood behind it; by its id, since the list may be another by then.
  const after = all[place + 1] ?? all[place - 1];
  const [said, setSaid] = useState("");
  const onDone = (became: string) => {
    if (active !== undefined) setSaid(`${became}: ${firstLine(wordsOf(active))}`);
    go(after);
  };
  useKeys({
    j: () => all.length > 1 && go(all[(place + 1) % all.length]),
    k: () => all.length > 1 && go(all[(place - 1 + all.length) % all.length]),
  });

  // Either of them can be decided while the other cannot be read.
  const failed = [cards, asked].filter(({ data, isError }) => data === undefined && isError);
  const failure = failed[0] !== undefined && <Failed error={failed[0].error} again={() => failed.forEach(({ refetch }) => void refetch())} />;
  if (failed.length === 2) return <Page title="Review">{failure}</Page>;
  if ([cards, asked].some(({ data, isError }) => data === undefined && !isError)) return <Page title="Review"><Loading what="what waits for you" /></Page>;

  return (
    <Page title="Review" wide beside={all.length > 0 && <span className="muted number">{plural(all.length, "thing waits", "things wait")} for you</span>}>
      <div className="review">
        <div className="stack">
          <p role="status" className={said === "" ? "sr" : "muted small"}><Visible text={said} /></p>
          {active === undefined && id !== undefined && <Answered key={id} id={id} kind={kinds.current.get(id)} onNext={all.length > 0 ? () => go(all[0]) : undefined} />}
          {failure}
          {active === undefined && id === undefined && failed.length === 0 && (
            <Empty title="Nothing waits for you.">
              <p>Cards and questions come here by themselves, the moment somebody needs you.</p>
            </Empty>
          )}
          {active?.kind === "card" && <ActiveCard key={active.id} item={active} onDone={onDone} />}
          {active?.kind === "question" && <QuestionCard key={active.id} item={active} onDone={onDone} />}
          <Pace />
          <div role="status" className="sr">{active !== undefined && <Visible text={announced(active)} />}</div>
        </div>
        {rest.length > 0 && <UpNext items={rest} />}
      </div>
    </Page>
  );
}

const wordsOf = (item: Waiting): string => (item.kind === "card" ? item.card.intent : item.asked.question);

/** For who hears the page: what has come up, and how much it weighs. */
const announced = (item: Waiting): string =>
  `${item.kind === "question" ? "Now, a question:" : item.card.risk_level === "irreversible" ? "Now: cannot be undone." : `Now: ${item.card.risk_level} risk.`} ${wordsOf(item)}`;
