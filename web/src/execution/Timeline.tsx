// Turn by turn: what was asked, what the agent said, what it called and what came of that. What is out of sight is not drawn.
import { useInfiniteQuery } from "@tanstack/react-query";
import { useWindowVirtualizer } from "@tanstack/react-virtual";
import { useDeferredValue, useEffect, useLayoutEffect, useMemo, useRef, useState } from "react";

import { timeline } from "../api/queries";
import { Empty, Failed, Loading } from "../parts/States";
import { cost } from "../task/cost";
import { clock, plural } from "../text/format";
import { Visible } from "../text/Visible";
import { Fork } from "./Fork";
import { Heard } from "./Heard";
import { type Row, rowsOf } from "./rows";
import { StepView } from "./StepView";

export function Timeline({ execution, mayFork }: { execution: string; mayFork: boolean }) {
  const found = useInfiniteQuery(timeline(execution));
  const [find, setFind] = useState("");
  const [fork, setFork] = useState<number | null>(null);
  const turns = useMemo(() => found.data?.pages.flatMap((page) => page.items) ?? [], [found.data]);
  // What is being typed is looked for once it is.
  const words = useDeferredValue(find);
  const rows = useMemo(() => rowsOf(turns, words, !found.hasNextPage), [turns, words, found.hasNextPage]);
  const list = useRef<HTMLOListElement>(null);
  const [top, setTop] = useState(0);
  useLayoutEffect(() => setTop(list.current?.offsetTop ?? 0), [rows.length === 0]);
  const shown = useWindowVirtualizer({
    count: rows.length,
    estimateSize: () => 48,
    overscan: 12,
    scrollMargin: top,
    getItemKey: (index) => rows[index]?.key ?? index,
  });
  const items = shown.getVirtualItems();
  const isNearEnd = (items.at(-1)?.index ?? 0) >= rows.length - 10;
  const { hasNextPage, isFetchingNextPage, fetchNextPage } = found;
  useEffect(() => {
    if ((isNearEnd || find !== "") && hasNextPage && !isFetchingNextPage) void fetchNextPage();
  }, [isNearEnd, find, hasNextPage, isFetchingNextPage, fetchNextPage]);

  if (found.isError && turns.length === 0) return <Failed error={found.error} again={() => void found.refetch()} />;
  if (found.isPending) return <Loading what="its turns" />;
  return (
    <>
      <input type="search" className="find-in" aria-label="Find in its turns" placeholder="Find in what was said, called and heard …" value={find} onChange={(event) => setFind(event.target.value)} />
      {find !== "" && (
        <p className="muted small" role="status">
          {hasNextPage ? `${plural(turns.at(-1)?.turn ?? 0, "turn")} searched, and reading on …` : "All of its turns were searched."} Of a large output the record has a part, which is what is searched here.
        </p>
      )}
      {rows.length === 0 && !(find !== "" && hasNextPage) && <Empty title={find === "" ? "It has not begun." : "Nothing of it says that."} />}
      <ol ref={list} className="steps" style={{ height: shown.getTotalSize() }} aria-label="Turns">
        {items.map((item) => {
          const row = rows[item.index];
          return row === undefined ? null : (
            <li key={item.key} ref={shown.measureElement} data-index={item.index} style={{ transform: `translateY(${item.start - top}px)` }}>
              <RowView row={row} onFork={mayFork ? setFork : undefined} />
            </li>
          );
        })}
      </ol>
      {isFetchingNextPage && <Loading what="more" />}
      {fork !== null && <Fork execution={execution} turn={fork} onClose={() => setFork(null)} />}
    </>
  );
}

function RowView({ row, onFork }: { row: Row; onFork: ((turn: number) => void) | undefined }) {
  switch (row.kind) {
    case "turn": {
      const { turn, began_at, model_calls, usage, cost: spent, unpriced } = row.turn;
      return (
        <div className="turn-head">
          <h2>Turn {turn}</h2>
          <span className="muted small number">{clock(began_at)} · {plural(model_calls, "model call")} · {(usage.input + usage.output).toLocaleString("en")} tokens · {unpriced ? cost(null) : cost(spent)}</span>
          {onFork !== undefined && row.turn.end !== null && row.turn.end.how !== "open" && <button type="button" className="quiet" onClick={() => onFork(turn)}>Fork from here …</button>}
        </div>
      );
    }
    case "asked":
      return <Heard kind={row.what} text={row.text} />;
    case "step":
      return <StepView step={row.step} />;
    case "end":
      return <p className="muted small"><Visible text={row.says} /></p>;
  }
}
