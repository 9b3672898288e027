// Files that belong to what is asked for: chosen, dropped or pasted, and taken away again.
import { type Dispatch, type SetStateAction, useRef } from "react";

import { type Attached, attachedOf, tooMuch } from "../stream/attachments";
import { Files } from "../stream/Files";

export function Attachments({ files, onFiles }: { files: Attached[]; onFiles: Dispatch<SetStateAction<Attached[]>> }) {
  const chooser = useRef<HTMLInputElement>(null);
  const take = async (chosen: Iterable<File>) => {
    const read = await Promise.all([...chosen].map(attachedOf));
    onFiles((before) => [...before, ...read]);
  };
  const wrong = tooMuch(files);
  return (
    <div
      className="attachments"
      role="group"
      aria-label="Attached"
      onDragOver={(event) => event.preventDefault()}
      onDrop={(event) => {
        event.preventDefault();
        void take(event.dataTransfer.files);
      }}
      onPaste={(event) => void take(event.clipboardData.files)}
    >
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
