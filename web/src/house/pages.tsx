// The pages of the house: one piece for all of them, since they are small.
export { AgentsPage } from "./AgentsPage";
export { DeadLettersPage } from "./DeadLettersPage";
export { GatesPage } from "./GatesPage";
export { PatternsPage } from "./PatternsPage";
export { SchedulesPage } from "./SchedulesPage";
export { SettingsPage } from "./SettingsPage";
export { SkillsPage } from "./SkillsPage";
