// A terminal as it is now. It comes with a ticket, good once; when the connection breaks it comes again with another, and what was painted
// is painted anew.
import type { Terminal } from "@xterm/xterm";
import { useEffect, useRef, useState } from "react";

import { post } from "../api/client";
import { asProblem } from "../api/problem";
import { short } from "../text/format";
import { Visible } from "../text/Visible";
import { room } from "./room";
import { screen } from "./screen";

type Told =
  | { type: "hello"; name: string; may_type: boolean }
  | { type: "size"; cols: number; rows: number }
  | { type: "caught_up" }
  | { type: "refused"; detail: string }
  | { type: "ended"; how: string };

const PROTOCOL = "windlass.terminal.v1";
/** The program has ended, or one may not: coming again changes nothing. */
const FINAL = [1000, 1008, 1011];
/** Whoever drags a window's edge says its size once. */
const SETTLED = 150;

export default function LiveTerminal({ execution }: { execution: string }) {
  const place = useRef<HTMLDivElement>(null);
  const [name, setName] = useState("");
  const [mayType, setMayType] = useState(false);
  const [says, setSays] = useState("Connecting …");

  useEffect(() => {
    const inside = place.current;
    if (inside === null) return;
    let isOver = false;
    let socket: WebSocket | undefined;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let resized: ReturnType<typeof setTimeout> | undefined;
    let wait = 500;
    let isTyping = false;
    const terminal: Terminal = screen(inside, 80, 24);
    const encoder = new TextEncoder();
    terminal.onData((typed) => {
      if (isTyping && socket?.readyState === WebSocket.OPEN) socket.send(encoder.encode(typed));
    });
    terminal.attachCustomKeyEventHandler((event) => {
      if (!(event.ctrlKey && event.key === "]")) return true;
      terminal.blur();
      return false;
    });
    let said = "";
    /** Whoever types says how much room they have: it is as large as the smallest of these. Others take it as it is. */
    const tellRoom = () => {
      if (!isTyping || socket?.readyState !== WebSocket.OPEN) return;
      const size = room(inside, terminal);
      const words = size === null ? "" : JSON.stringify({ type: "resize", ...size });
      if (words === "" || words === said) return;
      said = words;
      socket.send(words);
    };
    const watcher = new ResizeObserver(() => {
      clearTimeout(resized);
      resized = setTimeout(tellRoom, SETTLED);
    });
    watcher.observe(inside);
    const again = () => {
      if (isOver) return;
      timer = setTimeout(() => void connect(), wait);
      wait = Math.min(wait * 2, 8_000);
    };
    /** What was given before is painted before, and not on a screen of another size. */
    const inTurn = (act: () => void) => terminal.write("", () => !isOver && act());
    const hear = (told: Told) => {
      if (told.type === "hello") {
        inTurn(() => terminal.reset());
        setName(told.name);
        setMayType(told.may_type);
        isTyping = told.may_type;
        setSays("");
        wait = 500;
        said = "";
        tellRoom();
      } else if (told.type === "size") inTurn(() => terminal.resize(told.cols, told.rows));
      else if (told.type === "refused") setSays(told.detail);
      else if (told.type === "ended") setSays(`It has ended: ${told.how}`);
    };
    const connect = async () => {
      try {
        const ticket = await post("/v1/executions/{execution}/terminal/ticket", undefined, { path: { execution } });
        if (isOver) return;
        const scheme = location.protocol === "https:" ? "wss" : "ws";
        socket = new WebSocket(`${scheme}://${location.host}/v1/executions/${encodeURIComponent(execution)}/terminal/attach`, [PROTOCOL, (ticket as { protocol: string }).protocol]);
        socket.binaryType = "arraybuffer";
        socket.onmessage = ({ data }) => (typeof data === "string" ? hear(JSON.parse(data) as Told) : terminal.write(new Uint8Array(data as ArrayBuffer)));
        socket.onclose = ({ code }) => {
          isTyping = false;
          if (isOver) return;
          if (FINAL.includes(code)) setSays((said) => said || "It is closed.");
          else {
            setSays("The connection broke; it is made anew …");
            again();
          }
        };
      } catch (error) {
        const problem = asProblem(error);
        setSays(problem.message);
        if (problem.isPassing) again();
      }
    };
    void connect();
    return () => {
      isOver = true;
      clearTimeout(timer);
      clearTimeout(resized);
      watcher.disconnect();
      socket?.close();
      terminal.dispose();
    };
  }, [execution]);

  return (
    <section className="terminal live panel" aria-label={`Terminal ${short(execution)}`}>
      <header>
        <h2><Visible text={name || short(execution)} /></h2>
        <span className="muted small" role="status"><Visible text={says || (mayType ? "Ctrl ] leaves it" : "to look at; typing needs the scope terminal")} /></span>
      </header>
      <div className="screen" ref={place} />
    </section>
  );
}
