import t from 'tap'
import { Connection, PostLiked, WEBHOOK_TYPES } from '@tandem/contracts'
import { clientFrames, serverFrames } from '@tandem/contracts/realtime'
import { compareContracts, readContracts, type Published } from './messages.ts'

const like = { '': { types: ['object'] }, postId: { types: ['string(uuid)'] }, excerpt: { types: ['null', 'string'] } }
const id = { types: ['string(uuid)'] }
const event = (fields: object, { sample = 'one', faults = [] as string[] } = {}) => ({
  [PostLiked.type]: { data: { fields: { ...fields }, sample, faults } }
})
const rpc = (request: object, response: object, { sample = 'one', faults = [] as string[] } = {}) => ({
  [Connection.type]: {
    request: { fields: { '': { types: ['object'] }, ...request }, sample: 'one', faults },
    response: { fields: { '': { types: ['object'] }, ...response }, sample, faults: [] }
  }
})
const of = (service: string, { consumes = [PostLiked], calls = [Connection] } = {}) => ({
  service,
  consumes,
  provides: [],
  calls
})
const consumers = [of('notification'), of('dashboard'), of('profile', { consumes: [], calls: [] })]
const compare = (before: Published, after: Parameters<typeof compareContracts>[1]) =>
  compareContracts(before, after, consumers)
const ending = 'notification and dashboard consume it. Leave it as it was, and publish social.post.liked.v2 beside it.'
const ofRpc = 'notification and dashboard call it. Leave it as it was, and provide social.connection.v2 beside it.'

t.test('an incompatible event is one sentence that names the event, the field and its consumers', (t) => {
  const { excerpt: _, ...without } = like
  t.same(compare(event(like), event(without)), [`Event social.post.liked.v1: the field "excerpt" is gone. ${ending}`])
  t.same(compare(event(like), event({ ...without, excerpt: { types: ['string'] } })), [
    `Event social.post.liked.v1: "excerpt" was null | string and is now string. ${ending}`
  ])
  t.same(
    compare(
      event(like),
      event({ ...without, words: id }, { faults: ['the sample does not parse: must have required property words'] })
    ),
    [`Event social.post.liked.v1: the field "excerpt" is gone; the field "words" is new and required. ${ending}`]
  )
  t.same(compare(event(like), event({ ...like, at: id }, { sample: 'another' })), [
    `Event social.post.liked.v1: the field "at" is new and required; the sample was edited or removed. ${ending}`
  ], 'an edited sample proves nothing')
  t.match(compare(event(like), { [PostLiked.type]: rpc({}, {})[Connection.type] ?? {} }), [
    /^RPC social\.post\.liked\.v1: the data is gone\. /
  ])
  t.same(compare(event(like), {}), [`Event social.post.liked.v1: it is gone. ${ending}`])
  t.same(compare(event(like), event(like, { sample: 'another' })), [
    `Event social.post.liked.v1: the sample was edited or removed. ${ending}`
  ])
  t.same(
    compare(event(like), event(like, { faults: ['the sample does not parse: postId must match format "uuid"'] })),
    [`Event social.post.liked.v1: the sample does not parse: postId must match format "uuid". ${ending}`]
  )
  t.end()
})

t.test('what stays compatible is not reported', (t) => {
  t.same(compare(event(like), event(like)), [])
  t.same(compare(event(like), event({ ...like, at: { ...id, optional: true } })), [])
  t.same(compare(event(like), event({ ...like, at: id })), [], 'a required field that the sample has')
  t.same(compare({}, event(like)), [], 'a new event')
  t.end()
})

t.test('a new event needs a sample that parses', (t) => {
  t.same(compare({}, event(like, { faults: ['there is no sample'] })), [
    'Event social.post.liked.v1: there is no sample. notification and dashboard consume it. ' +
    'Add or correct the sample in packages/contracts/samples.'
  ])
  t.end()
})

t.test('an incompatible RPC names the side and its callers', (t) => {
  const isMatched = { types: ['boolean'] }
  const before = rpc({ accountId: id }, { isMatched })
  t.same(compare(before, rpc({ accountId: id }, {})), [
    `RPC social.connection.v1: response: the field "isMatched" is gone. ${ofRpc}`
  ])
  t.same(
    compare(
      before,
      rpc({ accountId: id, otherId: id }, { isMatched }, {
        faults: ['the sample does not parse: must have required property otherId']
      })
    ),
    [`RPC social.connection.v1: request: the field "otherId" is new and required. ${ofRpc}`]
  )
  t.same(compare(before, rpc({ accountId: id }, { isMatched }, { sample: 'another' })), [
    `RPC social.connection.v1: response: the sample was edited or removed. ${ofRpc}`
  ])
  t.same(
    compare(before, rpc({ accountId: { types: ['string'] }, otherId: { ...id, optional: true } }, { isMatched })),
    [],
    'a request that needs less'
  )
  t.end()
})

t.test('what leaves for apps and other systems is compared, too', (t) => {
  const outside = (part: 'sent' | 'received', fields: object) => ({
    'gateway.frame.hello': { [part]: { fields: { '': { types: ['object'] }, ...fields }, faults: [] } }
  })
  const matchId = { types: ['string(uuid)'] }
  t.same(compare(outside('sent', { matchId }), outside('sent', {})), [
    'Message gateway.frame.hello: the field "matchId" is gone. Apps and other systems rely on it. Leave it as it was.'
  ])
  t.match(compare(outside('sent', { matchId }), {}), [/it is gone/])
  t.same(compare(outside('sent', {}), outside('sent', { matchId })), [])
  t.match(compare(outside('received', {}), outside('received', { matchId })), [/"matchId" is new and required/])
  t.end()
})

t.test('every frame and webhook is in what was published', async (t) => {
  const names = Object.keys(await readContracts())
  for (const name of Object.keys(serverFrames)) t.ok(names.includes(`gateway.frame.${name}`), name)
  for (const name of Object.keys(clientFrames)) t.ok(names.includes(`gateway.client-frame.${name}`), name)
  for (const name of WEBHOOK_TYPES) t.ok(names.includes(`notification.webhook-data.${name}`), name)
})

t.test('a sentence names one consumer, or says that there is none', (t) => {
  t.match(compareContracts(event(like), {}, [of('notification')])[0], / notification consumes it\. /)
  t.match(compareContracts(event(like), {}, [])[0], / No service consumes it\. /)
  t.end()
})
