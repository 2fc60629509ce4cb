// Runs a rehearsal by its name, with the arguments after it: `npm run rehearse mix -- 60`. Without a name it lists them.
import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { screen } from '@tandem/local-servers/screen.ts'

const folder = import.meta.dirname
const self = path.basename(import.meta.filename)

/** The file of each rehearsal: `name.ts` or `name/name.ts`. */
const files = new Map(
  globSync(['*.ts', '*/*.ts'], { cwd: folder, exclude: ['*.test.ts'] })
    .map((file) => ({ file, name: path.basename(file, '.ts') }))
    .filter(({ file, name }) => [`${name}.ts`, path.join(name, `${name}.ts`)].includes(file) && file !== self)
    .sort((one, other) => one.name.localeCompare(other.name))
    .map(({ file, name }) => [name, path.join(folder, file)] as const)
)

const [name = ''] = process.argv.splice(2, 1)
const file = files.get(name)
if (file) {
  await import(file)
} else {
  if (name) {
    screen.error(`There is no rehearsal ${name}.`)
    process.exitCode = 2
  }
  const width = Math.max(...[...files.keys()].map(({ length }) => length))
  for (const [each, source] of files) console.log(`${each.padEnd(width)}  ${readFirstSentence(source)}`)
}

/** The first sentence of the comment at the head of a file. */
function readFirstSentence (source: string) {
  const [head = ''] = /^(\/\/.*\n)+/.exec(readFileSync(source, 'utf8')) ?? []
  return head.replaceAll(/^\/\/ ?/gm, '').replaceAll('\n', ' ').split(/(?<=\.) /)[0]
}
