// Checks the wording of comments, messages, test titles and documents. Exits with 1 if a sentence breaks a rule.
// Usage: node .config/check-prose.js [paths], by default all files.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { parseSync, visitorKeys } from 'oxc-parser';

const maxWords = 28;
/** Phrases that make a reader guess, each with what to write instead. */
const rules = [
  [/\btold\b/i, 'name the act: publish, report, log, notify'],
  [/\b(no|some)body\b|\bwhoever\b/i, 'name the actor: the client, the user, the process'],
  [/\bwho(m|se)? (asks|comes|waits|holds|listens|sends|has|is|are|was|it|they)\b/i, 'name the actor'],
  [
    /\btells? (what|whether|how|of|that|it|which|apart)\b|\btells?[.:;]/i,
    'returns, reports, shows, distinguishes',
  ],
  [/\bhears?\b/i, 'receives, is called with'],
  [/\b(is|are|was|were|be) away\b|\bput away\b/i, 'unavailable, down, stored'],
  [
    /\bhand(s|ed)? (on|over)\b|\bsees? to it\b|\bbecomes? of\b|\bstands? for itself\b/i,
    'publish, pass, deliver',
  ],
  [/\bof those that\b|\bgoes on\b|\bmade anew\b|\bnor\b/i, 'name the thing; split the sentence'],
];

const scope = process.argv.slice(2);
const tracked = (...patterns) =>
  execFileSync('git', ['ls-files', '-z', ...patterns], { encoding: 'utf8' })
    .split('\0')
    .filter(
      (file) => existsSync(file) && (scope.length === 0 || scope.some((path) => file.startsWith(path))),
    );
const problems = [];

/** Checks one text; `line` is the line of its beginning. */
function check(file, line, text) {
  const prose = text.replaceAll(/`[^`]*`|\{@link [^}]*\}|https?:\S+|"[^"\s]*"/g, 'X');
  for (const [pattern, advice] of rules) {
    const found = pattern.exec(prose);
    if (found)
      problems.push(
        `${file}:${line + prose.slice(0, found.index).split('\n').length - 1} "${found[0]}": ${advice}`,
      );
  }
  for (const sentence of prose.split(/(?<=[.!?:;])\s+(?=[A-Z`"(])|\n\s*\n|\n\s*(?=[-*@|#\d])|\s\|\s/)) {
    const words = sentence.split(/\s+/).filter((word) => /\w/.test(word)).length;
    if (words > maxWords) problems.push(`${file}:${line} ${words} words: ${sentence.trim().slice(0, 60)}...`);
  }
}

function checkCode(file) {
  const text = readFileSync(file, 'utf8');
  const { comments, program } = parseSync(file, text);
  const lineOf = (offset) => text.slice(0, offset).split('\n').length;
  let block = [];
  const flush = () => {
    if (block.length > 0)
      check(
        file,
        lineOf(block[0].start),
        block.map(({ value }) => value.replaceAll(/^\s*\*+ ?/gm, '')).join('\n'),
      );
    block = [];
  };
  for (const comment of comments) {
    const last = block.at(-1);
    if (
      last &&
      (comment.type === 'Block' || last.type === 'Block' || /\S/.test(text.slice(last.end, comment.start)))
    )
      flush();
    block.push(comment);
  }
  flush();
  const visit = (node) => {
    const value =
      node.type === 'Literal'
        ? node.value
        : node.type === 'TemplateElement'
          ? node.value.cooked
          : node.type === 'JSXText'
            ? node.value
            : undefined;
    if (
      typeof value === 'string' &&
      /\w \w+ \w/.test(value) &&
      !/\b(SELECT|INSERT|UPDATE|DELETE|CREATE|FROM|GRANT|REVOKE)\b|[{}<>$=]/.test(value)
    )
      check(file, lineOf(node.start), value);
    for (const key of visitorKeys[node.type] ?? [])
      for (const child of [node[key]].flat()) if (child?.type) visit(child);
  };
  visit(program);
}

for (const file of tracked('*.ts', '*.tsx', '*.js')) checkCode(file);
for (const file of tracked('*.md'))
  check(
    file,
    1,
    readFileSync(file, 'utf8').replaceAll(/^```[\s\S]*?^```|<!--[\s\S]*?-->|^\s*\|.*$/gm, (cut) =>
      cut.replaceAll(/[^\n]/g, ''),
    ),
  );
for (const file of tracked(
  '*.yaml',
  '*.yml',
  '*.conf',
  '*Dockerfile',
  '*.prisma',
  '*.cfg',
  '.ci/*',
  '*Caddyfile',
)) {
  for (const { index, 0: comment } of readFileSync(file, 'utf8').matchAll(/(^\s*(#|\/\/).*\n)+/gm)) {
    check(
      file,
      readFileSync(file, 'utf8').slice(0, index).split('\n').length,
      comment.replaceAll(/^\s*(#|\/+) ?/gm, ''),
    );
  }
}
for (const problem of problems) console.error(problem);
if (problems.length > 0) {
  console.error(`${problems.length} sentences to rewrite`);
  process.exitCode = 1;
}
