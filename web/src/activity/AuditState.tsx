// Whether what happened is what was signed: looked at once, and then when somebody asks. Who may not ask is told that, and not that all is well.
import { useQuery } from "@tanstack/react-query";

import { auditVerified, whoami } from "../api/queries";
import { asProblem } from "../api/problem";
import { Badge } from "../parts/Badge";
import { clock } from "../text/format";
import { Visible } from "../text/Visible";

export function AuditState() {
  const scopes = useQuery(whoami).data?.scopes;
  const mayAsk = scopes?.includes("admin") ?? false;
  const verified = useQuery({ ...auditVerified, enabled: mayAsk });
  if (scopes === undefined) return null;
  if (!mayAsk) return <p className="muted small">Whether the audit is intact, a token with the scope <code>admin</code> is told.</p>;
  return (
    <div className="row small">
      {verified.data !== undefined && (
        <>
          <Badge tone={verified.data.intact ? "good" : "bad"}>{verified.data.intact ? "audit intact" : "audit broken"}</Badge>
          <span className="muted">
            <Visible text={verified.data.intact ? `${verified.data.events.toLocaleString("en")} events` : (verified.data.finding ?? "")} />, as of <time dateTime={new Date(verified.dataUpdatedAt).toISOString()}>{clock(verified.dataUpdatedAt)}</time>
          </span>
        </>
      )}
      {verified.isError && <span className="muted"><Visible text={asProblem(verified.error).message} /></span>}
      <button type="button" className="quiet" disabled={verified.isFetching} onClick={() => void verified.refetch()}>{verified.isFetching ? "Verifying …" : "Verify the audit"}</button>
    </div>
  );
}
