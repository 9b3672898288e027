export function ExecutionPage() { return null; }
