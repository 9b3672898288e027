export function AgentsPage() { return null; }
export function PatternsPage() { return null; }
export function SkillsPage() { return null; }
export function GatesPage() { return null; }
export function SchedulesPage() { return null; }
export function DeadLettersPage() { return null; }
export function SettingsPage() { return null; }
