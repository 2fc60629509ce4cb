import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'

interface Route {
  method: string
  path: string
  isExtension: boolean
}

/** Routes that clients do not call: of gateways and of the operators' console. */
const isInternal = ({ path }: Route) => /^\/(internal|operator)\//.test(path)

function readRoutes (source: string): Route[] {
  return source.split(/^(?=\s*app\.)/m).flatMap((part) => {
    const [, method = '', route] = /^\s*app\.(get|post|put|delete)\(\s*'([^']+)'/.exec(part) ?? []
    return route
      ? [{ method: method.toUpperCase(), path: route, isExtension: part.includes("'x-extension': true") }]
      : []
  })
}

/** `GET POST /feed`, one entry for each path; `*` marks paths with an extension. */
function listPaths (routes: Route[]): string {
  return [...Map.groupBy(routes, (route) => route.path)].map(([route, own]) =>
    `\`${own.map(({ method }) => method).join(' ')} ${route}\`${own.some(({ isExtension }) => isExtension) ? ' *' : ''}`
  ).join(', ')
}

const MAX_LINE_LENGTH = 240

/** The routes of a service that clients call, by folder. Short lists share a line. */
export function listRoutes (root: string, service: string): string[] {
  const files = globSync(`services/${service}/*/*routes.ts`, { cwd: root }).sort()
  const folders = Map.groupBy(files, (file) => file.split('/')[2] ?? '')
  const lines: string[] = []
  for (const [folder, own] of folders) {
    const routes = own.flatMap((file) => readRoutes(readFileSync(path.join(root, file), 'utf8')))
      .filter((route) => !isInternal(route))
    if (routes.length === 0) continue
    const list = `${folder}: ${listPaths(routes)}`
    const last = lines.at(-1)
    if (last && last.length + list.length < MAX_LINE_LENGTH) lines[lines.length - 1] = `${last}; ${list}`
    else lines.push(`- ${list}`)
  }
  return lines
}
