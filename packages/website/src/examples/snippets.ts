import { type Api, type ExampleRequest, examplePage } from './example-request.ts';

/** The languages of the examples by API. A form is public, so it has no example with an access token. */
export const languagesOf = {
  crm: ['curl', 'javascript', 'php', 'python'],
  intake: ['curl', 'javascript', 'php', 'python', 'html'],
} as const satisfies Record<Api, readonly string[]>;
export type Language = (typeof languagesOf)['intake'][number];

const shell = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;
const php = (text: string) => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
/** For JavaScript and Python, whose string literals accept JSON's escapes. */
const quoted = (text: string) => JSON.stringify(text);
/** Characters with a meaning in a query. The browser encodes all others. */
const inQuery = (text: string) => text.replaceAll(/[%&#+]/g, encodeURIComponent);
const attribute = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;');

const lines = (values: Readonly<Record<string, string>>, line: (name: string, value: string) => string) =>
  Object.entries(values)
    .map(([name, value]) => line(name, value))
    .join('\n');

const writers: Readonly<Record<Language, (request: ExampleRequest) => string>> = {
  curl: ({ url, headers, lead }) =>
    [
      `curl ${shell(url)}`,
      ...Object.entries(headers).map(([name, value]) => `  --header ${shell(`${name}: ${value}`)}`),
      `  --data-raw ${shell(JSON.stringify(lead))}`,
    ].join(' \\\n'),

  javascript: ({ url, headers, lead }) => `const response = await fetch(${quoted(url)}, {
  method: "POST",
  headers: {
${lines(headers, (name, value) => `    ${quoted(name)}: ${quoted(value)},`)}
  },
  body: JSON.stringify({
${lines(lead, (name, value) => `    ${quoted(name)}: ${quoted(value)},`)}
  }),
});
console.log(response.status, await response.json());`,

  php: ({ url, headers, lead }) => `<?php
$request = curl_init(${php(url)});
curl_setopt_array($request, [
    CURLOPT_RETURNTRANSFER => true,
    CURLOPT_HTTPHEADER => [
${lines(headers, (name, value) => `        ${php(`${name}: ${value}`)},`)}
    ],
    CURLOPT_POSTFIELDS => json_encode([
${lines(lead, (name, value) => `        ${php(name)} => ${php(value)},`)}
    ]),
]);
$answer = curl_exec($request);
echo curl_getinfo($request, CURLINFO_RESPONSE_CODE), ' ', $answer, PHP_EOL;`,

  python: ({ url, headers, lead }) => `import json
import urllib.request

request = urllib.request.Request(
    ${quoted(url)},
    method="POST",
    headers={
${lines(headers, (name, value) => `        ${quoted(name)}: ${quoted(value)},`)}
    },
    data=json.dumps({
${lines(lead, (name, value) => `        ${quoted(name)}: ${quoted(value)},`)}
    }).encode(),
)
with urllib.request.urlopen(request) as response:
    print(response.status, json.load(response))`,

  html: ({ url, headers, lead, page = examplePage }) =>
    `<form method="post" action="${attribute(`${url}?API_KEY=${inQuery(headers['API_KEY'] ?? '')}`)}" accept-charset="utf-8">
${lines(lead, (name) => `  <label>${attribute(name)} <input name="${attribute(name)}" required></label>`)}
  <!-- The next page of the visitor. It must have one of the key's origins. -->
  <input type="hidden" name="redirect" value="${attribute(`${page}/`)}">
  <!-- People do not see this field. The service does not store a lead if a bot has filled it in. -->
  <input name="_gotcha" hidden tabindex="-1" autocomplete="off">
  <button>Send</button>
</form>`,
};

/** Returns the program that sends a request, in one language. */
export function writeSnippet(language: Language, request: ExampleRequest): string {
  return writers[language](request);
}
