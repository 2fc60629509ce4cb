import { chmod, writeFile } from 'node:fs/promises'
import path from 'node:path'
import t from 'tap'
import { bearer, silentLog } from '@tandem/http-kit/testing'
import { testApp } from '../test/app.ts'
import { workOnNextImport } from './actions.ts'

const { app, newUser, deps, db } = await testApp(t)
const quick = 'Day,Weight\n2026-11-18,70\n'
// Entries that are refused one by one, and so need no time to store.
const long = `Day,Weight\n${'never,70\n'.repeat(10_001)}`

/** Works on the next import. */
const next = async (quickDeadlineMs = 120_000) =>
  await workOnNextImport({ ...deps, log: silentLog }, { quickDeadlineMs })

/** Uploads a file of somebody. Returns how to read the status of the import. */
async function upload (file: string, user = newUser()) {
  const form = new FormData()
  form.set('columns', JSON.stringify({ type: 'WEIGHT', at: 'Day', kg: 'Weight' }))
  form.set('file', new Blob([file]), 'file')
  const request = new Request('http://localhost', { method: 'POST', body: form })
  const response = await app.inject({
    method: 'POST',
    url: '/imports',
    headers: { ...bearer(user.account), 'content-type': request.headers.get('content-type') ?? '' },
    payload: Buffer.from(await request.arrayBuffer())
  })
  const { id } = response.json().data.import
  return async () => (await user.read(`/imports/${id}`)).import.status as string
}

const statusesOf = async (...imports: (() => Promise<string>)[]) =>
  await Promise.all(imports.map(async (status) => await status()))

t.test('an import of many entries waits for those that are quick', async (t) => {
  const slow = [await upload(long), await upload(long)]
  const others = [await upload(quick), await upload(quick)]
  for (const _ of slow) t.ok(await next())
  t.same(await statusesOf(...slow, ...others), ['PENDING', 'PENDING', 'PENDING', 'PENDING'])
  for (const _ of others) t.ok(await next())
  t.same(await statusesOf(...slow, ...others), ['PENDING', 'PENDING', 'DONE', 'DONE'])
  t.ok(await next())
  const late = await upload(quick)
  t.ok(await next())
  t.same(await statusesOf(...slow, late), ['DONE', 'PENDING', 'DONE'])
  t.ok(await next())
  t.same(await statusesOf(...slow), ['DONE', 'DONE'])
  t.notOk(await next(), 'nothing is left')
})

t.test('an account that had slow imports today waits for those that had fewer', async (t) => {
  const user = newUser()
  const first = await upload(long, user)
  for (const _ of [1, 2]) await next()
  t.equal(await first(), 'DONE')
  const [second, slow, other] = [await upload(quick, user), await upload(long), await upload(quick)]
  for (const _ of [1, 2]) t.ok(await next())
  t.same(await statusesOf(second, slow, other), ['PENDING', 'PENDING', 'DONE'])
  await db.updateTable('imports').where('account_id', '=', user.account)
    .set({ created_at: new Date(Date.now() - 25 * 60 * 60 * 1_000) }).execute()
  t.ok(await next())
  t.same(await statusesOf(second, slow), ['DONE', 'PENDING'], 'after a day it is as all others')
  await next()
  t.equal(await slow(), 'DONE')
})

t.test('an import whose file takes long to read waits for the others, and is then read to its end', async (t) => {
  const { execPath } = process
  t.teardown(() => {
    process.execPath = execPath
  })
  process.execPath = path.join(t.testdir(), 'never-ends')
  await writeFile(process.execPath, '#!/bin/sh\nexec /bin/sleep 600\n')
  await chmod(process.execPath, 0o755)
  const slow = await upload(quick)
  t.ok(await next(500))
  process.execPath = execPath
  t.equal(await slow(), 'PENDING')
  const other = await upload(quick)
  for (const expected of [['PENDING', 'DONE'], ['DONE', 'DONE']]) {
    t.ok(await next())
    t.same(await statusesOf(slow, other), expected)
  }
})
