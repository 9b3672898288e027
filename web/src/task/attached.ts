// Files that are to go with words, as the server takes them: a text or a picture, in base64.
export interface Attached {
  name: string;
  content: string;
  bytes: number;
}

export const MOST_FILES = 50;

export async function attached(files: Iterable<File>): Promise<Attached[]> {
  return Promise.all([...files].map(async (file) => ({ name: file.name || "pasted", content: base64(new Uint8Array(await file.arrayBuffer())), bytes: file.size })));
}

/** A piece at a time: what is called with all of a large file at once has too many arguments. */
function base64(bytes: Uint8Array): string {
  let letters = "";
  for (let from = 0; from < bytes.length; from += 30_000) letters += String.fromCharCode(...bytes.subarray(from, from + 30_000));
  return btoa(letters);
}
