// What is being said and printed at this moment by those who work on it.
import { LiveNow } from "../stream/LiveNow";
import { useStory } from "../stream/useStory";

export function Now({ task }: { task: string }) {
  const { live } = useStory(`/v1/tasks/${encodeURIComponent(task)}/events`, "now");
  const shown = [...live.values()].filter(({ text, reasoning, printed, note }) => text + reasoning + printed + note !== "");
  if (shown.length === 0) return null;
  return (
    <section className="panel">
      <header><h2>Now</h2></header>
      <div className="body stack">{shown.map((words) => <LiveNow key={words.execution} words={words} />)}</div>
    </section>
  );
}
