import { createHash, randomUUID } from 'node:crypto'
import { buffer } from 'node:stream/consumers'
import { sql } from 'kysely'
import t from 'tap'
import { checkExport } from '@tandem/account-kit/testing'
import type { PersonalDataPage } from '@tandem/contracts'
import { silentLog } from '@tandem/http-kit/testing'
import { diskStorage } from '@tandem/media-kit'
import { fromBufferPromise } from 'yauzl'
import { personalData } from '../personal-data.ts'
import { password, testApp } from '../test/app.ts'
import { seed } from '../test/personal-data.ts'
import { deleteExpiredFiles } from './actions.ts'
import { makeExports } from './worker.ts'

const publicKey = `public/${randomUUID()}.webp`
const goneKey = `private/${randomUUID()}.webp`
const selfieKey = `selfies/${randomUUID()}/${randomUUID()}.webp`
let calls: string[] = []

/** Three pages of two things of social, and one page of each other service. */
async function readPage (service: string, { accountId, after }: { accountId: string, after: string | null }) {
  calls.push(`${service} ${after}`)
  const rows = [{ id: `${service}-${after}`, owner: accountId }]
  if (service !== 'social') return { things: [{ name: 'things', rows, files: [selfieKey] }], next: null }
  const files = [publicKey, goneKey, 'https://elsewhere.example/a.png', '../../etc/passwd']
  const pages: Record<string, PersonalDataPage> = {
    null: { things: [{ name: 'posts', rows, files }], next: 'a' },
    a: { things: [{ name: 'posts', rows, files: [publicKey] }, { name: 'likes', rows, files: [] }], next: 'b' },
    b: { things: [{ name: 'likes', rows, files: [] }], next: null }
  }
  return pages[String(after)]!
}

const app = await testApp(t, { rpcResults: { personalData: async (...page) => await readPage(...page) } })
const { app: server, db, deps, givenAccount, get, post, send, expiryOfMail, mailsTo, mailWithSubject, mediaStorage } =
  app
await mediaStorage.put(publicKey, Buffer.from('an image'), 'image/webp')
await mediaStorage.put(selfieKey, Buffer.from('a selfie'), 'image/webp')

type Account = Awaited<ReturnType<typeof givenAccount>>
async function prove (as: Account) {
  await db.deleteFrom('proof_attempts').where('account_id', '=', as.id).execute()
  return (await post('/account/proof', { purpose: 'EXPORT', password }, { as })).data.proof as string
}
const request = async (as: Account) => await post('/account/export', { proof: await prove(as) }, { as })
const make = async (override: Partial<typeof deps> = {}, leaseSeconds = 90) =>
  await makeExports({ ...deps, ...override }, silentLog, { leaseSeconds })
const stateOf = async (as: Account) => (await get('/account/export', { as })).data?.export
const download = async (token: string, headers: Record<string, string> = {}, method: 'GET' | 'HEAD' = 'GET') =>
  await server.inject({ method, url: `/account/export/file?token=${token}`, headers })
const isLimitOver = async (as: Account) =>
  await sql`update exports set requested_at = now() - interval '25 hours' where account_id = ${as.id}`.execute(db)

async function tokenOf (as: Account) {
  const { text } = await mailWithSubject(as.email, /^Your Tandem data is ready$/)
  return /my-data#([\w-]{43})/.exec(text)![1]!
}

async function unzip (zip: Buffer) {
  const files = new Map<string, Buffer>()
  const archive = await fromBufferPromise(zip)
  for await (const entry of archive.eachEntry()) {
    files.set(entry.fileName, await buffer(await archive.openReadStreamPromise(entry)))
  }
  return files
}
const digest = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex')

t.afterEach(() => {
  calls = []
})

t.test('every table of identity is in the copy, and nothing of anybody else', async (t) => {
  await checkExport(t, { db, erasure: deps.erasure, personalData, seed, mayNameOther: [] })
})

