import { randomUUID } from 'node:crypto'
import t from 'tap'
import { testApp } from '../test/app.ts'

const { reset } = await testApp(t)

t.test('blocked people create no notifications, and their earlier ones are removed', async (t) => {
  const { receive, inbox, person, device, deliverAll, provider, log } = reset()
  const [ana, ben, cem] = [await person('Ana'), await person('Ben'), await person('Cem')]
  await device(ana)
  const message = (senderId: string, recipientId = ana) =>
    receive('fitmatch.message.sent.v1', {
      matchId: randomUUID(),
      messageId: randomUUID(),
      senderId,
      senderName: senderId === cem ? 'Cem' : 'Other',
      recipientId,
      hasImage: false
    })
  await message(ben)
  await message(cem)
  t.equal((await inbox(ana)).unreadCount, 2)

  await receive('fitmatch.person.blocked.v1', { blockerId: ana, blockedId: ben })
  await message(ben)
  await message(ana, ben)
  t.match(await inbox(ana), { notifications: [{ title: 'Cem' }], unreadCount: 1 })
  t.match(await inbox(ben), { notifications: [], unreadCount: 0 })

  await deliverAll()
  t.match(provider.sent, [{ title: 'Cem' }], 'waiting pushes are not sent')
  t.match((await log(ana)).map((each: { status: string }) => each.status).sort(), ['muted', 'sent'])

  await receive('fitmatch.person.unblocked.v1', { blockerId: ana, blockedId: ben })
  await message(ben)
  t.equal((await inbox(ana)).unreadCount, 2)
})

t.test('of a block and an unblock in the same millisecond the later one wins, whichever arrives first', async (t) => {
  const { receive, inbox, person } = reset()
  const [ana, ben] = [await person('Ana'), await person('Ben')]
  const at = new Date()
  const message = async () => {
    await receive('fitmatch.message.sent.v1', {
      matchId: randomUUID(),
      messageId: randomUUID(),
      senderId: ben,
      recipientId: ana,
      hasImage: false
    })
    return (await inbox(ana)).unreadCount
  }
  await receive('fitmatch.person.blocked.v1', { blockerId: ana, blockedId: ben }, { at, sequence: 3 })
  await receive('fitmatch.person.unblocked.v1', { blockerId: ana, blockedId: ben }, { at, sequence: 2 })
  t.equal(await message(), 0)
  await receive('fitmatch.person.unblocked.v1', { blockerId: ana, blockedId: ben }, { at, sequence: 4 })
  t.equal(await message(), 1)
})
