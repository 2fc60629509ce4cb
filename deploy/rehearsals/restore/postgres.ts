import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { chown, mkdir, readdir, rename, rm, stat, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import pg from 'pg'
import { start } from '@tandem/local-servers/process.ts'
import { postgres } from '@tandem/local-servers/postgres.ts'

export type Database = Awaited<ReturnType<typeof startDatabase>>

const run = promisify(execFile)

/** A Postgres server whose data folder, below `folder`, can be backed up and replaced. */
export async function startDatabase (folder: string) {
  const data = path.join(folder, 'postgres')
  const { recipe, url } = await postgres(data, { logFile: path.join(folder, 'postgres.log'), password: randomUUID() })
  // Postgres may run as another user than this process. It writes its copies of tables below this folder.
  const owner = await stat(data)
  await chown(folder, owner.uid, owner.gid)
  let running = await start(recipe)
  recipe.hasFixedPort = true

  /** Runs `work` on a connection of its own. */
  async function withClient<Result> (work: (client: pg.Client) => Promise<Result>) {
    const client = new pg.Client({ connectionString: url() })
    await client.connect()
    try {
      return await work(client)
    } finally {
      await client.end()
    }
  }

  return {
    url: url(),
    withClient,
    /** Creates a folder that Postgres can write to. */
    async createFolder (name: string) {
      const created = path.join(folder, name)
      await mkdir(created)
      await chown(created, owner.uid, owner.gid)
      return created
    },
    /**
     * Copies the data folder while the server is in use. The copy becomes a backup with `finish`, and is then the state
     * of that moment: Postgres replays the log from the start of the copy to its end.
     */
    async startBackup (name: string) {
      const copy = path.join(folder, name)
      const client = new pg.Client({ connectionString: url() })
      await client.connect()
      // A replication slot keeps the log until the connection ends.
      await client.query('select pg_create_physical_replication_slot($1, true, true)', [name])
      await client.query('select pg_backup_start($1, fast => true)', [name])
      await run('cp', ['-a', data, copy])
      return {
        async finish () {
          const { rows: [label] } = await client.query<{ labelfile: string }>(
            'select labelfile from pg_backup_stop(wait_for_archive => false)'
          )
          await rm(path.join(copy, 'pg_wal'), { recursive: true })
          await run('cp', ['-a', path.join(data, 'pg_wal'), copy])
          await client.end()
          await rm(path.join(copy, 'postmaster.pid'))
          for (const slot of await readdir(path.join(copy, 'pg_replslot'))) {
            await rm(path.join(copy, 'pg_replslot', slot), { recursive: true })
          }
          await writeFile(path.join(copy, 'backup_label'), label!.labelfile)
        }
      }
    },
    /** Replaces the data folder by a backup, as after the loss of the server. */
    async restoreBackup (name: string) {
      await running.kill()
      await rm(data, { recursive: true })
      await rename(path.join(folder, name), data)
      running = await start(recipe)
    },
    stop: async () => await running.stop()
  }
}
