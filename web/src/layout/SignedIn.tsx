// Shows what is inside to whoever has a token, and asks everybody else for one, at whatever address they came to.
import { useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useEffect, useSyncExternalStore } from "react";

import { onToken, token, wasLost } from "../api/token";
import { LiveEvents } from "../live/LiveEvents";
import { SignIn } from "./SignIn";

export function SignedIn({ children }: { children: ReactNode }) {
  const queries = useQueryClient();
  const bearer = useSyncExternalStore(onToken, token);
  const isLost = useSyncExternalStore(onToken, wasLost);
  useEffect(() => {
    // Nothing of one token's is shown to the next. Cleared while nobody looks.
    if (bearer === null) queries.clear();
  }, [bearer, queries]);
  if (bearer === null) return <SignIn isLost={isLost} />;
  return <LiveEvents key={bearer}>{children}</LiveEvents>;
}
