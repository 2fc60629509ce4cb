import { listSamples, readBrand, type LocalTexts, type TextParams } from '@tandem/brand-kit'
import { type MailKind, renderMail } from '@tandem/mail-kit'
import Fastify from 'fastify'
import { serveHtmlPages } from '../../../gateway/pages/html-pages.ts'
import { renderIndex } from '../../../services/identity/exports/index-page.ts'

// Everything that the brand of this process writes to people, with examples of what it is about.

export interface ShownDocument {
  /** Such as `reset`, or `decision 3` for the third branch of its texts. */
  name: string
  /** Of a mail, its subject. */
  title: string
  html: string
}

export interface ShownPush {
  name: string
  title: string
  body: string
}

const MAIL_PARTS = ['subject', 'title', 'text', 'button', 'footer']
const URL = 'https://app.example/a-page#token=mVQ2Wk9rX3pQd0tyTnZ5Zg'

const listKeys = (prefix: string) =>
  Object.keys(readBrand().brand.texts['en'] ?? {}).filter((key) => key.startsWith(prefix))

/** The texts with these keys, as they are written. */
const messagesOf = (keys: string[], { locale }: LocalTexts) => {
  const { brand: { texts }, texts: { defaultLocale } } = readBrand()
  return keys.flatMap((key) => texts[locale]?.[key] ?? texts[defaultLocale]?.[key] ?? texts['en']?.[key] ?? [])
}

const numbered = <Item>(name: string, items: Item[]) =>
  items.map((item, index) => [index === 0 ? name : `${name} ${index + 1}`, item] as const)

export function listMails (local: LocalTexts): ShownDocument[] {
  const kinds = listKeys('mails.').flatMap((key) => /^mails\.(.+)\.subject$/.exec(key)?.[1] ?? []) as MailKind[]
  return kinds.flatMap((kind) => {
    const messages = messagesOf(MAIL_PARTS.map((part) => `mails.${kind}.${part}`), local)
    return numbered(kind, listSamples(messages)).map(([name, params]) => {
      const { subject, html } = renderMail({
        kind,
        locale: local.locale,
        params: { ...params, ...listParts(kind, local) },
        ...'code' in params && { code: String(params['code']) },
        url: URL
      })
      return { name, title: subject, html: showLogo(html) }
    })
  })
}

/** Parameters that are texts themselves, such as `actions` of the mail about a decision: all of them in one mail. */
function listParts (kind: MailKind, local: LocalTexts): TextParams {
  const parts: Record<string, string> = {}
  for (const key of listKeys(`mails.${kind}.`)) {
    const [param = '', ...rest] = key.slice(`mails.${kind}.`.length).split('.')
    if (rest.length === 0 || rest.at(-1) === 'subject' || MAIL_PARTS.includes(rest.at(-1) ?? '')) continue
    for (const params of listSamples(messagesOf([key], local))) {
      parts[param] = [parts[param] ?? '', local.find(key, params)].join(' ').trim()
    }
  }
  return parts
}

/** In a mail, the logo is an attachment. */
function showLogo (html: string) {
  const { logo } = readBrand().brand
  return logo ? html.replace('cid:logo', `data:image/png;base64,${logo.png.toString('base64')}`) : html
}

export function listPushes (local: LocalTexts): ShownPush[] {
  const kinds = listKeys('pushes.').flatMap((key) => /^pushes\.(.+)\.title$/.exec(key)?.[1] ?? [])
  return kinds.flatMap((kind) => {
    const [title, body] = [`pushes.${kind}.title`, `pushes.${kind}.body`]
    return numbered(kind, listSamples(messagesOf([title, body], local))).map(([name, params]) => ({
      name,
      title: local.find(title, params) ?? '',
      body: local.find(body, params) ?? ''
    }))
  })
}

/** The pages of the gateway, and that of an export, with all their states at once. */
export async function listPages (local: LocalTexts): Promise<ShownDocument[]> {
  const app = Fastify()
  const paths: string[] = []
  app.addHook('onRoute', ({ url, method }) => void (method === 'GET' && paths.push(url)))
  await app.register(serveHtmlPages, {})
  const pages = await Promise.all(paths.map(async (path) => {
    const url = path.replace(/:\w+/, 'K7TRQ2MX')
    const { body } = await app.inject({ url, headers: { 'accept-language': local.locale } })
    return { name: path, title: titleOf(body), html: showStates(body) }
  }))
  const index = renderIndex({
    counts: { identity: { sessions: 3, security_events: 12 }, social: { posts: 140 } },
    images: [],
    locale: local.locale
  })
  return [...pages, { name: 'index.html of an export', title: titleOf(index), html: index }]
}

const titleOf = (html: string) => /<title>(.*?)<\/title>/.exec(html)?.[1] ?? ''

/** Shows what is hidden, and below it the texts that the script of a page shows later. */
function showStates (html: string) {
  const [, attributes = ''] = /<body ([^>]*)>/.exec(html) ?? []
  const texts = [...attributes.matchAll(/data-[\w-]+="([^"]*)"/g)].map(([, text = '']) => text)
  const later = texts.filter((text) => !html.includes(`>${text}<`))
  return html
    .replaceAll(/<(form|section) ([^>]*)hidden>/g, '<$1 $2>')
    .replace('<p role="status"></p>', () => later.map((text) => `<p role="status">${text}</p>`).join('\n'))
    .replace(/<script>.*<\/script>/s, '')
}
