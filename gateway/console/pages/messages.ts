import { html, type Html } from '../html.ts'
import type { Visit } from '../visit.ts'
import type { Pages } from '../visits.ts'
import { badge, label, rows, time } from './parts.ts'
import { servePersonPage } from './people.ts'

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

/** What was sent to one person and what became of it; never what it said. */
export const serveMessages = (pages: Pages) =>
  servePersonPage(pages, {
    path: 'messages',
    right: 'deliveries.read',
    title: (texts) => texts.messages.title,
    content: async (visit, { id, reason }) => {
      const { texts } = visit
      const query = { accountId: id, reason }
      const [deliveries, mails, others] = await Promise.all([
        visit.find<{ deliveries: Delivery[] }>('notification', '/operator/deliveries', query),
        visit.find<{ mails: Mail[] }>('identity', '/operator/mails', query),
        // An older service has no such route.
        visit.find<{ mails: Mail[] }>('notification', '/operator/mails', query).catch(() => undefined)
      ])
      const allMails = [...mails?.mails ?? [], ...others?.mails ?? []]
        .sort((a, b) => a.createdAt < b.createdAt ? 1 : -1)
      return html`<div class="columns even">
          <section><h2>${texts.messages.pushes}</h2>${
        rows(visit, deliveries?.deliveries, texts.messages.noPushes, (each) => deliveryRow(visit, each))
      }</section>
          <section><h2>${texts.messages.mails}</h2>${
        rows(
          visit,
          allMails.length > 0 || mails ? allMails : undefined,
          texts.messages.noMails,
          (each) => mailRow(visit, each)
        )
      }</section>
        </div>`
    }
  })

/** `achievementEarned` as words. */
const wordsOf = (kind: string) => kind.replaceAll(/(?<=[a-z])(?=[A-Z])/g, ' ').replaceAll(/[-_.]/g, ' ').toLowerCase()

const deliveryRow = (visit: Visit, { platform, deviceName, reason, ...sent }: Delivery) =>
  row(visit, sent, html`${deviceName ?? platform} · ${time(visit, sent.createdAt)}${reason && html` · ${reason}`}`)

const mailRow = (visit: Visit, mail: Mail) => row(visit, mail, time(visit, mail.createdAt))

const row = (visit: Visit, { kind, status, attempts }: Pick<Mail, 'kind' | 'status' | 'attempts'>, facts: Html) =>
  html`<li><div class="what"><strong>${wordsOf(kind)}</strong><p class="meta">${facts}</p></div>
    <div class="state">${badge(label(visit.texts.statuses, status), kinds[status] ?? 'plain')}${
    attempts > 1 && html` <span class="meta">${visit.texts.say('messages.attempts', { number: attempts })}</span>`
  }</div></li>`
