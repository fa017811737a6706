import type { Api, ExampleRequest } from './example-request.ts';

/** The languages that there are examples in, by API: a form stands in a page, where no access token must be. */
export const languagesOf = {
  crm: ['curl', 'javascript', 'php', 'python'],
  intake: ['curl', 'javascript', 'php', 'python', 'html'],
} as const satisfies Record<Api, readonly string[]>;
export type Language = (typeof languagesOf)['intake'][number];

const shell = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;
const php = (text: string) => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
/** For JavaScript and Python, whose literals take what JSON's do. */
const quoted = (text: string) => JSON.stringify(text);
/** In a page, where `</script>` ends a script even within a text. */
const inPage = (text: string) => quoted(text).replaceAll('<', '\\u003c');
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

  html: ({ url, headers, lead }) => `<form id="lead">
${lines(lead, (name) => `  <label>${attribute(name)} <input name="${attribute(name)}" required></label>`)}
  <button>Send</button>
  <output></output>
</form>
<script type="module">
  const form = document.getElementById("lead");
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const response = await fetch(${inPage(url)}, {
      method: "POST",
      headers: {
${lines(headers, (name, value) => `        ${inPage(name)}: ${inPage(value)},`)}
      },
      body: JSON.stringify(Object.fromEntries(new FormData(form))),
    });
    form.querySelector("output").textContent = response.ok ? "Thank you" : "Please try again";
  });
</script>`,
};

/** The program that sends a request. */
export function writeSnippet(language: Language, request: ExampleRequest): string {
  return writers[language](request);
}
