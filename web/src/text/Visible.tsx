// Text of somebody else's with nothing hidden in it. See `visible.ts`.
import { memo, useMemo } from "react";

import { visible } from "./visible";

export const Visible = memo(function Visible({ text }: { text: string }) {
  const pieces = useMemo(() => visible(text), [text]);
  return (
    <bdi className="visible">
      {pieces.map(({ text, odd }, index) => (odd ? <mark key={index} className="odd">{text}</mark> : text))}
    </bdi>
  );
});
