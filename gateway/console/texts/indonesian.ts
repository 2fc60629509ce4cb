import type { Texts } from './english.ts'
import { moderation } from './indonesian/moderation.ts'
import { operations } from './indonesian/operations.ts'
import { shell } from './indonesian/shell.ts'
import { support } from './indonesian/support.ts'

export const indonesian: Texts = { ...shell, ...moderation, ...support, ...operations }