t.test('a copy has every row and file, and its manifest every digest; the link comes by email', async (t) => {
  const ana = await givenAccount()
  t.match(await get('/account/export', { as: ana }), { status: 404, code: 'NOT_FOUND' })
  t.match(await request(ana), {
    status: 202,
    data: { export: { status: 'PENDING', progress: 0, bytes: null, readyAt: null } }
  })
  t.match(await mailsTo(ana.email), [{ subject: 'A copy of your Tandem data was requested' }])
  t.equal(await make(), 1)
  const state = await stateOf(ana)
  t.match(state, { status: 'READY', progress: 100, bytes: Number, readyAt: String, expiresAt: String })

  const response = await download(await tokenOf(ana))
  t.equal(
    (await expiryOfMail(ana.email, 'export-ready')).toISOString(),
    state.expiresAt,
    'the mail is sent as long as its link works'
  )
  t.match(response, { statusCode: 200, headers: { 'content-type': 'application/zip', 'accept-ranges': 'bytes' } })
  const zip = response.rawPayload
  t.equal(zip.length, state.bytes)
  t.equal(response.headers.etag, `"${digest(zip)}"`)
  const files = await unzip(zip)
  const json = (name: string) => JSON.parse(files.get(name)!.toString())
  t.same(json('social/posts.json').map(({ id }: { id: string }) => id), ['social-null', 'social-a'])
  t.same(json('social/likes.json').map(({ id }: { id: string }) => id), ['social-a', 'social-b'])
  t.match(json('identity/accounts.json'), [{ email: ana.email, name: 'Ana' }])
  t.equal(files.get(`media/${publicKey}`)?.toString(), 'an image')
  t.equal(files.get(`media/${selfieKey}`)?.toString(), 'a selfie')

  const manifest = json('manifest.json')
  t.match(manifest, {
    rows: { social: { posts: 2, likes: 2 }, fitmatch: { things: 1 } },
    missing: [`media/${goneKey}`]
  })
  t.same(
    manifest.files.map(({ path, bytes, sha256 }: { path: string, bytes: number, sha256: string }) =>
      files.get(path)!.length === bytes && digest(files.get(path)!) === sha256 ? path : `not ${path}`
    ).sort(),
    [...files.keys()].filter((path) => path !== 'manifest.json').sort()
  )
  t.notOk([...files.keys()].some((path) => path.includes('..')), 'no path leaves the folder')
  const index = files.get('index.html')!.toString()
  t.match(index, 'social/posts.json')
  t.notMatch(index, '<script')
  t.same(
    await deps.privateStorage.list('exports/').then((keys) => keys.filter((key) => key.includes('/pages/'))),
    [],
    'the pages are deleted'
  )
})

t.test('it needs a proof and a verified address, one at a time and one a day', async (t) => {
  const [ana, ben, eve] = [await givenAccount(), await givenAccount(), await givenAccount({ verified: false })]
  t.match(await post('/account/export', { proof: 'x' }, { as: ana }), { status: 403, code: 'PROOF_REQUIRED' })
  const other = (await post('/account/proof', { purpose: 'CHANGE_EMAIL', password }, { as: ana })).data.proof
  t.match(await post('/account/export', { proof: other }, { as: ana }), { status: 403, code: 'PROOF_REQUIRED' })
  t.match(await request(eve), { status: 403, code: 'EMAIL_NOT_VERIFIED' })
  const proofs = [await prove(ana), await prove(ana), await prove(ana)]
  const answers = await Promise.all(proofs.map(async (proof) => await post('/account/export', { proof }, { as: ana })))
  t.same(answers.map(({ status }) => String(status)).sort(), ['202', '409', '409'], 'of three at once one wins')
  t.match(await send('DELETE', '/account/export', { as: ana }), { status: 200, success: true })
  t.match(await send('DELETE', '/account/export', { as: ana }), { status: 404, code: 'NOT_FOUND' })
  const used = proofs[answers.findIndex(({ status }) => status === 202)]
  t.match(await post('/account/export', { proof: used }, { as: ana }), { status: 403 }, 'a proof works once')
  t.match(await request(ana), { status: 429, code: 'LIMIT_EXCEEDED' })
  t.match(await request(ben), { status: 202 }, 'others are not limited')
  t.equal(await make(), 1, 'only that of Ben is made')
  t.match(await stateOf(ana), { status: 'EXPIRED' })
  await isLimitOver(ana)
  t.match(await request(ana), { status: 202 })
  await send('DELETE', '/account/export', { as: ana })
})

t.test('a link ends after seven days, with a new password, with the next copy, and when the owner deletes it', async (t) => {
  t.match((await download('x'.repeat(43))).json(), { success: false, code: 'INVALID_TOKEN' })
  const ends: Record<string, (as: Account) => Promise<unknown>> = {
    'seven days': async ({ id }) =>
      await sql`update exports set expires_at = now() where account_id = ${id}`.execute(db),
    'a new password': async (as) =>
      await post('/auth/change-password', { currentPassword: password, password: 'Other-0pen-5ky' }, { as }),
    deletion: async (as) => await send('DELETE', '/account/export', { as }),
    'the next copy': async (as) => {
      await isLimitOver(as)
      await request(as)
    }
  }
  for (const [what, end] of Object.entries(ends)) {
    const ana = await givenAccount()
    await request(ana)
    await make()
    const token = await tokenOf(ana)
    t.equal((await download(token, {}, 'HEAD')).statusCode, 200)
    await end(ana)
    const ended = await download(token)
    t.match([ended.statusCode, ended.json().code], [410, 'EXPIRED'], what)
    await deleteExpiredFiles(deps)
    const { id } = await db.selectFrom('exports').where('account_id', '=', ana.id).select('id')
      .orderBy('requested_at').executeTakeFirstOrThrow()
    t.same(await deps.privateStorage.list(`exports/${id}/`), [], `${what}: the files are deleted`)
  }
  await make()
})

