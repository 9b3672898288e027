// A file as it would be, beside what stands in it now. Where that cannot be shown the card says so, and never that nothing stood there.
import { useQuery } from "@tanstack/react-query";

import { blobText } from "../api/queries";
import { difference } from "../text/difference";
import { Diff } from "../text/Diff";
import type { CallCard } from "./CallDetails";

export function FileChange({ call, path, after }: { call: CallCard; path: string; after: string }) {
  const before = useQuery({ ...blobText(call.before ?? ""), enabled: typeof call.before === "string" });
  // Its path may be written otherwise there.
  const digests = Object.values(call.files ?? {});
  if (typeof call.before !== "string") {
    const isNew = digests.length > 0 && digests.every((digest) => digest === null);
    return (
      <>
        {!isNew && <p className="warned">What stands in the file now cannot be shown here: this is all that would stand in it.</p>}
        <Diff name={isNew ? `${path} (a new file)` : `${path} (all of it)`} lines={difference("", after)} />
      </>
    );
  }
  if (before.data !== undefined && before.data !== null) return <Diff name={path} lines={difference(before.data, after)} />;
  return (
    <>
      <p className={before.isPending ? "muted" : "warned"} role="status">
        {before.isPending ? "Reading what stands in the file now …" : "What stands in the file now is no text, or is kept no more: this is all that would stand in it."}
      </p>
      <Diff name={`${path} (all of it)`} lines={difference("", after)} />
    </>
  );
}
