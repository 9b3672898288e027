// What a list has besides what is shown of it, a page at a time.
interface Pages {
  hasNextPage: boolean;
  isFetchingNextPage: boolean;
  fetchNextPage(): unknown;
}

export function More({ of: found, says = "More" }: { of: Pages; says?: string }) {
  if (!found.hasNextPage) return null;
  return <p className="row earlier"><button type="button" disabled={found.isFetchingNextPage} onClick={() => void found.fetchNextPage()}>{says}</button></p>;
}
