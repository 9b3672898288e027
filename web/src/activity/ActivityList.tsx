// The lines that are in sight and a few around them, however many there are.
import { useWindowVirtualizer } from "@tanstack/react-virtual";
import { useEffect, useLayoutEffect, useRef, useState } from "react";

import { Empty } from "../parts/States";
import { day } from "../text/format";
import { ActivityLine } from "./ActivityLine";
import type { Line } from "./useActivity";

interface ActivityListProps {
  lines: Line[];
  isReading: boolean;
  hasEarlier: boolean;
  onEarlier(): void;
}

export function ActivityList({ lines, isReading, hasEarlier, onEarlier }: ActivityListProps) {
  const list = useRef<HTMLOListElement>(null);
  const [top, setTop] = useState(0);
  const [open, setOpen] = useState<number | null>(null);
  useLayoutEffect(() => setTop(list.current?.offsetTop ?? 0), [lines.length === 0]);
  const rows = useWindowVirtualizer({
    count: lines.length,
    estimateSize: () => 32,
    overscan: 20,
    scrollMargin: top,
    getItemKey: (index) => lines[index]?.record.position ?? index,
  });
  const end = useInSight<HTMLParagraphElement>(hasEarlier && !isReading, onEarlier);
  return (
    <>
      {lines.length === 0 && !isReading && !hasEarlier && <Empty title="Nothing like that happened." />}
      <ol ref={list} className="activity" style={{ height: rows.getTotalSize() }} aria-label="What happened, newest first">
        {rows.getVirtualItems().map((row) => {
          const line = lines[row.index];
          if (line === undefined) return null;
          const before = lines[row.index - 1];
          const isNewDay = before === undefined || day(before.record.at) !== day(line.record.at);
          return (
            <li key={row.key} ref={rows.measureElement} data-index={row.index} style={{ transform: `translateY(${row.start - top}px)` }}>
              {isNewDay && <h2 className="day">{day(line.record.at)}</h2>}
              <ActivityLine line={line} isOpen={open === line.record.position} onToggle={() => setOpen(open === line.record.position ? null : line.record.position)} />
            </li>
          );
        })}
      </ol>
      <p ref={end} className="row earlier" role="status">
        {isReading ? <span className="muted">Reading …</span> : hasEarlier ? <button type="button" onClick={onEarlier}>Earlier</button> : <span className="muted small">That is where it began.</span>}
      </p>
    </>
  );
}

/** Acts whenever the element is in sight and there is something to do, once for each time. */
function useInSight<E extends Element>(isOn: boolean, act: () => void) {
  const element = useRef<E>(null);
  const latest = useRef(act);
  latest.current = act;
  useEffect(() => {
    if (!isOn || element.current === null) return;
    const watcher = new IntersectionObserver(([seen]) => seen?.isIntersecting && latest.current(), { rootMargin: "800px" });
    watcher.observe(element.current);
    return () => watcher.disconnect();
  }, [isOn]);
  return element;
}