t.test('a download that breaks off goes on, and has the digest of the manifest', async (t) => {
  const ana = await givenAccount()
  await request(ana)
  await make()
  const token = await tokenOf(ana)
  const head = await download(token, {}, 'HEAD')
  const length = Number(head.headers['content-length'])
  t.equal(head.rawPayload.length, 0)
  const first = await download(token, { range: 'bytes=0-99' })
  t.match(first, { statusCode: 206, headers: { 'content-range': `bytes 0-99/${length}`, 'content-length': '100' } })
  const rest = await download(token, { range: 'bytes=100-', 'if-range': String(first.headers.etag) })
  t.equal(rest.statusCode, 206)
  t.equal(`"${digest(Buffer.concat([first.rawPayload, rest.rawPayload]))}"`, head.headers.etag)
  t.same((await download(token, { range: 'bytes=-7' })).rawPayload, rest.rawPayload.subarray(-7))
  t.match(await download(token, { range: 'bytes=100-', 'if-range': '"another"' }), { statusCode: 200 })
  t.match(await download(token, { range: 'lines=1-2' }), { statusCode: 200 })
  for (const range of [`bytes=${length}-`, 'bytes=-0']) {
    const refused = await download(token, { range })
    t.match(refused, { statusCode: 416, headers: { 'content-range': `bytes */${length}` } })
    t.match(refused.json(), { code: 'RANGE_NOT_SATISFIABLE' })
  }
})

t.test('a worker that is killed anywhere is followed by one that goes on; no stored page is read again', async (t) => {
  const ana = await givenAccount()
  await request(ana)
  let kills = 0
  /** Storage that dies at its `last`th write: what was written stays, and nothing else happens. */
  const dying = (last: number) => {
    let writes = 0
    const storage = diskStorage(app.privateFolder)
    const die = async () => {
      kills++
      await new Promise<never>(() => {})
    }
    return {
      ...storage,
      put: async (...args: Parameters<typeof storage.put>) =>
        ++writes > last ? await die() : await storage.put(...args),
      putStream: async () => await die()
    }
  }
  for (let round = 0; round < 10; round++) {
    void make({ privateStorage: dying(1) }, 0.05)
    const until = kills + 1
    for (let waited = 0; kills < until && waited < 500; waited++) {
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
    await sql`update exports set claimed_until = now() where account_id = ${ana.id}`.execute(db)
  }
  t.equal(kills, 10)
  t.equal(await make(), 1)
  // The page that a worker dies with is read again, and no other.
  const times = Object.values(Object.groupBy(calls, (call) => call)).map((each) => each?.length)
  t.same(times, Array(7).fill(2), calls.join())
  t.match(await stateOf(ana), { status: 'READY' })
  const files = await unzip((await download(await tokenOf(ana))).rawPayload)
  t.equal(JSON.parse(files.get('social/posts.json')!.toString()).length, 2)
})

t.test('a service or store that is unavailable delays a copy; after a day it has failed', async (t) => {
  const ana = await givenAccount()
  await request(ana)
  const dueAgain = async () =>
    await sql`update exports set claimed_until = now() where account_id = ${ana.id}`.execute(db)
  const failing = {
    ...deps.privateStorage,
    async putStream () {
      throw new Error('the disk is full')
    }
  }
  t.equal(await make({ privateStorage: failing }), 1)
  t.match(await stateOf(ana), { status: 'RUNNING' })
  t.equal((await mailsTo(ana.email)).length, 1, 'nothing is mailed yet')
  t.equal(await make(), 0, 'not at once')
  await dueAgain()
  await sql`update exports set attempts = 146 where account_id = ${ana.id}`.execute(db)
  await make({ privateStorage: failing })
  t.match(await stateOf(ana), { status: 'FAILED' })
  await mailWithSubject(ana.email, /^The copy of your Tandem data failed$/)
  t.match(await request(ana), { status: 202 }, 'a failed copy does not count')
  await make()
  t.match(await stateOf(ana), { status: 'READY' })
})

t.test('two workers make one copy and send one mail, and a canceled copy is not finished', async (t) => {
  const [ana, ben] = [await givenAccount(), await givenAccount()]
  await request(ana)
  t.equal((await Promise.all([make(), make()])).reduce((sum, count) => sum + count), 1)
  await tokenOf(ana)
  await request(ben)
  const [stuck] = [make({
    async readFile (key) {
      await send('DELETE', '/account/export', { as: ben })
      await new Promise((resolve) => setTimeout(resolve, 1_100))
      return await deps.readFile(key)
    }
  })]
  t.equal(await stuck, 1)
  t.match(await stateOf(ben), { status: 'EXPIRED' })
  t.equal((await mailsTo(ben.email)).length, 1, 'no link is sent')
})

t.test('an erasure deletes the copies of an account', async (t) => {
  const ana = await givenAccount()
  await request(ana)
  await make()
  const { id } = await stateOf(ana)
  t.not((await deps.privateStorage.list(`exports/${id}/`)).length, 0)
  await db.insertInto('departures').values({ account_id: ana.id, erasure_id: randomUUID() }).execute()
  await deps.erasure.eraseDue()
  t.same(await deps.privateStorage.list(`exports/${id}/`), [])
})
