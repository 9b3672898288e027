// Asks once more before something that nobody can take back.
import { Dialog } from "./Dialog";
import { Refused } from "./States";

interface SureProps {
  question: string;
  /** What follows from a yes, and what does not. */
  says: string;
  action: string;
  wish: { isPending: boolean; error: unknown };
  onYes(): void;
  onClose(): void;
}

export function Sure({ question, says, action, wish, onYes, onClose }: SureProps) {
  return (
    <Dialog label={action} onClose={onClose}>
      <div className="stack">
        <h2>{question}</h2>
        <p>{says}</p>
        <Refused error={wish.error} />
        <div className="row">
          <button type="button" className="danger" disabled={wish.isPending} onClick={onYes}>{action}</button>
          <button type="button" onClick={onClose}>Back</button>
        </div>
      </div>
    </Dialog>
  );
}
