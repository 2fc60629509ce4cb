import { randomUUID } from 'node:crypto'

const folderOf = (accountId: string) => `selfies/${accountId}/`

/** Creates the key of a selfie. Selfies are private and never served by their key, so it may name the account. */
export const createSelfieKey = (accountId: string) => `${folderOf(accountId)}${randomUUID()}.webp`

/** The pattern of LIKE for the keys of an account's selfies. */
export const selfieKeyPattern = (accountId: string) => `${folderOf(accountId)}%`

export const isSelfieKey = (key: string) => key.startsWith('selfies/')
