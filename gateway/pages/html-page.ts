import { createHash } from 'node:crypto'
import { languageOfRequest, type Language } from '@tandem/http-kit'
import type { FastifyInstance } from 'fastify'

const commonStyle = `
:root { color-scheme: light dark; font: 1rem/1.5 system-ui, sans-serif }
body { max-width: 24rem; margin: 4rem auto; padding: 0 1rem }
input, textarea, button { display: block; box-sizing: border-box; width: 100%; margin: .5rem 0 1rem; padding: .6rem }
input, textarea, button { font: inherit }
`

const digest = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`

interface HtmlPage<Texts extends { title: string }> {
  path: string
  texts: Record<Language, Texts>
  /** The HTML below the title. Texts are our own, so they need no escaping. */
  content: (texts: Texts) => string
  /** Runs after the content. It finds each text that is a string in `document.body.dataset`. */
  script: string
  /** More than the style of all pages. */
  style?: string
}

/**
 * Serves the page behind a link in a mail, in the language of the browser. It loads nothing, runs only its own script,
 * and sends requests to this origin only.
 */
export function serveHtmlPage<Texts extends { title: string }> (
  app: FastifyInstance,
  { path, texts, content, script, style: ownStyle = '' }: HtmlPage<Texts>
) {
  const style = commonStyle + ownStyle
  const policy = [
    "default-src 'none'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
    "form-action 'none'",
    `script-src ${digest(script)}`,
    `style-src ${digest(style)}`,
    "connect-src 'self'"
  ].join('; ')

  const pageIn = (language: Language) => {
    const attributes = Object.entries(texts[language]).filter(([, text]) => typeof text === 'string')
      .map(([name, text]) => `data-${name}="${text}"`).join(' ')
    return `<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${texts[language].title}</title>
<style>${style}</style>
</head>
<body ${attributes}>
<main>
<h1>${texts[language].title}</h1>
${content(texts[language])}
<p role="status"></p>
</main>
<script>${script}</script>
</body>
</html>
`
  }
  const pages: Record<Language, string> = { en: pageIn('en'), id: pageIn('id') }

  app.get(path, { config: { public: true } }, async (request, reply) =>
    reply
      .headers({ 'content-security-policy': policy, vary: 'Accept-Language' })
      .type('text/html; charset=utf-8')
      .send(pages[languageOfRequest(request)]))
}

/**
 * The beginning of the script of a page with one form: `token` is that of the link, `finish` replaces the form by a
 * text. The token is in the fragment, which browsers do not send to servers. The script removes it from the address,
 * and so from the history.
 */
export const LINK_SCRIPT = `
const form = document.querySelector('form')
const { dataset } = document.body
const showStatus = (text) => { document.querySelector('[role=status]').textContent = text }
const finish = (name) => { form.hidden = true; showStatus(dataset[name]) }
let token
function readLink () {
  token = new URLSearchParams(location.hash.slice(1)).get('token')
  history.replaceState(null, '', location.pathname)
  form.hidden = false
  showStatus('')
  if (!token) finish('missing')
}
readLink()
// A second link opened in the same tab changes only the fragment and does not reload the page.
addEventListener('hashchange', readLink)
`
