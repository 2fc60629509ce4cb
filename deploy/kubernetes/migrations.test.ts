import { readdirSync } from 'node:fs'
import path from 'node:path'
import { listBreakingChanges } from '@tandem/database-kit/compatibility'
import { testSchema } from '@tandem/database-kit/testing'
import t from 'tap'

const services = path.join(import.meta.dirname, '../../services')

for (const name of readdirSync(services)) {
  t.test(`each migration of ${name} keeps the previous version working`, async (t) => {
    let breakingChanges: string[] = []
    await testSchema(t, async (url) => {
      breakingChanges = await listBreakingChanges(url, path.join(services, name))
    })
    t.same(breakingChanges, [])
  })
}
