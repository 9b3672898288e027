// The few pictures that there are, drawn by lines.
const PATHS = {
  review: "M3 4h10v8H3zM5.500 8l2 2 3-4",
  stream: "M2.500 3.500h11v7h-6l-3 2.500v-2.500h-2z",
  activity: "M2 8h3l2-4.500 3 9 2-4.500h2",
  tasks: "M3 4h.01M6 4h7M3 8h.01M6 8h7M3 12h.01M6 12h7",
  terminal: "M2.500 3h11v10h-11zM5 6l2 2-2 2M8.500 10.500h2.500",
  agents: "M8 7.500a2.500 2.500 0 1 0 0-5 2.500 2.500 0 0 0 0 5zM3 13.500c0-2.800 2.200-4.500 5-4.500s5 1.700 5 4.500",
  patterns: "M2.500 3h4v4h-4zM9.500 9h4v4h-4zM6.500 5h3a2 2 0 0 1 2 2v2",
  skills: "M8 4c-1.500-1-3.500-1.300-5.500-1v9c2-.3 4 0 5.500 1 1.500-1 3.500-1.300 5.500-1V3c-2-.3-4 0-5.500 1zM8 4v9",
  gates: "M8 2l5 2v4c0 3-2 5-5 6-3-1-5-3-5-6V4z",
  schedules: "M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12zM8 5v3.500l2.500 1.500",
  letters: "M2.500 4h11v8h-11zM2.500 4.500L8 9l5.500-4.500",
  settings: "M8 10a2 2 0 1 0 0-4 2 2 0 0 0 0 4zM8 2v2M8 12v2M2 8h2M12 8h2M3.800 3.800l1.400 1.400M10.800 10.800l1.400 1.400M12.200 3.800l-1.400 1.400M5.200 10.800l-1.400 1.400",
  search: "M7 11.500a4.500 4.500 0 1 0 0-9 4.500 4.500 0 0 0 0 9zM10.500 10.500L14 14",
  more: "M3 8h.01M8 8h.01M13 8h.01",
  close: "M4 4l8 8M12 4l-8 8",
  theme: "M8 13.500a5.500 5.500 0 1 0 0-11zM8 13.500a5.500 5.500 0 1 1 0-11",
  attach: "M13 7.500l-5.200 5.200a3 3 0 0 1-4.300-4.300l5.700-5.700a2 2 0 0 1 2.900 2.900l-5.600 5.600a1 1 0 0 1-1.500-1.500l5-5",
  send: "M8 13V3M4 7l4-4 4 4",
  right: "M6 3.500L10.500 8 6 12.500",
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name }: { name: IconName }) {
  return (
    <svg className="icon" viewBox="0 0 16 16" aria-hidden="true">
      <path d={PATHS[name]} />
    </svg>
  );
}
