// What something cost. Of a model that has no price nobody knows it, and nothing is not what it cost.
import { money } from "../text/format";

export const cost = (usd: number | null | undefined): string => (usd === null || usd === undefined ? "cost unknown" : money(usd));
