import { createHash, randomBytes } from 'node:crypto'

const TOKEN_BYTES = 32

/** A secret of 256 random bits. */
export const generateToken = () => randomBytes(TOKEN_BYTES).toString('base64url')

/** What is stored of a token. It is random, so an unsalted digest is enough to look it up. */
export const digestOfToken = (token: string) => createHash('sha256').update(token).digest()
