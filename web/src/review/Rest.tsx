// Whatever else a card holds, by its name: a field that no page knows of yet is shown all the same.
import { Visible } from "../text/Visible";

type Fields = Record<string, unknown>;

export const isSaid = (value: unknown): boolean =>
  value !== null && value !== undefined && value !== "" && value !== false && !(typeof value === "object" && Object.keys(value).length === 0);

const inWords = (value: unknown): string => {
  if (typeof value === "string") return value;
  if (Array.isArray(value) && value.every((one) => typeof one === "string")) return value.join("\n");
  return JSON.stringify(value, null, 2);
};

export function restOf(fields: Fields, known: readonly string[]): [string, string][] {
  return Object.entries(fields)
    .filter(([name, value]) => !known.includes(name) && isSaid(value))
    .map(([name, value]) => [name.replace(/_/g, " "), inWords(value)]);
}

/** As rows of a list of facts. */
export function Rest({ fields, known }: { fields: Fields; known: readonly string[] }) {
  return restOf(fields, known).map(([name, words]) => (
    <div key={name} className="fact">
      <dt><Visible text={name} /></dt>
      <dd className="written"><Visible text={words} /></dd>
    </div>
  ));
}
