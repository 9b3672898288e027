// A sum as it grew, drawn in steps.
import { clock } from "../text/format";

export function Plot({ name, points, told }: { name: string; points: [number, number][]; told(value: number): string }) {
  const [first, last] = [points[0], points.at(-1)];
  if (first === undefined || last === undefined) return null;
  const width = Math.max(1, last[0] - first[0]);
  const most = Math.max(1e-9, last[1]);
  const place = ([at, value]: [number, number]): [number, number] => [((at - first[0]) / width) * 100, 40 - (value / most) * 38];
  let path = "M0 40";
  for (const point of points) {
    const [x, y] = place(point);
    path += `H${x.toFixed(2)}V${y.toFixed(2)}`;
  }
  path += "H100";
  return (
    <figure className="stack" style={{ margin: 0 }}>
      <figcaption className="spread small"><span>{name}</span><span className="muted number">{told(last[1])}</span></figcaption>
      <svg className="plot" viewBox="0 0 100 40" preserveAspectRatio="none" role="img" aria-label={`${name} over time, up to ${told(last[1])}`}>
        <path className="area" d={`${path}V40Z`} />
        <path className="stroke" d={path} />
        <path className="base" d="M0 40H100" />
      </svg>
      <div className="spread muted small number"><span>{clock(first[0])}</span><span>{clock(last[0])}</span></div>
    </figure>
  );
}
