// Markdown of agents and people, as React elements and nothing else: markup in it is text, a picture is its description and a link, and
// a link says where it leads. `marked` reads it; nothing of what `marked` writes is used. Where somebody decides about it, it is shown
// whole: what Markdown takes away (targets and titles of links, definitions, words behind a fence) and what cannot be seen is written out.
import { lexer, type Token, type Tokens } from "marked";
import { createContext, memo, type ReactNode, useContext, useMemo } from "react";

import { CodeBlock } from "./CodeBlock";
import { Link } from "./Link";
import { Visible } from "./Visible";
import "./Markdown.css";

const Whole = createContext(false);

/** Longer texts, and such as have more marks in them, are shown as they are written: those who read Markdown look from each mark for its other end. */
const LONGEST = 200_000;
const MOST_MARKS = 10_000;
const DEEPEST = 24;

export const Markdown = memo(function Markdown({ text, isWhole = false }: { text: string; isWhole?: boolean }) {
  const tokens = useMemo(() => read(text), [text]);
  return (
    <Whole value={isWhole}>
      {tokens === null ? <CodeBlock text={text} isWhole={isWhole} /> : <div className="markdown">{blocks(tokens, 0)}</div>}
    </Whole>
  );
});

function read(text: string): Token[] | null {
  if (text.length > LONGEST || (text.match(/[*_~`[]+/g)?.length ?? 0) > MOST_MARKS) return null;
  try {
    return lexer(text, { gfm: true });
  } catch {
    // Quotes and lists nested by the thousand: its reader goes down into each of them.
    return null;
  }
}

function Words({ text }: { text: string }) {
  return useContext(Whole) ? <Visible text={text} isPiece /> : text;
}

function blocks(tokens: Token[], depth: number): ReactNode {
  if (depth > DEEPEST) return <Words text={tokens.map((token) => token.raw).join("")} />;
  return tokens.map((token, index) => <Block key={index} token={token} depth={depth} />);
}

function Block({ token, depth }: { token: Token; depth: number }): ReactNode {
  const isWhole = useContext(Whole);
  switch (token.type) {
    case "space":
      return null;
    case "def":
      return isWhole ? <p><Words text={token.raw.trimEnd()} /></p> : null;
    case "hr":
      return <hr />;
    case "code":
      return <CodeBlock text={token.text as string} language={(token as Tokens.Code).lang} isWhole={isWhole} />;
    case "heading": {
      // The page has the first two levels.
      const Heading = `h${Math.min(6, (token as Tokens.Heading).depth + 2)}` as "h3";
      return <Heading>{inline(token.tokens ?? [], depth)}</Heading>;
    }
    case "blockquote":
      return <blockquote>{blocks(token.tokens ?? [], depth + 1)}</blockquote>;
    case "list": {
      const { ordered, start, items } = token as Tokens.List;
      const parts = items.map((item, index) => (
        <li key={index} className={item.task ? "task" : undefined}>
          {item.task && <span aria-hidden="true">{item.checked ? "☑ " : "☐ "}</span>}
          {blocks(item.tokens.filter((part) => part.type !== "checkbox"), depth + 1)}
        </li>
      ));
      return ordered ? <ol start={Number(start) || 1}>{parts}</ol> : <ul>{parts}</ul>;
    }
    case "table": {
      // A row may have more than the table shows.
      if (isWhole) return <CodeBlock text={token.raw.trimEnd()} isWhole />;
      const { header, rows } = token as Tokens.Table;
      return (
        <div className="table" role="region" aria-label="Table" tabIndex={0}>
          <table>
            <thead>
              <tr>{header.map((cell, index) => <th key={index}>{inline(cell.tokens, depth)}</th>)}</tr>
            </thead>
            <tbody>
              {rows.map((row, index) => (
                <tr key={index}>{row.map((cell, place) => <td key={place}>{inline(cell.tokens, depth)}</td>)}</tr>
              ))}
            </tbody>
          </table>
        </div>
      );
    }
    case "paragraph":
      return <p>{inline(token.tokens ?? [], depth)}</p>;
    case "text":
      return token.tokens ? inline(token.tokens, depth) : <Words text={unescaped(token.text as string)} />;
    default:
      return <p><Words text={token.raw} /></p>;
  }
}

function inline(tokens: Token[], depth: number): ReactNode {
  if (depth > DEEPEST) return <Words text={tokens.map((token) => token.raw).join("")} />;
  return tokens.map((token, index) => <Inline key={index} token={token} depth={depth + 1} />);
}

function Inline({ token, depth }: { token: Token; depth: number }): ReactNode {
  switch (token.type) {
    case "strong":
      return <strong>{inline(token.tokens ?? [], depth)}</strong>;
    case "em":
      return <em>{inline(token.tokens ?? [], depth)}</em>;
    case "del":
      return <del>{inline(token.tokens ?? [], depth)}</del>;
    case "codespan":
      return <code><Words text={token.text as string} /></code>;
    case "br":
      return <br />;
    case "link":
      return <><Link href={(token as Tokens.Link).href}>{inline(token.tokens ?? [], depth)}</Link><Target token={token as Tokens.Link} /></>;
    case "image": {
      const { href, text } = token as Tokens.Image;
      return <><Link href={href}>picture: <Words text={text || href} /></Link><Target token={token as Tokens.Image} /></>;
    }
    case "escape":
      return token.text as string;
    case "text":
      return token.tokens ? inline(token.tokens, depth) : <Words text={unescaped(token.text as string)} />;
    case "checkbox":
      return null;
    default:
      return <Words text={token.raw} />;
  }
}

/** All that is written of where a link leads. */
function Target({ token }: { token: Tokens.Link | Tokens.Image }) {
  const isWhole = useContext(Whole);
  return isWhole ? <> <code><Visible text={token.raw} /></code></> : null;
}

const NAMED: Record<string, string> = { amp: "&", lt: "<", gt: ">", quot: '"', "#39": "'", nbsp: "\u00a0" };

/** The lexer leaves entities as they are written. */
const unescaped = (text: string): string => text.replace(/&(amp|lt|gt|quot|#39|nbsp);/g, (whole, name: string) => NAMED[name] ?? whole);
