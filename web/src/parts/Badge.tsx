// A word with the colour that it deserves.
import { Visible } from "../text/Visible";
import "./Badge.css";

export type Tone = "plain" | "accent" | "good" | "warn" | "bad";

export function Badge({ tone = "plain", children }: { tone?: Tone; children: string }) {
  return <span className={`badge ${tone}`}><Visible text={children} /></span>;
}

const TONES: Record<string, Tone> = {
  verified: "good", completed: "good", done: "good", passed: "good", ok: "good",
  running: "accent", at_work: "accent", working: "accent", checking: "accent", launching: "accent", active: "accent",
  waiting: "warn", asks: "warn", paused: "warn", stopped: "warn", interrupted: "warn", agreed: "warn", open: "warn",
  failed: "bad", given_up: "bad", error: "bad", cancelled: "plain", expired: "bad", refused: "bad",
};

export function Standing({ standing }: { standing: string }) {
  return <Badge tone={TONES[standing] ?? "plain"}>{standing.replace(/_/g, " ")}</Badge>;
}

export function Risk({ level }: { level: string }) {
  const tone: Tone = level === "high" || level === "irreversible" ? "bad" : level === "medium" ? "warn" : "plain";
  return <Badge tone={tone}>{level === "irreversible" ? "cannot be undone" : `${level} risk`}</Badge>;
}
