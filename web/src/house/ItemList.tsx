// Things of one kind, each with its name, a sentence and what else there is of it behind that.
import { type ReactNode, useState } from "react";

import { Empty } from "../parts/States";
import { Printed } from "../text/Printed";
import { Visible } from "../text/Visible";
import "./House.css";

export interface Item {
  key: string;
  name: string;
  about?: string | undefined;
  marks?: ReactNode;
  raw: unknown;
  /** What may be done with it. */
  act?: ReactNode;
}

/** `open`: the key of one that is open from the beginning. */
export function ItemList({ items, empty, hint, open }: { items: Item[]; empty: string; hint: ReactNode; open?: string | undefined }) {
  const [find, setFind] = useState("");
  const shown = items.filter(({ name, about = "" }) => `${name} ${about}`.toLowerCase().includes(find.toLowerCase()));
  if (items.length === 0) return <Empty title={empty}>{hint}</Empty>;
  return (
    <>
      {items.length > 8 && <input type="search" className="find-here" aria-label="Find" placeholder="Find …" value={find} onChange={(event) => setFind(event.target.value)} />}
      <ul className="house-list">
        {shown.map((item) => <li key={item.key}><ItemView key={String(item.key === open)} item={item} isFirst={item.key === open} /></li>)}
      </ul>
      <div className="muted small hint">{hint}</div>
    </>
  );
}

function ItemView({ item, isFirst }: { item: Item; isFirst: boolean }) {
  const [isOpen, setOpen] = useState(isFirst);
  return (
    <details open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        <span className="head"><strong><Visible text={item.name} /></strong>{item.marks}</span>
        {item.about !== undefined && <span className="muted"><Visible text={item.about} /></span>}
      </summary>
      {isOpen && item.act !== undefined && <div className="bare">{item.act}</div>}
      {isOpen && <Printed text={JSON.stringify(item.raw, null, 2)} />}
    </details>
  );
}
