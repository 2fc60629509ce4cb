import { randomUUID } from 'node:crypto'
import { openAsBlob } from 'node:fs'
import path from 'node:path'
import { call } from '@tandem/rehearsals/kit/call.ts'
import { PASSWORD } from '@tandem/rehearsals/kit/people.ts'
import { pictureForm } from '@tandem/rehearsals/kit/pictures.ts'
import { retry } from '@tandem/rehearsals/kit/retry.ts'
import type { Stack } from '@tandem/rehearsals/kit/stack.ts'
import { upload } from '@tandem/rehearsals/kit/upload.ts'
import sharp from 'sharp'
import type { Person } from './people.ts'

/** A person of the demo, and what they do through the public API. */
export interface Member {
  person: Person
  accountId: () => Promise<string>
  send: <Data>(method: string, route: string, body?: object) => Promise<Data>
  /** Uploads a drawing and returns its URL. */
  upload: (route: string, svg: string, field?: string) => Promise<string>
  /** Uploads one of the videos in `videos`, with a drawing as its poster. @returns its URL */
  uploadVideo: (name: string, poster: string) => Promise<string>
}

// Access tokens live for 15 minutes.
const SIGN_IN_AGAIN_MS = 10 * 60_000

interface SignIn {
  accessToken: string
  user: { id: string }
}

/** Signs in with the first request, and again before the token expires. */
export function createMember (stack: Stack, person: Person): Member {
  let current: Promise<SignIn> | undefined
  let since = 0
  const session = async () => {
    if (!current || Date.now() - since > SIGN_IN_AGAIN_MS) {
      since = Date.now()
      const body = { email: person.email, password: PASSWORD, deviceName: 'Demo' }
      current = retry(async () => await call<SignIn>(stack, 'POST', '/auth/login', { body }))
    }
    return await current
  }
  const token = async () => (await session()).accessToken

  async function uploadForm (route: string, form: Parameters<typeof upload>[2]) {
    const key = randomUUID()
    return await retry(async () => await upload(stack, route, form, { token: await token(), key }))
  }

  return {
    person,
    accountId: async () => (await session()).user.id,
    async send (method, route, body) {
      const key = randomUUID()
      return await retry(async () =>
        await call(stack, method, route, { token: await token(), key, ...(body && { body }) })
      )
    },
    async upload (route, svg, field) {
      const png = await sharp(Buffer.from(svg)).png({ compressionLevel: 3 }).toBuffer()
      return await uploadForm(route, pictureForm(png, field))
    },
    async uploadVideo (name, poster) {
      const form = new FormData()
      const png = await sharp(Buffer.from(poster)).png().toBuffer()
      form.append('poster', new File([new Uint8Array(png)], 'poster.png', { type: 'image/png' }))
      const type = name.endsWith('.mov') ? 'video/quicktime' : 'video/mp4'
      form.append('file', await openAsBlob(path.join(import.meta.dirname, 'videos', name), { type }), name)
      return await uploadForm('/media', { body: form })
    }
  }
}
