import { on } from '@tandem/bus-kit'
import { MessagesRead } from '@tandem/contracts'
import type { Deps } from '../deps.ts'
import { markMessagesRead } from './actions.ts'

export const onMessagesRead = ({ db }: Deps) => on(MessagesRead, async ({ data }) => await markMessagesRead(db, data))
