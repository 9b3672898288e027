// Asks for the token. It is tried before it is kept, and kept for this tab alone.
import { type FormEvent, useEffect, useState } from "react";

import { asProblem, problemOf, unreachable } from "../api/problem";
import { setToken } from "../api/token";
import { Refused } from "../parts/States";
import "./SignIn.css";

export function SignIn({ isLost }: { isLost: boolean }) {
  const [typed, setTyped] = useState("");
  const [refused, setRefused] = useState<unknown>(null);
  const [isTrying, setTrying] = useState(false);
  useEffect(() => {
    document.title = "Sign in · Windlass";
  }, []);

  const enter = async (event: FormEvent) => {
    event.preventDefault();
    setTrying(true);
    setRefused(null);
    try {
      const bearer = typed.trim();
      const response = await fetch("/v1/whoami", { headers: { Authorization: `Bearer ${bearer}` }, cache: "no-store", credentials: "omit" }).catch(() => {
        throw unreachable();
      });
      if (!response.ok) throw await problemOf(response);
      setToken(bearer);
    } catch (error) {
      const problem = asProblem(error);
      setRefused(problem.status === 401 ? new Error("The server does not know this token, or it has expired.") : problem);
      setTrying(false);
    }
  };

  return (
    <main className="sign-in">
      <form onSubmit={(event) => void enter(event)} className="panel">
        <h1>Windlass</h1>
        <p className="muted">{isLost ? "The token is good no more: it was taken back, or has expired." : "Who is there? Paste a token of this server."}</p>
        <label>
          Token
          <input type="password" autoComplete="off" spellCheck={false} autoFocus required value={typed} onChange={(event) => setTyped(event.target.value)} />
        </label>
        <Refused error={refused} />
        <button type="submit" className="primary" disabled={isTrying || typed.trim() === ""}>
          {isTrying ? "Trying …" : "Sign in"}
        </button>
        <details>
          <summary>Where do I find it?</summary>
          <p>
            Your own is in the file <code>token</code> of the data directory: <code>windlass serve</code> says where when it starts. Whoever looks after
            the server makes one for somebody else with <code>windlass token add NAME --scope read,write,approve</code>.
          </p>
        </details>
        <p className="muted small">It is kept for this tab until you close it, and sent to no other server.</p>
      </form>
    </main>
  );
}
