// A server each of whose words is an attack: whatever it answers as text, and tells as it happens, has script, markup and hidden characters
// behind it. The same word is always turned into the same, so that what names another thing still names it.
import type { Page } from "playwright-core";

/** All of it does something on a page that renders it; the control in `attacks.test.ts` sees that. */
export const SCRIPT = `<script>window.__owned=1</script><img src=x onerror="window.__owned=1"><svg onload="window.__owned=1"> [click](javascript:window.__owned=1) ![p](https://elsewhere.example/p.png) \u202e\u001b]52;c;aGk=\u0007`;

/** Words by which a page knows what it is told: it compares them with its own. */
const COMPARED = "kind|type|step|status|standing|lifecycle|risk_level|scope|scopes|verdict|came_to|runner|media_type|code|surfaces|stream";
/** Digests, places to read on from, tickets: they are for the server alone. */
const GIVEN_BACK = "digest|next|seen|protocol|cursor";

/** Names nothing from outside of itself: its text is run in the page as well. */
const turning = (script: string, ours: string, plain: string) => {
  const spared = new RegExp(`^(${ours})$`);
  const isPlain = new RegExp(plain, "i");
  const turned = (value: unknown, name: string): unknown => {
    if (typeof value === "string") return spared.test(name) || isPlain.test(value) ? value : value + script;
    if (Array.isArray(value)) return value.map((one) => turned(one, name));
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([inside, one]) => [inside, turned(one, inside)]));
  };
  return (value: unknown) => turned(value, "");
};
/** Wherever they stand: an id, a digest, a time. */
const PLAIN = "^([0-9a-f-]{32,}|\\d{4}-\\d\\d-\\d\\dT[\\d:.]+(Z|[+-]\\d\\d:\\d\\d))$";

/** How much of what it says is spared: what a page compares, or only what it gives back. */
export type Spares = "what is compared" | "what is given back";

const oursOf = (spares: Spares): string => (spares === "what is compared" ? `${COMPARED}|${GIVEN_BACK}` : `stream|scopes|${GIVEN_BACK}`);

/** Has the page hear this from the server. */
export const attacked = (spares: Spares) => async (page: Page): Promise<void> => {
  const hostile = turning(SCRIPT, oursOf(spares), PLAIN);
  await page.route("**/v1/**", async (route) => {
    if (route.request().url().includes("/v1/events")) return route.continue();
    const answer = await route.fetch();
    if (!answer.headers()["content-type"]?.includes("json")) return route.fulfill({ response: answer });
    await route.fulfill({ status: answer.status(), json: hostile(await answer.json()) });
  });
  // Events do not end, and are turned in the page, before it reads them.
  await page.addInitScript({
    content: `{
      const hostile = (${String(turning)})(${JSON.stringify(SCRIPT)}, ${JSON.stringify(oursOf(spares))}, ${JSON.stringify(PLAIN)});
      const line = (one) => (one.startsWith("data: ") ? "data: " + JSON.stringify(hostile(JSON.parse(one.slice(6)))) : one);
      const ask = window.fetch;
      window.fetch = async (where, how) => {
        const answer = await ask(where, how);
        if (!String(where).includes("/v1/events") || !answer.ok) return answer;
        let text = "";
        const lines = new TransformStream({
          transform(piece, out) {
            const all = (text + piece).split("\\n");
            text = all.pop();
            for (const one of all) out.enqueue(line(one) + "\\n");
          },
        });
        return new Response(answer.body.pipeThrough(new TextDecoderStream()).pipeThrough(lines).pipeThrough(new TextEncoderStream()), { status: answer.status, headers: answer.headers });
      };
    }`,
  });
};
