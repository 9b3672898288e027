// A page: its name, what belongs beside the name, and what is on it.
import { type ReactNode, useEffect } from "react";

import { Visible } from "../text/Visible";
import { nameTab } from "./title";
import "./Page.css";

export function Page({ title, beside, wide = false, children }: { title: string; beside?: ReactNode; wide?: boolean; children: ReactNode }) {
  useEffect(() => nameTab(title), [title]);
  return (
    <div className={wide ? "page wide" : "page"}>
      <header className="page-head">
        <h1><Visible text={title} /></h1>
        {beside}
      </header>
      {children}
    </div>
  );
}
