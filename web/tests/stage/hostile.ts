// A server each of whose words is an attack: whatever it answers as text has script, markup and hidden characters behind it.
import type { Page } from "playwright-core";

/** All of it does something on a page that renders it; the control in `attacks.test.ts` sees that. */
export const SCRIPT = `<script>window.__owned=1</script><img src=x onerror="window.__owned=1"><svg onload="window.__owned=1"> [click](javascript:window.__owned=1) ![p](https://elsewhere.example/p.png) \u202e\u001b]52;c;aGk=\u0007`;

/** Fields of ids, of words that the API defines, of times and of places to read on from: what they say the page reads, and nobody else. */
const OURS = new RegExp(
  `^(${[
    "id|.+_id|tasks|stream|digest|next|seen|protocol|model|.+_model|atom|within|after|or_group|choices|selected|at|.+_at",
    "kind|type|step|status|standing|lifecycle|activity|attention|how|risk|risk_level|level|verdict|scope|scopes|state|role|route|ruling|approval|decision|surfaces",
    "injection_type|deadline_action|gate_type|on|on_block|runner|media_type|code|channel|to|approval_strength|planning|waits_for",
  ].join("|")})$`,
);
/** The same wherever they stand: an id, a digest, a time. */
const PLAIN = /^([0-9a-f-]{32,}|\d{4}-\d\d-\d\dT[\d:.]+(Z|[+-]\d\d:\d\d))$/i;

export function hostile(value: unknown, name = ""): unknown {
  if (typeof value === "string") return OURS.test(name) || PLAIN.test(value) ? value : value + SCRIPT;
  if (Array.isArray(value)) return value.map((one) => hostile(one, name));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([inside, one]) => [inside, hostile(one, inside)]));
}

/** Has the page hear this from the server. Events alone come as they are: they do not end, and say what the answers say. */
export async function attacked(page: Page): Promise<void> {
  await page.route("**/v1/**", async (route) => {
    if (route.request().url().includes("/v1/events")) return route.continue();
    const answer = await route.fetch();
    if (!answer.headers()["content-type"]?.includes("json")) return route.fulfill({ response: answer });
    await route.fulfill({ status: answer.status(), json: hostile(await answer.json()) });
  });
}
