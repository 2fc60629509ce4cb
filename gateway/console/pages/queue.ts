import { ServiceRefused } from '../errors.ts'
import type { ServiceName } from '../services.ts'
import { html, type Html } from '../html.ts'
import { withQuery, type Visit } from '../visit.ts'
import { redirectTo, type Pages } from '../visits.ts'
import { badge, due, empty, label, more, time } from './parts.ts'

/** The services that people report things to. */
export const caseServices = ['social', 'fitmatch'] as const satisfies ServiceName[]
type CaseService = typeof caseServices[number]

export interface CaseSummary {
  id: string
  targetType: string
  targetId: string
  accountId: string
  personName: string | null
  excerpt: string | null
  reasons: string[]
  priority: number
  dueAt: string
  version: number
  reportsCount: number
  isRestricted: boolean
  isHeld: boolean
  claimedBy: string | null
  claimedUntil: string | null
  outcome: string | null
  createdAt: string
  resolvedAt: string | null
}

export interface QueuedCase extends CaseSummary {
  service: CaseService
}

const PAGE_SIZE = 25
const END = 'end'

/** Where each service's list continues: its own cursor, or `end`. */
type Cursors = Partial<Record<CaseService, string>>

/** `social~3:019a…_fitmatch~end`; what is not one is left out. */
function parseCursor (text: string | undefined): Cursors {
  return Object.fromEntries(
    (text ?? '').split('_').flatMap((part) => {
      const [service = '', cursor = ''] = part.split('~')
      return caseServices.some((each) => each === service) && /^(end|[123]:[0-9a-f-]{36})$/.test(cursor)
        ? [[service, cursor]]
        : []
    })
  )
}

const formatCursor = (cursors: Cursors) =>
  Object.entries(cursors).map(([service, cursor]) => `${service}~${cursor}`).join('_')

// Ids are UUIDv7, so the lower one is the older one, whichever service made it.
const byUrgency = (a: QueuedCase, b: QueuedCase) => b.priority - a.priority || (a.id < b.id ? -1 : 1)

/**
 * A page of the open cases of all services, the most urgent and then the oldest first. A service that does not respond
 * is left out, and keeps its place in the cursor.
 */
export async function readQueue (visit: Visit, cursor?: string) {
  const cursors = parseCursor(cursor)
  const pages = await Promise.all(caseServices.map(async (service) => {
    const at = cursors[service]
    if (at === END) return { service, cases: [], nextCursor: null, isKnown: true }
    const page = await visit.find<{ cases: CaseSummary[], nextCursor: string | null }>(service, '/operator/cases', {
      limit: PAGE_SIZE,
      cursor: at
    })
    const cases = page?.cases.map((each) => ({ ...each, service })) ?? []
    return { service, cases, nextCursor: page?.nextCursor ?? null, isKnown: page !== undefined }
  }))
  const cases = pages.flatMap((page) => page.cases).sort(byUrgency).slice(0, PAGE_SIZE)
  const next: Cursors = {}
  for (const { service, cases: own, nextCursor, isKnown } of pages) {
    const shown = own.filter((each) => cases.includes(each))
    const last = shown.at(-1)
    if (isKnown && shown.length === own.length && nextCursor === null) next[service] = END
    else if (last) next[service] = `${last.priority}:${last.id}`
    else if (cursors[service]) next[service] = cursors[service]
  }
  const hasMore = pages.some(({ service, isKnown }) => isKnown && next[service] !== END)
  return { cases, nextCursor: hasMore ? formatCursor(next) : null }
}

export const pathOfCase = ({ service, id }: Pick<QueuedCase, 'service' | 'id'>) => `/cases/${service}/${id}`

export function serveQueue ({ page, form }: Pages) {
  page('/queue', 'cases.read', async (visit) => {
    const { texts, query } = visit
    const { cases, nextCursor } = await readQueue(visit, query['cursor'])
    return {
      title: texts.pages.queue,
      content: html`
        <div class="head"><h1>${texts.pages.queue}</h1>
          <form method="post" action="/next"><button class="primary" data-key="n">${texts.queue.next}<kbd aria-hidden="true">n</kbd></button></form>
        </div>
        ${
        query['count'] &&
        html`<p class="note good" role="status">${
          texts.say('queue.dismissed', { number: Number(query['count']), changed: Number(query['changed'] ?? 0) })
        }</p>`
      }
        ${
        cases.length === 0
          ? empty(visit.unavailable.size > 0 ? texts.queue.unknown : texts.queue.empty)
          : html`<form method="post" action="/queue/dismiss">
            <ol class="rows">${cases.map((each) => caseRow(visit, each, { canMark: true }))}</ol>
            <p class="row sticky"><button data-confirm="${texts.queue.dismissConfirm}">${texts.queue.dismissMarked}</button>
              <span class="meta only-keys">${texts.queue.hint}</span></p>
          </form>`
      }
        ${nextCursor && more(texts, withQuery('/queue', { cursor: nextCursor }))}`
    }
  })

  form('/next', 'cases.decide', async (visit) => redirectTo(await takeNext(visit, { done: 'nothingLeft' })))

  form('/queue/dismiss', 'cases.decide', async (visit, fields) => {
    const { count, changed } = await dismissAll(visit, fields.list('case'))
    return redirectTo(withQuery('/queue', { count, changed }))
  })
}

