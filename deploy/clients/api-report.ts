import { readFileSync } from 'node:fs'
import path from 'node:path'

const root = path.resolve(import.meta.dirname, '../..')

export const apiReportFile = 'packages/sdk-typescript/API.md'

interface Operation {
  operationId: string
  tags: string[]
  parameters?: { in: string, required?: boolean }[]
  requestBody?: { required?: boolean }
}

interface Document {
  info: { version: string }
  paths: Record<string, Record<string, Operation>>
}

/** What apps can call of the SDK, on a page: a change of it is seen in a review. */
export function buildApiReport () {
  const { info, paths } = JSON.parse(readFileSync(path.join(root, 'gateway/openapi.json'), 'utf8')) as Document
  // The realtime connection is no request.
  const operations = Object.entries(paths).filter(([url]) => url !== '/realtime')
    .flatMap(([, methods]) => Object.values(methods))
  const byTag = Object.entries(Object.groupBy(operations, ({ tags: [tag = ''] }) => tag))
  return `# The API of @tandem/sdk ${info.version}

\`npm run contracts\` writes this page. An option with a question mark can be left out.

Exports: ${readExports().map((each) => `\`${each}\``).join(', ')}, and the types of requests, responses and schemas.
${byTag.map(([tag, all = []]) => `\n## ${tag}\n\n${all.map(describe).sort().join(' · ')}\n`).join('')}`
}

function readExports () {
  const source = readFileSync(path.join(root, 'packages/sdk-typescript/index.ts'), 'utf8')
  return [...source.matchAll(/^export (?:type )?\{([^}]+)\}/gm)].flatMap(([, names = '']) => names.split(','))
    .map((each) => each.replace(/\btype\b/, '').trim()).sort()
}

function describe ({ operationId, parameters = [], requestBody }: Operation) {
  const optional = (isRequired: boolean | undefined) => isRequired ? '' : '?'
  const options = ['path', 'query'].flatMap((place) => {
    const all = parameters.filter((each) => each.in === place)
    return all.length === 0 ? [] : [`${place}${optional(all.some(({ required }) => required))}`]
  })
  if (requestBody) options.push(`body${optional(requestBody.required)}`)
  return `\`${operationId}(${options.join(', ')})\``
}
