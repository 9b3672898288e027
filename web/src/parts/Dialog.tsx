// A dialog of the browser's own: it takes the keys, and Escape closes it.
import { type ReactNode, useEffect, useRef } from "react";

import "./Dialog.css";

export function Dialog({ label, onClose, children, className = "" }: { label: string; onClose(): void; children: ReactNode; className?: string }) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const shown = dialog.current;
    if (shown !== null && !shown.open) shown.showModal();
    return () => shown?.close();
  }, []);
  return (
    <dialog
      ref={dialog}
      aria-label={label}
      className={className}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onClick={(event) => event.target === dialog.current && onClose()}
    >
      <div className="dialog-body">{children}</div>
    </dialog>
  );
}
