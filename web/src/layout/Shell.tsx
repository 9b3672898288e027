// What stands around every page: where one can go, whether the server is there, the palette and the keys.
import { Outlet, useNavigate, useRouterState } from "@tanstack/react-router";
import { useEffect, useRef, useState } from "react";

import { useKeys } from "../parts/keys";
import { DesktopNotices } from "../review/DesktopNotices";
import { Arrival } from "./Arrival";
import { Hearing } from "./Hearing";
import { KeyboardHelp } from "./KeyboardHelp";
import { Navigation } from "./Navigation";
import { Palette } from "./Palette";
import { PLACES } from "./places";
import "./Shell.css";

const TO_GO = 1_200;

export function Shell() {
  const [open, setOpen] = useState<"palette" | "keys" | null>(null);
  /** Until when the next key says where to go. No state: the second key may come before anything is drawn. */
  const going = useRef(0);
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
  useEffect(() => {
    const pressed = (event: KeyboardEvent) => {
      const place = performance.now() < going.current ? PLACES.find(({ key }) => key === event.key) : undefined;
      going.current = 0;
      if (place === undefined) return;
      event.preventDefault();
      event.stopPropagation();
      void navigate({ to: place.to });
    };
    window.addEventListener("keydown", pressed, { capture: true });
    return () => window.removeEventListener("keydown", pressed, { capture: true });
  }, [navigate]);
  useKeys({ "?": () => setOpen("keys"), "/": () => setOpen("palette"), g: () => void (going.current = performance.now() + TO_GO) });

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
      {open === "palette" && <Palette onClose={() => setOpen(null)} onKeys={() => setOpen("keys")} />}
      {open === "keys" && <KeyboardHelp onClose={() => setOpen(null)} />}
    </div>
  );
}
