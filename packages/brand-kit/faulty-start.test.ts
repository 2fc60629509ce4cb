import { execFile } from 'node:child_process'
import { globSync, mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'

const root = path.resolve(import.meta.dirname, '../..')

t.test('no process starts with a faulty brand: each names the file, the key and the fault in one line', async (t) => {
  const folder = t.testdir()
  mkdirSync(path.join(folder, 'texts'))
  writeFileSync(path.join(folder, 'brand.json'), JSON.stringify({ features: { storys: false } }))
  const programs = globSync(['services/*/main.ts', 'gateway/main.ts', 'gateway/console/main.ts'], { cwd: root })
  t.equal(programs.length, 8)
  await Promise.all(programs.map(async (program) => {
    const [code, output] = await new Promise<[unknown, string]>((resolve) => {
      const env = { ...process.env, BRAND_DIR: folder }
      execFile(process.execPath, [program], { cwd: root, env }, (error, stdout, stderr) => {
        resolve([error?.code, stdout + stderr])
      })
    })
    t.equal(code, 1, program)
    const lines = output.trim().split('\n')
    t.match(lines, [/brand\.json: features\.storys is unknown/], program)
    t.equal(lines.length, 1, program)
  }))
})
