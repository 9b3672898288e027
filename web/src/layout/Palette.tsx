// Type where to go or what to do. It finds pages, agents, conversations and what waits for a decision by what is known here, and tasks and
// executions by what the server has of them, once whoever types rests.
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useCallback, useId, useMemo, useState } from "react";

import { agents, questions, sessions, tasks, waiting } from "../api/queries";
import { setToken } from "../api/token";
import { Dialog } from "../parts/Dialog";
import { useRested } from "../parts/rested";
import { called } from "../stream/called";
import { firstLine, short } from "../text/format";
import { Visible } from "../text/Visible";
import { found } from "./found";
import { PLACES } from "./places";
import { setTheme } from "./theme";
import "./Palette.css";

interface Choice {
  id: string;
  what: string;
  name: string;
  act(): void;
}

const MOST = 12;

export function Palette({ onClose, onKeys }: { onClose(): void; onKeys(): void }) {
  const navigate = useNavigate();
  const [typed, setTyped] = useState("");
  const [at, setAt] = useState(0);
  const list = useId();
  const open = useQuery(waiting).data;
  const asked = useQuery(questions).data;
  const known = useInfiniteQuery(tasks).data;
  const talks = useQuery(sessions).data;
  const programs = useQuery(agents).data;
  const rested = useRested(typed);
  const search = useQuery(found(rested));

  const go = useCallback(
    (act: () => unknown) => () => {
      onClose();
      void act();
    },
    [onClose],
  );
  const toTask = useCallback((task: string) => go(() => navigate({ to: "/tasks/$task", params: { task } })), [go, navigate]);
  const choices = useMemo<Choice[]>(() => {
    return [
      ...PLACES.map(({ to, name }) => ({ id: to, what: "Go to", name, act: go(() => navigate({ to })) })),
      ...[...(open ?? []), ...(asked ?? [])].map((item) => ({
        id: item.id,
        what: item.kind === "card" ? "Decide" : "Answer",
        name: firstLine(item.kind === "card" ? item.card.intent : item.asked.question),
        act: go(() => navigate({ to: "/review/$id", params: { id: item.id } })),
      })),
      ...(known?.pages.flatMap((page) => page.tasks) ?? []).map((task) => ({
        id: task.task_id,
        what: "Task",
        name: `${firstLine(task.goal)} · ${short(task.task_id)}`,
        act: toTask(task.task_id),
      })),
      ...(talks?.sessions ?? []).map((session) => ({
        id: session.session_id,
        what: "Conversation",
        name: called(session),
        act: go(() => navigate({ to: "/stream/$session", params: { session: session.session_id } })),
      })),
      ...((programs?.items ?? []) as unknown as { id: string; name: string }[]).map(({ id, name }) => ({ id: `agent ${id}`, what: "Agent", name, act: go(() => navigate({ to: "/agents", search: { agent: id } })) })),
      { id: "new-task", what: "Do", name: "New task …", act: go(() => navigate({ to: "/tasks", search: { new: true } })) },
      { id: "new-goal", what: "Do", name: "New goal …", act: go(() => navigate({ to: "/schedules", search: { new: true } })) },
      { id: "light", what: "Do", name: "Colours: light", act: go(() => setTheme("light")) },
      { id: "dark", what: "Do", name: "Colours: dark", act: go(() => setTheme("dark")) },
      { id: "system", what: "Do", name: "Colours: as the system has them", act: go(() => setTheme("system")) },
      { id: "keys", what: "Do", name: "Show the keys", act: () => onKeys() },
      { id: "out", what: "Do", name: "Sign out", act: go(() => setToken(null)) },
    ];
  }, [open, asked, known, talks, programs, navigate, go, toTask, onKeys]);

  const shown = useMemo(() => {
    const parts = typed.toLowerCase().split(/\s+/).filter(Boolean);
    const fits = ({ what, name, id }: Choice) => parts.every((part) => `${what} ${name} ${id}`.toLowerCase().includes(part));
    const here = choices.filter(fits);
    if (parts.length === 0) return here.slice(0, MOST);
    // What the server found need not say it in its name. What is known here is no longer than half of what is shown.
    const known = new Set(here.map(({ id }) => id));
    const elsewhere = (typed === rested ? (search.data ?? []) : []).filter(({ id }) => !known.has(id));
    return [
      ...here.slice(0, Math.max(MOST / 2, MOST - elsewhere.length)),
      ...elsewhere.map(({ kind, id, name }) => ({ id, what: kind === "task" ? "Task" : "Execution", name, act: kind === "task" ? toTask(id) : go(() => navigate({ to: "/executions/$execution", params: { execution: id } })) })),
    ].slice(0, MOST);
  }, [choices, typed, rested, search.data, toTask, go, navigate]);
  const chosen = Math.min(at, shown.length - 1);
  const isLooking = typed !== rested || search.isFetching;

  return (
    <Dialog label="Go to or do" onClose={onClose} className="palette">
      <input
        type="text"
        role="combobox"
        aria-expanded="true"
        aria-controls={list}
        aria-activedescendant={shown[chosen] === undefined ? undefined : `${list}-${chosen}`}
        aria-label="Go to or do"
        placeholder="A page, a task, an agent, something to decide …"
        autoFocus
        value={typed}
        onChange={(event) => {
          setTyped(event.target.value);
          setAt(0);
        }}
        onKeyDown={(event) => {
          const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
          if (step !== 0) {
            event.preventDefault();
            setAt((chosen + step + shown.length) % Math.max(1, shown.length));
          }
          if (event.key === "Enter") shown[chosen]?.act();
        }}
      />
      <ul id={list} role="listbox" aria-label="What was found">
        {shown.map((choice, index) => (
          <li
            key={choice.id}
            id={`${list}-${index}`}
            role="option"
            aria-selected={index === chosen}
            onMouseMove={() => setAt(index)}
            onClick={choice.act}
          >
            <span className="muted small">{choice.what}</span> <Visible text={choice.name} />
          </li>
        ))}
      </ul>
      {shown.length === 0 && <p className="muted" role="status">{isLooking ? "Looking …" : "Nothing is called that."}</p>}
    </Dialog>
  );
}
