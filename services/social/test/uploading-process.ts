// Takes uploads of an account until a test kills it.
import { fakeRpc } from '@tandem/bus-kit/testing'
import { connect } from '@tandem/database-kit'
import { bearer, silentLog, testKeys } from '@tandem/http-kit/testing'
import { createApp } from '../app.ts'
import type { Tables } from '../tables.ts'
import { createTestDeps } from './app.ts'

const [databaseUrl = '', folder = '', accountId = ''] = process.argv.slice(2)
const db = connect<Tables>(databaseUrl, { log: { warn () {} } })
const deps = createTestDeps({ db, callRpc: fakeRpc([]), folder })
const app = await createApp(deps, { log: silentLog, keys: testKeys })
// The keys of a process are its own.
const headers = bearer(accountId)
process.send?.({ headers, address: await app.listen({ host: '127.0.0.1', port: 0 }) })
