import { createHash } from 'node:crypto'
import {
  escapeHtml,
  readBrand,
  type LocalTexts,
  type TextGroup,
  type TextKey,
  type TextParams
} from '@tandem/brand-kit'
import { languageOfRequest } from '@tandem/http-kit'
import type { FastifyInstance } from 'fastify'
import { BASE_PATH } from '../routes.ts'

/** The pages behind links in mails, and of invitations. */
export type PageName = TextKey extends infer Key ? Key extends `pages.${infer Page}.title` ? Page : never : never
export type PageTexts<Page extends PageName> = TextGroup<`pages.${Page}`>

const commonStyle = () => {
  const { light, dark } = readBrand().brand.colours
  return `
:root { color-scheme: light dark; font: 1rem/1.5 system-ui, sans-serif; --accent: ${light.accent}; --on-accent: ${light.onAccent} }
@media (prefers-color-scheme: dark) {
  :root { --accent: ${dark.accent}; --on-accent: ${dark.onAccent}; background: ${dark.background} }
}
body { max-width: 24rem; margin: 2rem auto; padding: 0 1rem; overflow-wrap: anywhere }
header { margin-bottom: 2rem; font-weight: 700 }
header img { height: 1.5rem; margin-right: .5rem; vertical-align: middle }
input, textarea, button { display: block; box-sizing: border-box; width: 100%; margin: .5rem 0 1rem; padding: .6rem }
input, textarea, button { font: inherit }
button { border: 1px solid var(--accent); border-radius: .6rem; background: var(--accent); color: var(--on-accent) }
button ~ button { background: none; color: inherit }
a { color: var(--accent) }
[hidden] { display: none }
`
}

const digest = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`

interface HtmlPage<Page extends PageName> {
  path: string
  page: Page
  params?: TextParams
  /** The HTML below the title. The texts are escaped. */
  content: (texts: PageTexts<Page>) => string
  /** Runs after the content. It finds each text in `document.body.dataset`. */
  script: string
  /** More than the style of all pages. */
  style?: string
}

/**
 * Serves the page behind a link in a mail, in the language of the browser. It loads nothing, runs only its own script,
 * and sends requests to this origin only.
 */
export function serveHtmlPage<Page extends PageName> (
  app: FastifyInstance,
  { path, page, params, content, script, style: ownStyle = '' }: HtmlPage<Page>
) {
  const style = commonStyle() + ownStyle
  const { brand, texts } = readBrand()
  const logo = brand.logo && `<img src="data:image/svg+xml;base64,${brand.logo.svg.toString('base64')}" alt="">`
  const policy = [
    "default-src 'none'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
    "form-action 'none'",
    `script-src ${digest(script)}`,
    `style-src ${digest(style)}`,
    ...logo ? ['img-src data:'] : [],
    "connect-src 'self'"
  ].join('; ')

  const pageIn = (local: LocalTexts) => {
    const found = local.group(`pages.${page}`, params)
    const entries = Object.entries<string>(found).map(([name, text]) => [name, escapeHtml(text)] as const)
    const words = Object.fromEntries(entries) as typeof found
    const attributes = entries.map(([name, text]) => `data-${name}="${text}"`).join(' ')
    const title = escapeHtml(local.format(`pages.${page}.title` as TextKey))
    return `<!doctype html>
<html lang="${local.locale}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<style>${style}</style>
</head>
<body ${attributes}>
<header>${logo ?? ''}${escapeHtml(brand.name)}</header>
<main>
<h1>${title}</h1>
${content(words)}
<p role="status"></p>
</main>
<script>${script}</script>
</body>
</html>
`
  }
  const pages = new Map(texts.locales.map((locale) => [locale, pageIn(texts.of(locale))]))

  app.get(path, { config: { public: true } }, async (request, reply) => {
    const language = languageOfRequest(request)
    return reply
      .headers({ 'content-security-policy': policy, 'content-language': language, vary: 'Accept-Language' })
      .type('text/html; charset=utf-8')
      .send(pages.get(language))
  })
}

/** A route for the script of a page. It is relative, in case the gateway is not at the root of its origin. */
export const relativeRoute = (path: string) => `${BASE_PATH}${path}`.slice(1)
