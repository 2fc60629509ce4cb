import { readFileSync } from 'node:fs'
import path from 'node:path'
import { parse, stringify } from 'yaml'

const folder = import.meta.dirname

/** The object of the Prometheus operator that has all rules. */
export const rulesFile = path.resolve(folder, '../kubernetes/components/monitoring/rules.yaml')

export function describeRules () {
  const groups = ['alerts.yml', 'servers.yml'].flatMap((file) =>
    (parse(readFileSync(path.join(folder, file), 'utf8')) as { groups: object[] }).groups
  )
  const rules = {
    apiVersion: 'monitoring.coreos.com/v1',
    kind: 'PrometheusRule',
    metadata: { name: 'tandem' },
    spec: { groups }
  }
  return `# Generated from deploy/observability by npm run contracts.\n${stringify(rules, { lineWidth: 0 })}`
}
