import { PageNotFound } from '../errors.ts'
import { html } from '../html.ts'
import { serviceNames } from '../services.ts'
import type { Visit } from '../visit.ts'
import type { Pages } from '../visits.ts'
import { badge, empty, label, rows, segment } from './parts.ts'

interface Counts {
  calls: number
  errors: number
  lastDay: string
}
type CalledOperation = Counts & { operation: string, versions: number, sunset: string | null }
type CallingVersion = Counts & { platform: string, appVersion: string }

export function serveCalls ({ page }: Pages) {
  page('/calls', 'health.read', async (visit) => {
    const { texts } = visit
    const words = texts.calls
    const services = await Promise.all(serviceNames.map(async (service) => {
      const found = await visit.find<{ operations: CalledOperation[] }>(service, '/operator/calls')
      return (found?.operations ?? []).map((each) => ({ service, ...each }))
    }))
    // Deprecated ones first: whether they can go is the question.
    const operations = services.flat().sort((one, other) =>
      Number(other.sunset !== null) - Number(one.sunset !== null) || other.calls - one.calls
    )
    return {
      title: texts.pages.calls,
      content: html`<h1>${texts.pages.calls}</h1><p class="meta">${words.text}</p>${
        operations.length === 0 ?
          empty(visit.unavailable.size > 0 ? texts.queue.unknown : words.none) :
          html`<ol class="rows">${
            operations.map(({ service, operation, versions, sunset, ...counts }) =>
              html`<li><div class="what"><a class="mono" href="/calls/${service}/${segment(operation)}">${operation}</a>
              <p class="meta">${service} · ${words.versions}: ${versions}</p></div>
              <div class="state">${sunset && badge(texts.say('calls.sunset', { day: sunset }), 'warn')} ${
                countsOf(visit, counts)
              }</div></li>`
            )
          }</ol>`
      }`
    }
  })

  page('/calls/:service/:operation', 'health.read', async (visit) => {
    const { texts, params } = visit
    const words = texts.calls
    const service = serviceNames.find((each) => each === params['service'])
    if (!service) throw new PageNotFound()
    const operation = params['operation'] ?? ''
    const found = await visit.find<{ versions: CallingVersion[] }>(service, `/operator/calls/${segment(operation)}`)
    return {
      title: operation,
      content: html`<p><a href="/calls">${texts.pages.calls}</a></p><h1>${operation}</h1>${
        rows(visit, found?.versions, words.none, ({ platform, appVersion, ...counts }) =>
          html`<li><div class="what"><strong>${label(words.names, platform)} ${label(words.names, appVersion)}</strong>
            <p class="meta">${words.lastDay}: ${counts.lastDay}</p></div>
            <div class="state">${countsOf(visit, counts)}</div></li>`)
      }`
    }
  })
}

function countsOf ({ texts: { calls: words }, language }: Visit, { calls, errors }: Counts) {
  const text = (number: number) => number.toLocaleString(language)
  return html`<span>${words.calls}: ${text(calls)}</span> ${
    errors > 0 && badge(`${words.errors}: ${text(errors)}`, 'bad')
  }`
}
