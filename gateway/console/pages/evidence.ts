import { html, type Html } from '../html.ts'
import type { Visit } from '../visit.ts'
import { facts, label, picture, time } from './parts.ts'

export interface CaseFile {
  number: number
  source: string
  sha256: string | null
}

type Content = Record<string, unknown>

export interface Evidence {
  content: Content
  createdAt: string
}

const text = (value: unknown) => typeof value === 'string' && value !== '' ? value : null
const list = (value: unknown) => Array.isArray(value) ? value as unknown[] : []
const object = (value: unknown) => typeof value === 'object' && value !== null ? value as Content : null
const texts = (value: unknown) => list(value).flatMap((each) => text(each) ?? [])

/** What was reported, as it was at that time; every value is text from people. */
export function evidenceOf (visit: Visit, { content, createdAt }: Evidence, reportedId: string): Html {
  const words = visit.texts.evidence
  const body = text(content['content']) ?? text(content['caption']) ?? text(content['bio'])
  const author = object(content['author'])
  const post = object(content['post'])
  const before = commentsBefore(object(content['around']))
  return html`
    ${author && html`<p class="meta">${text(author['name'])} @${text(author['username'])}</p>`}
    ${
    facts([
      [words.name, text(content['displayName']) ?? text(content['name'])],
      [words.username, text(content['username'])],
      [words.visibility, label(visit.texts.visibilities, text(content['visibility']))],
      [words.written, text(content['createdAt']) && time(visit, text(content['createdAt']))]
    ])
  }
    ${body && html`<blockquote class="reported">${body}</blockquote>`}
    ${poll(content)}
    ${otherTexts(content)}
    ${prompts(content)}
    ${foreignAddresses(visit, content)}
    ${
    before.length > 0 && html`<h3>${words.before}</h3>${
      before.map(({ content, isByReported }) =>
        html`<blockquote class="${isByReported === true ? 'reported' : ''}">${text(content)}</blockquote>`
      )
    }`
  }
    ${
    post &&
    html`<h3>${words.below}</h3><blockquote>${text(post['content'])}</blockquote>${poll(post)}${otherTexts(post)}`
  }
    ${activityOf(visit, object(content['activity']))}
    ${chat(visit, list(content['messages']), reportedId)}
    <p class="meta">${words.frozen} ${time(visit, createdAt)}</p>`
}

const commentsBefore = (around: Content | null) =>
  [around?.['parent'], ...list(around?.['before'])].map((each) => object(each)).filter((each) => each !== null)

const poll = (content: Content) =>
  text(content['pollQuestion']) &&
  html`<p><strong>${text(content['pollQuestion'])}</strong></p><ul>${
    texts(content['pollOptions']).map((each) => html`<li>${each}</li>`)
  }</ul>`

/** Such as the name of a place: what a post shows besides its content. */
const otherTexts = (content: Content) => texts(content['otherTexts']).map((each) => html`<p>${each}</p>`)

const prompts = (content: Content) =>
  list(content['prompts']).map((each) => {
    const prompt = object(each)
    return prompt &&
      html`<p><strong>${text(prompt['question']) ?? text(prompt['prompt'])}</strong><br>${text(prompt['answer'])}</p>`
  })

/** Images on other hosts are never loaded or linked: they could show who looks at them. */
function foreignAddresses ({ texts: { evidence } }: Visit, content: Content) {
  const addresses = [...texts(content['mediaUrls']), text(content['mediaUrl']), text(content['image'])]
    .filter((each) => each !== null && /^https?:/.test(each))
  return addresses.length > 0 &&
    html`<p class="meta">${evidence.elsewhere}</p>${addresses.map((each) => html`<p class="mono">${each}</p>`)}`
}

/** The activity at which it happened. */
function activityOf ({ texts: { evidence: words, say } }: Visit, activity: Content | null) {
  if (!activity) return ''
  const { reporter, reported, hostedBy } = activity
  const part = (value: unknown) => {
    const { state, checkedInAt } = object(value) ?? {}
    return text(state) && say('evidence.atActivity', { state: String(state), checkedIn: text(checkedInAt) !== null })
  }
  return html`<h3>${words.activity}</h3>${
    facts([
      [words.name, [text(activity['title']), text(activity['sport'])].filter(Boolean).join(' · ')],
      [
        words.time,
        `${text(activity['date'])} ${text(activity['startTime'])}–${text(activity['endTime'])} ${
          text(activity['timezone'])
        }`
      ],
      [words.place, text(activity['locationName']) ?? text(object(activity['venue'])?.['name'])],
      [words.activityNote, text(activity['note'])],
      [words.host, hostedBy === 'REPORTED' ? words.reportedPerson : hostedBy === 'REPORTER' ? words.reporter : null],
      [words.reporter, part(reporter)],
      [words.reportedPerson, part(reported)]
    ])
  }`
}

function chat (visit: Visit, messages: unknown[], reportedId: string) {
  if (messages.length === 0) return ''
  const words = visit.texts.evidence
  return html`<h3>${visit.texts.say('evidence.chat', { number: messages.length })}</h3><ol class="chat">${
    messages.map((each) => {
      const message = object(each) ?? {}
      const isReported = message['senderId'] === reportedId
      return html`<li class="${isReported ? 'reported' : ''}"><span class="meta">${
        isReported ? words.reportedPerson : words.reporter
      }</span> ${text(message['content']) ?? words.picture}</li>`
    })
  }</ol>`
}

export const filesOf = (visit: Visit, path: string, files: CaseFile[], isVisible: boolean) =>
  files.length > 0 &&
  html`<h3>${visit.texts.evidence.pictures}</h3>${
    isVisible
      ? html`<div class="pictures">${
        files.map(({ number, source, sha256 }) =>
          picture(visit, {
            number,
            path: `${path}/files/${number}`,
            isVideo: source.endsWith('.mp4'),
            note: sha256 ? `SHA-256 ${sha256}` : visit.texts.evidence.notCopied
          })
        )
      }</div>`
      : html`<p class="note warn">${visit.texts.evidence.restricted}</p>`
  }`

export interface Report {
  reason: string
  details: string | null
  /** The addresses of what the reporter added; a service of an earlier version does not send them. */
  evidence?: string[]
  createdAt: string
}

export const reportsOf = (visit: Visit, reports: Report[], count: number) =>
  html`<h2>${visit.texts.say('queue.reports', { number: count })}</h2><ul class="plain">${
    reports.map(({ reason, details, evidence = [], createdAt }) =>
      html`<li><strong>${label(visit.texts.reasons, reason)}</strong> <span class="meta">${
        time(visit, createdAt)
      }</span>${details && html`<blockquote>${details}</blockquote>`}${
        evidence.length > 0 &&
        html`<p class="meta">${visit.texts.evidence.screenshots}</p>${
          evidence.map((each) => html`<p class="mono">${each}</p>`)
        }`
      }</li>`
    )
  }</ul>`
