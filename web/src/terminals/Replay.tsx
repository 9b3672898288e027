// A recording, played or scrubbed through.
import { useQuery } from "@tanstack/react-query";
import { useEffect, useMemo, useRef, useState } from "react";

import { ask, read } from "../api/client";
import { Failed, Loading } from "../parts/States";
import { duration } from "../text/format";
import { Painter } from "./painter";
import { type Recording, recordingOf } from "./recording";
import { screen } from "./screen";
import "./Terminals.css";

export default function Replay({ execution }: { execution: string }) {
  const found = useQuery({
    queryKey: ["execution", execution, "recording"],
    queryFn: async ({ signal }) => read((await ask(`/v1/executions/${encodeURIComponent(execution)}/recording`, { signal })).text()),
    staleTime: Infinity,
    retry: false,
  });
  const recording = useMemo(() => (found.data === undefined ? undefined : recordingOf(found.data)), [found.data]);
  if (found.isError) return <Failed error={found.error} />;
  if (recording === undefined) return <Loading what="the recording" />;
  return <Player recording={recording} />;
}

const SPEEDS = [1, 2, 4, 16];

function Player({ recording }: { recording: Recording }) {
  const place = useRef<HTMLDivElement>(null);
  const painter = useRef<Painter | null>(null);
  const [at, setAt] = useState(0);
  const [isPlaying, setPlaying] = useState(false);
  const [speed, setSpeed] = useState(1);

  useEffect(() => {
    if (place.current === null) return;
    const terminal = screen(place.current, recording.cols, recording.rows);
    terminal.options.disableStdin = true;
    painter.current = new Painter(terminal, recording);
    return () => terminal.dispose();
  }, [recording]);

  useEffect(() => painter.current?.to(at), [at, recording]);

  useEffect(() => {
    if (!isPlaying) return;
    let last = performance.now();
    let frame = requestAnimationFrame(function play(now) {
      const passed = ((now - last) / 1000) * speed;
      last = now;
      setAt((before) => {
        const after = Math.min(recording.seconds, before + passed);
        if (after >= recording.seconds) setPlaying(false);
        return after;
      });
      frame = requestAnimationFrame(play);
    });
    return () => cancelAnimationFrame(frame);
  }, [isPlaying, speed, recording]);

  return (
    <section className="terminal panel" aria-label="Recording">
      <header className="row">
        <button type="button" onClick={() => {
          if (at >= recording.seconds) setAt(0);
          setPlaying(!isPlaying);
        }}>{isPlaying ? "Pause" : "Play"}</button>
        <input type="range" aria-label="Place in the recording" min={0} max={recording.seconds} step={0.05} value={at} onChange={(event) => setAt(Number(event.target.value))} />
        <span className="muted small number">{duration(at)} of {duration(recording.seconds)}</span>
        <select aria-label="Speed" value={speed} onChange={(event) => setSpeed(Number(event.target.value))}>
          {SPEEDS.map((times) => <option key={times} value={times}>{times}×</option>)}
        </select>
      </header>
      <div className="screen" ref={place} />
    </section>
  );
}
