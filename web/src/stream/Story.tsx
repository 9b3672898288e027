// What was said and what came of it, the newest last. It keeps to its end while one is there.
import { Link } from "@tanstack/react-router";
import { useEffect, useLayoutEffect, useRef } from "react";

import { Ago } from "../parts/Ago";
import { Standing } from "../parts/Badge";
import { Markdown } from "../text/Markdown";
import { Visible } from "../text/Visible";
import type { LiveWords } from "./live";
import { LiveNow } from "./LiveNow";
import type { Story as Told, StoryItem } from "./story";
import { WorkCard } from "./WorkCard";

/** So near the end counts as there. */
const NEAR = 160;

interface StoryProps {
  story: Told;
  live: LiveWords[];
  hasEarlier: boolean;
  isReading: boolean;
  onEarlier(): void;
}

export function Story({ story, live, hasEarlier, isReading, onEarlier }: StoryProps) {
  const isAtEnd = useRef(true);
  useEffect(() => {
    const look = () => {
      isAtEnd.current = window.innerHeight + window.scrollY > document.documentElement.scrollHeight - NEAR;
    };
    window.addEventListener("scroll", look, { passive: true });
    return () => window.removeEventListener("scroll", look);
  }, []);
  useLayoutEffect(() => {
    if (isAtEnd.current) window.scrollTo({ top: document.documentElement.scrollHeight });
  });
  const begun = new Set(story.items.flatMap((item) => (item.kind === "task" ? [item.task] : [])));
  return (
    <>
      {hasEarlier && <button type="button" className="quiet" disabled={isReading} onClick={onEarlier}>{isReading ? "Reading …" : "Earlier"}</button>}
      <ol className="story" aria-label="Conversation">
        {story.items.map((item) => (
          <li key={item.key}>
            {item.kind === "said" && <Utterance item={item} />}
            {item.kind === "news" && <News item={item} />}
            {item.kind === "task" && <WorkCard task={item.task} live={live.filter(({ task }) => task === item.task)} />}
          </li>
        ))}
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
