import { randomUUID } from 'node:crypto'
import t from 'tap'
import { recordedEvents } from '@tandem/bus-kit/testing'
import { PersonBlocked, PersonHidden, PersonUnblocked, TrustedContactEnded } from '@tandem/contracts'
import { pendingMails } from '@tandem/mail-kit/testing'
import { testApp } from '../test/app.ts'

// A contact whose own account is banned, leaves, or is in a block with the person. Most contacts have no account.

const { reset } = await testApp(t)
const path = '/notifications/trusted-contact'
let events = 0

function setUp () {
  const { db, neighbours, person, send, receive, inbox } = reset()
  const account = async (name: string, { emailVerified = true } = {}) => {
    const id = await person(name)
    neighbours.contacts.set(id, { email: `${id}@example.com`, name, locale: 'en', emailVerified })
    return { id, email: `${id}@example.com` }
  }
  const contactOf = async ({ id }: { id: string }) => (await send(id, 'GET', path)).data.contact
  return {
    neighbours,
    account,
    contactOf,
    ask: async ({ id }: { id: string }, email: string) => await send(id, 'PUT', path, { name: 'Mum', email }),
    /** Ana, whose contact is a new account that has agreed. */
    givenContact: async (options?: { emailVerified: boolean }) => {
      const [ana, mum] = [await account('Ana'), await account('Mum', options)]
      const contact = { account_id: ana.id, name: 'Mum', email: mum.email, locale: 'en', status: 'CONFIRMED' as const }
      await db.insertInto('trusted_contacts').values(contact).execute()
      return { ana, mum }
    },
    block: async (blocker: { id: string }, blocked: { id: string }, type = PersonBlocked.type) =>
      await receive(type, { blockerId: blocker.id, blockedId: blocked.id }, { sequence: ++events }),
    hide: async ({ id }: { id: string }, isBannedOrLeaving: boolean) => {
      neighbours.contacts.get(id)!.isBannedOrLeaving = isBannedOrLeaving
      await receive(PersonHidden.type, { accountId: id, hidden: true })
    },
    mailsTo: async (email: string) => (await pendingMails(db)).filter(({ recipient }) => recipient === email),
    endedOf: async ({ id }: { id: string }) =>
      (await recordedEvents(db)).filter(({ type, data }) =>
        type === TrustedContactEnded.type && (data as { accountId: string }).accountId === id
      ).length,
    titlesOf: async ({ id }: { id: string }) =>
      (await inbox(id)).notifications.map(({ title }: { title: string }) => title)
  }
}

t.test('a contact ends with a block either way, a ban or a deletion; the person is notified without the reason', async (t) => {
  const { givenContact, block, hide, contactOf, endedOf, titlesOf } = setUp()
  type Pair = Awaited<ReturnType<typeof givenContact>>
  const ways: [name: string, end: (pair: Pair) => Promise<unknown>][] = [
    ['the contact blocks the person', async ({ ana, mum }) => await block(mum, ana)],
    ['the person blocks the contact', async ({ ana, mum }) => await block(ana, mum)],
    ['the contact is banned or leaves', async ({ mum }) => await hide(mum, true)]
  ]
  for (const [name, end] of ways) {
    const pair = await givenContact()
    for (const _ of [1, 2]) await end(pair)
    t.equal(await contactOf(pair.ana), null, name)
    t.equal(await endedOf(pair.ana), 1, 'fitmatch ends the meetings that count on them, once')
    t.same(await titlesOf(pair.ana), ['You have no trusted contact any more'])
  }
})

t.test('a contact stays with a pause, an address that nobody verified, a block that ended, and other people', async (t) => {
  const { givenContact, account, block, hide, contactOf } = setUp()
  const { ana, mum } = await givenContact()
  await hide(mum, false)
  await block(await account('Cat'), ana)
  t.match(await contactOf(ana), { status: 'CONFIRMED' })

  // Somebody could otherwise register the address of a contact, and keep the alarm from them.
  const { ana: other, mum: unverified } = await givenContact({ emailVerified: false })
  await block(unverified, other)
  await hide(unverified, true)
  t.match(await contactOf(other), { status: 'CONFIRMED' })

  const { ana: third, mum: friend } = await givenContact()
  await block(third, friend, PersonUnblocked.type)
  // The events of a block arrive in their order, and an older one late.
  t.match(await contactOf(third), { status: 'CONFIRMED' })
})

t.test('people who are not eligible are not asked, and the person cannot tell', async (t) => {
  const { account, block, ask, contactOf, mailsTo, neighbours } = setUp()
  const [ana, blocker, banned, friend] = [
    await account('Ana'),
    await account('Blocker'),
    await account('Banned'),
    await account('Friend')
  ]
  await block(blocker, ana)
  neighbours.contacts.get(banned.id)!.isBannedOrLeaving = true
  for (const { email } of [blocker, banned, friend]) {
    t.match(await ask(ana, email), { status: 200, data: { contact: { email, status: 'PENDING' } } })
    t.match(await contactOf(ana), { email, status: 'PENDING' })
    t.equal((await mailsTo(email)).length, email === friend.email ? 1 : 0)
  }
})

t.test('while identity is unavailable nothing ends, and the event is handled again', async (t) => {
  const { givenContact, block, contactOf, neighbours } = setUp()
  const { ana, mum } = await givenContact()
  neighbours.isIdentityUnavailable = true
  await t.rejects(block(mum, ana), { code: 'SERVICE_UNAVAILABLE' })
  neighbours.isIdentityUnavailable = false
  await block(mum, ana)
  t.equal(await contactOf(ana), null)
  t.equal(await contactOf({ id: randomUUID() }), null)
})
