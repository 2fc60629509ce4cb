import type { Published } from '../contracts/messages.ts'
import { ownerOf } from '../contracts/baseline.ts'
import { compareFields } from '../contracts/compare.ts'
import type { Fields } from '../contracts/fields.ts'
import type { Release } from '../contracts/records.ts'

/** A version of a process: what it uses of others, and every event and RPC as it knows them. */
export interface Version extends Pick<Release, 'name' | 'version' | 'consumes' | 'calls' | 'provides' | 'prefixes'> {
  published: Published
  /** The paths of the API that it serves. */
  paths: string[]
}

interface Fit {
  /** Why two versions cannot run side by side: a sentence each. */
  problems: string[]
  /** What does not work yet, and harms nobody. */
  remarks: string[]
}

/** Whether each version of `changed` fits all others of `versions`. */
export function findMisfits (versions: Version[], changed: string[]): Fit {
  const fit: Fit = { problems: [], remarks: [] }
  for (const owner of versions) {
    for (const user of versions.filter(({ name }) => name !== owner.name)) {
      if (!changed.includes(owner.name) && !changed.includes(user.name)) continue
      for (const type of user.consumes.filter((each) => ownerOf(each) === owner.name)) {
        compareEvent(type, owner, user, fit)
      }
      for (const type of user.calls.filter((each) => ownerOf(each) === owner.name)) compareRpc(type, owner, user, fit)
      if (user.prefixes) fit.problems.push(...listUnreachable(owner, user))
    }
  }
  return fit

  function compareEvent (type: string, owner: Version, user: Version, { problems, remarks }: Fit) {
    const [sent, read] = [owner.published[type]?.data, user.published[type]?.data]
    if (!sent) {
      const sentence = `${title(user)} consumes ${type}, which ${title(owner)} does not publish.`
      if (changed.includes(owner.name)) {
        problems.push(`${sentence} Go on publishing it until ${user.name} does without it.`)
      } else remarks.push(`${sentence} Nothing arrives until ${owner.name} is released, too.`)
    } else if (read) {
      problems.push(
        ...describe(`Event ${type} of ${title(owner)}, as ${title(user)} reads it`, sent.fields, read.fields)
      )
    }
  }
}

function compareRpc (type: string, owner: Version, user: Version, { problems }: Fit) {
  const [theirs, ours] = [owner.published[type], user.published[type]]
  if (!owner.provides.includes(type) || !theirs?.request || !theirs.response) {
    problems.push(`${title(user)} calls ${type}, which ${title(owner)} does not provide: release ${owner.name} first.`)
  } else if (ours?.request && ours.response) {
    problems.push(
      ...describe(
        `The request of ${type} from ${title(user)} to ${title(owner)}`,
        ours.request.fields,
        theirs.request.fields
      ),
      ...describe(
        `The response of ${type} from ${title(owner)} to ${title(user)}`,
        theirs.response.fields,
        ours.response.fields
      )
    )
  }
}

function listUnreachable ({ name, paths }: Version, gateway: Version): string[] {
  const prefixes = gateway.prefixes?.[name] ?? []
  const isKnown = (path: string) => prefixes.some((prefix) => path === prefix || path.startsWith(`${prefix}/`))
  return paths.filter((path) => !isKnown(path))
    .map((path) => `${title(gateway)} does not send ${path} to ${name}: release the gateway first.`)
}

const describe = (subject: string, sent: Fields, read: Fields) =>
  compareFields(sent, read, { rule: 'delivery' }).map((change) => `${subject}: ${change}.`)

const title = ({ name, version }: Version) => `${name} ${version}`
