// Where one says something: to the conversation, or straight to whoever works on one of its tasks.
import { useMutation } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";

import { post } from "../api/client";
import type { Session } from "../api/types";
import { Icon } from "../parts/Icon";
import { Refused } from "../parts/States";
import { firstLine } from "../text/format";
import { draft, keepDraft } from "./drafts";

export function Composer({ session, tasks, onSaid }: { session: string; tasks: Session["tasks"]; onSaid(): void }) {
  const [words, setWords] = useState(() => draft(session));
  const [to, setTo] = useState("");
  const field = useRef<HTMLTextAreaElement>(null);
  const target = tasks.some(({ task_id }) => task_id === to) ? to : "";
  const say = useMutation({
    mutationFn: async (message: string) => {
      if (target === "") await post("/v1/sessions/{session}/messages", { message }, { path: { session } });
      else await post("/v1/tasks/{task}/messages", { message }, { path: { task: target } });
    },
    onSuccess: (_, message) => {
      // What was written while it was sent is not said yet.
      setWords((now) => (now === message ? "" : now));
      onSaid();
      field.current?.focus();
    },
  });
  useEffect(() => keepDraft(session, words), [session, words]);
  const send = () => {
    if (words.trim() !== "" && !say.isPending) say.mutate(words);
  };
  return (
    <div className="composer">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          send();
        }}
      >
        <Refused error={say.error} />
        {tasks.length > 0 && (
          <label className="to">
            To
            <select value={target} onChange={(event) => setTo(event.target.value)}>
              <option value="">Windlass, who finds where it belongs</option>
              {tasks.map((task) => <option key={task.task_id} value={task.task_id}>whoever works on: {firstLine(task.goal_summary).slice(0, 80)}</option>)}
            </select>
          </label>
        )}
        <div className="field">
          <textarea
            ref={field}
            aria-label="What you say"
            placeholder={target === "" ? "Say something …" : "They hear it before their next step …"}
            rows={1}
            maxLength={65_536}
            value={words}
            onChange={(event) => setWords(event.target.value)}
            onKeyDown={(event) => {
              if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing) return;
              event.preventDefault();
              send();
            }}
          />
          <button type="submit" className="primary" aria-label="Say it" disabled={words.trim() === "" || say.isPending}><Icon name="send" /></button>
        </div>
      </form>
    </div>
  );
}
