import { readFile } from 'node:fs/promises'
import t from 'tap'
import { clientFrames, closeCodes, serverFrames } from './realtime.ts'

t.test('the guide for client developers names every frame and close code', async (t) => {
  const guide = await readFile(new URL('../../docs/realtime.md', import.meta.url), 'utf8')
  for (const name of [...Object.keys(serverFrames), ...Object.keys(clientFrames)]) {
    t.ok(guide.includes(`\`${name}\``), name)
  }
  for (const code of Object.keys(closeCodes)) t.ok(guide.includes(code), code)
})
