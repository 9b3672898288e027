// What one has begun to write and not said yet, in a conversation or to a card: kept while one looks elsewhere, for as long as one is signed
// in. Each field has a name of its own, so that what was begun for one answer goes out with no other.
import { useReducer } from "react";

import { onToken } from "../api/token";

const drafts = new Map<string, string>();
onToken(() => drafts.clear());

export interface Drafts {
  /** What was written; nothing where nobody has. */
  of(name: string): string | undefined;
  keep(name: string, words: string): void;
  /** It was said, or is not wanted any more. */
  forget(): void;
}

/** The drafts of one conversation, card or question. */
export function useDrafts(whose: string): Drafts {
  const [, draw] = useReducer((count: number) => count + 1, 0);
  return {
    of: (name) => drafts.get(`${whose}/${name}`),
    keep: (name, words) => {
      drafts.set(`${whose}/${name}`, words);
      draw();
    },
    forget: () => {
      for (const name of [...drafts.keys()]) if (name.startsWith(`${whose}/`)) drafts.delete(name);
      draw();
    },
  };
}
