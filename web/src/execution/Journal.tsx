// The records themselves, as they are stored. What is out of sight is not drawn, and not read before somebody comes near it.
import { useInfiniteQuery } from "@tanstack/react-query";
import { useWindowVirtualizer } from "@tanstack/react-virtual";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "react";

import type { Schemas } from "../api/client";
import { journal } from "../api/queries";
import { Failed, Loading } from "../parts/States";
import { clock } from "../text/format";
import { Printed } from "../text/Printed";
import { Visible } from "../text/Visible";

export function Journal({ execution }: { execution: string }) {
  const found = useInfiniteQuery(journal(execution));
  const records = useMemo(() => found.data?.pages.flatMap((page) => page.records) ?? [], [found.data]);
  const [open, setOpen] = useState<ReadonlySet<number>>(new Set());
  const list = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(0);
  useLayoutEffect(() => setTop(list.current?.offsetTop ?? 0), [records.length === 0]);
  const shown = useWindowVirtualizer({ count: records.length, estimateSize: () => 30, overscan: 20, scrollMargin: top, getItemKey: (index) => records[index]?.position ?? index });
  const items = shown.getVirtualItems();
  const isNearEnd = (items.at(-1)?.index ?? 0) >= records.length - 20;
  const { hasNextPage, isFetchingNextPage, fetchNextPage } = found;
  useEffect(() => {
    if (isNearEnd && hasNextPage && !isFetchingNextPage) void fetchNextPage();
  }, [isNearEnd, hasNextPage, isFetchingNextPage, fetchNextPage]);

  if (found.isError && records.length === 0) return <Failed error={found.error} again={() => void found.refetch()} />;
  if (found.isPending) return <Loading what="the journal" />;
  const toggle = (position: number, isOpen: boolean) => {
    if (open.has(position) === isOpen) return;
    const next = new Set(open);
    if (isOpen) next.add(position);
    else next.delete(position);
    setOpen(next);
  };
  return (
    <>
      <div ref={list} className="journal" style={{ height: shown.getTotalSize() }} aria-label="Records" role="list">
        {items.map((item) => {
          const record = records[item.index];
          return record === undefined ? null : (
            <div key={item.key} role="listitem" ref={shown.measureElement} data-index={item.index} style={{ transform: `translateY(${item.start - top}px)` }}>
              <RecordView record={record} isOpen={open.has(record.position)} onToggle={(isOpen) => toggle(record.position, isOpen)} />
            </div>
          );
        })}
      </div>
      {isFetchingNextPage && <Loading what="more" />}
    </>
  );
}

function RecordView({ record, isOpen, onToggle }: { record: Schemas["Record"]; isOpen: boolean; onToggle(isOpen: boolean): void }) {
  return (
    <details className="record" open={isOpen} onToggle={(event) => onToggle(event.currentTarget.open)}>
      <summary><span className="number">{record.position}</span><time className="number" dateTime={record.at}>{clock(record.at)}</time><code><Visible text={record.kind} /></code></summary>
      {isOpen && <Printed text={JSON.stringify(record.data, null, 2)} />}
    </details>
  );
}
