import { createElement } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import { describe, expect, test } from "vitest";

import { ansi, plain } from "./ansi";
import { Diff } from "./Diff";
import { asPatch, difference, folded } from "./difference";
import { duration, money } from "./format";
import { safe } from "./Link";
import { Markdown } from "./Markdown";
import { shown } from "./visible";

const markup = (text: string): string => renderToStaticMarkup(createElement(Markdown, { text }));

describe("what cannot be seen is written out", () => {
  test.each([
    ["a\u202Eb", "a<U+202E>b"],
    ["tab\there", "tab<U+0009>here"],
    ["end  ", "end<U+0020><U+0020>"],
    ["end \nnext", "end<U+0020>\nnext"],
    ["zero\u200Bwidth", "zero<U+200B>width"],
    ["no\u00A0break", "no<U+00A0>break"],
    ["\u001b[31mred", "<U+001B>[31mred"],
    ["tag \u{E0041}", "tag <U+E0041>"],
    ["filler \u3164", "filler <U+3164>"],
    ["plain words, ümläute, 漢字 and 🎉", "plain words, ümläute, 漢字 and 🎉"],
  ])("%j", (text, expected) => expect(shown(text)).toBe(expected));
});

describe("escape sequences colour, and do nothing else", () => {
  test("colours", () => expect(ansi("a\u001b[1;31mb\u001b[0mc").map(({ text, paint }) => [text, paint])).toEqual([["a", ""], ["b", "ansi-31 ansi-b"], ["c", ""]]));
  test.each([
    ["\u001b]52;c;aGk=\u0007hi", "hi"],
    ["\u001b]0;title\u001b\\hi", "hi"],
    ["\u001b[2J\u001b[1;1Hhi", "hi"],
    ["\u001bP+q\u001b\\hi", "hi"],
    ["\u0007\u0000hi\u009b", "hi"],
    ["50%\r100%\ndone", "100%\ndone"],
    ["a\r\nb\r\r\nc", "a\nb\nc"],
    ["a\rb\r\nc\r", "b\n"],
    ["\r", ""],
    ["\r\n", "\n"],
    ["\u001b[38;2;1;2;3mhi\u001b[48;5;9m!", "hi!"],
  ])("%j", (text, expected) => expect(plain(text)).toBe(expected));
});

test("one line of fifty megabytes costs about its length, also where nothing but carriage returns or blanks stands in it", () => {
  const line = "minified;".repeat(5_600_000);
  expect(plain(line)).toBe(line);
  expect(plain(`${line}\rand over`)).toBe("and over");
  expect(plain(`${"\r".repeat(1_000_000)}and over`)).toBe("and over");
  const gap = `${" ".repeat(1_000_000)}x`;
  expect(shown(gap)).toBe(gap);
});

describe("markdown makes elements, and never markup", () => {
  test.each([
    ["<script>alert(1)</script>", "&lt;script&gt;alert(1)&lt;/script&gt;"],
    ["words <img src=x onerror=alert(1)> words", "&lt;img src=x onerror=alert(1)&gt;"],
    ["```html\n<b>\n```", "&lt;b&gt;"],
    ["a &lt;b&gt; c", "a &lt;b&gt; c"],
  ])("%j", (text, expected) => expect(markup(text)).toContain(expected));
  test.each(["[x](javascript:alert(1))", "[x](data:text/html,x)", "[x](JaVaScRiPt:1)", "[x](file:///etc/passwd)", "<javascript:alert(1)>", "[x](https://user:pass@evil.example)"])("no link: %s", (text) =>
    expect(markup(text)).not.toContain("<a "),
  );
  test("a picture is a link that says where it leads", () => {
    expect(markup("![cat](https://elsewhere.example/cat.png)")).toBe('<div class="markdown"><p><a href="https://elsewhere.example/cat.png" target="_blank" rel="noreferrer noopener" class="out">picture: cat <span class="host">(elsewhere.example)</span></a></p></div>');
  });
  test("tables, lists and tasks", () => {
    expect(markup("| a |\n|---|\n| b |")).toContain("<td>b</td>");
    expect(markup("3. c\n4. d")).toContain('<ol start="3">');
    expect(markup("- [x] done")).toContain("☑");
  });
  test("what is nested without end is words", () => expect(markup(">".repeat(500) + " deep")).toContain("deep"));
  test.each([["quotes", ">".repeat(100_000)], ["lists", "- ".repeat(20_000)], ["marks", "_a".repeat(90_000)]])("%s without end are shown as they are written", (_, text) => {
    expect(markup(`${text} deep`)).toMatch(/^<pre class="code-block".*deep<\/pre>$/s);
  });
});

test("links lead to the web alone", () => {
  expect(safe("https://a.example/b")?.host).toBe("a.example");
  for (const bad of ["", "//a.example", "/v1/tasks", "mailto:a@b.example", "https://a@b.example"]) expect(safe(bad)).toBeNull();
});

describe("differences", () => {
  const lines = (before: string, after: string) => difference(before, after).map(({ sign, text }) => sign + text);
  test.each([
    ["", "a\nb\n", ["+a", "+b"]],
    ["a\nb\nc\n", "a\nx\nc\n", [" a", "-b", "+x", " c"]],
    ["a\n", "a\n", [" a"]],
    ["a\nb\nc\nd", "b\nc\ne\nd", ["-a", " b", " c", "+e", " d"]],
  ])("%j %j", (before, after, expected) => expect(lines(before, after)).toEqual(expected));
  test.each([
    ["a\nb", "a\nb\n", [" a", " b", "@and a line break comes at its end"]],
    ["a\nb\n", "a\nb", [" a", " b", "@and the line break at its end goes"]],
    ["", "a", ["+a"]],
  ])("how the last line ends: %j %j", (before, after, expected) => expect(lines(before, after)).toEqual(expected));
  test("what changes far down in a file is in sight, and how much does", () => {
    const before = Array.from({ length: 1_000 }, (_, index) => `line ${index}\n`).join("");
    const changes = difference(before, before.replace("line 900\n", "rm -rf /\nand more\n"));
    const told = renderToStaticMarkup(createElement(Diff, { name: "a.txt", lines: changes }));
    for (const words of ["rm -rf /", "line 897", "line 903", "1 line goes, 2 lines come", "897 lines stay as they are", "96 lines stay as they are"]) expect(told).toContain(words);
    expect(told).not.toContain("line 896<");
    // Each stretch opens by itself.
    const rows = (open: number[]) => folded(changes, new Set(open)).map((row) => ("stay" in row ? row.stay : row.sign)).join("");
    expect([rows([]), rows([906]).length]).toEqual(["897   -++   96", "897   -++   ".length + 96]);
    expect(folded(difference("a\nb\nc\n", "a\nb\nx\n"), new Set()).map((row) => "stay" in row)).toEqual([false, false, false, false]);
  });
  test("as a patch, with what stands around", () => {
    const before = Array.from({ length: 20 }, (_, index) => `line ${index}`).join("\n");
    expect(asPatch(difference(before, before.replace("line 3", "LINE 3").replace("line 15", "")), 1)).toBe(" line 2\n-line 3\n+LINE 3\n line 4\n@@\n line 14\n-line 15\n+\n line 16");
  });
});

test("numbers are told as people read them", () => {
  expect([duration(0.25), duration(9.4), duration(75), duration(7_200), duration(14_400 + 600)]).toEqual(["250 ms", "9.4 s", "1 min 15 s", "2 h", "4 h 10 min"]);
  expect([money(0), money(7), money(0.0123)]).toEqual(["$0.00", "$7.00", "$0.0123"]);
});