/**
 * Claims the first case that nobody else has. @returns its page; the queue if there is none, saying what is done
 * @param decidedId the case that was just decided, which its service closes a moment later
 */
export async function takeNext (visit: Visit, { done, decidedId }: { done: string, decidedId?: string | undefined }) {
  const { cases } = await readQueue(visit)
  const free = cases.filter(({ id, claimedBy }) =>
    id !== decidedId && (claimedBy === null || claimedBy === visit.staff.id)
  )
  for (const each of free) {
    try {
      await visit.send(each.service, 'POST', `/operator/cases/${each.id}/claim`, { takesOver: false })
      return withQuery(pathOfCase(each), { done: done === 'decided' ? done : undefined })
    } catch (error) {
      // Another operator was faster, or only administrators decide it.
      if (!isRefusal(error, ['CASE_CLAIMED', 'CASE_CHANGED', 'CASE_RESTRICTED'])) throw error
    }
  }
  return withQuery('/queue', { done })
}

/** The value with which a form names a case. */
export const markOf = ({ service, id, version, accountId }: QueuedCase) => [service, id, version, accountId].join(' ')

/** Dismisses the marked cases, one after the other. Those that have changed since stay open, and those for administrators. */
export async function dismissAll (visit: Visit, marks: string[]) {
  let count = 0
  let changed = 0
  for (const mark of marks) {
    const [service, id, version, accountId] = mark.split(' ')
    const decision = {
      case: { service, id, version: Number(version) },
      accountId,
      actions: [{ type: 'DISMISS' }],
      reason: 'OTHER',
      statement: ''
    }
    try {
      await visit.send('identity', 'POST', '/operator/decisions', decision)
      count++
    } catch (error) {
      if (!isRefusal(error, ['CASE_CHANGED', 'CASE_RESTRICTED'])) throw error
      changed++
    }
  }
  return { count, changed }
}

const isRefusal = (error: unknown, codes: string[]) =>
  error instanceof ServiceRefused && codes.includes(error.refusal.code)

const priorities = { 3: 'bad', 2: 'warn', 1: 'plain' } as const

export const priorityBadge = ({ texts }: Visit, priority: number) =>
  badge(label(texts.priorities, String(priority)), priorities[priority as 1 | 2 | 3])

/** One case in a list: what it is about, why, how many reports, and until when. */
export function caseRow (visit: Visit, each: QueuedCase, { canMark = false } = {}): Html {
  const { texts } = visit
  const name = `${label(texts.targets, each.targetType)}${each.personName ? ` · ${each.personName}` : ''}`
  const reasons = each.reasons.map((reason) => label(texts.reasons, reason)).join(', ')
  return html`<li class="p${each.priority}" data-row>
    ${
    canMark &&
    html`<input type="checkbox" name="case" value="${markOf(each)}" aria-label="${texts.queue.mark} ${name}">`
  }
    <div class="what">
      <a href="${pathOfCase(each)}"><strong>${name}</strong></a>
      ${each.excerpt && html`<p class="excerpt">${each.excerpt}</p>`}
      <p class="meta">${reasons} · ${texts.say('queue.reports', { number: each.reportsCount })} · ${
    time(visit, each.createdAt)
  }</p>
    </div>
    <div class="state">
      ${
    each.resolvedAt
      ? badge(label(texts.outcomes, each.outcome), each.outcome === 'ACTION_TAKEN' ? 'bad' : 'good')
      : html`${priorityBadge(visit, each.priority)} ${due(visit, each.dueAt)}`
  }
      ${each.isHeld && badge(texts.queue.held, 'warn')}
      ${
    each.claimedBy &&
    badge(each.claimedBy === visit.staff.id ? texts.queue.claimedByYou : texts.queue.claimedByOther, 'warn')
  }
    </div>
  </li>`
}
