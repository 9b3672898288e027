// Words of somebody else's that are decided about: as they are written, to the last character, or read as Markdown with everything in it
// that Markdown would swallow.
import { Markdown } from "./Markdown";
import { Visible } from "./Visible";
import "./Written.css";

export function Written({ text, isRead = false }: { text: string; isRead?: boolean }) {
  return isRead ? <Markdown text={text} isWhole /> : <div className="written"><Visible text={text} /></div>;
}
