// A dialog of the browser's own: it takes the keys, and Escape or a click beside it closes it. Not where somebody wrote something in it: a
// click beside it does nothing then, and Escape asks.
import { type ReactNode, type SyntheticEvent, useEffect, useRef, useState } from "react";

import { OwnDialog } from "./keys";
import "./Dialog.css";

/** What somebody writes in; not what only finds something. */
const FIELDS = "textarea, form :is(input, select)";

export function Dialog({ label, onClose, children, className = "" }: { label: string; onClose(): void; children: ReactNode; className?: string }) {
  const dialog = useRef<HTMLDialogElement>(null);
  // Whoever selects words and lets go beside it has not clicked beside it.
  const wasBeside = useRef(false);
  const isWritten = useRef(false);
  const [isAsked, setAsked] = useState(false);
  const held = useRef<HTMLElement | null>(null);
  useEffect(() => {
    const shown = dialog.current;
    if (shown !== null && !shown.open) shown.showModal();
    return () => shown?.close();
  }, []);
  // What is in it has events of the same names: whoever chooses no file has cancelled that and nothing else.
  const isOwn = (event: SyntheticEvent) => event.target === dialog.current;
  const goOn = () => {
    setAsked(false);
    held.current?.focus();
  };
  const leave = (event: SyntheticEvent) => {
    event.preventDefault();
    if (!isWritten.current) return onClose();
    if (isAsked) return goOn();
    held.current = document.activeElement as HTMLElement | null;
    setAsked(true);
  };
  return (
    <dialog
      ref={dialog}
      aria-label={label}
      className={className}
      // The key itself is taken: the browser lets a page refuse to be closed once, and closes the dialog at the second Escape in a row.
      onKeyDown={(event) => event.key === "Escape" && !event.nativeEvent.isComposing && leave(event)}
      onCancel={(event) => isOwn(event) && leave(event)}
      onClose={() => dialog.current?.isConnected && !dialog.current.open && onClose()}
      onInput={(event) => void (isWritten.current ||= (event.target as Element).matches(FIELDS))}
      onMouseDown={(event) => void (wasBeside.current = isOwn(event))}
      onClick={(event) => isOwn(event) && wasBeside.current && !isWritten.current && onClose()}
    >
      <OwnDialog value={dialog}>
        <div className="dialog-body">{children}</div>
      </OwnDialog>
      {isAsked && (
        <div className="leave" role="alert">
          <p>What you wrote here is kept nowhere else.</p>
          <div className="row">
            <button type="button" autoFocus onClick={goOn}>Go on with it</button>
            <button type="button" className="danger" onClick={onClose}>Leave it</button>
          </div>
        </div>
      )}
    </dialog>
  );
}
