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
const ROW = 78;

export function layered(graph: WorkGraph): { nodes: Placed[]; edges: Edge[] } {
  const parts = new Map(graph.parts.map((part) => [part.id, part]));
  const held = new Map<string, string[]>();
  for (const part of graph.parts) if (part.within !== undefined) held.set(part.within, [...(held.get(part.within) ?? []), part.id]);
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
  const rank = new Map<string, number>();
  const under = new Set<string>();
  const ranked = (id: string): number => {
    const known = rank.get(id);
    if (known !== undefined) return known;
    if (under.has(id)) return 0;
    under.add(id);
    const found = Math.max(-1, ...[...(before.get(id) ?? [])].map(ranked)) + 1;
    under.delete(id);
    rank.set(id, found);
    return found;
  };
  const rows = new Map<number, number>();
  const nodes = graph.parts.map((part) => {
    const column = ranked(part.id);
    const row = rows.get(column) ?? 0;
    rows.set(column, row + 1);
    return { part, x: column * COLUMN, y: row * ROW };
  });
  // Columns are centred on the tallest.
  const tallest = Math.max(1, ...rows.values());
  return { nodes: nodes.map((node) => ({ ...node, y: node.y + ((tallest - (rows.get(node.x / COLUMN) ?? 0)) * ROW) / 2 })), edges };
}
