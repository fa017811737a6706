// Checks the wording of comments, messages, test titles and documents. Exits with 1 if a sentence breaks a rule.
// Usage: node .config/check-prose.js [paths], by default all files.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { parseSync, visitorKeys } from 'oxc-parser';

const maxWords = 28;
/** Phrases that make a reader guess, each with its replacement. */
const rules = [
  [/\btold\b/i, 'publish, report, log, notify'],
  [/\b(no|some)body\b|\bwhoever\b|\bof those that\b/i, 'name the client, the user or the process'],
  [/\bwho(m|se)? (asks|comes|waits|holds|listens|sends|has|is|are|was|it|they)\b/i, 'name the actor'],
  [
    /\btells\b|\btell (what|whether|how|of|that|it|which|apart)\b|\btell[.:;]/i,
    'return, report, distinguish',
  ],
  [/\bhears?\b|\bhand(s|ed)? (on|over)\b/i, 'receive, publish, pass, deliver'],
  [/\b(is|are|was|were|be) away\b|\bput away\b/i, 'unavailable, down, stored'],
  [/\bsees? to it\b|\bbecomes? of\b|\bstands?\b|\bforgets?\b/i, 'use the verb of the field'],
  [/\banew\b|\blately\b|\bof before\b/i, 'again, each time, recently, previous'],
  [/(?<!\b(am|is|are|be|been|being|was|were) )\bused to\b/i, 'describe the present only'],
  [/\bgoes on\b|\bnor\b/i, 'continue; split the sentence'],
];
/** SQL and code in texts are not prose. */
const isCode = /\b(SELECT|INSERT|UPDATE|DELETE|CREATE|FROM|GRANT|REVOKE)\b|[{}<>$=]/;

const paths = process.argv.slice(2);
const isChosen = (file) => paths.length === 0 || paths.some((path) => file.startsWith(path));
const list = (...patterns) =>
  execFileSync('git', ['ls-files', '-z', ...patterns], { encoding: 'utf8' })
    .split('\0')
    .filter((file) => existsSync(file) && isChosen(file));
const lineAt = (text, offset) => text.slice(0, offset).split('\n').length;
let problems = 0;

function report(place, problem) {
  problems += 1;
  console.error(`${place} ${problem}`);
}

/** Checks one text, which begins at a line of a file. */
function check(file, line, text) {
  const prose = text.replaceAll(/`[^`]*`|\{@link [^}]*\}|https?:\S+|"[^"\s]*"/g, 'X');
  for (const [pattern, advice] of rules) {
    const found = pattern.exec(prose);
    if (found) report(`${file}:${line + lineAt(prose, found.index) - 1}`, `"${found[0]}": ${advice}`);
  }
  let offset = 0;
  for (const sentence of prose.split(/(?<=[.!?:;])\s+(?=[A-Z`"(])|\n\s*\n|\n\s*(?=[-*@|#\d])|\s\|\s/)) {
    offset = prose.indexOf(sentence, offset);
    const words = sentence.split(/\s+/).filter((word) => /[a-z]/i.test(word)).length;
    const at = line + lineAt(prose, offset) - 1;
    if (words > maxWords) report(`${file}:${at}`, `${words} words: ${sentence.trim().slice(0, 60)}...`);
  }
}

function checkCode(file) {
  const text = readFileSync(file, 'utf8');
  const { comments, program } = parseSync(file, text);
  // Line comments that follow each other are one text.
  const blocks = [];
  for (const comment of comments) {
    const last = blocks.at(-1)?.at(-1) ?? comment;
    const isNext =
      last.type === 'Line' && last !== comment && !/\S/.test(text.slice(last.end, comment.start));
    if (isNext) blocks.at(-1).push(comment);
    else blocks.push([comment]);
  }
  for (const block of blocks) {
    const lines = block.map(({ value }) => value.replaceAll(/^\s*\*+ ?/gm, ''));
    check(file, lineAt(text, block[0].start), lines.join('\n'));
  }
  const visit = (node) => {
    const value = node.type === 'TemplateElement' ? node.value.cooked : node.value;
    const isText = ['Literal', 'TemplateElement', 'JSXText'].includes(node.type) && typeof value === 'string';
    if (isText && /\w \w+ \w/.test(value) && !isCode.test(value))
      check(file, lineAt(text, node.start), value);
    for (const key of visitorKeys[node.type] ?? [])
      for (const child of [node[key]].flat()) if (child?.type) visit(child);
  };
  visit(program);
}

for (const file of list('*.ts', '*.tsx', '*.js', ':!*/fill-names.ts')) checkCode(file);
for (const file of list('*.md')) {
  const blank = (cut) => cut.replaceAll(/[^\n]/g, '');
  check(file, 1, readFileSync(file, 'utf8').replaceAll(/^```[^]*?^```|<!--[^]*?-->|^\s*\|.*$/gm, blank));
}
for (const file of list('*.yaml', '*.conf', '*.cfg', '*Dockerfile', '*Caddyfile', '*.prisma', '.ci/*')) {
  const text = readFileSync(file, 'utf8');
  for (const { index, 0: comment } of text.matchAll(/(^\s*(#|\/\/).*\n)+/gm)) {
    check(file, lineAt(text, index), comment.replaceAll(/^\s*(#|\/+) ?/gm, ''));
  }
}
if (problems > 0) console.error(`${problems} sentences to rewrite`);
process.exitCode = Math.min(problems, 1);
