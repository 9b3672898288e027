// Every page and its address. Whoever is not signed in is asked to at the same address, so that a deep link leads where it says.
import { createRootRoute, createRoute, createRouter, lazyRouteComponent, redirect } from "@tanstack/react-router";

import type { Surface } from "./api/types";
import { ActivityPage } from "./activity/ActivityPage";
import { NotFound } from "./layout/NotFound";
import { PageFailed } from "./layout/PageFailed";
import { Shell } from "./layout/Shell";
import { Failed } from "./parts/States";
import { ReviewPage } from "./review/ReviewPage";
import { StreamPage } from "./stream/StreamPage";

const root = createRootRoute({ component: Shell, notFoundComponent: NotFound, errorComponent: ({ error }) => <Failed error={error} /> });

/** Whether a new one is asked for there. */
const anew = (search: Record<string, unknown>): { new?: true } => (search.new === true ? { new: true } : {});

const home = createRoute({
  getParentRoute: () => root,
  path: "/",
  beforeLoad: () => {
    throw redirect({ to: "/review" });
  },
});
const review = createRoute({ getParentRoute: () => root, path: "/review", component: ReviewPage });
const reviewOne = createRoute({ getParentRoute: () => root, path: "/review/$id", component: ReviewPage });
const stream = createRoute({ getParentRoute: () => root, path: "/stream", component: StreamPage });
const streamOne = createRoute({ getParentRoute: () => root, path: "/stream/$session", component: StreamPage });
const activity = createRoute({
  getParentRoute: () => root,
  path: "/activity",
  component: ActivityPage,
  validateSearch: (search: Record<string, unknown>): { about?: string; find?: string; all?: boolean; surface?: Surface } => ({
    ...(typeof search.about === "string" ? { about: search.about } : {}),
    ...(typeof search.find === "string" ? { find: search.find } : {}),
    ...(search.all === true ? { all: true } : {}),
    ...(search.surface === "stream" || search.surface === "review" || search.surface === "activity" ? { surface: search.surface } : {}),
  }),
});
const tasks = createRoute({ getParentRoute: () => root, path: "/tasks", component: lazyRouteComponent(() => import("./task/TasksPage"), "TasksPage"), validateSearch: anew });
const task = createRoute({
  getParentRoute: () => root,
  path: "/tasks/$task",
  component: lazyRouteComponent(() => import("./task/TaskPage"), "TaskPage"),
  validateSearch: (search: Record<string, unknown>): { atom?: string } => (typeof search.atom === "string" ? { atom: search.atom } : {}),
});
const execution = createRoute({
  getParentRoute: () => root,
  path: "/executions/$execution",
  component: lazyRouteComponent(() => import("./execution/ExecutionPage"), "ExecutionPage"),
  validateSearch: (search: Record<string, unknown>): { view?: "journal" | "recording" } =>
    search.view === "journal" || search.view === "recording" ? { view: search.view } : {},
});
const terminals = createRoute({ getParentRoute: () => root, path: "/terminals", component: lazyRouteComponent(() => import("./terminals/TerminalsPage"), "TerminalsPage") });
const house = ["agents", "patterns", "skills", "gates", "schedules", "dead-letters", "settings"] as const;
const housePages = () => import("./house/pages");
const [agents, patterns, skills, gates, schedules, deadLetters, settings] = [
  createRoute({ getParentRoute: () => root, path: house[0], component: lazyRouteComponent(housePages, "AgentsPage"), validateSearch: (search: Record<string, unknown>): { agent?: string } => (typeof search.agent === "string" ? { agent: search.agent } : {}) }),
  createRoute({ getParentRoute: () => root, path: house[1], component: lazyRouteComponent(housePages, "PatternsPage") }),
  createRoute({ getParentRoute: () => root, path: house[2], component: lazyRouteComponent(housePages, "SkillsPage") }),
  createRoute({ getParentRoute: () => root, path: house[3], component: lazyRouteComponent(housePages, "GatesPage") }),
  createRoute({ getParentRoute: () => root, path: house[4], component: lazyRouteComponent(housePages, "SchedulesPage"), validateSearch: anew }),
  createRoute({ getParentRoute: () => root, path: house[5], component: lazyRouteComponent(housePages, "DeadLettersPage") }),
  createRoute({ getParentRoute: () => root, path: house[6], component: lazyRouteComponent(housePages, "SettingsPage") }),
] as const;

export const router = createRouter({
  routeTree: root.addChildren([
    home, review, reviewOne, stream, streamOne, activity, tasks, task, execution, terminals,
    agents, patterns, skills, gates, schedules, deadLetters, settings,
  ]),
  // A page fails alone: what stands around it stays.
  defaultErrorComponent: PageFailed,
  defaultPreload: "intent",
  scrollRestoration: true,
});

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}
