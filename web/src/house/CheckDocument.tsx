// A document looked at before it is put where the operator keeps such: what is wrong with it, or that nothing is. It is not kept.
import { useState } from "react";

import type { Schemas } from "../api/client";
import { Dialog } from "../parts/Dialog";
import { DocumentField } from "../parts/DocumentField";

export function CheckDocument({ kind, example, where }: { kind: Schemas["DocumentWord"]; example: string; where: string }) {
  const [isOpen, setOpen] = useState(false);
  const [document, setDocument] = useState(example);
  return (
    <>
      <button type="button" className="quiet" onClick={() => setOpen(true)}>Check one of your own …</button>
      {isOpen && (
        <Dialog label={`Check a ${kind}`} onClose={() => setOpen(false)}>
          <div className="stack">
            <h2>Check a {kind}</h2>
            <DocumentField label="Its document" kind={kind} autoFocus value={document} onValue={setDocument} />
            <p className="muted small">{where}</p>
            <div className="row"><button type="button" onClick={() => setOpen(false)}>Close</button></div>
          </div>
        </Dialog>
      )}
    </>
  );
}
