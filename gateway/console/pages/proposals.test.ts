import { randomUUID } from 'node:crypto'
import t from 'tap'
import { at, person, proposal, testPages } from '../../test/console-pages.ts'

const { answers, call, submit } = await testPages(t)

t.test('what takes two operators says so, and another one confirms it', async (t) => {
  answers.set('identity POST /operator/decisions', { proposalId: randomUUID(), expiresAt: at })
  const ban: [string, string][] = [['action', 'BAN'], ['reason', 'SPAM'], ['statement', 'You sold pills.'], [
    'why',
    'case 7'
  ]]
  t.match(await submit(`/people/${person.accountId}/decisions`, ban), {
    status: 303,
    headers: { location: `/people/${person.accountId}?reason=case+7&done=proposed` }
  })
  const { text } = await call('/proposals')
  t.equal([...text.matchAll(/\/confirm"/g)].length, 1, 'nobody confirms their own')
  t.equal([...text.matchAll(/\/withdraw"/g)].length, 2)
  answers.set('identity POST /operator/proposals/:id/confirm', {})
  t.match(await submit(`/proposals/identity/${proposal.id}/confirm`, []), {
    headers: { location: '/proposals?done=proposal-confirm' }
  })
  t.equal((await submit(`/proposals/profile/${proposal.id}/confirm`, [])).status, 404)
})

t.test('the second operator sees all that they confirm', async (t) => {
  const [caseId, held] = [randomUUID(), randomUUID()]
  const of = (kind: string, payload: object, subject: string = randomUUID()) => ({
    ...proposal,
    id: randomUUID(),
    kind,
    reason: 'Why',
    subject,
    payload
  })
  const decision = {
    case: { service: 'social', id: caseId, version: 1 },
    actions: [{ type: 'HIDE_CONTENT' }, { type: 'BAN' }],
    statement: 'You sold pills.',
    note: 'As in May'
  }
  answers.set('identity GET /operator/proposals', {
    proposals: [
      of('BAN', { decision, interimId: randomUUID() }),
      of('ERASE', { days: 14 }),
      of('HOLD', { change: 'HOLD', hold: { days: 30 } }),
      of('HOLD', { change: 'RELEASE' })
    ]
  })
  answers.set('social GET /operator/proposals', { proposals: [of('HOLD', { isHeld: false }, held)] })
  answers.set('notification GET /operator/proposals', {
    proposals: [of('BROADCAST', { title: { en: 'Park run', id: 'Lari' }, body: { en: 'At seven', id: 'Jam tujuh' } })]
  })
  const { text } = await call('/proposals')
  for (
    const shown of [
      /You sold pills\./,
      /As in May/,
      `/cases/social/${caseId}`,
      /Can be canceled for<\/dt><dd>14 days/,
      /<p>Hold · 30 days/,
      /<p>Let it go on/,
      `<p>End the hold · <a href="/cases/social/${held}">`,
      /Park run<\/strong><br>At seven/,
      /Lari<\/strong><br>Jam tujuh/
    ]
  ) t.match(text, shown)
})

t.test('a change of operators says what it is, and which operator it is about', async (t) => {
  const subject = 'cleo@example.com'
  const change = (payload: object) => ({ ...proposal, kind: 'STAFF', accountId: null, reason: '', subject, payload })
  answers.set('identity GET /operator/proposals', {
    proposals: [change({ change: 'INVITE', role: 'ADMIN' }), change({ change: 'REMOVE' })]
  })
  const { text } = await call('/proposals')
  t.match(text, /<p>Invite cleo@example\.com <span class="badge[^>]*>Administrator<\/span>/)
  t.match(text, /<p>Remove cleo@example\.com/)
})
