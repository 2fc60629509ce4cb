import { execFile } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { openBundles } from '@tandem/bundle/cached.ts'
import { listMains } from '@tandem/bundle/mains.ts'
import t from 'tap'

const root = path.resolve(import.meta.dirname, '../..')

t.test('no process starts with a faulty brand: each names the file, the key and the fault in one line', async (t) => {
  const folder = t.testdir()
  mkdirSync(path.join(folder, 'texts'))
  writeFileSync(path.join(folder, 'brand.json'), JSON.stringify({ features: { storys: false } }))
  const mains = listMains(root)
  const bundles = await openBundles(root, mains)
  const processes = Object.keys(mains).filter((name) => name !== 'operator-cli')
  t.equal(processes.length, 8)
  await Promise.all(processes.map(async (name) => {
    const [code, output] = await new Promise<[unknown, string]>((resolve) => {
      const env = { ...process.env, BRAND_DIR: folder }
      execFile(process.execPath, [path.join(bundles, `${name}.mjs`)], { cwd: root, env }, (error, stdout, stderr) => {
        resolve([error?.code, stdout + stderr])
      })
    })
    t.equal(code, 1, name)
    const lines = output.trim().split('\n')
    t.match(lines, [/brand\.json: features\.storys is unknown/], name)
    t.equal(lines.length, 1, name)
  }))
})
