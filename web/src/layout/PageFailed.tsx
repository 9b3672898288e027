// What stands in a page's place when it broke: the rest of the console is as it was, and there is a way on.
import type { ErrorComponentProps } from "@tanstack/react-router";

import { Failed } from "../parts/States";

export function PageFailed({ error, reset }: ErrorComponentProps) {
  return (
    <>
      <Failed error={error} again={reset} />
      <p className="state muted">Only this page broke. <a href="/review">Back to Review</a></p>
    </>
  );
}
