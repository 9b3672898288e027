// Files that belong to what is asked for: chosen, dropped or pasted, and taken away again.
import { useRef, useState } from "react";

import { Refused } from "../parts/States";
import { bytes } from "../text/format";
import { Visible } from "../text/Visible";
import { attached, type Attached, MOST_FILES } from "./attached";

export function Attachments({ files, onFiles }: { files: Attached[]; onFiles(files: Attached[]): void }) {
  const chooser = useRef<HTMLInputElement>(null);
  const [error, setError] = useState<unknown>(null);
  const take = (list: FileList | null | undefined) => {
    if (!list || list.length === 0) return;
    attached([...list]).then((more) => onFiles([...files, ...more].slice(0, MOST_FILES)), setError);
  };
  return (
    <div
      className="attachments"
      role="group"
      aria-label="Attached"
      onDragOver={(event) => event.preventDefault()}
      onDrop={(event) => {
        event.preventDefault();
        take(event.dataTransfer.files);
      }}
      onPaste={(event) => take(event.clipboardData.files)}
    >
      <div className="row">
        <button type="button" onClick={() => chooser.current?.click()}>Attach files …</button>
        <span className="muted small">or drop or paste them here: texts and pictures</span>
      </div>
      <input ref={chooser} type="file" multiple hidden aria-label="Files to attach" onChange={(event) => { take(event.target.files); event.target.value = ""; }} />
      <Refused error={error} />
      {files.length > 0 && (
        <ul>
          {files.map((file, at) => (
            <li key={at} className="row small">
              <code><Visible text={file.name} /></code> <span className="muted number">{bytes(file.bytes)}</span>
              <button type="button" className="quiet" aria-label={`Take ${file.name} away`} onClick={() => onFiles(files.filter((_, one) => one !== at))}>Take it away</button>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
