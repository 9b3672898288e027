// What a query brought, or why it did not. What was brought before is shown on while it is asked for again.
import type { ReactNode } from "react";

import { Failed, Loading } from "./States";

interface Query<T> {
  data: T | undefined;
  isError: boolean;
  error: unknown;
  refetch(): unknown;
}

export function Shown<T>({ query, what, children }: { query: Query<T>; what: string; children: (data: T) => ReactNode }) {
  if (query.data !== undefined) return <>{children(query.data)}</>;
  if (query.isError) return <Failed error={query.error} again={() => void query.refetch()} />;
  return <Loading what={what} />;
}
