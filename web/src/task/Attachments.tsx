// Files that belong to what is asked for: chosen, dropped or pasted anywhere in its form, and taken away again.
import { type Dispatch, type SetStateAction, useEffect, useRef } from "react";

import { type Attached, attachedOf, tooMuch } from "../stream/attachments";
import { Files } from "../stream/Files";

export function Attachments({ files, onFiles }: { files: Attached[]; onFiles: Dispatch<SetStateAction<Attached[]>> }) {
  const chooser = useRef<HTMLInputElement>(null);
  const take = async (chosen: Iterable<File>) => {
    const read = await Promise.all([...chosen].map(attachedOf));
    onFiles((before) => [...before, ...read]);
  };
  const wrong = tooMuch(files);
  const place = useRef<HTMLDivElement>(null);
  const latest = useRef(take);
  latest.current = take;
  // Whoever pastes or drops one has the goal before them, and not the line that says that they may.
  useEffect(() => {
    const form = place.current?.closest("form");
    const end = new AbortController();
    const heard = (event: Event, given: DataTransfer | null) => {
      if (given === null || given.files.length === 0) return;
      event.preventDefault();
      void latest.current(given.files);
    };
    form?.addEventListener("paste", (event) => heard(event, event.clipboardData), end);
    form?.addEventListener("drop", (event) => heard(event, event.dataTransfer), end);
    form?.addEventListener("dragover", (event) => event.dataTransfer?.types.includes("Files") && event.preventDefault(), end);
    return () => end.abort();
  }, []);
  return (
    <div ref={place} className="attachments" role="group" aria-label="Attached">
      <div className="row">
        <button type="button" onClick={() => chooser.current?.click()}>Attach files …</button>
        <span className="muted small">or drop or paste them here: texts and pictures</span>
      </div>
      <input
        ref={chooser}
        type="file"
        multiple
        hidden
        aria-label="Files to attach"
        onChange={(event) => {
          void take(event.target.files ?? []);
          // The same file may be chosen again.
          event.target.value = "";
        }}
      />
      <Files files={files} onRemove={(file) => onFiles((before) => before.filter((one) => one !== file))} />
      {wrong !== null && <p className="refused" role="alert">{wrong}</p>}
    </div>
  );
}
