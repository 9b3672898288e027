// A quiet word about the pace, where there is one. It holds nobody up.
import { useSyncExternalStore } from "react";

import { onPace, paceCue } from "./pace";

export function Pace() {
  const cue = useSyncExternalStore(onPace, paceCue);
  return <div role="status">{cue !== null && <p className="muted small">{cue}</p>}</div>;
}
