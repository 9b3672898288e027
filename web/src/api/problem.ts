// What went wrong, as a sentence and what to do about it. Whatever a request ends with that is no answer is one of these.

export class Problem extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    detail: string,
    readonly hint?: string,
  ) {
    super(detail);
    this.name = "Problem";
  }

  /** Nobody heard the request, or nobody says whether they did: it may be asked again. */
  get isOutage(): boolean {
    return this.code === "unreachable" || this.status === 502 || this.status === 503 || this.status === 504;
  }

  /** What is read may be asked for again after a moment. */
  get isPassing(): boolean {
    return this.isOutage || this.status === 429;
  }
}

export const unreachable = (): Problem =>
  new Problem(0, "unreachable", "The server cannot be reached.", "It is asked again by itself. Is `windlass serve` running?");

export async function problemOf(response: Response): Promise<Problem> {
  const text = await response.text().catch(() => "");
  try {
    const said = JSON.parse(text) as { detail?: string; code?: string; hint?: string };
    if (said.detail) return new Problem(response.status, said.code ?? "", sentence(said.detail), said.hint && sentence(said.hint));
  } catch {
    // Something between us and the server answered in its own way.
  }
  return new Problem(response.status, "", `The server answered with ${response.status} and no reason.`);
}

/** What the API says are fragments without a capital and a full stop. */
export function sentence(words: string): string {
  const trimmed = words.trim();
  const begun = /^`/.test(trimmed) ? trimmed : trimmed.charAt(0).toUpperCase() + trimmed.slice(1);
  return /[.!?…]$/.test(begun) ? begun : `${begun}.`;
}

/** What broke here is a mistake of the page's, and no outage: that the server cannot be reached is said where it is asked. */
export function asProblem(error: unknown): Problem {
  if (error instanceof Problem) return error;
  return new Problem(0, "broken", error instanceof Error ? sentence(error.message) : "Something broke here.");
}
