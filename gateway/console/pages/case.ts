import { html, type Html } from '../html.ts'
import { PageNotFound } from '../errors.ts'
import { withQuery, type Visit } from '../visit.ts'
import { redirectAfter, redirectTo, type Made, type Pages } from '../visits.ts'
import { contentAction, decisionCard, decisionFields, mainReason, readDecision, type Decision } from './decisions.ts'
import { evidenceOf, filesOf, reportsOf, type CaseFile, type Evidence, type Report } from './evidence.ts'
import { badge, due, label, reasonField, segment, time } from './parts.ts'
import { caseServices, pathOfCase, priorityBadge, takeNext, type CaseSummary, type QueuedCase } from './queue.ts'

interface Case extends CaseSummary {
  /** Whether only administrators decide it. A service of an earlier version does not send it. */
  hidesPictures?: boolean
  evidence: Evidence[]
  files: CaseFile[]
  reports: Report[]
}

/** The service and path of the case that this page is about. @throws PageNotFound */
function targetOf ({ params }: Visit) {
  const service = caseServices.find((each) => each === params['service'])
  if (!service) throw new PageNotFound()
  return { service, path: `/operator/cases/${segment(params['id'])}` }
}

export function serveCases ({ page, form, picture }: Pages) {
  page('/cases/:service/:id', 'cases.read', async (visit) => {
    const { service, path } = targetOf(visit)
    const { case: found } = await visit.get<{ case: Case }>(service, path)
    const decisions = await visit.find<{ decisions: Decision[] }>(
      'identity',
      `${path.replace('cases', `cases/${service}`)}/decisions`
    )
    return {
      title: `${label(visit.texts.targets, found.targetType)} · ${found.personName ?? ''}`,
      content: casePage(visit, { ...found, service }, decisions?.decisions ?? [])
    }
  })

  form('/cases/:service/:id/claim', 'cases.decide', async (visit) => {
    const { service, path } = targetOf(visit)
    await visit.send(service, 'POST', `${path}/claim`)
    return redirectTo(pathOfCase({ service, id: visit.params['id'] ?? '' }))
  })

  form('/cases/:service/:id', 'cases.decide', async (visit, fields) => {
    const { service } = targetOf(visit)
    const made = await visit.send<Made>('identity', 'POST', '/operator/decisions', {
      case: { service, id: visit.params['id'], version: fields.number('version') },
      accountId: fields.text('accountId'),
      ...readDecision(fields)
    })
    if (made?.proposalId || fields.text('then') !== 'next') return redirectAfter('/queue', 'decided', made)
    return redirectTo(await takeNext(visit, { done: 'decided', decidedId: visit.params['id'] }))
  })

  form('/cases/:service/:id/:change', 'holds.change', async (visit, fields) => {
    const { service, path } = targetOf(visit)
    const change = ['hold', 'release'].find((each) => each === visit.params['change'])
    if (!change) throw new PageNotFound()
    const made = await visit.send<Made>(service, 'POST', `${path}/${change}`, { reason: fields.text('reason') })
    return redirectAfter(pathOfCase({ service, id: visit.params['id'] ?? '' }), `case-${change}`, made)
  })

  picture('/cases/:service/:id/files/:number', 'cases.read', async (visit) => {
    const { service, path } = targetOf(visit)
    return await visit.fetchFile(service, `${path}/files/${segment(visit.params['number'])}`)
  })
}

type OpenedCase = Case & QueuedCase

function casePage (visit: Visit, found: OpenedCase, decisions: Decision[]): Html {
  const { texts } = visit
  // For a moment after a decision, the case is still open in its service.
  const isDecided = found.resolvedAt !== null ||
    decisions.some(({ caseId, caseVersion }) => caseId === found.id && caseVersion === found.version)
  const [newest, ...older] = [...found.evidence].reverse()
  const reason = withQuery(`/people/${found.accountId}`, {
    reason: `${texts.people.caseReason} ${found.service} ${found.id}`
  })
  return html`
    <p class="crumbs"><a href="/queue" data-key="u">${texts.pages.queue}<kbd aria-hidden="true">u</kbd></a></p>
    <div class="head"><h1>${label(texts.targets, found.targetType)}${
    found.personName && html` · ${found.personName}`
  }</h1>
      <p>${
    found.resolvedAt
      ? badge(label(texts.outcomes, found.outcome), found.outcome === 'ACTION_TAKEN' ? 'bad' : 'good')
      : html`${priorityBadge(visit, found.priority)} ${due(visit, found.dueAt)}`
  } ${found.isHeld && badge(texts.queue.held, 'warn')}</p>
    </div>
    <div class="columns">
      <section aria-label="${texts.evidence.title}">
        <div class="card">
          <h2>${texts.evidence.title}</h2>
          ${newest && evidenceOf(visit, newest, found.accountId)}
          ${filesOf(visit, pathOfCase(found), found.files, !found.isRestricted || visit.can('restricted-files.read'))}
        </div>
        ${
    older.map((each) =>
      html`<details class="card"><summary>${texts.evidence.earlier} ${time(visit, each.createdAt)}</summary>${
        evidenceOf(visit, each, found.accountId)
      }</details>`
    )
  }
        <div class="card">${reportsOf(visit, found.reports, found.reportsCount)}</div>
      </section>
      <aside aria-label="${texts.decision.title}">
        ${
    isDecided
      ? resolution(visit, found, decisions)
      : found.hidesPictures && !visit.can('restricted-files.read')
      ? html`<p class="note warn">${texts.problems.codes.CASE_RESTRICTED}</p>`
      : decisionPanel(visit, found)
  }
        <div class="card"><h2>${texts.people.person}</h2>
          <p><a class="button" href="${reason}" data-key="p">${texts.people.openPerson}<kbd aria-hidden="true">p</kbd></a></p>
          <p class="meta">${
    texts.say('people.earlier', {
      number: decisions.filter(({ outcome }) => outcome === 'ACTION_TAKEN').length
    })
  }</p>
        </div>
        ${visit.can('holds.change') && holdForm(visit, found)}
      </aside>
    </div>`
}

