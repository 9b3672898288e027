// Who one is here, and what this browser may do.
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";

import { settings as asked, whoami } from "../api/queries";
import { Badge } from "../parts/Badge";
import { setLetters, useLetters } from "../parts/keys";
import { Page } from "../parts/Page";
import { Shown } from "../parts/Shown";
import { allow, may as mayNotify } from "../review/notices";
import { money, plural } from "../text/format";
import { Visible } from "../text/Visible";
import "./House.css";

const GOOD_FOR: Record<string, string> = {
  read: "looking at everything of its tenant",
  write: "asking for work, saying something to it, pausing and ending it",
  approve: "saying yes and no, starting and redirecting",
  admin: "the audit, dead letters, and trying out agents",
  terminal: "typing into terminals",
};

export function SettingsPage() {
  const found = useQuery(whoami);
  const settings = useQuery(asked);
  const letters = useLetters();
  const [may, setMay] = useState(mayNotify);
  return (
    <Page title="Settings">
      <div className="stack">
        <section className="panel">
          <header><h2>This token</h2></header>
          <div className="body">
            <Shown query={found} what="whose token it is">
              {(who) => (
                <dl className="facts">
                  <dt>Name</dt><dd><Visible text={who.name} /></dd>
                  <dt>Tenant</dt><dd><Visible text={who.tenant} /></dd>
                  {who.scopes.map((scope) => <div key={scope} className="fact"><dt><Badge>{scope}</Badge></dt><dd>{GOOD_FOR[scope]}</dd></div>)}
                </dl>
              )}
            </Shown>
          </div>
        </section>
        <section className="panel">
          <header><h2>Keys</h2></header>
          <div className="body stack">
            <label className="row">
              <input type="checkbox" checked={letters} onChange={(event) => setLetters(event.target.checked)} />
              Single letters and digits do something, as <kbd>a</kbd> in Review and <kbd>g</kbd> anywhere
            </label>
            <p className="muted">Without them everything is reached by <kbd>Tab</kbd>, <kbd>Enter</kbd>, <kbd>Esc</kbd> and <kbd>Ctrl K</kbd>. This browser remembers it.</p>
          </div>
        </section>
        <section className="panel">
          <header><h2>Notices of the desktop</h2></header>
          <div className="body stack">
            <p className="muted">While you look elsewhere, a notice says that something waits for you. It says no more than that.</p>
            {may === "granted" && <p>They are on; the browser’s own settings turn them off.</p>}
            {may === "denied" && <p>The browser does not allow them here.</p>}
            {may === "unsupported" && <p>This browser has none for pages.</p>}
            {may === "default" && <p><button type="button" onClick={() => void allow().then(setMay)}>Allow them …</button></p>}
          </div>
        </section>
        <section className="panel">
          <header><h2>Of the server</h2></header>
          <div className="body stack">
            <Shown query={settings} what="what the operator has set">
              {(set) => (
                <dl className="facts">
                  <dt>Version</dt><dd><Visible text={set.version} /></dd>
                  <dt>Folders for work</dt><dd>{set.workspaces.length === 0 ? "none is listed" : set.workspaces.map((folder) => <div key={folder} className="mono"><Visible text={folder} /></div>)}</dd>
                  <dt>Model</dt><dd><Visible text={set.model ?? "as each request says"} /></dd>
                  {set.planner_model && <><dt>For planners</dt><dd><Visible text={set.planner_model} /></dd></>}
                  {set.proxy_model && <><dt>For conversations</dt><dd><Visible text={set.proxy_model} /></dd></>}
                  <dt>A request may ask for</dt><dd className="number">{set.max_tokens.toLocaleString("en")} tokens · {money(set.max_cost_usd)} · {plural(set.max_attempts, "attempt")} of each item</dd>
                </dl>
              )}
            </Shown>
            <p className="muted">They are the operator’s, stand in <code>windlass.toml</code> and cannot be changed from here. Keys and tokens are shown to nobody.</p>
            <p><a href="/openapi.json">The document of the API</a></p>
          </div>
        </section>
      </div>
    </Page>
  );
}
