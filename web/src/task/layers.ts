// Where each atom stands: right of everything that it comes after, the choices of a group below one another. A pure function of the graph.
import type { GraphAtom, GraphGroup, WorkGraph } from "../api/types";

export interface Placed {
  part: GraphAtom | GraphGroup;
  x: number;
  y: number;
}

export interface Edge {
  from: string;
  to: string;
  isChoice: boolean;
}

const COLUMN = 268;
const ROW = 86;

export function layered(graph: WorkGraph): { nodes: Placed[]; edges: Edge[] } {
  const parts = new Map(graph.parts.map((part) => [part.id, part]));
  const held = new Map<string, string[]>();
  for (const { id, within } of graph.parts) {
    if (within === undefined) continue;
    const known = held.get(within);
    if (known === undefined) held.set(within, [id]);
    else known.push(id);
  }
  // What holds others is done when they are: it stands behind them, and only what is a leaf or a group is drawn besides the whole.
  const edges: Edge[] = [];
  const before = new Map<string, Set<string>>();
  const comes = (to: string, from: string, isChoice = false) => {
    if (!parts.has(to) || !parts.has(from)) return;
    const known = before.get(to) ?? new Set();
    if (!known.has(from)) edges.push({ from, to, isChoice });
    before.set(to, known.add(from));
  };
  for (const part of graph.parts) {
    if (part.type === "group") {
      for (const choice of part.choices) comes(part.id, choice, true);
      continue;
    }
    for (const earlier of part.after) comes(part.id, earlier);
  }
  for (const part of graph.parts) {
    if (part.type !== "atom" || part.is_leaf) continue;
    const children = held.get(part.id) ?? [];
    const followed = new Set(children.flatMap((child) => [...(before.get(child) ?? [])]));
    for (const child of children) {
      const own = parts.get(child);
      // A choice is held by its group.
      if (!followed.has(child) && !(own?.type === "atom" && own.or_group !== undefined)) comes(part.id, child);
      // What the whole comes after, its parts come after.
      for (const earlier of part.after) if ((before.get(child)?.size ?? 0) === 0) comes(child, earlier);
    }
  }
  const rank = ranks(graph.parts.map(({ id }) => id), before);
  const rows = new Map<number, number>();
  const nodes = graph.parts.map((part) => {
    const column = rank.get(part.id) ?? 0;
    const row = rows.get(column) ?? 0;
    rows.set(column, row + 1);
    return { part, x: column * COLUMN, y: row * ROW };
  });
  // Columns are centred on the tallest.
  const tallest = [...rows.values()].reduce((most, count) => Math.max(most, count), 1);
  return { nodes: nodes.map((node) => ({ ...node, y: node.y + ((tallest - (rows.get(node.x / COLUMN) ?? 0)) * ROW) / 2 })), edges };
}

/** One more than the highest of what comes before. A chain may be as long as the graph is large: what is looked at waits in a list. */
function ranks(ids: string[], before: Map<string, Set<string>>): Map<string, number> {
  const rank = new Map<string, number>();
  const under = new Set<string>();
  for (const id of ids) {
    const waiting = [id];
    for (let at = waiting.at(-1); at !== undefined; at = waiting.at(-1)) {
      const earlier = [...(before.get(at) ?? [])];
      // In a circle, which no server would send, what is under way counts for nothing.
      const open = rank.has(at) || under.has(at) ? [] : earlier.filter((one) => !rank.has(one) && !under.has(one));
      under.add(at);
      if (open.length > 0) {
        waiting.push(...open);
        continue;
      }
      waiting.pop();
      if (!rank.has(at)) rank.set(at, earlier.reduce((most, one) => Math.max(most, rank.get(one) ?? 0), -1) + 1);
    }
  }
  return rank;
}
