// Who one is here, and what this browser may do.
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";

import { whoami } from "../api/queries";
import { Badge } from "../parts/Badge";
import { Page } from "../parts/Page";
import { Shown } from "../parts/Shown";
import "./House.css";

const GOOD_FOR: Record<string, string> = {
  read: "looking at everything of its tenant",
  write: "asking for work, saying something to it, pausing and ending it",
  approve: "saying yes and no, starting and redirecting",
  admin: "the audit and dead letters",
  terminal: "typing into terminals",
};

export function SettingsPage() {
  const found = useQuery(whoami);
  const [may, setMay] = useState(() => ("Notification" in window ? Notification.permission : "denied"));
  return (
    <Page title="Settings">
      <div className="stack">
        <section className="panel">
          <header><h2>This token</h2></header>
          <div className="body">
            <Shown query={found} what="whose token it is">
              {(who) => (
                <dl className="facts">
                  <dt>Name</dt><dd>{who.name}</dd>
                  <dt>Tenant</dt><dd>{who.tenant}</dd>
                  {who.scopes.map((scope) => <div key={scope} style={{ display: "contents" }}><dt><Badge>{scope}</Badge></dt><dd>{GOOD_FOR[scope]}</dd></div>)}
                </dl>
              )}
            </Shown>
          </div>
        </section>
        <section className="panel">
          <header><h2>Notices of the desktop</h2></header>
          <div className="body stack">
            <p className="muted">While you look elsewhere, a notice says that something waits for you. It says no more than that.</p>
            {may === "granted" && <p>They are on; the browser’s own settings turn them off.</p>}
            {may === "denied" && <p>The browser does not allow them here.</p>}
            {may === "default" && <p><button type="button" onClick={() => void Notification.requestPermission().then(setMay)}>Allow them …</button></p>}
          </div>
        </section>
        <section className="panel">
          <header><h2>Of the server</h2></header>
          <div className="body stack">
            <p>Models, gates, workspaces and limits are the operator’s: they stand in <code>windlass.toml</code> and cannot be changed from here.</p>
            <p><a href="/openapi.json">The document of the API</a></p>
          </div>
        </section>
      </div>
    </Page>
  );
}
