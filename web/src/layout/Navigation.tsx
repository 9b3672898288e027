// The way to every page: beside it where there is room, and at the foot of a phone, where the rest is one touch away.
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";

import { questions, waiting, whoami } from "../api/queries";
import { setToken } from "../api/token";
import { Icon } from "../parts/Icon";
import { Visible } from "../text/Visible";
import { type Place, PLACES } from "./places";
import { setTheme, type Theme, theme } from "./theme";
import "./Navigation.css";

interface NavigationProps {
  isOpen: boolean;
  onMore(): void;
  onPalette(): void;
  onKeys(): void;
}

export function Navigation({ isOpen, onMore, onPalette, onKeys }: NavigationProps) {
  const who = useQuery(whoami).data;
  const count = (useQuery(waiting).data?.length ?? 0) + (useQuery(questions).data?.length ?? 0);
  const group = (name: Place["group"]) =>
    PLACES.filter((place) => place.group === name).map((place) => (
      <li key={place.to}>
        <Link to={place.to} activeProps={{ "aria-current": "page" }}>
          <Icon name={place.icon} />
          <span>{place.name}</span>
          {place.to === "/review" && count > 0 && <span className="count number">{count}<span className="sr"> waiting</span></span>}
        </Link>
      </li>
    ));
  return (
    <nav className={isOpen ? "nav open" : "nav"} aria-label="Console">
      <div className="brand">
        <svg className="icon" viewBox="0 0 16 16" aria-hidden="true"><path d="M8 12.500a4.500 4.500 0 1 0 0-9 4.500 4.500 0 0 0 0 9zM8 8h.01M8 1v2.500M8 12.500V15M1 8h2.500M12.500 8H15M3 3l1.800 1.800M11.200 11.200L13 13M13 3l-1.800 1.800M4.800 11.200L3 13" /></svg>
        Windlass
      </div>
      <button type="button" className="find" onClick={onPalette}>
        <Icon name="search" /> <span>Go to or do …</span> <kbd>Ctrl K</kbd>
      </button>
      <ul className="surfaces">
        {group("surfaces")}
        <li className="more">
          <button type="button" aria-expanded={isOpen} onClick={onMore}>
            <Icon name={isOpen ? "close" : "more"} />
            <span>More</span>
          </button>
        </li>
      </ul>
      <div className="rest">
        <h2>Work</h2>
        <ul>{group("work")}</ul>
        <h2>House</h2>
        <ul>{group("house")}</ul>
        <div className="foot">
          <ThemeSwitch />
          <button type="button" className="quiet" onClick={onKeys}>Keys <kbd>?</kbd></button>
          {who !== undefined && (
            <p className="small">
              <span className="muted"><Visible text={who.tenant === "local" ? who.name : `${who.name} · ${who.tenant}`} /></span>
              <button type="button" className="quiet" onClick={() => setToken(null)}>Sign out</button>
            </p>
          )}
        </div>
      </div>
    </nav>
  );
}

function ThemeSwitch() {
  const [now, setNow] = useState<Theme>(theme);
  return (
    <label className="theme">
      <span className="sr">Colours</span>
      <select
        value={now}
        onChange={(event) => {
          const chosen = event.target.value as Theme;
          setTheme(chosen);
          setNow(chosen);
        }}
      >
        <option value="system">Colours: system</option>
        <option value="light">Colours: light</option>
        <option value="dark">Colours: dark</option>
      </select>
    </label>
  );
}
