// What a person filled in, as a change that the server reads: one kind of change at a time, and of each only what is to be different.
export interface WantedAtom {
  id: string;
  description: string;
  checks: string;
  after: string;
  within: string;
}

export const lines = (text: string): string[] => text.split("\n").map((line) => line.trim()).filter(Boolean);

/** `file: a.txt` as the object that it stands for. */
function check(line: string): Record<string, string> {
  const [, kind = "command", what = line] = /^(\w+):\s+(.*)$/.exec(line) ?? [];
  return { [kind]: what };
}

export function added({ id, description, checks, after, within }: WantedAtom): object {
  const comesAfter = after.split(/[\s,]+/).filter(Boolean);
  const verify = lines(checks).map(check);
  const atom = { id: id.trim(), description: description.trim(), ...(verify.length > 0 ? { verify } : {}), ...(comesAfter.length > 0 ? { depends_on: comesAfter } : {}) };
  return { graph: { add: [atom], ...(within === "" ? {} : { to: within }) } };
}

export function aimed(goal: string, agreed: string, checks: string, done: string): object {
  const base_case = lines(checks);
  return {
    objective: {
      ...(goal.trim() !== "" && goal.trim() !== agreed.trim() ? { goal: goal.trim() } : {}),
      ...(base_case.length > 0 ? { base_case } : {}),
      ...(done.trim() === "" ? {} : { done: done.trim() }),
    },
  };
}

export const LIMITS = ["max_iterations", "max_parallel_agents", "max_stall_count", "max_atoms", "max_choices", "max_split_depth", "max_replan_depth"] as const;
export type Limits = Partial<Record<(typeof LIMITS)[number], string>>;

export function limited(limits: Limits): object {
  const said = LIMITS.flatMap((name) => (limits[name] === undefined || limits[name] === "" ? [] : [[name, Number(limits[name])] as const]));
  return { limits: Object.fromEntries(said) };
}

export const bound = (atom: string, text: string): object => ({ binding: { atom, text: text.trim() } });
