import { expect, test } from "vitest";

import { en } from "./en";
import { fill } from "./format";
import { detect } from "./index";
import { zhCN } from "./zh_cn";

test("both languages have the same places in each text", () => {
  for (const key of Object.keys(en) as (keyof typeof en)[]) {
    const places = (text: string): string[] =>
      [...new Set([...text.matchAll(/\{(\w+)/g)].map((match) => match[1]!))].sort();
    expect([key, places(zhCN[key])]).toEqual([key, places(en[key])]);
  }
});

test("the first language that the page speaks", () => {
  expect(detect(["fr", "zh-TW", "en"])).toBe("zh-CN");
  expect(detect(["en-GB", "zh"])).toBe("en");
  expect(detect(["fr"])).toBe("en");
});

test("places are filled, words follow their number", () => {
  const number = (value: number): string => value.toLocaleString("en");
  expect(fill("{n} {n:token|tokens} of {all}", { n: 1, all: 12345 }, number)).toBe("1 token of 12,345");
  expect(fill("{n} {n:token|tokens}", { n: 2 }, number)).toBe("2 tokens");
  expect(fill("“{title}” {absent}", { title: "$&" }, number)).toBe("“$&” {absent}");
});
