import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { ServiceName } from './services.ts'
import { languageOf, SESSION_COOKIE } from './cookies.ts'
import { PageNotFound, SignedOut } from './errors.ts'
import { renderHtml } from './html.ts'
import { layOut } from './layout.ts'
import { readForm, type Form } from './forms.ts'
import { sendProblem } from './problems.ts'
import { tolerate, type ServiceFile, type Services } from './service-client.ts'
import { textsIn } from './texts.ts'
import { withQuery, type Page, type Query, type Staff, type Visit } from './visit.ts'

/** Where to go after a form. */
export const redirectTo = (path: string) => ({ redirect: path })

/** What a service answers to a change; with a proposal if another operator has to confirm it. */
export type Made = { proposalId?: string } | undefined

/** Back to a page that says what was done; or that another operator has to confirm it, where that takes two. */
export const redirectAfter = (path: string, done: string, result?: Made) =>
  redirectTo(`${path}${path.includes('?') ? '&' : '?'}done=${result?.proposalId ? 'proposed' : done}`)

type Outcome = Page | { redirect: string }

export interface ConsoleDeps {
  services: Services
}

/** @throws SignedOut, ServiceUnavailable */
export async function startVisit ({ services }: ConsoleDeps, request: FastifyRequest): Promise<Visit> {
  const language = languageOf(request)
  const session = request.cookies[SESSION_COOKIE]
  if (!session) throw new SignedOut()
  const { token, staff } = await services.call<{ token: string, staff: Staff }>(
    'identity',
    { request, language },
    { method: 'POST', path: '/operator/tokens', body: { session } }
  )
  const caller = { request, language, token }
  const unavailable = new Set<ServiceName>()
  const get = async <T>(service: ServiceName, path: string, query: Query = {}) =>
    await services.call<T>(service, caller, { path: withQuery(path, query) })
  return {
    staff,
    texts: textsIn(language),
    language,
    path: request.url,
    query: textsOf(request.query),
    params: textsOf(request.params),
    unavailable,
    can: (right) => staff.rights.includes(right),
    get,
    find: async <T>(service: ServiceName, path: string, query: Query = {}) =>
      await tolerate(get<T>(service, path, query), unavailable),
    send: async <T>(service: ServiceName, method: 'POST' | 'PUT' | 'DELETE', path: string, body: object = {}) =>
      await services.call<T>(service, caller, { method, path, body }),
    fetchPicture: async (service, path) => await services.fetchPicture(service, caller, path),
    fetchFile: async (service, path) => await services.fetchFile(service, caller, path)
  }
}

/** The values that are strings; of a repeated one the first. */
const textsOf = (given: unknown): Record<string, string> =>
  Object.fromEntries(
    Object.entries(given as Record<string, unknown>).flatMap(([name, value]) => {
      const first = Array.isArray(value) ? value[0] as unknown : value
      return typeof first === 'string' ? [[name, first]] : []
    })
  )

export type Handler = (visit: Visit) => Promise<Page>
export type FormHandler = (visit: Visit, form: Form) => Promise<Outcome>

/** Registers the pages and forms of the console. Each has the right that operators need for it. */
export function createPages (app: FastifyInstance, deps: ConsoleDeps) {
  const config = { public: true }

  async function visitWith (request: FastifyRequest, right: string) {
    const visit = await startVisit(deps, request)
    if (!visit.can(right)) throw new PageNotFound()
    return visit
  }

  const answer =
    (right: string, work: (visit: Visit, request: FastifyRequest, reply: FastifyReply) => Promise<unknown>) =>
    async (request: FastifyRequest, reply: FastifyReply) => {
      try {
        return await work(await visitWith(request, right), request, reply)
      } catch (error) {
        return sendProblem(error, request, reply)
      }
    }

  return {
    page (path: string, right: string, handler: Handler) {
      const show = answer(right, async (visit, _request, reply) => sendPage(reply, visit, await handler(visit)))
      app.get(path, { config }, show)
    },
    form (path: string, right: string, handler: FormHandler) {
      const send = answer(right, async (visit, { body }, reply) => {
        const outcome = await handler(visit, readForm(body))
        // 303: the browser gets the next page, and a reload sends nothing again.
        return 'redirect' in outcome ? reply.redirect(outcome.redirect, 303) : sendPage(reply, visit, outcome)
      })
      app.post(path, { config }, send)
    },
    picture (path: string, right: string, handler: (visit: Visit) => Promise<Buffer | ServiceFile>) {
      const send = answer(right, async (visit, _request, reply) => {
        const file = await handler(visit)
        if (Buffer.isBuffer(file)) return reply.type('image/webp').send(file)
        if (file.range !== undefined) reply.code(206).header('content-range', file.range)
        return reply.type(file.type).send(file.bytes)
      })
      app.get(path, { config }, send)
    }
  }
}

export type Pages = ReturnType<typeof createPages>

const sendPage = (reply: FastifyReply, visit: Visit, page: Page) =>
  reply.code(page.status ?? 200).type('text/html; charset=utf-8').send(renderHtml(layOut(visit, page)))
