import { html } from '../html.ts'
import { withQuery, type Visit } from '../visit.ts'
import { redirectAfter, type Pages } from '../visits.ts'
import { empty, more, options, picture, segment, time } from './parts.ts'
import { pathOfPerson } from './people.ts'

interface Verification {
  id: string
  accountId: string
  displayName: string | null
  submittedAt: string
  hasSelfie: boolean
  photos: { isMain: boolean }[]
}

/** The waiting verifications, one on each page: the selfie beside the photos. */
export function serveVerifications ({ page, form, picture: servePicture }: Pages) {
  page('/verifications', 'verifications.decide', async (visit) => {
    const { texts, query: { cursor } } = visit
    const found = await visit.find<{ verifications: Verification[], nextCursor: string | null }>(
      'fitmatch',
      '/operator/verifications',
      { limit: 1, cursor }
    )
    const [verification] = found?.verifications ?? []
    return {
      title: texts.pages.verifications,
      content: html`<h1>${texts.pages.verifications}</h1>
        ${
        verification ? comparison(visit, verification) : empty(found ? texts.verifications.none : texts.queue.unknown)
      }
        ${
        found?.nextCursor &&
        more(
          { ...texts, layout: { ...texts.layout, more: texts.verifications.skip } },
          withQuery('/verifications', { cursor: found.nextCursor })
        )
      }`
    }
  })

  form('/verifications/:id', 'verifications.decide', async (visit, fields) => {
    const path = `/operator/verifications/${segment(visit.params['id'])}`
    const [reason, reasonCode] = [fields.text('reason'), fields.text('reasonCode')]
    if (fields.text('verdict') === 'approve') await visit.send('fitmatch', 'POST', `${path}/approve`)
    else await visit.send('fitmatch', 'POST', `${path}/reject`, { reason, reasonCode })
    return redirectAfter('/verifications', 'decided')
  })

  servePicture(
    '/verifications/:id/selfie',
    'verifications.decide',
    async (visit) =>
      await visit.fetchPicture('fitmatch', `/operator/verifications/${segment(visit.params['id'])}/selfie`)
  )

  servePicture('/verifications/:id/photos/:number', 'verifications.decide', async (visit) => {
    const { id, number } = visit.params
    return await visit.fetchPicture('fitmatch', `/operator/verifications/${segment(id)}/photos/${segment(number)}`)
  })
}

function comparison (visit: Visit, { id, accountId, displayName, submittedAt, hasSelfie, photos }: Verification) {
  const { texts } = visit
  const words = texts.verifications
  const path = `/verifications/${segment(id)}`
  const reason = `${texts.people.verificationReason} ${id}`
  return html`
    <div class="row spread"><h2>${displayName ?? words.noProfile}</h2>
      <p class="meta">${time(visit, submittedAt)} · <a href="${
    pathOfPerson(accountId, reason)
  }" data-key="p">${texts.people.openPerson}<kbd aria-hidden="true">p</kbd></a></p></div>
    <div class="compare">
      <section class="card"><h3>${words.selfie}</h3>${
    hasSelfie ? picture(visit, { number: 1, path: `${path}/selfie` }) : empty(words.noSelfie)
  }</section>
      <section class="card"><h3>${words.photos}</h3><div class="pictures">${
    photos.map(({ isMain }, index) =>
      html`<div>${picture(visit, { number: index + 2, path: `${path}/photos/${index + 1}` })}${
        isMain && html`<p class="meta">${words.main}</p>`
      }</div>`
    )
  }</div></section>
    </div>
    <div class="card row"><form method="post" action="${path}">
      <button class="primary" name="verdict" value="approve" data-key="a">${words.approve}<kbd aria-hidden="true">a</kbd></button>
    </form>
    <form method="post" action="${path}" class="row grow">
      <label>${words.reasonCode}<select name="reasonCode">${
    options(words.reasons, Object.keys(words.reasons), 'OTHER')
  }</select></label>
      <label class="grow">${words.reason}<input type="text" name="reason" required maxlength="500" list="rejections" autocomplete="off" data-key="r"></label>
      <datalist id="rejections">${
    Object.values(words.reasons).map((each) => html`<option value="${each}"></option>`)
  }</datalist>
      <button name="verdict" value="reject" class="danger">${words.reject}</button>
    </form></div>`
}
