// Where the messages of a long conversation lie: measured heights, and a guess for those that
// were not shown yet. Only what is near the window is in the document.

export interface Window {
  first: number;
  last: number; // behind the last one
  above: number; // pixels of what is left out
  below: number;
}

const GUESS = 140;
const MARGIN = 800; // pixels beyond the window on both sides

export class Heights {
  private readonly measured = new Map<string, number>();

  // The guess stays the same, so that nothing moves but by what was measured.
  of(id: string): number {
    return this.measured.get(id) ?? GUESS;
  }

  // How much taller it is than it was taken for.
  set(id: string, height: number): number {
    const grown = height - this.of(id);
    this.measured.set(id, height);
    return grown;
  }

  total(ids: readonly string[]): number {
    return ids.reduce((sum, id) => sum + this.of(id), 0);
  }

  // Where a message begins.
  topOf(ids: readonly string[], wanted: string): number {
    let top = 0;
    for (const id of ids) {
      if (id === wanted) return top;
      top += this.of(id);
    }
    return top;
  }

  window(ids: readonly string[], scrollTop: number, viewHeight: number): Window {
    const from = scrollTop - MARGIN;
    const to = scrollTop + viewHeight + MARGIN;
    let top = 0;
    let first = 0;
    while (first < ids.length && top + this.of(ids[first]!) < from) top += this.of(ids[first++]!);
    const above = top;
    let last = first;
    while (last < ids.length && top < to) top += this.of(ids[last++]!);
    let below = 0;
    for (let i = last; i < ids.length; i++) below += this.of(ids[i]!);
    return { first, last, above, below };
  }
}
