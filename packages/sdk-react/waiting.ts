import type { OutboxEntry } from '@tandem/sdk'
import { skipToken, useQuery } from '@tanstack/react-query'
import { keys } from './keys.ts'

/** What waits in the outbox: show it as if it had been sent. */
export const useWaiting = () =>
  useQuery<OutboxEntry[]>({ queryKey: keys.waiting, queryFn: skipToken, staleTime: Infinity }).data ?? []
