// Requests, typed by the document that the server has of itself. The token goes in a header and nowhere else; whatever is posted bears
// a key, so that it may be sent again when nobody knows whether it was heard.
import { Problem, problemOf, unreachable } from "./problem";
import type { components, paths } from "./schema";
import { loseToken, token } from "./token";

export type Schemas = components["schemas"];

type Method = "get" | "post" | "delete";
type PathsOf<M extends Method> = { [P in keyof paths]: paths[P][M] extends { responses: unknown } ? P : never }[keyof paths];
type Operation<P extends keyof paths, M extends Method> = NonNullable<paths[P][M]>;
type Json<R> = R extends { content: { "application/json": infer Body } } ? Body : never;
type Answer<O> = O extends { responses: infer R } ? Json<R[keyof R & (200 | 201 | 202)]> : never;
type Body<O> = O extends { requestBody: { content: { "application/json": infer B } } } ? Partial<B> : undefined;
type InPath<O> = O extends { parameters: { path: infer P } } ? P : Record<string, never>;
type InQuery<O> = O extends { parameters: { query?: infer Q } } ? Q : never;

export interface Where<O> {
  path?: InPath<O>;
  query?: InQuery<O>;
  signal?: AbortSignal;
}

export function address(template: string, path: object = {}, query: object = {}): string {
  const filled = template.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String((path as Record<string, unknown>)[name])));
  const words = Object.entries(query).filter(([, value]) => value !== undefined && value !== null && value !== false);
  const asked = new URLSearchParams(words.map(([name, value]) => [name, String(value)])).toString();
  return asked ? `${filled}?${asked}` : filled;
}

/** The request as it is: for what is no JSON. Throws a `Problem` for whatever is no success. */
export async function ask(url: string, init: RequestInit & { headers?: Record<string, string> } = {}): Promise<Response> {
  const bearer = token();
  const headers = { ...init.headers, ...(bearer ? { Authorization: `Bearer ${bearer}` } : {}) };
  let response: Response;
  try {
    response = await fetch(url, { ...init, headers, cache: "no-store", credentials: "omit", redirect: "error" });
  } catch (error) {
    if (init.signal?.aborted) throw error;
    throw unreachable();
  }
  if (response.ok) return response;
  if (response.status === 401 && bearer === token()) loseToken();
  throw await problemOf(response);
}

/** What an answer holds: the connection may break while it comes. */
export const read = <T>(body: Promise<T>): Promise<T> =>
  body.catch((error: unknown) => {
    throw error instanceof TypeError ? unreachable() : error;
  });

export async function get<P extends PathsOf<"get">>(
  path: P,
  where: Where<Operation<P, "get">> = {},
): Promise<Answer<Operation<P, "get">>> {
  const response = await ask(address(path, where.path, where.query), { signal: where.signal ?? null });
  return (await read(response.json())) as Answer<Operation<P, "get">>;
}

/** A request that breaks off is sent again under the same key, once: the server then says what became of the first. */
export async function post<P extends PathsOf<"post">>(
  path: P,
  body: Body<Operation<P, "post">>,
  where: Where<Operation<P, "post">> = {},
): Promise<Answer<Operation<P, "post">>> {
  const headers: Record<string, string> = { "Content-Type": "application/json", "Idempotency-Key": crypto.randomUUID() };
  const send = () =>
    ask(address(path, where.path, where.query), { method: "POST", headers, body: JSON.stringify(body ?? {}), signal: where.signal ?? null });
  const response = await send().catch((error: unknown) => {
    if (error instanceof Problem && error.isOutage) return send();
    throw error;
  });
  return (await read(response.json())) as Answer<Operation<P, "post">>;
}

export async function remove<P extends PathsOf<"delete">>(path: P, where: Where<Operation<P, "delete">> = {}): Promise<void> {
  await ask(address(path, where.path, where.query), { method: "DELETE" });
}
