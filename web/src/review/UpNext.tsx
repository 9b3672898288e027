// What waits behind the card on top: all of it, so many at a time.
import { Link } from "@tanstack/react-router";
import { useState } from "react";

import type { Waiting } from "../api/types";
import { Ago } from "../parts/Ago";
import { Badge, Risk } from "../parts/Badge";
import { firstLine } from "../text/format";
import { Visible } from "../text/Visible";

const PAGE = 30;

export function UpNext({ items }: { items: Waiting[] }) {
  const [shown, setShown] = useState(PAGE);
  return (
    <aside className="up-next" aria-label="Up next">
      <h2>Up next</h2>
      <ol>
        {items.slice(0, shown).map((item) => (
          <li key={item.id}>
            <Link to="/review/$id" params={{ id: item.id }}>
              <div className="spread">
                {item.kind === "card" ? <Risk level={item.card.risk_level} /> : <Badge tone="accent">question</Badge>}
                {item.askedAt !== null && <span className="muted small"><Ago at={item.askedAt} /></span>}
              </div>
              <div className="name"><Visible text={firstLine(item.kind === "card" ? item.card.intent : item.asked.question)} /></div>
              {item.whose !== null && <div className="muted small name"><Visible text={[firstLine(item.whose.goal), item.whose.item].filter(Boolean).join(" · ")} /></div>}
            </Link>
          </li>
        ))}
      </ol>
      {items.length > shown && <button type="button" className="quiet" onClick={() => setShown(shown + PAGE)}>Show more of the {items.length - shown} others</button>}
    </aside>
  );
}
