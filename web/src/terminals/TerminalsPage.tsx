export function TerminalsPage() { return null; }
