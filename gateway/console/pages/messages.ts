import { html } from '../html.ts'
import type { Visit } from '../visit.ts'
import type { Pages } from '../visits.ts'
import { badge, label, rows, segment, time } from './parts.ts'
import { pathOfPerson, reasonPage } from './people.ts'

interface Delivery {
  id: string
  kind: string
  platform: string
  deviceName: string | null
  status: string
  reason: string | null
  attempts: number
  createdAt: string
  finishedAt: string | null
}

interface Mail {
  id: string
  kind: string
  status: string
  attempts: number
  createdAt: string
}

const kinds: Record<string, 'good' | 'bad' | 'warn'> = { sent: 'good', failed: 'bad', pruned: 'bad', pending: 'warn' }
const statusBadge = ({ texts }: Visit, status: string) => badge(label(texts.statuses, status), kinds[status] ?? 'plain')

/** What was sent to one person and what became of it; never what it said. */
export function serveMessages ({ page }: Pages) {
  page('/people/:id/messages', 'deliveries.read', async (visit) => {
    const { texts, params: { id = '' }, query: { reason } } = visit
    const title = texts.messages.title
    if (!reason) return { title, content: reasonPage(visit, `/people/${segment(id)}/messages`) }
    const query = { accountId: id, reason }
    const [deliveries, mails, others] = await Promise.all([
      visit.find<{ deliveries: Delivery[] }>('notification', '/operator/deliveries', query),
      visit.find<{ mails: Mail[] }>('identity', '/operator/mails', query),
      // An older service has no such route.
      visit.find<{ mails: Mail[] }>('notification', '/operator/mails', query).catch(() => undefined)
    ])
    const allMails = [...mails?.mails ?? [], ...others?.mails ?? []]
      .sort((a, b) => a.createdAt < b.createdAt ? 1 : -1)
    return {
      title,
      content: html`
        <p class="crumbs"><a href="${
        pathOfPerson(id, reason)
      }" data-key="u">${texts.people.person}<kbd aria-hidden="true">u</kbd></a></p>
        <h1>${title}</h1>
        <div class="columns even">
          <section><h2>${texts.messages.pushes}</h2>${
        rows(visit, deliveries?.deliveries, texts.messages.noPushes, (each) => deliveryRow(visit, each))
      }</section>
          <section><h2>${texts.messages.mails}</h2>${
        rows(visit, allMails.length > 0 || mails ? allMails : undefined, texts.messages.noMails, (each) =>
          mailRow(visit, each))
      }</section>
        </div>`
    }
  })
}

/** `achievementEarned` as words. */
const wordsOf = (kind: string) => kind.replaceAll(/(?<=[a-z])(?=[A-Z])/g, ' ').replaceAll(/[-_.]/g, ' ').toLowerCase()

const deliveryRow = (visit: Visit, { kind, platform, deviceName, status, reason, attempts, createdAt }: Delivery) =>
  html`<li><div class="what"><strong>${wordsOf(kind)}</strong>
    <p class="meta">${deviceName ?? platform} · ${time(visit, createdAt)}${reason && html` · ${reason}`}</p></div>
    <div class="state">${statusBadge(visit, status)}${
    attempts > 1 && html` <span class="meta">${visit.texts.say('messages.attempts', { number: attempts })}</span>`
  }</div></li>`

const mailRow = (visit: Visit, { kind, status, attempts, createdAt }: Mail) =>
  html`<li><div class="what"><strong>${wordsOf(kind)}</strong><p class="meta">${time(visit, createdAt)}</p></div>
    <div class="state">${statusBadge(visit, status)}${
    attempts > 1 && html` <span class="meta">${visit.texts.say('messages.attempts', { number: attempts })}</span>`
  }</div></li>`
