// The name of the page in the browser's tab, with how much waits for somebody before it.
import { shown } from "../text/visible";

let page = "";
let waiting = 0;

export function nameTab(title: string): void {
  page = shown(title);
  write();
}

export function countInTab(count: number): void {
  waiting = count;
  write();
}

function write(): void {
  document.title = `${waiting > 0 ? `(${waiting}) ` : ""}${page === "" ? "" : `${page} · `}Windlass`;
}
