import { useEffect, useState } from "react";

/** An address of this page's own for it, of a type that we choose and that runs nothing. */
export function useAddress(content: Blob | undefined, type: string | undefined): string | null {
  const [url, setUrl] = useState<string | null>(null);
  useEffect(() => {
    if (type === undefined || content === undefined) return;
    const made = URL.createObjectURL(new Blob([content], { type }));
    setUrl(made);
    return () => {
      URL.revokeObjectURL(made);
      setUrl(null);
    };
  }, [content, type]);
  return url;
}
