/** What became of a batch. Rows in neither list wait for the next one. */
export interface BatchResult<Row, Ack> {
  acked: (Ack & { row: Row })[]
  rejected: { row: Row, error: unknown }[]
  /** Why rows were left, if not for lack of time. */
  failure?: unknown
}

interface PublishOptions<Row, Ack> {
  publish(row: Row): Promise<Ack>
  /** Whether the broker will never accept this row. Others may still succeed. */
  isPermanent(error: unknown): boolean
  isTimeOver(): boolean
}

/**
 * Publishes rows in parallel, but within one subject each only after the previous one is stored. A row that the broker
 * never accepts is rejected and its subject continues; any other failure ends its subject.
 */
export async function publishInOrder<Row extends { subject: string }, Ack extends object> (
  rows: Row[],
  { publish, isPermanent, isTimeOver }: PublishOptions<Row, Ack>
): Promise<BatchResult<Row, Ack>> {
  const result: BatchResult<Row, Ack> = { acked: [], rejected: [] }
  await Promise.all(
    Map.groupBy(rows, (row) => row.subject).values().map(async (sameSubject) => {
      for (const row of sameSubject) {
        if (isTimeOver()) return
        try {
          result.acked.push({ row, ...await publish(row) })
        } catch (error) {
          if (!isPermanent(error)) {
            result.failure = error
            return
          }
          result.rejected.push({ row, error })
        }
      }
    })
  )
  return result
}

/**
 * The last sequence of the stream before a batch, or undefined if the broker stored none of it now. A row of an earlier
 * batch beyond it is lost: the broker lost the end of the stream, and gave its sequences to new messages.
 */
export function lastSequenceBefore (acked: { seq: number, duplicate: boolean }[]) {
  const newSequences = acked.filter((ack) => !ack.duplicate).map((ack) => ack.seq)
  return newSequences.length > 0 ? Math.min(...newSequences) - 1 : undefined
}
