// How each way of a choice fares: it is taken, it was taken and failed, or it is another that is left.
import type { Explanation, GraphGroup, WorkGraph } from "../api/types";

export interface Way {
  fares: "taken" | "given_up" | "left";
  /** From 1, in the order in which they are tried unless somebody says otherwise. */
  rank: number;
  of: number;
  /** Why it was given up. */
  because?: string;
}

/** By group and choice. */
export type Ways = Map<string, Way>;
export const wayKey = (group: string, choice: string): string => `${group}>${choice}`;

export function waysOf(graph: WorkGraph, given_up: Explanation["given_up"]): Ways {
  const ways: Ways = new Map();
  const standing = new Map(graph.parts.map((part) => [part.id, part.type === "atom" ? part.standing : ""]));
  // The newest says why: one may be given up, taken again, and given up once more.
  const left = new Map(given_up.map((one) => [wayKey(one.or_group, one.choice), one.reason]));
  const groups = graph.parts.filter((part): part is GraphGroup => part.type === "group");
  for (const group of groups) {
    group.choices.forEach((choice, index) => {
      const key = wayKey(group.id, choice);
      const because = left.get(key);
      const failed = ["given_up", "failed"].includes(standing.get(choice) ?? "") || (because !== undefined && choice !== group.selected);
      const fares = failed ? "given_up" : choice === group.selected ? "taken" : "left";
      ways.set(key, { fares, rank: index + 1, of: group.choices.length, ...(failed && because !== undefined ? { because } : {}) });
    });
  }
  return ways;
}
