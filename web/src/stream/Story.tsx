// What was said and what came of it, the newest last. It keeps to its end while one is there.
import { Link } from "@tanstack/react-router";
import { memo, type RefObject, useLayoutEffect, useMemo, useRef } from "react";

import { Ago } from "../parts/Ago";
import { Standing } from "../parts/Badge";
import { Markdown } from "../text/Markdown";
import { Visible } from "../text/Visible";
import { isAtEnd } from "./atEnd";
import type { LiveWords } from "./live";
import { LiveNow } from "./LiveNow";
import type { Story as Told, StoryItem } from "./story";
import { WorkCard } from "./WorkCard";

interface StoryProps {
  story: Told;
  live: LiveWords[];
  hasEarlier: boolean;
  isReading: boolean;
  onEarlier(): void;
}

export function Story({ story, live, hasEarlier, isReading, onEarlier }: StoryProps) {
  const list = useRef<HTMLOListElement>(null);
  useEndKept(list);
  const begun = useMemo(() => new Set(story.items.flatMap((item) => (item.kind === "task" ? [item.task] : []))), [story]);
  return (
    <>
      {hasEarlier && <button type="button" className="quiet" disabled={isReading} onClick={onEarlier}>{isReading ? "Reading …" : "Earlier"}</button>}
      <ol ref={list} className="story" aria-label="Conversation">
        {story.items.map((item) => {
          const ours = item.kind === "task" ? live.filter(({ task }) => task === item.task) : [];
          return <Item key={item.key} item={item} live={ours.length === 0 ? SILENT : ours} />;
        })}
        {live
          .filter(({ task }) => !begun.has(task))
          // What a turn decides is for the runtime.
          .filter(({ text }) => !text.trimStart().startsWith("{"))
          .map((words) => <li key={words.execution}><LiveNow words={words} /></li>)}
      </ol>
      <p className="muted small" role="status">{story.isThinking ? "Windlass is thinking about it …" : ""}</p>
    </>
  );
}

/** One and the same, so that what nobody says anything to is not drawn anew at each word of somebody else. */
const SILENT: LiveWords[] = [];

const Item = memo(function Item({ item, live }: { item: StoryItem; live: LiveWords[] }) {
  return (
    <li>
      {item.kind === "said" && <Utterance item={item} />}
      {item.kind === "news" && <News item={item} />}
      {item.kind === "task" && <WorkCard task={item.task} live={live} />}
    </li>
  );
});

/** Whoever is at the end of it stays there, whatever makes it longer; whoever reads further up stays there, too. */
function useEndKept(list: RefObject<HTMLElement | null>): void {
  useLayoutEffect(() => {
    let isThere = true;
    const look = () => void (isThere = isAtEnd());
    const keep = () => isThere && window.scrollTo({ top: document.documentElement.scrollHeight });
    const watcher = new ResizeObserver(keep);
    if (list.current !== null) watcher.observe(list.current);
    keep();
    window.addEventListener("scroll", look, { passive: true });
    return () => {
      watcher.disconnect();
      window.removeEventListener("scroll", look);
    };
  }, [list]);
}

function Utterance({ item }: { item: Extract<StoryItem, { kind: "said" }> }) {
  return (
    <div className={`utterance ${item.by}`}>
      <div className="by">
        <strong>{item.by === "user" ? <Visible text={item.who ?? "You"} /> : "Windlass"}</strong> · <Ago at={item.at} />
        {item.task !== undefined && <> · <Link to="/tasks/$task" params={{ task: item.task }}>the task that was told</Link></>}
      </div>
      <div className="words">{item.by === "user" ? item.words : <Markdown text={item.words} />}</div>
    </div>
  );
}

/** What was told of a task in the midst of it. */
function News({ item }: { item: Extract<StoryItem, { kind: "news" }> }) {
  return (
    <div className="news">
      <Standing standing={item.status} />
      <span>
        {item.item ? <><code><Visible text={item.item} /></code> of a </> : "A "}
        <Link to="/tasks/$task" params={{ task: item.task }}>task</Link>{item.words && <>: <Visible text={item.words} /></>}
      </span>
      <span className="muted small"><Ago at={item.at} /></span>
    </div>
  );
}
