// What waits behind the card on top.
import { Link } from "@tanstack/react-router";

import type { Waiting } from "../api/types";
import { Ago } from "../parts/Ago";
import { Badge, Risk } from "../parts/Badge";
import { firstLine } from "../text/format";
import { Visible } from "../text/Visible";

const MOST = 30;

export function UpNext({ items }: { items: Waiting[] }) {
  return (
    <aside className="up-next" aria-label="Up next">
      <h2>Up next</h2>
      <ol>
        {items.slice(0, MOST).map((item) => (
          <li key={item.id}>
            <Link to="/review/$id" params={{ id: item.id }}>
              <div className="spread">
                {item.kind === "card" ? <Risk level={item.card.risk_level} /> : <Badge tone="accent">question</Badge>}
                {item.askedAt !== null && <span className="muted small"><Ago at={item.askedAt} /></span>}
              </div>
              <div className="name"><Visible text={firstLine(item.kind === "card" ? item.card.intent : item.asked.question)} /></div>
            </Link>
          </li>
        ))}
      </ol>
      {items.length > MOST && <p className="muted small">and {items.length - MOST} more</p>}
    </aside>
  );
}
