import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'

const root = path.resolve(import.meta.dirname, '../..')

/** What no person sees: packages, roles, subjects, locks, protocols, temporary files, and the issuer of tokens. */
const technical = [
  /@tandem\//,
  /['"`]tandem['"`]/,
  /\btandem[.:_-](?!example)/,
  /\/tandem\//,
  /'tandem identity'/,
  /SubprotocolTandem/,
  /TANDEM_/,
  // The format of our own export.
  /'TANDEM'|readTandem/,
  /\btandem`/
]
// Not of the app: the client of developers, programs of tests, and the name of the built-in brand itself.
const others =
  /^packages\/(sdk-typescript|sdk-react|local-servers|test-kit|brand-kit)\/|\/(test|bench)\/|\.test\.ts$|testing\.ts$|-process\.ts$/

t.test('only the brand names the app', (t) => {
  const files = execFileSync('git', ['ls-files', 'services', 'gateway', 'packages'], { cwd: root, encoding: 'utf8' })
    .trim().split('\n')
    .filter((file) => /\.(ts|js|css|html|svg)$/.test(file) && !others.test(file))
  t.ok(files.length > 300)
  const found = files.flatMap((file) =>
    readFileSync(path.join(root, file), 'utf8').split('\n').flatMap((line, index) =>
      // A comment is for developers.
      /tandem/i.test(line) && !/^\s*(\*|\/[/*])/.test(line) && !technical.some((each) => each.test(line))
        ? [`${file}:${index + 1}: ${line.trim()}`]
        : []
    )
  )
  t.strictSame(found, [])
  t.end()
})
