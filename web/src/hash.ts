// The state of the page in its address, so that a link restores it.

export interface State {
  view: string;
  [name: string]: string;
}

export function read(hash: string): State {
  return { view: "see", ...Object.fromEntries(new URLSearchParams(hash.replace(/^#/, ""))) };
}

/** Returns the address; commas between numbers stay legible. */
export function write(state: State): string {
  return `#${new URLSearchParams(state).toString().replace(/%2C\+?/g, ",")}`;
}

/** Changes a part of the state, without a new entry in the history. */
export function change(part: Record<string, string | undefined>): void {
  const state = { ...read(location.hash), ...part };
  const known = Object.fromEntries(Object.entries(state).filter(([, value]) => value !== undefined)) as State;
  history.replaceState(null, "", write(known));
}
