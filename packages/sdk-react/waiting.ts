import type { OutboxEntry, QueuedOperation } from '@tandem/sdk'
import { skipToken, useQuery } from '@tanstack/react-query'
import { keys } from './keys.ts'

/** What waits in the outbox: show it as if it had been sent. */
export const useWaiting = () =>
  useQuery<OutboxEntry[]>({ queryKey: keys.waiting, queryFn: skipToken, staleTime: Infinity }).data ?? []

/** The texts of a thread that wait, in their order. */
export const useWaitingTexts = (operation: QueuedOperation, thread: string) =>
  useWaiting().filter((entry) => entry.operation === operation && entry.thread === thread)
    .map(({ id, options }) => ({ id, content: (options as { body: { content: string } }).body.content }))
