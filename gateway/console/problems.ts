import type { FastifyReply, FastifyRequest } from 'fastify'
import { languageOf } from './cookies.ts'
import { PageNotFound, ServiceRefused, ServiceUnavailable, SignedOut } from './errors.ts'
import { readForm, type Form } from './forms.ts'
import { html, renderHtml, type Html } from './html.ts'
import { layOutAlone } from './layout.ts'
import { textsIn, type Texts } from './texts.ts'

interface Problem {
  status: number
  title: string
  content: Html
}

/** Sends the page for an error. What the operator had typed is never lost: it is shown, or sent again. */
export function sendProblem (thrown: unknown, request: FastifyRequest, reply: FastifyReply) {
  const isForm = request.method === 'POST'
  const hasEnded = thrown instanceof SignedOut ||
    (thrown instanceof ServiceRefused && thrown.refusal.code === 'SESSION_ENDED')
  if (hasEnded && !isForm) return reply.redirect(`/sign-in?${new URLSearchParams({ next: request.url }).toString()}`)
  const language = languageOf(request)
  const texts = textsIn(language)
  const form = readForm(isForm ? request.body : undefined)
  const { status, title, content } = hasEnded
    ? { status: 401, title: texts.signIn.ended, content: signInAgain(texts, form) }
    : describe(thrown, { request, texts, form })
  const path = isForm ? '/' : request.url
  return reply.code(status).type('text/html; charset=utf-8')
    .send(renderHtml(layOutAlone({ texts, language, path }, { title, content })))
}

function describe (
  thrown: unknown,
  { request, texts, form }: { request: FastifyRequest, texts: Texts, form: Form }
): Problem {
  const { problems } = texts
  if (thrown instanceof PageNotFound) {
    return { status: 404, title: problems.notFound, content: wayOut(texts, problems.notFoundText) }
  }
  if (thrown instanceof ServiceUnavailable) {
    const text = texts.say('problems.unavailableText', { service: thrown.service })
    return { status: 503, title: problems.unavailable, content: wayOut(texts, text, form) }
  }
  if (thrown instanceof ServiceRefused) {
    const { code, statusCode, text } = thrown.refusal
    if (code === 'PROOF_REQUIRED') {
      return { status: 403, title: problems.confirm, content: confirmation(texts, request.url, form) }
    }
    const title = statusCode === 404 ? problems.notFound : problems.refused
    return { status: statusCode, title, content: wayOut(texts, messageOf(texts, code) ?? text, form) }
  }
  request.log.error({ err: thrown }, 'request failed')
  return { status: 500, title: problems.failed, content: wayOut(texts, problems.failedText, form) }
}

/** Sends the same form again after the operator has used their passkey. */
const confirmation = ({ problems, layout }: Texts, path: string, { fields }: Form) =>
  html`<p>${problems.confirmText}</p>
  <form method="post" action="${path}" data-passkey="/confirm">
    ${fields.map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)}
    <p role="alert"></p>
    <button class="primary">${problems.confirmButton}</button>
  </form>
  <p><a href="/">${layout.back}</a></p>`

const signInAgain = (texts: Texts, form: Form) =>
  html`<p>${texts.signIn.endedText}</p>${
    typed(texts, form)
  }<p><a class="button primary" href="/sign-in">${texts.signIn.button}</a></p>`

const wayOut = (texts: Texts, text: string, form?: Form) =>
  html`<p role="alert">${text}</p>${
    form && typed(texts, form)
  }<p><a class="button" href="/">${texts.layout.back}</a></p>`

const LONG_TEXT = 20

/** The long texts of a form, to copy. */
function typed ({ problems }: Texts, { fields }: Form) {
  const long = fields.filter(([, value]) => value.length >= LONG_TEXT && value.includes(' '))
  if (long.length === 0) return
  return html`<h2>${problems.typed}</h2>${long.map(([, value]) => html`<blockquote>${value}</blockquote>`)}`
}

/** What an operator reads about an error of a service, if the console says it better. */
export function messageOf ({ problems }: Texts, code: string): string | undefined {
  const messages: Record<string, string> = problems.codes
  return messages[code]
}
