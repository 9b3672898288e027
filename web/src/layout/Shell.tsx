// What stands around every page: where one can go, whether the server is there, the palette and the keys.
import { Outlet, useNavigate, useRouterState } from "@tanstack/react-router";
import { useEffect, useState } from "react";

import { useKeys } from "../parts/keys";
import { DesktopNotices } from "../review/DesktopNotices";
import { Arrival } from "./Arrival";
import { Hearing } from "./Hearing";
import { KeyboardHelp } from "./KeyboardHelp";
import { Navigation } from "./Navigation";
import { Palette } from "./Palette";
import { useGoing } from "./useGoing";
import "./Shell.css";

export function Shell() {
  const [open, setOpen] = useState<"palette" | "keys" | null>(null);
  const [isNavOpen, setNavOpen] = useState(false);
  const navigate = useNavigate();
  const at = useRouterState({ select: (state) => state.location.pathname });

  useEffect(() => setNavOpen(false), [at]);
  useEffect(() => {
    const pressed = (event: KeyboardEvent) => {
      if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k") {
        event.preventDefault();
        setOpen((now) => (now === "palette" ? null : "palette"));
      }
    };
    window.addEventListener("keydown", pressed);
    return () => window.removeEventListener("keydown", pressed);
  }, []);
  const isGoing = useGoing((to) => void navigate({ to }));
  useKeys({ "?": () => setOpen("keys"), "/": () => setOpen("palette") });

  return (
    <div className="shell">
      <a className="skip" href="#page">To the page</a>
      <Navigation isOpen={isNavOpen} onMore={() => setNavOpen(!isNavOpen)} onPalette={() => setOpen("palette")} onKeys={() => setOpen("keys")} />
      <div className="beside-nav">
        <Hearing />
        <Arrival at={at} />
        <main id="page" tabIndex={-1}>
          <Outlet />
        </main>
      </div>
      <DesktopNotices />
      <div role="status">{isGoing && <p className="going"><kbd>g</kbd> … go to: the next key says where</p>}</div>
      {open === "palette" && <Palette onClose={() => setOpen(null)} onKeys={() => setOpen("keys")} />}
      {open === "keys" && <KeyboardHelp onClose={() => setOpen(null)} />}
    </div>
  );
}
