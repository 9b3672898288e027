// Shows what is inside to whoever has a token, and asks everybody else for one, at whatever address they came to.
import { useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useEffect, useRef, useSyncExternalStore } from "react";

import { onToken, token } from "../api/token";
import { LiveEvents } from "../live/LiveEvents";
import { SignIn } from "./SignIn";

export function SignedIn({ children }: { children: ReactNode }) {
  const queries = useQueryClient();
  const bearer = useSyncExternalStore(onToken, token);
  const had = useRef(bearer !== null);
  useEffect(() => {
    // Nothing of one token's is shown to the next. Cleared while nobody looks.
    if (bearer === null) queries.clear();
    else had.current = true;
  }, [bearer, queries]);
  if (bearer === null) return <SignIn wasIn={had.current} />;
  return <LiveEvents key={bearer}>{children}</LiveEvents>;
}
