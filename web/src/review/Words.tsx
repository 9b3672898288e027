// Words beside an answer, sent by button or by key: neither twice, nor without those that are needed.
import { type ReactNode, useEffect, useRef } from "react";

interface WordsProps {
  label: string;
  action: string;
  note: string;
  onNote(note: string): void;
  onSend(note: string): void;
  onBack(): void;
  isBusy: boolean;
  isNeeded?: boolean;
  children?: ReactNode;
}

export function Words({ label, action, note, onNote, onSend, onBack, isBusy, isNeeded = false, children }: WordsProps) {
  const field = useRef<HTMLTextAreaElement>(null);
  useEffect(() => field.current?.focus(), []);
  const isReady = !isBusy && !(isNeeded && note.trim() === "");
  const send = () => {
    if (isReady) onSend(note);
  };
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
      onKeyDown={(event) => {
        if (event.key === "Escape") onBack();
        if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) send();
      }}
    >
      <label>
        {label}
        <textarea ref={field} maxLength={10_000} required={isNeeded} value={note} onChange={(event) => onNote(event.target.value)} />
      </label>
      {children}
      <div className="row">
        <button type="submit" className="primary" disabled={!isReady}>{action} <kbd>Ctrl ⏎</kbd></button>
        <button type="button" onClick={onBack}>Back <kbd>Esc</kbd></button>
      </div>
    </form>
  );
}
