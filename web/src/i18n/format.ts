// Texts with places: `{name}` is a value, `{n:token|tokens}` the word for one or for more.

export type Values = Record<string, string | number>;

export function fill(text: string, values: Values, number: (value: number) => string): string {
  return text.replace(/\{(\w+)(?::([^|}]*)\|([^}]*))?\}/g, (whole, name: string, one?: string, many?: string) => {
    const value = values[name];
    if (value === undefined) return whole;
    if (one !== undefined) return value === 1 ? one : many!;
    return typeof value === "number" ? number(value) : value;
  });
}
