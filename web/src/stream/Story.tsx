// What was said and what came of it, the newest last. It keeps to its end while one is there.
import { useEffect, useLayoutEffect, useRef, useState } from "react";

import { Ago } from "../parts/Ago";
import { Markdown } from "../text/Markdown";
import { Visible } from "../text/Visible";
import { LiveNow } from "./LiveNow";
import type { Story as Told, StoryItem } from "./story";
import { WorkCard } from "./WorkCard";

const PAGE = 100;
/** So near the end counts as there. */
const NEAR = 160;

export function Story({ story }: { story: Told }) {
  const [shown, setShown] = useState(PAGE);
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
  }, [story]);
  const begun = new Set(story.items.flatMap((item) => (item.kind === "task" ? [item.task] : [])));
  const live = [...story.live.values()];
  return (
    <>
      {story.items.length > shown && <button type="button" className="quiet" onClick={() => setShown(shown + PAGE)}>Earlier ({story.items.length - shown})</button>}
      <ol className="story" aria-label="Conversation">
        {story.items.slice(-shown).map((item) => (
          <li key={item.key}>
            {item.kind === "said" ? <Utterance item={item} /> : <WorkCard task={item.task} live={live.filter(({ task }) => task === item.task)} />}
          </li>
        ))}
        {live
          .filter(({ task }) => task === undefined || !begun.has(task))
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
      <div className="by"><strong>{item.by === "user" ? <Visible text={item.who ?? "You"} /> : "Windlass"}</strong> · <Ago at={item.at} /></div>
      <div className="words">{item.by === "user" ? item.words : <Markdown text={item.words} />}</div>
    </div>
  );
}
