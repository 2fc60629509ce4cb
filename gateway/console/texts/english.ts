import { moderation } from './english/moderation.ts'
import { operations } from './english/operations.ts'
import { shell } from './english/shell.ts'
import { support } from './english/support.ts'

/** Every text of the console. */
export const english = { ...shell, ...moderation, ...support, ...operations }

export type Texts = typeof english
