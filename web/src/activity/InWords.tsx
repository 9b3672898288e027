// A sentence of ours, which names things between backticks.
import { Visible } from "../text/Visible";

export function InWords({ says }: { says: string }) {
  return <>{says.split("`").map((part, index) => (index % 2 === 1 ? <code key={index}><Visible text={part} /></code> : <Visible key={index} text={part} isPiece />))}</>;
}
