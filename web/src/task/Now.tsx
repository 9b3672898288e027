// What is being said and printed at this moment by those who work on it, each by name.
import { LiveWork } from "../stream/LiveNow";
import { useLiveWords } from "../stream/useLiveWords";

export function Now({ task }: { task: string }) {
  const live = useLiveWords((whose) => whose === task);
  if (live.length === 0) return null;
  return (
    <section className="panel">
      <header><h2>Now</h2></header>
      <div className="body stack">{live.map((words) => <LiveWork key={words.execution} words={words} />)}</div>
    </section>
  );
}
