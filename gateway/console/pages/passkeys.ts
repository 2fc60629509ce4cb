import { messageOf } from '../problems.ts'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { clearSession, languageOf, SESSION_COOKIE, setSession } from '../cookies.ts'
import { ServiceRefused, ServiceUnavailable } from '../errors.ts'
import { localPath } from '../forms.ts'
import { html, renderHtml, type Html } from '../html.ts'
import { layOutAlone } from '../layout.ts'
import { textsIn } from '../texts.ts'
import type { ConsoleDeps } from '../visits.ts'

// Each begun sign-in is a row of identity for five minutes, and anybody who reaches the console can begin one.
const BEGUN_PER_MINUTE = 60

interface Started {
  session: string
}

/** Sign in, enroll, confirm and sign out. The script exchanges JSON with these routes; nothing else needs it. */
export function servePasskeys (app: FastifyInstance, { services }: ConsoleDeps) {
  const config = { public: true }
  const countAttempt = app.createRateLimit({ max: BEGUN_PER_MINUTE, timeWindow: 60_000 })

  /** The routes of one use of a passkey: `<path>/options`, and `<path>` with the response of the browser. */
  function exchange (path: string, target: string, bodyOf: (request: FastifyRequest) => object) {
    const call = async (request: FastifyRequest, to: string, body: object) =>
      await services.call<Record<string, unknown>>('identity', { request, language: languageOf(request) }, {
        method: 'POST',
        path: to,
        body
      })

    app.post(
      `${path}/options`,
      { config },
      async (request, reply) => {
        const attempt = await countAttempt(request)
        if (!attempt.isAllowed && attempt.isExceeded) {
          const { tooMany } = textsIn(languageOf(request)).problems
          return reply.code(429).header('retry-after', attempt.ttlInSeconds).send({ error: tooMany })
        }
        return await withRefusals(
          request,
          reply,
          async () => await call(request, `/operator/${target}/options`, bodyOf(request))
        )
      }
    )

    app.post(path, { config }, async (request, reply) =>
      await withRefusals(request, reply, async () => {
        const response = fieldOf(request, 'response')
        const result = await call(request, `/operator/${target}`, { ...bodyOf(request), response })
        if (typeof (result as Partial<Started> | undefined)?.session === 'string') {
          setSession(reply, (result as unknown as Started).session)
        }
        return {}
      }))
  }
  const tokenOf = (request: FastifyRequest) => ({ token: fieldOf(request, 'token') })
  const sessionOf = ({ cookies }: FastifyRequest) => ({ session: cookies[SESSION_COOKIE] })

  exchange('/enroll', 'enrollment', tokenOf)
  exchange('/sign-in', 'sign-in', () => ({}))
  exchange('/confirm', 'proof', sessionOf)

  app.post('/sign-out', { config }, async (request, reply) => {
    const { session } = sessionOf(request)
    if (session) {
      const caller = { request, language: languageOf(request) }
      // The cookie goes in any case; without identity the session ends after 20 minutes.
      await services.call('identity', caller, { method: 'POST', path: '/operator/sign-out', body: { session } })
        .catch((error: unknown) => request.log.warn({ err: error }, 'the session was not ended'))
    }
    clearSession(reply)
    return reply.redirect('/sign-in', 303)
  })

  servePasskeyPages(app)
}

/** A field of a body, which can be any JSON. */
const fieldOf = ({ body }: FastifyRequest, name: string) =>
  typeof body === 'object' && body !== null ? (body as Record<string, unknown>)[name] : undefined

function servePasskeyPages (app: FastifyInstance) {
  const config = { public: true }
  const send = (request: FastifyRequest, reply: FastifyReply, title: string, content: Html) => {
    const language = languageOf(request)
    const page = layOutAlone({ texts: textsIn(language), language, path: request.url }, { title, content })
    return reply.type('text/html; charset=utf-8').send(renderHtml(page))
  }

  app.get('/sign-in', { config }, async (request, reply) => {
    const { signIn } = textsIn(languageOf(request))
    const next = localPath((request.query as { next?: unknown }).next)
    return send(
      request,
      reply,
      signIn.title,
      html`
      <p>${signIn.text}</p>
      <form data-passkey="/sign-in" data-next="${next}">
        <p role="alert"></p>
        <button class="primary" autofocus>${signIn.button}</button>
      </form>
      <noscript><p class="note bad">${signIn.needsScript}</p></noscript>`
    )
  })

  // The token of the link is in the fragment, which the browser does not send.
  app.get('/enroll', { config }, async (request, reply) => {
    const { signIn } = textsIn(languageOf(request))
    return send(
      request,
      reply,
      signIn.enroll,
      html`
      <p>${signIn.enrollText}</p>
      <form data-passkey="/enroll" data-next="/" data-missing="${signIn.linkMissing}">
        <p role="alert"></p>
        <button class="primary" autofocus>${signIn.enrollButton}</button>
      </form>
      <noscript><p class="note bad">${signIn.needsScript}</p></noscript>`
    )
  })
}

/** Answers the script: `{}` or what `work` returns, or `{ error }` with the status of the refusal. */
async function withRefusals (request: FastifyRequest, reply: FastifyReply, work: () => Promise<object>) {
  const texts = textsIn(languageOf(request))
  try {
    return await work()
  } catch (error) {
    if (error instanceof ServiceUnavailable) {
      return reply.code(503).send({ error: texts.say('problems.unavailableText', { service: error.service }) })
    }
    if (!(error instanceof ServiceRefused)) throw error
    const { statusCode, code, text } = error.refusal
    return reply.code(statusCode).send({ error: messageOf(texts, code) ?? text })
  }
}
