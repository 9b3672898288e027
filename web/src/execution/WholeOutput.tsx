// The whole of an output of which the record has a part: read by pieces, from any place, searched, and kept.
import { useMutation, useQuery } from "@tanstack/react-query";
import { useRef, useState } from "react";

import { blob } from "../api/queries";
import { Failed, Loading, Refused } from "../parts/States";
import { bytes } from "../text/format";
import { Printed } from "../text/Printed";
import { find, lastPiece, PIECE, piece } from "./pieces";
import { useAddress } from "./useAddress";

export function WholeOutput({ digest }: { digest: string }) {
  const [isOpen, setOpen] = useState(false);
  if (!isOpen) return <p><button type="button" onClick={() => setOpen(true)}>All of it …</button></p>;
  return <Reader digest={digest} />;
}

function Reader({ digest }: { digest: string }) {
  // A place to begin at, or the end of it.
  const [at, setAt] = useState<number | "end">(0);
  const [words, setWords] = useState("");
  const [upto, setUpto] = useState(0);
  const total = useRef(0);
  const end = useRef(new AbortController());
  const shown = useQuery({
    queryKey: ["blob", digest, "piece", at],
    queryFn: ({ signal }) => (at === "end" ? lastPiece(digest, total.current, signal) : piece(digest, at, signal)),
    staleTime: Infinity,
    gcTime: 60_000,
    placeholderData: (before) => before,
  });
  const look = useMutation({
    mutationFn: async (after: number) => {
      end.current.abort();
      end.current = new AbortController();
      setUpto(after);
      const found = await find(digest, words, after, end.current.signal, setUpto);
      if (found !== null) setAt(found);
      return found !== null;
    },
  });
  const now = shown.data;
  if (shown.isError) return <Failed error={shown.error} again={() => void shown.refetch()} />;
  if (now === undefined) return <Loading what="the output" />;
  total.current = now.total;
  const [isFirst, isLast] = [now.from === 0, now.to >= now.total];
  return (
    <section className="stack whole-output" aria-label="The whole output">
      <div className="row">
        <button type="button" disabled={isFirst} onClick={() => setAt(0)}>Beginning</button>
        <button type="button" disabled={isFirst} onClick={() => setAt(Math.max(0, now.from - PIECE))}>Earlier</button>
        <button type="button" disabled={isLast} onClick={() => setAt(now.to)}>Later</button>
        <button type="button" disabled={isLast} onClick={() => setAt("end")}>End</button>
        <span className="muted small number" role="status">{bytes(now.from)} to {bytes(now.to)} of {bytes(now.total)}</span>
      </div>
      <form
        className="row"
        onSubmit={(event) => {
          event.preventDefault();
          if (words !== "") look.mutate(look.data === true ? now.second : now.from);
        }}
      >
        <input type="search" aria-label="Find in the whole output" placeholder="Find in all of it, from here on …" value={words} onChange={(event) => { setWords(event.target.value); look.reset(); }} />
        <button type="submit" disabled={words === "" || look.isPending}>{look.data === true ? "Next" : "Find"}</button>
        {look.isPending && <span className="muted small number" role="status">looked through {bytes(upto)} of {bytes(now.total)} … <button type="button" className="quiet" onClick={() => end.current.abort()}>Stop</button></span>}
        {look.data === false && <span className="muted small" role="status">Nothing from here on says that.</span>}
      </form>
      {look.isError && !end.current.signal.aborted && <Refused error={look.error} />}
      <Printed key={now.from} text={now.text} page={PIECE} />
      <Keep digest={digest} total={now.total} />
    </section>
  );
}

function Keep({ digest, total }: { digest: string; total: number }) {
  const [isWanted, setWanted] = useState(false);
  const found = useQuery({ ...blob(digest), enabled: isWanted });
  const url = useAddress(found.data, "application/octet-stream");
  if (!isWanted) return <p><button type="button" onClick={() => setWanted(true)}>Fetch all of it, to be kept ({bytes(total)})</button></p>;
  if (found.isError) return <Failed error={found.error} again={() => void found.refetch()} />;
  return url === null ? <Loading what="all of it" /> : <p><a href={url} download="output.txt">Keep it</a></p>;
}
