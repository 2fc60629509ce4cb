import t from 'tap'
import { lastSequenceBefore, publishInOrder } from './publish-in-order.ts'

const PERMANENT = new Error('too large')
const TRANSIENT = new Error('no connection')

/** Publishes rows such as `a1`, of subject `a`; `failures` names those that the broker does not accept. */
async function publishRows (ids: string[], failures: Record<string, Error> = {}, limit = Infinity) {
  const attempts: string[] = []
  const { acked, rejected, failure } = await publishInOrder(ids.map((id) => ({ id, subject: id.charAt(0) })), {
    async publish ({ id }) {
      attempts.push(id)
      await Promise.resolve()
      if (failures[id]) throw failures[id]
      return { seq: attempts.length }
    },
    isPermanent: (error) => error === PERMANENT,
    isTimeOver: () => attempts.length >= limit
  })
  return { attempts, acked: acked.map(({ row }) => row.id), rejected: rejected.map(({ row }) => row.id), failure }
}

t.test('subjects are published in parallel, the rows of one subject in order', async (t) => {
  const { attempts, acked, rejected, failure } = await publishRows(['a1', 'a2', 'b1', 'a3', 'b2'])
  t.same(attempts, ['a1', 'b1', 'a2', 'b2', 'a3'])
  t.same([acked.length, rejected, failure], [5, [], undefined])
})

t.test('a rejected row does not stop its subject; any other failure does, but not other subjects', async (t) => {
  const rows = ['a1', 'a2', 'b1', 'b2']
  const permanent = await publishRows(rows, { a1: PERMANENT })
  t.same([permanent.acked.toSorted(), permanent.rejected, permanent.failure], [['a2', 'b1', 'b2'], ['a1'], undefined])
  const transient = await publishRows(rows, { a1: TRANSIENT })
  t.same([transient.acked, transient.rejected, transient.failure], [['b1', 'b2'], [], TRANSIENT])
})

t.test('when the time is over, the other rows wait without a failure', async (t) => {
  const { acked, failure } = await publishRows(['a1', 'a2', 'b1', 'b2'], {}, 2)
  t.same([acked, failure], [['a1', 'b1'], undefined])
})

t.test('the end of the stream before a batch comes from its new messages only', async (t) => {
  const ack = (seq: number, duplicate = false) => ({ seq, duplicate })
  t.equal(lastSequenceBefore([]), undefined)
  t.equal(lastSequenceBefore([ack(3, true)]), undefined)
  t.equal(lastSequenceBefore([ack(9), ack(8), ack(3, true)]), 7)
})
