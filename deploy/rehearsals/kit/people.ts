import { setTimeout as sleep } from 'node:timers/promises'
import { call } from './call.ts'
import { retry } from './retry.ts'
import type { Stack } from './stack.ts'

/** Of everybody who registers. */
export const PASSWORD = 'Correct-horse-7'

interface Registered {
  accessToken: string
  user: { id: string }
}

export interface Member {
  email: string
  password: string
  accessToken: string
}

/** Registers a person and verifies them with the code from the email, as an app does. */
export async function becomeMember (stack: Stack, email: string): Promise<Member> {
  const { accessToken } = await register(stack, email)
  if (accessToken) return { email, password: PASSWORD, accessToken }
  const body = { email, password: PASSWORD }
  const signedIn = await retry(async () => await call<{ accessToken: string }>(stack, 'POST', '/auth/login', { body }))
  return { email, password: PASSWORD, accessToken: signedIn.accessToken }
}

/**
 * Registers a person and verifies them, however often a response is lost.
 * @returns undefined as the token if the response with it was lost
 */
export async function register (stack: Stack, email: string) {
  let known: string | undefined
  const { userId, accessToken } = await retry(async (attempt) => {
    try {
      const body = { email, password: PASSWORD }
      const { user, accessToken } = await call<Registered>(stack, 'POST', '/auth/register', { body })
      return { userId: user.id, accessToken }
    } catch (error) {
      if (attempt === 1 || (error as Error).cause !== 409) throw error
      // An earlier attempt has created the account, and only another code brings its id.
      known = await newestCode(stack, email)
      return {
        ...await call<{ userId: string }>(stack, 'POST', '/auth/resend-verification', { body: { email } }),
        accessToken: undefined
      }
    }
  })
  const code = await codeMailedTo(stack, email, known)
  await retry(async (attempt) => {
    await call(stack, 'POST', '/auth/verify-email', { body: { userId, code } }).catch((error: unknown) => {
      // An earlier attempt has used the code.
      if (attempt === 1 || (error as Error).cause !== 400) throw error
    })
  })
  return { accessToken }
}

/** Waits for the code in the newest email, unless it is `known` already. */
export async function codeMailedTo (stack: Stack, email: string, known?: string) {
  for (;;) {
    const code = await newestCode(stack, email)
    if (code && code !== known) return code
    await sleep(50)
  }
}

/** The code in the newest email; undefined if there is none. */
export const newestCode = async (stack: Stack, email: string) => /\b\d{6}\b/.exec(await newestMail(stack, email))?.[0]

/** Waits for the link in the newest email. */
export async function linkMailedTo (stack: Stack, email: string) {
  for (;;) {
    const [link] = /\bhttps?:\S+/.exec(await newestMail(stack, email)) ?? []
    if (link) return link
    await sleep(50)
  }
}

async function newestMail (stack: Stack, email: string) {
  const response = await fetch(`${stack.mail.url}/api/mails?to=${encodeURIComponent(email)}`)
  const [mail] = await response.json() as { text: string }[]
  return mail?.text ?? ''
}
