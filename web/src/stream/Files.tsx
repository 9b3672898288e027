// Files that are to go with what is said: their names and sizes, and what is wrong with them.
import { Icon } from "../parts/Icon";
import { bytes } from "../text/format";
import { Visible } from "../text/Visible";
import type { Attached } from "./attachments";
import "./Files.css";

export function Files({ files, onRemove }: { files: Attached[]; onRemove(file: Attached): void }) {
  if (files.length === 0) return null;
  return (
    <ul className="files" aria-label="Files that go with it">
      {files.map((file, index) => (
        <li key={`${index} ${file.name}`} className={file.problem === undefined ? "" : "bad"}>
          <span className="mono"><Visible text={file.name} /></span> <span className="muted small number">{bytes(file.size)}</span>
          <button type="button" className="quiet" aria-label={`Leave out ${file.name}`} onClick={() => onRemove(file)}><Icon name="close" /></button>
          {file.problem !== undefined && <span className="refused" role="alert">{file.problem}</span>}
        </li>
      ))}
    </ul>
  );
}
