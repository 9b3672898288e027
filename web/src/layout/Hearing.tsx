// Says quietly that the server is not heard, once that lasts, and nothing otherwise.
import { useEffect, useState } from "react";

import { useLive } from "../live/LiveEvents";
import "./Hearing.css";

export function Hearing() {
  const { hearing } = useLive();
  const [isLong, setLong] = useState(false);
  useEffect(() => {
    if (hearing === "live") {
      setLong(false);
      return;
    }
    const timer = setTimeout(() => setLong(true), 1_500);
    return () => clearTimeout(timer);
  }, [hearing]);
  return (
    <div role="status" aria-live="polite">
      {isLong && <p className="hearing">The server is not heard. What is here may be old; it is asked again until it answers.</p>}
    </div>
  );
}
