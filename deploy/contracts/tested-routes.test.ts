import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import { serviceNames } from '../../gateway/routes.ts'

const root = path.resolve(import.meta.dirname, '../..')
const read = (pattern: string) =>
  globSync(pattern, { cwd: root, exclude: ['**/node_modules/**'] }).map((file) => ({
    file,
    text: readFileSync(path.join(root, file), 'utf8')
  }))

const TEMPLATE = '\\$\\{[^}]*\\}'

/** Matches the path in a test, where a parameter is a literal or `${…}`, as the start of the path and a query can be. */
function inTests (routePath: string) {
  const [first, ...rest] = routePath.slice(1).split('/').map((segment) =>
    segment.startsWith(':') ? `(?:[^/\\s']+|${TEMPLATE})` : RegExp.escape(segment)
  )
  const starts = [`/${first}`, ...rest.map((_, index) => [TEMPLATE, ...rest.slice(index)].join('/'))]
  const whole = [starts[0], ...rest].join('/')
  return new RegExp(`(?:${[whole, ...starts.slice(1)].join('|')})(?=[?'\`"\\s]|\\$\\{)`)
}

t.test('a path is found with parameters and a query of any kind, and not as the start of a longer one', (t) => {
  const finds = (text: string) => inTests('/feed/:id/likes').test(text)
  for (const text of ["'/feed/x/likes'", '`/feed/${id}/likes`', '`/feed/${id}/likes?limit=1`', '`${url}/likes`']) {
    t.ok(finds(text), text)
  }
  t.ok(finds('`/feed/${id}/likes${query}`'))
  for (const text of ["'/feed/x'", '`/feed/${id}/likesCount`', '`/feed/${id}/likes/${other}`']) {
    t.notOk(finds(text), text)
  }
  t.end()
})

for (const service of serviceNames) {
  t.test(`${service}: a test requests every route`, (t) => {
    const tests = [...read(`services/${service}/**/*.test.ts`), ...read(`services/${service}/test/*.ts`)]
      .map(({ text }) => text).join('\n')
    for (const { file, text } of read(`services/${service}/*/*routes.ts`)) {
      const paths = [...text.matchAll(/app\.(?:get|post|put|delete)\(\s*'([^']+)'/g)].map(([, each]) => each ?? '')
      t.same(paths.filter((each) => !inTests(each).test(tests)), [], `the routes of ${file} that no test requests`)
    }
    t.end()
  })
}
