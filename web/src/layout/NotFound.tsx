import { Empty } from "../parts/States";

export function NotFound() {
  return <Empty title="There is nothing at this address."><p>What was there may be over. <a href="/review">Review</a> has what waits for you.</p></Empty>;
}
