// Code as it is written; a diff with what goes and what comes.
import { Diff } from "./Diff";
import { Visible } from "./Visible";
import "./CodeBlock.css";

export function CodeBlock({ text, language, isWhole = false }: { text: string; language?: string | undefined; isWhole?: boolean }) {
  if (isWhole) {
    return (
      <pre className="code-block" tabIndex={0} aria-label="Code">
        {language && <><Visible text={language} />{"\n"}</>}
        <Visible text={text} />
      </pre>
    );
  }
  if (language === "diff" || language === "patch" || /^(diff --git |--- \S.*\n\+\+\+ )/.test(text)) return <Diff lines={ofPatch(text)} />;
  return (
    <pre className="code-block" tabIndex={0} aria-label={language ? `Code, ${language}` : "Code"}>
      {text}
    </pre>
  );
}

export function ofPatch(text: string): { sign: "+" | "-" | " " | "@"; text: string }[] {
  return text
    .replace(/\n$/, "")
    .split("\n")
    .map((line) => {
      if (/^(diff |index |--- |\+\+\+ |@@)/.test(line)) return { sign: "@" as const, text: line };
      if (line.startsWith("+")) return { sign: "+" as const, text: line.slice(1) };
      if (line.startsWith("-")) return { sign: "-" as const, text: line.slice(1) };
      return { sign: " " as const, text: line.replace(/^ /, "") };
    });
}
