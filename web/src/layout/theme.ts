// Light, dark, or as the system has it. It is a choice of this browser, and nothing secret.
export type Theme = "system" | "light" | "dark";
const NAME = "windlass.theme";

export function theme(): Theme {
  const kept = localStorage.getItem(NAME);
  return kept === "light" || kept === "dark" ? kept : "system";
}

export function setTheme(to: Theme): void {
  if (to === "system") localStorage.removeItem(NAME);
  else localStorage.setItem(NAME, to);
  applyTheme();
}

export function applyTheme(): void {
  const chosen = theme();
  if (chosen === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = chosen;
}
