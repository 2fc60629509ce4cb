import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { parse, stringify } from 'yaml'
import { alertCases } from './alert-cases.ts'

const run = promisify(execFile)
const folder = import.meta.dirname
const ruleFiles = ['alerts.yml', 'servers.yml'].map((file) => path.join(folder, file))

interface Rule {
  alert: string
}

const skip = await run('promtool', ['--version']).then(
  () => false as const,
  () => 'promtool is not installed (on Debian: apt-get install prometheus)'
)

async function listRules () {
  const files = await Promise.all(
    ruleFiles.map(async (file) => parse(await readFile(file, 'utf8')) as { groups: { rules: Rule[] }[] })
  )
  return files.flatMap(({ groups }) => groups.flatMap(({ rules }) => rules))
}

const countFiring = (alert: string, atMinutes: number, expected: number) => ({
  expr: `count(ALERTS{alertname="${alert}", alertstate="firing"}) or vector(0)`,
  eval_time: `${atMinutes}m`,
  exp_samples: [{ labels: '{}', value: expected }]
})

const toTest = (series: Record<string, string>, expectation: ReturnType<typeof countFiring>) => ({
  interval: '1m',
  input_series: Object.entries(series).map(([name, values]) => ({ series: name, values })),
  promql_expr_test: [expectation]
})

t.test('every alert has a case in which it fires, and one in which it does not', async (t) => {
  t.same(Object.keys(alertCases).sort(), (await listRules()).map(({ alert }) => alert).sort())
})

t.test('every alert fires when it should, and only then', { skip }, async (t) => {
  const place = await mkdtemp(path.join(tmpdir(), 'tandem-alerts-'))
  t.teardown(() => rm(place, { recursive: true, force: true }))
  // promtool evaluates each rule it knows in each minute of each case: only the one of the case.
  const files = await Promise.all((await listRules()).map(async (rule) => {
    const { fires, atMinutes, healthy } = alertCases[rule.alert]!
    const [rules, cases] = [path.join(place, `${rule.alert}.rules.yml`), path.join(place, `${rule.alert}.yml`)]
    await writeFile(rules, stringify({ groups: [{ name: rule.alert, rules: [rule] }] }))
    const tests = [
      toTest(fires, countFiring(rule.alert, atMinutes, 1)),
      toTest(healthy, countFiring(rule.alert, atMinutes, 0))
    ]
    await writeFile(cases, stringify({ rule_files: [rules], evaluation_interval: '1m', tests }))
    return cases
  }))
  const failure = await run('promtool', ['test', 'rules', ...files]).then(
    () => undefined,
    (error: Error & { stdout?: string, stderr?: string }) => `${error.stdout}${error.stderr}`
  )
  t.equal(failure, undefined)
})