/** A held case is never purged. */
function holdForm ({ texts }: Visit, found: OpenedCase) {
  const change = found.isHeld ? 'release' : 'hold'
  const path = `${pathOfCase(found)}/${change}`
  return html`<details class="card"><summary>${texts.hold[change]}</summary><p class="meta">${texts.hold.text}</p>
    <form method="post" action="${path}">${reasonField(texts)}
    <button>${texts.hold[change]}</button></form></details>`
}

function resolution (visit: Visit, found: OpenedCase, decisions: Decision[]) {
  const own = decisions.filter(({ caseId }) => caseId === found.id)
  return html`<h2>${visit.texts.decision.decided} ${found.resolvedAt && time(visit, found.resolvedAt)}</h2>${
    own.map((each) => decisionCard(visit, each))
  }`
}

/** The photos of a profile that can be removed one by one. */
function photosOf ({ evidence }: Case) {
  const photos = evidence.at(-1)?.content['photos']
  return Array.isArray(photos)
    ? photos.flatMap((each: { id?: unknown }) => typeof each.id === 'string' ? [each.id] : [])
    : []
}

function contentActions (visit: Visit, found: Case) {
  const { texts } = visit
  const photos = photosOf(found)
  return html`
    ${contentAction(visit, found.targetType)}
    ${
    photos.length > 0 &&
    html`<label><input type="checkbox" name="action" value="REMOVE_PHOTO"> ${texts.actions.REMOVE_PHOTO}</label>
    <div class="row indent"><label>${texts.decision.whichPhoto}<select name="photoId">${
      photos.map((id, index) =>
        html`<option value="${id}">${texts.say('picture.name', { number: index + 1 })}</option>`
      )
    }</select></label></div>`
  }`
}

function decisionPanel (visit: Visit, found: OpenedCase): Html {
  const { texts, staff } = visit
  const words = texts.decision
  const isMine = found.claimedBy === staff.id
  return html`
    <div class="card claim">
      ${
    isMine
      ? html`<p>${badge(texts.queue.claimedByYou, 'good')} <span class="meta">${words.until} ${
        time(visit, found.claimedUntil)
      }</span></p>`
      : html`<form method="post" action="${pathOfCase(found)}/claim" class="row">
        ${found.claimedBy && html`<p class="note warn">${words.claimedByOther}</p>`}
        <button data-key="c">${found.claimedBy ? words.takeOver : words.claim}<kbd aria-hidden="true">c</kbd></button>
      </form>`
  }
    </div>
    <form method="post" action="${pathOfCase(found)}" class="card decide">
      <h2>${words.title}</h2>
      <input type="hidden" name="version" value="${found.version}">
      <input type="hidden" name="accountId" value="${found.accountId}">
      <fieldset class="verdict"><legend>${words.verdict}</legend>
        <label><input type="radio" name="verdict" value="DISMISS" data-key="d" required> ${words.dismiss}<kbd aria-hidden="true">d</kbd></label>
        <label><input type="radio" name="verdict" value="ACT" data-key="v"> ${words.act}<kbd aria-hidden="true">v</kbd></label>
      </fieldset>
      <fieldset class="measures"><legend>${words.measures}</legend>
        ${decisionFields(visit, { reason: mainReason(found.reports), extra: contentActions(visit, found) })}
      </fieldset>
      <p class="row"><button class="primary" name="then" value="next">${words.decideNext}</button>
        <button name="then" value="queue">${words.decide}</button></p>
    </form>`
}
