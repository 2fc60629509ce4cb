import { type Brand, escapeHtml, readBrand, type TextKey, type TextParams, type Texts } from '@tandem/brand-kit'
import type { MailContent } from './mails.ts'

/** Each mail has the texts `mails.<kind>.subject`, `.title`, `.text`, `.footer`, and `.button` if it has one. */
export type MailKind = TextKey extends infer Key ? Key extends `mails.${infer Kind}.subject` ? Kind : never : never

export interface MailTemplate {
  kind: MailKind
  /** The recipient's. */
  locale: string | null
  params?: TextParams
  /** Shown large after the first paragraph, and on a line of its own in the text part. */
  code?: string
  /** Where the button leads. */
  url?: string | null
}

/** Renders a mail as text and HTML, in the language of its recipient and the layout of the brand. */
export function renderMail (template: MailTemplate, { brand, texts }: { brand: Brand, texts: Texts } = readBrand()) {
  const { kind, locale, params, code, url } = template
  const local = texts.of(locale)
  const read = (part: string) => local.find(`mails.${kind}.${part}`, { ...params, ...code !== undefined && { code } })
  const label = read('button')
  const mail = {
    locale: local.locale,
    subject: read('subject') ?? '',
    title: read('title') ?? '',
    paragraphs: (read('text') ?? '').split(/\n{2,}/),
    code,
    button: label && url ? { label, url } : undefined,
    footer: read('footer') ?? ''
  }
  return { subject: mail.subject, text: renderText(mail), html: renderHtml(mail, brand) } satisfies MailContent
}

interface RenderedMail {
  locale: string
  subject: string
  title: string
  paragraphs: string[]
  code: string | undefined
  button: { label: string, url: string } | undefined
  footer: string
}

function renderText ({ title, paragraphs, code, button, footer }: RenderedMail) {
  const [first = '', ...rest] = paragraphs
  const parts = [
    title,
    first,
    code && `    ${code}`,
    button && `${button.label}:\n${button.url}`,
    ...rest,
    `--\n${footer}`
  ]
  return parts.filter(Boolean).join('\n\n') + '\n'
}

function renderHtml ({ locale, subject, title, paragraphs, code, button, footer }: RenderedMail, brand: Brand) {
  const { light, dark } = brand.colours
  const [first = '', ...rest] = paragraphs
  const paragraph = (text: string) =>
    `<p class="text" style="margin:0 0 16px;font-size:16px;line-height:24px;color:#3d4451">${escapeHtml(text)}</p>`
  const parts = [
    paragraph(first),
    code &&
    `<p class="code" style="margin:8px 0 24px;padding:18px 12px;border-radius:12px;background:${light.background};color:${light.accent};font:700 32px/40px ui-monospace,Menlo,Consolas,monospace;letter-spacing:8px;text-align:center">${
      escapeHtml(code)
    }</p>`,
    button &&
    `<table role="presentation" cellpadding="0" cellspacing="0" style="margin:8px 0 16px"><tr><td class="button" style="border-radius:12px;background:${light.accent}"><a href="${
      escapeHtml(safeUrl(button.url))
    }" style="display:inline-block;padding:14px 28px;font-size:16px;line-height:20px;font-weight:600;color:${light.onAccent};text-decoration:none">${
      escapeHtml(button.label)
    }</a></td></tr></table>
<p class="quiet" style="margin:0 0 24px;font-size:13px;line-height:20px;color:#6b7280;word-break:break-all">${
      escapeHtml(button.url)
    }</p>`,
    ...rest.map(paragraph)
  ]
  const slots: Record<string, string> = {
    locale: escapeHtml(locale),
    subject: escapeHtml(subject),
    preview: escapeHtml(first),
    brand: escapeHtml(brand.name),
    // The mailer attaches it.
    logo: brand.logo
      ? '<img src="cid:logo" alt="" width="24" height="24" style="margin-right:8px;vertical-align:middle">'
      : '',
    title: escapeHtml(title),
    content: parts.filter(Boolean).join('\n'),
    footer: escapeHtml(footer),
    ...Object.fromEntries(Object.entries(light).map(([name, colour]) => [`light.${name}`, colour])),
    ...Object.fromEntries(Object.entries(dark).map(([name, colour]) => [`dark.${name}`, colour]))
  }
  return brand.mailLayout.replaceAll(/\{\{([\w.]+)\}\}/g, (slot, name: string) => slots[name] ?? slot)
}

function safeUrl (url: string) {
  const { protocol, href } = new URL(url)
  if (protocol !== 'https:' && protocol !== 'http:') {
    throw new TypeError(`the button of a mail needs an http or https URL, not ${protocol}`)
  }
  return href
}
