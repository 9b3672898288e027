// Whether one reads at the end of a page that grows there.

/** So near the end of the page counts as there. */
const NEAR = 160;

export const isAtEnd = (): boolean => window.innerHeight + window.scrollY > document.documentElement.scrollHeight - NEAR;
