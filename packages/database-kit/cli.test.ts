import { spawnSync } from 'node:child_process'
import path from 'node:path'
import t from 'tap'

const migrateWith = (env: NodeJS.ProcessEnv) =>
  spawnSync(process.execPath, [path.join(import.meta.dirname, 'cli.ts'), 'services/any'], { encoding: 'utf8', env })

t.test('a migration names the variable that is wrong, and shows no part of it', async (t) => {
  const url = 'postgres://tandem_any:secret@127.0.0.1:1/any'
  const wrong = {
    DATABASE_URL: [{ DATABASE_URL: 'secret' }, { DATABASE_URL: url.replace('secret', 'secret%') }, {
      DATABASE_URL_FILE: '/missing'
    }],
    ADMIN_DATABASE_URL: [{ DATABASE_URL: url, ADMIN_DATABASE_URL: 'secret' }]
  }
  for (const [name, environments] of Object.entries(wrong)) {
    for (const env of environments) {
      const { status, stderr } = migrateWith(env)
      t.equal(status, 1)
      t.match(stderr, new RegExp(`^${name} cannot be read: .*\n$`), name)
      t.notMatch(stderr, 'secret')
    }
  }
})
