// Notices of the desktop, where a page may show them. Some browsers (those of phones) have the name, say that one may, and throw: that is
// known once one was tried.
import { digest } from "../live/shared";

export type May = NotificationPermission | "unsupported";

let isUnsupported = !("Notification" in globalThis);

export const may = (): May => (isUnsupported ? "unsupported" : Notification.permission);

/** Whether there is one now. */
export function notify(body: string, onFollowed: () => void = () => undefined): boolean {
  if (may() !== "granted") return false;
  try {
    const notice = new Notification("Windlass", { body, tag: "windlass-review" });
    notice.onclick = () => {
      window.focus();
      onFollowed();
    };
    return true;
  } catch {
    isUnsupported = true;
    return false;
  }
}

/** Asks for leave, and shows one at once, so that it is known whether there are any. */
export async function allow(): Promise<May> {
  if ((await Notification.requestPermission()) === "granted") notify("That is how it is said that something waits for you.");
  return may();
}

const lookedAt = async (token: string): Promise<string> => `windlass-looked-at-${await digest(token)}`;

/** Held by every tab of this token's while it is in sight. Returns how to end that. */
export function holdWhileInSight(token: string): () => void {
  if (!("locks" in navigator)) return () => undefined;
  let release: (() => void) | undefined;
  let name: string | undefined;
  let isEnded = false;
  const look = () => {
    const isSeen = !isEnded && document.visibilityState === "visible";
    if (name === undefined || isSeen === (release !== undefined)) return;
    release?.();
    release = undefined;
    if (!isSeen) return;
    const out = new Promise<void>((resolve) => (release = resolve));
    void navigator.locks.request(name, { mode: "shared" }, () => out);
  };
  void lookedAt(token).then((found) => {
    name = found;
    look();
  });
  document.addEventListener("visibilitychange", look);
  return () => {
    isEnded = true;
    look();
    document.removeEventListener("visibilitychange", look);
  };
}

/** Whether anybody looks at a tab of this token's: nobody has to be told there what they see. */
export async function isLookedAt(token: string): Promise<boolean> {
  if (document.visibilityState === "visible" || !("locks" in navigator)) return document.visibilityState === "visible";
  const name = await lookedAt(token);
  return ((await navigator.locks.query()).held ?? []).some((lock) => lock.name === name);
}
