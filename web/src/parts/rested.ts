// What somebody types, once they rest: what is looked for or checked elsewhere is not asked about at each letter.
import { useEffect, useState } from "react";

const PAUSE = 400;

export function useRested<T>(value: T): T {
  const [rested, setRested] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setRested(value), PAUSE);
    return () => clearTimeout(timer);
  }, [value]);
  return rested;
}
