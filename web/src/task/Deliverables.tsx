// What a task delivered: shown where it can be shown as text or as a picture of ours to draw, and to be kept in any case.
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";

import type { Schemas } from "../api/client";
import { blob, deliverables } from "../api/queries";
import { useAddress } from "../execution/useAddress";
import { More } from "../parts/More";
import { Failed, Loading } from "../parts/States";
import { CodeBlock } from "../text/CodeBlock";
import { bytes } from "../text/format";
import { Markdown } from "../text/Markdown";
import { Printed } from "../text/Printed";
import { Visible } from "../text/Visible";

type Delivered = Schemas["Deliverable"];

export function Deliverables({ task }: { task: string }) {
  const found = useInfiniteQuery(deliverables(task));
  const list = found.data?.pages.flatMap((page) => page.deliverables) ?? [];
  // The newest of each name is what there is. What was delivered at once comes in any order: what is to be read stands first.
  const newest = [...new Map(list.map((one) => [one.path, one])).values()].sort((one, other) => Number(isRead(other)) - Number(isRead(one)) || one.path.localeCompare(other.path));
  return (
    <>
      {newest.map((one) => <DeliverableView key={one.path} delivered={one} isFirst={one === newest[0]} />)}
      <More of={found} />
    </>
  );
}

const MOST_SHOWN = 5_000_000;
const PICTURES: Record<string, string> = { png: "image/png", jpg: "image/jpeg", jpeg: "image/jpeg", gif: "image/gif", webp: "image/webp" };
const isRead = ({ path }: Delivered): boolean => /\.(md|markdown)$/i.test(path);
const extension = (path: string): string => (path.split(".").pop() ?? "").toLowerCase();

function DeliverableView({ delivered, isFirst }: { delivered: Delivered; isFirst: boolean }) {
  const [isOpen, setOpen] = useState(isFirst && delivered.bytes < 20_000);
  return (
    <details className="delivered" open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        <strong className="mono"><Visible text={delivered.path} /></strong>
        <span className="muted"><Visible text={delivered.description} /></span>
        <span className="muted small number">{bytes(delivered.bytes)}</span>
      </summary>
      {isOpen && <div><Contents delivered={delivered} /></div>}
    </details>
  );
}

function Contents({ delivered }: { delivered: Delivered }) {
  const isShown = delivered.bytes <= MOST_SHOWN;
  const [isWanted, setWanted] = useState(isShown);
  const found = useQuery({ ...blob(delivered.digest), enabled: isWanted });
  if (!isWanted) return <button type="button" onClick={() => setWanted(true)}>Fetch it ({bytes(delivered.bytes)})</button>;
  if (found.isError) return <Failed error={found.error} again={() => void found.refetch()} />;
  if (found.data === undefined) return <Loading what={delivered.path} />;
  return (
    <div className="stack">
      {isShown && <View content={found.data} path={delivered.path} />}
      <Keep content={found.data} path={delivered.path} />
    </div>
  );
}

function View({ content, path }: { content: Blob; path: string }) {
  const kind = extension(path);
  const picture = PICTURES[kind];
  const url = useAddress(content, picture);
  const [text, setText] = useState<string | null>(null);
  useEffect(() => {
    if (picture === undefined) void content.text().then(setText);
  }, [content, picture]);
  if (picture !== undefined) return url === null ? null : <img src={url} alt={path} />;
  if (text === null) return null;
  if (text.includes("\u0000")) return <p className="muted">It is not text.</p>;
  if (kind === "md" || kind === "markdown") return <Markdown text={text} />;
  if (kind === "diff" || kind === "patch") return <CodeBlock text={text} language="diff" />;
  return <Printed text={text} />;
}

function Keep({ content, path }: { content: Blob; path: string }) {
  const url = useAddress(content, "application/octet-stream");
  return url === null ? null : <p><a href={url} download={path.split("/").pop()}>Keep it</a></p>;
}
