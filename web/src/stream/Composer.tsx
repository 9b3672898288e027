// Where one says something: to the conversation, with files where they are wanted, to a planner who makes an objective of it, or straight to
// whoever works on one of its tasks.
import { useMutation } from "@tanstack/react-query";
import { useRef, useState } from "react";

import { post } from "../api/client";
import type { Session } from "../api/types";
import { useDrafts } from "../parts/drafts";
import { Icon } from "../parts/Icon";
import { Refused } from "../parts/States";
import { firstLine } from "../text/format";
import { shown } from "../text/visible";
import { asSent, type Attached, attachedOf, isFit, tooMuch } from "./attachments";
import { Files } from "./Files";

/** What is said is an objective: a planner asks what is unclear, and it begins when its work and its worst case were agreed on. */
const OBJECTIVE = "objective";
const PLACEHOLDERS: Record<string, string> = { "": "Say something …", [OBJECTIVE]: "What is to be reached, and how can one tell? …" };

export function Composer({ session, tasks, onSaid }: { session: string; tasks: Session["tasks"]; onSaid(): void }) {
  const drafts = useDrafts(`session/${session}`);
  const words = drafts.of("words") ?? "";
  const [files, setFiles] = useState<Attached[]>([]);
  const [to, setTo] = useState("");
  const [isOver, setOver] = useState(false);
  const field = useRef<HTMLTextAreaElement>(null);
  const target = to === OBJECTIVE || tasks.some(({ task_id }) => task_id === to) ? to : "";
  const takesFiles = target === "" || target === OBJECTIVE;
  const say = useMutation({
    mutationFn: async (message: string) => {
      if (target === "") await post("/v1/sessions/{session}/messages", { message, attachments: asSent(files) }, { path: { session } });
      else if (target === OBJECTIVE) await post("/v1/tasks", { goal: message, planning: "aligning", session_id: session, attachments: asSent(files) });
      else await post("/v1/tasks/{task}/messages", { message }, { path: { task: target } });
    },
    onSuccess: (_, message) => {
      // What was written while it was sent is not said yet.
      if (drafts.of("words") === message) drafts.forget();
      setFiles([]);
      if (target === OBJECTIVE) setTo("");
      onSaid();
      field.current?.focus();
    },
  });
  const wrong = tooMuch(files);
  const isReady = words.trim() !== "" && !say.isPending && isFit(files) && (takesFiles || files.length === 0);
  const send = () => {
    if (isReady) say.mutate(words);
  };
  const add = async (chosen: Iterable<File>) => {
    const read = await Promise.all([...chosen].map(attachedOf));
    setFiles((before) => [...before, ...read]);
  };
  return (
    <div className="composer">
      <form
        className={isOver ? "over" : ""}
        onDragOver={(event) => {
          if (!event.dataTransfer.types.includes("Files")) return;
          event.preventDefault();
          setOver(true);
        }}
        onDragLeave={() => setOver(false)}
        onDrop={(event) => {
          setOver(false);
          if (event.dataTransfer.files.length === 0) return;
          event.preventDefault();
          void add(event.dataTransfer.files);
        }}
        onPaste={(event) => {
          if (event.clipboardData.files.length === 0) return;
          event.preventDefault();
          void add(event.clipboardData.files);
        }}
        onSubmit={(event) => {
          event.preventDefault();
          send();
        }}
      >
        <Refused error={say.error} />
        <label className="to">
          To
          <select value={target} onChange={(event) => setTo(event.target.value)}>
            <option value="">Windlass, who finds where it belongs</option>
            <option value={OBJECTIVE}>a planner, who agrees on an objective with you</option>
            {tasks.map((task) => <option key={task.task_id} value={task.task_id}>whoever works on: {shown(firstLine(task.goal_summary)).slice(0, 80)}</option>)}
          </select>
        </label>
        <Files files={files} onRemove={(file) => setFiles(files.filter((one) => one !== file))} />
        {wrong !== null && <p className="refused" role="alert">{wrong}</p>}
        {!takesFiles && files.length > 0 && <p className="refused" role="alert">Files go to Windlass, and not straight to whoever works: say them to the conversation.</p>}
        <div className="field">
          <label className="attach">
            <span className="sr">Attach files</span>
            <Icon name="attach" />
            <input
              type="file"
              multiple
              onChange={(event) => {
                void add(event.target.files ?? []);
                // The same file may be chosen again.
                event.target.value = "";
              }}
            />
          </label>
          <textarea
            ref={field}
            aria-label="What you say"
            placeholder={PLACEHOLDERS[target] ?? "They hear it before their next step …"}
            rows={1}
            maxLength={65_536}
            value={words}
            onChange={(event) => drafts.keep("words", event.target.value)}
            onKeyDown={(event) => {
              if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing) return;
              event.preventDefault();
              send();
            }}
          />
          <button type="submit" className="primary" aria-label="Say it" disabled={!isReady}><Icon name="send" /></button>
        </div>
      </form>
    </div>
  );
}
