import type { MailContent } from './mails.ts'

export interface MailTemplate {
  /** The language, as the HTML `lang` attribute. */
  locale: string
  subject: string
  title: string
  paragraphs: string[]
  /** Shown large, and on a line of its own in the text part. */
  code?: string
  button?: { label: string, url: string }
  /** Why the recipient gets this mail, and what to do if they did not request it. */
  footer: string
}

/** Renders a mail as text and HTML. All mails share one layout with a dark mode, without images or remote content. */
export function renderMail (content: MailTemplate): MailContent {
  return { subject: content.subject, text: renderText(content), html: renderHtml(content) }
}

function renderText ({ title, paragraphs, code, button, footer }: MailTemplate) {
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

function renderHtml ({ locale, subject, title, paragraphs, code, button, footer }: MailTemplate) {
  const [first = '', ...rest] = paragraphs
  const paragraph = (text: string) =>
    `<p class="text" style="margin:0 0 16px;font-size:16px;line-height:24px;color:#3d4451">${escape(text)}</p>`
  const parts = [
    paragraph(first),
    code &&
    `<p class="code" style="margin:8px 0 24px;padding:18px 12px;border-radius:12px;background:#eef4f1;color:#0f5c46;font:700 32px/40px ui-monospace,Menlo,Consolas,monospace;letter-spacing:8px;text-align:center">${
      escape(code)
    }</p>`,
    button &&
    `<table role="presentation" cellpadding="0" cellspacing="0" style="margin:8px 0 16px"><tr><td class="button" style="border-radius:12px;background:#0f7a5c"><a href="${
      escape(safeUrl(button.url))
    }" style="display:inline-block;padding:14px 28px;font-size:16px;line-height:20px;font-weight:600;color:#ffffff;text-decoration:none">${
      escape(button.label)
    }</a></td></tr></table>
<p class="quiet" style="margin:0 0 24px;font-size:13px;line-height:20px;color:#6b7280;word-break:break-all">${
      escape(button.url)
    }</p>`,
    ...rest.map(paragraph)
  ]
  return `<!doctype html>
<html lang="${escape(locale)}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="supported-color-schemes" content="light dark">
<title>${escape(subject)}</title>
<style>
:root { color-scheme: light dark; supported-color-schemes: light dark }
@media (prefers-color-scheme: dark) {
  .page { background: #101412 !important }
  .card { background: #1a201d !important; border-color: #2b332f !important }
  .title, .brand { color: #f2f5f3 !important }
  .text { color: #c9d1cc !important }
  .quiet { color: #93a099 !important }
  .code { background: #14312a !important; color: #7fe0bd !important }
}
</style>
</head>
<body class="page" style="margin:0;padding:0;background:#f4f6f5">
<table class="page" role="presentation" width="100%" cellpadding="0" cellspacing="0" style="background:#f4f6f5"><tr><td align="center" style="padding:32px 16px;font-family:-apple-system,BlinkMacSystemFont,'Segoe UI',Roboto,Helvetica,Arial,sans-serif">
<table role="presentation" width="100%" cellpadding="0" cellspacing="0" style="max-width:520px;text-align:left">
<tr><td class="brand" style="padding:0 8px 16px;font-size:18px;line-height:24px;font-weight:700;color:#17211d">Tandem</td></tr>
<tr><td class="card" style="padding:32px;border:1px solid #e3e8e5;border-radius:20px;background:#ffffff">
<h1 class="title" style="margin:0 0 16px;font-size:24px;line-height:32px;font-weight:700;color:#17211d">${
    escape(title)
  }</h1>
${parts.filter(Boolean).join('\n')}
</td></tr>
<tr><td class="quiet" style="padding:16px 8px 0;font-size:13px;line-height:20px;color:#6b7280">${
    escape(footer)
  }</td></tr>
</table>
</td></tr></table>
</body>
</html>
`
}

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

function escape (text: string) {
  return text.replace(/[&<>"']/g, (character) => ENTITIES[character]!)
}

function safeUrl (url: string) {
  const { protocol, href } = new URL(url)
  if (protocol !== 'https:' && protocol !== 'http:') {
    throw new TypeError(`the button of a mail needs an http or https URL, not ${protocol}`)
  }
  return href
}
