import { on } from '@tandem/bus-kit'
import { MessagesRead } from '@tandem/contracts'
import type { Deps } from '../deps.ts'
import { markMessagesRead } from './actions.ts'

export const onMessagesRead = (deps: Deps) =>
  on(MessagesRead, async ({ data, time }) => await markMessagesRead(deps, data, time))
