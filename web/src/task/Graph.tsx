// The work as a graph, live: what is done, what is at work, which ways were taken and which were given up. A part that is chosen says
// what it came to, and may be dropped or another way chosen from there.
import { Background, Controls, Handle, Panel, Position, ReactFlow, type NodeProps } from "@xyflow/react";
import "@xyflow/react/dist/style.css";
import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { memo, useMemo, useState } from "react";

import { explanation, graph as graphQuery } from "../api/queries";
import type { Explanation, GraphAtom, GraphGroup, WorkGraph } from "../api/types";
import { Shown } from "../parts/Shown";
import { words } from "../text/format";
import { Visible } from "../text/Visible";
import { AtomDetails } from "./AtomDetails";
import { Change } from "./Change";
import { layered } from "./layers";
import { type Way, wayKey, waysOf } from "./ways";

export default function Graph({ task }: { task: string }) {
  const found = useQuery(graphQuery(task));
  return <Shown query={found} what="the graph">{(graph) => <Drawn task={task} graph={graph} />}</Shown>;
}

// `group` is a kind of the library's own.
const TYPES = { atom: memo(Atom), choice: memo(Group) };
const NARROW = 720;
/** So that no part begins beneath the buttons. */
const ROOM = { top: "52px", right: "24px", bottom: "24px", left: "60px" } as const;
/** Above so many, only what is in sight is drawn, and one begins where the work is. */
const MANY = 200;
const FIRST = 30;
const AT_WORK = ["working", "checking", "asks", "queued", "next", "failed"];
const OVER = ["verified", "completed", "failed", "cancelled"];
const SAYS = { taken: "taken", given_up: "given up", left: undefined } as const;
const NOTHING: Explanation["given_up"] = [];

function Drawn({ task, graph }: { task: string; graph: WorkGraph }) {
  const { atom: chosen } = useSearch({ from: "/tasks/$task" });
  const navigate = useNavigate({ from: "/tasks/$task" });
  const given_up = useQuery(explanation(task)).data?.given_up ?? NOTHING;
  const { nodes, edges } = useMemo(() => {
    const placed = layered(graph);
    const ways = waysOf(graph, given_up);
    const wayOf = (part: GraphAtom | GraphGroup) => (part.type === "atom" && part.or_group !== undefined ? ways.get(wayKey(part.or_group, part.id)) : undefined);
    return {
      nodes: placed.nodes.map(({ part, x, y }) => ({ id: part.id, type: part.type === "group" ? "choice" : "atom", position: { x, y }, data: { part, way: wayOf(part) } as Record<string, unknown>, draggable: false, initialWidth: 216, initialHeight: 52 })),
      edges: placed.edges.map(({ from, to, isChoice }) => {
        const fares = isChoice ? ways.get(wayKey(to, from))?.fares : undefined;
        return { id: `${from}>${to}`, source: from, target: to, className: fares === undefined ? "" : `choice ${fares}`, label: fares && SAYS[fares], focusable: false };
      }),
    };
  }, [graph, given_up]);
  const [begins] = useState(() => {
    if (graph.parts.length <= MANY) return undefined;
    const busy = graph.parts.filter((part) => part.type === "atom" && AT_WORK.includes(part.standing));
    return (busy.length > 0 ? busy : graph.parts.filter(({ within }) => within !== undefined)).slice(0, FIRST).map(({ id }) => ({ id }));
  });
  const fit = { maxZoom: 1, minZoom: window.innerWidth < NARROW ? 0.5 : 0.05, padding: ROOM };
  const [isChanging, setChanging] = useState(false);
  const isOver = OVER.includes(graph.standing);
  const shown = useMemo(() => nodes.map((node) => ({ ...node, selected: node.id === chosen })), [nodes, chosen]);
  const part = graph.parts.find(({ id }) => id === chosen);
  const choose = (atom: string | undefined) => void navigate({ search: atom === undefined ? {} : { atom }, replace: true, resetScroll: false });
  return (
    <>
      <ReactFlow
        nodes={shown}
        edges={edges}
        nodeTypes={TYPES}
        fitView
        fitViewOptions={{ ...fit, ...(begins ? { nodes: begins } : {}) }}
        minZoom={0.05}
        nodesConnectable={false}
        onlyRenderVisibleElements={graph.parts.length > MANY}
        // By a click or by Enter. What is selected is said by the address alone: a listener to the selection itself would follow the one that
        // is about to be given up, and so on for ever.
        onNodesChange={(changes) => changes.forEach((change) => change.type === "select" && change.selected && choose(change.id))}
        onPaneClick={() => choose(undefined)}
        proOptions={{ hideAttribution: true }}
        aria-label={`The work: ${graph.done} of ${graph.items} items done`}
      >
        <Background gap={24} />
        <Controls showInteractive={false} fitViewOptions={fit} />
        {!isOver && <Panel position="top-right"><button type="button" onClick={() => setChanging(true)}>Change it …</button></Panel>}
      </ReactFlow>
      {isChanging && <Change task={task} graph={graph} onClose={() => setChanging(false)} />}
      {part !== undefined && <AtomDetails key={part.id} task={task} part={part} graph={graph} onClose={() => choose(undefined)} />}
    </>
  );
}

function Atom({ data }: NodeProps) {
  const { part, way } = data as unknown as { part: GraphAtom; way: Way | undefined };
  return (
    <div className={`atom ${part.standing}`}>
      <Handle type="target" position={Position.Left} isConnectable={false} />
      <div className="name">
        <code><Visible text={part.id} /></code>
        <span>{words(part.standing)}{part.attempts !== null && part.attempts.used > 0 && ` ${part.attempts.used}/${part.attempts.of}`}{way !== undefined && ` · way ${way.rank} of ${way.of}`}</span>
      </div>
      <div className="title"><Visible text={part.title} /></div>
      <Handle type="source" position={Position.Right} isConnectable={false} />
    </div>
  );
}

function Group({ data }: NodeProps) {
  const part = data.part as GraphGroup;
  return (
    <div className="group">
      <Handle type="target" position={Position.Left} isConnectable={false} />
      one of <code><Visible text={part.id} /></code>{part.selected !== null && <>: <Visible text={part.selected} /></>}
      <Handle type="source" position={Position.Right} isConnectable={false} />
    </div>
  );
}
