// A link in somebody else's words: it says which host it leads to, tells that host nothing, and leads nowhere but to the web.
import type { ReactNode } from "react";

export function Link({ href, children }: { href: string; children: ReactNode }) {
  const to = safe(href);
  if (to === null) return <span className="no-link" title={`Leads nowhere from here: ${href}`}>{children}</span>;
  return (
    <a href={to.href} target="_blank" rel="noreferrer noopener" className="out">
      {children} <span className="host">({to.host})</span>
    </a>
  );
}

export function safe(href: string): URL | null {
  try {
    const url = new URL(href);
    const isWeb = url.protocol === "https:" || url.protocol === "http:";
    // A name and a password in it are there to be taken for a host.
    return isWeb && !url.username && !url.password ? url : null;
  } catch {
    return null;
  }
}
