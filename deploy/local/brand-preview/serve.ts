import { escapeHtml, readBrand, type LocalTexts } from '@tandem/brand-kit'
import type { FastifyInstance } from 'fastify'
import { listMails, listPages, listPushes, type ShownDocument, type ShownPush } from './shown.ts'

const SCHEMES = ['light', 'dark'] as const
type Scheme = typeof SCHEMES[number]

interface Params {
  locale: string
  kind: 'mails' | 'pages'
  index: string
  scheme: Scheme
}

/** GET /brand: every mail, push and page, in each locale, light and dark. */
export function serveBrandPreview (app: FastifyInstance) {
  const { texts } = readBrand()
  const listDocuments = async (kind: string, locale: string) =>
    kind === 'mails' ? listMails(texts.of(locale)) : await listPages(texts.of(locale))

  app.get('/brand', (_request, reply) => reply.redirect(`/brand/${texts.defaultLocale}`))
  app.get<{ Params: Params }>('/brand/:locale', async ({ params: { locale } }, reply) => {
    if (!texts.locales.includes(locale)) return reply.callNotFound()
    const local = texts.of(locale)
    return await reply.type('text/html; charset=utf-8').header('content-security-policy', INDEX_POLICY).send(
      renderIndex(local, {
        mails: listMails(local),
        pages: await listPages(local),
        pushes: listPushes(local)
      })
    )
  })
  app.get<{ Params: Params }>('/brand/:locale/:kind/:index/:scheme', async ({ params }, reply) => {
    const document = (await listDocuments(params.kind, params.locale))[Number(params.index)]
    if (!document) return reply.callNotFound()
    return await reply.type('text/html; charset=utf-8').header('content-security-policy', DOCUMENT_POLICY)
      .send(inScheme(document.html, params.scheme))
  })
}

const INDEX_POLICY =
  "default-src 'none'; frame-src 'self'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'"
const DOCUMENT_POLICY =
  "default-src 'none'; img-src data:; style-src 'unsafe-inline'; frame-ancestors 'self'; base-uri 'none'; sandbox"

/** The document as a browser with these settings shows it. */
export const inScheme = (html: string, scheme: Scheme) =>
  html
    .replaceAll('@media (prefers-color-scheme: dark)', scheme === 'dark' ? '@media all' : '@media not all')
    .replaceAll('color-scheme: light dark', `color-scheme: ${scheme}`)

const style = () => {
  const { light, dark } = readBrand().brand.colours
  return `
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; --accent: light-dark(${light.accent}, ${dark.accent}) }
body { margin: 0 auto; max-width: 68rem; padding: 1rem; overflow-wrap: anywhere }
h1 { font-size: 1.5rem; line-height: 1.25 }
nav { display: flex; flex-wrap: wrap; gap: 1rem }
a { color: var(--accent) }
[aria-current] { font-weight: 700; color: inherit; text-decoration: none }
h3 { margin: 2rem 0 .5rem; font-size: 1rem }
h3 small { display: block; font-weight: 400; opacity: .75 }
.both { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 24rem), 1fr)); gap: 1rem }
iframe { width: 100%; height: 32rem; border: 1px solid #8888; border-radius: .6rem; box-sizing: border-box }
.push { padding: .8rem 1rem; border-radius: 1rem; box-sizing: border-box }
.push.light { background: #fff; color: #1c1d26; border: 1px solid #d8d9e2 }
.push.dark { background: #23252f; color: #ecedf5; border: 1px solid #23252f }
.push strong { display: block }
`
}

interface Shown {
  mails: ShownDocument[]
  pages: ShownDocument[]
  pushes: ShownPush[]
}

function renderIndex ({ locale }: LocalTexts, { mails, pages, pushes }: Shown) {
  const { brand, texts } = readBrand()
  const links = texts.locales.map((each) =>
    `<a href="/brand/${each}"${each === locale ? ' aria-current="page"' : ''}>${each}</a>`
  )
  const title = `${escapeHtml(brand.name)}: every mail, page and push`
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<style>${style()}</style>
<h1>${title}</h1>
<nav aria-label="Languages">${links.join('\n')}</nav>
<nav aria-label="Parts"><a href="#mails">Mails</a> <a href="#pages">Pages</a> <a href="#pushes">Pushes</a></nav>
<h2 id="mails">Mails</h2>
${mails.map((mail, index) => framesOf(mail, `/brand/${locale}/mails/${index}`)).join('\n')}
<h2 id="pages">Pages</h2>
${pages.map((page, index) => framesOf(page, `/brand/${locale}/pages/${index}`)).join('\n')}
<h2 id="pushes">Pushes</h2>
${pushes.map(cardsOf).join('\n')}
</html>
`
}

const framesOf = ({ name, title }: ShownDocument, path: string) =>
  `<h3>${escapeHtml(title)}<small>${escapeHtml(name)}</small></h3>
<div class="both">${
    SCHEMES.map((scheme) =>
      `<iframe loading="lazy" title="${escapeHtml(`${name}, ${scheme}`)}" src="${path}/${scheme}"></iframe>`
    )
      .join('')
  }</div>`

const cardsOf = ({ name, title, body }: ShownPush) =>
  `<h3><small>${escapeHtml(name)}</small></h3>
<div class="both">${
    SCHEMES.map((scheme) =>
      `<div class="push ${scheme}"><strong>${escapeHtml(title)}</strong>${escapeHtml(body)}</div>`
    ).join(
      ''
    )
  }</div>`
