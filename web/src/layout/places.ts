// Where one can go: the three surfaces first, then the work, then the house. The key after `g` leads there.
import type { IconName } from "../parts/Icon";

export interface Place {
  to: "/review" | "/stream" | "/activity" | "/tasks" | "/terminals" | "/agents" | "/patterns" | "/skills" | "/gates" | "/schedules" | "/dead-letters" | "/settings";
  name: string;
  icon: IconName;
  key: string;
  group: "surfaces" | "work" | "house";
}

export const PLACES: Place[] = [
  { to: "/review", name: "Review", icon: "review", key: "r", group: "surfaces" },
  { to: "/stream", name: "Stream", icon: "stream", key: "s", group: "surfaces" },
  { to: "/activity", name: "Activity", icon: "activity", key: "a", group: "surfaces" },
  { to: "/tasks", name: "Tasks", icon: "tasks", key: "t", group: "work" },
  { to: "/terminals", name: "Terminals", icon: "terminal", key: "x", group: "work" },
  { to: "/schedules", name: "Schedules", icon: "schedules", key: "d", group: "work" },
  { to: "/agents", name: "Agents", icon: "agents", key: "n", group: "house" },
  { to: "/patterns", name: "Patterns", icon: "patterns", key: "p", group: "house" },
  { to: "/skills", name: "Skills", icon: "skills", key: "k", group: "house" },
  { to: "/gates", name: "Gates", icon: "gates", key: "e", group: "house" },
  { to: "/dead-letters", name: "Dead letters", icon: "letters", key: "l", group: "house" },
  { to: "/settings", name: "Settings", icon: "settings", key: "o", group: "house" },
];
