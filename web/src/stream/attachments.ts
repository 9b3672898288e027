// Files that are to go with what is said: texts and pictures, within what the server takes, judged before they are sent.
import type { Schemas } from "../api/client";
import { bytes, plural } from "../text/format";

export interface Attached {
  name: string;
  size: number;
  /** What is wrong with it; it is not sent. */
  problem?: string;
  content: string;
}

/** As the server has it. */
const LONGEST_TEXT = 256 * 1024;
const LARGEST_PICTURE = 5 * 1024 * 1024;
export const MOST_FILES = 50;
/** All of what is sent in one go, which is a third longer than the files. */
const MOST_TOGETHER = 15_000_000;

export async function attachedOf(file: File): Promise<Attached> {
  const [name, size] = [file.name, file.size];
  const refused = (problem: string): Attached => ({ name, size, problem, content: "" });
  if (size > LARGEST_PICTURE) return refused(`It is larger than ${bytes(LARGEST_PICTURE)}; put it into the folder, where it can be read page by page.`);
  let content: Uint8Array;
  try {
    content = new Uint8Array(await file.arrayBuffer());
  } catch {
    return refused("It cannot be read: it is a folder, is gone by now, or may not be read here.");
  }
  if (!isPicture(content)) {
    if (size > LONGEST_TEXT) return refused(`It is longer than ${LONGEST_TEXT / 1024} KiB; put it into the folder, where it can be read page by page.`);
    if (!isText(content)) return refused("It is neither text nor a picture (PNG, JPEG, GIF or WebP); put it into the folder.");
  }
  return { name, size, content: base64(content) };
}

/** What is wrong with them together. */
export function tooMuch(all: Attached[]): string | null {
  if (all.length > MOST_FILES) return `${plural(all.length, "file")} are more than the ${MOST_FILES} that may go with one message.`;
  const together = all.reduce((sum, { size }) => sum + size, 0);
  return together > MOST_TOGETHER ? `They have ${bytes(together)} together, and may have ${bytes(MOST_TOGETHER)}.` : null;
}

/** Whether they may be sent as they are. */
export const isFit = (all: Attached[]): boolean => tooMuch(all) === null && all.every(({ problem }) => problem === undefined);

export const asSent = (all: Attached[]): Schemas["AttachmentRequest"][] => all.map(({ name, content }) => ({ name, content }));

const BEGINNINGS = [[0x89, 0x50, 0x4e, 0x47], [0xff, 0xd8, 0xff], [0x47, 0x49, 0x46, 0x38], [0x52, 0x49, 0x46, 0x46]];
const isPicture = (content: Uint8Array): boolean => BEGINNINGS.some((bytes) => bytes.every((byte, index) => content[index] === byte));

function isText(content: Uint8Array): boolean {
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(content);
    return true;
  } catch {
    return false;
  }
}

function base64(content: Uint8Array): string {
  let letters = "";
  for (let at = 0; at < content.length; at += 8_190) letters += btoa(String.fromCharCode(...content.subarray(at, at + 8_190)));
  return letters;
}
