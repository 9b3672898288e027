// A recording, played or scrubbed through.
import { useQuery } from "@tanstack/react-query";
import type { Terminal } from "@xterm/xterm";
import { useEffect, useMemo, useRef, useState } from "react";

import { ask, read } from "../api/client";
import { Failed, Loading } from "../parts/States";
import { duration } from "../text/format";
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
  const terminal = useRef<Terminal | null>(null);
  /** How many frames are painted. */
  const painted = useRef(0);
  const [at, setAt] = useState(0);
  const [isPlaying, setPlaying] = useState(false);
  const [speed, setSpeed] = useState(1);

  useEffect(() => {
    if (place.current === null) return;
    terminal.current = screen(place.current, recording.cols, recording.rows);
    terminal.current.options.disableStdin = true;
    painted.current = 0;
    return () => terminal.current?.dispose();
  }, [recording]);

  useEffect(() => {
    const shown = terminal.current;
    if (shown === null) return;
    const next = recording.frames[painted.current - 1];
    if (next !== undefined && next.at > at) {
      shown.reset();
      shown.resize(recording.cols, recording.rows);
      painted.current = 0;
    }
    for (let frame = recording.frames[painted.current]; frame !== undefined && frame.at <= at; frame = recording.frames[painted.current]) {
      if (frame.size !== undefined) shown.resize(frame.size.cols, frame.size.rows);
      else shown.write(frame.text);
      painted.current += 1;
    }
  }, [at, recording]);

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
