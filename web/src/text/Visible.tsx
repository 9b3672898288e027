// Text of somebody else's with nothing hidden in it. See `visible.ts`.
import { memo, useMemo } from "react";

import { visible } from "./visible";

/** `isPiece`: more of the same line stands behind it, and a blank at its end hides nothing. */
export const Visible = memo(function Visible({ text, isPiece = false }: { text: string; isPiece?: boolean }) {
  const pieces = useMemo(() => visible(text, isPiece), [text, isPiece]);
  return (
    <bdi className="visible">
      {pieces.map(({ text, odd }, index) => (odd ? <mark key={index} className="odd">{text}</mark> : text))}
    </bdi>
  );
});
