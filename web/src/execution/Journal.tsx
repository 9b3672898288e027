// The records themselves, as they are stored.
import { useInfiniteQuery } from "@tanstack/react-query";
import { useState } from "react";

import { journal } from "../api/queries";
import { Failed, Loading } from "../parts/States";
import { clock } from "../text/format";
import { Printed } from "../text/Printed";
import type { Schemas } from "../api/client";

export function Journal({ execution }: { execution: string }) {
  const found = useInfiniteQuery(journal(execution));
  const records = found.data?.pages.flatMap((page) => page.records) ?? [];
  if (found.isError && records.length === 0) return <Failed error={found.error} again={() => void found.refetch()} />;
  if (found.isPending) return <Loading what="the journal" />;
  return (
    <>
      {records.map((record) => <RecordView key={record.position} record={record} />)}
      {found.hasNextPage && <p className="row"><button type="button" disabled={found.isFetchingNextPage} onClick={() => void found.fetchNextPage()}>More</button></p>}
    </>
  );
}

function RecordView({ record }: { record: Schemas["Record"] }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details className="record" open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary><span className="number">{record.position}</span><time className="number" dateTime={record.at}>{clock(record.at)}</time><code>{record.kind}</code></summary>
      {isOpen && <Printed text={JSON.stringify(record.data, null, 2)} />}
    </details>
  );
}
